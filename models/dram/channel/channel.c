/* A channel from outside: requests in, cycles executed, counters out. */
#include "models/dram/channel/internal.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Room for `count` items of `size` bytes, in whole lines of the cache. */
static size_t room(size_t count, size_t size)
{
    return (count * size + LINE_BYTES - 1) / LINE_BYTES * LINE_BYTES;
}

/* Cuts it from the block. */
static void *cut(char **block, size_t count, size_t size)
{
    void *items = *block;
    *block += room(count, size);
    return items;
}

struct pim_dram_channel *pim_dram_channel_create(const struct pim_dram_rules *rules, uint32_t index,
                                                 const struct pim_dram_sink *sink)
{
    const size_t banks = (size_t)rules->ranks * rules->banks_per_rank,
                 groups = banks / rules->banks_per_group;
    const size_t entries = (size_t)rules->policy.read_queue + rules->policy.write_queue + banks;
    size_t maintenance = 1;
    while (maintenance <= banks + rules->ranks)
        maintenance *= 2;
    const size_t bytes = sizeof(struct pim_dram_channel) + room(banks, sizeof(struct bank)) +
                         room(groups, sizeof(struct node)) + room(rules->ranks, sizeof(struct rank)) +
                         room(entries, sizeof(struct entry)) + room(entries, sizeof(struct link)) +
                         room(entries, sizeof(int16_t)) + room(maintenance, sizeof(struct maintenance));
    struct pim_dram_channel *channel = aligned_alloc(LINE_BYTES, bytes);
    if (!channel)
        return NULL;
    memset(channel, 0, bytes);
    char *block = (char *)(channel + 1);
    channel->rules = rules;
    channel->sink = *sink;
    channel->index = index;
    channel->banks = cut(&block, banks, sizeof(struct bank));
    channel->groups = cut(&block, groups, sizeof(struct node));
    channel->ranks = cut(&block, rules->ranks, sizeof(struct rank));
    channel->entries = cut(&block, entries, sizeof(struct entry));
    channel->links = cut(&block, entries, sizeof(struct link));
    channel->free_entries = cut(&block, entries, sizeof(int16_t));
    channel->maintenance = cut(&block, maintenance, sizeof(struct maintenance));
    channel->maintenance_mask = (uint32_t)maintenance - 1;
    channel->column_floor = channel->row_floor = 1;
    channel->column.time = channel->row.time = channel->close_time = NEVER;
    channel->low_power.half_activated = NO_ENTRY;
    channel->refresh_due = rules->policy.refresh ? rules->refresh_interval : NEVER;
    channel->end = NEVER;
    channel->owing = rules->policy.refresh && rules->policy.pull_in > 0;
    while (channel->free_count < entries) {
        channel->free_entries[channel->free_count] = (int16_t)(entries - 1 - channel->free_count);
        channel->free_count++;
    }
    static const struct bank closed = {
        .waiting = {{-1, -1, -1, -1, 0, 0, 0}, {-1, -1, -1, -1, 0, 0, 0}}, .row = NO_ROW, .active = NO_ENTRY};
    for (size_t i = 0; i < banks; i++) {
        channel->banks[i] = closed;
        channel->banks[i].section = &channel->section[i / SECTION_BANKS];
        channel->banks[i].section->banks = &channel->banks[i / SECTION_BANKS * SECTION_BANKS];
        channel->banks[i].rank = (uint8_t)(i / rules->banks_per_rank);
        channel->banks[i].group = (uint8_t)(i / rules->banks_per_group);
    }
    return channel;
}

void pim_dram_channel_destroy(struct pim_dram_channel *channel)
{
    free(channel);
}

void pim_dram_channel_prefetch(const struct pim_dram_channel *channel, uint32_t bank)
{
    /* Addresses alone: what lies in the channel is not there yet. Banks come first behind it; where there is
       a single one its group and its rank follow. */
    enum { LINES = 7 };
    const char *head = (const char *)channel;
    const char *state = (const char *)(channel + 1) + (size_t)bank * sizeof(struct bank);
    for (int line = 0; line < LINES; line++) {
        PIM_PREFETCH(head + line * LINE_BYTES);
        PIM_PREFETCH(state + line * LINE_BYTES);
    }
}

