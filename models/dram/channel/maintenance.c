/*
 * Refresh and page policy: commands that no request asks for. They wait in one queue, in the order in which
 * they were asked for; while it is not empty, no waiting request is looked at. With independent maintenance
 * every entry goes on by itself, the first in the queue before the others, and keeps requests away from its
 * own banks alone.
 */
#include "models/dram/channel/internal.h"

#include "sim/bits.h"

#include <assert.h>

static void enqueue(struct pim_dram_channel *channel, enum maintenance_kind kind, uint32_t rank,
                    uint32_t bank)
{
    assert(channel->maintenance_count <= channel->maintenance_mask);
    uint32_t place = (channel->maintenance_first + channel->maintenance_count++) & channel->maintenance_mask;
    channel->maintenance[place] = (struct maintenance){(uint8_t)kind, (uint8_t)rank, (uint8_t)bank};
}

/* Takes out the entry at a place; those before it move up. */
static void dequeue(struct pim_dram_channel *channel, uint32_t place)
{
    for (; place > 0; place--)
        *maintenance_at(channel, place) = *maintenance_at(channel, place - 1);
    channel->maintenance_first = (channel->maintenance_first + 1) & channel->maintenance_mask;
    channel->maintenance_count--;
}

void maintenance_queue_owed(struct pim_dram_channel *channel)
{
    const struct pim_dram_rules *rules = channel->rules;
    channel->owing = false;
    /* At the end of a run, when no refresh becomes due any more, none is pulled in. */
    const int32_t ahead = channel->refresh_due == NEVER ? 0 : (int32_t)rules->policy.pull_in;
    for (uint32_t i = 0; i < rules->ranks; i++) {
        struct rank *rank = &channel->ranks[i];
        if (rank->owed <= -ahead || rank->queued)
            continue;
        if (rank->owed <= (int32_t)rules->policy.postpone && rank->pending > 0) {
            channel->owing = true;
            continue;
        }
        rank->queued = true;
        enqueue(channel,
                !rules->policy.per_bank_refresh ? MAINTAIN_REFRESH
                : rules->policy.same_bank       ? MAINTAIN_REFRESH_SAME
                                                : MAINTAIN_REFRESH_BANK,
                i, i * rules->banks_per_rank + rank->next_bank);
    }
}

/* A rank owes one refresh more. One that was due before, and not put off, is late: the run is refused in the
 * end (pim_dram_counters_judge). Says whether refreshes and requests would keep one another away for ever. */
static bool owe(struct pim_dram_channel *channel, uint32_t rank)
{
    enum { LATE_MOST = 64 };
    const int32_t late = ++channel->ranks[rank].owed - (int32_t)channel->rules->policy.postpone - 1;
    channel->counters.late_refreshes += late > 0;
    return late > LATE_MOST;
}

void maintenance_refresh_due(struct pim_dram_channel *channel)
{
    bool for_ever = false;
    if (channel->rules->policy.stagger) {
        for_ever = owe(channel, channel->refresh_rank);
        channel->refresh_rank = (channel->refresh_rank + 1) % channel->rules->ranks;
    } else {
        for (uint32_t i = 0; i < channel->rules->ranks; i++)
            for_ever |= owe(channel, i);
    }
    /* No further one becomes due, so that the run ends. */
    channel->refresh_due = for_ever ? NEVER : channel->refresh_due + channel->rules->refresh_interval;
    maintenance_queue_owed(channel);
}

static bool is_idle(const struct pim_dram_channel *channel)
{
    if (channel->maintenance_count > 0 || channel->owing)
        return false;
    for (uint32_t i = 0; i < channel->rules->ranks; i++)
        if (channel->ranks[i].pending > 0 || channel->ranks[i].open > 0)
            return false;
    return true;
}

static enum pim_dram_command refresh_command(const struct pim_dram_rules *rules)
{
    if (!rules->policy.per_bank_refresh)
        return PIM_DRAM_REF;
    return rules->policy.same_bank ? PIM_DRAM_REFSB : PIM_DRAM_REFPB;
}

