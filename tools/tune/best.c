#include "tools/tune/best.h"

#include <math.h>
#include <string.h>

void pim_tune_best_count(struct pim_tune_best *best, const struct pim_tune_architecture *architecture,
                         uint64_t iteration, double cost)
{
    unsigned at = best->count;
    if (!isfinite(cost))
        return;
    /* what was pushed out is worse than all that stand here: it cannot come back */
    for (unsigned i = 0; i < best->count; i++)
        if (memcmp(&best->rank[i].architecture, architecture, sizeof *architecture) == 0)
            return;
    while (at > 0 && cost < best->rank[at - 1].cost)
        at--;
    if (at == PIM_TUNE_BEST)
        return;
    unsigned last = best->count < PIM_TUNE_BEST ? best->count++ : PIM_TUNE_BEST - 1;
    memmove(&best->rank[at + 1], &best->rank[at], (last - at) * sizeof best->rank[0]);
    best->rank[at] = (struct pim_tune_ranked){*architecture, iteration, cost};
}

double pim_tune_best_quality(const struct pim_tune_best *best)
{
    return best->count > 0 ? 1 / best->rank[0].cost : (double)NAN;
}

double pim_tune_best_mean_quality(const struct pim_tune_best *best)
{
    double sum = 0;
    for (unsigned i = 0; i < best->count; i++)
        sum += 1 / best->rank[i].cost;
    return best->count > 0 ? sum / best->count : (double)NAN;
}
