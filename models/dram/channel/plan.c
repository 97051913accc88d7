/*
 * Which command comes next. The rules are those of a controller that looks at all requests in every cycle and
 * issues the oldest that is ready; here the cycle in which each becomes ready is known, so the first of them
 * is found at once. A plan holds until a command is issued, a request arrives or maintenance is asked for.
 *
 * A bank stands for its requests: of those that wait for it, only the oldest hit and the oldest that needs
 * another row can be next, or the oldest of all while it is closed.
 */
#include "models/dram/channel/internal.h"

#include "sim/bits.h"

#include <assert.h>

/* Enters write mode when many writes wait or no read; leaves it when few writes wait and a read. */
bool write_mode_changes(const struct pim_dram_channel *channel)
{
    const struct pim_dram_policy *policy = &channel->rules->policy;
    uint32_t reads = channel->waiting_count[0], writes = channel->waiting_count[1];
    if (channel->write_mode)
        return writes <= policy->write_low && reads > 0;
    return writes >= policy->write_high || reads == 0;
}

/*
 * The earliest so far of what a bus may do; of several in one cycle a request whose row was opened, then the
 * oldest. Time behind the bus's floor and age make one number, so that one comparison decides: the loops
 * below run for every command, and which bank is best is as good as random to the branch prediction.
 */
struct first {
    uint64_t key;
    uint64_t bank; /* NO_BANK: none of the banks looked at is earlier than what was known before */
};

#define NO_BANK UINT64_MAX

/* AGE_BITS of age, one that tells waiting requests from active ones, and the distance. Distances are sums
 * of a few parameters, which PIM_DRAM_CYCLES_MAX bounds. */
#define AGE_WAITING (UINT64_C(1) << AGE_BITS)
#define KEY_SHIFT (AGE_BITS + 1)
static_assert((uint64_t)PIM_DRAM_CYCLES_MAX * 8 <= UINT64_C(1) << (64 - KEY_SHIFT), "distances fit the key");

static inline struct first first_of(const struct choice *choice, uint64_t floor)
{
    if (choice->time == NEVER)
        return (struct first){UINT64_MAX, NO_BANK};
    return (struct first){(choice->time - floor) << KEY_SHIFT | choice->age, NO_BANK};
}

static inline void take_earlier(struct first *first, uint64_t cycles, uint64_t age, uint64_t bank)
{
    const uint64_t key = cycles << KEY_SHIFT | age;
    first->bank = key < first->key ? bank : first->bank;
    first->key = key < first->key ? key : first->key;
}

static inline struct choice choose(const struct first *first, uint64_t floor, int16_t entry,
                                   enum choice_kind kind, enum pim_dram_command command)
{
    return (struct choice){floor + (first->key >> KEY_SHIFT),
                           first->key & ((UINT64_C(1) << KEY_SHIFT) - 1),
                           entry,
                           (uint8_t)kind,
                           (uint8_t)command,
                           0};
}

/* From which cycle on rank and bus allow a command, for each rank: bank and group add their own cycles.
 * Returns the least of them. */
static inline uint64_t rank_floors(const struct pim_dram_channel *channel, enum class next, uint64_t floor,
                                   uint64_t *floors)
{
    uint64_t least = NEVER;
    for (uint32_t rank = 0; rank < channel->rules->ranks; rank++) {
        floors[rank] = later(channel->ranks[rank].ready[next], floor);
        least = floors[rank] < least ? floors[rank] : least;
    }
    return least;
}

/* The cycle of a command at a bank, counted from the floor that `floors` was made with. */
static inline uint64_t distance(const struct pim_dram_channel *channel, const struct bank *bank,
                                enum class next, uint64_t floor, const uint64_t *floors)
{
    const uint64_t ready = later(bank->ready[next], channel->groups[bank->group].ready[next]);
    return later(ready, floors[bank->rank]) - floor;
}

