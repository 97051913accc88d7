/* The table of constraints as expressions over the parameters, its evaluation, and the checks. */
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
#define BANK PIM_DRAM_SCOPE_BANK
#define GROUP PIM_DRAM_SCOPE_GROUP
#define RANK PIM_DRAM_SCOPE_RANK
#define OTHER PIM_DRAM_SCOPE_OTHER_RANK
#define PSEUDO PIM_DRAM_SCOPE_PSEUDO_CHANNEL

enum { TERMS = 5 };

/*
 * One constraint before evaluation: the distance is the sum of the parameters in `plus` minus those in
 * `minus`. A set has activations, column commands or others, because each of these three may hold the bus for
 * another number of cycles.
 */
struct rule {
    enum pim_dram_scope scope;
    uint32_t previous, next;
    uint8_t plus[TERMS];
    uint8_t minus;
    uint8_t window;
    const char *text;
};

static const struct rule rules[] = {
    /* Column commands: the data bus, and the path from the bank groups to it. */
    {PSEUDO, READS, READS, {T(B)}, 0, 1, "B"},
    {PSEUDO, WRITES, WRITES, {T(B)}, 0, 1, "B"},
    {OTHER, READS, READS, {T(B), T(CS)}, 0, 1, "B + tCS"},
    {OTHER, READS, WRITES, {T(CL), T(B), T(CS)}, T(CWL), 1, "tCL + B + tCS - tCWL"},
    {OTHER, WRITES, READS, {T(CWL), T(B), T(CS)}, T(CL), 1, "tCWL + B + tCS - tCL"},
    {RANK, READS, READS, {T(CCD_S)}, 0, 1, "tCCD_S"},
    {RANK, WRITES, WRITES, {T(CCD_S)}, 0, 1, "tCCD_S"},
    {RANK, READS, WRITES, {T(CL), T(B), T(RTW)}, T(CWL), 1, "tCL + B + tRTW - tCWL"},
    {RANK, WRITES, READS, {T(CWL), T(B), T(WTR_S)}, 0, 1, "tCWL + B + tWTR_S"},
    {GROUP, READS, READS, {T(CCD_L)}, 0, 1, "tCCD_L"},
    {GROUP, WRITES, WRITES, {T(CCD_L_WR)}, 0, 1, "tCCD_L (write)"},
    {GROUP, WRITES, READS, {T(CWL), T(B), T(WTR_L)}, 0, 1, "tCWL + B + tWTR_L"},
    /* Rows of one bank. */
    {BANK, SET(ACT), SET(ACT), {T(RC)}, 0, 1, "tRC"},
    {BANK, SET(ACT), READS, {T(RCDRD)}, 0, 1, "tRCD (read)"},
    {BANK, SET(ACT), WRITES, {T(RCDWR)}, 0, 1, "tRCD (write)"},
    {BANK, SET(ACT), SET(PRE), {T(RAS)}, 0, 1, "tRAS"},
    {BANK, SET(PRE), SET(ACT), {T(RP)}, 0, 1, "tRP"},
    {BANK, SET(RD), SET(PRE), {T(RTP)}, 0, 1, "tRTP"},
    {BANK, SET(WR), SET(PRE), {T(CWL), T(B), T(WR_PRE)}, 0, 1, "tCWL + B + tWR"},
    {BANK, SET(RDA), SET(ACT), {T(RTP), T(RP)}, 0, 1, "tRTP + tRP"},
    {BANK, SET(WRA), SET(ACT), {T(CWL), T(B), T(WR_PRE), T(RP)}, 0, 1, "tCWL + B + tWR + tRP"},
    /* Rows of a bank group and a rank. */
    {GROUP, SET(ACT), SET(ACT), {T(RRD_L)}, 0, 1, "tRRD_L"},
    {RANK, SET(ACT), SET(ACT), {T(RRD_S)}, 0, 1, "tRRD_S"},
    {RANK, SET(ACT), SET(ACT), {T(FAW)}, 0, 4, "tFAW"},
    {RANK, PRES, PRES, {T(PPD)}, 0, 1, "tPPD"},
    {RANK, SET(ACT), SET(PREA), {T(RAS)}, 0, 1, "tRAS"},
    {RANK, SET(RD), SET(PREA), {T(RTP)}, 0, 1, "tRTP"},
    {RANK, SET(WR), SET(PREA), {T(CWL), T(B), T(WR_PRE)}, 0, 1, "tCWL + B + tWR"},
    {RANK, SET(PREA), SET(ACT), {T(RPAB)}, 0, 1, "tRPab"},
    /* Refresh of a rank. */
    {RANK, SET(ACT), SET(REF), {T(RC)}, 0, 1, "tRC"},
    {RANK, SET(PRE), SET(REF), {T(RP)}, 0, 1, "tRP"},
    {RANK, SET(PREA), SET(REF), {T(RPAB)}, 0, 1, "tRPab"},
    {RANK, SET(RDA), SET(REF), {T(RTP), T(RP)}, 0, 1, "tRTP + tRP"},
    {RANK, SET(WRA), SET(REF), {T(CWL), T(B), T(WR_PRE), T(RP)}, 0, 1, "tCWL + B + tWR + tRP"},
    {RANK, SET(REF), SET(ACT), {T(RFC)}, 0, 1, "tRFC"},
    {RANK, SET(REF), SET(REF) | SET(PREA) | SINGLES, {T(RFC)}, 0, 1, "tRFC"},
    /* Refresh of a bank. */
    {BANK, SET(ACT), SINGLES, {T(RC)}, 0, 1, "tRC"},
    {BANK, SET(PRE), SINGLES, {T(RP)}, 0, 1, "tRP"},
    {BANK, SET(RDA), SINGLES, {T(RTP), T(RP)}, 0, 1, "tRTP + tRP"},
    {BANK, SET(WRA), SINGLES, {T(CWL), T(B), T(WR_PRE), T(RP)}, 0, 1, "tCWL + B + tWR + tRP"},
    {BANK, SINGLES, SET(ACT), {T(RFCPB)}, 0, 1, "tRFCpb"},
    {BANK, SINGLES, SINGLES, {T(RFCPB)}, 0, 1, "tRFCpb"},
    {GROUP, SET(ACT), SINGLES, {T(RRD_L)}, 0, 1, "tRRD_L"},
    {RANK, SET(ACT), SINGLES, {T(RRD_S)}, 0, 1, "tRRD_S"},
    {RANK, SET(PREA), SINGLES, {T(RPAB)}, 0, 1, "tRPab"},
    {RANK, SINGLES, SET(ACT), {T(RREFD)}, 0, 1, "tRREFD"},
    {RANK, SINGLES, SINGLES, {T(REFPB_REFPB)}, 0, 1, "tRREFD (REFpb)"},
    {RANK, SINGLES, SET(REF), {T(RFCPB)}, 0, 1, "tRFCpb"},
    /* The second activation of a bank that computes; left out with tAA = 0. */
    {BANK, SET(ACT), SET(ACT2), {T(AA)}, 0, 1, "tAA"},
    {BANK, SET(ACT2), SET(PRE), {T(RAS)}, 0, 1, "tRAS (ACT2)"},
};

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

