/* Rows of a configuration's own: what they may say, and what they do to maintenance. */
#include "models/dram/standard/check.h"

#define SET(name) (UINT32_C(1) << PIM_DRAM_##name)
#define PRES (SET(PRE) | SET(PREA))
#define REFRESHES (SET(REF) | SET(REFPB) | SET(REFSB))
#define COLUMNS (SET(RD) | SET(RDA) | SET(WR) | SET(WRA))

enum pim_status pim_dram_own_rows_check(const struct pim_dram_specification *specification,
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

/* Every step to a refresh, the column and PRE of each bank, may wait for the longest of the rows, and what
 * comes behind it for the longest behind a refresh. */
uint64_t pim_dram_own_delay(const struct pim_dram_specification *specification)
{
    int64_t longest = 0, behind = 0;
    for (unsigned i = 0; i < specification->rows; i++) {
        const struct pim_dram_row *row = &specification->row[i];
        const bool counts = row->own && !says_nothing(&specification->organization, row->scope);
        const int64_t distance = counts ? pim_dram_longest_distance(specification, row) : 0;
        if (!(row->previous & ~REFRESHES))
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

/* Does a row keep PREs apart, all of its scope alike? Not so one of other ranks or stack identifiers: PREs of
 * one follow one another sooner. Nor one by which PREs, which it does not keep apart, keep PREA of another
 * rank waiting. */
static bool is_of_pres(const struct pim_dram_row *row)
{
    if (((row->previous | row->next) & ~PRES) || row->scope == PIM_DRAM_SCOPE_OTHER_STACK ||
        row->scope == PIM_DRAM_SCOPE_OTHER_RANK)
        return false;
    return row->scope <= PIM_DRAM_SCOPE_RANK || !(row->previous & SET(PRE)) || !(row->next & SET(PREA));
}

/*
 * A row about one kind of command keeps them apart fairly: of those that are ready together maintenance and
 * what it waits for come first. So does one that only what belongs to one bank can break. Between ranks and
 * stack identifiers of a pseudo-channel the controller sees to active requests (rival_banks); between
 * pseudo-channels it does not.
 */
static bool holds(const struct pim_dram_specification *specification, const struct pim_dram_row *row)
{
    const struct pim_dram_organization *organization = &specification->organization;
    if (!row->own || row->scope == PIM_DRAM_SCOPE_BANK || says_nothing(organization, row->scope) ||
        !(row->previous & ~REFRESHES) || pim_dram_longest_distance(specification, row) <= 1)
        return false;
    if (row->scope == PIM_DRAM_SCOPE_CHANNEL && organization->pseudo_channels > 1 && (row->next & COLUMNS))
        return true;
    return (row->next & (PRES | REFRESHES)) && !is_of_pres(row);
}

bool pim_dram_own_rows_hold(const struct pim_dram_specification *specification)
{
    for (unsigned i = 0; i < specification->rows; i++)
        if (holds(specification, &specification->row[i]))
            return true;
    return false;
}
