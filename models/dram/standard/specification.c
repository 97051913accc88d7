/* The table of constraints: the evaluation of its rows, and the checks. */
#include "models/dram/standard/specification.h"

#include "models/dram/standard/commands.h"

#include <assert.h>
#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof(array)[0])
#define SET(name) (UINT32_C(1) << PIM_DRAM_##name)
#define READS (SET(RD) | SET(RDA))
#define WRITES (SET(WR) | SET(WRA))
#define PRES (SET(PRE) | SET(PREA))
#define SINGLES (SET(REFPB) | SET(REFSB)) /* refreshes of less than a rank */
#define COLUMNS (READS | WRITES)
#define ROW_COMMANDS (SET(ACT) | SET(ACT2) | PRES | SET(REF) | SINGLES)
#define T(name) PIM_DRAM_T_##name

const char *pim_dram_command_text(enum pim_dram_command command)
{
    static const char *const texts[] = {
#define X(name, text) text,
        PIM_DRAM_COMMAND_MAP(X)
#undef X
    };
    assert(command < PIM_DRAM_COMMANDS);
    return texts[command];
}

enum pim_dram_command pim_dram_command_parse(const char *text)
{
    unsigned command = 0;
    while (command < PIM_DRAM_COMMANDS &&
           strcmp(text, pim_dram_command_text((enum pim_dram_command)command)) != 0)
        command++;
    return (enum pim_dram_command)command;
}

const char *pim_dram_scope_text(enum pim_dram_scope scope)
{
    static const char *const texts[] = {"bank",       "bank group",     "rank",
                                        "other rank", "pseudo-channel", "channel"};
    return texts[scope];
}

const char *pim_dram_parameter_key(enum pim_dram_parameter parameter)
{
    static const char *const keys[] = {"",
#define X(name, key, fallback, text) key,
                                       PIM_DRAM_PARAMETER_MAP(X)
#undef X
    };
    assert(parameter < PIM_DRAM_PARAMETERS);
    return keys[parameter];
}

uint32_t pim_dram_bank_refresh_interval(const struct pim_dram_specification *specification)
{
    uint32_t given = specification->parameter[PIM_DRAM_T_REFIPB];
    return given ? given
                 : specification->parameter[PIM_DRAM_T_REFI] /
                       pim_dram_banks_per_rank(&specification->organization);
}

uint64_t pim_dram_capacity(const struct pim_dram_organization *organization)
{
    return (uint64_t)organization->channels * pim_dram_ranks(organization) *
           pim_dram_banks_per_rank(organization) * organization->rows * organization->columns *
           organization->access_bytes;
}

uint32_t pim_dram_command_cycles(const struct pim_dram_specification *specification,
                                 enum pim_dram_command command)
{
    const struct pim_dram_term *term = &specification->command[command].cycles;
    return term->parameter ? specification->parameter[term->parameter] : term->cycles;
}

uint32_t pim_dram_commands(const struct pim_dram_specification *specification)
{
    uint32_t set = 0;
    for (unsigned i = 0; i < PIM_DRAM_COMMANDS; i++)
        set |= (uint32_t)specification->command[i].exists << i;
    return specification->parameter[T(AA)] > 0 ? set : set & ~SET(ACT2);
}

/* The commands of a set that hold the bus as long as its first one. */
static uint32_t alike(const struct pim_dram_specification *specification, uint32_t set)
{
    uint32_t cycles = 0, found = 0;
    for (unsigned i = 0; i < PIM_DRAM_COMMANDS; i++) {
        const uint32_t own = pim_dram_command_cycles(specification, (enum pim_dram_command)i);
        if (!(set >> i & 1))
            continue;
        cycles = found ? cycles : own;
        found |= own == cycles ? UINT32_C(1) << i : 0;
    }
    return found;
}

/* Cycles that commands which are alike hold the bus. */
static int64_t cycles_of(const struct pim_dram_specification *specification, uint32_t set)
{
    unsigned i = 0;
    while (!(set >> i & 1))
        i++;
    return pim_dram_command_cycles(specification, (enum pim_dram_command)i);
}

static void add(struct pim_dram_constraint_table *table, struct pim_dram_constraint constraint)
{
    assert(table->count < PIM_DRAM_CONSTRAINTS_MAX);
    table->row[table->count++] = constraint;
}

/* Commands that hold their bus for more than one cycle keep the others of that bus away. */
static void add_bus_rows(const struct pim_dram_specification *specification,
                         struct pim_dram_constraint_table *table)
{
    const uint32_t known = pim_dram_commands(specification) & (ROW_COMMANDS | COLUMNS);
    for (uint32_t left = known, set; left; left &= ~set) {
        set = alike(specification, left);
        const int64_t cycles = cycles_of(specification, set);
        for (unsigned bus = 0; cycles > 1 && bus < 2; bus++) {
            const uint32_t own = bus ? set & COLUMNS : set & ~COLUMNS;
            const uint32_t same_bus = !specification->split_command_bus ? known
                                      : bus                             ? known & COLUMNS
                                                                        : known & ~COLUMNS;
            if (own)
                add(table, (struct pim_dram_constraint){PIM_DRAM_SCOPE_CHANNEL, own, same_bus,
                                                        (uint32_t)cycles, 1, "a command holds its bus"});
        }
    }
}

