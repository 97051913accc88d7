/*
 * Choices of the schedule of rounds that follow from numbers alone. They stand here for the schedule, and for
 * the closed forms that a search compares layouts by (cost/round_cost.h).
 */
#ifndef PIMSIM_MAPPERS_PIMCOMP_THROUGHPUT_RULES_H
#define PIMSIM_MAPPERS_PIMCOMP_THROUGHPUT_RULES_H

#include "mappers/pimcomp/representation/pimcomp.h"
#include "sim/integer.h"

enum {
    PIM_ROUND_LEAST_CHANNELS = 32,  /* of a block of a pooling whose windows overlap */
    PIM_ROUND_BLOCK_CHANNELS = 64,  /* of other layers with fewer windows than cores */
    PIM_ROUND_STORE_PIXELS = 32,    /* that are stored together */
    PIM_ROUND_BIASES = 8,           /* copies of a bias, at most */
    PIM_ROUND_STRETCH_BYTES = 2048, /* of a row, loaded at a time */
    /* What a core does in a pass of a pooling or element layer (bytes of its buffers): little, so that it
       does not hold up the MVMs, unless the layer waits for others of its group or they wait for it. */
    PIM_ROUND_CHUNK = 4096,
    PIM_ROUND_CHAIN_CHUNK = 65536
};

/* Steps of a batch, a power of two: some kilobytes of sums, and enough batches for the cores to overlap. */
static inline uint32_t pim_round_batch(uint64_t pixel_bytes, uint64_t replicas, uint64_t steps)
{
    enum { BYTES = 4096, PIXELS = 32, LEAST = 4 };
    uint32_t batch = 1;
    while (2 * batch * pixel_bytes * replicas <= BYTES && 2 * batch * replicas <= PIXELS &&
           (uint64_t)2 * batch * LEAST <= steps)
        batch *= 2;
    return batch;
}

/* Ranges of channels that a pooling or element layer is cut into for so many cores. Windows of a pooling that
 * overlap read the same rows: fewer channels and more pixels for each core load less. */
static inline uint32_t pim_round_blocks(const struct pim_core_layer *layer, uint32_t able)
{
    const struct pim_sliding *s = &layer->sliding;
    if (layer->kind == PIM_CORE_POOLING && (s->kernel[0] > s->stride[0] || s->kernel[1] > s->stride[1]))
        return (uint32_t)pim_smaller(able, pim_divide_up(layer->channels, PIM_ROUND_LEAST_CHANNELS));
    if (layer->windows >= able)
        return 1;
    return (uint32_t)pim_smaller(pim_divide_up(able, layer->windows),
                                 pim_divide_up(layer->channels, PIM_ROUND_BLOCK_CHANNELS));
}

/* The pass in which a core begins with layers that are in no chain: over three quarters of the round the
 * cores begin one after the other, so that their loads spread. */
static inline uint64_t pim_round_begin(uint64_t core, uint64_t cores, uint64_t passes)
{
    return core * passes * 3 / 4 / cores;
}

#endif