/* The earliest cycle of a refresh that begins with `first`, as far as constraints go. */
static uint64_t refresh_ready(const struct pim_dram_channel *channel, uint32_t first,
                              enum pim_dram_command command)
{
    const struct pim_dram_rules *rules = channel->rules;
    if (command != PIM_DRAM_REFSB)
        return bank_ready(channel, &channel->banks[first],
                          command == PIM_DRAM_REFPB ? CLASS_REFPB : CLASS_REF);
    uint64_t ready = 0;
    for (uint32_t g = 0; g < rules->groups_per_rank; g++)
        ready = later(ready,
                      bank_ready(channel, &channel->banks[first + g * rules->banks_per_group], CLASS_REFSB));
    return ready;
}

/* How long a refresh that takes `busy` cycles keeps any command away. */
static uint64_t longest_effect(const struct pim_dram_rules *rules, enum pim_dram_command refresh,
                               uint64_t busy)
{
    const struct effects *effects = &rules->effects[refresh];
    for (uint32_t i = 0; i < effects->begin[REACHES]; i++)
        busy = later(busy, effects->list[i].cycles);
    return busy;
}

/*
 * While nothing waits and every bank is closed, each due refresh of a rank is issued in the cycle in which it
 * is due (one rank a cycle), because tREFI is longer than tRFC. All but the last ones are therefore only
 * counted; the last ones are planned, so that what they forbid is known. Staggered, the same holds of rounds
 * of all ranks: what the last turn of a round forbids must be over by `until`, too, when the round is
 * skipped.
 */
void maintenance_skip_idle(struct pim_dram_channel *channel, uint64_t until)
{
    const struct pim_dram_rules *rules = channel->rules;
    uint64_t interval = (uint64_t)rules->refresh_interval * rules->refresh_turns;
    if (channel->sink.command || until < channel->refresh_due + interval || !is_idle(channel))
        return;
    bool per_bank = rules->policy.per_bank_refresh;
    const enum pim_dram_command command = refresh_command(rules);
    uint64_t busy = rules->specification.parameter[per_bank ? PIM_DRAM_T_RFCPB : PIM_DRAM_T_RFC];
    const uint64_t forbidden = longest_effect(rules, command, busy);
    uint64_t kept = (forbidden + interval - rules->refresh_interval) / interval + 1;
    uint64_t due = (until - channel->refresh_due) / interval + 1;
    for (uint32_t i = 0; i < rules->ranks; i++) {
        const struct rank *rank = &channel->ranks[i];
        const uint32_t bank = i * rules->banks_per_rank + rank->next_bank;
        const uint32_t turn = (i + rules->ranks - channel->refresh_rank) % rules->refresh_turns;
        const uint64_t first = channel->refresh_due + (uint64_t)turn * rules->refresh_interval;
        if (refresh_ready(channel, bank, command) > first || rank->until > first)
            return; /* the first of them might wait: plan it */
    }
    /* Per-bank refreshes that overlap would not add up to active cycles. */
    if (due <= kept || busy > interval)
        return;
    uint64_t skipped = due - kept;
    for (uint32_t i = 0; i < rules->ranks; i++) {
        struct rank *rank = &channel->ranks[i];
        rank->active_cycles += skipped * busy;
        rank->next_bank = (uint32_t)((rank->next_bank + skipped) % rules->refresh_banks);
    }
    channel->counters.commands[command] += skipped * rules->ranks;
    channel->counters.skipped_refreshes += skipped * rules->ranks;
    channel->refresh_due += skipped * interval;
}

