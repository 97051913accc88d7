#include "tools/sweep/run.h"

#include "models/cost/read.h"
#include "models/system/configure.h"
#include "models/system/system.h"
#include "tools/library/words.h"
#include "tools/sweep/best.h"

#include <stdlib.h>
#include <time.h>

/* *cycles: of the whole trace; 0 when `until` stopped it. */
static enum pim_status replay(const struct pim_sweep *sweep, const struct pim_sweep_point *point,
                              const struct pim_hardware *hardware, const struct pim_trace *trace,
                              bool estimates, struct pim_sweep_result *result, uint64_t *cycles,
                              struct pim_error *error)
{
    const struct pim_system_options options = {
        .until_cycle = sweep->until_cycle ? sweep->until_cycle : PIM_UNTIL_END, .quiet = true};
    struct pim_system *system = NULL;
    struct pim_run_result run = {.cycles = 0};
    enum pim_status status = pim_system_create(hardware, trace, &options, &system, error);
    if (status == PIM_OK)
        status = pim_system_run(system, error);
    if (status == PIM_OK)
        status = pim_system_collect(system, &run, error);
    *cycles = status == PIM_OK && run.complete ? run.cycles : 0;
    if (status == PIM_OK)
        status = pim_sweep_result_add_run(result, system, &run, estimates, error);
    if (status == PIM_OK)
        status = pim_sweep_result_add_system(result, sweep, point, trace, &run, error);
    if (status == PIM_OK && result->status != PIM_OK)
        status = pim_fail(error, PIM_NO_MEMORY, "out of memory for the results");
    pim_run_result_terminate(&run);
    pim_system_destroy(system);
    return status;
}

/* A hardware that a replay refuses is refused as that of the mapping first, if mappers do not take it. */
static enum pim_status refuse_mapped(const struct pim_sweep *sweep, const struct pim_sweep_point *point,
                                     struct pim_error *error)
{
    const struct pim_sweep_source *source = &sweep->sources[point->source];
    struct pim_configuration *mapped;
    struct pim_map_words words;
    struct pim_error cause;
    if (source->trace || pim_sweep_configure(sweep, point, sweep->map_once, &mapped, &cause) != PIM_OK)
        return error->status;
    if (pim_map_words_parse(source->mapper, &words, &cause) == PIM_OK) {
        if (pim_sweep_set_words(mapped, &words, &cause) == PIM_OK &&
            pim_cost_check_mapped(mapped, &cause) != PIM_OK)
            *error = cause;
        pim_map_words_terminate(&words);
    }
    pim_configuration_destroy(mapped);
    return error->status;
}

static enum pim_status run_point(const struct pim_sweep *sweep, struct pim_trace_pool *pool,
                                 const struct pim_sweep_point *point, struct pim_sweep_result *result,
                                 struct pim_error *error)
{
    struct pim_configuration *configuration;
    struct pim_hardware hardware;
    const struct pim_trace *trace = NULL;
    if (pim_sweep_configure(sweep, point, false, &configuration, error) != PIM_OK)
        return error->status;
    char *text = pim_configuration_write(configuration, false);
    result->config_hash = pim_configuration_hash(configuration);
    enum pim_status status = text ? pim_hardware_read(configuration, &hardware, error)
                                  : pim_fail(error, PIM_NO_MEMORY, "out of memory");
    if (text) {
        result->configuration = pim_arena_copy_text(&result->texts, text);
        result->has_configuration = true;
    }
    free(text);
    if (status == PIM_BAD_INPUT)
        status = refuse_mapped(sweep, point, error);
    struct pim_sweep_best best = {.point = *point};
    if (status == PIM_OK && sweep->take_best)
        status = pim_sweep_find_best(sweep, pool, point, &hardware, &best, error);
    if (status == PIM_OK)
        status = pim_sweep_best_take(&best, pool, &trace, error);
    char differs[256] = "";
    if (status == PIM_OK)
        status = pim_configure_differences(trace, configuration, differs, sizeof differs, error);
    pim_configuration_destroy(configuration);
    if (status == PIM_OK) {
        result->has_trace = true;
        result->trace_hash = pim_trace_hash(trace);
        uint64_t cycles = 0;
        status = replay(sweep, point, &hardware, trace, differs[0] == '\0', result, &cycles, error);
        best.own_cycles = best.own_cycles ? best.own_cycles : cycles;
        if (status == PIM_OK && sweep->take_best)
            pim_sweep_best_add(sweep, &best, result);
    }
    if (trace)
        pim_trace_pool_give(pool, trace);
    pim_sweep_best_terminate(&best);
    return status;
}

static const char *copy(struct pim_sweep_result *result, const char *text)
{
    return text ? pim_arena_copy_text(&result->texts, text) : NULL;
}

/* What the point is, so that the result can stand alone. */
static void describe(const struct pim_sweep *sweep, const struct pim_sweep_point *point,
                     struct pim_sweep_result *result)
{
    const struct pim_sweep_source *source = &sweep->sources[point->source];
    size_t keys = 0;
    result->trace = copy(result, source->trace ? pim_sweep_label_among(sweep, source->trace) : NULL);
    result->network = copy(result, source->network ? pim_sweep_label_among(sweep, source->network) : NULL);
    result->mapper = copy(result, source->mapper);
    result->repeat = point->repeat;
    result->seed = point->seed;
    for (size_t a = 0; a < sweep->axis_count; a++)
        keys += sweep->axes[a].key_count;
    result->settings = pim_arena_require_array(&result->texts, keys, sizeof *result->settings,
                                               _Alignof(struct pim_sweep_value));
    for (size_t a = 0; a < sweep->axis_count; a++)
        for (size_t i = 0; i < sweep->axes[a].key_count; i++) {
            struct pim_sweep_value *value = &result->settings[result->setting_count++];
            *value = sweep->axes[a].keys[i].values[point->value[a]];
            value->text = pim_arena_copy_text(&result->texts, value->text);
        }
}

static double seconds(clockid_t clock)
{
    struct timespec time = {0};
    (void)clock_gettime(clock, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

void pim_sweep_run(const struct pim_sweep *sweep, struct pim_trace_pool *pool,
                   const struct pim_sweep_point *point, struct pim_sweep_result *result)
{
    struct pim_error error = {.status = PIM_OK};
    double cpu = seconds(CLOCK_THREAD_CPUTIME_ID), wall = seconds(CLOCK_MONOTONIC);
    pim_sweep_result_initialize(result, point->number);
    describe(sweep, point, result);
    result->status = run_point(sweep, pool, point, result, &error);
    if (result->status != PIM_OK) {
        result->count = 0; /* never half a result */
        result->error = pim_arena_copy_text(&result->texts, error.text);
    }
    result->cpu_seconds = seconds(CLOCK_THREAD_CPUTIME_ID) - cpu;
    result->wall_seconds = seconds(CLOCK_MONOTONIC) - wall;
}
