#include "models/system/hardware/channel_hardware.h"

#include "models/bitserial/operation.h"
#include "models/system/standard.h"

#include <inttypes.h>

#define PICOSECONDS_PER_MILLISECOND UINT64_C(1000000000)

static enum pim_status read_memory(const struct pim_configuration *configuration,
                                   struct pim_channel_memory *memory, struct pim_error *error)
{
    struct pim_dram_configuration read = {.specification = {.clock_ps = 0}};
    if (pim_standard_read(configuration, "levels.memory", "levels.memory_values", &read, error) != PIM_OK)
        return pim_bitserial_check_stacks(&read.specification, error) == PIM_OK
                   ? error->status
                   : pim_fail_in(error, "levels.memory");
    if (read.policy.refresh && read.policy.per_bank_refresh)
        return pim_configuration_fail(configuration, error, "levels.memory_values",
                                      "dram.refresh_mode: banks that compute are refreshed all at once, "
                                      "all_bank");
    memory->specification = read.specification;
    memory->refresh = read.policy.refresh;
    memory->has_banks = true;
    if (pim_bitserial_check_memory(&memory->specification, 1, 1, error) != PIM_OK ||
        (memory->refresh && pim_bitserial_check_refresh(&memory->specification, error) != PIM_OK))
        return pim_fail_in(error, "levels.memory");
    return PIM_OK;
}

/* levels.* and the memory say the same. */
static enum pim_status compare(const struct pim_configuration *configuration,
                               const struct pim_channel_memory *memory, struct pim_error *error)
{
    const struct pim_dram_organization *o = &memory->specification.organization;
    const struct {
        const char *key;
        uint64_t mine, theirs;
    } pairs[] = {
        {"levels.banks", memory->banks, (uint64_t)pim_dram_ranks(o) * pim_dram_banks_per_rank(o)},
        {"levels.columns", memory->columns, (uint64_t)o->columns * o->access_bytes * 8},
        {"levels.rows", memory->rows,
         o->rows < PIM_BITSERIAL_RESERVED_ROWS ? 0 : o->rows - PIM_BITSERIAL_RESERVED_ROWS},
    };
    for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++)
        if (pairs[i].mine != pairs[i].theirs)
            return pim_configuration_fail(configuration, error, pairs[i].key,
                                          "is %" PRIu64 ", and the memory of levels.memory has %" PRIu64,
                                          pairs[i].mine, pairs[i].theirs);
    uint64_t khz = (uint64_t)pim_configuration_integer(configuration, "clock.memory_khz");
    if (memory->commands && khz * memory->specification.clock_ps != PICOSECONDS_PER_MILLISECOND)
        return pim_configuration_fail(configuration, error, "clock.memory_khz",
                                      "the clock of levels.memory has a period of %" PRIu32 " ps",
                                      memory->specification.clock_ps);
    return PIM_OK;
}

enum pim_status pim_channel_hardware_read(const struct pim_configuration *configuration,
                                          struct pim_hardware *hardware, struct pim_error *error)
{
    struct pim_channels_configuration *channels = &hardware->channels;
    struct pim_channel_memory *memory = &channels->memory;
    *memory = (struct pim_channel_memory){
        .banks = pim_configuration_count(configuration, "levels.banks"),
        .columns = pim_configuration_count(configuration, "levels.columns"),
        .rows = pim_configuration_count(configuration, "levels.rows"),
        .link_bytes = pim_configuration_count(configuration, "levels.channel_bytes"),
        .bus_bytes = pim_configuration_count(configuration, "levels.bus_bytes"),
        .commands = pim_configuration_choice(configuration, "levels.costs") == 1,
        .add_cycles = pim_configuration_count(configuration, "levels.add_cycles"),
        .multiply_cycles = pim_configuration_count(configuration, "levels.multiply_cycles"),
        .aap_cycles = pim_configuration_count(configuration, "levels.aap_cycles"),
        .steps = pim_configuration_choice(configuration, "levels.costs") == 2,
        .step_ps = pim_configuration_count(configuration, "levels.step_ps"),
        .logic_khz = pim_configuration_count(configuration, "clock.logic_khz"),
    };
    channels->width = hardware->width;
    channels->window = hardware->node.window;
    channels->period = memory->commands ? hardware->node.memory_period : hardware->node.logic_period;
    if (memory->banks == 0)
        return pim_configuration_fail(configuration, error, "levels.banks",
                                      "array.kind is \"channel\": at least one bank is needed");
    if (memory->columns % 8 != 0)
        return pim_configuration_fail(configuration, error, "levels.columns", "must be a multiple of 8");
    /* What is not counted has no energy either: rows that crossbars open, steps of a DRAM. */
    const bool dram = *pim_configuration_text(configuration, "levels.memory") != '\0';
    hardware->energy = (struct pim_energy_configuration){
        .dram_pj_per_bit = hardware->energy.dram_pj_per_bit,
        .dram_activate_pj = dram ? hardware->energy.dram_activate_pj : 0,
        .static_mw_per_node = hardware->energy.static_mw_per_node,
        .crossbar_step_pj = dram ? 0 : pim_configuration_real(configuration, "energy.crossbar_step_pj"),
        .interconnect_pj_per_bit = pim_configuration_real(configuration, "energy.interconnect_pj_per_bit")};
    if (memory->steps && dram)
        return pim_configuration_fail(configuration, error, "levels.costs",
                                      "steps are of crossbars: no levels.memory, whose banks are DRAM");
    if (dram) {
        if (read_memory(configuration, memory, error) != PIM_OK)
            return error->status;
        return compare(configuration, memory, error);
    }
    if (memory->commands)
        return pim_configuration_fail(configuration, error, "levels.memory",
                                      "levels.costs is \"commands\": name the memory whose commands they are "
                                      "(`pimsim dram --list-presets`), or set levels.costs = \"figure\"");
    return PIM_OK;
}
