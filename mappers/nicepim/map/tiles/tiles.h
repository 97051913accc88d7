/*
 * A product on one node in tiles: of batches, rows, columns and channels of the output and of channels of
 * the input. The input of a tile is the box that its windows cover, read once for each tile that needs it;
 * windows that overlap share its elements. Tiles fit half of each buffer, so that the next is loaded while
 * one is worked; only where a whole operand is one tile it may fill the buffer.
 */
#ifndef PIMSIM_MAPPERS_NICEPIM_MAP_TILES_TILES_H
#define PIMSIM_MAPPERS_NICEPIM_MAP_TILES_TILES_H

#include "mappers/nicepim/map/energy.h"
#include "mappers/nicepim/map/flow.h"
#include "mappers/nicepim/map/place.h"

/* All members are of four bytes: products are compared as memory. */
struct tile_product {
    uint32_t batches, rows, columns; /* of the output */
    uint32_t n, channels;            /* output and input channels of one product */
    uint32_t count;                  /* so many products of this shape one after another: groups */
    uint32_t kernel[2], stride[2];   /* of rows and columns */
    uint32_t map[2];                 /* rows and columns of the whole input; windows reach beyond it */
    uint32_t sums;                   /* results are partial sums, stored in 32 bits */
    uint32_t right;                  /* enum flow_right */
    struct spread input, output;     /* how the maps lie in memory */
    struct spread weights;           /* and weights that are activations */
};

struct tiling {
    uint32_t batches, rows, columns, n, channels;
    bool resident;                           /* the inputs of a tile stay while n advances */
    bool stationary;                         /* its weights stay while batches, rows and columns do */
    uint64_t compute, memory, vector, total; /* cycles of all `count` products */
    struct pim_estimate_actions actions;     /* of all of them; without multiply-accumulates */
    uint64_t cost;                           /* of total and actions */
};

/* The tiling of least cost; false when not even the smallest fits. */
bool tile_choose(const struct pim_estimate_hardware *hardware, const struct tile_product *product,
                 const struct nice_weights *weights, struct tiling *tiling);

/* The same with tiles of so many output and input channels; false: they do not fit. */
bool tile_choose_positions(const struct pim_estimate_hardware *hardware, const struct tile_product *product,
                           const struct nice_weights *weights, const uint32_t channels[2],
                           struct tiling *tiling);

/* Rows (dimension 0) or columns of the input under `outputs` of the output: how many, and their step. */
uint32_t tile_window(const struct tile_product *product, size_t dimension, uint32_t outputs, uint32_t *step);

static inline uint64_t tile_k(const struct tile_product *product, uint64_t channels)
{
    return channels * product->kernel[0] * product->kernel[1];
}

#endif
