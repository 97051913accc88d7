/* One limit for all stages of a search, and what a simulation may still take when it is over. */
#include "mappers/conflict/mapping.h"

#include <math.h>

enum { LAST_LOOKS = 16 };

/* When time is over a simulation may go on for so many looks. */
struct last_moment {
    struct pim_search_limit *limit;
    unsigned looks;
};

static bool moment_is_over(void *context)
{
    struct last_moment *moment = context;
    return pim_search_limit_over(moment->limit) && ++moment->looks > LAST_LOOKS;
}

enum pim_status pim_tile_simulate_found(struct pim_tile_deadline *deadline, const uint32_t *place,
                                        double *latency_ns, double *interval_ns, struct pim_error *error)
{
    const struct pim_tile_mapping_options *options = deadline->options;
    struct last_moment moment = {&deadline->limit, 0};
    const struct pim_tile_limits limits = {HUGE_VAL, moment_is_over, &moment};
    return options->simulate(options->simulate_context, place, &limits, latency_ns, interval_ns, error);
}

enum pim_status pim_tile_judge_found(struct pim_tile_deadline *deadline, const uint32_t *place,
                                     double *interval_ns, struct pim_error *error)
{
    const struct pim_tile_mapping_options *options = deadline->options;
    struct last_moment moment = {&deadline->limit, 0};
    const bool few = options->images <= 1;
    const struct pim_tile_limits whole = {HUGE_VAL, options->stop, options->stop_context};
    const struct pim_tile_limits most = {HUGE_VAL, moment_is_over, &moment};
    return options->judge(options->judge_context, place, few ? &whole : &most, interval_ns, error);
}
