#include "models/dram/check/command_check_internal.h"
#include "models/dram/check/command_check_rules.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

struct pim_dram_check *pim_dram_check_create(const struct pim_dram_specification *specification,
                                             const struct pim_dram_policy *policy,
                                             void (*report)(void *context, const struct pim_dram_violation *),
                                             void *context)
{
    const struct pim_dram_organization *organization = &specification->organization;
    struct pim_dram_check *check =
        calloc(1, sizeof *check + organization->channels * sizeof check->channel[0]);
    if (!check)
        return NULL;
    check->specification = *specification;
    check->policy = *policy;
    check->report = report;
    check->context = context;
    pim_dram_check_rules(specification, &check->table);
    pim_dram_own_constraints(&check->specification, &check->table);
    uint32_t ranks = pim_dram_ranks(organization);
    const uint32_t nodes[CHECK_LEVELS] = {ranks * pim_dram_banks_per_rank(organization),
                                          ranks * organization->bank_groups,
                                          ranks,
                                          organization->pseudo_channels,
                                          1,
                                          ranks * organization->stack_ids};
    for (unsigned i = 0; i < CHECK_LEVELS; i++)
        check->first_node[i + 1] = check->first_node[i] + nodes[i];
    return check;
}

void pim_dram_check_destroy(struct pim_dram_check *check)
{
    if (!check)
        return;
    for (uint32_t i = 0; i < check->specification.organization.channels; i++)
        free(check->channel[i]);
    free(check);
}

/* A channel's memory comes with its first command. */
static struct checked_channel *channel_of(struct pim_dram_check *check, int64_t index)
{
    struct checked_channel **channel = &check->channel[index];
    if (!*channel) {
        uint32_t nodes = check->first_node[CHECK_LEVELS];
        *channel = calloc(1, sizeof **channel + nodes * sizeof(struct checked_history));
        for (uint32_t i = 0; *channel && i < check->first_node[1]; i++)
            (*channel)->bank[i].row = -1;
    }
    return *channel;
}

void check_violate(struct pim_dram_check *check, const struct pim_dram_logged *command, const char *rule,
                   const struct pim_dram_constraint *constraint, uint64_t previous)
{
    check->violations++;
    if (!check->report)
        return;
    const struct pim_dram_violation violation = {check->commands, *command, constraint, previous, rule};
    check->report(check->context, &violation);
}

static bool is_rank_command(enum pim_dram_command command)
{
    return command == PIM_DRAM_PREA || command == PIM_DRAM_REF;
}

/* Does every place that the command needs exist? */
static bool check_place(struct pim_dram_check *check, const struct pim_dram_logged *command)
{
    const struct pim_dram_organization *o = &check->specification.organization;
    bool bank = !is_rank_command(command->command);
    bool group = bank && command->command != PIM_DRAM_REFSB;
    bool column = pim_dram_is_column(command->command) || command->command == PIM_DRAM_CAS_RD ||
                  command->command == PIM_DRAM_CAS_WR;
    bool row = command->command == PIM_DRAM_ACT || command->command == PIM_DRAM_ACT2 ||
               command->command == PIM_DRAM_ACT_SECOND || column;
    const char *rule = NULL;
    if (command->channel < 0 || command->channel >= o->channels)
        rule = "no such channel";
    else if (command->rank < 0 || command->rank >= pim_dram_ranks(o))
        rule = "no such rank";
    else if (group && (command->bank_group < 0 || command->bank_group >= o->bank_groups))
        rule = "no such bank group";
    else if (bank && (command->bank < 0 || command->bank >= o->banks))
        rule = "no such bank";
    else if (row && (command->row < 0 || command->row >= o->rows))
        rule = "no such row";
    else if (column && (command->column < 0 || command->column >= o->columns))
        rule = "no such column";
    if (rule)
        check_violate(check, command, rule, NULL, 0);
    return rule == NULL;
}

static struct checked_place place_of(const struct pim_dram_check *check,
                                     const struct pim_dram_logged *command)
{
    const struct pim_dram_organization *o = &check->specification.organization;
    struct checked_place place = {.rank = (uint32_t)command->rank,
                                  .pseudo = (uint32_t)command->rank / o->ranks,
                                  .whole_rank = is_rank_command(command->command),
                                  .all_groups = command->command == PIM_DRAM_REFSB};
    if (!place.whole_rank) {
        place.group = place.rank * o->bank_groups + (place.all_groups ? 0 : (uint32_t)command->bank_group);
        place.bank = place.group * o->banks + (uint32_t)command->bank;
        place.stack = place.group / pim_dram_groups_per_stack(o);
    }
    return place;
}

