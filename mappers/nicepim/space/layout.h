/*
 * Layouts of feature maps in DRAM (NicePIM, section III-E), in the orders of traces/layout.h. The paper's
 * Fig. 6 costs 8 accesses with BCHW, 9 with BHWC and 6 with BCHW[2]; its text has the first two swapped.
 */
#ifndef PIMSIM_MAPPERS_NICEPIM_SPACE_LAYOUT_H
#define PIMSIM_MAPPERS_NICEPIM_SPACE_LAYOUT_H

#include "mappers/nicepim/space/partition.h"
#include "traces/layout.h"

struct pim_map_layout {
    enum pim_layout_order order;
    uint32_t group; /* channels next to each other; 1: none */
};

#endif
