/*
 * Local search behind the genetic one: mutants of a candidate, compiled and timed.
 *
 * In a round PIM_REFINE_CHILDREN mutants of the best layout are timed, half of them the best of as many times
 * more by the closed forms of the search, half whatever comes; the last one changes whether maps stay on chip
 * instead, where they may. The best of them takes the place of the layout when it is faster.
 *
 * The result depends on the seed and not on the threads; time limit and stop end it after a round.
 */
#ifndef PIMSIM_MAPPERS_PIMCOMP_REFINE_H
#define PIMSIM_MAPPERS_PIMCOMP_REFINE_H

#include "mappers/pimcomp/closed_loop.h"

enum { PIM_REFINE_CHILDREN = 8, PIM_REFINE_DRAWS = 4 };

struct pim_refine_options {
    uint32_t rounds;
    uint64_t seed;
    uint32_t max_layers_in_core;
    double seconds;              /* of wall clock; 0: no limit */
    bool (*stop)(void *context); /* NULL: never */
    void *context;
};

/* Refines the candidate `start` of a profile that has been timed, and adds what it finds as a candidate
 * "refined", timed. Nothing is added when nothing is better, or when a chromosome cannot say the layout.
 * PIM_NO_MEMORY. */
enum pim_status pim_core_refine(const struct pim_core_profile_options *profiling,
                                const struct pim_refine_options *options, uint32_t start,
                                struct pim_arena *arena, struct pim_core_profile *profile,
                                struct pim_error *error);

#endif
