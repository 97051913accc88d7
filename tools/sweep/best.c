#include "tools/sweep/best.h"

#include "models/system/system.h"
#include "tools/sweep/result.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool pim_sweep_is_bandwidth(const char *key)
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
        if (strcmp(key, names[i]) == 0)
            return true;
    return false;
}

bool pim_sweep_axis_is_bandwidth(const struct pim_sweep_axis *axis)
{
    for (size_t i = 0; i < axis->key_count; i++)
        if (!pim_sweep_is_bandwidth(axis->keys[i].name))
            return false;
    return axis->key_count > 0;
}

/* --- neighbours, numbered in the order of points --- */

/* A point and its neighbours. */
static uint64_t count_neighbours(const struct pim_sweep *sweep)
{
    uint64_t count = 1; /* at most 2^53, as all points */
    for (size_t a = 0; a < sweep->axis_count; a++)
        if (pim_sweep_axis_is_bandwidth(&sweep->axes[a]))
            count *= sweep->axes[a].count;
    return count;
}

static uint64_t number_of(const struct pim_sweep *sweep, const struct pim_sweep_point *point)
{
    uint64_t number = 0;
    for (size_t a = 0; a < sweep->axis_count; a++)
        if (pim_sweep_axis_is_bandwidth(&sweep->axes[a]))
            number = number * sweep->axes[a].count + point->value[a];
    return number;
}

static struct pim_sweep_point neighbour(const struct pim_sweep *sweep, const struct pim_sweep_point *point,
                                        uint64_t number)
{
    struct pim_sweep_point other = *point;
    for (size_t a = sweep->axis_count; a-- > 0;) {
        if (!pim_sweep_axis_is_bandwidth(&sweep->axes[a]))
            continue;
        other.value[a] = (size_t)(number % sweep->axes[a].count);
        number /= sweep->axes[a].count;
    }
    return other;
}

enum pim_status pim_sweep_prepare_best(struct pim_sweep *sweep, struct pim_error *error)
{
    uint64_t count = count_neighbours(sweep);
    bool maps = !sweep->map_once;
    for (size_t i = 0; i < sweep->source_count; i++)
        maps = maps && !sweep->sources[i].trace;
    if (!maps || count == 1)
        sweep->own_programs = false; /* they are all that there is */
    sweep->take_best = maps && count > 1 && !sweep->own_programs;
    if (!sweep->take_best || count <= PIM_SWEEP_NEIGHBOURS_MOST)
        return PIM_OK;
    return pim_fail(error, PIM_BAD_INPUT,
                    "%" PRIu64
                    " points differ in bandwidth and latency alone, and with mapping = \"each\" each of them "
                    "replays the programs of all; at most %d may: mapping = \"own\" replays none",
                    count, PIM_SWEEP_NEIGHBOURS_MOST);
}

/* --- comparison --- */

struct comparison {
    const struct pim_sweep *sweep;
    struct pim_trace_pool *pool;
    const struct pim_sweep_point *point;
    const struct pim_hardware *hardware;
    struct pim_sweep_best *best;
    const struct pim_trace *own;
    uint64_t own_hash;
    uint64_t least;  /* cycles of the best so far; 0: none was replayed */
    uint64_t number; /* of the best so far, when it is a neighbour */
    bool over;       /* the point's own program does not come to its end */
    struct {
        uint64_t hash, cycles;
    } * program; /* that were replayed */
    uint64_t tried;
};

/* The cycles of a program; 0: it takes more than `limit`, or does not run. */
static enum pim_status replay(const struct comparison *c, const struct pim_trace *trace, uint64_t limit,
                              uint64_t *cycles, struct pim_error *error)
{
    const struct pim_system_options options = {.until_cycle = limit, .quiet = true};
    struct pim_error refused = {.status = PIM_OK};
    struct pim_system *system = NULL;
    struct pim_run_result run = {.cycles = 0};
    *cycles = 0;
    enum pim_status status = pim_system_create(c->hardware, trace, &options, &system, &refused);
    if (status == PIM_OK)
        status = pim_system_run(system, &refused);
    if (status == PIM_OK)
        status = pim_system_collect(system, &run, &refused);
    if (status == PIM_OK && run.complete)
        *cycles = run.cycles;
    pim_run_result_terminate(&run);
    pim_system_destroy(system);
    if (status != PIM_NO_MEMORY && status != PIM_IO && status != PIM_INTERNAL)
        return PIM_OK;
    *error = refused;
    return status;
}

/* Replays the point's own program, beside which others are held. */
static enum pim_status replay_own(struct comparison *c, struct pim_error *error)
{
    uint64_t until = c->sweep->until_cycle ? c->sweep->until_cycle : PIM_UNTIL_END;
    enum pim_status status = replay(c, c->own, until, &c->best->own_cycles, error);
    c->least = c->best->own_cycles;
    c->over = c->least == 0;
    return status;
}

