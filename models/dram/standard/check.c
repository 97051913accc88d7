/* What a standard must be: its organisation, timings, commands, rows and refreshes. */
#include "models/dram/standard/commands.h"
#include "sim/try.h"

#include <inttypes.h>
#include <stdio.h>

#define COUNT(array) (sizeof(array) / sizeof(array)[0])
#define SET(name) (UINT32_C(1) << PIM_DRAM_##name)
#define PRES (SET(PRE) | SET(PREA))
#define SINGLES (SET(REFPB) | SET(REFSB)) /* refreshes of less than a rank */
#define T(name) PIM_DRAM_T_##name

/* --- commands --- */

/* Both hold the bus for the same time. */
static enum pim_status check_alike(const struct pim_dram_specification *specification,
                                   enum pim_dram_command first, enum pim_dram_command second,
                                   struct pim_error *error)
{
    const uint32_t one = pim_dram_command_cycles(specification, first);
    const uint32_t other = pim_dram_command_cycles(specification, second);
    const uint32_t both = UINT32_C(1) << first | UINT32_C(1) << second;
    if ((pim_dram_commands(specification) & both) != both || one == other)
        return PIM_OK;
    return pim_fail(
        error, PIM_BAD_INPUT,
        "dram.commands: %s holds the bus for %u cycles and %s for %u: the controller treats them alike, "
        "both must be equal",
        specification->command[first].name, one, specification->command[second].name, other);
}

/*
 * Data count from the first cycles of RD and WR, the rows between the two from their last ones: where they
 * hold the bus for different times, that must not bring their data together.
 */
static enum pim_status check_data(const struct pim_dram_specification *specification, struct pim_error *error)
{
    const uint32_t *t = specification->parameter;
    const int64_t read = pim_dram_command_cycles(specification, PIM_DRAM_RD);
    const int64_t write = pim_dram_command_cycles(specification, PIM_DRAM_WR);
    int64_t longer = t[PIM_DRAM_T_RTW], shorter = (int64_t)t[PIM_DRAM_T_CL] + t[PIM_DRAM_T_WTR_S];
    if (specification->organization.ranks > 1) {
        longer = t[PIM_DRAM_T_CS] < longer ? t[PIM_DRAM_T_CS] : longer;
        shorter = t[PIM_DRAM_T_CS] < shorter ? t[PIM_DRAM_T_CS] : shorter;
    }
    if (write - read <= longer && read - write <= shorter)
        return PIM_OK;
    return pim_fail(error, PIM_BAD_INPUT,
                    "dram.commands: %s holds the bus for %" PRId64 " cycles and %s for %" PRId64
                    ": their data would meet; the second may have up to %" PRId64 " more, and %" PRId64
                    " less",
                    specification->command[PIM_DRAM_RD].name, read, specification->command[PIM_DRAM_WR].name,
                    write, longer, shorter);
}

enum pim_status pim_dram_commands_check(const struct pim_dram_specification *specification,
                                        struct pim_error *error)
{
    static const enum pim_dram_command twins[][2] = {
        {PIM_DRAM_RD, PIM_DRAM_RDA}, {PIM_DRAM_WR, PIM_DRAM_WRA}, {PIM_DRAM_ACT, PIM_DRAM_ACT2}};
    static const struct {
        enum pim_dram_command command;
        enum pim_dram_parameter most;
    } bounds[] = {
        {PIM_DRAM_ACT, PIM_DRAM_T_RCDRD}, {PIM_DRAM_ACT, PIM_DRAM_T_RP},   {PIM_DRAM_PRE, PIM_DRAM_T_RP},
        {PIM_DRAM_PREA, PIM_DRAM_T_RP},   {PIM_DRAM_REF, PIM_DRAM_T_RP},   {PIM_DRAM_REFPB, PIM_DRAM_T_RP},
        {PIM_DRAM_REFSB, PIM_DRAM_T_RP},  {PIM_DRAM_RD, PIM_DRAM_T_CCD_S}, {PIM_DRAM_WR, PIM_DRAM_T_CCD_S}};
    for (unsigned i = 0; i < PIM_DRAM_COMMANDS; i++) {
        const uint32_t cycles = pim_dram_command_cycles(specification, (enum pim_dram_command)i);
        if (specification->command[i].exists && (cycles == 0 || cycles > PIM_DRAM_COMMAND_CYCLES_MAX))
            return pim_fail(error, PIM_BAD_INPUT,
                            "dram.commands: %s holds the bus for %u cycles: allowed are 1 to %d",
                            specification->command[i].name, cycles, PIM_DRAM_COMMAND_CYCLES_MAX);
    }
    for (size_t i = 0; i < COUNT(twins); i++)
        if (check_alike(specification, twins[i][0], twins[i][1], error) != PIM_OK)
            return error->status;
    for (size_t i = 0; i < COUNT(bounds); i++) {
        const uint32_t cycles = pim_dram_command_cycles(specification, bounds[i].command);
        if (specification->command[bounds[i].command].exists &&
            cycles > specification->parameter[bounds[i].most])
            return pim_fail(
                error, PIM_BAD_INPUT,
                "dram.commands: %s holds the bus for %u cycles and dram.%s is %u: impossible, the first "
                "must not be above the second",
                specification->command[bounds[i].command].name, cycles,
                pim_dram_parameter_key(bounds[i].most), specification->parameter[bounds[i].most]);
    }
    return check_data(specification, error);
}

