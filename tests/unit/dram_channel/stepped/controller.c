#include "tests/unit/dram_channel/stepped/controller.h"
#include "tests/unit/dram_channel/stepped/internal.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

/* RDA or WRA of this cycle closes its row: behind tRTP or tWR, and not before tRAS is over. */
static void close_behind(struct controller *c, uint32_t bank, enum pim_dram_command command)
{
    const struct pim_dram_specification *specification = &c->configuration->specification;
    const uint32_t *parameter = specification->parameter;
    const uint64_t restored = c->opened[bank] + pim_dram_command_cycles(specification, PIM_DRAM_ACT) - 1 +
                              parameter[PIM_DRAM_T_RAS];
    uint64_t at = c->clock + pim_dram_command_cycles(specification, command) - 1;
    at += command == PIM_DRAM_RDA
              ? parameter[PIM_DRAM_T_RTP]
              : parameter[PIM_DRAM_T_CWL] + parameter[PIM_DRAM_T_B] + parameter[PIM_DRAM_T_WR_PRE];
    c->idle[bank] = (at > restored ? at : restored) + parameter[PIM_DRAM_T_RP];
    stepped_close_row(c, bank);
}

static enum pim_dram_command needed(const struct controller *c, const struct waiter *waiter)
{
    int64_t row = c->row[waiter->place.bank];
    if (row < 0)
        return PIM_DRAM_ACT;
    if (row != waiter->place.row)
        return PIM_DRAM_PRE;
    return waiter->write ? PIM_DRAM_WR : PIM_DRAM_RD;
}

/* What schedulers other than the plain one forbid. */
static bool allowed(const struct controller *c, const struct line *line, const struct waiter *waiter)
{
    enum pim_dram_command command = needed(c, waiter);
    uint32_t bank = waiter->place.bank;
    if (command == PIM_DRAM_PRE && stepped_has_active(c, bank, bank + 1))
        return false;
    for (size_t i = 0; i < line->count; i++) {
        const struct waiter *other = &line->item[i];
        bool older = other->arrived < waiter->arrived;
        if (c->policy->scheduler == PIM_DRAM_FCFS && older)
            return false;
        if (other->place.bank != bank || !older)
            continue;
        if (command == PIM_DRAM_PRE && other->place.row == c->row[bank] &&
            c->policy->scheduler == PIM_DRAM_FRFCFS_ROW_HIT)
            return false;
        if (pim_dram_is_column(command) && other->place.row != c->row[bank] && c->policy->row_hit_cap > 0 &&
            c->accesses[bank] >= c->policy->row_hit_cap && c->policy->scheduler != PIM_DRAM_FCFS)
            return false;
    }
    return c->policy->scheduler != PIM_DRAM_FCFS || c->active.count == 0;
}

static bool fits(enum slot slot, enum pim_dram_command command)
{
    return slot == SLOT_ANY || (slot == SLOT_COLUMN) == pim_dram_is_column(command);
}

/* The oldest request of a line whose command is ready; SIZE_MAX: none. */
static size_t pick(const struct controller *c, const struct line *line, enum slot slot, bool active)
{
    size_t best = SIZE_MAX;
    for (size_t i = 0; i < line->count; i++) {
        const struct waiter *waiter = &line->item[i];
        enum pim_dram_command command = needed(c, waiter);
        if (!active && stepped_kept_away(c, waiter->place.bank))
            continue;
        if (!fits(slot, command) || (!active && !allowed(c, line, waiter)) ||
            !stepped_ready(c, command, waiter->place.bank))
            continue;
        if (best == SIZE_MAX || waiter->arrived < line->item[best].arrived)
            best = i;
    }
    return best;
}

static void take_out(struct line *line, size_t index)
{
    memmove(&line->item[index], &line->item[index + 1], (line->count - index - 1) * sizeof line->item[0]);
    line->count--;
}

