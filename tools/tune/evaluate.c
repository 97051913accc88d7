#include "tools/tune/evaluate.h"

#include "mappers/estimate/actions.h"
#include "models/system/read.h"
#include "models/system/schema.h"
#include "models/system/system.h"
#include "tools/library/map.h"
#include "tools/library/words.h"
#include "tools/sweep/sweep.h"

#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

const char *pim_tune_fidelity_name(enum pim_tune_fidelity fidelity)
{
    static const char *const names[] = {
#define X(name, text) text,
        PIM_TUNE_FIDELITY_MAP(X)
#undef X
    };
    return names[fidelity];
}

static double cpu_seconds(void)
{
    struct timespec time = {0};
    (void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

static enum pim_status configure(const char *text, const char *fidelity,
                                 struct pim_configuration **configuration, struct pim_error *error)
{
    char set[64];
    enum pim_status status = pim_configuration_create(&pim_hardware_schema, configuration, error);
    if (status == PIM_OK)
        status = pim_configuration_read_text(*configuration, "configuration", text, strlen(text), error);
    (void)snprintf(set, sizeof set, "noc.fidelity=%s", fidelity);
    if (status == PIM_OK)
        status = pim_configuration_set(*configuration, set, error);
    return status == PIM_OK ? pim_configuration_complete(*configuration, error) : status;
}

/* --- the energy of a trace of nodes --- */

static enum pim_status add_unit(const struct pim_trace *trace, const struct pim_estimate_hardware *nodes,
                                uint32_t unit, struct pim_estimate_actions *actions, struct pim_error *error)
{
    struct pim_trace_cursor *cursor;
    const struct pim_instruction *instruction;
    if (pim_trace_cursor_create(trace, unit, &cursor, error) != PIM_OK)
        return error->status;
    enum pim_status status;
    while ((status = pim_trace_cursor_next(cursor, &instruction, error)) == PIM_OK && instruction)
        pim_estimate_count_actions(nodes, unit, instruction, actions);
    pim_trace_cursor_destroy(cursor);
    return status;
}

/* Without simulating it: what its instructions do, and static power for `nanoseconds`. */
static enum pim_status energy_of(const struct pim_trace *trace, const struct pim_configuration *configuration,
                                 const struct pim_hardware *hardware, double nanoseconds, double *energy_pj,
                                 struct pim_error *error)
{
    const struct pim_machine_network network = pim_map_way(hardware);
    struct pim_estimate_hardware nodes;
    struct pim_estimate_actions counted = {.macs = 0};
    struct pim_energy energy;
    const uint32_t units = pim_trace_description(trace)->units;
    if (pim_machine_nodes_read(configuration, &network, &nodes, error) != PIM_OK)
        return error->status;
    for (uint32_t unit = 0; unit < units; unit++)
        if (add_unit(trace, &nodes, unit, &counted, error) != PIM_OK)
            return error->status;
    const struct pim_actions actions = {.macs = counted.macs,
                                        .sram_bits = counted.sram_bits,
                                        .acu_operations = counted.acu_operations,
                                        .dram_bits = counted.dram_bits,
                                        .dram_activates = counted.dram_activates,
                                        .noc_bit_hops = counted.noc_bit_hops};
    pim_energy_of(&hardware->energy, &actions, units, nanoseconds, &energy);
    *energy_pj = energy.total;
    return PIM_OK;
}

/* --- the fidelities --- */

static enum pim_status simulate(const struct pim_hardware *hardware, const struct pim_trace *trace,
                                struct pim_tune_figures *figures, struct pim_error *error)
{
    const struct pim_system_options options = {.until_cycle = PIM_UNTIL_END, .quiet = true};
    struct pim_system *system = NULL;
    struct pim_run_result result = {.cycles = 0};
    enum pim_status status = pim_system_create(hardware, trace, &options, &system, error);
    if (status == PIM_OK)
        status = pim_system_run(system, error);
    if (status == PIM_OK)
        status = pim_system_collect(system, &result, error);
    if (status == PIM_OK) {
        figures->cycles = result.cycles;
        figures->time_ns = (double)result.time_ps / 1e3;
        figures->energy_pj = result.energy.total;
    }
    pim_run_result_terminate(&result);
    pim_system_destroy(system);
    return status;
}

static enum pim_status estimate(const struct pim_configuration *configuration,
                                const struct pim_hardware *hardware, const struct pim_trace *trace,
                                uint64_t cycles, struct pim_tune_figures *figures, struct pim_error *error)
{
    figures->cycles = cycles;
    figures->time_ns =
        (double)cycles * (1e6 / (double)pim_configuration_integer(configuration, "clock.logic_khz"));
    return energy_of(trace, configuration, hardware, figures->time_ns, &figures->energy_pj, error);
}

static enum pim_status take(const char *text, const struct pim_trace *trace, uint64_t estimated,
                            enum pim_tune_fidelity fidelity, struct pim_tune_figures *figures,
                            struct pim_error *error)
{
    struct pim_configuration *configuration = NULL;
    struct pim_hardware hardware;
    double begin = cpu_seconds();
    enum pim_status status =
        configure(text, fidelity == PIM_TUNE_IDEAL ? "ideal" : "flit", &configuration, error);
    if (status == PIM_OK)
        status = pim_hardware_read(configuration, &hardware, error);
    if (status == PIM_OK && fidelity == PIM_TUNE_ESTIMATE)
        status = estimate(configuration, &hardware, trace, estimated, figures, error);
    else if (status == PIM_OK)
        status = simulate(&hardware, trace, figures, error);
    pim_configuration_destroy(configuration);
    figures->cpu_seconds = cpu_seconds() - begin;
    return status;
}

/* --- mapping --- */

static enum pim_status map(const char *network, const char *mapper, const char *text, const char *path,
                           uint64_t *cycles, struct pim_error *error)
{
    struct pim_configuration *configuration = NULL;
    struct pim_map_words words;
    struct pim_map *made = NULL;
    struct pim_mapper_estimate estimated = {.cycles = 0};
    if (pim_map_words_parse(mapper, &words, error) != PIM_OK)
        return pim_fail_in(error, "mapper \"%.60s\"", mapper);
    enum pim_status status = configure(text, "flit", &configuration, error);
    if (status == PIM_OK) {
        const struct pim_map_request request = {.mapper = words.mapper,
                                                .options = words.options,
                                                .network = network,
                                                .network_sets = words.sets,
                                                .network_set_count = words.set_count,
                                                .dimensions = words.dimensions,
                                                .dimension_count = words.dimension_count,
                                                .configuration = configuration,
                                                .output = path};
        status = pim_map_create(&request, &made, error);
    }
    if (status == PIM_OK)
        status = pim_map_estimate(made, &estimated, error);
    *cycles = estimated.cycles;
    pim_map_destroy(made);
    pim_configuration_destroy(configuration);
    pim_map_words_terminate(&words);
    return status;
}

enum pim_status pim_tune_evaluate(const char *network, const char *mapper, const char *configuration,
                                  const char *trace, unsigned fidelities,
                                  struct pim_tune_evaluation *evaluation, struct pim_error *error)
{
    struct pim_trace *opened = NULL;
    uint64_t cycles = 0;
    double begin = cpu_seconds();
    *evaluation = (struct pim_tune_evaluation){.map_seconds = 0};
    if (map(network, mapper, configuration, trace, &cycles, error) != PIM_OK)
        return pim_fail_in(error, "%s", pim_sweep_label(network));
    evaluation->map_seconds = cpu_seconds() - begin;
    enum pim_status status = pim_trace_open(trace, &opened, error);
    (void)unlink(trace);
    for (int f = 0; status == PIM_OK && f < PIM_TUNE_FIDELITIES; f++)
        if (fidelities & 1U << f)
            status =
                take(configuration, opened, cycles, (enum pim_tune_fidelity)f, &evaluation->of[f], error);
    pim_trace_close(opened);
    return status == PIM_OK ? PIM_OK : pim_fail_in(error, "%s", pim_sweep_label(network));
}
