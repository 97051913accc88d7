/* Whole networks of configs/networks on the paper's hardware: their traces complete (traces/check/check.h),
   whatever the scheme. */
#include "tests/unit/allspark/scenario.h"

struct real_case {
    const char *name, *override;
    struct pim_allspark_options options;
};

/* How many cases the tests below have: all of them are run. */
enum { NETWORKS = 6, OTHERS = 22 };

static void complete(const struct real_case *test)
{
    const struct pim_estimate_hardware hardware = real_hardware(16, 16);
    struct scenario scenario;
    struct pim_error error = {0};
    ck_assert_msg(
        scenario_make(&scenario, real_network(test->name, test->override), &hardware, &test->options, &error),
        "%s", error.text);
    scenario_check(&scenario);
    scenario_end(&scenario);
}

START_TEST(networks_complete)
{
    const struct real_case cases[NETWORKS] = {
        {"swin-t", NULL, {.scheme = PIM_ALLSPARK_AUTOMATIC}},
        {"swin-t", NULL, {.scheme = PIM_ALLSPARK_BRANCH}},
        {"swin-t", NULL, {.scheme = PIM_ALLSPARK_HEAD}},
        {"pvt-tiny", NULL, {.scheme = PIM_ALLSPARK_AUTOMATIC}},
        {"swin-t", NULL, {.scheme = PIM_ALLSPARK_AUTOMATIC, .batch = 2}},
        {"focal-t", NULL, {.scheme = PIM_ALLSPARK_AUTOMATIC}}};
    complete(&cases[_i]);
}
END_TEST

START_TEST(others_complete)
{
    const struct real_case cases[OTHERS] = {
        {"swin-t", NULL, {.scheme = PIM_ALLSPARK_PATCH}},
        {"swin-t", NULL, partition(4, 3, 12)},
        {"swin-t", NULL, partitions(4, (uint32_t[][2]){{1, 2}, {3, 5}, {7, 11}, {16, 16}}, 0)},
        {"swin-t", "network.image=256", {.scheme = PIM_ALLSPARK_AUTOMATIC}},
        {"swin-t", "network.image=640", {.scheme = PIM_ALLSPARK_AUTOMATIC}},
        {"swin-s", NULL, {.scheme = PIM_ALLSPARK_HEAD}},
        {"vit-t", NULL, {.scheme = PIM_ALLSPARK_AUTOMATIC}},
        {"vit-t", NULL, {.scheme = PIM_ALLSPARK_BRANCH}},
        {"vit-t", "network.image=384", {.scheme = PIM_ALLSPARK_PATCH}},
        {"vit-s", NULL, partition(16, 4, 0)},
        {"vit-b", NULL, {.scheme = PIM_ALLSPARK_AUTOMATIC}},
        {"twins-svt-s", NULL, {.scheme = PIM_ALLSPARK_AUTOMATIC}},
        {"twins-svt-s", "network.image=640", {.scheme = PIM_ALLSPARK_AUTOMATIC}},
        {"twins-svt-b", NULL, {.scheme = PIM_ALLSPARK_PATCH}},
        {"cswin-t", NULL, {.scheme = PIM_ALLSPARK_AUTOMATIC}},
        {"cswin-t", "network.image=384", {.scheme = PIM_ALLSPARK_AUTOMATIC}},
        {"pvt-tiny", NULL, {.scheme = PIM_ALLSPARK_BRANCH}},
        {"pvt-tiny", "network.image=640", {.scheme = PIM_ALLSPARK_AUTOMATIC}},
        {"pvt-large", NULL, {.scheme = PIM_ALLSPARK_HEAD}},
        {"pvt-small", NULL, partition(7, 1, 14)},
        {"focal-s", NULL, {.scheme = PIM_ALLSPARK_PATCH}},
        {"focal-t", "network.image=640", {.scheme = PIM_ALLSPARK_AUTOMATIC}},
    };
    complete(&cases[_i]);
}
END_TEST

Suite *real_suite(void)
{
    Suite *suite = suite_create("real");
    TCase *tests = tcase_create("real");
    tcase_add_loop_test(tests, networks_complete, 0, NETWORKS);
    suite_add_tcase(suite, tests);
    return suite;
}

Suite *others_suite(void)
{
    Suite *suite = suite_create("others");
    TCase *tests = tcase_create("others");
    tcase_add_loop_test(tests, others_complete, 0, OTHERS);
    suite_add_tcase(suite, tests);
    return suite;
}