static void issue_second_half(struct controller *c)
{
    stepped_issue(c, PIM_DRAM_ACT_SECOND, c->half.place.bank, c->half.place.row, c->half.place.column);
    c->half_cycle = 0;
}

/* Cycles until the ACT-2 must issue; far away when none has to. */
static uint64_t second_half_left(const struct controller *c)
{
    uint64_t last = c->half_cycle + c->configuration->specification.parameter[PIM_DRAM_T_AAD];
    return c->half_cycle > 0 ? last - c->clock : UINT64_MAX;
}

/* A column command needs a CAS before it: issues that, or the ACT-2 that could not wait for both. */
static bool starts_clock(struct controller *c, struct line *line, size_t index)
{
    const struct waiter *waiter = &line->item[index];
    if (!c->configuration->specification.write_clock || c->clock < c->clock_end || c->forced_line)
        return false;
    if (second_half_left(c) <= 1) {
        issue_second_half(c);
        c->outcome->first_command[waiter->request] = c->outcome->first_command[waiter->request] == c->clock
                                                         ? UINT64_MAX
                                                         : c->outcome->first_command[waiter->request];
        return true;
    }
    stepped_issue(c, waiter->write ? PIM_DRAM_CAS_WR : PIM_DRAM_CAS_RD, waiter->place.bank, waiter->place.row,
                  waiter->place.column);
    c->forced_line = line;
    c->forced = index;
    return true;
}

static void serve_waiter(struct controller *c, struct line *line, size_t index)
{
    struct waiter waiter = line->item[index];
    uint32_t bank = waiter.place.bank;
    enum pim_dram_command command = needed(c, &waiter);
    /* A row that was opened for another request stays open for it. */
    bool others = line != &c->active && stepped_has_active(c, bank, bank + 1);
    bool close =
        c->policy->page == PIM_DRAM_PAGE_CLOSED && c->accesses[bank] >= c->policy->page_cap && !others;
    if (close && pim_dram_is_column(command))
        command = command == PIM_DRAM_RD ? PIM_DRAM_RDA : PIM_DRAM_WRA;
    if (c->outcome->first_command[waiter.request] == UINT64_MAX)
        c->outcome->first_command[waiter.request] = c->clock;
    if (pim_dram_is_column(command) && starts_clock(c, line, index))
        return;
    stepped_issue(c, command, bank, waiter.place.row, waiter.place.column);
    if (command == PIM_DRAM_PRE) {
        stepped_close_row(c, bank);
        return;
    }
    take_out(line, index);
    c->used[bank] = c->clock;
    if (command == PIM_DRAM_ACT) {
        c->row[bank] = waiter.place.row;
        c->opened[bank] = c->clock;
        c->accesses[bank] = 0;
        c->active.item[c->active.count++] = waiter;
        if (c->configuration->specification.parameter[PIM_DRAM_T_AAD] > 0) {
            c->half = waiter;
            c->half_cycle = c->clock;
        }
        return;
    }
    c->accesses[bank]++;
    if (close)
        close_behind(c, bank, command);
    const struct pim_dram_specification *specification = &c->configuration->specification;
    uint64_t latency =
        waiter.write ? pim_dram_write_latency(specification) : pim_dram_read_latency(specification);
    c->outcome->completed[waiter.request] = c->clock + latency;
    uint64_t end = c->clock + latency + specification->parameter[PIM_DRAM_T_WCKPST];
    c->clock_end = end > c->clock_end ? end : c->clock_end;
    if (c->outcome->cycles < c->clock + latency)
        c->outcome->cycles = c->clock + latency;
}

