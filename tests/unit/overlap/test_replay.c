/* What is written is what was planned: mappings of both memories replayed. */
#include "mappers/mappers.h"
#include "mappers/overlapim/choice.h"
#include "mappers/overlapim/search.h"
#include "models/system/schema.h"
#include "tests/unit/overlap/replay.h"
#include "tests/unit/overlap/suites.h"
#include "tests/unit/test_main.h"

#include "include/pimsim/pimsim.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Where moving rows weighs as much as multiplying them: messages as the programs send them. */
static const struct replay small[] = {
    {"resnet18", "hbm2", "levels.costs=figure", 0, 60, 1, 0.001},
    {"resnet18", "reram", "levels.costs=figure", 0, 60, 1, 0.001},
    {"resnet18", "reram", "levels.costs=steps", 0, 60, 1, 0.001},
    {"bert-base-encoder", "reram", "levels.costs=figure", 0, 60, 1, 0.001},
};

START_TEST(of_every_objective)
{
    struct replay replay = small[PIM_CASE(_i) / (int)PIM_OBJECTIVES];
    replay.objective = (unsigned)PIM_CASE(_i) % PIM_OBJECTIVES;
    check_replay(&replay);
}
END_TEST

/* In the table of commands: every layer of a hundredth of the run and more within a tenth; here, closer. Rows
 * of a transformed layer that factors do not divide load and store what exists, not what steps there are. */
START_TEST(of_commands)
{
    const struct replay replay = {"resnet18", "hbm2", "levels.costs=commands", PIM_OBJECTIVE_TRANSFORM, 200,
                                  5,          0.01};
    check_replay(&replay);
}
END_TEST

/* A narrow bus between stacks: all layers within a stack, and, of eight stacks, each in its own. */
START_TEST(of_a_narrow_bus)
{
    static const struct {
        struct replay replay;
        const char *array;
    } cases[] = {
        {{"vgg8", "hbm2", "levels.bus_bytes=1", PIM_OBJECTIVE_OVERLAP, 40, 10, 1}, "array.width=32"},
        {{"squeezenet", "hbm2", "levels.bus_bytes=1", PIM_OBJECTIVE_OVERLAP, 40, 10, 1}, "array.width=32"},
        {{"vgg8", "hbm2", "levels.bus_bytes=1", PIM_OBJECTIVE_OVERLAP, 40, 10, 1}, "array.width=4"},
        {{"vgg8", "hbm2", "levels.bus_bytes=1", PIM_OBJECTIVE_TRANSFORM, 40, 10, 1}, "array.width=2"},
    };
    check_array(&cases[_i].replay, cases[_i].array, 2);
}
END_TEST

/* Layers that take over the channels of their producers, skip connections over more layers than have channels
 * at the same time, and branches that read from the same two. */
START_TEST(units_do_not_wait_in_a_circle)
{
    static const struct {
        struct replay replay;
        const char *array;
        unsigned channels;
    } cases[] = {
        {{"vgg8", "reram", "levels.costs=figure", PIM_OBJECTIVE_AHEAD, 10, 3, 1}, "array.width=4", 4},
        {{"resnet18", "reram", "levels.costs=figure", PIM_OBJECTIVE_TRANSFORM, 10, 3, 1}, "array.width=2", 2},
        {{"resnet18", "reram", "levels.costs=steps", PIM_OBJECTIVE_OVERLAP, 10, 3, 1}, "array.width=4", 2},
        {{"googlenet", "hbm2", "levels.costs=figure", PIM_OBJECTIVE_TRANSFORM, 10, 3, 1}, "array.width=8", 4},
    };
    check_hand_over(&cases[_i].replay, cases[_i].array, cases[_i].channels);
}
END_TEST

/* Cycles of a small network by an objective, simulated, of a mapping as the library makes it. */
static uint64_t simulated(const char *network, const char *objective, const char *costs, const char *budget,
                          const char *search, uint64_t *estimate)
{
    char network_path[PATH_MAX], hardware_path[PATH_MAX], option[2][64], message[512] = "";
    char trace[] = "/tmp/pimsim-overlap-XXXXXX";
    const char *const set[] = {costs, "network.image=64"}, *const options[] = {option[0], option[1], search};
    int file = mkstemp(trace);
    ck_assert_int_ge(file, 0);
    (void)close(file);
    (void)snprintf(option[0], sizeof option[0], "objective=%s", objective);
    (void)snprintf(option[1], sizeof option[1], "budget=%s", budget);
    const struct pimsim_map_options asked = {
        .size = sizeof asked,
        .mapper = "overlapim",
        .network_path = pimsim_source_path(network_path, sizeof network_path, network),
        .hardware_path = pimsim_source_path(hardware_path, sizeof hardware_path,
                                            "configs/hardware/fast-overlapim-hbm2.cfg"),
        .overrides = set,
        .override_count = 2,
        .options = options,
        .option_count = 3,
        .trace_path = trace};
    struct pimsim_mapping *mapping = NULL;
    ck_assert_msg(pimsim_map(&mapping, &asked, message, sizeof message) == 0, "%s", message);
    uint64_t cycles = replay_cycles(trace);
    *estimate = pimsim_mapping_cycles(mapping);
    pimsim_mapping_destroy(mapping);
    (void)unlink(trace);
    return cycles;
}

