#include "tests/unit/dram/stepped_banks.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

enum { ACT, PRE, RD, WR, REF, COMMANDS };

static const int64_t long_ago = -(INT64_C(1) << 40);

/* All accesses of a burst in one row that follow each other. */
struct run {
    uint64_t row;
    size_t burst, columns, served;
    bool opened;          /* by an ACT of its own */
    int64_t activated_at; /* that ACT */
    bool conflict;        /* it began with a PRE */
};

struct stepped_banks {
    struct pim_bank_timing timing;
    const struct pim_burst *burst;
    const uint64_t *arrival;
    uint32_t banks;
    bool closed_page;
    int64_t cycle;
    int64_t last[PIM_BANK_INTERLEAVED_MAX][COMMANDS];
    int64_t open_row[PIM_BANK_INTERLEAVED_MAX];
    bool closing[PIM_BANK_INTERLEAVED_MAX]; /* an automatic precharge is under way */
    struct run *run;
    size_t runs, started, done; /* runs in order: done <= started */
    int64_t bus_free;           /* first cycle that no access before accounts for */
    int64_t refreshed_until;
    uint64_t pending; /* refreshes that are due */
    struct pim_bank_counters counters;
    struct pim_burst_times *times;
};

/* Is `command` of any bank at least `distance` ago? */
static bool all_apart(const struct stepped_banks *b, int command, int64_t distance)
{
    for (uint32_t i = 0; i < b->banks; i++)
        if (b->cycle - b->last[i][command] < distance)
            return false;
    return true;
}

static bool legal(const struct stepped_banks *b, uint32_t bank, int command)
{
    const struct pim_bank_timing *t = &b->timing;
    const int64_t *last = b->last[bank];
    const int64_t burst = t->burst_cycles, step = t->tccd > burst ? t->tccd : burst;
    switch (command) {
    case ACT:
        return b->cycle - last[PRE] >= t->trp && b->cycle - last[ACT] >= t->trc &&
               b->cycle - last[REF] >= t->trfc && all_apart(b, ACT, t->trrd > 1 ? t->trrd : 1);
    case REF:
        return b->cycle - last[PRE] >= t->trp && b->cycle - last[ACT] >= t->trc &&
               b->cycle - last[REF] >= t->trfc;
    case PRE:
        return b->cycle - last[ACT] >= t->tras && b->cycle - last[RD] >= t->trtp &&
               b->cycle - last[WR] >= t->tcwl + burst + t->twr;
    case RD:
        return b->cycle - last[ACT] >= t->trcd && all_apart(b, RD, step) && all_apart(b, WR, step) &&
               all_apart(b, WR, t->tcwl + burst + t->twtr);
    default:
        return b->cycle - last[ACT] >= t->trcd && all_apart(b, WR, step) && all_apart(b, RD, step) &&
               all_apart(b, RD, (int64_t)t->tcl + burst + t->trtw - t->tcwl);
    }
}

static void close_bank(struct stepped_banks *b, uint32_t bank)
{
    b->open_row[bank] = -1;
    b->last[bank][PRE] = b->cycle;
    b->counters.precharges++;
}

static void first_command(struct stepped_banks *b, const struct run *run)
{
    if (b->times[run->burst].first_command == UINT64_MAX)
        b->times[run->burst].first_command = (uint64_t)b->cycle;
}

/* The refresh that is due, once no run that has started is left: every bank closes, then all refresh. */
static void step_refresh(struct stepped_banks *b)
{
    bool ready = true;
    for (uint32_t i = 0; i < b->banks; i++) {
        if (b->open_row[i] >= 0 && !b->closing[i] && legal(b, i, PRE))
            close_bank(b, i);
        ready = ready && b->open_row[i] < 0 && legal(b, i, REF);
    }
    if (!ready)
        return;
    for (uint32_t i = 0; i < b->banks; i++)
        b->last[i][REF] = b->cycle;
    b->pending--;
    b->counters.refreshes++;
    b->refreshed_until = b->cycle + b->timing.trfc;
}

/* The next run that has not started, if it has arrived: its PRE, its ACT, or that its row is open already and
   its first access goes. At most one of these in a cycle. */
static void step_start(struct stepped_banks *b)
{
    if (b->started == b->runs || (int64_t)b->arrival[b->run[b->started].burst] >= b->cycle)
        return;
    struct run *run = &b->run[b->started];
    const uint32_t bank = (uint32_t)(run->row % b->banks);
    if (b->closing[bank])
        return;
    if (b->open_row[bank] == (int64_t)run->row) {
        if (b->done == b->started && legal(b, bank, b->burst[run->burst].write ? WR : RD))
            b->started++; /* and its first access is in this cycle */
    } else if (b->open_row[bank] >= 0) {
        if (legal(b, bank, PRE)) {
            /* Not while accesses of a run before it are to come. */
            for (size_t i = b->done; i < b->started; i++)
                if (b->run[i].row % b->banks == bank)
                    return;
            first_command(b, run);
            close_bank(b, bank);
            run->conflict = true;
        }
    } else if (legal(b, bank, ACT)) {
        first_command(b, run);
        b->last[bank][ACT] = b->cycle;
        b->open_row[bank] = (int64_t)run->row;
        run->opened = true;
        run->activated_at = b->cycle;
        (*(run->conflict ? &b->counters.row_conflicts : &b->counters.row_misses))++;
        b->counters.activates++;
        b->started++;
    }
}