static void run_slot(struct controller *c, enum slot slot)
{
    if (c->forced_line) {
        serve_waiter(c, c->forced_line, c->forced);
        c->forced_line = NULL;
        return;
    }
    if (second_half_left(c) == 0) {
        issue_second_half(c);
        return;
    }
    if (slot != SLOT_ROW) {
        size_t best = pick(c, &c->active, slot, true);
        if (best != SIZE_MAX) {
            serve_waiter(c, &c->active, best);
            return;
        }
    }
    for (size_t i = 0; i < c->job_count; i++)
        if (stepped_serve_job(c, slot, i) || !c->policy->independent)
            return;
    size_t reads = c->queue[0].count, writes = c->queue[1].count;
    if (!c->write_mode)
        c->write_mode = writes >= c->policy->write_high || reads == 0;
    else if (writes <= c->policy->write_low && reads > 0)
        c->write_mode = false;
    struct line *line = &c->queue[c->write_mode];
    size_t best = pick(c, line, slot, false);
    if (best != SIZE_MAX)
        serve_waiter(c, line, best);
}

/* A request comes in this cycle; false when its queue is full. */
static bool accept(struct controller *c, const struct access *access, size_t request)
{
    struct pim_dram_location place = pim_dram_locate(&c->configuration->mapping, access->address);
    const struct line *writes = &c->queue[1];
    for (size_t i = 0; i < writes->count; i++) {
        const struct pim_dram_location *other = &writes->item[i].place;
        if (other->bank != place.bank || other->row != place.row || other->column != place.column)
            continue;
        c->outcome->completed[request] = access->write ? c->clock : c->clock + 1;
        if (c->outcome->cycles < c->outcome->completed[request])
            c->outcome->cycles = c->outcome->completed[request];
        return true;
    }
    struct line *line = &c->queue[access->write];
    if (line->count >= (access->write ? c->policy->write_queue : c->policy->read_queue))
        return false;
    line->item[line->count++] = (struct waiter){c->clock, request, place, access->write};
    return true;
}

void stepped_serve(struct outcome *outcome, const struct pim_dram_configuration *configuration,
                   const struct access *list, size_t count)
{
    const struct pim_dram_organization *organization = &configuration->specification.organization;
    struct controller *c = calloc(1, sizeof *c);
    *outcome = (struct outcome){.count = count};
    outcome->arrived = malloc((count + 1) * sizeof *outcome->arrived);
    outcome->first_command = malloc((count + 1) * sizeof *outcome->first_command);
    outcome->completed = malloc((count + 1) * sizeof *outcome->completed);
    ck_assert(c && outcome->arrived && outcome->first_command && outcome->completed);
    c->configuration = configuration;
    c->policy = &configuration->policy;
    c->outcome = outcome;
    c->ranks = pim_dram_ranks(organization);
    c->per_rank = pim_dram_banks_per_rank(organization);
    c->per_group = organization->banks;
    c->banks = c->ranks * c->per_rank;
    for (uint32_t i = 0; i < BANKS; i++)
        c->row[i] = -1;
    pim_dram_constraints(&configuration->specification, &c->table);
    c->fenced = c->policy->independent && stepped_keeps_waiting(&configuration->specification);
    bool split = configuration->specification.split_command_bus;
    uint64_t interval = configuration->policy.per_bank_refresh
                            ? pim_dram_bank_refresh_interval(&configuration->specification)
                            : configuration->specification.parameter[PIM_DRAM_T_REFI];
    for (size_t next = 0; next < count || c->active.count + c->queue[0].count + c->queue[1].count > 0 ||
                          c->clock < outcome->cycles;
         c->clock++) {
        if (c->clock > 0) {
            stepped_ask_for_maintenance(c, interval);
            const size_t issued = outcome->record_count;
            run_slot(c, split ? SLOT_COLUMN : SLOT_ANY);
            if (outcome->record_count == issued && c->half_cycle > 0)
                issue_second_half(c);
            if (split)
                run_slot(c, SLOT_ROW);
        }
        if (next < count && list[next].cycle <= c->clock) {
            outcome->first_command[next] = UINT64_MAX;
            outcome->arrived[next] = c->clock;
            next += accept(c, &list[next], next);
        }
    }
    free(c);
}
