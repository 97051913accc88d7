/* What a standard must be: its organisation, timings and clocks; and what stands in other files. */
#include "models/dram/standard/check.h"

#include "models/dram/standard/commands.h"

#define COUNT(array) (sizeof(array) / sizeof(array)[0])
#define T(name) PIM_DRAM_T_##name

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
        check_clocks(specification, error) != PIM_OK ||
        pim_dram_own_rows_check(specification, error) != PIM_OK)
        return error->status;
    return refreshing == PIM_DRAM_NOT_REFRESHED
               ? PIM_OK
               : pim_dram_refresh_check(specification, refreshing, independent, error);
}