/* --- rows of the configuration's own --- */

/* What the controller would not honour, or cannot count. */
static enum pim_status check_own_rows(const struct pim_dram_specification *specification,
                                      struct pim_error *error)
{
    if (pim_dram_count_constraints(specification) > PIM_DRAM_CONSTRAINTS_MAX)
        return pim_fail(
            error, PIM_BAD_INPUT,
            "dram.constraints: %u distances between commands that hold the bus for different times: "
            "allowed are %d: give fewer rows, or fewer commands in a row",
            pim_dram_count_constraints(specification), PIM_DRAM_CONSTRAINTS_MAX);
    for (unsigned i = 0; i < specification->rows; i++) {
        const struct pim_dram_row *row = &specification->row[i];
        if (!row->own)
            continue;
        if (pim_dram_longest_distance(specification, row) > PIM_DRAM_CYCLES_MAX)
            return pim_fail(error, PIM_BAD_INPUT, "dram.constraints: %s is %lld cycles: allowed are up to %d",
                            row->text, (long long)pim_dram_longest_distance(specification, row),
                            PIM_DRAM_CYCLES_MAX);
        if (specification->half_clock && (row->previous & PRES) && row->scope > PIM_DRAM_SCOPE_RANK)
            return pim_fail(error, PIM_BAD_INPUT,
                            "dram.constraints: %s counts from PRE or PREA, which with dram.half_clock issue "
                            "at either edge: allowed are the scopes bank, group and rank",
                            row->text);
    }
    return PIM_OK;
}

/* Rows of other ranks or stack identifiers, where there are none, say nothing. */
static bool says_nothing(const struct pim_dram_organization *organization, enum pim_dram_scope scope)
{
    return (scope == PIM_DRAM_SCOPE_OTHER_RANK && organization->ranks == 1) ||
           (scope == PIM_DRAM_SCOPE_OTHER_STACK && organization->stack_ids == 1);
}

/* What rows and commands of the configuration's own may add to a refresh of a rank: every step to it, the
 * column and PRE of each bank, may wait for the longest of them, and what comes behind it for the longest
 * behind a refresh. */
static uint64_t own_delay(const struct pim_dram_specification *specification)
{
    const uint32_t refreshes = SET(REF) | SINGLES;
    int64_t longest = 0, behind = 0;
    for (unsigned i = 0; i < specification->rows; i++) {
        const struct pim_dram_row *row = &specification->row[i];
        const bool counts = row->own && !says_nothing(&specification->organization, row->scope);
        const int64_t distance = counts ? pim_dram_longest_distance(specification, row) : 0;
        if (!(row->previous & ~refreshes))
            behind = distance > behind ? distance : behind;
        else
            longest = distance > longest ? distance : longest;
    }
    uint32_t held = 1;
    for (unsigned i = 0; i < PIM_DRAM_COMMANDS; i++) {
        const uint32_t cycles = pim_dram_command_cycles(specification, (enum pim_dram_command)i);
        if (specification->command[i].own && cycles > held)
            held = cycles;
    }
    longest += 3 * ((int64_t)held - 1); /* its own cycles, and those of what it waits for on the bus */
    const uint64_t steps = 4 + 2 * (uint64_t)pim_dram_banks_per_rank(&specification->organization);
    return steps * (uint64_t)longest + (uint64_t)behind;
}

