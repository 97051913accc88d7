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
 * Of runs two states are kept. One is looked at in every step and leaves out when refreshes are due: it holds
 * until the next one. The other is looked at in the first step after a refresh, and its periods contain
 * refreshes.
 *
 * Programs of several runs (that read and write, too) are repeated whole: a third state is looked at when the
 * first worker begins its program again. It has where in its program each worker is, which data of the buffer
 * are still to come, and when refreshes are due; its periods are repetitions.
 *
 * A saved state is replaced at doubling distances (R. Brent's way to find a cycle), so that any period is
 * found at the cost of one comparison a look.
 */
#include "models/bitserial/sequencer_internal.h"

#include <stdlib.h>
#include <string.h>

enum { INSIDE, ACROSS, REPEATED, SHORTCUTS };
enum { PER_WORKER = 5 };

/* Numbers of a state: those of repeated programs have the slots, too. */
static size_t size_of(const struct sequencer *s, unsigned kind)
{
    return s->state_size + (kind == REPEATED ? s->schedule->slots : 0);
}

enum pim_status pim_bitserial_shortcut_create(struct sequencer *s, struct pim_error *error)
{
    s->state_size = (size_t)s->worker_count * PER_WORKER + (size_t)s->nodes * PIM_DRAM_COMMANDS +
                    (size_t)s->ranks * (KEPT_ACTIVATES + 1) + 2;
    s->shortcut = calloc(SHORTCUTS, sizeof *s->shortcut);
    bool complete = s->shortcut != NULL;
    for (unsigned i = 0; complete && i < SHORTCUTS; i++) {
        s->shortcut[i].saved = calloc(size_of(s, i), sizeof(int64_t));
        s->shortcut[i].present = calloc(size_of(s, i), sizeof(int64_t));
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
    const struct worker *first = &s->workers[0];
    bool whole = kind == REPEATED;
    memset(state, 0, size_of(s, kind) * sizeof *state);
    for (uint32_t i = 0; i < s->worker_count; i++, state += PER_WORKER) {
        const struct worker *worker = &s->workers[i];
        state[0] = (int64_t)worker->run;
        state[1] = -1;
        if (is_finished(worker))
            continue;
        state[1] = (int64_t)worker->phase;
        state[2] = (int64_t)(worker->done - (whole ? 0 : first->done));
        state[3] = (int64_t)(worker->steps - first->steps);
        state[4] = whole ? (int64_t)(worker->left - first->left) : 0;
    }
    for (uint32_t i = 0; i < s->nodes; i++)
        for (unsigned j = 0; j < PIM_DRAM_COMMANDS; j++)
            *state++ = ago(s, s->last[i][j]);
    for (uint32_t i = 0; i < s->ranks; i++)
        for (unsigned j = 0; j < KEPT_ACTIVATES; j++)
            *state++ = ago(s, s->activates[i][j]);
    for (uint32_t i = 0; i < s->ranks; i++)
        *state++ = kind == INSIDE || s->due[i] == FAR_AWAY ? 0 : s->due[i] - s->now;
    *state++ = ago(s, s->row_bus);
    *state++ = ago(s, s->column_bus);
    for (uint32_t i = 0; whole && i < s->schedule->slots; i++) /* data that are there hold nothing up */
        *state++ = s->slot_ready[i] == FAR_AWAY ? FAR_AWAY : later(s->slot_ready[i] - s->now, 0);
}

/* What one period does of the first worker, and so of every other: steps, and repetitions of the program. */
struct progress {
    int64_t cycles;
    uint64_t steps, repetitions; /* repetitions: 0 inside a run */
};

/* Periods that may be skipped: every worker stays inside its run, or has repetitions left, and, inside an
 * interval, no refresh becomes due. */
static uint64_t find_skips(const struct sequencer *s, unsigned kind, const struct progress *period)
{
    uint64_t skips = (uint64_t)(CYCLES_MAX - s->now) / (uint64_t)period->cycles;
    for (uint32_t i = 0; i < s->worker_count; i++) {
        const struct worker *worker = &s->workers[i];
        if (is_finished(worker))
            continue;
        uint64_t most = kind == REPEATED ? worker->left / period->repetitions
                                         : (run_length(worker) - worker->done - 1) / period->steps;
        skips = skips < most ? skips : most;
    }
    for (uint32_t i = 0; kind == INSIDE && i < s->ranks; i++) {
        if (s->due[i] == FAR_AWAY)
            continue;
        uint64_t left = s->due[i] > s->now ? (uint64_t)(s->due[i] - 1 - s->now) : 0;
        uint64_t most = left / (uint64_t)period->cycles;
        skips = skips < most ? skips : most;
    }
    return skips;
}

static void skip_workers(struct sequencer *s, const struct progress *period, uint64_t skips)
{
    for (uint32_t i = 0; i < s->worker_count; i++) {
        struct worker *worker = &s->workers[i];
        if (is_finished(worker))
            continue;
        if (period->repetitions > 0)
            worker->left -= period->repetitions * skips;
        else
            worker->done += period->steps * skips;
        worker->steps += period->steps * skips;
        worker->closed += period->cycles * (int64_t)skips;
    }
}

/* The end of the last data stays: what is left of the run or of the repetitions has later data, or the
 * program has none. */
static void skip(struct sequencer *s, unsigned kind, const struct progress *period, uint64_t skips)
{
    const struct shortcut *shortcut = &s->shortcut[kind];
    int64_t cycles = period->cycles * (int64_t)skips;
    for (uint32_t i = 0; i < s->nodes; i++)
        for (unsigned j = 0; j < PIM_DRAM_COMMANDS; j++)
            if (s->last[i][j] != LONG_AGO)
                s->last[i][j] += cycles;
    for (uint32_t i = 0; i < s->ranks; i++)
        for (unsigned j = 0; j < KEPT_ACTIVATES; j++)
            if (s->activates[i][j] != LONG_AGO)
                s->activates[i][j] += cycles;
    for (uint32_t i = 0; kind != INSIDE && i < s->ranks; i++)
        if (s->due[i] != FAR_AWAY)
            s->due[i] += cycles;
    for (uint32_t i = 0; kind == REPEATED && i < s->schedule->slots; i++)
        if (s->slot_ready[i] != FAR_AWAY)
            s->slot_ready[i] += cycles;
    s->row_bus += cycles;
    s->column_bus += cycles;
    s->now += cycles;
    skip_workers(s, period, skips);
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
    shortcut->left = s->workers[0].left;
    shortcut->first_steps = s->workers[0].steps;
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
    const struct worker *first = &s->workers[0];
    describe(s, kind, shortcut->present);
    bool comparable = shortcut->valid && (kind == REPEATED || first->done > shortcut->done);
    if (comparable && memcmp(shortcut->present, shortcut->saved, size_of(s, kind) * sizeof(int64_t)) == 0) {
        const struct progress period = {s->now - shortcut->now, first->steps - shortcut->first_steps,
                                        shortcut->left - first->left};
        uint64_t skips = find_skips(s, kind, &period);
        if (skips > 0)
            skip(s, kind, &period, skips);
        forget(shortcut); /* what is left is shorter than a period */
        return skips > 0;
    }
    if (!comparable || ++shortcut->age >= shortcut->patience) {
        shortcut->patience = comparable ? 2 * shortcut->patience : 1;
        save(s, shortcut);
    }
    return false;
}

/* Every worker is inside a run of AAPs. */
static bool all_in_runs(const struct sequencer *s)
{
    for (uint32_t i = 0; i < s->worker_count; i++) {
        const struct worker *worker = &s->workers[i];
        if (!is_finished(worker) && worker->runs[worker->run].step.kind != PIM_BITSERIAL_STEP_AAP)
            return false;
    }
    return true;
}

/* The first worker begins its program, and every worker repeats one of several runs. Cycles of data that the
 * caller asks for are not kept by such periods. */
static bool begins_program(const struct sequencer *s)
{
    const struct worker *first = &s->workers[0];
    if (s->schedule->slot_ready || first->run > 0 || first->done > 0)
        return false;
    for (uint32_t i = 0; i < s->worker_count; i++)
        if (s->workers[i].run_count == 1)
            return false;
    return true;
}

void pim_bitserial_shortcut_try(struct sequencer *s)
{
    if (begins_program(s) && look(s, REPEATED)) {
        forget(&s->shortcut[INSIDE]);
        forget(&s->shortcut[ACROSS]);
        return;
    }
    if (!all_in_runs(s)) {
        forget(&s->shortcut[INSIDE]);
        forget(&s->shortcut[ACROSS]);
        return;
    }
    if (s->refreshed) {
        s->refreshed = false;
        forget(&s->shortcut[INSIDE]); /* its periods have no refresh */
        if (look(s, ACROSS))
            return;
    }
    (void)look(s, INSIDE);
}
