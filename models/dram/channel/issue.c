/* What a command does: its effects on later commands, the state of banks, the request it belongs to. */
#include "models/dram/channel/internal.h"

#include "sim/bits.h"

#include <assert.h>

void record(const struct pim_dram_channel *channel, uint64_t cycle, enum pim_dram_command command,
            uint32_t bank, uint32_t row, uint32_t column)
{
    const struct pim_dram_record entry = {
        cycle, row, column, (uint16_t)channel->index, (uint8_t)command, (uint8_t)bank};
    channel->sink.command(channel->sink.context, &entry);
}

static inline void forbid(uint64_t *ready, const struct effect *effect, uint64_t cycle)
{
    uint64_t until = cycle + effect->cycles;
    if (ready[effect->next] < until)
        ready[effect->next] = until;
}

/* Behind an automatic precharge of `cycle`. */
static void forbid_until(uint64_t *ready, const struct pim_dram_rules *rules, enum class next, uint64_t cycle)
{
    ready[next] = later(ready[next], (cycle + rules->precharge[next]) | rules->rising[next]);
}

/* Effects on ranks other than the command's own. */
static void forbid_other_ranks(struct pim_dram_channel *channel, const struct effects *effects, uint32_t rank,
                               uint64_t cycle)
{
    const struct pim_dram_rules *rules = channel->rules;
    uint32_t pseudo = rank / rules->ranks_per_pseudo;
    for (uint32_t other = 0; other < rules->ranks; other++) {
        enum reach reach = other / rules->ranks_per_pseudo == pseudo ? REACH_PSEUDO_CHANNEL : REACH_CHANNEL;
        if (other == rank)
            continue;
        for (uint32_t i = effects->begin[reach]; i < effects->begin[reach + 1]; i++) {
            const struct effect *effect = &effects->list[i];
            uint64_t *ready = &channel->ranks[other].ready[effect->next];
            *ready = later(*ready, (cycle + effect->cycles) | rules->rising[effect->next]);
        }
    }
}

/* Effects on the bank groups of a rank with several stack identifiers. */
static void forbid_stacks(struct pim_dram_channel *channel, const struct effects *effects,
                          const struct bank *bank, uint64_t cycle)
{
    const struct pim_dram_rules *rules = channel->rules;
    const uint32_t first = bank->rank * rules->groups_per_rank;
    for (uint32_t group = first; group < first + rules->groups_per_rank; group++) {
        const bool own = group / rules->groups_per_stack == bank->group / rules->groups_per_stack;
        const enum reach reach = own ? REACH_STACK : REACH_OTHER_STACK;
        for (uint32_t i = effects->begin[reach]; i < effects->begin[reach + 1]; i++) {
            const struct effect *effect = &effects->list[i];
            uint64_t *ready = &channel->groups[group].ready[effect->next];
            *ready = later(*ready, (cycle + effect->cycles) | rules->rising[effect->next]);
        }
    }
}

/* Behind a PRE or PREA that may be at a falling edge: what issues at rising edges alone counts from
 * there. */
static void forbid_edges(struct pim_dram_channel *channel, const struct effects *effects, struct bank *bank,
                         uint64_t cycle)
{
    const struct {
        enum reach reach;
        uint64_t *ready;
    } own[] = {{REACH_BANK, bank->ready},
               {REACH_GROUP, channel->groups[bank->group].ready},
               {REACH_RANK, channel->ranks[bank->rank].ready}};
    for (unsigned k = 0; k < 3; k++)
        for (uint32_t i = effects->begin[own[k].reach]; i < effects->begin[own[k].reach + 1]; i++) {
            const struct effect *effect = &effects->list[i];
            uint64_t *ready = &own[k].ready[effect->next];
            *ready = later(*ready, (cycle + effect->cycles) | channel->rules->rising[effect->next]);
        }
    if (effects->begin[REACH_STACK] < effects->begin[REACH_RANK])
        forbid_stacks(channel, effects, bank, cycle);
    /* one that holds the bus for several cycles keeps the other ranks away, too */
    if (channel->rules->ranks > 1 && effects->begin[REACH_PSEUDO_CHANNEL] < effects->begin[REACHES])
        forbid_other_ranks(channel, effects, bank->rank, cycle);
}

