#include "models/system/report/counters.h"

#include "models/dram/channel/channel.h"
#include "sim/arena.h"

#include <stdlib.h>
#include <string.h>

enum { GAUGES_MOST = 8, SAMPLES = 512, LEAST_CYCLES = 16, CHANGES_MOST = 4000000 };

/* What is under way in a unit. */
enum { MEMORY, MESSAGES, KINDS };

struct observed {
    uint32_t unit, parent;
    uint32_t track[GAUGES_MOST]; /* made with the first figure; 0: none yet */
    uint64_t value[GAUGES_MOST], whole[GAUGES_MOST];
};

/* From `time` on one more, or one less, is under way. */
struct change {
    pim_time time;
    uint32_t place; /* of the unit among those observed */
    uint8_t kind;
    int8_t step;
};

struct pim_counters {
    struct pim_system *system;
    struct pim_timeline *timeline;
    pim_time begin, end, last; /* the last sample */
    pim_time period;
    uint32_t links_mean, links_most, packets, row_hits; /* tracks */
    uint64_t rows_hit, rows; /* on the channels that units share, at the last sample */
    uint64_t *busy;          /* of each link, at the last sample */
    uint32_t links;
    struct observed *observed;
    size_t count, capacity;
    uint32_t *place; /* by unit: place among those observed plus 1 */
    struct change *change;
    size_t changes, change_capacity;
};

static uint64_t nanoseconds(const struct pim_counters *counters, pim_time time)
{
    return pim_system_picoseconds(counters->system, time) / 1000;
}

/* A share of the run that is expected, in cycles of the logic clock. */
static uint64_t cycles_between(const struct pim_system *system)
{
    uint64_t expected = 0;
    for (uint32_t i = 0; i < system->phase_count; i++) {
        const uint64_t cycles = pim_trace_phase(system->trace, i)->estimate_cycles;
        expected = cycles > UINT64_MAX - expected ? UINT64_MAX : expected + cycles;
    }
    if (expected == 0)
        expected = system->hardware.family->slice_cycles;
    return expected / SAMPLES > LEAST_CYCLES ? expected / SAMPLES : LEAST_CYCLES;
}

struct pim_counters *pim_counters_create(struct pim_system *system, struct pim_timeline *timeline,
                                         pim_time begin, pim_time end)
{
    struct pim_counters *counters = calloc(1, sizeof *counters);
    if (!counters)
        return NULL;
    const pim_time cycle = system->hardware.node.logic_period;
    const uint64_t cycles = cycles_between(system);
    *counters = (struct pim_counters){.system = system, .timeline = timeline, .begin = begin, .end = end};
    counters->period = cycles < PIM_TIME_LAST / cycle ? cycles * cycle : PIM_TIME_LAST;
    counters->place = calloc((size_t)system->unit_count + 1, sizeof *counters->place);
    if (!counters->place) {
        free(counters);
        return NULL;
    }
    return counters;
}

void pim_counters_add_unit(struct pim_counters *counters, uint32_t unit, uint32_t parent)
{
    counters->observed = pim_array_require(counters->observed, &counters->capacity, counters->count + 1,
                                           sizeof *counters->observed);
    counters->observed[counters->count++] = (struct observed){.unit = unit, .parent = parent};
    counters->place[unit] = (uint32_t)counters->count;
}

pim_time pim_counters_period(const struct pim_counters *counters)
{
    return counters->period;
}

/* --- under way --- */

static void add_change(struct pim_counters *counters, struct change change)
{
    counters->change = pim_array_require(counters->change, &counters->change_capacity, counters->changes + 1,
                                         sizeof *counters->change);
    counters->change[counters->changes++] = change;
}

void pim_counters_observe(struct pim_counters *counters, uint32_t unit,
                          const struct pim_instruction *instruction, pim_time start, pim_time end)
{
    const uint32_t place = counters->place[unit];
    const enum pim_engine engine = pim_opcode_engine(instruction->opcode);
    if (place == 0 || (engine != PIM_ENGINE_MEMORY && engine != PIM_ENGINE_SEND) || start == end ||
        counters->changes >= CHANGES_MOST)
        return;
    const uint8_t kind = engine == PIM_ENGINE_MEMORY ? MEMORY : MESSAGES;
    add_change(counters, (struct change){start, place - 1, kind, 1});
    add_change(counters, (struct change){end, place - 1, kind, -1});
}

static int by_track_and_time(const void *first, const void *second)
{
    const struct change *a = first, *b = second;
    if (a->place != b->place)
        return a->place < b->place ? -1 : 1;
    if (a->kind != b->kind)
        return a->kind < b->kind ? -1 : 1;
    return a->time < b->time ? -1 : a->time > b->time;
}

void pim_counters_finish(struct pim_counters *counters)
{
    static const char *const names[] = {"memory instructions under way", "messages under way"};
    struct change *change = counters->change;
    if (counters->changes > 0)
        qsort(change, counters->changes, sizeof *change, by_track_and_time);
    uint32_t track = 0;
    int64_t level = 0;
    for (size_t i = 0; i < counters->changes; i++) {
        const struct change *one = &change[i], *next = i + 1 < counters->changes ? one + 1 : NULL;
        if (i == 0 || one->place != one[-1].place || one->kind != one[-1].kind) {
            track = pim_timeline_counter(counters->timeline, counters->observed[one->place].parent,
                                         names[one->kind], one->kind == MEMORY ? "instructions" : "messages");
            level = 0;
        }
        level += one->step;
        if (!next || next->place != one->place || next->kind != one->kind || next->time != one->time)
            pim_timeline_count(counters->timeline, track, nanoseconds(counters, one->time), level);
    }
}

