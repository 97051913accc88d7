/*
 * The candidates of an iteration: random architectures until so many are predicted to keep to the area
 * (arXiv 2305.19041, section VIII-B: 16384).
 */
#ifndef PIMSIM_TOOLS_TUNE_STRATEGY_CANDIDATES_H
#define PIMSIM_TOOLS_TUNE_STRATEGY_CANDIDATES_H

#include "mappers/search/workers.h"
#include "tools/tune/space.h"
#include "tools/tune/strategy/models.h"

struct pim_tune_candidates {
    struct pim_tune_architecture *items; /* predicted to keep to the area, in the order they were drawn */
    double *features;                    /* of each, PIM_TUNE_DIMENSIONS */
    size_t count, capacity;
    /* How good the filter was: of all that were drawn, those it let through over the area, and those within
       it that it refused. */
    uint64_t drawn, false_accepts, false_rejects;
};

bool pim_tune_candidates_initialize(struct pim_tune_candidates *candidates, size_t capacity);
void pim_tune_candidates_terminate(struct pim_tune_candidates *candidates);

/* Draws with numbers of `seed`, until `capacity` are predicted to be legal or 256 times as many are drawn.
 * The same for any number of workers. */
enum pim_status pim_tune_candidates_draw(struct pim_tune_candidates *candidates,
                                         const struct pim_tune_space *space, double budget,
                                         const struct pim_tune_filter *filter, struct pim_workers *workers,
                                         uint64_t seed, struct pim_error *error);

/* Their places by ascending `value`, equal ones in their order. */
enum pim_status pim_tune_candidates_rank(const struct pim_tune_candidates *candidates, const double *value,
                                         size_t *order, struct pim_error *error);

#endif