/* Makes later commands wait; `bank` is the command's bank, or any of the rank for a command to a rank. */
void forbid_later(struct pim_dram_channel *channel, enum pim_dram_command command, struct bank *bank,
                  uint64_t cycle)
{
    const struct effects *effects = &channel->rules->effects[command];
    uint32_t i = 0;
    for (; i < effects->begin[REACH_GROUP]; i++)
        forbid(bank->ready, &effects->list[i], cycle);
    for (; i < effects->begin[REACH_STACK]; i++)
        forbid(channel->groups[bank->group].ready, &effects->list[i], cycle);
    if (i < effects->begin[REACH_RANK])
        forbid_stacks(channel, effects, bank, cycle);
    for (i = effects->begin[REACH_RANK]; i < effects->begin[REACH_PSEUDO_CHANNEL]; i++)
        forbid(channel->ranks[bank->rank].ready, &effects->list[i], cycle);
    if (channel->rules->ranks > 1 && i < effects->begin[REACHES])
        forbid_other_ranks(channel, effects, bank->rank, cycle);
}

/* REFsb: the same for the other banks of its number, and their groups. */
static void forbid_same_banks(struct pim_dram_channel *channel, uint32_t first, uint64_t cycle)
{
    const struct pim_dram_rules *rules = channel->rules;
    const struct effects *effects = &rules->effects[PIM_DRAM_REFSB];
    for (uint32_t g = 1; g < rules->groups_per_rank; g++) {
        struct bank *bank = &channel->banks[first + g * rules->banks_per_group];
        for (uint32_t i = 0; i < effects->begin[REACH_GROUP]; i++)
            forbid(bank->ready, &effects->list[i], cycle);
        for (uint32_t i = effects->begin[REACH_GROUP]; i < effects->begin[REACH_STACK]; i++)
            forbid(channel->groups[bank->group].ready, &effects->list[i], cycle);
    }
}

static inline void forbid_behind_row(struct pim_dram_channel *channel, enum pim_dram_command command,
                                     struct bank *bank, uint64_t cycle)
{
    const bool closes = command == PIM_DRAM_PRE || command == PIM_DRAM_PREA;
    if (closes && channel->rules->half)
        forbid_edges(channel, &channel->rules->effects[command], bank, cycle);
    else
        forbid_later(channel, command, bank, cycle);
}

/* An interval of activity of a rank begins; intervals come in rising order of their begin. */
static void activity_begin(const struct pim_dram_channel *channel, struct rank *rank, uint64_t cycle)
{
    if (rank->holders++ > 0)
        return;
    if (cycle >= rank->until) {
        rank->active_cycles = rank_active_cycles(rank, channel->end);
        rank->since = cycle;
    }
    rank->until = NEVER;
}

static void activity_end(struct rank *rank, uint64_t cycle)
{
    rank->latest_end = later(rank->latest_end, cycle);
    if (--rank->holders == 0)
        rank->until = rank->latest_end;
}

/* The oldest request from `entry` on that needs the row, or needs another one. */
static inline int16_t find(const struct pim_dram_channel *channel, int16_t entry, uint32_t row, bool same)
{
    while (entry >= 0 && (channel->links[entry].row == row) != same)
        entry = channel->links[entry].next;
    return entry;
}

static void set_hit(struct pim_dram_channel *channel, struct waiting *waiting, unsigned write, unsigned bank,
                    int16_t entry)
{
    uint64_t *hits = &channel->banks[bank].section->hit[write];
    waiting->hit = entry;
    if (entry >= 0) {
        waiting->hit_age = channel->entries[entry].age;
        *hits |= section_bit(bank);
    } else {
        *hits &= ~section_bit(bank);
    }
}

