/*
 * Refined plans: never slower, by their own estimate, than what they were made of; within the memory that
 * there is for weights; and not slower on better hardware where they were without it.
 */
#include "mappers/nicepim/map/attempts.h"
#include "mappers/nicepim/map/refine/refine.h"
#include "tests/unit/estimate/machine.h"
#include "tests/unit/nicepim/plans.h"
#include "tests/unit/test_main.h"

#include <inttypes.h>
#include <string.h>

static const struct job {
    const char *network, *image;
    enum nice_method method;
    bool gains;    /* a cut is better than the one that was chosen */
    uint64_t most; /* cycles; without the second pass there are more. 0: not looked at */
} jobs[] = {
    {"configs/networks/vgg8.cfg", "network.image=16", NICE_SERIAL, true, 16650},
    {"configs/networks/squeezenet.cfg", "network.image=64", NICE_SERIAL, true, 13600},
    {"configs/networks/squeezenet.cfg", "network.image=64", NICE_PARALLEL, true, 11900},
    {"configs/networks/shufflenet.cfg", "network.image=64", NICE_SERIAL, true, 55000},
    {"configs/networks/vgg8.cfg", "network.image=16", NICE_SEQUENTIAL, false, 0},
};

/* Weights of a node, all branches on the whole array: every product stores what its decision says. */
static uint64_t stored_in_turn(const struct nice_plan *plan)
{
    uint64_t stored = 0;
    for (uint32_t i = 0; i < plan->flow.count; i++)
        stored += plan->flow.operation[i].kind == FLOW_PRODUCT ? plan->decision[i].stored : 0;
    return stored;
}

/* `tight`: weights have no more memory than the plan takes. */
static void refine(const struct job *job, bool tight)
{
    static struct machine machine;
    struct pim_network *network;
    struct nice_plan plan;
    struct nice_result before, result, after;
    struct pim_error error = {0};
    machine_read(&machine, "nicepim-4x4", NULL, 0);
    network = nicepim_network(job->network, job->image);
    const struct nice_request request = nicepim_request(network, &machine.estimate, job->method);
    check(nice_plan_make(&request, &plan, &error), &error);
    if (tight)
        plan.capacity = plan.stored;
    check(nice_emit(&plan, NULL, &before, &error), &error);
    result = before;
    check(nice_refine(&plan, &result, &error), &error);
    check(nice_emit(&plan, NULL, &after, &error), &error);
    ck_assert_uint_eq(result.cycles, after.cycles);
    ck_assert_uint_eq(result.macs, after.macs);
    ck_assert_uint_eq(result.memory_bytes, after.memory_bytes);
    ck_assert_uint_le(after.cycles, before.cycles);
    if (job->gains && !tight)
        ck_assert_uint_lt(after.cycles, before.cycles);
    if (job->most > 0 && !tight)
        ck_assert_uint_le(after.cycles, job->most);
    if (!job->gains)
        ck_assert_uint_eq(after.cycles, before.cycles);
    ck_assert_uint_le(plan.stored, plan.capacity);
    if (job->method == NICE_SERIAL)
        ck_assert_uint_eq(plan.stored, stored_in_turn(&plan));
    nice_plan_terminate(&plan);
    pim_network_destroy(network);
}

START_TEST(nothing_gets_slower)
{
    refine(&jobs[PIM_CASE(_i)], false);
}
END_TEST

START_TEST(weights_keep_to_their_memory)
{
    refine(&jobs[PIM_CASE(_i)], true);
}
END_TEST

/* Settings from the worst to the best. */
static const struct ladder {
    const char *rungs[5];
} ladders[] = {
    {{"buffers.weight_bytes=32768", "buffers.weight_bytes=65536", "buffers.weight_bytes=131072",
      "buffers.weight_bytes=262144"}},
    {{"dram.trcd_ns=40.0", "dram.trcd_ns=26.0", "dram.trcd_ns=18.0", "dram.trcd_ns=10.0",
      "dram.trcd_ns=5.0"}},
};

START_TEST(better_hardware_is_not_slower)
{
    static struct machine machine;
    struct pim_network *network = nicepim_network("configs/networks/vgg8.cfg", "network.image=16");
    uint64_t last = UINT64_MAX;
    for (size_t r = 0; r < 5 && ladders[_i].rungs[r]; r++) {
        struct pim_error error = {0};
        struct nice_best best = {0};
        machine_read(&machine, "nicepim-4x4", &ladders[_i].rungs[r], 1);
        const struct nice_search search = {.network = network,
                                           .hardware = &machine.estimate,
                                           .batch = 1,
                                           .asked = {[NICE_PARALLEL] = true, [NICE_SERIAL] = true},
                                           .objective = NICE_LATENCY,
                                           .threads = 1};
        check(nice_search(&search, &best, &error), &error);
        ck_assert_msg(best.result.cycles <= last, "%s: %" PRIu64 " cycles, %" PRIu64 " on worse hardware",
                      ladders[_i].rungs[r], best.result.cycles, last);
        last = best.result.cycles;
        nice_best_terminate(&best);
    }
    pim_network_destroy(network);
}
END_TEST