static void raise_floors(struct pim_dram_channel *channel, uint64_t cycle)
{
    channel->column_floor = later(channel->column_floor, cycle);
    channel->row_floor = later(channel->row_floor, cycle);
}

/* Issues the command that the plan has for `time`. */
static void issue_planned(struct pim_dram_channel *channel)
{
    bool column = channel->column.time <= channel->row.time;
    struct choice choice = column ? channel->column : channel->row;
    if (column) {
        channel->column_floor = choice.time + 1;
        /* With split buses the row bus still has its turn in this cycle. */
        channel->row_floor =
            later(channel->row_floor, choice.time + !channel->rules->specification.split_command_bus);
    } else {
        raise_floors(channel, choice.time + 1);
    }
    channel->planned = false;
    channel_issue(channel, &choice);
}

/*
 * The next step not after `until`: due maintenance or a command. Returns false when there is none; then all
 * cycles up to `until` are over but for the rise of the floors.
 */
static bool step(struct pim_dram_channel *channel, uint64_t until)
{
    uint64_t floor = channel->row_floor < channel->column_floor ? channel->row_floor : channel->column_floor;
    if (floor > until)
        return false;
    if (channel->refresh_due <= floor) {
        maintenance_refresh_due(channel);
        channel->planned = false;
    }
    if (!channel->planned)
        channel_plan(channel);
    uint64_t time = channel->column.time < channel->row.time ? channel->column.time : channel->row.time;
    uint64_t due = channel->refresh_due < channel->close_time ? channel->refresh_due : channel->close_time;
    if (due <= time) {
        if (due > until)
            return false;
        if (due == channel->refresh_due)
            maintenance_skip_idle(channel, until);
        due = channel->refresh_due < channel->close_time ? channel->refresh_due : channel->close_time;
        raise_floors(channel, due);
        channel->planned = false;
        return true;
    }
    if (time > until)
        return false;
    issue_planned(channel);
    return true;
}

void pim_dram_channel_advance(struct pim_dram_channel *channel, uint64_t cycle)
{
    while (step(channel, cycle))
        ;
    raise_floors(channel, cycle + 1);
}

uint64_t pim_dram_channel_next(struct pim_dram_channel *channel)
{
    const uint64_t floor =
        channel->row_floor < channel->column_floor ? channel->row_floor : channel->column_floor;
    /* A request that still comes in the cycle before is there when the next one decides on these. */
    if (!channel->planned && (channel->refresh_due <= floor || channel->owing || write_mode_changes(channel)))
        return floor;
    if (!channel->planned)
        channel_plan(channel);
    uint64_t time = channel->column.time < channel->row.time ? channel->column.time : channel->row.time;
    time = time < channel->refresh_due ? time : channel->refresh_due;
    return time < channel->close_time ? time : channel->close_time;
}

static bool is_full(const struct pim_dram_channel *channel, bool write)
{
    const struct pim_dram_policy *policy = &channel->rules->policy;
    return channel->waiting_count[write] >= (write ? policy->write_queue : policy->read_queue);
}

uint64_t pim_dram_channel_wait(struct pim_dram_channel *channel, bool write)
{
    while (is_full(channel, write))
        if (!step(channel, UINT64_MAX - 1))
            assert(false && "a full queue, and nothing will happen");
    /* The cycle in which the last command was issued, to its end. */
    uint64_t cycle = channel->column_floor > channel->row_floor ? channel->column_floor : channel->row_floor;
    pim_dram_channel_advance(channel, cycle - 1);
    return cycle - 1;
}

bool write_waits(const struct pim_dram_channel *channel, const struct pim_dram_location *location)
{
    if (channel->filter[filter_index(location->bank, location->row, location->column)] == 0)
        return false;
    int16_t i = channel->banks[location->bank].waiting[1].first;
    while (i >= 0 &&
           (channel->links[i].row != location->row || channel->entries[i].column != location->column))
        i = channel->links[i].next;
    return i >= 0;
}