/* Requests whose row was opened for them. */
static inline void plan_active(const struct pim_dram_channel *channel, uint32_t sections,
                               struct choice *column)
{
    const uint64_t floor = channel->column_floor | channel->rules->half;
    struct first first = {UINT64_MAX, NO_BANK};
    for (uint32_t section = 0; section < sections; section++)
        for (uint64_t banks = channel->section[section].active; banks; banks &= banks - 1) {
            const uint32_t number = section * SECTION_BANKS + pim_lowest_bit(banks);
            const struct bank *bank = &channel->banks[number];
            const uint64_t time = bank_ready(channel, bank, bank->active_class);
            take_earlier(&first, later(time, floor) - floor, bank->active_age, number);
        }
    const struct bank *bank = &channel->banks[first.bank];
    *column = choose(&first, floor, bank->active, CHOOSE_COLUMN,
                     bank->active_class == CLASS_WRITE ? PIM_DRAM_WR : PIM_DRAM_RD);
}

/* Hits of the banks of a set of the section whose first bank is `begin`. With a cap, a row that was accessed
 * so often serves hits no longer while an older request of the bank needs another row. */
static inline void plan_hits(const struct pim_dram_channel *channel, const struct bank *begin, uint64_t banks,
                             struct choice *column)
{
    const bool write = channel->write_mode;
    const enum class next = write ? CLASS_WRITE : CLASS_READ;
    const uint32_t cap = channel->rules->policy.row_hit_cap;
    const uint64_t floor = channel->column_floor | channel->rules->half;
    uint64_t floors[PIM_DRAM_RANKS_MAX];
    struct first first = first_of(column, floor);
    if (rank_floors(channel, next, floor, floors) > column->time)
        return;
    for (; banks; banks &= banks - 1) {
        const unsigned number = pim_lowest_bit(banks);
        const struct bank *bank = &begin[number];
        const struct waiting *waiting = &bank->waiting[write];
        if (cap > 0 && bank->accesses >= cap && waiting->other >= 0 && waiting->hit_age > waiting->other_age)
            continue;
        take_earlier(&first, distance(channel, bank, next, floor, floors), waiting->hit_age | AGE_WAITING,
                     number);
    }
    if (first.bank != NO_BANK)
        *column = choose(&first, floor, begin[first.bank].waiting[write].hit, CHOOSE_COLUMN,
                         write ? PIM_DRAM_WR : PIM_DRAM_RD);
}

/* Requests for another row. The row-hit scheduler keeps a row open while an older request hits it. */
static inline void plan_closings(const struct pim_dram_channel *channel, const struct bank *begin,
                                 uint64_t banks, struct choice *row)
{
    const bool write = channel->write_mode;
    const bool keep_hits = channel->rules->policy.scheduler == PIM_DRAM_FRFCFS_ROW_HIT;
    const uint64_t floor = channel->row_floor;
    uint64_t floors[PIM_DRAM_RANKS_MAX];
    struct first first = first_of(row, floor);
    if (rank_floors(channel, CLASS_PRE, floor | channel->rules->rising[CLASS_PRE], floors) > row->time)
        return;
    for (; banks; banks &= banks - 1) {
        const unsigned number = pim_lowest_bit(banks);
        const struct bank *bank = &begin[number];
        const struct waiting *waiting = &bank->waiting[write];
        if (keep_hits && waiting->hit >= 0 && waiting->hit_age <= waiting->other_age)
            continue;
        take_earlier(&first, distance(channel, bank, CLASS_PRE, floor, floors),
                     waiting->other_age | AGE_WAITING, number);
    }
    if (first.bank != NO_BANK)
        *row = choose(&first, floor, begin[first.bank].waiting[write].other, CHOOSE_ROW, PIM_DRAM_PRE);
}

static inline void plan_openings(const struct pim_dram_channel *channel, const struct bank *begin,
                                 uint64_t banks, struct choice *row)
{
    const bool write = channel->write_mode;
    const uint64_t floor = channel->row_floor;
    uint64_t floors[PIM_DRAM_RANKS_MAX];
    struct first first = first_of(row, floor);
    if (rank_floors(channel, CLASS_ACT, floor | channel->rules->half, floors) > row->time)
        return;
    for (; banks; banks &= banks - 1) {
        const unsigned number = pim_lowest_bit(banks);
        const struct bank *bank = &begin[number];
        take_earlier(&first, distance(channel, bank, CLASS_ACT, floor, floors),
                     bank->waiting[write].first_age | AGE_WAITING, number);
    }
    if (first.bank != NO_BANK)
        *row = choose(&first, floor, begin[first.bank].waiting[write].first, CHOOSE_ROW, PIM_DRAM_ACT);
}

