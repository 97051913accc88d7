/*
 * NSGA-II: K. Deb, A. Pratap, S. Agarwal, T. Meyarivan, "A Fast and Elitist Multiobjective Genetic Algorithm:
 * NSGA-II", IEEE Transactions on Evolutionary Computation 6(2), 2002.
 *
 * Points are rows of `objectives` figures, all minimised. a dominates b when it is nowhere above b and
 * somewhere below. Equal points do not dominate each other.
 */
#ifndef PIMSIM_MAPPERS_SEARCH_NSGA2_H
#define PIMSIM_MAPPERS_SEARCH_NSGA2_H

#include "mappers/search/population.h"

bool pim_dominates(const double *a, const double *b, uint32_t objectives);

/* front[i]: 0 for points that none dominates, 1 for those that only points of front 0 dominate, and so on. */
enum pim_status pim_nsga2_fronts(const double *points, uint32_t count, uint32_t objectives, uint32_t *front,
                                 struct pim_error *error);

/*
 * crowding[i]: the sum over the objectives of the distance between the two neighbours of point i in its
 * front, as a part of the front's extent; INFINITY for the first and the last. Equal figures are ordered by
 * their index. Where the extent is 0 or infinite an objective adds nothing.
 */
enum pim_status pim_nsga2_crowding(const double *points, uint32_t count, uint32_t objectives,
                                   const uint32_t *front, double *crowding, struct pim_error *error);

/* Writes the indices of the `keep` best points by front, larger crowding and index, in that order. */
enum pim_status pim_nsga2_select(uint32_t count, const uint32_t *front, const double *crowding, uint32_t keep,
                                 uint32_t *selected, struct pim_error *error);

/* Volume that the points dominate within the box below `reference`; 2 or 3 objectives (asserted). Points that
 * are not below it in all of them count nothing. PIM_NO_MEMORY. */
enum pim_status pim_hypervolume(const double *points, uint32_t count, uint32_t objectives,
                                const double *reference, double *volume, struct pim_error *error);

struct pim_nsga2_options {
    uint32_t population;  /* 2 and more; as many children are made in a generation */
    uint32_t cross_milli; /* children in 1000 that have two parents; the paper: 900 */
    /* Called once at the end, with the last population: first the first front, by score; then the others.
       NULL: nothing. */
    enum pim_status (*done)(void *context, struct pim_population *population, uint32_t front,
                            struct pim_error *error);
    void *context;
};

/*
 * Searches; a step of the budget is a generation. `best` receives the individual with the least first score
 * of the last population. Parents are the winners of tournaments of two by front, then crowding, then
 * identity. PIM_BAD_INPUT, errors of the problem's operations, PIM_NO_MEMORY.
 */
enum pim_status pim_nsga2(const struct pim_search_problem *problem, const struct pim_nsga2_options *options,
                          const struct pim_search_budget *budget, void *best,
                          struct pim_search_result *result, struct pim_error *error);

#endif
