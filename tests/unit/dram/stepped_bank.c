#include "tests/unit/dram/stepped_bank.h"

#include <check.h>
#include <stdlib.h>

static const int64_t long_ago = -(INT64_C(1) << 40);

void stepped_bank_initialize(struct stepped_bank *bank, const struct pim_bank_timing *timing,
                             const struct pim_bank_organization *organization)
{
    *bank = (struct stepped_bank){.timing = *timing,
                                  .organization = *organization,
                                  .open_row = -1,
                                  .accept_refreshes_until = UINT64_MAX};
    for (int i = 0; i < STEPPED_COMMANDS; i++)
        bank->last[i] = long_ago;
}

/* Is `command` at least `distance` after the last `previous`? */
static bool apart(const struct stepped_bank *bank, enum stepped_command previous, int64_t distance)
{
    return (int64_t)bank->cycle - bank->last[previous] >= distance;
}

static bool legal(const struct stepped_bank *bank, enum stepped_command command)
{
    const struct pim_bank_timing *t = &bank->timing;
    const int64_t burst = t->burst_cycles, step = t->tccd > burst ? t->tccd : burst;
    switch (command) {
    case STEPPED_ACT:
    case STEPPED_REF:
        return apart(bank, STEPPED_PRE, t->trp) && apart(bank, STEPPED_ACT, t->trc) &&
               apart(bank, STEPPED_REF, t->trfc);
    case STEPPED_PRE:
        return apart(bank, STEPPED_ACT, t->tras) && apart(bank, STEPPED_RD, t->trtp) &&
               apart(bank, STEPPED_WR, t->tcwl + burst + t->twr);
    case STEPPED_RD:
        return apart(bank, STEPPED_ACT, t->trcd) && apart(bank, STEPPED_RD, step) &&
               apart(bank, STEPPED_WR, step) && apart(bank, STEPPED_WR, t->tcwl + burst + t->twtr);
    case STEPPED_WR:
        return apart(bank, STEPPED_ACT, t->trcd) && apart(bank, STEPPED_WR, step) &&
               apart(bank, STEPPED_RD, step) &&
               apart(bank, STEPPED_RD, (int64_t)t->tcl + burst + t->trtw - t->tcwl);
    case STEPPED_COMMANDS:
    default:
        return false;
    }
}

static void note(struct stepped_bank *bank, enum stepped_command command, uint64_t row, uint64_t column)
{
    struct stepped_log *log = bank->log;
    if (log == NULL)
        return;
    if (log->length == log->room) {
        log->room = log->room ? 2 * log->room : 64;
        log->entry = realloc(log->entry, log->room * sizeof *log->entry);
        ck_assert_ptr_nonnull(log->entry);
    }
    log->entry[log->length].cycle = bank->cycle;
    log->entry[log->length].command = command;
    log->entry[log->length].row = row;
    log->entry[log->length++].column = column;
}

static void issue(struct stepped_bank *bank, enum stepped_command command, uint64_t row, uint64_t column)
{
    ck_assert(legal(bank, command));
    bank->last[command] = (int64_t)bank->cycle;
    note(bank, command, row, column);
    switch (command) {
    case STEPPED_ACT:
        bank->open_row = (int64_t)row;
        bank->counters.activates++;
        break;
    case STEPPED_PRE:
        bank->open_row = -1;
        bank->counters.precharges++;
        break;
    case STEPPED_RD:
        bank->counters.reads++;
        break;
    case STEPPED_WR:
        bank->counters.writes++;
        break;
    case STEPPED_REF:
        bank->refreshes_pending--;
        bank->refreshed_until = bank->cycle + bank->timing.trfc;
        bank->counters.refreshes++;
        break;
    case STEPPED_COMMANDS:
    default:
        ck_abort();
    }
}

/* The beginning of a cycle: what happens by itself. */
static void begin_cycle(struct stepped_bank *bank)
{
    uint64_t interval = bank->timing.trefi;
    if (interval && bank->cycle > 0 && bank->cycle % interval == 0 &&
        bank->cycle <= bank->accept_refreshes_until)
        bank->refreshes_pending++;
    if (bank->closing && legal(bank, STEPPED_PRE)) {
        bank->closing = false;
        bank->open_row = -1;
        bank->last[STEPPED_PRE] = (int64_t)bank->cycle;
        bank->counters.precharges++;
    }
}

/* A refresh that is due goes on, if it can in this cycle. */
static void step_refresh(struct stepped_bank *bank)
{
    if (bank->closing)
        return;
    if (bank->open_row >= 0) {
        if (legal(bank, STEPPED_PRE))
            issue(bank, STEPPED_PRE, 0, 0);
    } else if (legal(bank, STEPPED_REF)) {
        issue(bank, STEPPED_REF, 0, 0);
    }
}

struct column_access {
    uint64_t row, column;
    bool last_of_run;
};

/* Every byte of every piece, in order; a column is taken once while it does not change. The caller frees the
 * list. */
