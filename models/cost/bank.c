/*
 * A bank's timing. The order below is that of docs/models/dram.md: refresh before everything else, then the
 * row, then the columns.
 */
#include "models/cost/bank.h"

#include "sim/integer.h"

#include <assert.h>
#include <stddef.h>

static const uint64_t no_row = UINT64_MAX;

_Static_assert(offsetof(struct pim_bank, row[1]) <= 128, "two cache lines a bank");

/* What a wait of a burst is counted for: cycles from `from` to `to`, if any. */
static uint64_t waited(uint64_t from, uint64_t to)
{
    return to > from ? to - from : 0;
}

void pim_bank_initialize(struct pim_bank *bank, const struct pim_bank_rules *rules)
{
    *bank = (struct pim_bank){.rules = rules,
                              .refresh_due = rules->timing.trefi ? rules->timing.trefi : UINT64_MAX};
    for (unsigned i = 0; i < PIM_BANK_INTERLEAVED_MAX; i++)
        bank->row[i].open_row = no_row;
}

/* Rows take turns: consecutive ones lie in consecutive banks. */
static struct pim_bank_row *row_buffer(struct pim_bank *bank, uint64_t row)
{
    return &bank->row[row & (bank->rules->interleaved - 1)];
}

/* PRE in cycle `cycle`, explicit or automatic. */
static void precharge(struct pim_bank *bank, struct pim_bank_row *buffer, uint64_t cycle)
{
    buffer->open_row = no_row;
    buffer->activate_at = pim_larger(buffer->activate_at, cycle + bank->rules->timing.trp);
    bank->precharges++;
}

static void activate(struct pim_bank *bank, struct pim_bank_row *buffer, uint64_t row, uint64_t cycle)
{
    buffer->open_row = row;
    buffer->activate_at = cycle + bank->rules->timing.trc;
    buffer->precharge_at = cycle + bank->rules->timing.tras;
    if (bank->rules->interleaved > 1)
        bank->any_activate_at = cycle + bank->rules->timing.trrd;
}

/* The refresh that is due: PRE of the rows that are open, REF, tRFC. Nothing else is issued from its due
 * cycle until it is done. */
static void refresh(struct pim_bank *bank)
{
    uint64_t ready = bank->refresh_due;
    for (unsigned i = 0; i < bank->rules->interleaved; i++) {
        struct pim_bank_row *buffer = &bank->row[i];
        if (buffer->open_row != no_row)
            precharge(bank, buffer, pim_larger(bank->refresh_due, buffer->precharge_at));
        ready = pim_larger(ready, buffer->activate_at);
    }
    for (unsigned i = 0; i < bank->rules->interleaved; i++)
        bank->row[i].activate_at = ready + bank->rules->timing.trfc;
    bank->refresh_due += bank->rules->timing.trefi;
    bank->refreshes++;
}

/* First cycle behind the last refresh; only behind refresh(). */
static uint64_t refreshed(const struct pim_bank *bank)
{
    return bank->row[0].activate_at;
}

void pim_bank_advance(struct pim_bank *bank, uint64_t cycle)
{
    if (bank->refresh_due > cycle)
        return;
    refresh(bank); /* may find an open row, or a PRE just issued */
    if (bank->refresh_due > cycle)
        return;
    /* All further ones find the bank closed and ready (pim_bank_check_configuration): each REF falls on its
     * due cycle. */
    uint64_t more = (cycle - bank->refresh_due) / bank->rules->timing.trefi;
    bank->refreshes += more;
    bank->refresh_due += more * bank->rules->timing.trefi;
    refresh(bank);
}

/* `count` column accesses, one each column step, the first in cycle `first`. Returns the cycle of the last.
 * */