/* --- organisation, timings, refreshes --- */

static enum pim_status check_organization(const struct pim_dram_organization *organization,
                                          struct pim_error *error)
{
    const struct {
        const char *key;
        uint32_t value, most;
    } counts[] = {
        {"channels", organization->channels, PIM_DRAM_CHANNELS_MAX},
        {"pseudo_channels", organization->pseudo_channels, PIM_DRAM_RANKS_MAX},
        {"ranks", organization->ranks, PIM_DRAM_RANKS_MAX},
        {"stack_ids", organization->stack_ids, PIM_DRAM_STACKS_MAX},
        {"bank_groups", pim_dram_groups_per_stack(organization), PIM_DRAM_BANKS_MAX},
        {"banks", organization->banks, PIM_DRAM_BANKS_MAX},
        {"row_bytes / dram.access_bytes", organization->columns, 1 << 20},
        {"access_bytes", organization->access_bytes, 1 << 16},
    };
    for (size_t i = 0; i < COUNT(counts); i++)
        if (counts[i].value == 0 || counts[i].value > counts[i].most ||
            (counts[i].value & (counts[i].value - 1)) != 0)
            return pim_fail(error, PIM_BAD_INPUT, "dram.%s is %u: allowed is a power of two up to %u",
                            counts[i].key, counts[i].value, counts[i].most);
    if (organization->rows == 0 || organization->rows > UINT32_C(1) << 28)
        return pim_fail(error, PIM_BAD_INPUT, "dram.rows is %u: allowed are 1 to %u", organization->rows,
                        UINT32_C(1) << 28);
    uint32_t ranks = pim_dram_ranks(organization);
    uint64_t banks = (uint64_t)ranks * pim_dram_banks_per_rank(organization);
    if (ranks > PIM_DRAM_RANKS_MAX || banks > PIM_DRAM_BANKS_MAX)
        return pim_fail(error, PIM_BAD_INPUT,
                        "dram: a channel has %u ranks and %llu banks: allowed are %d ranks in all "
                        "pseudo-channels and %d banks in all ranks of a channel",
                        ranks, (unsigned long long)banks, PIM_DRAM_RANKS_MAX, PIM_DRAM_BANKS_MAX);
    /* All sizes have bounds, so that these products fit; the last one must too. */
    uint64_t bank_bytes = (uint64_t)organization->rows * organization->columns;
    uint64_t all_banks = banks * organization->channels * organization->access_bytes;
    if (bank_bytes > (UINT64_C(1) << 60) / all_banks)
        return pim_fail(error, PIM_BAD_INPUT,
                        "dram: the capacity is above 2^60 bytes: give fewer rows or channels");
    return PIM_OK;
}

/* Parameter `small` must not be above `large`. */
static enum pim_status check_order(const struct pim_dram_specification *specification,
                                   enum pim_dram_parameter small, enum pim_dram_parameter large,
                                   struct pim_error *error)
{
    if (specification->parameter[small] <= specification->parameter[large])
        return PIM_OK;
    return pim_fail(error, PIM_BAD_INPUT,
                    "dram.%s is %u cycles and dram.%s is %u: impossible, the first must not be above the "
                    "second",
                    pim_dram_parameter_key(small), specification->parameter[small],
                    pim_dram_parameter_key(large), specification->parameter[large]);
}

/* The longest distance of rows of `scope` or of those that hold it, which other ranks or stack identifiers do
 * not. */
static uint32_t longest_between(const struct pim_dram_constraint_table *table, enum pim_dram_scope scope,
                                unsigned previous, unsigned next)
{
    uint32_t longest = 0;
    for (size_t i = 0; i < table->count; i++) {
        const struct pim_dram_constraint *row = &table->row[i];
        const bool other =
            row->scope == PIM_DRAM_SCOPE_OTHER_STACK || row->scope == PIM_DRAM_SCOPE_OTHER_RANK;
        if ((row->scope == scope || (row->scope > scope && !other)) && row->window == 1 &&
            (row->previous >> previous & 1) && (row->next >> next & 1) && row->cycles > longest)
            longest = row->cycles;
    }
    return longest;
}

static bool has_own(const struct pim_dram_specification *specification)
{
    bool own = false;
    for (unsigned i = 0; i < PIM_DRAM_COMMANDS; i++)
        own |= specification->command[i].own;
    for (unsigned i = 0; i < specification->rows; i++)
        own |= specification->row[i].own;
    return own;
}