static struct column_access *list_columns(const struct stepped_bank *bank, const struct pim_burst *burst,
                                          size_t *length)
{
    const struct pim_bank_organization *o = &bank->organization;
    size_t room = 16;
    struct column_access *list = malloc(room * sizeof *list);
    ck_assert_ptr_nonnull(list);
    *length = 0;
    for (uint64_t piece = 0; piece < burst->count; piece++) {
        for (uint64_t byte = 0; byte < burst->bytes; byte++) {
            uint64_t address = burst->address + piece * burst->stride + byte;
            uint64_t row = address / ((uint64_t)o->banks * o->row_bytes);
            uint64_t column =
                address % ((uint64_t)o->banks * o->row_bytes) / ((uint64_t)o->banks * o->column_bytes);
            if (*length > 0 && list[*length - 1].row == row && list[*length - 1].column == column)
                continue;
            if (*length > 0)
                list[*length - 1].last_of_run = list[*length - 1].row != row;
            if (*length == room) {
                room *= 2;
                list = realloc(list, room * sizeof *list);
                ck_assert_ptr_nonnull(list);
            }
            list[(*length)++] = (struct column_access){.row = row, .column = column, .last_of_run = true};
        }
    }
    return list;
}

/* What one column access meets until it is issued. */
struct attempt {
    bool opened;            /* by an ACT of its own */
    bool classified;        /* as hit, miss or conflict */
    uint64_t first_command; /* UINT64_MAX: none yet */
};

static void classify(struct attempt *attempt, uint64_t *kind, uint64_t cycle)
{
    if (!attempt->classified)
        ++*kind;
    attempt->classified = true;
    if (attempt->first_command == UINT64_MAX)
        attempt->first_command = cycle;
}

/* One cycle in which `access` heads the queue; true when its RD or WR was issued in it. */
static bool step_access(struct stepped_bank *bank, const struct column_access *access, bool write,
                        struct attempt *attempt)
{
    enum stepped_command column_command = write ? STEPPED_WR : STEPPED_RD;
    if (!attempt->opened && bank->refreshes_pending > 0) {
        step_refresh(bank);
        return false;
    }
    if (bank->closing)
        return false;
    if (bank->open_row == (int64_t)access->row) {
        if (!legal(bank, column_command))
            return false;
        classify(attempt, &bank->counters.row_hits, bank->cycle);
        issue(bank, column_command, access->row, access->column);
        bank->closing = bank->organization.closed_page && access->last_of_run;
        return true;
    }
    if (bank->open_row >= 0) {
        if (legal(bank, STEPPED_PRE)) {
            classify(attempt, &bank->counters.row_conflicts, bank->cycle);
            issue(bank, STEPPED_PRE, access->row, 0);
        }
    } else if (legal(bank, STEPPED_ACT)) {
        classify(attempt, &bank->counters.row_misses, bank->cycle);
        issue(bank, STEPPED_ACT, access->row, access->column);
        attempt->opened = true;
    }
    return false;
}

static uint64_t column_step(const struct stepped_bank *bank)
{
    return bank->timing.tccd > bank->timing.burst_cycles ? bank->timing.tccd : bank->timing.burst_cycles;
}

/* Every waiting cycle by itself: up to the end of a refresh it is the refresh's, up to ACT + tRCD the row's,
 * then turnaround. */
static void attribute(struct stepped_bank *bank, const struct attempt *attempt, uint64_t from)
{
    uint64_t row_until = attempt->opened ? (uint64_t)bank->last[STEPPED_ACT] + bank->timing.trcd : 0;
    for (uint64_t cycle = from; cycle < bank->cycle; cycle++) {
        if (cycle < bank->refreshed_until)
            bank->counters.refresh_cycles++;
        else if (cycle < row_until)
            bank->counters.row_cycles++;
        else
            bank->counters.turnaround_cycles++;
    }
    bank->counters.data_cycles += column_step(bank);
}

void stepped_bank_access(struct stepped_bank *bank, const struct pim_burst *burst, uint64_t arrival,
                         struct pim_burst_times *times)
{
    size_t length;
    struct column_access *list = list_columns(bank, burst, &length);
    uint64_t width = (uint64_t)bank->organization.banks * bank->organization.column_bytes;
    uint64_t data_end = (burst->write ? bank->timing.tcwl : bank->timing.tcl) + bank->timing.burst_cycles;
    times->first_command = UINT64_MAX;
    for (; bank->cycle <= arrival; bank->cycle++) { /* idle */
        begin_cycle(bank);
        if (bank->refreshes_pending > 0)
            step_refresh(bank);
    }
    for (size_t i = 0; i < length; i++) {
        struct attempt attempt = {.first_command = UINT64_MAX};
        int64_t last =
            bank->last[STEPPED_RD] > bank->last[STEPPED_WR] ? bank->last[STEPPED_RD] : bank->last[STEPPED_WR];
        int64_t from = last + (int64_t)column_step(bank);
        if (from < (int64_t)arrival + 1)
            from = (int64_t)arrival + 1;
        bool done = false;
        for (; !done; bank->cycle++) {
            begin_cycle(bank);
            done = step_access(bank, &list[i], burst->write, &attempt);
            if (done) {
                attribute(bank, &attempt, (uint64_t)from);
                if (i == 0)
                    times->first_data = bank->cycle + data_end;
                times->last_data = bank->cycle + data_end;
                times->next = bank->cycle;
            }
        }
        if (times->first_command == UINT64_MAX)
            times->first_command = attempt.first_command;
    }
    *(burst->write ? &bank->counters.bytes_written : &bank->counters.bytes_read) += length * width;
    free(list);
}

void stepped_bank_finish(struct stepped_bank *bank, uint64_t cycle)
{
    bank->accept_refreshes_until = cycle;
    for (; bank->cycle <= cycle || bank->refreshes_pending > 0 || bank->closing; bank->cycle++) {
        begin_cycle(bank);
        if (bank->refreshes_pending > 0)
            step_refresh(bank);
    }
}
