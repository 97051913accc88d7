#include "tests/unit/estimate/machine.h"

#include "models/system/read.h"
#include "models/system/schema.h"
#include "models/system/system.h"
#include "sim/configuration/configuration.h"
#include "tests/unit/test_main.h"

#include <stdio.h>

const char *const machine_presets[MACHINE_PRESETS] = {"allspark-16x16", "nicepim-16x16", "nicepim-4x8"};

void machine_read(struct machine *machine, const char *preset, const char *const *assignments, size_t count)
{
    struct pim_configuration *configuration;
    struct pim_error error = {0};
    char relative[96], path[512];
    ck_assert_int_eq(pim_configuration_create(&pim_hardware_schema, &configuration, &error), PIM_OK);
    (void)snprintf(relative, sizeof relative, "configs/hardware/%s.cfg", preset);
    ck_assert_msg(pim_configuration_read_file(configuration, pimsim_source_path(path, sizeof path, relative),
                                              &error) == PIM_OK,
                  "%s", error.text);
    for (size_t i = 0; i < count; i++)
        ck_assert_msg(pim_configuration_set(configuration, assignments[i], &error) == PIM_OK, "%s",
                      error.text);
    ck_assert_msg(pim_hardware_read(configuration, &machine->hardware, &error) == PIM_OK, "%s", error.text);
    const struct pim_node_configuration *node = &machine->hardware.node;
    const struct pim_machine_network network = {.fixed = (int64_t)node->zero_load.fixed,
                                                .per_router = node->zero_load.per_router};
    ck_assert_msg(pim_machine_nodes_read(configuration, &network, &machine->estimate, &error) == PIM_OK, "%s",
                  error.text);
    pim_configuration_destroy(configuration);
}

uint64_t machine_simulate(const struct machine *machine, const char *path)
{
    struct pim_error error = {0};
    struct pim_trace *trace;
    struct pim_system *system;
    struct pim_run_result result;
    const struct pim_system_options options = {.until_cycle = PIM_UNTIL_END, .quiet = true};
    ck_assert_msg(pim_trace_open(path, &trace, &error) == PIM_OK, "%s", error.text);
    ck_assert_msg(pim_system_create(&machine->hardware, trace, &options, &system, &error) == PIM_OK, "%s",
                  error.text);
    ck_assert_msg(pim_system_run(system, &error) == PIM_OK, "%s", error.text);
    ck_assert_msg(pim_system_collect(system, &result, &error) == PIM_OK, "%s", error.text);
    const uint64_t cycles = result.cycles;
    pim_run_result_terminate(&result);
    pim_system_destroy(system);
    pim_trace_close(trace);
    return cycles;
}
