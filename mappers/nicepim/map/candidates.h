/* The best cut of a product for each number of nodes that share its weights. */
#ifndef PIMSIM_MAPPERS_NICEPIM_MAP_CANDIDATES_H
#define PIMSIM_MAPPERS_NICEPIM_MAP_CANDIDATES_H

#include "mappers/nicepim/map/plan.h"

struct candidate {
    struct pim_cut cut;
    uint32_t sharing;
    uint64_t cycles, stored;
};

struct candidate_list {
    struct candidate *items; /* from malloc */
    uint32_t count;
};

/*
 * Walks over all cuts of operation `layer` on height x width nodes. PIM_BAD_INPUT when no tile of any cut
 * fits the buffers.
 */
enum pim_status candidates_find(const struct nice_plan *plan, uint32_t layer, uint32_t height, uint32_t width,
                                struct candidate_list *list, struct pim_error *error);

#endif
