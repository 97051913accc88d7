/* What `pimsim trace check` holds a trace against: the hardware. */
#include "tools/command/run/trace_limits.h"

#include "models/cost/read.h"
#include "models/system/read.h"
#include "models/system/schema.h"
#include "models/system/standard.h"
#include "models/system/used.h"
#include "traces/file/hardware.h"
#include "traces/file/reader.h"

#include <string.h>

static void fill_core_limits(const struct pim_configuration *configuration, struct pim_check_limits *limits)
{
    limits->kind = PIM_CHECK_CORES;
    limits->local_bytes = (uint64_t)pim_configuration_integer(configuration, "core.local_memory_bytes");
    limits->global_bytes = (uint64_t)pim_configuration_integer(configuration, "global_memory.bytes");
    limits->window = pim_configuration_count(configuration, "core.window");
    /* "in_order|out_of_order"; cores with the timing of PIMSIM-NN do not look at it */
    limits->in_order = pim_hardware_uses(configuration, PIM_TO_REPLAY, "core.issue") &&
                       pim_configuration_choice(configuration, "core.issue") == 0;
}

/* What the checker needs to know of the hardware. */
static void fill_limits(const struct pim_configuration *configuration, struct pim_check_limits *limits)
{
    if (pim_configuration_choice(configuration, "array.kind") == 3) { /* tile */
        limits->kind = PIM_CHECK_TILES;
        limits->tile_input_bits =
            (uint64_t)pim_configuration_integer(configuration, "tile.input_buffer_bits");
        limits->tile_output_bits =
            (uint64_t)pim_configuration_integer(configuration, "tile.output_buffer_bits");
        return;
    }
    if (pim_configuration_choice(configuration, "array.kind") == 1) { /* "node|core|channel|tile" */
        fill_core_limits(configuration, limits);
        return;
    }
    if (pim_configuration_choice(configuration, "array.kind") == 2) { /* channel */
        *limits = pim_check_limits_of_channels(pim_configuration_count(configuration, "unit.window"));
        return;
    }
    limits->kind = PIM_CHECK_NODES;
    limits->buffer_bytes[PIM_BUFFER_INPUT] =
        (uint64_t)pim_configuration_integer(configuration, "buffers.input_bytes");
    limits->buffer_bytes[PIM_BUFFER_WEIGHT] =
        (uint64_t)pim_configuration_integer(configuration, "buffers.weight_bytes");
    limits->buffer_bytes[PIM_BUFFER_OUTPUT] =
        (uint64_t)pim_configuration_integer(configuration, "buffers.output_bytes");
    limits->window = pim_configuration_count(configuration, "unit.window");
    limits->in_order =
        pim_configuration_choice(configuration, "unit.issue") == 0; /* "in_order|out_of_order" */
    limits->posted_receives = pim_configuration_count(configuration, "network_interface.posted_receives");
    limits->accumulator_bits = pim_configuration_count(configuration, "pe.accumulator_bits");
}

/* Rows, banks and ways of a trace for channels, by the rules that a run has. */
static enum pim_status check_rows(const struct pim_trace *trace, struct pim_configuration *configuration,
                                  struct pim_error *error)
{
    struct pim_hardware hardware;
    if (pim_configuration_complete(configuration, error) != PIM_OK ||
        pim_hardware_read(configuration, &hardware, error) != PIM_OK)
        return error->status;
    return pim_channels_check(&hardware.channels, trace, error);
}

/* Array groups of a trace for cores, by the rules that a run has. */
static enum pim_status check_groups(const struct pim_trace *trace,
                                    const struct pim_configuration *configuration, struct pim_error *error)
{
    struct pim_crossbar_configuration crossbar;
    if (pim_cost_read_crossbar(configuration, &crossbar, error) != PIM_OK)
        return error->status;
    return pim_cores_check(&crossbar, trace, error);
}

/* The memory of a node, its private bank or its share of channels, by the rules that a run has. */
static enum pim_status read_memory(const struct pim_configuration *configuration,
                                   struct pim_check_limits *limits, struct pim_error *error)
{
    struct pim_node_configuration node = {.logic_period = 0};
    if (pim_standard_read_nodes(configuration, &node, error) != PIM_OK ||
        (node.channels.nodes == 0 && pim_cost_read_bank(configuration, &node.bank, error) != PIM_OK))
        return error->status;
    limits->memory_bytes = node.bank.capacity_bytes;
    return PIM_OK;
}

enum pim_status trace_read_limits(const struct pim_trace *trace, const struct common_options *common,
                                  struct pim_check_limits *limits, bool *known, struct pim_error *error)
{
    const char *text = pim_trace_hardware(trace);
    *limits = (struct pim_check_limits){.window = 0};
    *known = common->hardware.count > 0 || text[0] != '\0';
    if (!*known && common->sets.count == 0)
        return PIM_OK;
    struct pim_configuration *configuration = NULL;
    enum pim_status status = pim_configuration_create(&pim_hardware_schema, &configuration, error);
    if (status == PIM_OK && common->hardware.count == 0)
        status = pim_configuration_read_text(configuration, "configuration of the trace", text, strlen(text),
                                             error);
    for (size_t i = 0; i < common->hardware.count && status == PIM_OK; i++)
        status = pim_configuration_read_file(configuration, common->hardware.items[i], error);
    for (size_t i = 0; i < common->sets.count && status == PIM_OK; i++)
        status = pim_configuration_set(configuration, common->sets.items[i], error);
    if (status == PIM_OK)
        status = pim_hardware_accept_sets(configuration, PIM_TO_REPLAY, common->sets.items,
                                          common->sets.count, error);
    if (status == PIM_OK)
        fill_limits(configuration, limits);
    if (status == PIM_OK && limits->kind == PIM_CHECK_CHANNELS)
        status = check_rows(trace, configuration, error);
    if (status == PIM_OK && limits->kind == PIM_CHECK_CORES)
        status = check_groups(trace, configuration, error);
    if (status == PIM_OK && limits->kind == PIM_CHECK_NODES)
        status = read_memory(configuration, limits, error);
    pim_configuration_destroy(configuration);
    return status;
}