/* A search by pairs and stand-ins can end behind the sequential latencies of single layers: by its estimate
 * (the first), or in cycles alone, where estimates have it the other way round (the second). */
START_TEST(ahead_never_loses_to_original)
{
    static const char *const budgets[] = {"50", "20"};
    const char *network = "configs/networks/squeezenet.cfg", *costs = "levels.costs=figure";
    uint64_t estimate;
    uint64_t rule = simulated(network, "original", costs, budgets[_i], "search=local", &estimate);
    uint64_t ahead = simulated(network, "ahead", costs, budgets[_i], "search=local", &estimate);
    ck_assert_msg(ahead <= rule, "%" PRIu64 " cycles, by the rule %" PRIu64, ahead, rule);
    ck_assert_msg(estimate <= ahead + ahead / 10 && estimate >= ahead - ahead / 10,
                  "%" PRIu64 " cycles, %" PRIu64 " estimated", ahead, estimate);
}
END_TEST

/* Nothing that was searched is faster than what is written when nothing is asked for: here the mappings of
 * another objective, transformed, win over `transform`. */
START_TEST(best_never_loses)
{
    static const char *const costs[] = {"levels.costs=figure", "levels.costs=commands"};
    const char *network = "configs/networks/squeezenet.cfg";
    uint64_t estimate;
    const uint64_t best = simulated(network, "best", costs[_i], "30", "search=random", &estimate);
    for (unsigned o = 0; o < PIM_OBJECTIVES; o++) {
        const uint64_t other =
            simulated(network, pim_objective_name(o), costs[_i], "30", "search=random", &estimate);
        ck_assert_msg(best <= other, "%" PRIu64 " cycles, by %s %" PRIu64, best, pim_objective_name(o),
                      other);
        ck_assert_msg(o != PIM_OBJECTIVE_TRANSFORM || best < other,
                      "transform is the best: nothing is tested");
    }
}
END_TEST

/* Nor is anything faster that would be found by a search among all of the space with as many candidates. */
START_TEST(best_never_loses_to_random)
{
    static const char *const costs[] = {"levels.costs=figure", "levels.costs=commands"}, *const budgets[] = {
                                                                                             "8", "40"};
    const char *network = "docs/examples/small-vgg.cfg";
    uint64_t estimate;
    const uint64_t best = simulated(network, "best", costs[_i], budgets[_i], "search=local", &estimate);
    for (unsigned o = 0; o <= PIM_OBJECTIVES; o++) {
        const char *objective = o < PIM_OBJECTIVES ? pim_objective_name(o) : "best";
        const uint64_t other =
            simulated(network, objective, costs[_i], budgets[_i], "search=random", &estimate);
        ck_assert_msg(best <= other, "%" PRIu64 " cycles, by %s %" PRIu64, best, objective, other);
    }
}
END_TEST

/* Cycles of a plan whose mixture is slower than is estimated. */
static enum pim_status simulate_mixed(void *context, uint64_t *cycles, struct pim_error *error)
{
    const struct pim_overlapim_plan *plan = context;
    (void)error;
    *cycles = plan->series == PIM_SERIES_MIXED ? 12 : pim_overlapim_cycles(plan, plan->series);
    return PIM_OK;
}

/* By estimates where nobody simulates; of equal ones the first. What the whole space alone gave is simulated
 * where all before it took more than it is estimated to take. */