/* A scope that holds nothing more than a narrower one here is that one. */
static void narrow(const struct pim_dram_organization *organization, struct pim_dram_constraint_table *table)
{
    size_t kept = 0;
    for (size_t i = 0; i < table->count; i++) {
        struct pim_dram_constraint row = table->row[i];
        if (row.scope == PIM_DRAM_SCOPE_CHANNEL && organization->pseudo_channels == 1)
            row.scope = PIM_DRAM_SCOPE_PSEUDO_CHANNEL;
        if (row.scope == PIM_DRAM_SCOPE_PSEUDO_CHANNEL && organization->ranks == 1)
            row.scope = PIM_DRAM_SCOPE_RANK;
        if (!says_nothing(organization, row.scope))
            table->row[kept++] = row;
    }
    table->count = kept;
}

/* The constraints of the standard with the built-in commands, without rows of the configuration's own; on
 * wish with those that it took out. */
static enum pim_status built_in(const struct pim_dram_specification *specification, bool taken,
                                struct pim_dram_constraint_table *table, struct pim_error *error)
{
    struct pim_dram_specification left = *specification;
    left.rows = 0;
    for (unsigned i = 0; i < specification->rows; i++)
        if (!specification->row[i].own)
            left.row[left.rows++] = specification->row[i];
    for (unsigned i = 0; i < specification->taken && taken; i++)
        left.row[left.rows++] = specification->taken_row[i]; /* all of jedec fit */
    PIM_TRY(pim_dram_commands_parse(&left, "jedec", error));
    pim_dram_constraints(&left, table);
    for (size_t i = 0; i < table->count; i++)
        table->row[i].text = NULL; /* it was of the copy */
    narrow(&specification->organization, table);
    return PIM_OK;
}

/* A refresh waits behind commands, by rows of `scope`: how soon may the next such command come? One rank
 * (stack identifier) may send all of them, or several in turns. */
static uint32_t next_turn(const struct pim_dram_organization *organization,
                          const struct pim_dram_constraint_table *table, enum pim_dram_scope scope,
                          unsigned command)
{
    enum pim_dram_scope one = scope, turns = scope;
    if (scope == PIM_DRAM_SCOPE_OTHER_STACK) {
        one = PIM_DRAM_SCOPE_STACK;
        turns = organization->stack_ids > 2 ? PIM_DRAM_SCOPE_OTHER_STACK : one;
    } else if (scope == PIM_DRAM_SCOPE_OTHER_RANK || scope == PIM_DRAM_SCOPE_PSEUDO_CHANNEL) {
        one = PIM_DRAM_SCOPE_RANK;
        turns = organization->ranks > (scope == PIM_DRAM_SCOPE_OTHER_RANK ? 2 : 1) ? PIM_DRAM_SCOPE_OTHER_RANK
                                                                                   : one;
    }
    const uint32_t again = longest_between(table, one, command, command);
    const uint32_t others = longest_between(table, turns, command, command);
    const uint32_t least = others < again ? others : again;
    return least ? least : 1;
}

/* How far a refresh has to keep away from a command, by rows of the scope and wider ones, and how far the
 * next such command; by how much the first is longer. */
struct turn {
    uint32_t waits, again, longer;
};

static struct turn turn_of(const struct pim_dram_specification *specification,
                           const struct pim_dram_constraint_table *table, unsigned scope, unsigned command,
                           enum pim_dram_command refresh)
{
    const uint32_t waits = longest_between(table, (enum pim_dram_scope)scope, command, refresh);
    /* REFsb is of all groups, whose commands come in turns. */
    const bool groups = refresh == PIM_DRAM_REFSB && scope < PIM_DRAM_SCOPE_RANK;
    const enum pim_dram_scope by = groups ? PIM_DRAM_SCOPE_RANK : (enum pim_dram_scope)scope;
    const uint32_t again = next_turn(&specification->organization, table, by, command);
    return (struct turn){waits, again, waits > again ? waits - again : 0};
}

/*
 * A refresh of some banks of a rank that goes on by itself waits behind what is issued for the others. When
 * it has to keep farther away from a command than the next such command, it could wait for ever. Rows and
 * commands of the configuration's own may not add to that; what built-in rows ask for, all of them or
 * whichever are left, the controller sees to (refresh_behind_act).
 */