static void set_other(struct pim_dram_channel *channel, struct waiting *waiting, unsigned write,
                      unsigned bank, int16_t entry)
{
    uint64_t *others = &channel->banks[bank].section->other[write];
    waiting->other = entry;
    if (entry >= 0) {
        waiting->other_age = channel->entries[entry].age;
        *others |= section_bit(bank);
    } else {
        *others &= ~section_bit(bank);
    }
}

void waiting_sort(struct pim_dram_channel *channel, struct waiting *waiting, unsigned write, unsigned bank,
                  uint32_t row)
{
    int16_t first = waiting->first, next = channel->links[first].next;
    bool hits = channel->links[first].row == row;
    next = find(channel, next, row, !hits);
    set_hit(channel, waiting, write, bank, hits ? first : next);
    set_other(channel, waiting, write, bank, hits ? next : first);
}

static void bank_open(struct pim_dram_channel *channel, struct bank *bank, uint32_t number, uint32_t row,
                      uint64_t cycle)
{
    bank->row = row;
    bank->accesses = 0;
    bank->used = bank->opened = cycle;
    bank->section->open |= section_bit(number);
    for (unsigned i = 0; i < 2; i++) {
        struct waiting *waiting = &bank->waiting[i];
        if (waiting->first >= 0)
            waiting_sort(channel, waiting, i, number, row);
    }
    struct rank *rank = &channel->ranks[bank->rank];
    rank->open++;
    activity_begin(channel, rank, cycle);
    if (channel->rules->four_activates) {
        rank->activates[rank->activate] = cycle;
        rank->activate = (rank->activate + 1) & 3;
        /* The ring starts out with zeros, and no ACT comes before cycle 1. */
        if (rank->activates[rank->activate] > 0)
            rank->ready[CLASS_ACT] = later(rank->ready[CLASS_ACT],
                                           rank->activates[rank->activate] + channel->rules->four_activates);
    }
}

/* The row is closed from `cycle` on. */
static void bank_close(struct pim_dram_channel *channel, struct bank *bank, uint32_t number, uint64_t cycle)
{
    assert(bank->row != NO_ROW && bank->active == NO_ENTRY);
    bank->row = NO_ROW;
    bank->closing = false;
    struct section *section = bank->section;
    const uint64_t others = ~section_bit(number);
    section->open &= others;
    for (unsigned i = 0; i < 2; i++) {
        bank->waiting[i].hit = bank->waiting[i].other = NO_ENTRY;
        section->hit[i] &= others;
        section->other[i] &= others;
    }
    channel->counters.precharged_banks++;
    channel->ranks[bank->rank].open--;
    activity_end(&channel->ranks[bank->rank], cycle);
}

void waiting_add(struct pim_dram_channel *channel, int16_t number)
{
    const struct entry *entry = &channel->entries[number];
    struct link *link = &channel->links[number];
    struct bank *bank = &channel->banks[entry->bank];
    struct waiting *waiting = &bank->waiting[entry->write];
    link->next = NO_ENTRY;
    link->previous = waiting->last;
    if (waiting->last >= 0) {
        channel->links[waiting->last].next = number;
    } else {
        waiting->first = number;
        waiting->first_age = entry->age;
    }
    waiting->last = number;
    bank->section->waiting[entry->write] |= section_bit(entry->bank);
    channel->waiting_count[entry->write]++;
    if (entry->write)
        channel->filter[filter_index(entry->bank, link->row, entry->column)]++;
    if (bank->row == NO_ROW)
        return;
    if (bank->row == link->row && waiting->hit < 0)
        set_hit(channel, waiting, entry->write, entry->bank, number);
    else if (bank->row != link->row && waiting->other < 0)
        set_other(channel, waiting, entry->write, entry->bank, number);
}

