/* The table of constraints: the evaluation of its rows, and the checks. */
#include "models/dram/standard/specification.h"

#include <assert.h>
#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof(array)[0])
#define SET(name) (UINT32_C(1) << PIM_DRAM_##name)
#define READS (SET(RD) | SET(RDA))
#define WRITES (SET(WR) | SET(WRA))
#define PRES (SET(PRE) | SET(PREA))
#define SINGLES (SET(REFPB) | SET(REFSB)) /* refreshes of less than a rank */
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

#define ACTIVATES (SET(ACT) | SET(ACT2))
#define COLUMNS (READS | WRITES)

/* Cycles that a set of commands holds the bus. */
static int64_t command_cycles(const struct pim_dram_specification *specification, uint32_t set)
{
    assert(!(set & ACTIVATES) || !(set & ~ACTIVATES));
    assert(!(set & COLUMNS) || !(set & ~COLUMNS));
    if (set & ACTIVATES)
        return specification->parameter[PIM_DRAM_T_ACT_CYCLES];
    return set & COLUMNS ? specification->parameter[PIM_DRAM_T_COLUMN_CYCLES] : 1;
}

/* Commands that hold their bus for more than one cycle keep the others of that bus away. */
static void add_bus_rows(const struct pim_dram_specification *specification, bool second,
                         struct pim_dram_constraint_table *table)
{
    const uint32_t rows = (second ? ACTIVATES : SET(ACT)) | PRES | SET(REF) | SINGLES;
    const struct {
        uint32_t previous, same_bus, cycles;
        const char *text;
    } held[] = {{second ? ACTIVATES : SET(ACT), rows, specification->parameter[PIM_DRAM_T_ACT_CYCLES],
                 "ACT holds the command bus"},
                {COLUMNS, COLUMNS, specification->parameter[PIM_DRAM_T_COLUMN_CYCLES],
                 "RD and WR hold the command bus"}};
    for (size_t i = 0; i < COUNT(held); i++) {
        if (held[i].cycles <= 1)
            continue;
        assert(table->count < PIM_DRAM_CONSTRAINTS_MAX);
        table->row[table->count++] =
            (struct pim_dram_constraint){PIM_DRAM_SCOPE_CHANNEL,
                                         held[i].previous,
                                         specification->split_command_bus ? held[i].same_bus : rows | COLUMNS,
                                         held[i].cycles,
                                         1,
                                         held[i].text};
    }
}

/* The distance of a row in cycles, from the first cycle of a command to the first of the next; 0 or less: the
 * row constrains nothing. */
static int64_t distance_of(const struct pim_dram_specification *specification, const struct pim_dram_row *row)
{
    int64_t cycles = 0;
    for (unsigned i = 0; i < row->terms; i++) {
        const struct pim_dram_term *term = &row->term[i];
        const int64_t value = term->parameter ? specification->parameter[term->parameter] : term->cycles;
        cycles += term->minus ? -value : value;
    }
    /* A parameter that is 0 switches its row off: nothing is longer for taking two cycles. */
    if (cycles <= 0)
        return 0;
    /* JEDEC counts from the last cycle of a command to the last cycle of the next one. */
    return cycles + command_cycles(specification, row->previous) - command_cycles(specification, row->next);
}

static void add_rows(const struct pim_dram_specification *specification, bool own_alone,
                     struct pim_dram_constraint_table *table)
{
    const uint32_t known = specification->parameter[T(AA)] > 0 ? UINT32_MAX : ~SET(ACT2);
    for (unsigned i = 0; i < specification->rows; i++) {
        const struct pim_dram_row *row = &specification->row[i];
        const uint32_t previous = row->previous & known, next = row->next & known;
        const int64_t cycles = distance_of(specification, row);
        if (cycles <= 0 || previous == 0 || next == 0 || (own_alone && !row->own))
            continue;
        assert(table->count < PIM_DRAM_CONSTRAINTS_MAX);
        table->row[table->count++] = (struct pim_dram_constraint){row->scope,       previous,    next,
                                                                  (uint32_t)cycles, row->window, row->text};
    }
}