/* The distance of a row in cycles, as the standard counts it; 0 or less: the row constrains nothing. */
static int64_t distance_of(const struct pim_dram_specification *specification, const struct pim_dram_row *row)
{
    int64_t cycles = 0;
    for (unsigned i = 0; i < row->terms; i++) {
        const struct pim_dram_term *term = &row->term[i];
        const int64_t value = term->parameter ? specification->parameter[term->parameter] : term->cycles;
        cycles += term->minus ? -value : value;
    }
    return cycles;
}

/* The most that a row asks for between the first cycles of two of its commands. */
static int64_t longest_of(const struct pim_dram_specification *specification, const struct pim_dram_row *row)
{
    const int64_t distance = distance_of(specification, row);
    int64_t previous = 0, next = PIM_DRAM_COMMAND_CYCLES_MAX;
    for (unsigned i = 0; i < PIM_DRAM_COMMANDS; i++) {
        const int64_t cycles = pim_dram_command_cycles(specification, (enum pim_dram_command)i);
        if ((row->previous >> i & 1) && cycles > previous)
            previous = cycles;
        if ((row->next >> i & 1) && cycles < next)
            next = cycles;
    }
    return distance > 0 ? distance + previous - next : 0;
}

static void add_row(const struct pim_dram_specification *specification, const struct pim_dram_row *row,
                    struct pim_dram_constraint_table *table)
{
    const uint32_t known = pim_dram_commands(specification);
    const int64_t distance = distance_of(specification, row);
    /* A parameter that is 0 switches its row off: nothing is longer for taking two cycles. */
    if (distance <= 0)
        return;
    for (uint32_t left = row->previous & known, previous; left; left &= ~previous) {
        previous = alike(specification, left);
        for (uint32_t rest = row->next & known, next; rest; rest &= ~next) {
            next = alike(specification, rest);
            /* JEDEC counts from the last cycle of a command to the last cycle of the next one. */
            const int64_t cycles =
                distance + cycles_of(specification, previous) - cycles_of(specification, next);
            if (cycles > 0)
                add(table, (struct pim_dram_constraint){row->scope, previous, next, (uint32_t)cycles,
                                                        row->window, row->text});
        }
    }
}

void pim_dram_constraints(const struct pim_dram_specification *specification,
                          struct pim_dram_constraint_table *table)
{
    assert(specification->standard);
    table->count = 0;
    for (unsigned i = 0; i < specification->rows; i++)
        add_row(specification, &specification->row[i], table);
    add_bus_rows(specification, table);
}

void pim_dram_own_constraints(const struct pim_dram_specification *specification,
                              struct pim_dram_constraint_table *table)
{
    for (unsigned i = 0; i < specification->rows; i++)
        if (specification->row[i].own)
            add_row(specification, &specification->row[i], table);
}

/* Constraints that the rows become. */
static unsigned count_of(const struct pim_dram_specification *specification)
{
    unsigned count = 2 * PIM_DRAM_COMMANDS;
    for (unsigned i = 0; i < specification->rows; i++) {
        unsigned groups[2] = {0};
        const uint32_t sets[2] = {specification->row[i].previous, specification->row[i].next};
        for (unsigned side = 0; side < 2; side++)
            for (uint32_t left = sets[side]; left; left &= ~alike(specification, left))
                groups[side]++;
        count += groups[0] * groups[1];
    }
    return count;
}

