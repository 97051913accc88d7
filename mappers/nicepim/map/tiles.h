/*
 * A product on one node in tiles: output[m][n] += input[m][k] * weight[k][n], inputs unfolded (k runs over
 * the kernel's rows, columns and channels). Tiles fit half of each buffer, so that the next is loaded while
 * one is worked; only where a whole operand is one tile it may fill the buffer.
 */
#ifndef PIMSIM_MAPPERS_NICEPIM_MAP_TILES_H
#define PIMSIM_MAPPERS_NICEPIM_MAP_TILES_H

#include "mappers/estimate/estimate.h"
#include "mappers/nicepim/map/flow.h"
#include "mappers/nicepim/space/layout.h"

struct tile_product {
    uint64_t m, n, k;
    uint32_t count;                      /* so many products of this shape one after another: groups */
    uint32_t channels;                   /* of the kernel's window */
    uint32_t kernel_width;               /* 1 and `point`: a row of k is a position */
    bool point;                          /* a kernel of 1 x 1 with stride 1 */
    bool sums;                           /* results are partial sums, stored in 32 bits */
    struct pim_map_layout input, output; /* order BCHW, group 0: not known, volumes alone count */
};

struct tiling {
    uint32_t m, n, k;
    bool resident;                           /* one tile covers k: it stays while n advances */
    uint64_t compute, memory, vector, total; /* cycles of all `count` products */
};

/* The tiling with the least total; false when not even the smallest fits. */
bool tile_choose(const struct pim_estimate_hardware *hardware, const struct tile_product *product,
                 struct tiling *tiling);

/* Bytes of a piece of an input tile (m x k) and of a result tile (m x n) that lie together in memory. */
uint64_t tile_input_piece(const struct tile_product *product, uint64_t m, uint64_t k);
uint64_t tile_output_piece(const struct tile_product *product, uint64_t m, uint64_t n);

#endif