static enum pim_status check_turns(const struct pim_dram_specification *specification,
                                   enum pim_dram_command refresh, struct pim_error *error)
{
    struct pim_dram_constraint_table table, before, whole;
    if (!has_own(specification))
        return PIM_OK;
    PIM_TRY(built_in(specification, false, &before, error));
    PIM_TRY(built_in(specification, true, &whole, error));
    pim_dram_constraints(specification, &table);
    narrow(&specification->organization, &table);
    for (unsigned i = 0; i < PIM_DRAM_COMMANDS; i++)
        for (unsigned scope = PIM_DRAM_SCOPE_GROUP; scope <= PIM_DRAM_SCOPE_CHANNEL; scope++) {
            const struct turn turn = turn_of(specification, &table, scope, i, refresh);
            if (!(SINGLES >> i & 1) && i != PIM_DRAM_REF && i != PIM_DRAM_PREA &&
                turn.longer > turn_of(specification, &before, scope, i, refresh).longer &&
                turn.longer > turn_of(specification, &whole, scope, i, refresh).longer)
                return pim_fail(
                    error, PIM_BAD_INPUT,
                    "dram.maintenance: behind %s another one comes after %u cycles and %s after %u, "
                    "for which it could wait for ever: allowed is \"channel\"",
                    specification->command[i].name, turn.again, specification->command[refresh].name,
                    turn.waits);
        }
    return PIM_OK;
}

/* Names what is allowed, also of banks that compute; `ranks_help`: the interval would do for ranks that
 * refresh by themselves. */
static enum pim_status refuse_interval(const struct pim_dram_specification *specification, bool per_bank,
                                       uint64_t interval, uint64_t least, bool ranks_help,
                                       struct pim_error *error)
{
    const uint32_t *parameter = specification->parameter;
    const char *key = per_bank ? "trefi_bank" : "trefi";
    const uint64_t step =
        !per_bank && parameter[T(AA)] > 0 ? pim_dram_computing_step(specification) + parameter[T(RFC)] : 0;
    const uint64_t needed = step > least + 1 ? step : least + 1;
    const uint64_t others = per_bank ? interval : needed - parameter[T(RFC)];
    char enough[PIM_DRAM_INTERVAL_TEXT], computing[80] = "";
    if (step > least + 1)
        (void)snprintf(computing, sizeof computing,
                       ", and at least %" PRIu64 " for a step of banks that compute", step);
    pim_dram_interval_text(enough, specification, key, needed, interval > others ? interval - others : 0);
    return pim_fail(error, PIM_BAD_INPUT,
                    "dram.%s: refreshes are %" PRIu64 " cycles of %" PRIu32
                    " ps apart, but closing the rows and refreshing takes up to %" PRIu64
                    ": give more than that%s, %s%s, or dram.refresh = false",
                    key, interval, specification->clock_ps, least, computing, enough,
                    ranks_help ? ", dram.maintenance = \"rank\"" : "");
}

/*
 * What refreshes of banks take at most, when closing the rows of one takes `close` and so many ranks wait for
 * one another. REFpb keeps the next one of its rank away while the rows of that are closed; alone it has to
 * let in an ACT that came just before. REFsb, for which more banks are closed, has the sum of both.
 */
static uint64_t longest_step(const struct pim_dram_specification *specification, bool same_bank,
                             uint64_t waits, uint64_t close)
{
    const uint32_t *parameter = specification->parameter;
    const uint64_t turns =
        same_bank ? specification->organization.banks : pim_dram_banks_per_rank(&specification->organization);
    const uint64_t apart = parameter[T(REFPB_REFPB)];
    const uint64_t others = same_bank && apart > parameter[T(RREFD)] ? apart : parameter[T(RREFD)];
    const uint64_t steps = waits * (close + others) + parameter[T(RFCPB)] / turns;
    const uint64_t least = apart + (waits > 1 ? waits * close : parameter[T(RRD_L)] + 2);
    return steps > least ? steps : least;
}

/* Rows of a rank open so far apart, in the mean: by tFAW and tRRD, where their rows were not taken out. */
static uint64_t least_opening(const struct pim_dram_specification *specification)
{
    uint64_t fourth = (specification->parameter[T(FAW)] + UINT64_C(3)) / 4;
    uint64_t next = specification->parameter[T(RRD_S)];
    for (unsigned i = 0; i < specification->taken; i++) {
        const struct pim_dram_row *row = &specification->taken_row[i];
        if (row->scope == PIM_DRAM_SCOPE_RANK && (row->previous & row->next & SET(ACT)) != 0)
            *(row->window > 1 ? &fourth : &next) = 0;
    }
    return fourth > next ? fourth : next;
}