static uint64_t access_columns(struct pim_bank *bank, struct pim_bank_row *buffer, bool write, uint64_t first,
                               uint64_t count)
{
    const struct pim_bank_rules *rules = bank->rules;
    uint64_t last = first + (count - 1) * rules->column_step;
    if (write) {
        bank->writes += count;
        bank->write_at = last + rules->column_step;
        bank->read_at = last + rules->write_to_read;
        buffer->precharge_at = pim_larger(buffer->precharge_at, last + rules->write_to_precharge);
    } else {
        bank->reads += count;
        bank->read_at = last + rules->column_step;
        bank->write_at = last + rules->read_to_write;
        buffer->precharge_at = pim_larger(buffer->precharge_at, last + rules->timing.trtp);
    }
    return last;
}

/* What of a burst is under way: `waiting_since` is the first cycle not yet accounted for, `arrival` the
 * earliest for a command. */
struct service {
    uint64_t arrival;
    uint64_t waiting_since;
    uint64_t first_command; /* UINT64_MAX: none yet */
};

static void command(struct service *service, uint64_t cycle)
{
    if (service->first_command == UINT64_MAX)
        service->first_command = cycle;
}

/* A refresh that came due before the next command of the burst. */
static void wait_for_refresh(struct pim_bank *bank, struct service *service)
{
    refresh(bank);
    bank->refresh_cycles += waited(service->waiting_since, refreshed(bank));
    service->waiting_since = pim_larger(service->waiting_since, refreshed(bank));
}

/* The run starts in `cycle`: with its ACT, or with its first column access where its row is open. Of
   interleaved banks the next one has its PRE and ACT from then on. */
static void start(struct pim_bank *bank, struct service *service, uint64_t cycle)
{
    if (bank->rules->interleaved > 1)
        bank->start_at = cycle + 1;
    command(service, cycle);
}

/*
 * Brings `row` into its row buffer and returns the first cycle at which the row allows a column access; sets
 * *opened if that took an ACT. A due refresh goes before PRE and before ACT, and before a column access of a
 * row that was open already.
 */
static uint64_t open_row(struct pim_bank *bank, struct service *service, uint64_t row, bool write,
                         bool *opened)
{
    struct pim_bank_row *buffer = row_buffer(bank, row);
    const bool alone = bank->rules->interleaved == 1;
    const uint64_t from = alone ? service->arrival : pim_larger(service->arrival, bank->start_at);
    bool conflict = false;
    *opened = false;
    for (;;) {
        uint64_t cycle;
        if (buffer->open_row == row) {
            cycle = pim_larger(from, write ? bank->write_at : bank->read_at);
            if (cycle < bank->refresh_due) {
                start(bank, service, cycle);
                return cycle;
            }
        } else if (buffer->open_row != no_row) {
            cycle = pim_larger(from, buffer->precharge_at);
            if (cycle < bank->refresh_due) {
                command(service, cycle);
                precharge(bank, buffer, cycle);
                conflict = true;
                continue;
            }
        } else {
            cycle = pim_larger(from, buffer->activate_at);
            if (!alone)
                cycle = pim_larger(cycle, bank->any_activate_at);
            if (cycle < bank->refresh_due) {
                start(bank, service, cycle);
                activate(bank, buffer, row, cycle);
                *(conflict ? &bank->row_conflicts : &bank->row_misses) += 1;
                *opened = true;
                return cycle + bank->rules->timing.trcd;
            }
        }
        wait_for_refresh(bank, service);
    }
}

/* One run. Returns the cycle of its last column access; *first is set to that of its first. */
static uint64_t serve_run(struct pim_bank *bank, struct service *service, const struct pim_run *run,
                          bool write, uint64_t *first)
{
    const uint32_t step = bank->rules->column_step;
    struct pim_bank_row *buffer = row_buffer(bank, run->row);
    uint64_t left = run->columns, last = 0;
    *first = UINT64_MAX;
    while (left > 0) {
        bool opened;
        uint64_t ready = open_row(bank, service, run->row, write, &opened);
        uint64_t cycle = pim_larger(ready, write ? bank->write_at : bank->read_at);
        if (opened)
            bank->row_cycles += waited(service->waiting_since, ready);
        bank->turnaround_cycles +=
            waited(opened ? pim_larger(service->waiting_since, ready) : service->waiting_since, cycle);
        /* The access for which the row was opened is served even when a refresh came due meanwhile; the
         * others only before it. Of interleaved banks all are, for other banks may have opened rows, too. */
        uint64_t count = left;
        if (bank->rules->interleaved == 1) {
            count = cycle < bank->refresh_due ? (bank->refresh_due - 1 - cycle) / step + 1 : 1;
            count = count < left ? count : left;
        }
        if (*first == UINT64_MAX)
            *first = cycle;
        last = access_columns(bank, buffer, write, cycle, count);
        service->waiting_since = last + step;
        left -= count;
    }
    if (bank->rules->organization.closed_page) /* automatic, with the last access: takes no command */
        precharge(bank, buffer, buffer->precharge_at);
    return last;
}