START_TEST(best_by_estimates)
{
    char path[PATH_MAX];
    struct pim_error error = {PIM_OK, ""};
    struct pim_network *network = NULL;
    struct pim_overlapim_plan plan;
    struct pim_overlapim_options options;
    struct pim_configuration *configuration = NULL;
    ck_assert(pim_network_read(pimsim_source_path(path, sizeof path, "docs/examples/small-vgg.cfg"), NULL, 0,
                               &network, &error) == PIM_OK);
    ck_assert(pim_configuration_create(&pim_hardware_schema, &configuration, &error) == PIM_OK);
    ck_assert(pim_configuration_read_file(
                  configuration,
                  pimsim_source_path(path, sizeof path, "configs/hardware/fast-overlapim-hbm2.cfg"),
                  &error) == PIM_OK);
    const struct pim_mapper_inputs inputs = {
        .network = network, .configuration = configuration, .configuration_text = ""};
    memcpy(&options, pim_overlapim_mapper.options.defaults, sizeof options);
    ck_assert_uint_eq(options.objective, PIM_OBJECTIVE_BEST);
    options.search.steps = 30;
    ck_assert_msg(pim_overlapim_plan_make(&inputs, &options, &plan, &error) == PIM_OK, "%s", error.text);
    static const enum pim_series list[] = {PIM_SERIES_AHEAD, PIM_SERIES_OVERLAP, PIM_SERIES_TRANSFORM};
    for (unsigned i = 0; i < 3; i++) {
        plan.chains[PIM_SERIES_AHEAD].end = i == 0 ? 7 : 9;
        plan.chains[PIM_SERIES_OVERLAP].end = i == 1 ? 7 : 9;
        plan.chains[PIM_SERIES_TRANSFORM].end = i == 2 ? 7 : 8;
        ck_assert(pim_series_choose(&plan, list, 3, NULL, NULL, &error) == PIM_OK);
        ck_assert_int_eq(plan.series, list[i]);
    }
    plan.chains[PIM_SERIES_TRANSFORM].end = plan.chains[PIM_SERIES_OVERLAP].end = 9;
    ck_assert(pim_series_choose(&plan, list, 3, NULL, NULL, &error) == PIM_OK);
    ck_assert_int_eq(plan.series, PIM_SERIES_AHEAD);
    static const enum pim_series two[] = {PIM_SERIES_WIDE, PIM_SERIES_MIXED};
    plan.mappings[PIM_FOUND_WIDE][0].nest.cut++; /* another trace than that of the mixture */
    plan.chains[PIM_SERIES_MIXED].end = 10;
    plan.chains[PIM_SERIES_WIDE].end = 11;
    ck_assert(pim_series_choose(&plan, two, 2, simulate_mixed, &plan, &error) == PIM_OK);
    ck_assert_int_eq(plan.series, PIM_SERIES_WIDE);
    plan.chains[PIM_SERIES_WIDE].end = 12;
    plan.simulated[PIM_SERIES_WIDE] = 0;
    ck_assert(pim_series_choose(&plan, two, 2, simulate_mixed, &plan, &error) == PIM_OK);
    ck_assert_int_eq(plan.series, PIM_SERIES_MIXED);
    ck_assert_uint_eq(plan.simulated[PIM_SERIES_WIDE], 0);
    pim_overlapim_plan_terminate(&plan);
    pim_configuration_destroy(configuration);
    pim_network_destroy(network);
}
END_TEST

/* Mappings of which no trace can be written lose to those of the rule: rows of a bank that do not hold the
 * inputs of all steps, where words are placed in them. With a time limit, which nobody waits for, nothing is
 * simulated, and the found ones have the shorter estimate. */
START_TEST(ahead_without_a_trace_takes_the_rule)
{
    char network[PATH_MAX], hardware[PATH_MAX], trace[] = "/tmp/pimsim-overlap-XXXXXX", message[512] = "";
    static const char *const rows[] = {"levels.rows=740", "levels.rows=690", "levels.rows=690"};
    static const char *const given[][5] = {
        {"objective=ahead", "rows=real", "budget=12", "seed=7", NULL},
        {"objective=ahead", "rows=real", "budget=20", "seed=40", NULL},
        {"objective=ahead", "rows=real", "budget=20", "seed=40", "time-limit=86400"}};
    const char *const set[] = {"levels.memory=", rows[_i], "network.image=5"};
    const char *const *options = given[_i];
    int file = mkstemp(trace);
    ck_assert_int_ge(file, 0);
    (void)close(file);
    const struct pimsim_map_options asked = {
        .size = sizeof asked,
        .mapper = "overlapim",
        .network_path = pimsim_source_path(network, sizeof network, "docs/examples/small-vgg.cfg"),
        .hardware_path =
            pimsim_source_path(hardware, sizeof hardware, "configs/hardware/fast-overlapim-hbm2.cfg"),
        .overrides = set,
        .override_count = 3,
        .options = options,
        .option_count = options[4] ? 5 : 4,
        .trace_path = trace};
    struct pimsim_mapping *mapping = NULL;
    ck_assert_msg(pimsim_map(&mapping, &asked, message, sizeof message) == 0, "%s", message);
    ck_assert_uint_gt(replay_cycles(trace), 0);
    pimsim_mapping_destroy(mapping);
    (void)unlink(trace);
}
END_TEST

Suite *replay_suite(void)
{
    Suite *suite = suite_create("replay");
    TCase *tests = tcase_create("replay");
    tcase_add_loop_test(tests, of_every_objective, 0,
                        PIM_CASES(sizeof small / sizeof small[0] * PIM_OBJECTIVES));
    tcase_add_test(tests, of_commands);
    tcase_add_loop_test(tests, of_a_narrow_bus, 0, 4);
    tcase_add_loop_test(tests, ahead_never_loses_to_original, 0, PIM_CASES(2));
    tcase_add_loop_test(tests, best_never_loses, 0, PIM_CASES(2));
    tcase_add_loop_test(tests, best_never_loses_to_random, 0, PIM_CASES(2));
    tcase_add_test(tests, best_by_estimates);
    tcase_add_loop_test(tests, ahead_without_a_trace_takes_the_rule, 0, 3);
    tcase_add_loop_test(tests, units_do_not_wait_in_a_circle, 0, 4);
    suite_add_tcase(suite, tests);
    return suite;
}
