/* Strategies: what they propose, on a cost in closed form instead of simulations. */
#include "tests/unit/tune/suites.h"
#include "tools/tune/strategy/strategy.h"

#include <string.h>

enum {
    ITERATIONS = 10,
    LONG_ITERATIONS = 32,
    CANDIDATES = 256,
    FEW_CANDIDATES = 16,
    SEEDS = 10,
    FEW_EPOCHS = 4
};
static const double budget = 48;

/* A bowl in the seven features whose bottom, 4 x 8 nodes of 64 x 16 PEs, keeps to the area; rows and columns
 * are bound to each other. */
static double cost_of(const struct pim_tune_space *space, const struct pim_tune_architecture *architecture)
{
    static const double bottom[PIM_TUNE_DIMENSIONS] = {0.33, 0.67, 0.75, 0.5, 0.5, 0.7, 0.4};
    double features[PIM_TUNE_DIMENSIONS], cost = 0.1;
    pim_tune_features(space, architecture, features);
    for (int d = 0; d < PIM_TUNE_DIMENSIONS; d++)
        cost += (features[d] - bottom[d]) * (features[d] - bottom[d]);
    double product = features[PIM_TUNE_ROWS] + features[PIM_TUNE_COLUMNS] - 1.25;
    return cost + 2 * product * product;
}

/* What a search proposes, and the least cost. */
static double search(const struct pim_tune_space *space, enum pim_tune_method method, uint64_t seed,
                     unsigned threads, uint64_t epochs, uint64_t iterations,
                     struct pim_tune_proposal found[LONG_ITERATIONS])
{
    const struct pim_tune_strategy_options options = {.space = space,
                                                      .budget = budget,
                                                      .method = method,
                                                      .seed = seed,
                                                      .candidates =
                                                          epochs > FEW_EPOCHS ? CANDIDATES : FEW_CANDIDATES,
                                                      .epochs = epochs,
                                                      .threads = threads};
    struct pim_tune_strategy *strategy;
    struct pim_error error = {0};
    double least = 1e300;
    ck_assert_msg(pim_tune_strategy_create(&options, &strategy, &error) == PIM_OK, "%s", error.text);
    for (uint64_t i = 0; i < iterations; i++) {
        struct pim_area area;
        ck_assert_msg(pim_tune_propose(strategy, i, &found[i], &error) == PIM_OK, "%s", error.text);
        pim_tune_area(space, &found[i].architecture, &area);
        ck_assert_double_le(area.engines, budget);
        double cost = cost_of(space, &found[i].architecture);
        least = cost < least ? cost : least;
        ck_assert_msg(pim_tune_observe(strategy, &found[i].architecture, cost, &error) == PIM_OK, "%s",
                      error.text);
    }
    pim_tune_strategy_destroy(strategy);
    return least;
}

START_TEST(proposals_follow_from_the_seed_alone)
{
    struct pim_tune_space space;
    make_space(&space, "nicepim-16x16");
    for (int method = 0; method < PIM_TUNE_METHODS; method++) {
        struct pim_tune_proposal one[LONG_ITERATIONS] = {0}, two[LONG_ITERATIONS] = {0},
                                 other[LONG_ITERATIONS] = {0};
        int different = 0;
        (void)search(&space, (enum pim_tune_method)method, 5, 1, FEW_EPOCHS, ITERATIONS, one);
        (void)search(&space, (enum pim_tune_method)method, 5, 3, FEW_EPOCHS, ITERATIONS, two);
        (void)search(&space, (enum pim_tune_method)method, 6, 1, FEW_EPOCHS, ITERATIONS, other);
        for (int i = 0; i < ITERATIONS; i++) {
            ck_assert_int_eq(memcmp(&one[i].architecture, &two[i].architecture, sizeof one[i].architecture),
                             0);
            ck_assert_uint_eq(one[i].rejected, two[i].rejected);
            ck_assert_uint_eq(one[i].drawn, two[i].drawn);
            ck_assert_uint_eq(one[i].false_accepts, two[i].false_accepts);
            int same = memcmp(&one[i].architecture, &other[i].architecture, sizeof one[i].architecture) == 0;
            ck_assert(i >= PIM_TUNE_FIRST || same);
            different += !same;
        }
        ck_assert_int_gt(different, 0);
    }
    pim_tune_space_terminate(&space);
}
END_TEST

/* Random architectures are the rival that has to be beaten, with nine seeds of ten; the filter lets less than
 * a twentieth of what is drawn through by mistake. */
START_TEST(methods_that_learn_beat_random_ones)
{
    static const struct {
        enum pim_tune_method method;
        uint64_t seeds;
        int least;
    } methods[] = {{PIM_TUNE_NICEPIM, SEEDS, 9}, {PIM_TUNE_PROCESS, 4, 4}, {PIM_TUNE_BOOSTED, 4, 3}};
    struct pim_tune_space space;
    struct pim_tune_proposal found[LONG_ITERATIONS];
    double random[SEEDS];
    make_space(&space, "nicepim-16x16");
    for (uint64_t seed = 0; seed < SEEDS; seed++)
        random[seed] = search(&space, PIM_TUNE_RANDOM, seed + 1, 1, 0, LONG_ITERATIONS, found);
    for (size_t m = 0; m < sizeof methods / sizeof methods[0]; m++) {
        int better = 0;
        for (uint64_t seed = 0; seed < methods[m].seeds; seed++) {
            double least = search(&space, methods[m].method, seed + 1, 2, 60, LONG_ITERATIONS, found);
            const struct pim_tune_proposal *last = &found[LONG_ITERATIONS - 1];
            better += least < random[seed];
            ck_assert_uint_lt(20 * last->false_accepts, last->drawn);
        }
        ck_assert_msg(better >= methods[m].least, "%s: better than random with %d seeds, not %d",
                      pim_tune_method_name(methods[m].method), better, methods[m].least);
    }
    pim_tune_space_terminate(&space);
}
END_TEST

Suite *strategy_suite(void)
{
    Suite *suite = suite_create("strategy");
    TCase *tests = tcase_create("strategy");
    tcase_add_test(tests, proposals_follow_from_the_seed_alone);
    suite_add_tcase(suite, tests);
    return suite;
}

Suite *strategy_learning_suite(void)
{
    Suite *suite = suite_create("strategy_learning");
    TCase *tests = tcase_create("strategy_learning");
    tcase_add_test(tests, methods_that_learn_beat_random_ones);
    suite_add_tcase(suite, tests);
    return suite;
}
