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

/*
 * Layers of a round in groups, and when they start: decided once, from times and passes of layers, for the
 * schedule and for the closed forms that a search compares layouts by
 * (docs/mappers/pimcomp-high-throughput.md, rules 1 to 3).
 */

/* Times of a layer, as closed forms for this choice alone: of the window of a replica, of the sums of
 * one, of the message with them; of its maps through the memory. Layers without a matrix: `sums` is all
 * of their work. */
struct pim_chain_form {
    uint64_t window, sums, message, memory;
};

struct pim_chain_layer {
    bool scheduled; /* not an input */
    bool chained;   /* it waits for a layer of its group, or one waits for it */
    uint32_t group;
    uint64_t cycles, start; /* its time, and its start within the round */
    uint64_t passes;        /* that it takes, about */
    uint64_t chain;         /* the same with those of its group that wait for it */
    uint64_t first_pass;    /* before which it does not start */
};

/* `groups`: array groups of a replica. */
struct pim_chain_form pim_chain_form_of(const struct pim_core_architecture *architecture,
                                        const struct pim_core_layer *layer, uint32_t groups);

/* A job of so many replicas, on so many cores. */
uint64_t pim_chain_job_cycles(const struct pim_core_architecture *architecture,
                              const struct pim_chain_form *form, uint64_t replicas, uint64_t workers,
                              uint64_t steps);
/* A layer whose longest job takes `work`, or that has none. */
uint64_t pim_chain_cycles(const struct pim_core_architecture *architecture, const struct pim_chain_form *form,
                          uint64_t work);

/* Sets group, start and chained of all layers from `scheduled` and `cycles`; returns the number of groups. A
 * layer joins the last group of its producers when the chain of data-dependent layers in that group, itself
 * included, takes less time than the longest layer alone, which sets the length of a round, by a margin for
 * the barriers between them; otherwise the group after. `alone`: every layer is a group of its own. */
uint32_t pim_chain_groups(const struct pim_core_network *network, bool alone, struct pim_chain_layer *layer);

/* Sets chain and first_pass from `passes`; returns the passes of the round, about. A layer that waits for
 * others of its group starts halfway between the pass in which they could be done and the last one with which
 * its own chain still ends with the round: so a chain that runs late holds up nobody, and neither does the
 * barrier hold up what its cores do besides. */
uint64_t pim_chain_passes(const struct pim_core_network *network, struct pim_chain_layer *layer);

#endif
