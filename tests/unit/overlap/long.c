/* A hundred thousand random pairs against every iteration of both nests. */
#include "mappers/overlapim/search.h"
#include "tests/unit/overlap/random_case.h"
#include "tests/unit/overlap/replay.h"
#include "tests/unit/test_main.h"

enum { SEED = 7, PAIRS = 100000 };

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

/* In the table of commands: estimates within a tenth of what banks, bus and refreshes make of them. */
START_TEST(commands_are_replayed)
{
    check_replay("resnet18", "levels.costs=commands", (unsigned)_i, 300, 10, 0.001);
}
END_TEST

void pimsim_suites(SRunner *runner)
{
    Suite *suite = suite_create("pairs");
    TCase *tests = tcase_create("pairs");
    tcase_set_timeout(tests, 600);
    tcase_add_test(tests, pairs);
    tcase_add_loop_test(tests, commands_are_replayed, PIM_OBJECTIVE_OVERLAP, PIM_OBJECTIVES);
    suite_add_tcase(suite, tests);
    srunner_add_suite(runner, suite);
}
