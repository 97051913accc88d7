/*
 * Which command comes next. The rules are those of a controller that looks at all requests in every cycle and
 * issues the oldest that is ready; here the cycle in which each becomes ready is known, so the first of them
 * is found at once. A plan holds until a command is issued, a request arrives or maintenance is asked for.
 */
#include "models/dram/channel_internal.h"

#include "sim/bits.h"

/* Enters write mode when many writes wait or no read; leaves it when few writes wait and a read. */
bool write_mode_changes(const struct pim_dram_channel *channel)
{
    const struct pim_dram_policy *policy = &channel->rules->policy;
    uint32_t reads = channel->waiting_count[0], writes = channel->waiting_count[1];
    if (channel->write_mode)
        return writes <= policy->write_low && reads > 0;
    return writes >= policy->write_high || reads == 0;
}

/* Ages order choices of the same cycle: requests whose row was opened go before those that wait. */
#define WAITING_AGE (UINT64_C(1) << 63)

static inline void prefer(struct choice *best, uint64_t time, uint64_t age, int16_t entry,
                          enum choice_kind kind, enum pim_dram_command command)
{
    if (time > best->time || (time == best->time && age >= best->age))
        return;
    *best = (struct choice){time, age, entry, (uint8_t)kind, (uint8_t)command, 0};
}

/* Requests whose row was opened for them. */
static struct choice plan_active(const struct pim_dram_channel *channel)
{
    struct choice best = {.time = NEVER, .age = NEVER};
    for (uint64_t banks = channel->active_banks; banks; banks &= banks - 1) {
        const struct bank *bank = &channel->banks[pim_lowest_bit(banks)];
        const struct entry *entry = &channel->entries[bank->active];
        uint64_t time = bank_ready(channel, bank, entry->write ? CLASS_WRITE : CLASS_READ);
        prefer(&best, later(time, channel->column_floor), entry->arrived, bank->active, CHOOSE_COLUMN,
               entry->write ? PIM_DRAM_WR : PIM_DRAM_RD);
    }
    return best;
}

/* May the oldest hit of a bank go before an older request that needs another row? */
static bool may_hit(const struct pim_dram_channel *channel, const struct bank *bank,
                    const struct waiting *waiting)
{
    uint32_t cap = channel->rules->policy.row_hit_cap;
    return cap == 0 || waiting->other < 0 || bank->accesses < cap ||
           channel->entries[waiting->hit].arrived < channel->entries[waiting->other].arrived;
}

/* May the row be closed for the oldest request that needs another one? */
static bool may_close(const struct pim_dram_channel *channel, const struct bank *bank,
                      const struct waiting *waiting)
{
    return bank->active < 0 &&
           (channel->rules->policy.scheduler != PIM_DRAM_FRFCFS_ROW_HIT || waiting->hit < 0 ||
            channel->entries[waiting->hit].arrived > channel->entries[waiting->other].arrived);
}

/* The requests of one bank: one hit, one row command. `column` and `row` may be the same choice. */
static inline void plan_bank(const struct pim_dram_channel *channel, const struct bank *bank, bool write,
                             struct choice *column, struct choice *row)
{
    const struct waiting *waiting = &bank->waiting[write];
    if (bank->row == NO_ROW) {
        prefer(row, later(bank_ready(channel, bank, CLASS_ACT), channel->row_floor),
               channel->entries[waiting->first].arrived | WAITING_AGE, waiting->first, CHOOSE_ROW,
               PIM_DRAM_ACT);
        return;
    }
    if (waiting->hit >= 0 && may_hit(channel, bank, waiting))
        prefer(column,
               later(bank_ready(channel, bank, write ? CLASS_WRITE : CLASS_READ), channel->column_floor),
               channel->entries[waiting->hit].arrived | WAITING_AGE, waiting->hit, CHOOSE_COLUMN,
               write ? PIM_DRAM_WR : PIM_DRAM_RD);
    if (waiting->other >= 0 && may_close(channel, bank, waiting))
        prefer(row, later(bank_ready(channel, bank, CLASS_PRE), channel->row_floor),
               channel->entries[waiting->other].arrived | WAITING_AGE, waiting->other, CHOOSE_ROW,
               PIM_DRAM_PRE);
}