/* What a set means in a scope when there are second activations. */
static uint32_t with_second(enum pim_dram_scope scope, uint32_t set)
{
    return scope != BANK && set == SET(ACT) ? ACTIVATES : set;
}

void pim_dram_constraints(const struct pim_dram_specification *specification,
                          struct pim_dram_constraint_table *table)
{
    bool second = specification->parameter[T(AA)] > 0;
    table->count = 0;
    for (size_t i = 0; i < COUNT(rules); i++) {
        const struct rule *rule = &rules[i];
        uint32_t previous = rule->previous, next = rule->next;
        int64_t cycles = 0;
        if (second) {
            previous = with_second(rule->scope, previous);
            next = with_second(rule->scope, next);
        } else if ((previous | next) & SET(ACT2)) {
            continue;
        }
        for (size_t j = 0; j < TERMS && rule->plus[j]; j++)
            cycles += specification->parameter[rule->plus[j]];
        if (rule->minus)
            cycles -= specification->parameter[rule->minus];
        /* A parameter that is 0 switches its rule off: nothing is longer for taking two cycles. */
        if (cycles <= 0)
            continue;
        /* JEDEC counts from the last cycle of a command to the last cycle of the next one. */
        cycles += command_cycles(specification, rule->previous) - command_cycles(specification, rule->next);
        if (cycles <= 0)
            continue;
        assert(table->count < PIM_DRAM_CONSTRAINTS_MAX);
        table->row[table->count++] = (struct pim_dram_constraint){rule->scope,      previous,     next,
                                                                  (uint32_t)cycles, rule->window, rule->text};
    }
    add_bus_rows(specification, second, table);
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
    if (check_clocks(specification, error) != PIM_OK)
        return error->status;
    return refreshing == PIM_DRAM_NOT_REFRESHED
               ? PIM_OK
               : check_refresh(specification, refreshing, independent, error);
}
