#include "models/dram/check/command_check_clock.h"
#include "models/dram/check/command_check_rules.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum { HISTORY = 4, LEVELS = 6 };

/* The last issues of each command somewhere in the tree, newest first. */
struct history {
    uint64_t cycle[PIM_DRAM_COMMANDS][HISTORY];
    uint32_t count[PIM_DRAM_COMMANDS];
};

struct checked_bank {
    int64_t row; /* -1: closed */
    uint64_t opened_at;
    uint64_t idle_at;   /* an automatic precharge is over */
    uint64_t refreshes; /* REFpb */
};

/* Background: the time in which a rank has an open row or is refreshed. */
struct checked_rank {
    uint64_t all;        /* REF */
    uint64_t single;     /* REFpb, of all its banks */
    uint64_t least;      /* REFpb of the bank that has the fewest */
    uint64_t covered;    /* active cycles before `frontier`, without */
    uint64_t behind;     /* those behind the last data */
    uint64_t data;       /* the end of which was this when they were counted */
    uint64_t frontier;   /* cycle up to which both are known */
    uint64_t busy_until; /* rows that close by themselves and refreshes keep the rank active up to here */
    uint32_t open;
    bool late; /* reported */
};

/* One channel: the tree's nodes in the order banks, groups, ranks, pseudo-channels, channel, stack
 * identifiers. */
struct checked_channel {
    uint64_t late_cycle;                   /* no rank is late before this cycle */
    uint64_t bus_cycle[2];                 /* last use + 1: row bus (or the only one), column bus */
    uint64_t data_end[PIM_DRAM_RANKS_MAX]; /* of the data bus of each pseudo-channel */
    struct checked_rank rank[PIM_DRAM_RANKS_MAX];
    struct checked_bank bank[PIM_DRAM_BANKS_MAX];
    struct pim_dram_checked_clock clock;
    struct history history[];
};

struct pim_dram_check {
    struct pim_dram_specification specification;
    struct pim_dram_policy policy;
    struct pim_dram_constraint_table table;
    void (*report)(void *context, const struct pim_dram_violation *violation);
    void *context;
    uint32_t first_node[LEVELS + 1]; /* banks, groups, ranks, pseudo-channels, channel, stack identifiers */
    uint64_t commands, violations, last_cycle;
    uint64_t data_end; /* of all data so far: what is behind it is behind the run unless more come */
    struct pim_dram_counters counters;
    struct checked_channel *channel[];
};

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
    const uint32_t nodes[LEVELS] = {ranks * pim_dram_banks_per_rank(organization),
                                    ranks * organization->bank_groups,
                                    ranks,
                                    organization->pseudo_channels,
                                    1,
                                    ranks * organization->stack_ids};
    for (unsigned i = 0; i < LEVELS; i++)
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
        uint32_t nodes = check->first_node[LEVELS];
        *channel = calloc(1, sizeof **channel + nodes * sizeof(struct history));
        for (uint32_t i = 0; *channel && i < check->first_node[1]; i++)
            (*channel)->bank[i].row = -1;
    }
    return *channel;
}

static void violate(struct pim_dram_check *check, const struct pim_dram_logged *command, const char *rule,
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
        violate(check, command, rule, NULL, 0);
    return rule == NULL;
}

/* Where a command is in the tree: its node at each level; commands to a rank have no bank and group. */
struct place {
    uint32_t bank, group, stack, rank, pseudo;
    bool whole_rank;
    bool all_groups; /* REFsb: the bank of this number in every group, bank and group are the first */
};