/* First come, first served: the oldest request alone, and only when no row is being opened for another. */
static void plan_oldest(const struct pim_dram_channel *channel, struct choice *column, struct choice *row)
{
    const struct bank *oldest = NULL;
    bool write = channel->write_mode;
    uint64_t age = NEVER;
    for (uint64_t banks = channel->waiting_banks[write]; banks; banks &= banks - 1) {
        const struct bank *bank = &channel->banks[pim_lowest_bit(banks)];
        if (channel->entries[bank->waiting[write].first].arrived < age) {
            age = channel->entries[bank->waiting[write].first].arrived;
            oldest = bank;
        }
    }
    if (!oldest || channel->active_banks)
        return;
    struct choice a = *column, b = *row;
    plan_bank(channel, oldest, write, &a, &b);
    if (a.age == (age | WAITING_AGE))
        *column = a;
    else if (b.age == (age | WAITING_AGE))
        *row = b;
}

static void plan_waiting(const struct pim_dram_channel *channel, struct choice *column, struct choice *row)
{
    bool write = channel->write_mode;
    if (channel->rules->policy.scheduler == PIM_DRAM_FCFS) {
        plan_oldest(channel, column, row);
        return;
    }
    for (uint64_t banks = channel->waiting_banks[write]; banks; banks &= banks - 1)
        plan_bank(channel, &channel->banks[pim_lowest_bit(banks)], write, column, row);
}

/*
 * What happens at the start of a cycle, before its buses get their turns: postponed refreshes that may go now,
 * and closings of the page policy that are due are queued. A plan in the middle of a cycle (the row bus's
 * turn) leaves that to the next cycle.
 */
static void plan_maintenance(struct pim_dram_channel *channel, bool cycle_begins, uint64_t floor)
{
    bool closes = channel->rules->policy.page != PIM_DRAM_PAGE_OPEN;
    channel->close_time = NEVER;
    if (!cycle_begins) {
        if (closes || channel->owing)
            channel->close_time = floor + 1;
        return;
    }
    if (channel->owing)
        maintenance_queue_owed(channel);
    if (!closes)
        return;
    maintenance_queue_closings(channel, floor);
    for (uint64_t banks = channel->open_banks; banks; banks &= banks - 1) {
        uint64_t time = maintenance_close_time(channel, &channel->banks[pim_lowest_bit(banks)]);
        channel->close_time = time < channel->close_time ? time : channel->close_time;
    }
}

void channel_plan(struct pim_dram_channel *channel)
{
    bool split = channel->rules->specification.split_command_bus;
    bool column_turn =
        channel->column_floor <= channel->row_floor; /* the column bus comes first in a cycle */
    uint64_t floor = column_turn ? channel->column_floor : channel->row_floor;
    struct choice waiting = {.time = NEVER, .age = NEVER}, row = waiting;
    plan_maintenance(channel, column_turn, floor);
    struct choice active = plan_active(channel);
    if (channel->maintenance_count > 0) {
        row = maintenance_choice(channel, channel->row_floor);
    } else {
        /* The requests are looked at, and the mode is decided, only if no active one takes the cycle. */
        if (write_mode_changes(channel) && !(column_turn && active.time == floor))
            channel->write_mode = !channel->write_mode;
        plan_waiting(channel, &waiting, split ? &row : &waiting);
    }
    channel->column = active.time <= waiting.time ? active : waiting;
    channel->row = row;
    if (!split && row.time < channel->column.time)
        channel->column = row;
    if (!split)
        channel->row = (struct choice){.time = NEVER};
    channel->planned = true;
}

void channel_plan_arrival(struct pim_dram_channel *channel, int16_t number)
{
    const struct entry *entry = &channel->entries[number];
    if (channel->maintenance_count > 0)
        return;
    if (write_mode_changes(channel) || channel->rules->policy.scheduler == PIM_DRAM_FCFS) {
        channel->planned = false;
        return;
    }
    if (entry->write != channel->write_mode)
        return;
    const struct bank *bank = &channel->banks[entry->bank];
    const struct waiting *waiting = &bank->waiting[entry->write];
    bool candidate = bank->row == NO_ROW       ? waiting->first == number
                     : bank->row == entry->row ? waiting->hit == number
                                               : waiting->other == number;
    if (candidate)
        plan_bank(channel, bank, entry->write, &channel->column,
                  channel->rules->specification.split_command_bus ? &channel->row : &channel->column);
}
