/* The exact method against trying everything. */
#include "tests/unit/schedule/instances.h"

#include <inttypes.h>
#include <stdio.h>

enum { INSTANCES = 600 };

static const uint64_t seed = 20251120;

/* The optimum, proven, on every instance; nothing where nothing fits. */
START_TEST(exact_is_the_optimum)
{
    struct pim_random random;
    uint32_t solved = 0, refused = 0;
    pim_random_initialize(&random, seed + (uint64_t)_i);
    printf("seed %" PRIu64 "\n", seed + (uint64_t)_i);
    for (unsigned i = 0; i < INSTANCES; i++) {
        struct pim_schedule_problem literal, problem;
        struct pim_schedule_solution solution;
        struct pim_error error = {0};
        random_problem(&random, _i == 0, &literal, &problem);
        uint64_t best = brute_force(&problem);
        ck_assert(pim_schedule_exact(&problem, NULL, &solution, &error) == PIM_OK);
        ck_assert_msg(solution.found == (best != UINT64_MAX), "instance %u: found %d", i, solution.found);
        if (solution.found) {
            check_solution(&problem, &solution);
            ck_assert_msg(solution.cycles == best, "instance %u: %llu cycles instead of %llu", i,
                          (unsigned long long)solution.cycles, (unsigned long long)best);
            ck_assert_uint_eq(solution.bound, best);
            ck_assert_uint_le(pim_schedule_bound(&problem), best);
        }
        solved += solution.found;
        refused += !solution.found;
        pim_schedule_solution_terminate(&solution);
        pim_schedule_problem_terminate(&literal);
        pim_schedule_problem_terminate(&problem);
    }
    ck_assert_uint_gt(solved, INSTANCES / 4);
    ck_assert_uint_gt(refused, INSTANCES / 20);
}
END_TEST

/* Says stop when it has been asked so often. */
static bool countdown(void *context)
{
    uint32_t *left = context;
    return *left == 0 || (*left)-- == 0;
}

/* Wherever a search is stopped: a solution where there is one, with a true bound; the optimum if it was not
   stopped after all. */
START_TEST(stopped_searches_have_a_solution)
{
    static const uint32_t patience[] = {0, 1, 2, 5, 30};
    struct pim_random random;
    uint32_t stopped = 0, open = 0, whole = 0;
    pim_random_initialize(&random, seed + 11);
    for (unsigned i = 0; i < INSTANCES; i++) {
        struct pim_schedule_problem literal, problem;
        struct pim_schedule_solution solution;
        struct pim_error error = {0};
        uint32_t left = patience[i % 5];
        const struct pim_schedule_watch watch = {.stop = countdown, .context = &left};
        random_problem(&random, i % 2 == 0, &literal, &problem);
        uint64_t best = brute_force(&problem);
        ck_assert(pim_schedule_exact(&problem, &watch, &solution, &error) == PIM_OK);
        ck_assert_msg(solution.found == (best != UINT64_MAX), "instance %u: found %d", i, solution.found);
        if (solution.found) {
            check_solution(&problem, &solution);
            ck_assert_uint_ge(solution.cycles, best);
            ck_assert_uint_le(solution.bound, best);
            ck_assert(solution.stopped || (solution.cycles == best && solution.bound == best));
            ck_assert(solution.stopped || patience[i % 5] > 0); /* asked before anything else */
            stopped += solution.stopped;
            open += solution.bound < solution.cycles;
            whole += !solution.stopped;
        }
        pim_schedule_solution_terminate(&solution);
        pim_schedule_problem_terminate(&literal);
        pim_schedule_problem_terminate(&problem);
    }
    printf("%u stopped, %u of these not proven, %u not stopped\n", stopped, open, whole);
    ck_assert_uint_gt(stopped, INSTANCES / 5);
    ck_assert_uint_gt(open, INSTANCES / 20); /* a proof needs the whole search */
    ck_assert_uint_gt(whole, 0);
}
END_TEST

START_TEST(least_memory_is_sharp)
{
    struct pim_random random;
    pim_random_initialize(&random, seed + 7);
    for (unsigned i = 0; i < INSTANCES; i++) {
        struct pim_schedule_problem literal, problem;
        struct pim_schedule_solution solution;
        struct pim_schedule_cost cost;
        struct pim_error error = {0};
        uint64_t bytes;
        random_problem(&random, i % 2 == 0, &literal, &problem);
        ck_assert(pim_schedule_least_memory(&problem, &bytes, &solution, &error) == PIM_OK);
        ck_assert_uint_eq(bytes, brute_force_memory(&problem));
        ck_assert(solution.found && pim_schedule_cost(&problem, solution.layers, &cost));
        ck_assert_uint_eq(cost.weights + cost.workspace, bytes);
        pim_schedule_solution_terminate(&solution);
        pim_schedule_problem_terminate(&literal);
        pim_schedule_problem_terminate(&problem);
    }
}
END_TEST

/* A reuser without the copy, two classifiers, too few branches: no plan. */
START_TEST(constraints_are_kept)
{
    struct pim_schedule_problem problem = {.stages = 1, .memory = 100};
    struct pim_schedule_stage *stage = &problem.stage[0];
    struct pim_schedule_cost cost;
    stage->branches = 4;
    stage->needs = PIM_SCHEDULE_HEAD;
    const struct pim_schedule_candidate candidates[] = {
        {.capacity = 2, .layer_cycles = 3, .provides = PIM_SCHEDULE_HEAD, .weights = 5},
        {.capacity = 2, .layer_cycles = 1, .needs = PIM_SCHEDULE_WHOLE},
        {.capacity = 2, .layer_cycles = 9, .provides = PIM_SCHEDULE_WHOLE | PIM_SCHEDULE_HEAD, .weights = 7}};
    for (unsigned k = 0; k < 3; k++)
        ck_assert(pim_schedule_append(stage, &candidates[k]));
    const struct {
        uint32_t layers[3];
        bool valid;
    } cases[] = {{{2, 0, 0}, true},  {{1, 0, 0}, false}, {{1, 1, 0}, false}, {{0, 1, 1}, true},
                 {{0, 2, 0}, false}, {{1, 0, 1}, false}, {{4, 0, 0}, true},  {{5, 0, 0}, false}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        ck_assert_msg(pim_schedule_cost_of_stage(stage, cases[i].layers, &cost) == cases[i].valid, "case %zu",
                      i);
    struct pim_schedule_solution solution;
    struct pim_error error = {0};
    ck_assert(pim_schedule_exact(&problem, NULL, &solution, &error) == PIM_OK);
    ck_assert_uint_eq(solution.cycles, 6);
    pim_schedule_solution_terminate(&solution);
    pim_schedule_problem_terminate(&problem);
}
END_TEST

Suite *exact_suite(void)
{
    Suite *suite = suite_create("exact");
    TCase *tests = tcase_create("exact");
    tcase_add_loop_test(tests, exact_is_the_optimum, 0, 2);
    tcase_add_test(tests, stopped_searches_have_a_solution);
    tcase_add_test(tests, least_memory_is_sharp);
    tcase_add_test(tests, constraints_are_kept);
    suite_add_tcase(suite, tests);
    return suite;
}
