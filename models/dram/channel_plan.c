/*
 * Which command comes next. The rules are those of a controller that looks at all requests in every cycle and
 * issues the oldest that is ready; here the cycle in which each becomes ready is known, so the first of them
 * is found at once. A plan holds until a command is issued, a request arrives or maintenance is asked for.
 *
 * A bank stands for its requests: of those that wait for it, only the oldest hit and the oldest that needs
 * another row can be next, or the oldest of all while it is closed.
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

/* The bank whose `next` command is first ready; of several the one whose request is oldest. */
struct first {
    uint64_t time, age;
    const struct bank *bank;
};

static inline void take_earlier(struct first *first, uint64_t ready, uint64_t floor, uint64_t arrived,
                                const struct bank *bank)
{
    uint64_t time = later(ready, floor), age = arrived | WAITING_AGE;
    if (time < first->time || (time == first->time && age < first->age))
        *first = (struct first){time, age, bank};
}

/* No bank can have this command before this cycle, as far as the ranks go. */
static inline uint64_t least_ready(const struct pim_dram_channel *channel, enum class next, uint64_t floor)
{
    uint64_t least = channel->ranks[0].ready[next];
    for (uint32_t i = 1; i < channel->rules->ranks; i++)
        least = channel->ranks[i].ready[next] < least ? channel->ranks[i].ready[next] : least;
    return later(least, floor);
}

/* Hits of the banks of a set. With a cap, a row that was accessed so often serves hits no longer while an
 * older request of the bank needs another row. */
static inline struct first first_hit(const struct pim_dram_channel *channel, uint64_t set, struct first hit)
{
    const bool write = channel->write_mode;
    const enum class next = write ? CLASS_WRITE : CLASS_READ;
    const uint32_t cap = channel->rules->policy.row_hit_cap;
    const uint64_t floor = channel->column_floor;
    for (uint64_t banks = channel->hit_banks[write] & set; banks; banks &= banks - 1) {
        const struct bank *bank = &channel->banks[pim_lowest_bit(banks)];
        const struct waiting *waiting = &bank->waiting[write];
        bool capped =
            cap > 0 && bank->accesses >= cap && waiting->other >= 0 && waiting->hit_age > waiting->other_age;
        if (!capped)
            take_earlier(&hit, bank_ready(channel, bank, next), floor, waiting->hit_age, bank);
    }
    return hit;
}

/* Requests for another row. The row-hit scheduler keeps a row open while an older request hits it. */
static inline struct first first_other(const struct pim_dram_channel *channel, uint64_t set,
                                       struct first other)
{
    const bool write = channel->write_mode;
    const bool keep_hits = channel->rules->policy.scheduler == PIM_DRAM_FRFCFS_ROW_HIT;
    const uint64_t floor = channel->row_floor;
    uint64_t banks = channel->other_banks[write] & ~channel->active_banks & set;
    for (; banks; banks &= banks - 1) {
        const struct bank *bank = &channel->banks[pim_lowest_bit(banks)];
        const struct waiting *waiting = &bank->waiting[write];
        if (!keep_hits || waiting->hit < 0 || waiting->hit_age > waiting->other_age)
            take_earlier(&other, bank_ready(channel, bank, CLASS_PRE), floor, waiting->other_age, bank);
    }
    return other;
}

static inline struct first first_closed(const struct pim_dram_channel *channel, uint64_t set,
                                        struct first closed)
{
    const bool write = channel->write_mode;
    const uint64_t floor = channel->row_floor;
    uint64_t banks = channel->waiting_banks[write] & ~channel->open_banks & set;
    for (; banks; banks &= banks - 1) {
        const struct bank *bank = &channel->banks[pim_lowest_bit(banks)];
        take_earlier(&closed, bank_ready(channel, bank, CLASS_ACT), floor, bank->waiting[write].first_age,
                     bank);
    }
    return closed;
}