/* A rule of thumb is faster before refinement, and slower than the fastest other plan behind it. */
START_TEST(more_than_a_rule_is_refined)
{
    static struct machine machine;
    struct pim_network *network = nicepim_network("configs/networks/shufflenet.cfg", "network.image=64");
    struct nice_plan plan;
    struct nice_result result;
    struct nice_best best = {0};
    struct pim_error error = {0};
    machine_read(&machine, "nicepim-4x4", NULL, 0);
    const struct nice_search search = {.network = network,
                                       .hardware = &machine.estimate,
                                       .batch = 1,
                                       .asked = {[NICE_SERIAL] = true},
                                       .objective = NICE_LATENCY,
                                       .threads = 1};
    check(nice_search(&search, &best, &error), &error);
    ck_assert(best.chosen.rule == NICE_NO_RULE);
    struct nice_request request = nicepim_request(network, &machine.estimate, best.chosen.method);
    request.weights = best.chosen.weights;
    request.width = best.chosen.width;
    request.height = best.chosen.height;
    check(nice_plan_make(&request, &plan, &error), &error);
    check(nice_emit(&plan, NULL, &result, &error), &error);
    check(nice_refine(&plan, &result, &error), &error);
    ck_assert_uint_le(best.result.cycles, result.cycles);
    nice_best_terminate(&best);
    nice_plan_terminate(&plan);
    pim_network_destroy(network);
}
END_TEST

struct patience {
    uint64_t left;
};

static bool runs_out(void *context)
{
    struct patience *patience = context;
    patience->left -= patience->left > 0;
    return patience->left == 0;
}

/* The best plan that is found before a stop is asked for `patience` times; how many methods had a plan. */
static uint64_t best_within(const struct pim_network *network, const struct machine *machine,
                            enum nice_objective objective, uint64_t patience, bool *cut_short,
                            unsigned *methods)
{
    struct patience of_search = {patience};
    struct pim_error error = {0};
    struct nice_best best = {0};
    const struct nice_search search = {
        .network = network,
        .hardware = &machine->estimate,
        .batch = 1,
        .asked = {[NICE_PARALLEL] = true, [NICE_SERIAL] = true, [NICE_SEQUENTIAL] = true},
        .objective = objective,
        .threads = 1,
        .stop = {runs_out, &of_search}};
    check(nice_search(&search, &best, &error), &error);
    ck_assert(best.found);
    *cut_short = best.cut_short;
    *methods = 0;
    for (int method = 0; method < NICE_METHODS; method++) {
        *methods += best.tried[method].cycles > 0;
        if (objective == NICE_LATENCY && best.tried[method].cycles > 0)
            ck_assert_uint_ge(best.tried[method].cycles, best.result.cycles);
    }
    const uint64_t cycles = best.result.cycles;
    nice_best_terminate(&best);
    return cycles;
}

/* The first plan is made whatever happens, and the others as far as there is time. */
START_TEST(stop_takes_the_best_so_far)
{
    static struct machine machine;
    struct pim_network *network = nicepim_network("configs/networks/squeezenet.cfg", "network.image=32");
    machine_read(&machine, "nicepim-4x4", NULL, 0);
    bool cut_short;
    unsigned methods;
    const uint64_t whole = best_within(network, &machine, NICE_LATENCY, UINT64_MAX, &cut_short, &methods);
    ck_assert(!cut_short);
    ck_assert_uint_eq(methods, 3);
    const uint64_t first = best_within(network, &machine, NICE_LATENCY, 1, &cut_short, &methods);
    ck_assert(cut_short);
    ck_assert_uint_eq(methods, 1);
    ck_assert_uint_gt(first, whole);
    uint64_t last = first;
    for (uint64_t patience = 2; cut_short; patience *= 16 / PIM_DRAWS(8)) {
        const unsigned before = methods;
        last = best_within(network, &machine, NICE_LATENCY, patience, &cut_short, &methods);
        ck_assert_uint_ge(methods, before);
    }
    ck_assert_uint_eq(last, whole);
    pim_network_destroy(network);
}
END_TEST

/* Wherever the stop comes there is a plan: also between plans of least cycles, of least energy and the one
 * that is made again to be refined. */
START_TEST(stop_leaves_a_plan)
{
    static struct machine machine;
    struct pim_network *network = nicepim_network("configs/networks/vgg8.cfg", "network.image=8");
    machine_read(&machine, "nicepim-4x4", NULL, 0);
    bool cut_short = true;
    unsigned methods;
    uint64_t patience = 1;
    for (; cut_short; patience += 8 / PIM_DRAWS(8))
        (void)best_within(network, &machine, NICE_EDP, patience, &cut_short, &methods);
    ck_assert_uint_gt(patience, 20);
    pim_network_destroy(network);
}
END_TEST

/* A plan side by side has no room here; one of branches one after another has. */
START_TEST(stop_takes_the_first_that_fits)
{
    static struct machine machine;
    static const char *const rows[] = {"dram.rows=62"};
    struct pim_network *network = nicepim_network("configs/networks/googlenet.cfg", "network.image=64");
    machine_read(&machine, "nicepim-4x4", rows, 1);
    bool cut_short;
    unsigned methods;
    ck_assert_uint_gt(best_within(network, &machine, NICE_LATENCY, 1, &cut_short, &methods), 0);
    ck_assert(cut_short);
    ck_assert_uint_eq(methods, 1);
    pim_network_destroy(network);
}
END_TEST

void pimsim_suites(SRunner *runner)
{
    Suite *suite = suite_create("refine");
    TCase *tests = tcase_create("refine");
    const int count = PIM_CASES(sizeof jobs / sizeof jobs[0]);
    tcase_add_loop_test(tests, nothing_gets_slower, 0, count);
    tcase_add_loop_test(tests, weights_keep_to_their_memory, 0, count);
    tcase_add_test(tests, more_than_a_rule_is_refined);
    tcase_add_loop_test(tests, better_hardware_is_not_slower, 0,
                        PIM_CASES(sizeof ladders / sizeof ladders[0]));
    tcase_add_test(tests, stop_takes_the_best_so_far);
    tcase_add_test(tests, stop_leaves_a_plan);
    tcase_add_test(tests, stop_takes_the_first_that_fits);
    suite_add_tcase(suite, tests);
    srunner_add_suite(runner, suite);
}
