/*
 * Clock domains. The modules of one clock and phase form a group with two sets of bits:
 *
 *   active     is called at next_edge
 *   deferred   was activated in the tick of next_edge, too late for that edge: is called at the one after it
 *
 * 1. next_edge is PIM_TIME_NEVER exactly while both sets are empty; otherwise one kernel event is pending for
 *    it, or running.
 * 2. While an edge is pending or running, it is the first one after every tick since it was scheduled, and
 *    not before `now`. Therefore "the first edge after now" is next_edge, or the one after it when next_edge
 *    == now: no division.
 */
#include "sim/clock.h"

#include "sim/bits.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BITS 64u

struct module {
    pim_clock_handler *handler;
    void *context;
};

struct group {
    struct pim_clock *clock;
    struct module *modules;
    uint64_t *active;
    uint64_t *deferred;
    pim_time next_edge;
    uint32_t count;
    uint32_t words; /* of each set; room for BITS * words modules */
    enum pim_phase phase;
    bool any_deferred;
};

struct pim_clock {
    struct pim_kernel *kernel;
    pim_time period;
    struct group groups[PIM_PHASES];
};

/* ---- the common tick ---- */

static uint64_t greatest_common_divisor(uint64_t a, uint64_t b)
{
    while (b) {
        uint64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

enum pim_status pim_clock_ticks_per_second(const uint64_t *khz, size_t count, const char *const *where,
                                           uint64_t *ticks_per_second, pim_time *periods,
                                           struct pim_error *error)
{
    const uint64_t limit = PIM_CLOCK_MAX_HZ / 1000;
    uint64_t common = 1; /* kHz */
    for (size_t i = 0; i < count; i++) {
        const char *name = where ? where[i] : "clock";
        if (khz[i] == 0 || khz[i] > limit)
            return pim_fail(error, PIM_BAD_INPUT,
                            "%s: a frequency of %" PRIu64 " kHz: allowed are 1 to %" PRIu64 " kHz", name,
                            khz[i], limit);
        uint64_t factor = khz[i] / greatest_common_divisor(common, khz[i]);
        if (factor > limit / common)
            return pim_fail(error, PIM_BAD_INPUT,
                            "%s: %" PRIu64 " kHz and the clocks before it (least common multiple %" PRIu64
                            " kHz) need a common tick below a femtosecond: choose frequencies with a larger "
                            "common divisor",
                            name, khz[i], common);
        common *= factor;
    }
    if (count == 0)
        return pim_fail(error, PIM_BAD_INPUT, "no clock: at least one frequency is needed");
    for (size_t i = 0; i < count; i++)
        periods[i] = common / khz[i];
    *ticks_per_second = common * 1000;
    return PIM_OK;
}

/* ---- edges ---- */

/* Calls the active modules of one word of the set; returns those that stay. */
static inline uint64_t call_word(struct group *group, uint32_t word, pim_time now)
{
    uint64_t kept = 0;
    for (uint64_t left = group->active[word]; left; left &= left - 1) {
        unsigned bit = pim_lowest_bit(left);
        struct module *module = &group->modules[word * BITS + bit];
        kept |= (uint64_t)module->handler(module->context, now) << bit;
    }
    return kept;
}

static uint64_t merge_deferred(struct group *group)
{
    uint64_t any = 0;
    for (uint32_t word = 0; word < group->words; word++) {
        group->active[word] |= group->deferred[word];
        any |= group->deferred[word];
        group->deferred[word] = 0;
    }
    group->any_deferred = false;
    return any;
}

static void edge(struct pim_kernel *kernel, void *context)
{
    struct group *group = context;
    pim_time now = group->next_edge;
    uint64_t any = 0;
    for (uint32_t word = 0; word < group->words; word++) {
        if (!group->active[word])
            continue;
        uint64_t kept = call_word(group, word, now);
        group->active[word] = kept;
        any |= kept;
    }
    if (group->any_deferred)
        any |= merge_deferred(group);
    if (!any) {
        group->next_edge = PIM_TIME_NEVER;
        return;
    }
    group->next_edge = now + group->clock->period;
    pim_kernel_schedule(kernel, group->clock->period, group->phase, edge, group);
}

void pim_clock_activate(struct pim_clock *clock, uint32_t id)
{
    struct group *group = &clock->groups[id % PIM_PHASES];
    uint32_t index = id / PIM_PHASES;
    assert(index < group->count && "no such module");
    uint64_t mask = UINT64_C(1) << (index % BITS);
    struct pim_kernel *kernel = clock->kernel;
    if (group->next_edge == PIM_TIME_NEVER) {
        pim_time now = pim_kernel_now(kernel);
        group->next_edge = pim_kernel_started(kernel) ? pim_clock_edge_after(clock, now)
                                                      : pim_clock_edge_at_or_after(clock, now);
        group->active[index / BITS] |= mask;
        pim_kernel_schedule_at(kernel, group->next_edge, group->phase, edge, group);
    } else if (group->next_edge > pim_kernel_now(kernel) || !pim_kernel_started(kernel)) {
        group->active[index / BITS] |= mask;
    } else {
        group->deferred[index / BITS] |= mask;
        group->any_deferred = true;
    }
}

/* ---- life cycle ---- */

struct pim_clock *pim_clock_create(struct pim_kernel *kernel, pim_time period)
{
    assert(period >= 1 && period <= PIM_TIME_LAST);
    struct pim_clock *clock = calloc(1, sizeof *clock);
    if (!clock)
        return NULL;
    clock->kernel = kernel;
    clock->period = period;
    for (unsigned phase = 0; phase < PIM_PHASES; phase++)
        clock->groups[phase] =
            (struct group){.clock = clock, .phase = (enum pim_phase)phase, .next_edge = PIM_TIME_NEVER};
    return clock;
}

void pim_clock_destroy(struct pim_clock *clock)
{
    if (!clock)
        return;
    for (unsigned phase = 0; phase < PIM_PHASES; phase++) {
        free(clock->groups[phase].modules);
        free(clock->groups[phase].active);
        free(clock->groups[phase].deferred);
    }
    free(clock);
}

static void *grow_or_abort(void *old, size_t count, size_t size)
{
    void *memory = count > SIZE_MAX / size ? NULL : realloc(old, count * size);
    if (!memory) {
        fprintf(stderr, "pimsim: out of memory: no room for %zu modules of a clock\n", count);
        abort();
    }
    return memory;
}

uint32_t pim_clock_add(struct pim_clock *clock, enum pim_phase phase, pim_clock_handler *handler,
                       void *context)
{
    assert((unsigned)phase < PIM_PHASES);
    struct group *group = &clock->groups[phase];
    assert(group->count < UINT32_MAX / PIM_PHASES / 2);
    if (group->count == group->words * BITS) {
        uint32_t words = group->words ? 2 * group->words : 1;
        group->modules = grow_or_abort(group->modules, (size_t)words * BITS, sizeof *group->modules);
        group->active = grow_or_abort(group->active, words, sizeof *group->active);
        group->deferred = grow_or_abort(group->deferred, words, sizeof *group->deferred);
        memset(group->active + group->words, 0, (words - group->words) * sizeof *group->active);
        memset(group->deferred + group->words, 0, (words - group->words) * sizeof *group->deferred);
        group->words = words;
    }
    group->modules[group->count] = (struct module){handler, context};
    return group->count++ * PIM_PHASES + (uint32_t)phase;
}

/* ---- cycles and ticks ---- */

pim_time pim_clock_period(const struct pim_clock *clock)
{
    return clock->period;
}

struct pim_kernel *pim_clock_kernel(const struct pim_clock *clock)
{
    return clock->kernel;
}

uint64_t pim_clock_cycle(const struct pim_clock *clock, pim_time time)
{
    return time / clock->period;
}

pim_time pim_clock_edge_at_or_after(const struct pim_clock *clock, pim_time time)
{
    assert(time <= PIM_TIME_LAST);
    return (time + clock->period - 1) / clock->period * clock->period;
}

pim_time pim_clock_edge_after(const struct pim_clock *clock, pim_time time)
{
    assert(time <= PIM_TIME_LAST);
    return (time / clock->period + 1) * clock->period;
}

pim_time pim_clock_ticks(const struct pim_clock *clock, uint64_t cycles)
{
    assert(cycles <= PIM_TIME_LAST / clock->period);
    return cycles * clock->period;
}
