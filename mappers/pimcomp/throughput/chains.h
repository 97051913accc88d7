/*
 * Layers of a round in groups, and when they start: decided once, from times and passes of layers, for the
 * schedule and for the closed forms that a search compares layouts by
 * (docs/mappers/pimcomp-high-throughput.md, rules 1 to 3).
 */
#ifndef PIMSIM_MAPPERS_PIMCOMP_THROUGHPUT_CHAINS_H
#define PIMSIM_MAPPERS_PIMCOMP_THROUGHPUT_CHAINS_H

#include "mappers/pimcomp/representation/pimcomp.h"

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
