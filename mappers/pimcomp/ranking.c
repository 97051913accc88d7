/* See ranking.h. */
#include "mappers/pimcomp/ranking.h"
#include "mappers/pimcomp/layout/layout.h"
#include "sim/try.h"

#include <math.h>
#include <string.h>

/* --- layouts --- */

static bool same_program(const struct pim_core_mapping *mapping, const struct pim_core_candidate *one,
                         const struct pim_core_candidate *two)
{
    return one->estimate == two->estimate && one->no_keeping == two->no_keeping &&
           pim_core_layouts_equal(mapping, &one->layout, &two->layout);
}

enum pim_status pim_core_ranking_see(void *context, const struct pim_core_mapping *mapping,
                                     const struct pim_core_candidate *candidate, struct pim_error *error)
{
    struct pim_core_ranking *ranking = context;
    uint32_t at = ranking->count;
    if (candidate->refused)
        return PIM_OK;
    ranking->seen++;
    while (at > 0 && ranking->best[at - 1].estimate > candidate->estimate)
        at--;
    if (at == ranking->most)
        return PIM_OK;
    for (uint32_t i = at; i > 0 && ranking->best[i - 1].estimate == candidate->estimate; i--)
        if (same_program(mapping, &ranking->best[i - 1], candidate))
            return PIM_OK;
    struct pim_core_candidate kept = *candidate;
    PIM_TRY(pim_core_layout_copy(mapping, &candidate->layout, ranking->arena, &kept.layout, error));
    ranking->count -= ranking->count == ranking->most;
    memmove(&ranking->best[at + 1], &ranking->best[at], (ranking->count - at) * sizeof *ranking->best);
    ranking->best[at] = kept;
    ranking->count++;
    return PIM_OK;
}

/* --- ranks --- */

/* Twice the rank from 0, less the mean of all: equal values share the mean of theirs. */
static int64_t rank_of(const uint64_t *value, uint32_t count, uint32_t index)
{
    int64_t below = 0, equal = 0;
    for (uint32_t i = 0; i < count; i++) {
        below += value[i] < value[index];
        equal += value[i] == value[index];
    }
    return 2 * below + equal - (int64_t)count;
}

double pim_core_rank_correlation(const uint64_t *one, const uint64_t *two, uint32_t count)
{
    int64_t product = 0, first = 0, second = 0; /* of at most 200 ranks below 400: exact */
    for (uint32_t i = 0; i < count; i++) {
        const int64_t a = rank_of(one, count, i), b = rank_of(two, count, i);
        product += a * b;
        first += a * a;
        second += b * b;
    }
    if (first == 0 || second == 0)
        return (double)NAN;
    return (double)product / sqrt((double)first * (double)second);
}

enum pim_status pim_core_ranking_make(struct pim_core_ranking *ranking,
                                      const struct pim_core_profile_options *options, struct pim_error *error)
{
    uint64_t estimate[PIM_CORE_RANKED_MOST], cycles[PIM_CORE_RANKED_MOST];
    PIM_TRY(pim_core_profile_simulate(options, ranking->best, ranking->count, error));
    for (uint32_t i = 0; i < ranking->count; i++) {
        const struct pim_core_candidate *candidate = &ranking->best[i];
        estimate[i] = candidate->estimate;
        cycles[i] = candidate->cycles;
        const double off = 100 * ((double)estimate[i] - (double)cycles[i]) / (double)cycles[i];
        ranking->error_least = i == 0 || off < ranking->error_least ? off : ranking->error_least;
        ranking->error_most = i == 0 || off > ranking->error_most ? off : ranking->error_most;
        ranking->slowest = i == 0 || cycles[i] > ranking->slowest ? cycles[i] : ranking->slowest;
        ranking->fastest = i == 0 || cycles[i] < ranking->fastest ? cycles[i] : ranking->fastest;
    }
    ranking->first = ranking->count > 0 ? cycles[0] : 0;
    ranking->correlation = pim_core_rank_correlation(estimate, cycles, ranking->count);
    return PIM_OK;
}
