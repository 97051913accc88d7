/* What is written is what was planned: mappings of both memories replayed. */
#include "mappers/overlapim/search.h"
#include "tests/unit/overlap/replay.h"
#include "tests/unit/overlap/suites.h"
#include "tests/unit/test_main.h"

/* Where moving rows weighs as much as multiplying them, single layers are further off than the whole. */
static const struct replay small[] = {
    {"resnet18", "hbm2", "levels.costs=figure", 0, 60, 10, 1},
    {"resnet18", "reram", "levels.costs=figure", 0, 60, 20, 1},
    {"resnet18", "reram", "levels.costs=steps", 0, 60, 20, 1},
    {"bert-base-encoder", "reram", "levels.costs=figure", 0, 60, 20, 1},
};

START_TEST(of_every_objective)
{
    struct replay replay = small[_i / PIM_OBJECTIVES];
    replay.objective = (unsigned)_i % PIM_OBJECTIVES;
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

Suite *replay_suite(void)
{
    Suite *suite = suite_create("replay");
    TCase *tests = tcase_create("replay");
    tcase_set_timeout(tests, 120);
    tcase_add_loop_test(tests, of_every_objective, 0,
                        (int)(sizeof small / sizeof small[0]) * (int)PIM_OBJECTIVES);
    tcase_add_test(tests, of_commands);
    suite_add_tcase(suite, tests);
    return suite;
}
