/* What the commands of a standard must be. */
#include "models/dram/standard/commands.h"

#include <inttypes.h>

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

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
