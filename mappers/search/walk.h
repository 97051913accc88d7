/*
 * Walks: candidates that have nothing to do with each other, the best of them. Exhaustive when the problem
 * numbers its space, random otherwise.
 *
 * A step of the budget is a candidate; time and stop are looked at after every 1024 of them.
 */
#ifndef PIMSIM_MAPPERS_SEARCH_WALK_H
#define PIMSIM_MAPPERS_SEARCH_WALK_H

#include "mappers/search/problem.h"

/*
 * Scores the candidates that the problem's `start` makes of the numbers from 0 on: `space` of them, after
 * which the best is an optimum; 0: without end, each from its own stream. Of equal ones the first stands.
 * `patience` counts candidates in whole blocks of 1024. Otherwise as pim_evolve().
 */
enum pim_status pim_walk(const struct pim_search_problem *problem, uint64_t space,
                         const struct pim_search_budget *budget, void *best, struct pim_search_result *result,
                         struct pim_error *error);

#endif
