/*
 * Refresh and page policy: commands that no request asks for. They wait in one queue, in the order in which
 * they were asked for; while it is not empty, no waiting request is looked at.
 */
#include "models/dram/channel_internal.h"

#include "sim/bits.h"

#include <assert.h>

static void enqueue(struct pim_dram_channel *channel, enum maintenance_kind kind, uint32_t rank,
                    uint32_t bank)
{
    assert(channel->maintenance_count <= channel->maintenance_mask);
    uint32_t place = (channel->maintenance_first + channel->maintenance_count++) & channel->maintenance_mask;
    channel->maintenance[place] = (struct maintenance){(uint8_t)kind, (uint8_t)rank, (uint8_t)bank};
}

static void dequeue(struct pim_dram_channel *channel)
{
    channel->maintenance_first = (channel->maintenance_first + 1) & channel->maintenance_mask;
    channel->maintenance_count--;
}

void maintenance_queue_owed(struct pim_dram_channel *channel)
{
    const struct pim_dram_rules *rules = channel->rules;
    channel->owing = false;
    for (uint32_t i = 0; i < rules->ranks; i++) {
        struct rank *rank = &channel->ranks[i];
        if (rank->owed == 0 || rank->queued)
            continue;
        if (rank->owed <= rules->policy.postpone && rank->pending > 0) {
            channel->owing = true;
            continue;
        }
        rank->queued = true;
        uint32_t first = i * rules->banks_per_rank;
        if (rules->policy.per_bank_refresh)
            enqueue(channel, MAINTAIN_REFRESH_BANK, i, first + rank->next_bank);
        else
            enqueue(channel, MAINTAIN_REFRESH, i, first);
    }
}

void maintenance_refresh_due(struct pim_dram_channel *channel)
{
    for (uint32_t i = 0; i < channel->rules->ranks; i++)
        channel->ranks[i].owed++;
    channel->refresh_due += channel->rules->refresh_interval;
    maintenance_queue_owed(channel);
}

static bool is_idle(const struct pim_dram_channel *channel)
{
    if (channel->open_banks || channel->maintenance_count > 0 || channel->owing)
        return false;
    for (uint32_t i = 0; i < channel->rules->ranks; i++)
        if (channel->ranks[i].pending > 0)
            return false;
    return true;
}

/*
 * While nothing waits and every bank is closed, each due refresh of a rank is issued in the cycle in which it
 * is due (one rank a cycle), because tREFI is longer than tRFC. All but the last ones are therefore only
 * counted; the last ones are planned, so that what they forbid is known.
 */
void maintenance_skip_idle(struct pim_dram_channel *channel, uint64_t until)
{
    const struct pim_dram_rules *rules = channel->rules;
    uint64_t interval = rules->refresh_interval;
    if (channel->sink.command || until < channel->refresh_due + interval || !is_idle(channel))
        return;
    bool per_bank = rules->policy.per_bank_refresh;
    enum pim_dram_command command = per_bank ? PIM_DRAM_REFPB : PIM_DRAM_REF;
    uint64_t busy = rules->specification.parameter[per_bank ? PIM_DRAM_T_RFCPB : PIM_DRAM_T_RFC];
    uint64_t kept = busy / interval + 1;
    uint64_t due = (until - channel->refresh_due) / interval + 1;
    for (uint32_t i = 0; i < rules->ranks; i++) {
        const struct rank *rank = &channel->ranks[i];
        const struct bank *bank = &channel->banks[i * rules->banks_per_rank + rank->next_bank];
        if (bank_ready(channel, bank, per_bank ? CLASS_REFPB : CLASS_REF) > channel->refresh_due ||
            rank->until > channel->refresh_due)
            return; /* the first of them might wait: plan it */
    }
    /* Per-bank refreshes that overlap would not add up to active cycles. */
    if (due <= kept || busy > interval)
        return;
    uint64_t skipped = due - kept;
    for (uint32_t i = 0; i < rules->ranks; i++) {
        struct rank *rank = &channel->ranks[i];
        rank->active_cycles += skipped * busy;
        if (per_bank)
            rank->next_bank = (uint32_t)((rank->next_bank + skipped) % rules->banks_per_rank);
    }
    channel->counters.commands[command] += skipped * rules->ranks;
    channel->counters.skipped_refreshes += skipped * rules->ranks;
    channel->refresh_due += skipped * interval;
}