/* The cycles of a neighbour's program, as of replay(); of equal programs one is replayed. */
static enum pim_status measure(struct comparison *c, const struct pim_trace *trace, uint64_t *cycles,
                               struct pim_error *error)
{
    uint64_t hash = pim_trace_program_hash(trace), i = 0;
    while (i < c->tried && c->program[i].hash != hash)
        i++;
    enum pim_status status = PIM_OK;
    if (i == c->tried) {
        c->program[i].hash = hash;
        /* one cycle more than the least: what takes as long comes to its end */
        status = replay(c, trace, c->least + 1, &c->program[i].cycles, error);
        c->tried++;
    }
    *cycles = c->program[i].cycles;
    return status;
}

/* A neighbour's program beside the best so far. */
static enum pim_status compare(struct comparison *c, uint64_t number, const struct pim_trace *trace,
                               struct pim_error *error)
{
    uint64_t cycles;
    if (pim_trace_program_hash(trace) == c->own_hash)
        return PIM_OK;
    if (c->least == 0 && replay_own(c, error) != PIM_OK)
        return error->status;
    if (c->over)
        return PIM_OK;
    if (measure(c, trace, &cycles, error) != PIM_OK)
        return error->status;
    if (cycles > 0 && (cycles < c->least || (cycles == c->least && c->best->beaten && number < c->number))) {
        c->best->point = neighbour(c->sweep, c->point, number);
        c->best->beaten = true;
        c->least = cycles;
        c->number = number;
    }
    return PIM_OK;
}

/* *done is false when another thread makes the program, and `wait` is. */
static enum pim_status try(struct comparison *c, uint64_t number, bool wait, bool *done,
                           struct pim_error *error)
{
    struct pim_sweep_point from = neighbour(c->sweep, c->point, number);
    struct pim_error refused = {.status = PIM_OK};
    const struct pim_trace *trace = NULL;
    bool admitted = false;
    *done = true;
    if (pim_sweep_admits(c->sweep, &from, &admitted, error) != PIM_OK)
        return error->status;
    if (!admitted)
        return PIM_OK;
    enum pim_status status = wait ? pim_trace_pool_take(c->pool, &from, &trace, &refused)
                                  : pim_trace_pool_try(c->pool, &from, &trace, &refused);
    if (status == PIM_NO_MEMORY || status == PIM_IO || status == PIM_INTERNAL) {
        *error = refused;
        return status;
    }
    if (status != PIM_OK)
        return PIM_OK;
    *done = trace != NULL;
    if (!trace)
        return PIM_OK;
    status = compare(c, number, trace, error);
    pim_trace_pool_give(c->pool, trace);
    return status;
}

/* All neighbours, from the point's own place on, so that threads and tasks, which work at different points,
 * have different programs made; first those that no other thread makes. */
static enum pim_status try_all(struct comparison *c, bool *done, uint64_t count, struct pim_error *error)
{
    uint64_t own = number_of(c->sweep, c->point);
    enum pim_status status = PIM_OK;
    done[own] = true;
    for (int waits = 0; waits < 2; waits++)
        for (uint64_t i = 1; i < count && status == PIM_OK && !c->over; i++) {
            uint64_t number = (own + i) % count;
            if (!done[number])
                status = try(c, number, waits == 1, &done[number], error);
        }
    return status;
}

enum pim_status pim_sweep_find_best(const struct pim_sweep *sweep, struct pim_trace_pool *pool,
                                    const struct pim_sweep_point *point, const struct pim_hardware *hardware,
                                    struct pim_sweep_best *best, struct pim_error *error)
{
    uint64_t count = count_neighbours(sweep);
    struct comparison c = {.sweep = sweep, .pool = pool, .point = point, .hardware = hardware, .best = best};
    *best = (struct pim_sweep_best){.point = *point};
    if (pim_trace_pool_take(pool, point, &c.own, error) != PIM_OK)
        return error->status;
    c.own_hash = pim_trace_program_hash(c.own);
    bool *done = calloc(count, sizeof *done);
    c.program = calloc(count, sizeof *c.program);
    enum pim_status status =
        done && c.program ? try_all(&c, done, count, error)
                          : pim_fail(error, PIM_NO_MEMORY, "out of memory for the programs of a point");
    free(done);
    free(c.program);
    pim_trace_pool_give(pool, c.own);
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
        for (size_t i = 0; pim_sweep_axis_is_bandwidth(&sweep->axes[a]) && i < sweep->axes[a].key_count;
             i++) {
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
