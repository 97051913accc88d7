/*
 * The best architectures of a search so far. One that is proposed again counts once: the best three are three
 * different ones.
 */
#ifndef PIMSIM_TOOLS_TUNE_BEST_H
#define PIMSIM_TOOLS_TUNE_BEST_H

#include "tools/tune/space.h"

enum { PIM_TUNE_BEST = 3 };

struct pim_tune_best {
    struct pim_tune_ranked {
        struct pim_tune_architecture architecture;
        uint64_t iteration; /* the first one that had it */
        double cost;
    } rank[PIM_TUNE_BEST]; /* ascending in cost, of equal ones the earlier first */
    unsigned count;
};

/* Counts an iteration in; costs that are not finite are those of architectures that failed. */
void pim_tune_best_count(struct pim_tune_best *best, const struct pim_tune_architecture *architecture,
                         uint64_t iteration, double cost);

/* 1 / cost of the best, and the mean of it over those that count; not a number where none does. */
double pim_tune_best_quality(const struct pim_tune_best *best);
double pim_tune_best_mean_quality(const struct pim_tune_best *best);

#endif
