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

/* Layers that take over the channels of their producers, skip connections over more layers than have channels
 * at the same time, and branches that read from the same two. */
START_TEST(units_do_not_wait_in_a_circle)
{
    static const struct {
        struct replay replay;
        const char *array;
        unsigned channels;
    } cases[] = {
        {{"vgg8", "reram", "levels.costs=figure", PIM_OBJECTIVE_AHEAD, 10, 25, 1}, "array.width=4", 4},
        {{"resnet18", "reram", "levels.costs=figure", PIM_OBJECTIVE_TRANSFORM, 10, 25, 1},
         "array.width=2",
         2},
        {{"resnet18", "reram", "levels.costs=steps", PIM_OBJECTIVE_OVERLAP, 10, 25, 1}, "array.width=4", 2},
        {{"googlenet", "hbm2", "levels.costs=figure", PIM_OBJECTIVE_AHEAD, 10, 25, 1}, "array.width=32", 4},
    };
    check_hand_over(&cases[_i].replay, cases[_i].array, cases[_i].channels);
}
END_TEST

Suite *replay_suite(void)
{
    Suite *suite = suite_create("replay");
    TCase *tests = tcase_create("replay");
    tcase_add_loop_test(tests, of_every_objective, 0,
                        PIM_CASES(sizeof small / sizeof small[0] * PIM_OBJECTIVES));
    tcase_add_test(tests, of_commands);
    tcase_add_loop_test(tests, units_do_not_wait_in_a_circle, 0, 4);
    suite_add_tcase(suite, tests);
    return suite;
}
