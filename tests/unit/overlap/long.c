/* Forty thousand random pairs against every iteration of both nests; four networks replayed. */
#include "mappers/overlapim/search.h"
#include "tests/unit/overlap/random_case.h"
#include "tests/unit/overlap/replay.h"
#include "tests/unit/test_main.h"

enum { SEED = 7, PAIRS = 40000 };

START_TEST(pairs)
{
    struct pim_random random;
    pim_random_initialize(&random, SEED);
    for (uint64_t i = 0; i < PAIRS; i++) {
        struct pim_case kase;
        random_pair(&random, &kase);
        check_pair(&kase, i);
        pim_case_terminate(&kase);
    }
}
END_TEST

/* In the table of commands: every layer that adds a hundredth of the run within a tenth of what banks, bus
 * and refreshes make of it, with every objective; and no bound is beaten, in both memories. */
static const struct replay mapped[] = {
    {"resnet18", "hbm2", "levels.costs=commands", 0, 300, 10, 0.01},
    {"vgg16", "hbm2", "levels.costs=commands", 0, 200, 10, 0.01},
    {"resnet50", "hbm2", "levels.costs=commands", 0, 200, 10, 0.01},
    {"bert-base-encoder", "hbm2", "levels.costs=commands", 0, 200, 10, 0.01},
    {"resnet50", "reram", "levels.costs=steps", 0, 200, 25, 1},
    {"resnet50", "reram", "levels.costs=figure", 0, 200, 25, 1},
};

START_TEST(mapped_networks)
{
    struct replay replay = mapped[_i / PIM_OBJECTIVES];
    replay.objective = (unsigned)_i % PIM_OBJECTIVES;
    check_replay(&replay);
}
END_TEST

void pimsim_suites(SRunner *runner)
{
    Suite *suite = suite_create("pairs");
    TCase *tests = tcase_create("pairs");
    tcase_add_test(tests, pairs);
    suite_add_tcase(suite, tests);
    srunner_add_suite(runner, suite);
    suite = suite_create("networks");
    tests = tcase_create("networks");
    tcase_add_loop_test(tests, mapped_networks, 0,
                        (int)(sizeof mapped / sizeof mapped[0]) * (int)PIM_OBJECTIVES);
    suite_add_tcase(suite, tests);
    srunner_add_suite(runner, suite);
}