/*
 * Independent refreshes let in no row of another rank while they wait for a request whose row is open, but
 * the rows that were opened before are served first, each at another rank's distance on the data bus: in all
 * banks of the other ranks, unless rows open no faster than the bus serves them. Ranks that take turns
 * (refresh_stagger) wait as long: rows open as freely between their refreshes.
 */
static uint64_t others_served(const struct pim_dram_specification *specification, bool same_bank)
{
    const uint32_t *parameter = specification->parameter;
    const struct pim_dram_organization *organization = &specification->organization;
    const uint64_t change = parameter[T(B)] + parameter[T(CS)];
    const uint64_t step = change > parameter[T(CCD_S)] ? change : parameter[T(CCD_S)];
    const uint64_t open = least_opening(specification);
    const uint64_t precharges = same_bank ? (uint64_t)organization->bank_groups * (parameter[T(PPD)] + 1) : 0;
    const uint64_t served =
        organization->ranks * step > open ? pim_dram_banks_per_rank(organization) * step : 0;
    return (organization->ranks - 1) * (served + precharges);
}

/* Requests of other stack identifiers whose rows are open are served first: one change between two of them,
 * or as many as there are banks where rows open faster than that. */
static uint64_t stacks_served(const struct pim_dram_specification *specification)
{
    const uint32_t change = specification->parameter[T(CCD_R)];
    if (specification->organization.stack_ids == 1)
        return 0;
    return change > least_opening(specification)
               ? (uint64_t)pim_dram_banks_per_rank(&specification->organization) * change
               : change;
}

static enum pim_status check_refresh(const struct pim_dram_specification *specification,
                                     enum pim_dram_refreshing refreshing, bool independent,
                                     struct pim_error *error)
{
    const uint32_t *parameter = specification->parameter;
    const bool same_bank = refreshing == PIM_DRAM_SAME_BANK;
    const bool per_bank_refresh = refreshing == PIM_DRAM_PER_BANK || same_bank;
    const uint64_t ranks = pim_dram_ranks(&specification->organization);
    /* What one refresh takes at most: the row that is open is served, behind those of the other banks of its
     * group, and closed first. Every rank waits for those before it; independent ones only for the bus. */
    uint64_t served = (uint64_t)(specification->organization.banks - 1) * parameter[PIM_DRAM_T_CCD_L_WR];
    const uint64_t row = (uint64_t)parameter[PIM_DRAM_T_RAS] + parameter[PIM_DRAM_T_RP];
    uint64_t close = (row > parameter[PIM_DRAM_T_RC] ? row : parameter[PIM_DRAM_T_RC]) + served +
                     parameter[PIM_DRAM_T_AAD] + parameter[PIM_DRAM_T_CWL] + parameter[PIM_DRAM_T_B] +
                     parameter[PIM_DRAM_T_WR_PRE] + parameter[PIM_DRAM_T_RPAB];
    if (same_bank) /* each of its banks is served and closed, one behind the other on the buses */
        close += (uint64_t)(specification->organization.bank_groups - 1) *
                 (parameter[PIM_DRAM_T_CCD_S] + parameter[PIM_DRAM_T_PPD] + 1);
    close += stacks_served(specification);
    if (independent)
        close += others_served(specification, same_bank);
    const uint64_t waits = independent ? 1 : ranks;
    uint64_t least = waits * close + parameter[PIM_DRAM_T_RFC];
    if (per_bank_refresh)
        least = longest_step(specification, same_bank, waits, close);
    least += ranks * (own_delay(specification) + (independent ? 4 : 0));
    const uint64_t interval =
        per_bank_refresh ? pim_dram_bank_refresh_interval(specification) : parameter[PIM_DRAM_T_REFI];
    if (independent && per_bank_refresh &&
        check_turns(specification, same_bank ? PIM_DRAM_REFSB : PIM_DRAM_REFPB, error) != PIM_OK)
        return error->status;
    if (interval > least)
        return PIM_OK;
    struct pim_error ignored = {0};
    const bool ranks_help =
        !independent && ranks > 1 && check_refresh(specification, refreshing, true, &ignored) == PIM_OK;
    return refuse_interval(specification, per_bank_refresh, interval, least, ranks_help, error);
}

