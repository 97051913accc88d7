/*
 * Local search behind the genetic one: mutants of the best candidates, compiled and timed.
 *
 * PIM_REFINE_CHAINS chains begin at the best candidates of different estimates, in high throughput those of
 * a kind (with maps on chip, or without) at different numbers of replicas, too. In a round each of them has
 * PIM_REFINE_CHILDREN mutants timed, each the best of a few draws (draws_of) by the closed forms of the
 * search; now and then one changes whether maps stay on chip instead, where they may. The best mutant takes
 * the place of the chain's layout when it is no slower. When a part of the budget is spent, the better half
 * of the chains goes on, in the end a single one.
 *
 * A chain that begins at a layout which is not by the rule of chromosomes keeps its replicas: a mutant has
 * all of its parent's that its groups still allow (chromosome.h), so that it differs from it by its mutations
 * alone. The first mutant of such a chain is its layout by the rule.
 *
 * Where maps may stay on chip and the budget is of 1024 trials at least, half of the chains begin with maps
 * on chip and half without, as far as there are any; none changes that until a single one is left, and the
 * best of each kind is among two. A layout and whether maps stay depend on each other, and the kind that is
 * ahead at first need not be so in the end.
 *
 * The budget is counted in instructions that are timed, so that small programs, which are timed in
 * milliseconds, get as much time as large ones. The result depends on the seed and not on the threads; time
 * limit and stop end it as they end the timing of candidates.
 */
#ifndef PIMSIM_MAPPERS_PIMCOMP_REFINE_H
#define PIMSIM_MAPPERS_PIMCOMP_REFINE_H

#include "mappers/pimcomp/closed_loop.h"

enum { PIM_REFINE_CHAINS = 4, PIM_REFINE_CHILDREN = 4 };

struct pim_refine_options {
    uint64_t instructions; /* to be timed, or more: */
    uint32_t timed;        /* so many layouts as large as the best start */
    uint64_t seed;
    uint32_t max_layers_in_core;
};

/* Refines the best candidates of a profile that has been timed, and adds what is faster as candidates
 * "refined", timed. Nothing is added when nothing is faster, or when a chromosome cannot say the layouts.
 * PIM_NO_MEMORY. */
enum pim_status pim_core_refine(const struct pim_core_profile_options *profiling,
                                const struct pim_refine_options *options, struct pim_arena *arena,
                                struct pim_core_profile *profile, struct pim_error *error);

#endif
