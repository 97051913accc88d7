/* Cores with crossbars, a local memory each, and a global memory. */
#include "models/core/cores.h"

#include "models/system/family.h"
#include "models/system/hardware/core_hardware.h"
#include "models/system/report/json_rows.h"
#include "models/system/report/results.h"
#include "sim/output/output.h"

#include <inttypes.h>

#define X(member, text) {#member, text, offsetof(struct pim_energy, member)},
static const struct pim_energy_row shown[] = {
    PIM_CORE_ENERGY_MAP(X){"noc", "NoC", offsetof(struct pim_energy, noc)}, {NULL, NULL, 0}};
static const struct pim_energy_row beyond[] = {PIM_CORE_ENERGY_MAP(X){NULL, NULL, 0}};
#undef X

static enum pim_status initialize(struct pim_units *units, struct pim_kernel *kernel,
                                  const struct pim_hardware *hardware, const struct pim_trace *trace,
                                  struct pim_error *error)
{
    return pim_cores_initialize((struct pim_cores *)units, kernel, &hardware->cores, trace, error);
}

static const char *interconnect(const struct pim_hardware *hardware)
{
    static const char *const kinds[] = {[PIM_INTERCONNECT_MESH] = NULL,
                                        [PIM_INTERCONNECT_BUS] = "bus",
                                        [PIM_INTERCONNECT_SHARED_MEMORY] = "shared memory"};
    return kinds[hardware->cores.interconnect];
}

static bool has_routers(const struct pim_hardware *hardware)
{
    return hardware->cores.interconnect == PIM_INTERCONNECT_MESH;
}

/* The global memory on channels: what it counted, and what the standard has figures for. */
static void complete(struct pim_system *system, struct pim_run_result *result)
{
    struct pim_cores *cores = (struct pim_cores *)system->units;
    const struct pim_dram_configuration *dram = &cores->configuration.dram;
    struct pim_dram_counters counters;
    if (!cores->memory)
        return;
    pim_core_memory_close(cores, result->end, &result->dram, &counters);
    pim_dram_energy_compute(&dram->specification, &dram->energy, &counters,
                            result->end / system->hardware.node.memory_period, &result->memory_energy);
    pim_result_add_memory(result, &result->energy.global);
}

static void print_channels(const struct pim_system *system, const struct pim_run_result *result, FILE *file)
{
    const struct pim_cores *cores = (const struct pim_cores *)system->units;
    const struct pim_bank_counters *dram = &result->dram;
    const double accesses = (double)pim_bank_row_accesses(dram);
    char share[3][PIM_REAL_CHARACTERS];
    if (!cores->memory)
        return;
    fprintf(file, "  global memory: %" PRIu64 " reads, %" PRIu64 " writes of columns; ", dram->reads,
            dram->writes);
    if (accesses > 0)
        fprintf(file, "row hits %s, misses %s, conflicts %s; ",
                pim_format_share(share[0], (double)dram->row_hits, accesses),
                pim_format_share(share[1], (double)dram->row_misses, accesses),
                pim_format_share(share[2], (double)dram->row_conflicts, accesses));
    fprintf(file, "%" PRIu64 " refreshes\n", dram->refreshes);
}

static void print(const struct pim_system *system, const struct pim_run_result *result, FILE *file)
{
    const struct pim_cores *cores = (const struct pim_cores *)system->units;
    uint64_t highest = 0;
    for (uint32_t unit = 0; unit < result->unit_count; unit++)
        if (result->units[unit].buffer_high_water[PIM_BUFFER_INPUT] > highest)
            highest = result->units[unit].buffer_high_water[PIM_BUFFER_INPUT];
    fprintf(file,
            "\nglobal memory: %" PRIu64 " bytes read, %" PRIu64 " written; local memory: at most %" PRIu64
            " of %" PRIu64 " bytes of a core used\n",
            result->bytes_loaded, result->bytes_stored, highest, cores->configuration.local_bytes);
    fprintf(file, "crossbars: %" PRIu64 " cycles an MVM, %" PRIu64 " MVMs of one array\n",
            cores->cost.mvm_cycles, result->actions.crossbar_mvms);
    if (result->actions.crossbar_cells > 0)
        fprintf(file, "weights: %" PRIu64 " cells written, %" PRIu32 " cycles a row\n",
                result->actions.crossbar_cells, cores->configuration.crossbar.write_row_cycles);
}

static void put(struct pim_json *json, const struct pim_system *system, const struct pim_run_result *result)
{
    const struct pim_cores *cores = (const struct pim_cores *)system->units;
#include "models/system/families/cores.def"
}

const struct pim_hardware_family pim_hardware_cores = {
    .plural = "cores",
    .units = &pim_core_family,
    .size = sizeof(struct pim_cores),
    .initialize = initialize,
    .read = pim_core_hardware_read,
    .slice_cycles = 65536, /* cores do less in a cycle */
    .engines = {"crossbars", "vector", "load/store", "network"},
    .shown = shown,
    .beyond = beyond,
    .interconnect = interconnect,
    .has_routers = has_routers,
    .complete = complete,
    .print_memory = print_channels,
    .print = print,
    .put = put};