/* What the controller would not honour, or cannot count. */
static enum pim_status check_own_rows(const struct pim_dram_specification *specification,
                                      struct pim_error *error)
{
    if (count_of(specification) > PIM_DRAM_CONSTRAINTS_MAX)
        return pim_fail(
            error, PIM_BAD_INPUT,
            "dram.constraints: %u distances between commands that hold the bus for different times: "
            "allowed are %d: give fewer rows, or fewer commands in a row",
            count_of(specification), PIM_DRAM_CONSTRAINTS_MAX);
    for (unsigned i = 0; i < specification->rows; i++) {
        const struct pim_dram_row *row = &specification->row[i];
        if (!row->own)
            continue;
        if (longest_of(specification, row) > PIM_DRAM_CYCLES_MAX)
            return pim_fail(error, PIM_BAD_INPUT, "dram.constraints: %s is %lld cycles: allowed are up to %d",
                            row->text, (long long)longest_of(specification, row), PIM_DRAM_CYCLES_MAX);
        if (specification->half_clock && (row->previous & PRES) && row->scope > PIM_DRAM_SCOPE_RANK)
            return pim_fail(error, PIM_BAD_INPUT,
                            "dram.constraints: %s counts from PRE or PREA, which with dram.half_clock issue "
                            "at either edge: allowed are the scopes bank, group and rank",
                            row->text);
    }
    return PIM_OK;
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
        const int64_t distance = row->own ? longest_of(specification, row) : 0;
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
        {"bank_groups", organization->bank_groups, PIM_DRAM_BANKS_MAX},
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

/* The longest distance of rows of `scope` or wider. */
static uint32_t longest_between(const struct pim_dram_constraint_table *table, enum pim_dram_scope scope,
                                unsigned previous, unsigned next)
{
    uint32_t longest = 0;
    for (size_t i = 0; i < table->count; i++) {
        const struct pim_dram_constraint *row = &table->row[i];
        if (row->scope >= scope && row->window == 1 && (row->previous >> previous & 1) &&
            (row->next >> next & 1) && row->cycles > longest)
            longest = row->cycles;
    }
    return longest;
}

/*
 * A refresh of some banks of a rank that goes on by itself waits behind what is issued for the others. When
 * it has to keep farther away from a command than the next such command, it could wait for ever. (No built-in
 * standard has been seen to.)
 */
static enum pim_status check_turns(const struct pim_dram_specification *specification,
                                   enum pim_dram_command refresh, struct pim_error *error)
{
    bool own = false;
    struct pim_dram_constraint_table table;
    for (unsigned i = 0; i < PIM_DRAM_COMMANDS; i++)
        own |= specification->command[i].own;
    for (unsigned i = 0; i < specification->rows; i++)
        own |= specification->row[i].own;
    if (!own)
        return PIM_OK;
    pim_dram_constraints(specification, &table);
    for (unsigned i = 0; i < PIM_DRAM_COMMANDS; i++)
        for (unsigned scope = PIM_DRAM_SCOPE_GROUP; scope <= PIM_DRAM_SCOPE_RANK; scope++) {
            const uint32_t waits = longest_between(&table, (enum pim_dram_scope)scope, i, refresh);
            const uint32_t again = longest_between(&table, (enum pim_dram_scope)scope, i, i);
            if (waits > again && waits > 1 && !(SINGLES >> i & 1) && i != PIM_DRAM_REF && i != PIM_DRAM_PREA)
                return pim_fail(
                    error, PIM_BAD_INPUT,
                    "dram.maintenance: behind %s another one comes after %u cycles and %s after %u, "
                    "for which it could wait for ever: allowed is \"channel\"",
                    specification->command[i].name, again ? again : 1, specification->command[refresh].name,
                    waits);
        }
    return PIM_OK;
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
    uint64_t close = (uint64_t)parameter[PIM_DRAM_T_RC] + served + parameter[PIM_DRAM_T_AAD] +
                     parameter[PIM_DRAM_T_CWL] + parameter[PIM_DRAM_T_B] + parameter[PIM_DRAM_T_WR_PRE] +
                     parameter[PIM_DRAM_T_RPAB];
    if (same_bank) /* each of its banks is served and closed, one behind the other on the buses */
        close += (uint64_t)(specification->organization.bank_groups - 1) *
                 (parameter[PIM_DRAM_T_CCD_S] + parameter[PIM_DRAM_T_PPD] + 1);
    const uint64_t apart =
        parameter[PIM_DRAM_T_RREFD] > parameter[PIM_DRAM_T_REFPB_REFPB] || !(independent || same_bank)
            ? parameter[PIM_DRAM_T_RREFD]
            : parameter[PIM_DRAM_T_REFPB_REFPB];
    const uint64_t waits = independent ? 1 : ranks;
    uint64_t least = per_bank_refresh
                         ? waits * (close + apart) +
                               parameter[PIM_DRAM_T_RFCPB] /
                                   (same_bank ? specification->organization.banks
                                              : pim_dram_banks_per_rank(&specification->organization))
                         : waits * close + parameter[PIM_DRAM_T_RFC];
    if (independent)
        least += 4 * ranks;
    least += ranks * own_delay(specification);
    uint64_t interval =
        per_bank_refresh ? pim_dram_bank_refresh_interval(specification) : parameter[PIM_DRAM_T_REFI];
    if (independent && per_bank_refresh &&
        check_turns(specification, same_bank ? PIM_DRAM_REFSB : PIM_DRAM_REFPB, error) != PIM_OK)
        return error->status;
    if (interval <= least)
        return pim_fail(error, PIM_BAD_INPUT,
                        "dram.%s: refreshes are %llu cycles apart, but closing the rows and refreshing takes "
                        "up to %llu: give more than that, or dram.refresh = false",
                        per_bank_refresh ? "trefi_bank" : "trefi", (unsigned long long)interval,
                        (unsigned long long)least);
    return PIM_OK;
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
                        "dram.ranks is %u: with dram.half_clock there is one (HBM3 has stack identifiers, "
                        "which are not modelled)",
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