/* Waiting requests of the banks of a set of a section. `column` and `row` may be the same choice. */
static void plan_banks(const struct pim_dram_channel *channel, const struct section *section, uint64_t set,
                       struct choice *column, struct choice *row)
{
    const bool write = channel->write_mode;
    const struct bank *begin = section->banks;
    const uint64_t hits = section->hit[write] & set;
    const uint64_t others = section->other[write] & ~section->active & set;
    const uint64_t closed = section->waiting[write] & ~section->open & set;
    if (hits)
        plan_hits(channel, begin, hits, column);
    if (others)
        plan_closings(channel, begin, others, row);
    /* Behind the first half of an ACT no other row is opened. */
    if (closed && channel->low_power.half_activated < 0)
        plan_openings(channel, begin, closed, row);
}

/* The banks of a section whose requests may be looked at: all, or those that maintenance leaves alone. */
static inline uint64_t free_banks(const struct pim_dram_channel *channel, uint32_t section)
{
    return channel->maintenance_count > 0 ? ~maintenance_banks(channel, section) : UINT64_MAX;
}

/* First come, first served: the oldest request alone, and only when no row is being opened for another. */
static void plan_oldest(const struct pim_dram_channel *channel, uint32_t sections, struct choice *column,
                        struct choice *row)
{
    uint64_t age = NEVER, oldest = 0;
    uint32_t section = 0;
    bool write = channel->write_mode;
    for (uint32_t i = 0; i < sections; i++)
        for (uint64_t banks = channel->section[i].waiting[write]; banks; banks &= banks - 1) {
            const struct bank *bank = &channel->banks[i * SECTION_BANKS + pim_lowest_bit(banks)];
            if (bank->waiting[write].first_age < age) {
                age = bank->waiting[write].first_age;
                oldest = banks & ~(banks - 1);
                section = i;
            }
        }
    if (!oldest || any_active(channel, sections))
        return;
    struct choice a = *column, b = *row;
    plan_banks(channel, &channel->section[section], oldest & free_banks(channel, section), &a, &b);
    if (a.age == (age | AGE_WAITING))
        *column = a;
    else if (b.age == (age | AGE_WAITING))
        *row = b;
}

/* A stream: every waiting request hits the open row of one bank, and no other is active. With one section
 * only. */
static bool plan_stream(const struct pim_dram_channel *channel, struct choice *column)
{
    const bool write = channel->write_mode;
    const struct section *section = &channel->section[0];
    const uint64_t banks = section->waiting[write];
    if (section->active || (banks & (banks - 1)) || !section->hit[write] || section->other[write])
        return false;
    const struct bank *bank = &channel->banks[pim_lowest_bit(banks)];
    const struct waiting *waiting = &bank->waiting[write];
    uint64_t ready = bank_ready(channel, bank, write ? CLASS_WRITE : CLASS_READ);
    *column = (struct choice){later(ready, channel->column_floor | channel->rules->half),
                              waiting->hit_age | AGE_WAITING,
                              waiting->hit,
                              CHOOSE_COLUMN,
                              write ? PIM_DRAM_WR : PIM_DRAM_RD,
                              0};
    return true;
}

/* Waiting requests that are no stream. */
static inline void plan_requests(const struct pim_dram_channel *channel, uint32_t sections,
                                 struct choice *column, struct choice *row)
{
    if (channel->rules->policy.scheduler == PIM_DRAM_FCFS) {
        plan_oldest(channel, sections, column, row);
        return;
    }
    for (uint32_t section = 0; section < sections; section++)
        plan_banks(channel, &channel->section[section], free_banks(channel, section), column, row);
}

/* Waiting requests. */
static inline void plan_waiting(const struct pim_dram_channel *channel, uint32_t sections,
                                struct choice *column, struct choice *row)
{
    if (sections == 1 && channel->maintenance_count == 0 && plan_stream(channel, column))
        return;
    plan_requests(channel, sections, column, row);
}

/* Is the plan an ACT that a refresh does not let in? */
static bool is_held(const struct pim_dram_channel *channel, const struct choice *choice)
{
    return choice->time != NEVER && choice->kind == CHOOSE_ROW && choice->command == PIM_DRAM_ACT &&
           maintenance_holds(channel, &channel->banks[channel->entries[choice->entry].bank], choice->time);
}