/* What the bus waited for, cycle by cycle: refresh, then the row, then the turn. */
static void account(struct stepped_banks *b, const struct run *run, bool first)
{
    int64_t from = (int64_t)b->arrival[run->burst] + 1;
    if (from < b->bus_free)
        from = b->bus_free;
    for (int64_t cycle = from; cycle < b->cycle; cycle++) {
        if (cycle < b->refreshed_until)
            b->counters.refresh_cycles++;
        else if (first && run->opened && cycle < run->activated_at + b->timing.trcd)
            b->counters.row_cycles++;
        else
            b->counters.turnaround_cycles++;
    }
}

static void step_column(struct stepped_banks *b)
{
    if (b->done == b->started)
        return;
    struct run *run = &b->run[b->done];
    const uint32_t bank = (uint32_t)(run->row % b->banks);
    const bool write = b->burst[run->burst].write;
    const struct pim_bank_timing *t = &b->timing;
    if (!legal(b, bank, write ? WR : RD))
        return;
    first_command(b, run);
    account(b, run, run->served == 0);
    b->last[bank][write ? WR : RD] = b->cycle;
    b->bus_free = b->cycle + (t->tccd > t->burst_cycles ? t->tccd : t->burst_cycles);
    (*(write ? &b->counters.writes : &b->counters.reads))++;
    struct pim_burst_times *times = &b->times[run->burst];
    const uint64_t data = (uint64_t)b->cycle + (write ? t->tcwl : t->tcl) + t->burst_cycles;
    if (times->first_data == 0)
        times->first_data = data;
    times->last_data = data;
    times->next = (uint64_t)b->cycle;
    if (++run->served == run->columns) {
        b->closing[bank] = b->closed_page;
        b->done++;
    }
}

static void add_column(struct stepped_banks *b, size_t burst, uint64_t row)
{
    if (b->runs > 0 && b->run[b->runs - 1].burst == burst && b->run[b->runs - 1].row == row) {
        b->run[b->runs - 1].columns++;
        return;
    }
    b->run = realloc(b->run, (b->runs + 1) * sizeof *b->run);
    ck_assert_ptr_nonnull(b->run);
    b->run[b->runs++] = (struct run){.row = row, .burst = burst, .columns = 1};
}

/* Column by column, each once. */
static void list_runs(struct stepped_banks *b, const struct pim_bank_organization *o, size_t count)
{
    const uint64_t width = (uint64_t)o->banks * o->column_bytes, columns = o->row_bytes / o->column_bytes;
    for (size_t i = 0; i < count; i++) {
        const struct pim_burst *burst = &b->burst[i];
        uint64_t last = UINT64_MAX;
        for (uint32_t piece = 0; piece < burst->count; piece++)
            for (uint32_t byte = 0; byte < burst->bytes; byte++) {
                const uint64_t column =
                    (burst->address + (uint64_t)piece * (burst->count > 1 ? burst->stride : 0) + byte) /
                    width;
                if (column == last)
                    continue;
                add_column(b, i, column / columns);
                last = column;
            }
    }
}

/* True while something is under way, or a refresh that was due by `until`. */
static bool step(struct stepped_banks *b, uint64_t until)
{
    bool closing = false;
    if (b->timing.trefi && b->cycle > 0 && b->cycle % b->timing.trefi == 0 &&
        ((uint64_t)b->cycle <= until || b->done < b->runs))
        b->pending++;
    for (uint32_t i = 0; i < b->banks; i++) {
        if (b->closing[i] && legal(b, i, PRE)) {
            b->closing[i] = false;
            close_bank(b, i);
        }
        closing = closing || b->closing[i];
    }
    if (b->pending == 0)
        step_start(b);
    step_column(b);
    if (b->pending > 0 && b->done == b->started)
        step_refresh(b);
    b->cycle++;
    return b->done < b->runs || closing || b->pending > 0 || (uint64_t)b->cycle <= until;
}

void stepped_banks_run(const struct pim_bank_timing *timing, const struct pim_bank_organization *organization,
                       const struct pim_burst *bursts, const uint64_t *arrivals, size_t count, uint64_t until,
                       struct pim_burst_times *times, struct pim_bank_counters *counters)
{
    struct stepped_banks b = {.timing = *timing,
                              .burst = bursts,
                              .arrival = arrivals,
                              .banks = organization->interleaved,
                              .closed_page = organization->closed_page,
                              .times = times};
    for (uint32_t i = 0; i < PIM_BANK_INTERLEAVED_MAX; i++) {
        b.open_row[i] = -1;
        for (int command = 0; command < COMMANDS; command++)
            b.last[i][command] = long_ago;
    }
    for (size_t i = 0; i < count; i++)
        times[i] = (struct pim_burst_times){.first_command = UINT64_MAX};
    list_runs(&b, organization, count);
    while (step(&b, until)) {
    }
    *counters = b.counters;
    counters->row_hits = b.counters.reads + b.counters.writes - b.counters.activates;
    free(b.run);
}