/* When the port takes the next burst: when there are fewer under way than banks. */
static uint64_t next_burst(struct pim_bank *bank, uint64_t arrival, uint64_t last)
{
    const uint32_t before = bank->rules->interleaved - 1;
    if (before == 0)
        return last;
    uint64_t next = pim_larger(arrival, bank->last_access[before - 1]);
    for (uint32_t i = before - 1; i > 0; i--)
        bank->last_access[i] = bank->last_access[i - 1];
    bank->last_access[0] = last;
    return next;
}

void pim_bank_access(struct pim_bank *bank, const struct pim_burst *burst, uint64_t cycle,
                     struct pim_burst_times *times)
{
    const struct pim_bank_rules *rules = bank->rules;
    assert(burst->address < rules->capacity_bytes && cycle <= UINT64_C(1) << 62);
    /* The port is busy with the column accesses before this burst; what it waits after them is its own. */
    uint64_t port_free = bank->read_at < bank->write_at ? bank->read_at : bank->write_at;
    struct service service = {
        .arrival = cycle + 1, .waiting_since = pim_larger(cycle + 1, port_free), .first_command = UINT64_MAX};
    if (bank->refresh_due <= cycle) { /* refreshes of idle time: the burst waits for the end of the last */
        pim_bank_advance(bank, cycle);
        bank->refresh_cycles += waited(service.waiting_since, refreshed(bank));
        service.waiting_since = pim_larger(service.waiting_since, refreshed(bank));
    }

    struct pim_run_cursor cursor;
    struct pim_run run;
    uint64_t first_access = UINT64_MAX, last_access = 0;
    pim_run_first(&cursor, burst, rules->port_bytes, rules->columns_per_row);
    while (pim_run_next(&cursor, &run)) {
        uint64_t first;
        last_access = serve_run(bank, &service, &run, burst->write, &first);
        if (first_access == UINT64_MAX)
            first_access = first;
    }
    uint32_t data_end = burst->write ? rules->write_to_data_end : rules->read_to_data_end;
    *times = (struct pim_burst_times){.first_command = service.first_command,
                                      .first_data = first_access + data_end,
                                      .last_data = last_access + data_end,
                                      .next = next_burst(bank, service.arrival, last_access)};
}

void pim_bank_read_counters(const struct pim_bank *bank, struct pim_bank_counters *counters)
{
    const struct pim_bank_rules *rules = bank->rules;
    uint64_t columns = bank->reads + bank->writes;
    *counters = (struct pim_bank_counters){
        .row_hits = columns - bank->row_misses - bank->row_conflicts,
        .row_misses = bank->row_misses,
        .row_conflicts = bank->row_conflicts,
        .activates = bank->row_misses + bank->row_conflicts,
        .precharges = bank->precharges,
        .refreshes = bank->refreshes,
        .reads = bank->reads,
        .writes = bank->writes,
        .bytes_read = bank->reads * rules->port_bytes,
        .bytes_written = bank->writes * rules->port_bytes,
        .data_cycles = columns * rules->column_step,
        .row_cycles = bank->row_cycles,
        .refresh_cycles = bank->refresh_cycles,
        .turnaround_cycles = bank->turnaround_cycles,
    };
}
