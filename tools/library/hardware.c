#include "tools/library/hardware.h"

/* What `cycles` take beyond those that pass anyway. */
static uint32_t beyond(uint32_t cycles, uint32_t anyway)
{
    return cycles > anyway ? cycles - anyway : 0;
}

void pim_estimate_hardware_of(const struct pim_configuration *configuration,
                              const struct pim_hardware *hardware, struct pim_estimate_hardware *estimate)
{
    const struct pim_node_configuration *node = &hardware->node;
    const struct pim_bank_rules *bank = &node->bank;
    const struct pim_bank_timing *timing = &bank->timing;
    uint32_t reopen = timing->trp + timing->trcd;
    /* How the buffer ports slow a full fold down follows from the array's own closed form. */
    enum { ROWS = 1024 };
    struct pim_pe_cost fold;
    pim_pe_matrix(&node->pe, ROWS, node->pe.columns, node->pe.rows, 8, 8, true, &fold);
    bool systolic = node->pe.dataflow != PIM_PE_VECTOR_MAC;
    *estimate = (struct pim_estimate_hardware){
        .width = hardware->width,
        .height = hardware->height,
        .logic_khz = (uint64_t)pim_configuration_integer(configuration, "clock.logic_khz"),
        .network_khz = (uint64_t)pim_configuration_integer(configuration, "clock.network_khz"),
        .memory_khz = (uint64_t)pim_configuration_integer(configuration, "clock.memory_khz"),
        .systolic = systolic,
        .pe_pace_cycles = systolic ? 0 : (uint32_t)(fold.cycles - node->pe.pipeline_depth),
        .pe_pace_rows = systolic ? 0 : ROWS,
        .turn_bytes = node->arbitration_bytes,
        .pe_rows = node->pe.rows,
        .pe_columns = node->pe.columns,
        .pe_depth = node->pe.pipeline_depth,
        .input_bytes = node->buffer_bytes[PIM_BUFFER_INPUT],
        .weight_bytes = node->buffer_bytes[PIM_BUFFER_WEIGHT],
        .output_bytes = node->buffer_bytes[PIM_BUFFER_OUTPUT],
        .accumulator_bytes = (node->pe.accumulator_bits + 7) / 8,
        .acu_elements = node->acu.operation[PIM_VECTOR_COPY].elements_per_cycle,
        .acu_depth = node->acu.operation[PIM_VECTOR_COPY].depth,
        .memory_bytes = bank->capacity_bytes,
        .port_bytes = bank->port_bytes,
        .column_cycles = bank->column_step,
        .row_bytes = (uint64_t)bank->organization.row_bytes * bank->organization.banks,
        .read_row_cycles = beyond(timing->trtp + reopen, bank->column_step),
        .write_row_cycles = beyond(bank->write_to_precharge + reopen, bank->column_step),
        .access_cycles = 1 + timing->trcd + bank->read_to_data_end,
        .turn_cycles = beyond(bank->read_to_write + bank->write_to_read, 2 * bank->column_step),
        .refresh_cycles = timing->trfc + reopen,
        .refresh_interval = timing->trefi,
        .flit_bytes = (node->zero_load.flit_bits + 7) / 8,
        .hop_cycles = (uint32_t)node->zero_load.per_router,
        .fixed_cycles = (int32_t)(int64_t)node->zero_load.fixed,
        .packet_bytes = node->packet_bytes,
    };
}
