#include "models/system/hardware/core_hardware.h"

#include "models/cost/read.h"
#include "models/system/standard.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

static uint64_t large(const struct pim_configuration *configuration, const char *path)
{
    return (uint64_t)pim_configuration_integer(configuration, path); /* the schema allows no negative value */
}

static enum pim_status read_chips(const struct pim_configuration *configuration,
                                  const struct pim_hardware *hardware, struct pim_cores_configuration *cores,
                                  struct pim_error *error)
{
    uint32_t across = pim_configuration_count(configuration, "chips.width"),
             down = pim_configuration_count(configuration, "chips.height");
    cores->width = hardware->width;
    cores->height = hardware->height;
    if (cores->width % across != 0)
        return pim_configuration_fail(configuration, error, "chips.width",
                                      "%" PRIu32 " does not divide array.width, which is %" PRIu32, across,
                                      cores->width);
    if (cores->height % down != 0)
        return pim_configuration_fail(configuration, error, "chips.height",
                                      "%" PRIu32 " does not divide array.height, which is %" PRIu32, down,
                                      cores->height);
    cores->chip_width = cores->width / across;
    cores->chip_height = cores->height / down;
    cores->chip_grid = pim_configuration_choice(configuration, "chips.connection") == 1;
    cores->link_bytes = pim_configuration_count(configuration, "chips.link_bytes_per_cycle");
    cores->link_cycles = pim_configuration_count(configuration, "chips.link_cycles");
    return PIM_OK;
}

/* "all", or names separated by commas. */
static enum pim_status read_functions(const struct pim_configuration *configuration, uint32_t *operations,
                                      struct pim_error *error)
{
    const char *text = pim_configuration_text(configuration, "core.vector_functions");
    *operations = (1u << PIM_LOCALS) - 1;
    if (strcmp(text, "all") == 0)
        return PIM_OK;
    *operations = 0;
    while (*text) {
        size_t length = strcspn(text, ", ");
        unsigned operation = 0;
        while (operation < PIM_LOCALS && (strlen(pim_local_name(operation)) != length ||
                                          memcmp(pim_local_name(operation), text, length) != 0))
            operation++;
        if (length > 0 && operation == PIM_LOCALS)
            return pim_configuration_fail(
                configuration, error, "core.vector_functions",
                "\"%.*s\" is no operation of local_vector: write all, or names like "
                "add,maximum,relu",
                (int)(length < 40 ? length : 40), text);
        if (length > 0)
            *operations |= 1u << operation;
        text += length + (text[length] != '\0');
    }
    return PIM_OK;
}

static void read_core(const struct pim_configuration *configuration, struct pim_cores_configuration *cores)
{
    cores->in_order = pim_configuration_choice(configuration, "core.issue") == 0;
    cores->window = pim_configuration_count(configuration, "core.window");
    cores->synchronous = pim_configuration_choice(configuration, "core.communication") == 0;
    cores->receive_bytes = large(configuration, "core.receive_bytes");
    cores->nn = pim_configuration_choice(configuration, "core.timing") == 1;
    cores->nn_flit_cycles = pim_configuration_count(configuration, "quirks.flit_cycles");
    cores->nn_hop_cycles = pim_configuration_count(configuration, "quirks.hop_cycles");
    cores->nn_memory_cycles = pim_configuration_count(configuration, "quirks.memory_cycles");
    cores->local_bytes = large(configuration, "core.local_memory_bytes");
    cores->local = (struct pim_beats){
        .width = pim_configuration_count(configuration, "core.local_bytes_per_cycle"),
        .read_cycles = pim_configuration_count(configuration, "core.local_read_cycles"),
        .write_cycles = pim_configuration_count(configuration, "core.local_write_cycles"),
        .pipelined = pim_configuration_boolean(configuration, "core.local_pipelined"),
    };
    cores->global_bytes = large(configuration, "global_memory.bytes");
    cores->global = (struct pim_beats){
        .width = pim_configuration_count(configuration, "global_memory.bytes_per_cycle"),
        .read_cycles = pim_configuration_count(configuration, "global_memory.read_cycles"),
        .write_cycles = pim_configuration_count(configuration, "global_memory.write_cycles"),
        .pipelined = pim_configuration_boolean(configuration, "global_memory.pipelined"),
    };
    uint64_t lanes = large(configuration, "core.vector_units") * large(configuration, "core.vector_lanes");
    cores->vector_elements = lanes < UINT32_MAX ? (uint32_t)lanes : UINT32_MAX;
    cores->vector_cycles = pim_configuration_count(configuration, "core.vector_cycles");
    cores->vector_pipelined = pim_configuration_boolean(configuration, "core.vector_pipelined");
    cores->interconnect = (enum pim_interconnect)pim_configuration_choice(configuration, "interconnect.kind");
    cores->interconnect_bytes = pim_configuration_count(configuration, "interconnect.bytes_per_cycle");
    cores->packet_bytes = pim_configuration_count(configuration, "interconnect.packet_bytes");
}

