/*
 * Layouts of feature maps in DRAM (NicePIM, section III-E), and what it costs to read a window of them.
 *
 * The element (b, c, h, w) of a tensor stands at, with G = g ceil(C / g):
 *   BCHW[g]:  (((b (G / g) + c div g) H + h) W + w) g + c mod g
 *   BHWC:     ((b H + h) W + w) G + c
 * in units of elements, the first at the start of a word of the port. The paper's Fig. 6 costs 8 accesses
 * with BCHW, 9 with BHWC and 6 with BCHW[2]; its text has the first two swapped.
 */
#ifndef PIMSIM_MAPPERS_NICEPIM_SPACE_LAYOUT_H
#define PIMSIM_MAPPERS_NICEPIM_SPACE_LAYOUT_H

#include "mappers/nicepim/space/partition.h"

enum pim_map_layout_order { PIM_LAYOUT_BCHW, PIM_LAYOUT_BHWC };

struct pim_map_layout {
    enum pim_map_layout_order order;
    uint32_t group; /* channels next to each other; 1: none */
};

struct pim_map_shape {
    uint32_t batches, channels, height, width;
};

struct pim_bursts {
    uint64_t accesses; /* different words of the port */
    uint64_t runs;     /* of consecutive words */
    uint64_t pages;    /* different rows of the DRAM */
};

/* Of the window [b) x [c) x [h) x [w), which lies within the tensor. Widths in bits, a page a multiple of a
 * port. */
struct pim_bursts pim_map_layout_bursts(const struct pim_map_shape *shape,
                                        const struct pim_map_layout *layout, const struct pim_span window[4],
                                        uint32_t data_bits, uint32_t port_bits, uint64_t page_bits);

/* Bytes that the tensor takes, padded channels included. */
uint64_t pim_map_layout_bytes(const struct pim_map_shape *shape, const struct pim_map_layout *layout,
                              uint32_t data_bits);

#endif