uint64_t maintenance_close_time(const struct pim_dram_channel *channel, const struct bank *bank)
{
    const struct pim_dram_policy *policy = &channel->rules->policy;
    if (bank->closing || bank->active >= 0 || bank->accesses == 0)
        return NEVER;
    if (policy->page == PIM_DRAM_PAGE_CLOSED)
        return bank->accesses >= policy->page_cap ? bank_ready(channel, bank, CLASS_PRE) : NEVER;
    return later(bank->used + policy->page_timeout, bank_ready(channel, bank, CLASS_PRE));
}

void maintenance_queue_closings(struct pim_dram_channel *channel, uint64_t cycle)
{
    for (uint64_t banks = channel->open_banks; banks; banks &= banks - 1) {
        unsigned number = pim_lowest_bit(banks);
        struct bank *bank = &channel->banks[number];
        if (maintenance_close_time(channel, bank) > cycle)
            continue;
        bank->closing = true;
        enqueue(channel, MAINTAIN_CLOSE, bank->rank, number);
    }
}

/* Forgets heads whose bank is closed already. */
static void drop_done(struct pim_dram_channel *channel)
{
    while (channel->maintenance_count > 0 && maintenance_head(channel)->kind == MAINTAIN_CLOSE &&
           channel->banks[maintenance_head(channel)->bank].row == NO_ROW)
        dequeue(channel);
}

struct choice maintenance_choice(const struct pim_dram_channel *channel, uint64_t floor)
{
    const struct maintenance *head = maintenance_head(channel);
    const struct bank *bank = &channel->banks[head->bank];
    const struct pim_dram_rules *rules = channel->rules;
    struct choice choice = {.time = NEVER, .entry = NO_ENTRY, .kind = CHOOSE_MAINTENANCE, .bank = head->bank};
    if (head->kind == MAINTAIN_REFRESH) {
        uint64_t mask = (UINT64_MAX >> (64 - rules->banks_per_rank)) << (head->rank * rules->banks_per_rank);
        bool open = channel->ranks[head->rank].open > 0;
        if (channel->active_banks & mask)
            return choice;
        choice.command = open ? PIM_DRAM_PREA : PIM_DRAM_REF;
        choice.time = channel->ranks[head->rank].ready[open ? CLASS_PREA : CLASS_REF];
    } else if (bank->active >= 0) {
        return choice;
    } else if (bank->row != NO_ROW) {
        choice.command = PIM_DRAM_PRE;
        choice.time = bank_ready(channel, bank, CLASS_PRE);
    } else {
        choice.command = PIM_DRAM_REFPB;
        choice.time = bank_ready(channel, bank, CLASS_REFPB);
    }
    choice.time = later(choice.time, floor);
    return choice;
}

void maintenance_issued(struct pim_dram_channel *channel, enum pim_dram_command command)
{
    const struct maintenance *head = maintenance_head(channel);
    if (head->kind == MAINTAIN_CLOSE) {
        dequeue(channel);
    } else if (command == PIM_DRAM_REF || command == PIM_DRAM_REFPB) {
        struct rank *rank = &channel->ranks[head->rank];
        rank->owed--;
        rank->queued = false;
        rank->next_bank = (rank->next_bank + 1) % channel->rules->banks_per_rank;
        if (rank->owed > 0)
            channel->owing = true;
        dequeue(channel);
    }
    drop_done(channel);
}