/* The time at which the page policy wants to close a bank; NEVER. */
static uint64_t close_time(const struct pim_dram_channel *channel, const struct bank *bank)
{
    const struct pim_dram_policy *policy = &channel->rules->policy;
    /* Behind its CAS a column command follows, which may close the row by itself. */
    if (bank->closing || bank->active >= 0 || bank->accesses == 0 || low_power_uses(channel, bank))
        return NEVER;
    if (policy->page == PIM_DRAM_PAGE_CLOSED)
        return bank->accesses >= policy->page_cap ? bank_ready(channel, bank, CLASS_PRE) : NEVER;
    return later(bank->used + policy->page_timeout, bank_ready(channel, bank, CLASS_PRE));
}

/* Queues the closing of every bank that the page policy wants to close by `cycle`. Returns the time for the
 * first of the others; NEVER. */
static uint64_t queue_closings(struct pim_dram_channel *channel, uint64_t cycle)
{
    uint64_t first = NEVER;
    for (uint32_t section = 0; section < channel->rules->sections; section++)
        for (uint64_t banks = channel->section[section].open; banks; banks &= banks - 1) {
            const unsigned number = pim_lowest_bit(banks);
            struct bank *bank = &channel->section[section].banks[number];
            const uint64_t time = close_time(channel, bank);
            if (time > cycle) {
                first = time < first ? time : first;
                continue;
            }
            bank->closing = true;
            enqueue(channel, MAINTAIN_CLOSE, bank->rank, section * SECTION_BANKS + number);
        }
    return first;
}

/*
 * What happens at the start of a cycle, before its buses get their turns: postponed refreshes that may go
 * now, and closings of the page policy that are due are queued. A plan in the middle of a cycle (the row
 * bus's turn) leaves that to the next cycle.
 */
void maintenance_begin(struct pim_dram_channel *channel, bool cycle_begins, uint64_t floor)
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
    if (closes)
        channel->close_time = queue_closings(channel, floor);
}

static bool is_done(const struct pim_dram_channel *channel, uint32_t place)
{
    const struct maintenance *entry = maintenance_at(channel, place);
    return entry->kind == MAINTAIN_CLOSE && channel->banks[entry->bank].row == NO_ROW;
}

/* Forgets closings of banks that are closed already: at the head, or of independent ones anywhere. */
static void drop_done(struct pim_dram_channel *channel)
{
    while (channel->maintenance_count > 0 && is_done(channel, 0))
        dequeue(channel, 0);
    if (!channel->rules->policy.independent)
        return;
    for (uint32_t place = channel->maintenance_count; place > 1; place--)
        if (is_done(channel, place - 1))
            dequeue(channel, place - 1);
}

/* Of `count` banks from `first` on those in a section. The count is a power of two of which `first` is a
 * multiple: they are whole sections, or lie in one. */
static uint64_t banks_from(uint32_t first, uint32_t count, uint32_t section)
{
    if (count >= SECTION_BANKS)
        return section - first / SECTION_BANKS < count / SECTION_BANKS ? UINT64_MAX : 0;
    return section == first / SECTION_BANKS ? (section_bit(count) - 1) << first % SECTION_BANKS : 0;
}

/* The banks of a rank in a section. */
static uint64_t rank_banks(const struct pim_dram_channel *channel, uint32_t rank, uint32_t section)
{
    const uint32_t banks = channel->rules->banks_per_rank;
    return banks_from(rank * banks, banks, section);
}

/* The banks of the number of `bank` in all groups of its rank, as far as they are in a section. */
static uint64_t same_banks(const struct pim_dram_channel *channel, uint32_t bank, uint32_t section)
{
    const struct pim_dram_rules *rules = channel->rules;
    uint64_t banks = 0;
    for (uint32_t g = 0; g < rules->groups_per_rank; g++, bank += rules->banks_per_group)
        banks |= bank / SECTION_BANKS == section ? section_bit(bank) : 0;
    return banks;
}

/* Has the rank a row that was opened for a request that is not served? */
static bool rank_is_active(const struct pim_dram_channel *channel, uint32_t rank)
{
    for (uint32_t section = 0; section < channel->rules->sections; section++)
        if (channel->section[section].active & rank_banks(channel, rank, section))
            return true;
    return false;
}