/* --- samples --- */

/* In thousandths; exact in integers. */
static int64_t per_mille(uint64_t part, uint64_t whole)
{
    __extension__ typedef unsigned __int128 wide;
    return whole == 0 ? 0 : (int64_t)((wide)part * 1000 / whole);
}

/* A figure from `time` on. */
static void write_figure(struct pim_counters *counters, uint32_t *track, uint32_t parent, const char *name,
                         const char *unit, pim_time time, int64_t value)
{
    if (*track == 0 && value == 0)
        return; /* a counter that is not there yet is 0 */
    if (*track == 0)
        *track = pim_timeline_counter(counters->timeline, parent, name, unit);
    pim_timeline_count(counters->timeline, *track, nanoseconds(counters, time), value);
}

static enum pim_status sample_links(struct pim_counters *counters, pim_time now, bool shown,
                                    struct pim_error *error)
{
    struct pim_system *system = counters->system;
    struct pim_run_result result = {.end = now, .network_cycles = now / system->hardware.node.network_period};
    if (pim_system_collect_links(system, &result, error) != PIM_OK)
        return error->status;
    if (!counters->busy) {
        counters->links = result.link_count;
        counters->busy = calloc((size_t)result.link_count + 1, sizeof *counters->busy);
    }
    const uint64_t cycles = (now - counters->last) / system->hardware.node.network_period;
    uint64_t sum = 0, most = 0;
    for (uint32_t i = 0; counters->busy && i < result.link_count; i++) {
        /* those of tiles are rounded down from sums of reals: they may fall back by one */
        const uint64_t now_busy = result.links[i].busy_cycles;
        const uint64_t busy = now_busy > counters->busy[i] ? now_busy - counters->busy[i] : 0;
        counters->busy[i] += busy;
        sum += busy;
        most = busy > most ? busy : most;
    }
    if (shown && cycles > 0 && result.link_count > 0) {
        write_figure(counters, &counters->links_mean, 0, "links in use, mean", "per mille", counters->last,
                     per_mille(sum, cycles * result.link_count));
        write_figure(counters, &counters->links_most, 0, "links in use, busiest", "per mille", counters->last,
                     per_mille(most, cycles));
        write_figure(counters, &counters->packets, 0, "packets on their way", "packets", now,
                     (int64_t)(result.noc.packets_sent - result.noc.packets_delivered));
    }
    const bool made = counters->busy != NULL;
    pim_run_result_terminate(&result);
    return made ? PIM_OK : pim_fail(error, PIM_NO_MEMORY, "out of memory for the timeline");
}

static void sample_unit(struct pim_counters *counters, struct observed *one, pim_time now, bool shown)
{
    const struct pim_units *units = counters->system->units;
    const struct pim_unit *unit = pim_units_at(units, one->unit);
    const struct pim_gauge *gauge = units->family->gauges;
    for (unsigned i = 0; gauge && i < GAUGES_MOST && gauge[i].name; i++) {
        uint64_t value = gauge[i].value(unit, gauge[i].detail), whole = 0;
        if (!gauge[i].whole) {
            if (shown)
                write_figure(counters, &one->track[i], one->parent, gauge[i].name, gauge[i].unit, now,
                             (int64_t)value);
            continue;
        }
        whole = gauge[i].whole(unit, gauge[i].detail);
        if (shown && whole > one->whole[i])
            write_figure(counters, &one->track[i], one->parent, gauge[i].name, "per mille", counters->last,
                         per_mille(value - one->value[i], whole - one->whole[i]));
        one->value[i] = value;
        one->whole[i] = whole;
    }
}

static void sample_rows(struct pim_counters *counters, bool shown)
{
    const struct pim_units *units = counters->system->units;
    struct pim_dram_counters sum = {0};
    if (!units->family->shared_rows)
        return;
    units->family->shared_rows(units, &sum);
    const uint64_t rows = sum.row_hits + sum.row_misses + sum.row_conflicts;
    if (shown && rows > counters->rows)
        write_figure(counters, &counters->row_hits, 0, "row hits, shared memory", "per mille", counters->last,
                     per_mille(sum.row_hits - counters->rows_hit, rows - counters->rows));
    counters->rows_hit = sum.row_hits;
    counters->rows = rows;
}

enum pim_status pim_counters_sample(struct pim_counters *counters, pim_time now, struct pim_error *error)
{
    const bool shown = now > counters->begin && counters->last < counters->end;
    if (now <= counters->last)
        return PIM_OK;
    if (sample_links(counters, now, shown, error) != PIM_OK)
        return error->status;
    for (size_t i = 0; i < counters->count; i++)
        sample_unit(counters, &counters->observed[i], now, shown);
    sample_rows(counters, shown);
    counters->last = now;
    return PIM_OK;
}

void pim_counters_destroy(struct pim_counters *counters)
{
    if (!counters)
        return;
    free(counters->busy);
    free(counters->observed);
    free(counters->place);
    free(counters->change);
    free(counters);
}
