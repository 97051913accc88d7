/*
 * How well estimators tell the latency of the mappings of a population: correlation with the simulated one,
 * correlation of ranks, and the regret of the pick, which is by how much the mapping that the estimator likes
 * best is slower than the fastest of the population.
 */
#ifndef PIMSIM_MAPPERS_CONFLICT_ESTIMATORS_JUDGE_H
#define PIMSIM_MAPPERS_CONFLICT_ESTIMATORS_JUDGE_H

#include "mappers/conflict/estimators/estimator.h"
#include "mappers/conflict/estimators/samples.h"

/* NAN: the population has fewer than two mappings, or all of them the same value. */
struct pim_tile_judgement {
    double correlation, rank_correlation;
    double regret; /* 0.1: a tenth slower */
};

/* Of a population, by fitness: all that can judge a mapping, simulation among them. */
struct pim_tile_verdict {
    const struct pim_tile_population *population;
    double fastest_ns, slowest_ns;
    struct pim_tile_judgement of[PIM_TILE_FITNESSES];
};

/*
 * Judges populations first to first + count - 1 of the samples; verdicts[i] is of population first + i.
 * `estimators`: PIM_TILE_ESTIMATORS of them. PIM_NO_MEMORY.
 */
enum pim_status pim_tile_judge(const struct pim_tile_setting *setting,
                               const struct pim_tile_estimator *estimators,
                               const struct pim_tile_samples *samples, uint32_t first, uint32_t count,
                               struct pim_tile_verdict *verdicts, struct pim_error *error);

/* One series of estimates against latencies. PIM_NO_MEMORY. */
enum pim_status pim_tile_judge_series(uint32_t count, const double *estimates, const double *latencies,
                                      struct pim_tile_judgement *judgement, struct pim_error *error);

#endif