/* One command a cycle on each command bus, and no two data at once on a data bus. */
static void check_buses(struct pim_dram_check *check, struct checked_channel *channel,
                        const struct checked_place *place, const struct pim_dram_logged *command)
{
    const uint32_t *parameter = check->specification.parameter;
    bool column = pim_dram_is_column(command->command);
    uint64_t *bus = &channel->bus_cycle[column && check->specification.split_command_bus];
    if (*bus == command->cycle + 1)
        check_violate(check, command, "the command bus is in use in this cycle", NULL, 0);
    *bus = command->cycle + 1;
    if (!column)
        return;
    bool read = command->command == PIM_DRAM_RD || command->command == PIM_DRAM_RDA;
    uint64_t begin = command->cycle + parameter[read ? PIM_DRAM_T_CL : PIM_DRAM_T_CWL];
    if (begin < channel->data_end[place->pseudo])
        check_violate(check, command, "the data bus is in use when the data come", NULL, 0);
    uint64_t end = begin + parameter[PIM_DRAM_T_B];
    if (end > channel->data_end[place->pseudo])
        channel->data_end[place->pseudo] = end;
    if (end > check->data_end)
        check->data_end = end;
}

enum pim_status pim_dram_check_command(struct pim_dram_check *check, const struct pim_dram_logged *command,
                                       struct pim_error *error)
{
    if (command->cycle < check->last_cycle)
        check_violate(check, command, "earlier than the command before", NULL, 0);
    else
        check->last_cycle = command->cycle;
    if (!check_place(check, command)) {
        check->commands++;
        return PIM_OK;
    }
    if (!check->specification.command[command->command].exists)
        check_violate(check, command, "the standard has no such command", NULL, 0);
    struct checked_channel *channel = channel_of(check, command->channel);
    if (!channel)
        return pim_fail(error, PIM_NO_MEMORY, "out of memory for a channel of the command check");
    const struct checked_place place = place_of(check, command);
    for (size_t i = 0; i < check->table.count; i++)
        if (check->table.row[i].next >> command->command & 1)
            check_constraint(check, channel, &place, &check->table.row[i], command);
    check_buses(check, channel, &place, command);
    const char *broken = pim_dram_check_clock(&check->specification, &channel->clock, command);
    if (broken)
        check_violate(check, command, broken, NULL, 0);
    check_lateness(check, channel, command);
    check_idle(check, channel, &place, command);
    check_state(check, channel, &place, command);
    check_earliness(check, channel, &place, command);
    check_remember(check, channel, &place, command);
    check->counters.commands[command->command]++;
    check->commands++;
    return PIM_OK;
}

enum pim_status pim_dram_check_end(struct pim_dram_check *check, struct pim_error *error)
{
    for (uint32_t i = 0; i < check->specification.organization.channels; i++) {
        struct checked_channel *channel = channel_of(check, i);
        if (!channel)
            return pim_fail(error, PIM_NO_MEMORY, "out of memory for the command check of channel %u", i);
        const struct pim_dram_logged end = {check->last_cycle, PIM_DRAM_REF, i, 0, -1, -1, -1, -1};
        check_lateness(check, channel, &end);
    }
    return PIM_OK;
}

uint64_t pim_dram_check_commands(const struct pim_dram_check *check)
{
    return check->commands;
}

uint64_t pim_dram_check_violations(const struct pim_dram_check *check)
{
    return check->violations;
}

void pim_dram_check_counters(const struct pim_dram_check *check, uint64_t cycle,
                             struct pim_dram_counters *counters)
{
    *counters = check->counters;
    for (uint32_t i = 0; i < check->specification.organization.channels; i++) {
        for (uint32_t j = 0; check->channel[i] && j < pim_dram_ranks(&check->specification.organization);
             j++) {
            struct checked_rank rank = check->channel[i]->rank[j];
            const bool last = cycle >= rank.frontier; /* not behind it: that of the data */
            check_cover(check, &rank, cycle);
            counters->active_cycles += rank.covered + (last ? rank.behind : 0);
        }
    }
}

struct pim_dram_logged pim_dram_logged_record(const struct pim_dram_specification *specification,
                                              const struct pim_dram_record *record)
{
    const struct pim_dram_organization *o = &specification->organization;
    uint32_t group = record->bank / o->banks, rank = group / o->bank_groups;
    bool whole = is_rank_command((enum pim_dram_command)record->command);
    return (struct pim_dram_logged){
        .cycle = record->cycle,
        .command = (enum pim_dram_command)record->command,
        .channel = record->channel,
        .rank = rank,
        .bank_group = (whole || record->command == PIM_DRAM_REFSB) && o->bank_groups > 1
                          ? -1
                          : (int64_t)(group % o->bank_groups),
        .bank = whole ? -1 : (int64_t)(record->bank % o->banks),
        .row = record->row == UINT32_MAX ? -1 : (int64_t)record->row,
        .column = record->column == UINT32_MAX ? -1 : (int64_t)record->column,
    };
}