/* Commands at the edges of the clock, activations in two halves, the write clock. */
static enum pim_status check_clocks(const struct pim_dram_specification *specification,
                                    struct pim_error *error)
{
    const uint32_t *parameter = specification->parameter;
    const bool low_power = specification->write_clock || parameter[T(AAD)] > 0;
    if (specification->half_clock && (!specification->split_command_bus || low_power))
        return pim_fail(error, PIM_BAD_INPUT,
                        "dram.half_clock: needs dram.split_command_bus, and neither dram.taad nor "
                        "dram.write_clock");
    if (specification->half_clock && specification->organization.ranks > 1)
        return pim_fail(error, PIM_BAD_INPUT,
                        "dram.ranks is %u: with dram.half_clock there is one (HBM3 has dram.stack_ids)",
                        specification->organization.ranks);
    uint32_t held = 1;
    for (unsigned i = 0; i < PIM_DRAM_COMMANDS; i++)
        if (specification->command[i].exists &&
            pim_dram_command_cycles(specification, (enum pim_dram_command)i) > held)
            held = pim_dram_command_cycles(specification, (enum pim_dram_command)i);
    if (low_power && (specification->split_command_bus || held > 1 || parameter[T(AA)] > 0))
        return pim_fail(error, PIM_BAD_INPUT,
                        "dram.%s: needs one command bus (dram.split_command_bus = false), commands of one "
                        "cycle (dram.activate_cycles, dram.column_cycles, dram.commands) and no dram.taa",
                        specification->write_clock ? "write_clock" : "taad");
    uint32_t least = parameter[T(RCDRD)] < parameter[T(RCDWR)] ? parameter[T(RCDRD)] : parameter[T(RCDWR)];
    if (parameter[T(AAD)] >= least)
        return pim_fail(error, PIM_BAD_INPUT,
                        "dram.taad is %u cycles: must be below dram.trcd_read and dram.trcd_write, the least "
                        "of which is %u",
                        parameter[T(AAD)], least);
    return PIM_OK;
}

enum pim_status pim_dram_check_specification(const struct pim_dram_specification *specification,
                                             enum pim_dram_refreshing refreshing, bool independent,
                                             struct pim_error *error)
{
    if (check_organization(&specification->organization, error) != PIM_OK)
        return error->status;
    static const enum pim_dram_parameter positive[] = {T(B),     T(CL),    T(CWL),   T(RCDRD),
                                                       T(RCDWR), T(RP),    T(RAS),   T(RC),
                                                       T(RTP),   T(CCD_S), T(CCD_L), T(CCD_L_WR)};
    for (size_t i = 0; i < COUNT(positive); i++)
        if (specification->parameter[positive[i]] == 0)
            return pim_fail(error, PIM_BAD_INPUT, "dram.%s is 0: allowed are 1 cycle and more",
                            pim_dram_parameter_key(positive[i]));
    for (unsigned i = 1; i < PIM_DRAM_PARAMETERS; i++) {
        uint32_t most = i == T(REFI) || i == T(REFIPB) ? PIM_DRAM_REFRESH_INTERVAL_MAX : PIM_DRAM_CYCLES_MAX;
        if (specification->parameter[i] > most)
            return pim_fail(error, PIM_BAD_INPUT, "dram.%s is %u: allowed are up to %u cycles",
                            pim_dram_parameter_key((enum pim_dram_parameter)i), specification->parameter[i],
                            most);
    }
    static const enum pim_dram_parameter ordered[][2] = {
        {T(RAS), T(RC)},      {T(RCDRD), T(RAS)},   {T(RCDWR), T(RAS)},     {T(CCD_S), T(CCD_L)},
        {T(RRD_S), T(RRD_L)}, {T(WTR_S), T(WTR_L)}, {T(CCD_S), T(CCD_L_WR)}};
    for (size_t i = 0; i < COUNT(ordered); i++)
        if (check_order(specification, ordered[i][0], ordered[i][1], error) != PIM_OK)
            return error->status;
    if (pim_dram_commands_check(specification, error) != PIM_OK ||
        check_clocks(specification, error) != PIM_OK || check_own_rows(specification, error) != PIM_OK)
        return error->status;
    return refreshing == PIM_DRAM_NOT_REFRESHED
               ? PIM_OK
               : check_refresh(specification, refreshing, independent, error);
}
