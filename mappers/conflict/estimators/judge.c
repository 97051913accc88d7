/* Estimates against simulated latencies; see judge.h. */
#include "mappers/conflict/estimators/judge.h"

#include "mappers/learn/correlation.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

enum pim_status pim_tile_judge_series(uint32_t count, const double *estimates, const double *latencies,
                                      struct pim_tile_judgement *judgement, struct pim_error *error)
{
    uint32_t pick = 0, fastest = 0;
    *judgement = (struct pim_tile_judgement){nan(""), nan(""), nan("")};
    if (count == 0)
        return PIM_OK;
    for (uint32_t i = 1; i < count; i++) {
        pick = estimates[i] < estimates[pick] ? i : pick;
        fastest = latencies[i] < latencies[fastest] ? i : fastest;
    }
    judgement->regret = latencies[pick] / latencies[fastest] - 1;
    judgement->correlation = pim_correlation(count, estimates, latencies);
    return pim_rank_correlation(count, estimates, latencies, &judgement->rank_correlation, error);
}

/* The values of one fitness for the mappings of a population. */
static enum pim_status fill(const struct pim_tile_setting *setting,
                            const struct pim_tile_estimator *estimators,
                            const struct pim_tile_samples *samples,
                            const struct pim_tile_population *population, enum pim_tile_fitness fitness,
                            double *values, struct pim_error *error)
{
    struct pim_tile_estimation *estimation = NULL;
    if (fitness >= PIM_TILE_BY_MLP) {
        estimation = pim_tile_estimation_create(setting, &estimators[fitness - PIM_TILE_BY_MLP]);
        if (!estimation)
            return pim_fail(error, PIM_NO_MEMORY, "no memory for an estimator");
    }
    for (uint32_t i = 0; i < population->count; i++) {
        uint32_t sample = population->first + i;
        const uint32_t *place = samples->place + (size_t)sample * samples->nodes;
        if (estimation)
            values[i] = pim_tile_estimation_latency(estimation, place);
        else
            values[i] = fitness == PIM_TILE_BY_COST         ? (double)samples->cost[sample]
                        : fitness == PIM_TILE_BY_BOTTLENECK ? (double)samples->bottleneck[sample]
                                                            : samples->latency_ns[sample];
    }
    pim_tile_estimation_destroy(estimation);
    return PIM_OK;
}

static enum pim_status judge_one(const struct pim_tile_setting *setting,
                                 const struct pim_tile_estimator *estimators,
                                 const struct pim_tile_samples *samples,
                                 const struct pim_tile_population *population,
                                 struct pim_tile_verdict *verdict, struct pim_error *error)
{
    const double *latency = samples->latency_ns + population->first;
    double *values = calloc((size_t)population->count + 1, sizeof *values);
    enum pim_status status =
        values ? PIM_OK
               : pim_fail(error, PIM_NO_MEMORY, "no memory for %" PRIu32 " mappings", population->count);
    *verdict =
        (struct pim_tile_verdict){.population = population, .fastest_ns = nan(""), .slowest_ns = nan("")};
    for (uint32_t i = 0; i < population->count; i++) {
        verdict->fastest_ns = i == 0 ? latency[i] : fmin(latency[i], verdict->fastest_ns);
        verdict->slowest_ns = i == 0 ? latency[i] : fmax(latency[i], verdict->slowest_ns);
    }
    for (unsigned fitness = 0; status == PIM_OK && fitness < PIM_TILE_FITNESSES; fitness++) {
        status =
            fill(setting, estimators, samples, population, (enum pim_tile_fitness)fitness, values, error);
        if (status == PIM_OK)
            status = pim_tile_judge_series(population->count, values, latency, &verdict->of[fitness], error);
    }
    free(values);
    return status;
}

enum pim_status pim_tile_judge(const struct pim_tile_setting *setting,
                               const struct pim_tile_estimator *estimators,
                               const struct pim_tile_samples *samples, uint32_t first, uint32_t count,
                               struct pim_tile_verdict *verdicts, struct pim_error *error)
{
    for (uint32_t i = 0; i < count; i++)
        if (judge_one(setting, estimators, samples, &samples->population[first + i], &verdicts[i], error) !=
            PIM_OK)
            return error->status;
    return PIM_OK;
}