/* Waiting requests, but for those whose ACT a refresh does not let in. */
static PIM_NOINLINE void plan_beside_refreshes(struct pim_dram_channel *channel, uint32_t sections,
                                               struct choice *row)
{
    const struct choice before[] = {channel->column, *row};
    plan_requests(channel, sections, &channel->column, row);
    while (is_held(channel, row)) {
        channel->held |= UINT32_C(1) << channel->banks[channel->entries[row->entry].bank].rank;
        channel->column = before[0];
        *row = before[1];
        plan_requests(channel, sections, &channel->column, row);
    }
    channel->held = 0;
}

/* What a cycle looks at, in this order, with floors and maintenance as they are. `sections` are those of the
 * channel: compiled once for a single section, and once for several. */
static inline void plan_cycle(struct pim_dram_channel *channel, uint32_t sections, bool column_turn,
                              uint64_t floor)
{
    bool split = channel->rules->specification.split_command_bus;
    if (any_active(channel, sections))
        plan_active(channel, sections, &channel->column);
    /* An active request takes the cycle: nothing else is looked at, and the mode is not decided. (With split
     * buses, the row bus gets a plan of its own once this command is issued.) */
    if (column_turn && channel->column.time == floor)
        return;
    if (channel->maintenance_count > 0) {
        struct choice *place = split ? &channel->row : &channel->column;
        struct choice maintenance = maintenance_choice(channel, channel->row_floor);
        if (maintenance.time < place->time)
            *place = maintenance;
        /* When it takes the bus in this cycle, nothing else is looked at either; the column bus of two is not
         * its own. */
        if (!channel->rules->policy.independent ||
            (maintenance.time == channel->row_floor && !(split && column_turn)))
            return;
    }
    if (write_mode_changes(channel))
        channel->write_mode = !channel->write_mode;
    struct choice *row = split ? &channel->row : &channel->column;
    if (channel->maintenance_count > 0 && channel->rules->refresh_behind_act > 0)
        plan_beside_refreshes(channel, sections, row);
    else
        plan_waiting(channel, sections, &channel->column, row);
}

static PIM_NOINLINE void plan_sections(struct pim_dram_channel *channel, bool column_turn, uint64_t floor)
{
    plan_cycle(channel, channel->rules->sections, column_turn, floor);
}

void channel_plan(struct pim_dram_channel *channel)
{
    bool column_turn =
        channel->column_floor <= channel->row_floor; /* the column bus comes first in a cycle */
    uint64_t floor = column_turn ? channel->column_floor : channel->row_floor;
    const struct choice nothing = {.time = NEVER, .age = NEVER};
    bool low_power = false;
    channel->planned = true;
    channel->column = channel->row = nothing;
    if (channel->owing || !channel->rules->plain) {
        maintenance_begin(channel, column_turn, floor);
        low_power = channel->rules->low_power;
        if (low_power && low_power_goes_first(channel, floor))
            return;
    } else {
        channel->close_time = NEVER;
    }
    if (channel->rules->sections == 1)
        plan_cycle(channel, 1, column_turn, floor);
    else
        plan_sections(channel, column_turn, floor);
    if (low_power)
        low_power_completes(channel, floor);
}

void channel_plan_arrival(struct pim_dram_channel *channel, int16_t number)
{
    const struct entry *entry = &channel->entries[number];
    if (channel->maintenance_count > 0) {
        channel->planned = !channel->rules->policy.independent;
        return;
    }
    if (write_mode_changes(channel) || channel->rules->replans) {
        channel->planned = false;
        return;
    }
    if (entry->write != channel->write_mode)
        return;
    const struct bank *bank = &channel->banks[entry->bank];
    const struct waiting *waiting = &bank->waiting[entry->write];
    const uint32_t row = channel->links[number].row;
    bool candidate = bank->row == NO_ROW ? waiting->first == number
                     : bank->row == row  ? waiting->hit == number
                                         : waiting->other == number;
    if (candidate)
        plan_banks(channel, bank->section, section_bit(entry->bank), &channel->column,
                   channel->rules->specification.split_command_bus ? &channel->row : &channel->column);
}
