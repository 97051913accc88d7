/*
 * Simulated annealing: several chains, each from a start of its own, the best of all.
 *
 * A chain makes `moves` moves on 80 levels of temperature, each 2^(-1/8) of the one before, so that the last
 * is about a thousandth of the first. A move that makes the score worse by d is taken with probability
 * exp(-d / temperature), drawn exactly with uniform numbers and comparisons alone (J. von Neumann, "Various
 * Techniques Used in Connection with Random Digits", 1951), so that all machines take the same moves.
 *
 * A step of the budget is a level of all chains.
 */
#ifndef PIMSIM_MAPPERS_SEARCH_ANNEALING_H
#define PIMSIM_MAPPERS_SEARCH_ANNEALING_H

#include "mappers/search/problem.h"

enum { PIM_ANNEALING_LEVELS = 80 };

struct pim_annealing_options {
    uint32_t chains;    /* 1 and more */
    uint64_t moves;     /* of a chain; at least one a level is made */
    double temperature; /* of the first level; 0: the mean of what 64 moves from the start make worse */
    /* What a move, kept in `scratch`, would change the score by, and the taking of it. Both NULL: an
       individual is copied, mutated and scored. */
    double (*propose)(void *context, void *scratch, void *data, struct pim_random *random);
    void (*accept)(void *context, void *scratch, void *data);
};

/* True with probability exp(-x); x >= 0. */
bool pim_search_exponential(struct pim_random *random, double x);

/* As pim_evolve(). */
enum pim_status pim_anneal(const struct pim_search_problem *problem,
                           const struct pim_annealing_options *options,
                           const struct pim_search_budget *budget, void *best,
                           struct pim_search_result *result, struct pim_error *error);

#endif
