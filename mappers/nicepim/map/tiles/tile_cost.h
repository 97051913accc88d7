/* Cycles and energy of a product in tiles of one size, and what tiles of given channels take at least. */
#ifndef PIMSIM_MAPPERS_NICEPIM_MAP_TILES_TILE_COST_H
#define PIMSIM_MAPPERS_NICEPIM_MAP_TILES_TILE_COST_H

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
    double pj; /* of all of them, without multiply-accumulates; 0 where nobody asks for energy */
};

/* No tiling takes fewer cycles in all: what the array, or the port, does at least. */
uint64_t tile_least_cycles(const struct pim_estimate_hardware *hardware, const struct tile_product *product);

/* Rows (dimension 0) or columns of the input under `outputs` of the output: how many, and their step. */
uint32_t tile_window(const struct tile_product *product, size_t dimension, uint32_t outputs, uint32_t *step);

static inline uint64_t tile_k(const struct tile_product *product, uint64_t channels)
{
    return channels * product->kernel[0] * product->kernel[1];
}

/* Bytes of a product, whatever its tiles; of one of `count`, but for `among`. */
struct tile_volumes {
    uint64_t among; /* of all operands of all */
    uint64_t results;
    uint64_t least; /* that pass the port at least */
    bool reads;     /* tiles together load all that lies under their windows */
};

/* Tiles of a product along each dimension, and the part of a whole tile that one has on average. */
struct tile_pieces {
    uint64_t m, n, k;
    double m_share, n_share, k_share;
};

/* What is the same of all tiles of so many output and input channels, whatever their positions. */
struct tile_channels {
    struct tile_pieces pieces; /* n and k alone */
    uint64_t least_cycles;     /* no tiling of these channels takes less */
    double least_pj;
    double weight_bytes; /* of a tile, as far as they lie in one run */
    /* Shapes of the matrix instructions of a tile of positions, and how many of each: tiles of n and k at the
     * edges are smaller, and fill the array as they are. */
    uint32_t shapes, shape_n[4], shape_k[4];
    uint64_t times[4];
};

void tile_measure(const struct tile_product *product, struct tile_volumes *volumes);

/* `energy`: bounds of energy are asked for too. */
void tile_prepare(const struct pim_estimate_hardware *hardware, const struct tile_product *product,
                  const struct tile_volumes *volumes, bool energy, uint32_t n, uint32_t c,
                  struct tile_channels *channels);

/* Elements of the box under a tile, and how they lie; what padding covers is not there. */
uint64_t tile_input_box(const struct tile_product *product, const struct tiling *tiling,
                        uint32_t extent[PLACE_DIMENSIONS], uint32_t step[PLACE_DIMENSIONS]);

/* False: it costs as much as `limit`, or more; then not all is known of it. */
bool tile_estimate(const struct pim_estimate_hardware *hardware, const struct tile_product *product,
                   const struct tile_volumes *volumes, const struct tile_channels *channels,
                   const struct nice_weights *weights, uint64_t limit, struct tiling *tiling, uint64_t *cost);

#endif
