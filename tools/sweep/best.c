#include "tools/sweep/best.h"

#include "models/system/system.h"
#include "tools/sweep/result.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static bool is_bandwidth(const struct pim_sweep_key *key)
{
    static const char *const names[] = {"noc.flit_bits",
                                        "noc.link_bits_per_cycle",
                                        "noc.link_latency",
                                        "noc.buffer_flits",
                                        "noc.virtual_channels",
                                        "interconnect.bytes_per_cycle",
                                        "chips.link_bytes_per_cycle",
                                        "chips.link_cycles",
                                        "global_memory.bytes_per_cycle",
                                        "global_memory.read_cycles",
                                        "global_memory.write_cycles",
                                        "core.local_bytes_per_cycle"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strcmp(key->name, names[i]) == 0)
            return true;
    return false;
}

bool pim_sweep_is_bandwidth(const struct pim_sweep_axis *axis)
{
    for (size_t i = 0; i < axis->key_count; i++)
        if (!is_bandwidth(&axis->keys[i]))
            return false;
    return axis->key_count > 0;
}

enum pim_status pim_sweep_check_best(const struct pim_sweep *sweep, struct pim_error *error)
{
    bool varies = false, maps = true;
    for (size_t a = 0; a < sweep->axis_count; a++)
        varies = varies || pim_sweep_is_bandwidth(&sweep->axes[a]);
    for (size_t i = 0; i < sweep->source_count; i++)
        maps = maps && !sweep->sources[i].trace;
    if (!sweep->take_best || (varies && maps))
        return PIM_OK;
    return pim_fail(
        error, PIM_BAD_INPUT,
        maps ? "mapping = \"best\": no axis varies bandwidth or latency alone, such as noc.flit_bits"
             : "mapping = \"best\": a trace is mapped already; networks and mappers are expected");
}

/* The cycles of the program of `from` on the hardware; 0: it takes more than `limit` (0: no limit). */
static enum pim_status replay(struct pim_trace_pool *pool, const struct pim_sweep_point *from,
                              const struct pim_hardware *hardware, uint64_t limit, uint64_t *cycles,
                              struct pim_error *error)
{
    const struct pim_system_options options = {.until_cycle = limit ? limit : PIM_UNTIL_END, .quiet = true};
    const struct pim_trace *trace = NULL;
    struct pim_system *system = NULL;
    struct pim_run_result run = {.cycles = 0};
    *cycles = 0;
    if (pim_trace_pool_take(pool, from, &trace, error) != PIM_OK)
        return error->status;
    enum pim_status status = pim_system_create(hardware, trace, &options, &system, error);
    if (status == PIM_OK)
        status = pim_system_run(system, error);
    if (status == PIM_OK)
        status = pim_system_collect(system, &run, error);
    if (status == PIM_OK && run.complete)
        *cycles = run.cycles;
    pim_run_result_terminate(&run);
    pim_system_destroy(system);
    pim_trace_pool_give(pool, trace);
    return status;
}

/* The program of `from` is taken when it is faster than the best so far. */
static enum pim_status try(const struct pim_sweep *sweep, struct pim_trace_pool *pool,
                           const struct pim_sweep_point *from, const struct pim_hardware *hardware,
                           struct pim_sweep_best *best, uint64_t *least, struct pim_error *error)
{
    struct pim_error refused = {.status = PIM_OK};
    bool admitted = false;
    uint64_t cycles = 0;
    if (pim_sweep_admits(sweep, from, &admitted, error) != PIM_OK)
        return error->status;
    if (!admitted)
        return PIM_OK;
    enum pim_status status = replay(pool, from, hardware, *least, &cycles, &refused);
    if (status == PIM_NO_MEMORY || status == PIM_IO || status == PIM_INTERNAL) {
        *error = refused;
        return status;
    }
    if (status == PIM_OK && cycles > 0 && cycles < *least) {
        *least = cycles;
        best->point = *from;
        best->beaten = true;
    }
    return PIM_OK;
}

/* The next point along the axes of bandwidth; false after the last. */
static bool next_point(const struct pim_sweep *sweep, struct pim_sweep_point *point)
{
    for (size_t a = sweep->axis_count; a-- > 0;) {
        if (!pim_sweep_is_bandwidth(&sweep->axes[a]))
            continue;
        if (++point->value[a] < sweep->axes[a].count)
            return true;
        point->value[a] = 0;
    }
    return false;
}

enum pim_status pim_sweep_find_best(const struct pim_sweep *sweep, struct pim_trace_pool *pool,
                                    const struct pim_sweep_point *point, const struct pim_hardware *hardware,
                                    struct pim_sweep_best *best, struct pim_error *error)
{
    struct pim_sweep_point from = *point;
    *best = (struct pim_sweep_best){.point = *point};
    enum pim_status status = replay(pool, point, hardware, sweep->until_cycle, &best->own_cycles, error);
    uint64_t least = best->own_cycles;
    if (status != PIM_OK || least == 0)
        return status;
    for (size_t a = 0; a < sweep->axis_count; a++)
        if (pim_sweep_is_bandwidth(&sweep->axes[a]))
            from.value[a] = 0;
    do
        if (memcmp(from.value, point->value, sizeof from.value) != 0)
            status = try(sweep, pool, &from, hardware, best, &least, error);
    while (status == PIM_OK && next_point(sweep, &from));
    return status;
}

void pim_sweep_best_add(const struct pim_sweep *sweep, const struct pim_sweep_best *best,
                        struct pim_sweep_result *result)
{
    result->beaten = best->beaten;
    pim_sweep_result_add_integer(result, "search_beaten", best->beaten);
    if (best->own_cycles > 0)
        pim_sweep_result_add_integer(result, "search_cycles", best->own_cycles);
    else
        pim_sweep_result_add_real(result, "search_cycles", (double)NAN);
    for (size_t a = 0; a < sweep->axis_count; a++)
        for (size_t i = 0; pim_sweep_is_bandwidth(&sweep->axes[a]) && i < sweep->axes[a].key_count; i++) {
            const struct pim_sweep_key *key = &sweep->axes[a].keys[i];
            const struct pim_sweep_value *value = &key->values[best->point.value[a]];
            char name[256];
            (void)snprintf(name, sizeof name, "program_of.%.200s", key->name);
            if (value->kind == PIM_SWEEP_INTEGER)
                pim_sweep_result_add_integer(result, name, (uint64_t)value->integer);
            else
                pim_sweep_result_add_real(result, name, value->real);
        }
}
