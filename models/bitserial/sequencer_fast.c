/*
 * The shortcut: whole periods of a run of equal steps at once.
 *
 * When the first worker has just begun a step, and every worker is in a run of AAPs, the future depends on:
 * for each worker its phase and how far it is ahead of the first; for each node and command, how long ago it
 * was, as far as a constraint can still see; the buses; when refreshes are due; and how many steps are left.
 * If all but the last are as they were `period` cycles and `steps` steps ago, the next period does the same
 * again, as long as no worker comes to the end of its run: then `skips` periods are added to all times and
 * counts.
 *
 * Two states are kept. One is looked at in every step and leaves out when refreshes are due: it holds until
 * the next one. The other is looked at in the first step after a refresh, and its periods contain refreshes.
 *
 * A saved state is replaced at doubling distances (R. Brent's way to find a cycle), so that any period is
 * found at the cost of one comparison a look.
 */
#include "models/bitserial/sequencer_internal.h"

#include <stdlib.h>
#include <string.h>

enum { INSIDE, ACROSS, SHORTCUTS };
enum { PER_WORKER = 4 };

enum pim_status pim_bitserial_shortcut_create(struct sequencer *s, struct pim_error *error)
{
    s->state_size = (size_t)s->worker_count * PER_WORKER + (size_t)s->nodes * PIM_DRAM_COMMANDS +
                    (size_t)s->ranks * (KEPT_ACTIVATES + 1) + 2;
    s->shortcut = calloc(SHORTCUTS, sizeof *s->shortcut);
    bool complete = s->shortcut != NULL;
    for (unsigned i = 0; complete && i < SHORTCUTS; i++) {
        s->shortcut[i].saved = calloc(s->state_size, sizeof(int64_t));
        s->shortcut[i].present = calloc(s->state_size, sizeof(int64_t));
        complete = s->shortcut[i].saved && s->shortcut[i].present;
    }
    return complete ? PIM_OK : pim_fail(error, PIM_NO_MEMORY, "out of memory for the state of a channel");
}

void pim_bitserial_shortcut_destroy(struct sequencer *s)
{
    for (unsigned i = 0; s->shortcut && i < SHORTCUTS; i++) {
        free(s->shortcut[i].saved);
        free(s->shortcut[i].present);
    }
    free(s->shortcut);
}

/* How long ago, cut off where nothing sees it. A bus may be free only later: the result may be negative. */
static int64_t ago(const struct sequencer *s, int64_t cycle)
{
    int64_t distance = s->now - cycle;
    return distance > s->horizon ? s->horizon + 1 : distance;
}

static void describe(const struct sequencer *s, unsigned kind, int64_t *state)
{
    for (uint32_t i = 0; i < s->worker_count; i++) {
        *state++ = is_finished(&s->workers[i]) ? 0 : (int64_t)(s->workers[i].done - s->workers[0].done);
        *state++ = is_finished(&s->workers[i]) ? -1 : (int64_t)s->workers[i].phase;
        *state++ = (int64_t)s->workers[i].run;
        *state++ = is_finished(&s->workers[i]) ? 0 : (int64_t)(s->workers[i].steps - s->workers[0].steps);
    }
    for (uint32_t i = 0; i < s->nodes; i++)
        for (unsigned j = 0; j < PIM_DRAM_COMMANDS; j++)
            *state++ = ago(s, s->last[i][j]);
    for (uint32_t i = 0; i < s->ranks; i++)
        for (unsigned j = 0; j < KEPT_ACTIVATES; j++)
            *state++ = ago(s, s->activates[i][j]);
    for (uint32_t i = 0; i < s->ranks; i++)
        *state++ = kind == ACROSS ? s->due[i] - s->now : 0;
    *state++ = ago(s, s->row_bus);
    *state++ = ago(s, s->column_bus);
}

/* Periods that may be skipped: every worker stays inside its run, and, inside an interval, no refresh becomes
 * due. */
