/* Nodes with a PE array, an ACU and a DRAM bank each. */
#include "models/node/node.h"

#include "models/system/family.h"
#include "models/system/report/results.h"
#include "sim/output/output.h"

#include <inttypes.h>

#define X(member, text) {#member, text, offsetof(struct pim_energy, member)},
static const struct pim_energy_row shown[] = {PIM_ENERGY_MAP(X){NULL, NULL, 0}};
#undef X
static const struct pim_energy_row beyond[] = {{NULL, NULL, 0}};

static enum pim_status initialize(struct pim_units *units, struct pim_kernel *kernel,
                                  const struct pim_hardware *hardware, const struct pim_trace *trace,
                                  struct pim_error *error)
{
    return pim_node_array_initialize((struct pim_node_array *)units, kernel, &hardware->node, trace, error);
}

static bool has_banks(const struct pim_hardware *hardware)
{
    return hardware->node.channels.nodes == 0;
}

/* Nodes on channels: what the standard has figures for. */
static void add_channel_energy(const struct pim_system *system, const struct pim_node_array *nodes,
                               struct pim_run_result *result)
{
    const struct pim_dram_configuration *dram = &nodes->configuration.channels.dram;
    struct pim_dram_specification all = dram->specification;
    const uint32_t shares = nodes->configuration.channels.nodes;
    all.organization.channels *= (nodes->units.count + shares - 1) / shares;
    pim_dram_energy_compute(&all, &dram->energy, &nodes->channel_counters,
                            result->end / system->hardware.node.memory_period, &result->memory_energy);
    pim_result_add_memory(result, &result->energy.dram);
}

static void complete(struct pim_system *system, struct pim_run_result *result)
{
    const struct pim_node_array *nodes = pim_system_nodes(system);
    result->messages = nodes->sent;
    result->receive_queue_maximum = nodes->receive_queue_high_water;
    if (!has_banks(&system->hardware))
        add_channel_energy(system, nodes, result);
}

static void print_port(const struct pim_system *system, const struct pim_run_result *result, FILE *file)
{
    const struct pim_bank_counters *dram = &result->dram;
    const double whole = (double)result->end * result->unit_count;
    const double cycles = whole / (double)system->hardware.node.memory_period;
    char share[4][PIM_REAL_CHARACTERS];
    if (!has_banks(&system->hardware))
        return;
    fprintf(file,
            "  memory port (loads, stores and messages): data %s, waiting for rows %s, refresh %s, bus "
            "turnaround %s\n",
            pim_format_share(share[0], (double)dram->data_cycles, cycles),
            pim_format_share(share[1], (double)dram->row_cycles, cycles),
            pim_format_share(share[2], (double)dram->refresh_cycles, cycles),
            pim_format_share(share[3], (double)dram->turnaround_cycles, cycles));
}

static void print(const struct pim_system *system, const struct pim_run_result *result, FILE *file)
{
    const struct pim_bank_counters *dram = &result->dram;
    const uint64_t accesses = pim_bank_row_accesses(dram);
    char share[PIM_REAL_CHARACTERS];
    (void)system;
    fprintf(file, "\nDRAM: %" PRIu64 " reads, %" PRIu64 " writes; ", dram->reads, dram->writes);
    if (accesses > 0)
        fprintf(file, "row hits %s, misses %" PRIu64 ", conflicts %" PRIu64 "; ",
                pim_format_share(share, (double)dram->row_hits, (double)accesses), dram->row_misses,
                dram->row_conflicts);
    fprintf(file, "%" PRIu64 " activates, %" PRIu64 " refreshes\n", dram->activates, dram->refreshes);
}

const struct pim_hardware_family pim_hardware_nodes = {
    .plural = "nodes",
    .units = &pim_node_family,
    .size = sizeof(struct pim_node_array),
    .initialize = initialize,
    .slice_cycles = 4096,
    .engines = {"PE array", "ACU", "load/store", "network"},
    .shown = shown,
    .beyond = beyond,
    .has_banks = has_banks,
    .complete = complete,
    .print_memory = print_port,
    .print = print};