/* Fills the choice for REFsb: PRE of its open bank that may be closed first, or REFsb. */
static void choose_same(const struct pim_dram_channel *channel, uint64_t floor, struct choice *choice)
{
    const struct pim_dram_rules *rules = channel->rules;
    const uint32_t first = choice->bank;
    uint32_t bank = first;
    for (uint32_t g = 0; g < rules->groups_per_rank; g++, bank += rules->banks_per_group)
        if (channel->banks[bank].active >= 0)
            return;
    choice->command = PIM_DRAM_REFSB;
    bank = first;
    for (uint32_t g = 0; g < rules->groups_per_rank; g++, bank += rules->banks_per_group) {
        if (channel->banks[bank].row == NO_ROW)
            continue;
        const uint64_t time =
            later(bank_ready(channel, &channel->banks[bank], CLASS_PRE), floor | rules->rising[CLASS_PRE]);
        choice->command = PIM_DRAM_PRE;
        if (time >= choice->time)
            continue;
        choice->time = time;
        choice->bank = (uint8_t)bank;
    }
    if (choice->command == PIM_DRAM_REFSB)
        choice->time = later(refresh_ready(channel, first, PIM_DRAM_REFSB), floor | rules->half);
}

/* The choice for the entry at a place of the queue. */
static struct choice choice_at(const struct pim_dram_channel *channel, uint32_t place, uint64_t floor)
{
    const struct maintenance *entry = maintenance_at(channel, place);
    const struct bank *bank = &channel->banks[entry->bank];
    const struct pim_dram_rules *rules = channel->rules;
    uint64_t rising = floor | rules->half;
    struct choice choice = {
        .time = NEVER, .entry = (int16_t)place, .kind = CHOOSE_MAINTENANCE, .bank = entry->bank};
    if (entry->kind == MAINTAIN_REFRESH) {
        bool open = channel->ranks[entry->rank].open > 0;
        if (rank_is_active(channel, entry->rank))
            return choice;
        choice.command = open ? PIM_DRAM_PREA : PIM_DRAM_REF;
        choice.time = channel->ranks[entry->rank].ready[open ? CLASS_PREA : CLASS_REF];
        floor = open ? floor | rules->rising[CLASS_PREA] : rising;
    } else if (entry->kind == MAINTAIN_REFRESH_SAME) {
        choose_same(channel, floor, &choice);
        return choice;
    } else if (bank->active >= 0) {
        return choice;
    } else if (bank->row != NO_ROW) {
        choice.command = PIM_DRAM_PRE;
        floor |= rules->rising[CLASS_PRE];
        choice.time = bank_ready(channel, bank, CLASS_PRE);
    } else {
        assert(entry->kind == MAINTAIN_REFRESH_BANK && "a closed bank is closed");
        choice.command = PIM_DRAM_REFPB;
        floor = rising;
        choice.time = bank_ready(channel, bank, CLASS_REFPB);
    }
    choice.time = later(choice.time, floor);
    return choice;
}

struct choice maintenance_choice(const struct pim_dram_channel *channel, uint64_t floor)
{
    struct choice first = choice_at(channel, 0, floor);
    if (!channel->rules->policy.independent)
        return first;
    for (uint32_t place = 1; place < channel->maintenance_count && first.time > floor; place++) {
        const struct choice next = choice_at(channel, place, floor);
        first = next.time < first.time ? next : first;
    }
    return first;
}

/* The banks of a section that an entry of the queue is for. */
static uint64_t entry_banks(const struct pim_dram_channel *channel, const struct maintenance *entry,
                            uint32_t section)
{
    if (entry->kind == MAINTAIN_REFRESH)
        return rank_banks(channel, entry->rank, section);
    if (entry->kind == MAINTAIN_REFRESH_SAME)
        return same_banks(channel, entry->bank, section);
    return entry->bank / SECTION_BANKS == section ? section_bit(entry->bank) : 0;
}