static struct place place_of(const struct pim_dram_check *check, const struct pim_dram_logged *command)
{
    const struct pim_dram_organization *o = &check->specification.organization;
    struct place place = {.rank = (uint32_t)command->rank,
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

/* Holds one constraint against the issues of `previous` at one node; false: it is violated. */
static bool check_node(struct pim_dram_check *check, const struct checked_channel *channel, uint32_t node,
                       enum pim_dram_command previous, const struct pim_dram_constraint *constraint,
                       const struct pim_dram_logged *command)
{
    const struct history *history = &channel->history[node];
    if (history->count[previous] == 0)
        return true;
    uint64_t cycle = history->cycle[previous][0];
    if (command->cycle >= cycle + constraint->cycles)
        return true;
    violate(check, command, "too early", constraint, cycle);
    return false;
}

/* The same at nodes that are `step` apart, reported once. */
static void check_nodes(struct pim_dram_check *check, const struct checked_channel *channel, uint32_t first,
                        uint32_t step, uint32_t count, enum pim_dram_command previous,
                        const struct pim_dram_constraint *constraint, const struct pim_dram_logged *command)
{
    for (uint32_t i = 0; i < count; i++)
        if (!check_node(check, channel, first + i * step, previous, constraint, command))
            return;
}

/* The same for a window, over the issues of all `previous` together. */
static void check_window(struct pim_dram_check *check, const struct history *history,
                         const struct pim_dram_constraint *constraint, const struct pim_dram_logged *command)
{
    uint32_t taken[PIM_DRAM_COMMANDS] = {0};
    uint64_t cycle = 0;
    for (uint32_t i = 0; i < constraint->window; i++) {
        unsigned newest = PIM_DRAM_COMMANDS;
        for (unsigned j = 0; j < PIM_DRAM_COMMANDS; j++)
            if ((constraint->previous >> j & 1) && taken[j] < history->count[j] &&
                (newest == PIM_DRAM_COMMANDS || history->cycle[j][taken[j]] > cycle)) {
                newest = j;
                cycle = history->cycle[j][taken[j]];
            }
        if (newest == PIM_DRAM_COMMANDS)
            return;
        taken[newest]++;
    }
    if (command->cycle < cycle + constraint->cycles)
        violate(check, command, "too early", constraint, cycle);
}

/* Bank groups that the place is in, from its own on. */
static uint32_t groups_of(const struct pim_dram_check *check, const struct place *place)
{
    return place->all_groups ? check->specification.organization.bank_groups : 1;
}

static void check_constraint(struct pim_dram_check *check, const struct checked_channel *channel,
                             const struct place *place, const struct pim_dram_constraint *constraint,
                             const struct pim_dram_logged *command)
{
    const struct pim_dram_organization *o = &check->specification.organization;
    const uint32_t groups = groups_of(check, place);
    if (constraint->window > 1) {
        assert(constraint->scope == PIM_DRAM_SCOPE_RANK);
        check_window(check, &channel->history[check->first_node[2] + place->rank], constraint, command);
        return;
    }
    for (unsigned i = 0; i < PIM_DRAM_COMMANDS; i++) {
        enum pim_dram_command previous = (enum pim_dram_command)i;
        if (!(constraint->previous >> i & 1))
            continue;
        switch (constraint->scope) {
        case PIM_DRAM_SCOPE_BANK:
            check_nodes(check, channel, place->bank, o->banks, groups, previous, constraint, command);
            break;
        case PIM_DRAM_SCOPE_GROUP:
            check_nodes(check, channel, check->first_node[1] + place->group, 1, groups, previous, constraint,
                        command);
            break;
        case PIM_DRAM_SCOPE_STACK:
            (void)check_node(check, channel, check->first_node[5] + place->stack, previous, constraint,
                             command);
            break;
        case PIM_DRAM_SCOPE_OTHER_STACK:
            for (uint32_t stack = place->rank * o->stack_ids; stack < (place->rank + 1) * o->stack_ids;
                 stack++)
                if (stack != place->stack)
                    (void)check_node(check, channel, check->first_node[5] + stack, previous, constraint,
                                     command);
            break;
        case PIM_DRAM_SCOPE_RANK:
            (void)check_node(check, channel, check->first_node[2] + place->rank, previous, constraint,
                             command);
            break;
        case PIM_DRAM_SCOPE_OTHER_RANK:
            for (uint32_t rank = place->pseudo * o->ranks; rank < (place->pseudo + 1) * o->ranks; rank++)
                if (rank != place->rank)
                    (void)check_node(check, channel, check->first_node[2] + rank, previous, constraint,
                                     command);
            break;
        case PIM_DRAM_SCOPE_PSEUDO_CHANNEL:
            (void)check_node(check, channel, check->first_node[3] + place->pseudo, previous, constraint,
                             command);
            break;
        case PIM_DRAM_SCOPE_CHANNEL:
            (void)check_node(check, channel, check->first_node[4], previous, constraint, command);
            break;
        default:
            assert(false && "unknown scope");
        }
    }
}

static void remember_at(struct history *history, enum pim_dram_command command, uint64_t cycle)
{
    uint64_t *cycles = history->cycle[command];
    memmove(&cycles[1], &cycles[0], (HISTORY - 1) * sizeof cycles[0]);
    cycles[0] = cycle;
    if (history->count[command] < HISTORY)
        history->count[command]++;
}

static void remember(const struct pim_dram_check *check, struct checked_channel *channel,
                     const struct place *place, const struct pim_dram_logged *command)
{
    const uint32_t banks = check->specification.organization.banks;
    for (uint32_t g = 0; g < groups_of(check, place) && !place->whole_rank; g++) {
        remember_at(&channel->history[place->bank + g * banks], command->command, command->cycle);
        remember_at(&channel->history[check->first_node[1] + place->group + g], command->command,
                    command->cycle);
    }
    if (!place->whole_rank && !place->all_groups)
        remember_at(&channel->history[check->first_node[5] + place->stack], command->command, command->cycle);
    remember_at(&channel->history[check->first_node[2] + place->rank], command->command, command->cycle);
    remember_at(&channel->history[check->first_node[3] + place->pseudo], command->command, command->cycle);
    remember_at(&channel->history[check->first_node[4]], command->command, command->cycle);
}

/* One command a cycle on each command bus, and no two data at once on a data bus. */
static void check_buses(struct pim_dram_check *check, struct checked_channel *channel,
                        const struct place *place, const struct pim_dram_logged *command)
{
    const uint32_t *parameter = check->specification.parameter;
    bool column = pim_dram_is_column(command->command);
    uint64_t *bus = &channel->bus_cycle[column && check->specification.split_command_bus];
    if (*bus == command->cycle + 1)
        violate(check, command, "the command bus is in use in this cycle", NULL, 0);
    *bus = command->cycle + 1;
    if (!column)
        return;
    bool read = command->command == PIM_DRAM_RD || command->command == PIM_DRAM_RDA;
    uint64_t begin = command->cycle + parameter[read ? PIM_DRAM_T_CL : PIM_DRAM_T_CWL];
    if (begin < channel->data_end[place->pseudo])
        violate(check, command, "the data bus is in use when the data come", NULL, 0);
    uint64_t end = begin + parameter[PIM_DRAM_T_B];
    if (end > channel->data_end[place->pseudo])
        channel->data_end[place->pseudo] = end;
    if (end > check->data_end)
        check->data_end = end;
}

/* Brings the active time of a rank up to `cycle`, before its state changes there. */
static void cover(const struct pim_dram_check *check, struct checked_rank *rank, uint64_t cycle)
{
    const uint64_t data = check->data_end, from = rank->frontier;
    if (rank->data != data) {
        rank->covered += rank->behind;
        rank->behind = 0;
        rank->data = data;
    }
    if (cycle <= from)
        return;
    const uint64_t until = rank->open > 0 || rank->busy_until > cycle ? cycle : rank->busy_until;
    const uint64_t split = until < data ? until : data > from ? data : from;
    rank->covered += split > from ? split - from : 0;
    rank->behind += until > split ? until - split : 0;
    rank->frontier = cycle;
}

static void stay_busy(struct checked_rank *rank, uint64_t until)
{
    if (until > rank->busy_until)
        rank->busy_until = until;
}

static void close_bank(struct pim_dram_check *check, struct checked_channel *channel,
                       const struct place *place, uint32_t bank)
{
    if (channel->bank[bank].row < 0)
        return;
    channel->bank[bank].row = -1;
    channel->rank[place->rank].open--;
    check->counters.precharged_banks++;
}

/* When a row closes that RDA or WRA was told to close: not before tRAS is over. */
static uint64_t closing_time(const struct pim_dram_check *check, const struct checked_bank *bank,
                             const struct pim_dram_logged *command)
{
    const uint32_t *parameter = check->specification.parameter;
    uint64_t recovery =
        command->command == PIM_DRAM_RDA
            ? parameter[PIM_DRAM_T_RTP]
            : (uint64_t)parameter[PIM_DRAM_T_CWL] + parameter[PIM_DRAM_T_B] + parameter[PIM_DRAM_T_WR_PRE];
    uint64_t after_activate = bank->opened_at + parameter[PIM_DRAM_T_RAS] +
                              pim_dram_command_cycles(&check->specification, PIM_DRAM_ACT) - 1;
    uint64_t time =
        command->cycle + recovery + pim_dram_command_cycles(&check->specification, command->command) - 1;
    return time > after_activate ? time : after_activate;
}

static void check_column(struct pim_dram_check *check, struct checked_channel *channel,
                         const struct place *place, const struct pim_dram_logged *command)
{
    struct checked_bank *bank = &channel->bank[place->bank];
    if (bank->row < 0)
        violate(check, command, "the bank is closed", NULL, 0);
    else if (bank->row != command->row)
        violate(check, command, "another row is open", NULL, 0);
    if (command->command == PIM_DRAM_RDA || command->command == PIM_DRAM_WRA) {
        const uint64_t closed = closing_time(check, bank, command);
        stay_busy(&channel->rank[place->rank], closed);
        bank->idle_at = closed + check->specification.parameter[PIM_DRAM_T_RP];
        close_bank(check, channel, place, place->bank);
    }
}

static void refresh_bank(const struct pim_dram_check *check, struct checked_channel *channel,
                         const struct place *place)
{
    uint32_t per_rank = pim_dram_banks_per_rank(&check->specification.organization);
    struct checked_rank *rank = &channel->rank[place->rank];
    for (uint32_t g = 0; g < groups_of(check, place); g++) {
        rank->single++;
        channel->bank[place->bank + g * check->specification.organization.banks].refreshes++;
    }
    rank->least = channel->bank[place->bank].refreshes;
    for (uint32_t i = place->rank * per_rank; i < (place->rank + 1) * per_rank; i++)
        if (channel->bank[i].refreshes < rank->least)
            rank->least = channel->bank[i].refreshes;
}

/* ACT and REFpb of a bank, REF of all banks of a rank: not before a row that RDA or WRA closed is closed. The
 * distances count from RDA or WRA; here tRAS counts as well, which may keep the row open longer. */
static void check_idle(struct pim_dram_check *check, const struct checked_channel *channel,
                       const struct place *place, const struct pim_dram_logged *command)
{
    const uint32_t banks = pim_dram_banks_per_rank(&check->specification.organization);
    const uint64_t last = pim_dram_command_cycles(&check->specification, command->command) - 1;
    if (command->command != PIM_DRAM_ACT && command->command != PIM_DRAM_REFPB &&
        command->command != PIM_DRAM_REFSB && command->command != PIM_DRAM_REF)
        return;
    const uint32_t first = place->whole_rank ? place->rank * banks : place->bank;
    const uint32_t step = place->whole_rank ? 1 : check->specification.organization.banks;
    const uint32_t count = place->whole_rank ? banks : groups_of(check, place);
    for (uint32_t i = first; i < first + count * step; i += step)
        if (command->cycle + last < channel->bank[i].idle_at) {
            violate(check, command, "an automatic precharge of the bank is not over", NULL, 0);
            return;
        }
}

/* Is a bank that is refreshed alone, or with those of its number in other groups, open? */
static bool is_open(const struct pim_dram_check *check, const struct checked_channel *channel,
                    const struct place *place)
{
    for (uint32_t g = 0; g < groups_of(check, place); g++)
        if (channel->bank[place->bank + g * check->specification.organization.banks].row >= 0)
            return true;
    return false;
}

static void refresh_rank(struct pim_dram_check *check, struct checked_rank *rank,
                         const struct pim_dram_logged *command)
{
    if (rank->open > 0)
        violate(check, command, "a row of the rank is open", NULL, 0);
    rank->all++;
    stay_busy(rank, command->cycle + check->specification.parameter[PIM_DRAM_T_RFC]);
}

/* State of banks and ranks before and after the command. */
static void check_state(struct pim_dram_check *check, struct checked_channel *channel,
                        const struct place *place, const struct pim_dram_logged *command)
{
    const uint32_t *parameter = check->specification.parameter;
    struct checked_rank *rank = &channel->rank[place->rank];
    struct checked_bank *bank = &channel->bank[place->bank];
    uint32_t per_rank = pim_dram_banks_per_rank(&check->specification.organization);
    assert(per_rank > 0);
    cover(check, rank, command->cycle);
    switch (command->command) {
    case PIM_DRAM_ACT:
        if (bank->row >= 0)
            violate(check, command, "the bank is open already", NULL, 0);
        else
            rank->open++;
        bank->row = command->row;
        bank->opened_at = command->cycle;
        break;
    case PIM_DRAM_ACT2:
        if (check->specification.parameter[PIM_DRAM_T_AA] == 0)
            violate(check, command, "the memory has no second activations: dram.taa is 0", NULL, 0);
        if (bank->row < 0)
            violate(check, command, "the bank is closed", NULL, 0);
        else
            bank->row = command->row;
        break;
    case PIM_DRAM_PRE:
        close_bank(check, channel, place, place->bank);
        break;
    case PIM_DRAM_PREA:
        for (uint32_t i = 0; i < per_rank; i++)
            close_bank(check, channel, place, place->rank * per_rank + i);
        break;
    case PIM_DRAM_REF:
        refresh_rank(check, rank, command);
        break;
    case PIM_DRAM_REFPB:
    case PIM_DRAM_REFSB:
        if (is_open(check, channel, place))
            violate(check, command, "the bank is open", NULL, 0);
        refresh_bank(check, channel, place);
        if (bank->refreshes > rank->single / per_rank + 1)
            violate(check, command, "another bank has waited longer for its refresh", NULL, 0);
        stay_busy(rank, command->cycle + parameter[PIM_DRAM_T_RFCPB]);
        break;
    case PIM_DRAM_RD:
    case PIM_DRAM_WR:
    case PIM_DRAM_RDA:
    case PIM_DRAM_WRA:
        check_column(check, channel, place, command);
        break;
    case PIM_DRAM_ACT_SECOND:
    case PIM_DRAM_CAS_RD:
    case PIM_DRAM_CAS_WR:
        break; /* command_check_clock.c */
    case PIM_DRAM_COMMANDS:
    default:
        assert(false && "no such command");
    }
}

/* Distance of due refreshes of a rank: REF, or with per-bank refresh REFpb. */
static uint64_t refresh_interval(const struct pim_dram_check *check)
{
    uint64_t interval = check->policy.per_bank_refresh ? pim_dram_bank_refresh_interval(&check->specification)
                                                       : check->specification.parameter[PIM_DRAM_T_REFI];
    uint64_t turns = check->policy.stagger ? pim_dram_ranks(&check->specification.organization) : 1;
    return interval / turns * turns; /* whole steps from rank to rank */
}

/* Refreshes that make one of all banks of a rank: REFpb, or REFsb of all groups. */
static uint64_t refreshes_of_rank(const struct pim_dram_check *check)
{
    const struct pim_dram_organization *o = &check->specification.organization;
    return check->policy.same_bank ? o->banks : pim_dram_banks_per_rank(o);
}

/* Refreshes that a rank has had, in what is due once an interval: a REF is one REFpb for each bank, and a
 * REFpb for every bank is one REF. A REFsb is one REFpb for each of its banks. */
static uint64_t refreshes_done(const struct pim_dram_check *check, const struct checked_rank *rank)
{
    if (!check->policy.per_bank_refresh)
        return rank->all + rank->least;
    const uint64_t banks = pim_dram_banks_per_rank(&check->specification.organization);
    const uint64_t refreshes = refreshes_of_rank(check);
    assert(refreshes > 0 && banks >= refreshes);
    return (rank->all * banks + rank->single) / (banks / refreshes);
}

/* The k-th refresh of a rank is due so much before k x interval: staggered ranks take turns. */
static uint64_t lead(const struct pim_dram_check *check, uint32_t rank)
{
    const uint32_t ranks = pim_dram_ranks(&check->specification.organization);
    return check->policy.stagger ? refresh_interval(check) / ranks * (ranks - 1 - rank) : 0;
}

/* A refresh may be late by one interval and those that may be postponed. */
static uint64_t late_cycle(const struct pim_dram_check *check, const struct checked_channel *channel,
                           uint32_t rank)
{
    const uint64_t next = refreshes_done(check, &channel->rank[rank]) + 1;
    return (next + 1 + check->policy.postpone) * refresh_interval(check) - lead(check, rank);
}

/* Reports ranks of a channel that are late at the cycle of `command`, each once. */
static void check_lateness(struct pim_dram_check *check, struct checked_channel *channel,
                           const struct pim_dram_logged *command)
{
    if (!check->policy.refresh || command->cycle < channel->late_cycle)
        return;
    channel->late_cycle = UINT64_MAX;
    for (uint32_t i = 0; i < pim_dram_ranks(&check->specification.organization); i++) {
        struct checked_rank *rank = &channel->rank[i];
        if (rank->late)
            continue;
        uint64_t late = late_cycle(check, channel, i);
        if (command->cycle >= late) {
            struct pim_dram_logged place = *command;
            place.rank = i;
            rank->late = true; /* once is enough */
            violate(check, &place, "a refresh of the rank is overdue", NULL, 0);
        } else if (late < channel->late_cycle) {
            channel->late_cycle = late;
        }
    }
}

/* A refresh may come before it is due, but no more of them than may be postponed at most. */
static void check_earliness(struct pim_dram_check *check, const struct checked_channel *channel,
                            const struct place *place, const struct pim_dram_logged *command)
{
    uint64_t ahead = PIM_DRAM_POSTPONE_MAX;
    if (check->policy.per_bank_refresh)
        ahead *= refreshes_of_rank(check);
    const bool refreshes = command->command == PIM_DRAM_REF || command->command == PIM_DRAM_REFPB ||
                           command->command == PIM_DRAM_REFSB;
    const uint64_t due = (command->cycle + lead(check, place->rank)) / refresh_interval(check);
    if (check->policy.refresh && refreshes &&
        refreshes_done(check, &channel->rank[place->rank]) > due + ahead)
        violate(check, command, "more than 8 refreshes of the rank ahead of their time", NULL, 0);
}

enum pim_status pim_dram_check_command(struct pim_dram_check *check, const struct pim_dram_logged *command,
                                       struct pim_error *error)
{
    if (command->cycle < check->last_cycle)
        violate(check, command, "earlier than the command before", NULL, 0);
    else
        check->last_cycle = command->cycle;
    if (!check_place(check, command)) {
        check->commands++;
        return PIM_OK;
    }
    if (!check->specification.command[command->command].exists)
        violate(check, command, "the standard has no such command", NULL, 0);
    struct checked_channel *channel = channel_of(check, command->channel);
    if (!channel)
        return pim_fail(error, PIM_NO_MEMORY, "out of memory for a channel of the command check");
    const struct place place = place_of(check, command);
    for (size_t i = 0; i < check->table.count; i++)
        if (check->table.row[i].next >> command->command & 1)
            check_constraint(check, channel, &place, &check->table.row[i], command);
    check_buses(check, channel, &place, command);
    const char *broken = pim_dram_check_clock(&check->specification, &channel->clock, command);
    if (broken)
        violate(check, command, broken, NULL, 0);
    check_lateness(check, channel, command);
    check_idle(check, channel, &place, command);
    check_state(check, channel, &place, command);
    check_earliness(check, channel, &place, command);
    remember(check, channel, &place, command);
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
            cover(check, &rank, cycle);
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
