#include "tools/sweep/best.h"

#include "models/system/system.h"
#include "sim/integer.h"

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

struct tried {
    uint64_t hash, cycles; /* 0: longer than the best before, or it does not run */
};

struct comparison {
    const struct pim_sweep *sweep;
    struct pim_trace_pool *pool;
    const struct pim_sweep_point *point;
    const struct pim_hardware *hardware;
    struct pim_sweep_best *best;
    const struct pim_trace *own;
    uint64_t own_number, own_hash;
    uint64_t least; /* cycles of the best so far; 0: none was replayed */
    uint64_t rank;  /* of the best so far among equally fast ones; the point's own search is the first */
    bool over;      /* the point's own program does not come to its end */
    uint64_t count; /* the point and its neighbours, by number: */
    struct made {
        bool looked_at[2]; /* at the program from nothing, and at the one that starts from plans */
        bool made;         /* the one from nothing */
        uint64_t hash;     /* of that */
    } * made;
    struct tried *tried; /* programs that were replayed */
    uint64_t tries;
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

/* A program that was replayed; NULL: none of this hash was. */
static struct tried *find_tried(struct comparison *c, uint64_t hash)
{
    for (uint64_t i = 0; i < c->tries; i++)
        if (c->tried[i].hash == hash)
            return &c->tried[i];
    return NULL;
}

/* A program that is new: replayed, to one cycle more than the least, so that what takes as long comes to its
 * end. */
static enum pim_status measure(struct comparison *c, uint64_t hash, const struct pim_trace *trace,
                               struct pim_error *error)
{
    struct tried *tried = &c->tried[c->tries++];
    tried->hash = hash;
    return replay(c, trace, c->least + 1, &tried->cycles, error);
}

/* A program whose cycles are known beside the best so far. */
static void compare(struct comparison *c, uint64_t number, bool again, uint64_t cycles)
{
    const uint64_t rank = 2 * (number == c->own_number ? 0 : number + 1) + again;
    if (cycles == 0 || cycles > c->least || (cycles == c->least && (!c->best->beaten || rank >= c->rank)))
        return;
    c->best->point = neighbour(c->sweep, c->point, number);
    c->best->again = again;
    c->best->beaten = true;
    c->least = cycles;
    c->rank = rank;
}

/* --- programs that start from plans --- */

/* The plans that a point's second search starts from: of the point and its nearest neighbours that have one,
 * in the order of numbers. Whether they are of more than one program. */
static bool find_starts(const struct comparison *c, uint64_t number, struct pim_sweep_starts *starts)
{
    uint64_t found[PIM_SWEEP_STARTS_MOST];
    bool differ = false;
    starts->count = 0;
    for (uint64_t distance = 0; distance < c->count && starts->count < PIM_SWEEP_STARTS_MOST; distance++)
        for (unsigned side = 0; side < 1 + (distance > 0) && starts->count < PIM_SWEEP_STARTS_MOST; side++) {
            uint64_t other = side == 0 ? number - distance : number + distance; /* wraps: too large */
            if (other >= c->count || !c->made[other].made)
                continue;
            size_t at = starts->count++;
            for (; at > 0 && found[at - 1] > other; at--)
                found[at] = found[at - 1];
            found[at] = other;
            differ = differ || c->made[other].hash != c->made[found[0]].hash;
        }
    for (size_t i = 0; i < starts->count; i++)
        starts->point[i] = neighbour(c->sweep, c->point, found[i]);
    return differ;
}

/* --- all programs --- */

/* A program beside the best so far; `trace` is NULL when its hash is not new here. */
static enum pim_status judge(struct comparison *c, uint64_t number, bool again, uint64_t hash,
                             const struct pim_trace *trace, struct pim_error *error)
{
    enum pim_status status = PIM_OK;
    if (hash == c->own_hash)
        return PIM_OK;
    if (c->least == 0)
        status = replay_own(c, error);
    if (status == PIM_OK && !c->over && !find_tried(c, hash))
        status = measure(c, hash, trace, error);
    if (status == PIM_OK && !c->over)
        compare(c, number, again, find_tried(c, hash)->cycles);
    return status;
}

/* Opens a program when its hash is new here. *made is false when another thread makes it, and `wait` is. */
static enum pim_status look_at(struct comparison *c, uint64_t number, const struct pim_sweep_program *program,
                               bool wait, bool *made, uint64_t *hash, struct pim_error *error)
{
    const struct pim_trace *trace = NULL;
    enum pim_status status = pim_trace_pool_hash(c->pool, program, made, hash, error);
    if (status == PIM_OK && (!*made || (*hash != c->own_hash && !find_tried(c, *hash)))) {
        status = pim_trace_pool_take(c->pool, program, wait, &trace, error);
        *made = trace != NULL; /* not while another thread opens it, though its hash is known */
    }
    if (status == PIM_OK && trace)
        *hash = pim_trace_program_hash(trace);
    if (status == PIM_OK && *made)
        status = judge(c, number, program->starts > 0, *hash, trace, error);
    if (trace)
        pim_trace_pool_give(c->pool, trace);
    return status;
}

/* One program of a neighbour, or of the point itself: from nothing, or the one that starts from plans. */
static enum pim_status try(struct comparison *c, uint64_t number, bool again, bool wait,
                           struct pim_sweep_starts *starts, struct pim_error *error)
{
    const struct pim_sweep_point from = neighbour(c->sweep, c->point, number);
    struct pim_sweep_program program = {.point = &from};
    struct pim_error refused = {.status = PIM_OK};
    struct made *of = &c->made[number];
    bool admitted = true, made = false;
    uint64_t hash = 0;
    if (again) {
        admitted = of->made && find_starts(c, number, starts);
        program.start = starts->point;
        program.starts = starts->count;
    } else if (pim_sweep_admits(c->sweep, &from, &admitted, error) != PIM_OK) {
        return error->status;
    }
    of->looked_at[again] = true;
    if (!admitted)
        return PIM_OK;
    enum pim_status status = look_at(c, number, &program, wait, &made, &hash, &refused);
    if (status == PIM_NO_MEMORY || status == PIM_IO || status == PIM_INTERNAL) {
        *error = refused;
        return status;
    }
    of->looked_at[again] = made || status != PIM_OK;
    if (!again && status == PIM_OK && made) {
        of->made = true;
        of->hash = hash;
    }
    return PIM_OK;
}

/* All programs from nothing, then all that start from plans, from the point's own place on, so that threads
 * and tasks, which work at different points, have different programs made; first those that no other thread
 * makes. */
static enum pim_status try_all(struct comparison *c, struct pim_sweep_starts *starts, struct pim_error *error)
{
    const unsigned searches = c->sweep->sources[c->point->source].starts ? 2 : 1;
    enum pim_status status = PIM_OK;
    for (unsigned again = 0; again < searches; again++)
        for (int waits = 0; waits < 2; waits++)
            for (uint64_t i = 0; i < c->count && status == PIM_OK && !c->over; i++) {
                uint64_t number = (c->own_number + i) % c->count;
                if (!c->made[number].looked_at[again])
                    status = try(c, number, again == 1, waits == 1, starts, error);
            }
    return status;
}

static enum pim_status find(struct comparison *c, struct pim_error *error)
{
    struct pim_sweep_starts *starts = malloc(sizeof *starts);
    c->made = calloc(c->count, sizeof *c->made);
    c->tried = calloc(2 * c->count, sizeof *c->tried);
    enum pim_status status = PIM_OK;
    if (!starts || !c->made || !c->tried) {
        status = pim_fail(error, PIM_NO_MEMORY, "out of memory for the programs of a point");
    } else {
        c->made[c->own_number] = (struct made){.looked_at = {true}, .made = true, .hash = c->own_hash};
        status = try_all(c, starts, error);
    }
    if (status == PIM_OK && c->best->again) {
        (void)find_starts(c, number_of(c->sweep, &c->best->point), starts);
        c->best->starts = starts;
        starts = NULL;
    }
    free(starts);
    free(c->made);
    free(c->tried);
    return status;
}

enum pim_status pim_sweep_find_best(const struct pim_sweep *sweep, struct pim_trace_pool *pool,
                                    const struct pim_sweep_point *point, const struct pim_hardware *hardware,
                                    struct pim_sweep_best *best, struct pim_error *error)
{
    const struct pim_sweep_program own = {.point = point};
    struct comparison c = {.sweep = sweep,
                           .pool = pool,
                           .point = point,
                           .hardware = hardware,
                           .best = best,
                           .count = count_neighbours(sweep),
                           .own_number = number_of(sweep, point)};
    *best = (struct pim_sweep_best){.point = *point};
    if (pim_trace_pool_take(pool, &own, true, &c.own, error) != PIM_OK)
        return error->status;
    c.own_hash = pim_trace_program_hash(c.own);
    enum pim_status status = find(&c, error);
    pim_trace_pool_give(pool, c.own);
    return status;
}

enum pim_status pim_sweep_best_take(const struct pim_sweep_best *best, struct pim_trace_pool *pool,
                                    const struct pim_trace **trace, struct pim_error *error)
{
    const struct pim_sweep_program program = {.point = &best->point,
                                              .start = best->starts ? best->starts->point : NULL,
                                              .starts = best->starts ? best->starts->count : 0};
    return pim_trace_pool_take(pool, &program, true, trace, error);
}

void pim_sweep_best_terminate(struct pim_sweep_best *best)
{
    free(best->starts);
    best->starts = NULL;
}

uint64_t pim_sweep_runs_most(const struct pim_sweep *sweep, uint64_t points)
{
    bool starts = false;
    uint64_t runs;
    for (size_t i = 0; i < sweep->source_count; i++)
        starts = starts || sweep->sources[i].starts;
    const uint64_t programs = count_neighbours(sweep) * (starts ? 2 : 1);
    if (!sweep->take_best)
        return points;
    return pim_multiply_full(points, 1 + programs, &runs) == 0 ? runs : UINT64_MAX;
}

void pim_sweep_best_add(const struct pim_sweep *sweep, const struct pim_sweep_best *best,
                        struct pim_sweep_result *result)
{
    result->beaten = best->beaten;
    pim_sweep_result_add_integer(result, "search_beaten", best->beaten);
    pim_sweep_result_add_integer(result, "program_search", best->again ? 2 : 1);
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