void waiting_remove(struct pim_dram_channel *channel, int16_t number)
{
    const struct entry *entry = &channel->entries[number];
    const struct link *link = &channel->links[number];
    struct bank *bank = &channel->banks[entry->bank];
    struct waiting *waiting = &bank->waiting[entry->write];
    if (link->previous >= 0) {
        channel->links[link->previous].next = link->next;
    } else {
        waiting->first = link->next;
        if (link->next >= 0)
            waiting->first_age = channel->entries[link->next].age;
    }
    if (link->next >= 0)
        channel->links[link->next].previous = link->previous;
    else
        waiting->last = link->previous;
    if (waiting->first < 0)
        bank->section->waiting[entry->write] &= ~section_bit(entry->bank);
    channel->waiting_count[entry->write]--;
    if (entry->write)
        channel->filter[filter_index(entry->bank, link->row, entry->column)]--;
    if (bank->row != NO_ROW && waiting->hit == number)
        set_hit(channel, waiting, entry->write, entry->bank, find(channel, link->next, bank->row, true));
}

/* The request with the least age above `age` (or of any age, for NEVER); NULL: none. */
static struct entry *next_younger(struct pim_dram_channel *channel, uint64_t age)
{
    struct entry *found = NULL;
    for (uint32_t i = 0; i < channel->rules->ranks * channel->rules->banks_per_rank; i++) {
        const struct bank *bank = &channel->banks[i];
        const int16_t starts[] = {bank->active, bank->waiting[0].first, bank->waiting[1].first};
        for (unsigned j = 0; j < 3; j++)
            for (int16_t at = starts[j]; at >= 0; at = j > 0 ? channel->links[at].next : NO_ENTRY) {
                struct entry *entry = &channel->entries[at];
                if (entry->age + 1 > age + 1 && (!found || entry->age < found->age))
                    found = entry;
            }
    }
    return found;
}

void waiting_renumber(struct pim_dram_channel *channel)
{
    uint64_t last = NEVER;
    struct entry *entry;
    /* A new age is never above the old one, which is never above `last`: no request is found twice. */
    for (channel->next_age = 0; (entry = next_younger(channel, last)) != NULL; channel->next_age++) {
        last = entry->age;
        entry->age = channel->next_age;
    }
    for (uint32_t i = 0; i < channel->rules->ranks * channel->rules->banks_per_rank; i++) {
        struct bank *bank = &channel->banks[i];
        if (bank->active >= 0)
            bank->active_age = channel->entries[bank->active].age;
        for (unsigned j = 0; j < 2; j++) {
            struct waiting *waiting = &bank->waiting[j];
            if (waiting->first >= 0)
                waiting->first_age = channel->entries[waiting->first].age;
            if (waiting->hit >= 0)
                waiting->hit_age = channel->entries[waiting->hit].age;
            if (waiting->other >= 0)
                waiting->other_age = channel->entries[waiting->other].age;
        }
    }
    channel->planned = false;
}

/* The row closes by itself behind the column command of `cycle`. Distances from RDA and WRA count from there;
 * where tRAS keeps the row open longer, what needs the bank idle waits for tRP behind tRAS. */
static void close_behind(struct pim_dram_channel *channel, struct bank *bank, const struct entry *entry,
                         uint64_t cycle)
{
    const struct pim_dram_rules *rules = channel->rules;
    const uint64_t at = cycle + (entry->write ? rules->write_close : rules->read_close);
    const uint64_t restored = bank->opened + rules->activate_close;
    bank_close(channel, bank, entry->bank, later(at, restored));
    if (restored <= at)
        return;
    for (unsigned next = 0; next < CLASSES; next++)
        if (rules->precharge[next] > 0) /* commands to a rank are kept away from there */
            forbid_until(next == CLASS_REF ? channel->ranks[bank->rank].ready : bank->ready, rules,
                         (enum class)next, restored);
}