/* Within a chip a packet must stay: the mesh of all chips is one network here. */
static enum pim_status check_network(const struct pim_configuration *configuration,
                                     const struct pim_hardware *hardware, struct pim_error *error)
{
    const struct pim_cores_configuration *cores = &hardware->cores;
    bool chips = cores->chip_width != cores->width || cores->chip_height != cores->height;
    if (!chips || cores->interconnect != PIM_INTERCONNECT_MESH)
        return PIM_OK;
    if (hardware->noc.topology != PIM_NOC_MESH)
        return pim_configuration_fail(configuration, error, "noc.topology",
                                      "must be mesh where there are several chips");
    if (hardware->noc.concentration != 1)
        return pim_configuration_fail(configuration, error, "noc.concentration",
                                      "must be 1 where there are several chips");
    if (hardware->noc.depth != 1)
        return pim_configuration_fail(configuration, error, "noc.depth",
                                      "must be 1 where there are several chips");
    if (hardware->noc.routing != PIM_NOC_XY && hardware->noc.routing != PIM_NOC_YX)
        return pim_configuration_fail(configuration, error, "noc.routing",
                                      "must be xy or yx where there are several chips");
    return PIM_OK;
}

static void read_core_energy(const struct pim_configuration *configuration,
                             const struct pim_hardware *hardware, struct pim_energy_configuration *energy)
{
    const struct pim_crossbar_power power = {
        .dac = pim_configuration_real(configuration, "energy.crossbar_dac_mw"),
        .read = pim_configuration_real(configuration, "energy.crossbar_read_mw"),
        .sample_hold = pim_configuration_real(configuration, "energy.crossbar_sample_hold_mw"),
        .adc = pim_configuration_real(configuration, "energy.crossbar_adc_mw"),
        .shift_add = pim_configuration_real(configuration, "energy.crossbar_shift_add_mw"),
        .input_buffer = pim_configuration_real(configuration, "energy.crossbar_input_buffer_mw"),
        .output_buffer = pim_configuration_real(configuration, "energy.crossbar_output_buffer_mw"),
    };
    energy->mac_pj = energy->acu_pj_per_operation = energy->sram_pj_per_bit = 0; /* of nodes */
    energy->dram_pj_per_bit = energy->dram_activate_pj = 0;
    double cycle_ns = 1e6 / (double)pim_configuration_integer(configuration, "clock.logic_khz");
    energy->crossbar_pj_per_mvm =
        pim_crossbar_mvm_pj(&hardware->cores.crossbar, &power, cycle_ns,
                            pim_configuration_real(configuration, "crossbar.read_ns"));
    if (hardware->cores.crossbar.write_row_cycles > 0) /* else programs cannot write */
        energy->crossbar_write_pj = pim_configuration_real(configuration, "energy.crossbar_write_pj");
    energy->vector_pj_per_operation = pim_configuration_real(configuration, "energy.vector_pj_per_operation");
    energy->local_pj_per_bit = pim_configuration_real(configuration, "energy.local_pj_per_bit");
    if (!hardware->cores.on_channels) /* a standard has figures of its own */
        energy->global_pj_per_bit = pim_configuration_real(configuration, "energy.global_pj_per_bit");
    energy->interconnect_pj_per_bit = pim_configuration_real(configuration, "energy.interconnect_pj_per_bit");
    energy->interconnect_pj_per_flit =
        pim_configuration_real(configuration, "energy.interconnect_pj_per_flit");
    energy->chip_link_pj_per_bit = pim_configuration_real(configuration, "energy.chip_link_pj_per_bit");
    /* 1 mW over 1 ns is 1 pJ */
    energy->clocked_pj_per_tick = pim_configuration_real(configuration, "energy.clocked_mw_per_core") * 1e9 /
                                  (double)hardware->ticks_per_second;
    uint32_t chips = pim_configuration_count(configuration, "chips.width") *
                     pim_configuration_count(configuration, "chips.height");
    double cores = (double)hardware->width * hardware->height;
    double of_chip = pim_configuration_real(configuration, "energy.static_mw_per_chip");
    if (chips > 1)
        of_chip += pim_configuration_real(configuration, "energy.link_mw_per_chip");
    /* the share of a chip's static power that falls on each of its cores */
    energy->static_mw_per_node =
        pim_configuration_real(configuration, "energy.static_mw_per_core") + of_chip * chips / cores;
}

enum pim_status pim_core_hardware_read(const struct pim_configuration *configuration,
                                       struct pim_hardware *hardware, struct pim_error *error)
{
    struct pim_cores_configuration *cores = &hardware->cores;
    cores->logic_period = hardware->node.logic_period;
    cores->memory_period = hardware->node.memory_period;
    cores->zero_load = hardware->node.zero_load;
    read_core(configuration, cores);
    if (read_chips(configuration, hardware, cores, error) != PIM_OK ||
        pim_standard_read_cores(configuration, cores, error) != PIM_OK ||
        read_functions(configuration, &cores->vector_operations, error) != PIM_OK ||
        pim_cost_read_crossbar(configuration, &cores->crossbar, error) != PIM_OK)
        return error->status;
    read_core_energy(configuration, hardware, &hardware->energy);
    return check_network(configuration, hardware, error);
}
