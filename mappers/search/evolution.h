/*
 * Evolution with one objective: a generation keeps its best `survivors` and replaces the others by children
 * of them. (mu + lambda) truncation is population = mu + lambda, survivors = mu.
 *
 * A step of the budget is a generation. The start is not one.
 */
#ifndef PIMSIM_MAPPERS_SEARCH_EVOLUTION_H
#define PIMSIM_MAPPERS_SEARCH_EVOLUTION_H

#include "mappers/search/population.h"

struct pim_evolution_options {
    uint32_t population, survivors; /* 1 <= survivors < population */
    /* The parent of a child: survivor (place - survivors) mod survivors when `each`, else the better of two
       random survivors. */
    bool each;
    uint32_t cross_milli; /* a child in so many of 1000 has a second parent, drawn the same way */
    /* A child is mutated once, and once more with probability 1/2, up to so many times; 0 and 1: once. */
    uint32_t mutations;
    /* Makes children in place of the rules above; the survivors are individual[0] to [survivors - 1]. */
    pim_population_breed *breed;
    void *breeder;
    /* Called with the hooks' context after the children of a generation are scored and before all are sorted;
       and after they are sorted: true ends the search (PIM_SEARCH_PATIENCE). NULL: nothing. */
    void (*bred)(void *context, struct pim_population *population);
    bool (*sorted)(void *context, struct pim_population *population);
    /* Called once at the end, with the last population, best first. NULL: nothing. */
    enum pim_status (*done)(void *context, struct pim_population *population, struct pim_error *error);
    void *context; /* of the three */
};

/*
 * Searches. `best`, initialized by the caller as an individual of the problem, receives the best one.
 * PIM_BAD_INPUT for options out of range; errors of the problem's operations; PIM_NO_MEMORY.
 */
enum pim_status pim_evolve(const struct pim_search_problem *problem,
                           const struct pim_evolution_options *options,
                           const struct pim_search_budget *budget, void *best,
                           struct pim_search_result *result, struct pim_error *error);

#endif