/* The banks of the rank of an entry whose requests do not keep away one of the entry for longer than they do
 * one another: all, or those of its stack identifier. */
static uint64_t peer_banks(const struct pim_dram_channel *channel, const struct maintenance *entry,
                           uint32_t section)
{
    const struct pim_dram_rules *rules = channel->rules;
    if (rules->groups_per_stack == rules->groups_per_rank)
        return rank_banks(channel, entry->rank, section);
    if (entry->kind != MAINTAIN_REFRESH_BANK)
        return 0; /* banks of several identifiers */
    const uint32_t banks = rules->groups_per_stack * rules->banks_per_group;
    return banks_from(entry->bank / banks * banks, banks, section);
}

/*
 * The banks of a section whose requests could keep away, one behind the other and for ever, the active one
 * that a refresh waits for: those of the pseudo-channel, but in its own rank (stack identifier) and
 * direction.
 */
static uint64_t rival_banks(const struct pim_dram_channel *channel, const struct maintenance *entry,
                            uint32_t section)
{
    const struct pim_dram_rules *rules = channel->rules;
    const enum class mode = channel->write_mode ? CLASS_WRITE : CLASS_READ;
    bool waits = false, alike = false;
    for (uint32_t i = 0; i < rules->sections; i++)
        for (uint64_t left = entry_banks(channel, entry, i) & channel->section[i].active; left;
             left &= left - 1) {
            waits = true;
            alike |= channel->section[i].banks[pim_lowest_bit(left)].active_class == mode;
        }
    const uint32_t first = entry->rank / rules->ranks_per_pseudo * rules->ranks_per_pseudo;
    uint64_t banks = 0;
    for (uint32_t rank = first; waits && rank < first + rules->ranks_per_pseudo; rank++)
        banks |= rank_banks(channel, rank, section);
    return alike ? banks & ~peer_banks(channel, entry, section) : banks;
}

uint64_t maintenance_banks(const struct pim_dram_channel *channel, uint32_t section)
{
    uint64_t banks = channel->rules->fenced ? UINT64_MAX : 0;
    for (uint32_t place = 0; place < channel->maintenance_count; place++) {
        const struct maintenance *entry = maintenance_at(channel, place);
        banks |= entry_banks(channel, entry, section);
        if (entry->kind != MAINTAIN_CLOSE)
            banks |= rival_banks(channel, entry, section);
    }
    for (uint32_t ranks = channel->held; ranks; ranks &= ranks - 1)
        banks |=
            rank_banks(channel, (uint32_t)pim_lowest_bit(ranks), section) & ~channel->section[section].open;
    return banks;
}

bool maintenance_holds(const struct pim_dram_channel *channel, const struct bank *bank, uint64_t cycle)
{
    for (uint32_t place = 0; place < channel->maintenance_count; place++) {
        const struct maintenance *entry = maintenance_at(channel, place);
        if (entry->kind == MAINTAIN_CLOSE || entry->rank != bank->rank)
            continue;
        const struct choice choice = choice_at(channel, place, channel->row_floor);
        if (choice.time != NEVER && choice.command == refresh_command(channel->rules) &&
            cycle + channel->rules->refresh_behind_act > choice.time)
            return true;
    }
    return false;
}

void maintenance_issued(struct pim_dram_channel *channel, const struct choice *choice)
{
    const uint32_t place = (uint32_t)choice->entry;
    const struct maintenance *entry = maintenance_at(channel, place);
    if (entry->kind == MAINTAIN_CLOSE) {
        dequeue(channel, place);
    } else if (choice->command == refresh_command(channel->rules)) {
        struct rank *rank = &channel->ranks[entry->rank];
        rank->owed--;
        rank->queued = false;
        rank->next_bank = (rank->next_bank + 1) % channel->rules->refresh_banks;
        if (rank->owed > -(int32_t)channel->rules->policy.pull_in)
            channel->owing = true;
        dequeue(channel, place);
    }
    drop_done(channel);
}
