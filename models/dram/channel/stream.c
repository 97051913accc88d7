/*
 * A stream: all waiting requests of a direction are for one bank, the oldest of them hit its open row, and
 * what comes next is for that bank as well. Then the rules leave no choice: column commands follow one
 * another with a fixed distance, and only the last of them matters for what comes behind. So no plan is made
 * for each, and no effect applied but that of the last.
 */
#include "models/dram/channel/internal.h"

struct stream {
    struct pim_dram_channel *channel;
    const struct pim_dram_run *run;
    const struct bank *bank;
    struct waiting *waiting;
    uint64_t next;     /* cycle of the next column command */
    uint32_t served;   /* column commands so far */
    uint32_t step;     /* their distance */
    uint32_t latency;  /* from a command to the end of its data */
    uint32_t at_least; /* so many requests stay: with fewer, the other direction might have its turn */
    uint32_t room;     /* of the queue */
    uint32_t in_queue;
};

/* Has the next column command its turn, before a refresh and before another row? */
static inline bool may_serve(const struct stream *s)
{
    return s->next < s->channel->refresh_due && s->in_queue > s->at_least &&
           s->channel->links[s->waiting->first].row == s->bank->row;
}

static inline void serve(struct stream *s)
{
    struct pim_dram_channel *channel = s->channel;
    const int16_t number = s->waiting->first;
    const struct entry *entry = &channel->entries[number];
    const struct link *link = &channel->links[number];
    uint64_t first_command = entry->first_command;
    if (first_command == NEVER) {
        first_command = s->next;
        channel->counters.row_hits++;
    }
    if (entry->write)
        channel->filter[filter_index(entry->bank, link->row, entry->column)]--;
    if (channel->sink.command)
        record(channel, s->next, entry->write ? PIM_DRAM_WR : PIM_DRAM_RD, entry->bank, link->row,
               entry->column);
    channel->sink.served(channel->sink.context, entry->request, first_command, s->next + s->latency);
    s->waiting->first = link->next;
    channel->links[link->next].previous = NO_ENTRY;
    channel->free_entries[channel->free_count++] = number;
    s->in_queue--;
    s->served++;
    s->next += s->step;
}

/* Puts access `index` of the run at the end of the bank's list, which is not empty. */
static inline void accept(struct stream *s, uint32_t index)
{
    struct pim_dram_channel *channel = s->channel;
    const struct pim_dram_run *run = s->run;
    const int16_t number = channel->free_entries[--channel->free_count];
    struct entry *entry = &channel->entries[number];
    channel->links[s->waiting->last].next = number;
    channel->links[number] = (struct link){run->location.row, NO_ENTRY, s->waiting->last};
    *entry = (struct entry){.age = channel->next_age++,
                            .first_command = NEVER,
                            .request = run->request + (uint64_t)index * run->stride,
                            .column = run->location.column + index,
                            .bank = (uint8_t)run->location.bank,
                            .write = run->write};
    if (run->write)
        channel->filter[filter_index(entry->bank, run->location.row, entry->column)]++;
    s->waiting->last = number;
    s->in_queue++;
}

/* Accesses of the run are handed over from `arrival` on, one in a cycle; returns how many, and in `accepted`
 * the cycle of the last one. */
static uint32_t flow(struct stream *s, uint64_t arrival, uint64_t *accepted)
{
    const struct pim_dram_run *run = s->run;
    struct pim_dram_location location = run->location;
    for (uint32_t done = 0;; done++, location.column++, arrival++) {
        /* The commands of that cycle come before the request. */
        while (s->next <= arrival && may_serve(s))
            serve(s);
        /* An access that a waiting write answers or absorbs does not wait. */
        if (done == run->count || s->next <= arrival || arrival >= s->channel->refresh_due ||
            (s->channel->waiting_count[1] > 0 && write_waits(s->channel, &location)))
            return done;
        if (s->in_queue == s->room) {
            if (!may_serve(s))
                return done;
            arrival = s->next;
            serve(s);
        }
        accept(s, done);
        *accepted = arrival;
        if (run->arrived && (done == 0 || run->stride))
            run->arrived[done] = arrival;
    }
}

/* Are all requests of a direction that wait in the section of a bank (there is one) for this bank? */
static inline bool waits_alone(const struct pim_dram_channel *channel, bool write, uint32_t bank)
{
    return channel->section[bank / SECTION_BANKS].waiting[write] == section_bit(bank);
}

