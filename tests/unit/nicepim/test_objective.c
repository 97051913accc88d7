/*
 * What `map nicepim` minimises: the plan of each objective is the best of all three by its own estimate, the
 * estimate of energy is that of the simulated run, component by component, and the simulated energy falls.
 */
#include "mappers/mappers.h"
#include "models/system/read.h"
#include "models/system/schema.h"
#include "models/system/system.h"
#include "tests/unit/nicepim/suites.h"
#include "tools/library/map.h"
#include "traces/file/reader.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct set {
    const char *network, *hardware;
} sets[] = {{"vgg8", "nicepim-4x4"}, {"squeezenet", "nicepim-4x4"}};

static const char *const objectives[] = {"latency", "energy", "edp"};

/* Energies in pJ, in this order. */
static const char *const parts[] = {"pe", "acu", "sram", "dram", "noc", "total"};
enum { PARTS = 6 };

struct figures {
    double cycles, estimate[PARTS], run[PARTS];
};

static void check(enum pim_status status, const struct pim_error *error)
{
    ck_assert_msg(status == PIM_OK, "%s", error->text);
}

static void simulate(const struct pim_configuration *configuration, const char *path, struct figures *figures)
{
    struct pim_hardware hardware;
    struct pim_trace *trace;
    struct pim_system *system;
    struct pim_run_result result;
    struct pim_error error = {0};
    const struct pim_system_options run = {.until_cycle = PIM_UNTIL_END, .quiet = true};
    check(pim_hardware_read(configuration, &hardware, &error), &error);
    check(pim_trace_open(path, &trace, &error), &error);
    check(pim_system_create(&hardware, trace, &run, &system, &error), &error);
    check(pim_system_run(system, &error), &error);
    check(pim_system_collect(system, &result, &error), &error);
    const struct pim_energy *energy = &result.energy;
    const double values[PARTS] = {energy->pe,   energy->acu, energy->sram,
                                  energy->dram, energy->noc, energy->total};
    memcpy(figures->run, values, sizeof values);
    pim_run_result_terminate(&result);
    pim_system_destroy(system);
    pim_trace_close(trace);
}

static void map(const struct set *set, const char *objective, struct figures *figures)
{
    char network[512], hardware[512], name[96], trace[64];
    struct pim_error error = {0};
    struct pim_configuration *configuration;
    struct pim_map *map;
    (void)snprintf(name, sizeof name, "configs/hardware/%s.cfg", set->hardware);
    pimsim_source_path(hardware, sizeof hardware, name);
    (void)snprintf(name, sizeof name, "configs/networks/%s.cfg", set->network);
    pimsim_source_path(network, sizeof network, name);
    (void)snprintf(trace, sizeof trace, "test_nicepim_objective_%ld.bin", (long)getpid());
    check(pim_configuration_create(&pim_hardware_schema, &configuration, &error), &error);
    check(pim_configuration_read_file(configuration, hardware, &error), &error);
    void *options = pim_mapper_options(&pim_nicepim_mapper);
    const struct pim_option *row;
    check(pim_option_find(&pim_nicepim_mapper.options, "nicepim", "objective", &row, &error), &error);
    check(pim_option_set(&pim_nicepim_mapper.options, row, objective, options, &error), &error);
    const struct pim_map_request request = {.mapper = &pim_nicepim_mapper,
                                            .options = options,
                                            .configuration = configuration,
                                            .network = network,
                                            .output = trace};
    check(pim_map_create(&request, &map, &error), &error);
    FILE *file = tmpfile();
    ck_assert_ptr_nonnull(file);
    check(pim_map_write_json(map, file, &error), &error);
    rewind(file);
    json_t *plan = json_loadf(file, 0, NULL);
    ck_assert_ptr_nonnull(plan);
    figures->cycles = (double)nicepim_integer(plan, "estimated_cycles");
    for (size_t i = 0; i < PARTS; i++)
        figures->estimate[i] =
            json_number_value(json_object_get(json_object_get(plan, "estimated_energy_pj"), parts[i]));
    json_decref(plan);
    (void)fclose(file);
    simulate(configuration, trace, figures);
    (void)unlink(trace);
    pim_map_destroy(map);
    free(options);
    pim_configuration_destroy(configuration);
}

START_TEST(each_objective_has_the_best_plan_of_its_own)
{
    struct figures figures[3];
    enum { TOTAL = PARTS - 1 };
    for (size_t o = 0; o < 3; o++) {
        map(&sets[_i], objectives[o], &figures[o]);
        for (size_t i = 0; i < PARTS; i++)
            ck_assert_msg(fabs(figures[o].estimate[i] - figures[o].run[i]) <= 1e-3 * figures[o].run[i],
                          "%s, %s: %s estimated %g pJ, simulated %g pJ", sets[_i].network, objectives[o],
                          parts[i], figures[o].estimate[i], figures[o].run[i]);
    }
    for (size_t o = 0; o < 3; o++) {
        ck_assert_double_le(figures[0].cycles, figures[o].cycles);
        ck_assert_double_le(figures[1].estimate[TOTAL], figures[o].estimate[TOTAL]);
        ck_assert_double_le(figures[2].estimate[TOTAL] * figures[2].cycles,
                            figures[o].estimate[TOTAL] * figures[o].cycles);
    }
    ck_assert_double_lt(figures[1].run[TOTAL], 0.97 * figures[0].run[TOTAL]);
}
END_TEST

void pimsim_suites(SRunner *runner)
{
    Suite *suite = suite_create("objective");
    TCase *tests = tcase_create("objective");
    tcase_add_loop_test(tests, each_objective_has_the_best_plan_of_its_own, 0,
                        (int)(sizeof sets / sizeof sets[0]));
    suite_add_tcase(suite, tests);
    srunner_add_suite(runner, suite);
}
