/*
 * What LPDDR5 adds. ACT is ACTIVATE-1, whose second half ACT-2 follows at most tAAD later: at once when
 * nothing else can issue, and in its last cycle before everything else. Until then no other row is opened.
 * (The row counts as open from ACT on: tRCD is longer than tAAD.)
 *
 * RD and WR need the write clock, which stops some cycles behind the data of the last of them. Then CAS
 * issues in the cycle in which RD or WR could have, and that command in the next one, before everything else.
 */
#include "models/dram/channel/internal.h"

static void plan_second_half(struct pim_dram_channel *channel, uint64_t floor)
{
    const int16_t entry = channel->low_power.half_activated;
    channel->column = (struct choice){.time = floor,
                                      .age = channel->entries[entry].age,
                                      .entry = entry,
                                      .kind = CHOOSE_LOW_POWER,
                                      .command = PIM_DRAM_ACT_SECOND};
}

bool low_power_goes_first(struct pim_dram_channel *channel, uint64_t floor)
{
    const struct low_power *low_power = &channel->low_power;
    if (low_power->forced.kind != CHOOSE_NOTHING) {
        channel->column = low_power->forced;
        return true;
    }
    if (low_power->half_activated < 0 || low_power->deadline > floor)
        return false;
    plan_second_half(channel, floor);
    return true;
}

void low_power_completes(struct pim_dram_channel *channel, uint64_t floor)
{
    const struct low_power *low_power = &channel->low_power;
    struct choice *choice = &channel->column;
    const bool clocked = choice->kind == CHOOSE_COLUMN && channel->rules->specification.write_clock;
    const bool stands = clocked && choice->time >= low_power->clock_end;
    /* CAS takes two cycles with what follows: it is put off when the second one is the last for the ACT-2. */
    if (low_power->half_activated >= 0 &&
        (choice->time > floor || (stands && low_power->deadline == floor + 1))) {
        plan_second_half(channel, floor);
        return;
    }
    if (stands)
        choice->command = choice->command == PIM_DRAM_RD ? PIM_DRAM_CAS_RD : PIM_DRAM_CAS_WR;
    if (clocked || (choice->kind == CHOOSE_ROW && choice->command == PIM_DRAM_ACT))
        choice->kind = CHOOSE_LOW_POWER;
}

void low_power_column(struct pim_dram_channel *channel, uint64_t completed)
{
    channel->low_power.clock_end = later(
        channel->low_power.clock_end, completed + channel->rules->specification.parameter[PIM_DRAM_T_WCKPST]);
}

bool low_power_streams(const struct pim_dram_channel *channel, bool write, uint64_t next)
{
    const struct pim_dram_rules *rules = channel->rules;
    const uint32_t latency = write ? rules->write_latency : rules->read_latency;
    return rules->policy.page == PIM_DRAM_PAGE_OPEN && channel->low_power.forced.kind == CHOOSE_NOTHING &&
           (!rules->specification.write_clock ||
            (next < channel->low_power.clock_end &&
             rules->column_step[write] < latency + rules->specification.parameter[PIM_DRAM_T_WCKPST]));
}

/* CAS and ACT-2, which change nothing but what is under way. */
static void issue_alone(struct pim_dram_channel *channel, const struct choice *choice)
{
    const struct entry *entry = &channel->entries[choice->entry];
    channel->counters.commands[choice->command]++;
    if (channel->sink.command)
        record(channel, choice->time, (enum pim_dram_command)choice->command, entry->bank,
               channel->links[choice->entry].row, entry->column);
}

void low_power_issue(struct pim_dram_channel *channel, const struct choice *choice)
{
    struct low_power *low_power = &channel->low_power;
    const uint32_t *parameter = channel->rules->specification.parameter;
    struct choice issued = *choice;
    if (choice->command == PIM_DRAM_ACT_SECOND) {
        issue_alone(channel, choice);
        low_power->half_activated = NO_ENTRY;
    } else if (choice->command == PIM_DRAM_ACT) {
        issued.kind = CHOOSE_ROW;
        channel_issue(channel, &issued);
        if (parameter[PIM_DRAM_T_AAD] > 0) {
            low_power->half_activated = choice->entry;
            low_power->deadline = choice->time + parameter[PIM_DRAM_T_AAD];
        }
    } else if (choice->command == PIM_DRAM_RD || choice->command == PIM_DRAM_WR) {
        low_power->forced.kind = CHOOSE_NOTHING;
        low_power_column(channel,
                         choice->time + (choice->command == PIM_DRAM_WR ? channel->rules->write_latency
                                                                        : channel->rules->read_latency));
        issued.kind = CHOOSE_COLUMN;
        channel_issue(channel, &issued);
    } else {
        issue_alone(channel, choice);
        first_command(&channel->entries[choice->entry], choice->time, &channel->counters.row_hits);
        low_power->forced = *choice;
        low_power->forced.time = choice->time + 1;
        low_power->forced.command = choice->command == PIM_DRAM_CAS_RD ? PIM_DRAM_RD : PIM_DRAM_WR;
    }
}