/* Does none wait in the other sections? */
static bool others_are_free(const struct pim_dram_channel *channel, bool write, uint32_t bank)
{
    for (uint32_t i = 0; i < channel->rules->sections; i++)
        if (i != bank / SECTION_BANKS && channel->section[i].waiting[write])
            return false;
    return true;
}

/* Is there nothing but the stream to choose from, and does the mode stay while it lasts? */
static bool streams(const struct pim_dram_channel *channel, const struct pim_dram_run *run, uint64_t next)
{
    const bool write = run->write;
    const uint32_t bank = run->location.bank;
    const struct waiting *waiting = &channel->banks[bank].waiting[write];
    /* Refresh, the page policy, and rows that were opened for a request have their turn before. */
    return waits_alone(channel, write, bank) && others_are_free(channel, write, bank) &&
           waiting->hit == waiting->first && !any_active(channel, channel->rules->sections) &&
           channel->write_mode == write && channel->maintenance_count == 0 && !channel->owing &&
           (channel->rules->plain || low_power_streams(channel, write, next)) && !write_mode_changes(channel);
}

/* PRE for a request behind the hits must not be ready before the next hit is. In the same cycle the hit,
 * which is older, goes first. */
static bool closes_late(const struct stream *s)
{
    const struct pim_dram_rules *rules = s->channel->rules;
    if (s->waiting->other < 0 && s->run->location.row == s->bank->row)
        return true;
    return s->step <= (s->run->write ? rules->write_close : rules->read_close) &&
           later(bank_ready(s->channel, s->bank, CLASS_PRE), s->channel->row_floor) >= s->next;
}

/* What the column commands and the new requests change, all at once. */
static void conclude(struct stream *s, struct bank *bank, uint64_t accepted)
{
    struct pim_dram_channel *channel = s->channel;
    const bool write = s->run->write;
    const enum pim_dram_command command = write ? PIM_DRAM_WR : PIM_DRAM_RD;
    struct rank *rank = &channel->ranks[bank->rank];
    rank->pending = rank->pending - channel->waiting_count[write] + s->in_queue;
    channel->waiting_count[write] = s->in_queue;
    s->waiting->first_age = channel->entries[s->waiting->first].age;
    waiting_sort(channel, s->waiting, write, s->run->location.bank, bank->row);
    channel->planned = false;
    uint64_t last = accepted;
    if (s->served > 0) {
        const uint64_t cycle = s->next - s->step;
        last = later(last, cycle);
        bank->accesses += s->served;
        bank->used = cycle;
        channel->counters.commands[command] += s->served;
        channel->last_completion = later(channel->last_completion, cycle + s->latency);
        forbid_later(channel, command, bank, cycle);
        if (channel->rules->low_power)
            low_power_column(channel, cycle + s->latency);
    }
    channel->column_floor = later(channel->column_floor, last + 1);
    channel->row_floor = later(channel->row_floor, last + 1);
}

uint32_t pim_dram_channel_stream(struct pim_dram_channel *channel, const struct pim_dram_run *run,
                                 uint64_t *cycle)
{
    const bool write = run->write;
    const struct pim_dram_rules *rules = channel->rules;
    struct bank *bank = &channel->banks[run->location.bank];
    /* Looked at before the cycles up to now are executed, because it is cheap and mostly says no. */
    if (!waits_alone(channel, write, run->location.bank))
        return 0;
    pim_dram_channel_advance(channel, *cycle);
    const uint64_t next = later(bank_ready(channel, bank, write ? CLASS_WRITE : CLASS_READ),
                                channel->column_floor | rules->half);
    if (!streams(channel, run, next))
        return 0;
    struct stream s = {
        .channel = channel,
        .run = run,
        .bank = bank,
        .waiting = &bank->waiting[write],
        .next = next,
        .step = rules->column_step[write],
        .latency = write ? rules->write_latency : rules->read_latency,
        .at_least = write && channel->waiting_count[0] > 0 ? rules->policy.write_low + 1 : 1,
        .room = write ? rules->policy.write_queue : rules->policy.read_queue,
        .in_queue = channel->waiting_count[write],
    };
    if (!closes_late(&s))
        return 0;
    if ((channel->next_age + run->count) >> AGE_BITS)
        waiting_renumber(channel);
    uint64_t accepted = *cycle;
    const uint32_t done = flow(&s, *cycle, &accepted);
    if (done > 0 || s.served > 0)
        conclude(&s, bank, accepted);
    *cycle = done > 0 ? accepted : *cycle;
    return done;
}
