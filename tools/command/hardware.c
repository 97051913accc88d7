#include "tools/command/hardware.h"

#include "models/system/schema.h"

#include <string.h>

void command_estimate_hardware(const struct pim_configuration *configuration, const struct pim_hardware *hardware,
                               struct pim_estimate_hardware *estimate)
{
    const struct pim_node_configuration *node = &hardware->node;
    const struct pim_bank_rules *bank = &node->bank;
    const struct pim_bank_timing *timing = &bank->timing;
    uint32_t reopen = timing->trp + timing->trcd;
    *estimate = (struct pim_estimate_hardware){
        .width = hardware->width,
        .height = hardware->height,
        .logic_khz = (uint64_t)pim_configuration_integer(configuration, "clock.logic_khz"),
        .network_khz = (uint64_t)pim_configuration_integer(configuration, "clock.network_khz"),
        .memory_khz = (uint64_t)pim_configuration_integer(configuration, "clock.memory_khz"),
        .systolic = node->pe.dataflow != PIM_PE_VECTOR_MAC,
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
        .read_row_cycles = timing->trtp + reopen - bank->column_step,
        .write_row_cycles = bank->write_to_precharge + reopen - bank->column_step,
        .access_cycles = 1 + timing->trcd + bank->read_to_data_end,
        .turn_cycles = bank->read_to_write + bank->write_to_read - 2 * bank->column_step,
        .refresh_cycles = timing->trfc + reopen,
        .refresh_interval = timing->trefi,
        .flit_bytes = (node->flit_bits + 7) / 8,
        .hop_cycles = (uint32_t)node->zero_load_per_router,
        .fixed_cycles = (uint32_t)node->zero_load_fixed,
        .packet_bytes = node->packet_bytes,
    };
}

/* The configuration that a trace carries, then `sets`. */
static enum pim_status read_embedded(const struct pim_trace *trace, const char *path, const struct text_list *sets,
                                     struct pim_configuration *configuration, struct pim_error *error)
{
    const char *text = pim_trace_description(trace)->configuration;
    if (pim_configuration_read_text(configuration, path, text, strlen(text), error) != PIM_OK)
        return pim_fail_in(error, "the configuration that the trace carries");
    for (size_t i = 0; i < sets->count; i++)
        if (pim_configuration_set(configuration, sets->items[i], error) != PIM_OK)
            return error->status;
    return pim_configuration_complete(configuration, error);
}

enum pim_status command_trace_hardware(const struct pim_trace *trace, const char *path, const struct common_options *common,
                                       struct pim_configuration **configuration, struct pim_hardware *hardware,
                                       struct pim_error *error)
{
    *configuration = NULL;
    enum pim_status status;
    if (common->hardware.count > 0) {
        status = options_configuration(&pim_hardware_schema, &common->hardware, &common->sets, true, configuration, error);
    } else {
        status = pim_configuration_create(&pim_hardware_schema, configuration, error);
        if (status == PIM_OK)
            status = read_embedded(trace, path, &common->sets, *configuration, error);
    }
    if (status == PIM_OK)
        status = pim_hardware_read(*configuration, hardware, error);
    if (status != PIM_OK) {
        pim_configuration_destroy(*configuration);
        *configuration = NULL;
    }
    return status;
}