void pim_dram_constraints(const struct pim_dram_specification *specification,
                          struct pim_dram_constraint_table *table)
{
    assert(specification->standard);
    table->count = 0;
    add_rows(specification, false, table);
    add_bus_rows(specification, specification->parameter[T(AA)] > 0, table);
}

void pim_dram_own_constraints(const struct pim_dram_specification *specification,
                              struct pim_dram_constraint_table *table)
{
    add_rows(specification, true, table);
}

/* What the controller would not honour, or cannot count. */
static enum pim_status check_own_rows(const struct pim_dram_specification *specification,
                                      struct pim_error *error)
{
    for (unsigned i = 0; i < specification->rows; i++) {
        const struct pim_dram_row *row = &specification->row[i];
        if (!row->own)
            continue;
        if (distance_of(specification, row) > PIM_DRAM_CYCLES_MAX)
            return pim_fail(error, PIM_BAD_INPUT, "dram.constraints: %s is %lld cycles: allowed are up to %d",
                            row->text, (long long)distance_of(specification, row), PIM_DRAM_CYCLES_MAX);
        if (specification->half_clock && (row->previous & PRES) && row->scope > PIM_DRAM_SCOPE_RANK)
            return pim_fail(error, PIM_BAD_INPUT,
                            "dram.constraints: %s counts from PRE or PREA, which with dram.half_clock issue "
                            "at either edge: allowed are the scopes bank, group and rank",
                            row->text);
    }
    return PIM_OK;
}

/* What rows of the configuration's own may add to a refresh of a rank: every step to it, the column
 * and PRE of each bank, may wait for the longest of them, and what comes behind it for the longest behind a
 * refresh. */
static uint64_t own_delay(const struct pim_dram_specification *specification)
{
    const uint32_t refreshes = SET(REF) | SINGLES;
    int64_t longest = 0, behind = 0;
    for (unsigned i = 0; i < specification->rows; i++) {
        const struct pim_dram_row *row = &specification->row[i];
        const int64_t distance = row->own ? distance_of(specification, row) : 0;
        if (!(row->previous & ~refreshes))
            behind = distance > behind ? distance : behind;
        else
            longest = distance > longest ? distance : longest;
    }
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
    if (low_power && (specification->split_command_bus || parameter[T(ACT_CYCLES)] > 1 ||
                      parameter[T(COLUMN_CYCLES)] > 1 || parameter[T(AA)] > 0))
        return pim_fail(error, PIM_BAD_INPUT,
                        "dram.%s: needs one command bus (dram.split_command_bus = false), commands of one "
                        "cycle (dram.activate_cycles, dram.column_cycles) and no dram.taa",
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
    static const enum pim_dram_parameter positive[] = {
        T(B),  T(CL),  T(CWL),        T(RCDRD), T(RCDWR), T(RP),       T(RAS),
        T(RC), T(RTP), T(ACT_CYCLES), T(CCD_S), T(CCD_L), T(CCD_L_WR), T(COLUMN_CYCLES)};
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
        {T(RAS), T(RC)},           {T(RCDRD), T(RAS)},
        {T(RCDWR), T(RAS)},        {T(CCD_S), T(CCD_L)},
        {T(RRD_S), T(RRD_L)},      {T(WTR_S), T(WTR_L)},
        {T(ACT_CYCLES), T(RCDRD)}, {T(ACT_CYCLES), T(RP)},
        {T(CCD_S), T(CCD_L_WR)},   {T(COLUMN_CYCLES), T(CCD_S)}};
    for (size_t i = 0; i < COUNT(ordered); i++)
        if (check_order(specification, ordered[i][0], ordered[i][1], error) != PIM_OK)
            return error->status;
    if (check_clocks(specification, error) != PIM_OK || check_own_rows(specification, error) != PIM_OK)
        return error->status;
    return refreshing == PIM_DRAM_NOT_REFRESHED
               ? PIM_OK
               : check_refresh(specification, refreshing, independent, error);
}