static void issue_column(struct pim_dram_channel *channel, const struct choice *choice)
{
    struct entry *entry = &channel->entries[choice->entry];
    struct bank *bank = &channel->banks[entry->bank];
    const struct pim_dram_rules *rules = channel->rules;
    uint64_t cycle = choice->time;
    bool opened_for_other = bank->active >= 0 && bank->active != choice->entry;
    bool close = rules->policy.page == PIM_DRAM_PAGE_CLOSED && bank->accesses >= rules->policy.page_cap &&
                 !opened_for_other;
    enum pim_dram_command command = (enum pim_dram_command)(choice->command + (close ? 2 : 0));
    first_command(entry, cycle, &channel->counters.row_hits);
    bank->accesses++;
    bank->used = cycle;
    if (bank->active == choice->entry) {
        bank->active = NO_ENTRY;
        bank->section->active &= ~section_bit(entry->bank);
    } else {
        waiting_remove(channel, choice->entry);
    }
    forbid_later(channel, command, bank, cycle);
    channel->counters.commands[command]++;
    if (channel->sink.command)
        record(channel, cycle, command, entry->bank, channel->links[choice->entry].row, entry->column);
    if (close)
        close_behind(channel, bank, entry, cycle);
    uint64_t completed = cycle + (entry->write ? rules->write_latency : rules->read_latency);
    channel->last_completion = later(channel->last_completion, completed);
    channel->ranks[bank->rank].pending--;
    channel->free_entries[channel->free_count++] = choice->entry;
    channel->sink.served(channel->sink.context, entry->request, entry->first_command, completed);
}

/* ACT or PRE for a request. */
static void issue_row(struct pim_dram_channel *channel, const struct choice *choice)
{
    struct entry *entry = &channel->entries[choice->entry];
    struct bank *bank = &channel->banks[entry->bank];
    uint64_t cycle = choice->time;
    enum pim_dram_command command = (enum pim_dram_command)choice->command;
    forbid_behind_row(channel, command, bank, cycle);
    channel->counters.commands[command]++;
    if (channel->sink.command)
        record(channel, cycle, command, entry->bank, channel->links[choice->entry].row, entry->column);
    if (command == PIM_DRAM_PRE) {
        first_command(entry, cycle, &channel->counters.row_conflicts);
        bank_close(channel, bank, entry->bank, cycle);
        return;
    }
    first_command(entry, cycle, &channel->counters.row_misses);
    waiting_remove(channel, choice->entry);
    bank->active = choice->entry;
    bank->active_age = entry->age;
    bank->active_class = entry->write ? CLASS_WRITE : CLASS_READ;
    bank->section->active |= section_bit(entry->bank);
    bank_open(channel, bank, entry->bank, channel->links[choice->entry].row, cycle);
}

static void issue_maintenance(struct pim_dram_channel *channel, const struct choice *choice)
{
    struct bank *bank = &channel->banks[choice->bank];
    enum pim_dram_command command = (enum pim_dram_command)choice->command;
    uint64_t cycle = choice->time;
    forbid_behind_row(channel, command, bank, cycle);
    if (command == PIM_DRAM_REFSB)
        forbid_same_banks(channel, choice->bank, cycle);
    channel->counters.commands[command]++;
    if (channel->sink.command)
        record(channel, cycle, command, choice->bank, NO_ROW, NO_ROW);
    struct rank *rank = &channel->ranks[bank->rank];
    if (command == PIM_DRAM_PRE) {
        bank_close(channel, bank, choice->bank, cycle);
    } else if (command == PIM_DRAM_PREA) {
        uint32_t first = bank->rank * channel->rules->banks_per_rank;
        for (uint32_t i = first; i < first + channel->rules->banks_per_rank; i++)
            if (channel->banks[i].row != NO_ROW)
                bank_close(channel, &channel->banks[i], i, cycle);
    } else {
        const uint32_t *parameter = channel->rules->specification.parameter;
        activity_begin(channel, rank, cycle);
        activity_end(rank, cycle + parameter[command == PIM_DRAM_REF ? PIM_DRAM_T_RFC : PIM_DRAM_T_RFCPB]);
    }
    maintenance_issued(channel, choice);
}

void channel_issue(struct pim_dram_channel *channel, const struct choice *choice)
{
    if (choice->kind == CHOOSE_COLUMN)
        issue_column(channel, choice);
    else if (choice->kind == CHOOSE_ROW)
        issue_row(channel, choice);
    else if (choice->kind == CHOOSE_MAINTENANCE)
        issue_maintenance(channel, choice);
    else
        low_power_issue(channel, choice);
}
