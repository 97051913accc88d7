#include "mappers/machine/nodes.h"

#include "models/cost/read.h"

/* What `cycles` take beyond those that pass anyway. */
static uint32_t beyond(uint32_t cycles, uint32_t anyway)
{
    return cycles > anyway ? cycles - anyway : 0;
}

static void take_pe(const struct pim_pe_configuration *pe, struct pim_estimate_hardware *nodes)
{
    /* How the buffer ports slow a full fold down follows from the array's own closed form. */
    enum { ROWS = 1024 };
    const uint64_t one = pim_pe_matrix_cycles(pe, 1, pe->columns, pe->rows, 8, 8) - pe->pipeline_depth,
                   many = pim_pe_matrix_cycles(pe, ROWS, pe->columns, pe->rows, 8, 8) - pe->pipeline_depth;
    nodes->systolic = pe->dataflow != PIM_PE_VECTOR_MAC;
    nodes->weights_wait = !nodes->systolic && many != ROWS * one;
    nodes->pe_pace_cycles = nodes->systolic ? 0 : (uint32_t)many;
    nodes->pe_pace_rows = nodes->systolic ? 0 : ROWS;
    nodes->pe_rows = pe->rows;
    nodes->pe_columns = pe->columns;
    nodes->pe_depth = pe->pipeline_depth;
    nodes->accumulator_bytes = (pe->accumulator_bits + 7) / 8;
    nodes->pe = *pe;
}

/* From the start of a row to that of the next, in another bank: a cycle, PRE to ACT unless closed pages have
 * done that already, and ACT to ACT. */
static uint32_t row_ahead(const struct pim_bank_rules *bank)
{
    const uint32_t precharged = bank->organization.closed_page ? 1 : 1 + bank->timing.trp;
    return precharged > bank->timing.trrd ? precharged : bank->timing.trrd;
}

static void take_bank(const struct pim_bank_rules *bank, struct pim_estimate_hardware *nodes)
{
    const struct pim_bank_timing *timing = &bank->timing;
    uint32_t reopen = timing->trp + timing->trcd;
    nodes->memory_bytes = bank->capacity_bytes;
    nodes->port_bytes = bank->port_bytes;
    nodes->column_cycles = bank->column_step;
    nodes->row_bytes = (uint64_t)bank->organization.row_bytes * bank->organization.banks;
    nodes->read_row_cycles = beyond(timing->trtp + reopen, bank->column_step);
    nodes->write_row_cycles = beyond(bank->write_to_precharge + reopen, bank->column_step);
    nodes->access_cycles = 1 + timing->trcd + bank->read_to_data_end;
    nodes->latency_cycles = 1 + bank->read_to_data_end;
    nodes->turn_cycles = beyond(bank->read_to_write + bank->write_to_read, 2 * bank->column_step);
    nodes->refresh_cycles = timing->trfc + reopen;
    nodes->refresh_interval = timing->trefi;
    nodes->banks = bank->organization.banks;
    nodes->interleaved = bank->interleaved;
    nodes->row_ahead_cycles = row_ahead(bank);
    nodes->bank_cycles = timing->trc;
    nodes->bank = *bank;
}

static bool has_nodes(const struct pim_configuration *configuration)
{
    return pim_configuration_choice(configuration, "array.kind") == 0; /* "node|core|channel|tile" */
}

enum pim_status pim_machine_nodes_read(const struct pim_configuration *configuration,
                                       const struct pim_machine_network *network,
                                       struct pim_estimate_hardware *nodes, struct pim_error *error)
{
    struct pim_pe_configuration pe;
    struct pim_acu_configuration acu;
    struct pim_bank_rules bank = {.interleaved = 0};
    const bool has_banks = has_nodes(configuration);
    const struct pim_transfer_sizes sizes = pim_cost_read_sizes(configuration);
    if (pim_cost_check_mapped(configuration, error) != PIM_OK ||
        pim_cost_read_pe(configuration, &pe, error) != PIM_OK ||
        pim_cost_read_acu(configuration, &acu, error) != PIM_OK ||
        (has_banks && pim_cost_read_bank(configuration, &bank, error) != PIM_OK))
        return error->status;
    *nodes = (struct pim_estimate_hardware){
        .width = pim_configuration_count(configuration, "array.width"),
        .height = pim_configuration_count(configuration, "array.height"),
        .logic_khz = (uint64_t)pim_configuration_integer(configuration, "clock.logic_khz"),
        .network_khz = (uint64_t)pim_configuration_integer(configuration, "clock.network_khz"),
        .memory_khz = (uint64_t)pim_configuration_integer(configuration, "clock.memory_khz"),
        .window = pim_configuration_count(configuration, "unit.window"),
        .in_order = pim_configuration_choice(configuration, "unit.issue") == 0,
        .turn_bytes = sizes.turn_bytes,
        .input_bytes = pim_configuration_count(configuration, "buffers.input_bytes"),
        .weight_bytes = pim_configuration_count(configuration, "buffers.weight_bytes"),
        .output_bytes = pim_configuration_count(configuration, "buffers.output_bytes"),
        .acu_elements = acu.operation[PIM_VECTOR_COPY].elements_per_cycle,
        .acu_depth = acu.operation[PIM_VECTOR_COPY].depth,
        .flit_bytes = (pim_configuration_count(configuration, "noc.flit_bits") + 7) / 8,
        .network = *network,
        .packet_bytes = sizes.packet_bytes,
        .buffer_flits = pim_configuration_count(configuration, "noc.buffer_flits"),
        .send_packets = pim_configuration_count(configuration, "network_interface.send_packets"),
        .receive_packets = pim_configuration_count(configuration, "network_interface.receive_packets"),
        .posted_receives = pim_configuration_count(configuration, "network_interface.posted_receives"),
        .cut_through = pim_configuration_choice(configuration, "network_interface.forward") == 1,
        .acu = acu,
    };
    take_pe(&pe, nodes);
    if (has_banks)
        take_bank(&bank, nodes);
    nodes->energy = pim_cost_read_energy(configuration);
    return PIM_OK;
}

enum pim_status pim_machine_nodes_check(const struct pim_configuration *configuration,
                                        struct pim_error *error)
{
    if (configuration && !has_nodes(configuration))
        return pim_configuration_fail(
            configuration, error, "array.kind",
            "this mapper needs hardware with DRAM-PIM nodes: array.kind = \"node\", "
            "as configs/hardware/allspark-16x16.cfg or nicepim-4x4.cfg");
    return PIM_OK;
}