static uint64_t find_skips(const struct sequencer *s, unsigned kind, int64_t period, uint64_t steps)
{
    uint64_t skips = UINT64_MAX;
    for (uint32_t i = 0; i < s->worker_count; i++) {
        const struct worker *worker = &s->workers[i];
        if (is_finished(worker))
            continue;
        uint64_t left = run_length(worker) - worker->done - 1;
        if (skips > left / steps)
            skips = left / steps;
    }
    for (uint32_t i = 0; kind == INSIDE && i < s->ranks; i++) {
        if (s->due[i] == FAR_AWAY)
            continue;
        uint64_t left = s->due[i] > s->now ? (uint64_t)(s->due[i] - 1 - s->now) : 0;
        if (skips > left / (uint64_t)period)
            skips = left / (uint64_t)period;
    }
    uint64_t most = (uint64_t)(CYCLES_MAX - s->now) / (uint64_t)period;
    return skips < most ? skips : most;
}

static void skip(struct sequencer *s, unsigned kind, int64_t period, uint64_t steps, uint64_t skips)
{
    const struct shortcut *shortcut = &s->shortcut[kind];
    int64_t cycles = period * (int64_t)skips;
    for (uint32_t i = 0; i < s->nodes; i++)
        for (unsigned j = 0; j < PIM_DRAM_COMMANDS; j++)
            if (s->last[i][j] != LONG_AGO)
                s->last[i][j] += cycles;
    for (uint32_t i = 0; i < s->ranks; i++)
        for (unsigned j = 0; j < KEPT_ACTIVATES; j++)
            if (s->activates[i][j] != LONG_AGO)
                s->activates[i][j] += cycles;
    for (uint32_t i = 0; kind == ACROSS && i < s->ranks; i++)
        s->due[i] += cycles;
    s->row_bus += cycles;
    s->column_bus += cycles;
    s->now += cycles;
    for (uint32_t i = 0; i < s->worker_count; i++) {
        struct worker *worker = &s->workers[i];
        if (is_finished(worker))
            continue;
        worker->done += steps * skips;
        worker->steps += steps * skips;
        worker->closed += cycles;
    }
    s->timing.steps += (s->timing.steps - shortcut->steps) * skips;
    for (unsigned i = 0; i < PIM_DRAM_COMMANDS; i++)
        s->timing.commands[i] += (s->timing.commands[i] - shortcut->commands[i]) * skips;
}

static void save(struct sequencer *s, struct shortcut *shortcut)
{
    int64_t *swap = shortcut->saved;
    shortcut->saved = shortcut->present;
    shortcut->present = swap;
    shortcut->valid = true;
    shortcut->age = 0;
    shortcut->now = s->now;
    shortcut->done = s->workers[0].done;
    shortcut->steps = s->timing.steps;
    memcpy(shortcut->commands, s->timing.commands, sizeof shortcut->commands);
}

static void forget(struct shortcut *shortcut)
{
    shortcut->valid = false;
    shortcut->patience = 1;
}

/* Compares with the saved state; true: periods were skipped. */
static bool look(struct sequencer *s, unsigned kind)
{
    struct shortcut *shortcut = &s->shortcut[kind];
    describe(s, kind, shortcut->present);
    bool same_run = shortcut->valid && s->workers[0].done > shortcut->done;
    if (same_run && memcmp(shortcut->present, shortcut->saved, s->state_size * sizeof(int64_t)) == 0) {
        int64_t period = s->now - shortcut->now;
        uint64_t steps = s->workers[0].done - shortcut->done;
        uint64_t skips = find_skips(s, kind, period, steps);
        if (skips > 0)
            skip(s, kind, period, steps, skips);
        forget(shortcut); /* what is left is shorter than a period */
        return skips > 0;
    }
    if (!same_run || ++shortcut->age >= shortcut->patience) {
        shortcut->patience = same_run ? 2 * shortcut->patience : 1;
        save(s, shortcut);
    }
    return false;
}

void pim_bitserial_shortcut_try(struct sequencer *s)
{
    for (uint32_t i = 0; i < s->worker_count; i++) {
        const struct worker *worker = &s->workers[i];
        if (!is_finished(worker) && worker->runs[worker->run].step.kind != PIM_BITSERIAL_STEP_AAP) {
            forget(&s->shortcut[INSIDE]);
            forget(&s->shortcut[ACROSS]);
            return;
        }
    }
    if (s->refreshed) {
        s->refreshed = false;
        forget(&s->shortcut[INSIDE]); /* its periods have no refresh */
        if (look(s, ACROSS))
            return;
    }
    (void)look(s, INSIDE);
}