bool pim_dram_channel_offer(struct pim_dram_channel *channel, uint64_t cycle,
                            const struct pim_dram_location *location, bool write, uint64_t request)
{
    pim_dram_channel_advance(channel, cycle);
    if (channel->waiting_count[1] > 0 && write_waits(channel, location)) {
        uint64_t completed = write ? cycle : cycle + 1;
        if (write)
            channel->counters.absorbed_writes++;
        else
            channel->counters.forwarded_reads++;
        channel->last_completion = later(channel->last_completion, completed);
        channel->sink.served(channel->sink.context, request, NEVER, completed);
        return true;
    }
    if (is_full(channel, write))
        return false;
    if (channel->next_age >> AGE_BITS)
        waiting_renumber(channel);
    int16_t number = channel->free_entries[--channel->free_count];
    channel->entries[number] = (struct entry){.age = channel->next_age++,
                                              .first_command = NEVER,
                                              .request = request,
                                              .column = location->column,
                                              .bank = (uint8_t)location->bank,
                                              .write = write};
    channel->links[number].row = location->row;
    waiting_add(channel, number);
    channel->ranks[channel->banks[location->bank].rank].pending++;
    if (channel->planned)
        channel_plan_arrival(channel, number);
    return true;
}

uint64_t pim_dram_channel_drain(struct pim_dram_channel *channel)
{
    while (channel->waiting_count[0] + channel->waiting_count[1] > 0 ||
           any_active(channel, channel->rules->sections))
        if (!step(channel, UINT64_MAX - 1))
            assert(false && "requests wait, and nothing will happen");
    return channel->last_completion;
}

void pim_dram_channel_stop(struct pim_dram_channel *channel, uint64_t cycle)
{
    pim_dram_channel_advance(channel, cycle);
    channel->end = cycle;
    /* No further refresh becomes due, and a row that is not in use is left as it is. */
    uint64_t due = channel->refresh_due;
    channel->refresh_due = NEVER;
    if (channel->rules->policy.pull_in > 0)
        channel->planned = false;
    bool closes = channel->rules->policy.page == PIM_DRAM_PAGE_CLOSED;
    while (channel->maintenance_count > 0 || channel->owing ||
           (closes && pim_dram_channel_next(channel) != NEVER))
        if (!step(channel, UINT64_MAX - 1))
            break;
    channel->refresh_due = due;
    channel->end = NEVER;
}

void pim_dram_counters_add(struct pim_dram_counters *sum, const struct pim_dram_counters *one)
{
    sum->row_hits += one->row_hits;
    sum->row_misses += one->row_misses;
    sum->row_conflicts += one->row_conflicts;
    sum->forwarded_reads += one->forwarded_reads;
    sum->absorbed_writes += one->absorbed_writes;
    sum->precharged_banks += one->precharged_banks;
    sum->active_cycles += one->active_cycles;
    sum->skipped_refreshes += one->skipped_refreshes;
    sum->late_refreshes += one->late_refreshes;
    for (unsigned i = 0; i < PIM_DRAM_COMMANDS; i++)
        sum->commands[i] += one->commands[i];
}

enum pim_status pim_dram_counters_judge(const struct pim_dram_counters *counters, struct pim_error *error)
{
    if (counters->late_refreshes == 0)
        return PIM_OK;
    return pim_fail(error, PIM_BAD_INPUT,
                    "%" PRIu64
                    " refreshes of the DRAM were not done when the next one of their rank was due: "
                    "the bound that such a configuration is checked with does not hold; a longer dram.trefi "
                    "(dram.trefi_bank with refreshes of banks) or dram.maintenance = \"channel\" may help",
                    counters->late_refreshes);
}

void pim_dram_channel_counters(const struct pim_dram_channel *channel, uint64_t cycle,
                               struct pim_dram_counters *counters)
{
    *counters = channel->counters;
    counters->active_cycles = 0;
    for (uint32_t i = 0; i < channel->rules->ranks; i++)
        counters->active_cycles += rank_active_cycles(&channel->ranks[i], cycle);
}