/* Waiting requests of the banks of a set. `column` and `row` may be the same choice. */
static void plan_banks(const struct pim_dram_channel *channel, uint64_t set, struct choice *column,
                       struct choice *row)
{
    const bool write = channel->write_mode;
    if (least_ready(channel, write ? CLASS_WRITE : CLASS_READ, channel->column_floor) <= column->time) {
        const struct first hit = first_hit(channel, set, (struct first){column->time, column->age, NULL});
        if (hit.bank)
            *column = (struct choice){hit.time,
                                      hit.age,
                                      hit.bank->waiting[write].hit,
                                      CHOOSE_COLUMN,
                                      write ? PIM_DRAM_WR : PIM_DRAM_RD,
                                      0};
    }
    const struct first other = first_other(channel, set, (struct first){row->time, row->age, NULL});
    if (other.bank)
        *row = (struct choice){other.time, other.age,    other.bank->waiting[write].other,
                               CHOOSE_ROW, PIM_DRAM_PRE, 0};
    if (least_ready(channel, CLASS_ACT, channel->row_floor) <= row->time) {
        const struct first closed = first_closed(channel, set, (struct first){row->time, row->age, NULL});
        if (closed.bank)
            *row = (struct choice){closed.time, closed.age,   closed.bank->waiting[write].first,
                                   CHOOSE_ROW,  PIM_DRAM_ACT, 0};
    }
}

/* First come, first served: the oldest request alone, and only when no row is being opened for another. */
static void plan_oldest(const struct pim_dram_channel *channel, struct choice *column, struct choice *row)
{
    uint64_t age = NEVER, oldest = 0;
    bool write = channel->write_mode;
    for (uint64_t banks = channel->waiting_banks[write]; banks; banks &= banks - 1) {
        const struct bank *bank = &channel->banks[pim_lowest_bit(banks)];
        if (bank->waiting[write].first_age < age) {
            age = bank->waiting[write].first_age;
            oldest = banks & ~(banks - 1);
        }
    }
    if (!oldest || channel->active_banks)
        return;
    struct choice a = *column, b = *row;
    plan_banks(channel, oldest, &a, &b);
    if (a.age == (age | WAITING_AGE))
        *column = a;
    else if (b.age == (age | WAITING_AGE))
        *row = b;
}

/* A stream: every waiting request hits the open row of one bank, and no other is active. */
static bool plan_stream(const struct pim_dram_channel *channel, struct choice *column)
{
    const bool write = channel->write_mode;
    const uint64_t banks = channel->waiting_banks[write];
    if (channel->active_banks || (banks & (banks - 1)) || !channel->hit_banks[write] ||
        channel->other_banks[write])
        return false;
    const struct bank *bank = &channel->banks[pim_lowest_bit(banks)];
    const struct waiting *waiting = &bank->waiting[write];
    uint64_t ready = bank_ready(channel, bank, write ? CLASS_WRITE : CLASS_READ);
    *column = (struct choice){later(ready, channel->column_floor),
                              waiting->hit_age | WAITING_AGE,
                              waiting->hit,
                              CHOOSE_COLUMN,
                              write ? PIM_DRAM_WR : PIM_DRAM_RD,
                              0};
    return true;
}

static void plan_waiting(const struct pim_dram_channel *channel, struct choice *column, struct choice *row)
{
    if (plan_stream(channel, column))
        return;
    if (channel->rules->policy.scheduler == PIM_DRAM_FCFS)
        plan_oldest(channel, column, row);
    else
        plan_banks(channel, UINT64_MAX, column, row);
}

/*
 * What happens at the start of a cycle, before its buses get their turns: postponed refreshes that may go
 * now, and closings of the page policy that are due are queued. A plan in the middle of a cycle (the row
 * bus's turn) leaves that to the next cycle.
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
    const struct choice nothing = {.time = NEVER, .age = NEVER};
    if (channel->owing || channel->rules->policy.page != PIM_DRAM_PAGE_OPEN)
        plan_maintenance(channel, column_turn, floor);
    else
        channel->close_time = NEVER;
    channel->planned = true;
    channel->column = channel->active_banks ? plan_active(channel) : nothing;
    channel->row = nothing;
    /* An active request takes the cycle: nothing else is looked at, and the mode is not decided. (With split
     * buses, the row bus gets a plan of its own once this command is issued.) */
    if (column_turn && channel->column.time == floor)
        return;
    if (channel->maintenance_count > 0) {
        struct choice *place = split ? &channel->row : &channel->column;
        struct choice maintenance = maintenance_choice(channel, channel->row_floor);
        if (maintenance.time < place->time)
            *place = maintenance;
        return;
    }
    if (write_mode_changes(channel))
        channel->write_mode = !channel->write_mode;
    plan_waiting(channel, &channel->column, split ? &channel->row : &channel->column);
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
        plan_banks(channel, UINT64_C(1) << entry->bank, &channel->column,
                   channel->rules->specification.split_command_bus ? &channel->row : &channel->column);
}
