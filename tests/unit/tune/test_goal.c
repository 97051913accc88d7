/* Goals: what is read, what is refused and where, and costs worked out by hand. */
#include "tests/unit/tune/suites.h"
#include "tools/tune/goal.h"

#include <math.h>
#include <string.h>

static const struct {
    const char *text;
    double energy, latency;
} good[] = {{"energy^1*latency^1", 1, 1},
            {"energy*latency", 1, 1},
            {" latency ^ 2 * energy ", 1, 2},
            {"latency", 0, 1},
            {"energy^0.5", 0.5, 0},
            {"energy^0*latency^8", 0, 8},
            {"energy^1.25*latency^.5", 1.25, 0.5}};

static const struct {
    const char *text, *message;
} bad[] = {
    {"", "energy or latency expected at character 1, where it ends"},
    {"area", "energy or latency expected at character 1, before area"},
    {"energy*", "latency expected at character 8, where it ends"},
    {"energy*energy", "latency expected at character 8, before energy"},
    {"latency^x", "a number from 0 to 8 with at most six decimals expected at character 9, before x"},
    {"latency^9", "a number from 0 to 8 with at most six decimals expected at character 9, before 9"},
    {"latency^-1", "a number from 0 to 8 with at most six decimals expected at character 9, before -1"},
    {"latency^.", "a number from 0 to 8"},
    {"latency^1.0000001", "a number from 0 to 8"},
    {"energy latency", "* or an end expected at character 8, before latency"},
    {"energy*latency*", "an end expected at character 16, where it ends"},
    {"energy^0*latency^0", "all exponents are 0"},
    {"energy^0", "all exponents are 0"}};

START_TEST(goals_are_read)
{
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        struct pim_tune_goal goal;
        struct pim_error error = {0};
        ck_assert_msg(pim_tune_goal_parse(good[i].text, &goal, &error) == PIM_OK, "%s", error.text);
        ck_assert_double_eq(goal.energy, good[i].energy);
        ck_assert_double_eq(goal.latency, good[i].latency);
    }
}
END_TEST

START_TEST(what_is_no_goal_is_refused_with_its_place)
{
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct pim_tune_goal goal;
        struct pim_error error = {0};
        ck_assert_int_eq(pim_tune_goal_parse(bad[i].text, &goal, &error), PIM_BAD_INPUT);
        ck_assert_msg(strstr(error.text, bad[i].message) != NULL, "%s: %s", bad[i].text, error.text);
    }
}
END_TEST

/* 2e9 pJ are 2 mJ, 3e6 ns are 3 ms. */
START_TEST(costs_are_products_of_powers)
{
    const struct pim_tune_goal product = {1, 1}, latency = {0, 3}, mixed = {0.5, 2};
    ck_assert_double_eq_tol(pim_tune_cost(&product, 2e9, 3e6), 6, 1e-14);
    ck_assert_double_eq_tol(pim_tune_cost(&latency, 2e9, 3e6), 27, 1e-13);
    ck_assert_double_eq_tol(pim_tune_cost(&mixed, 2e9, 3e6), 9 * sqrt(2), 1e-13);
}
END_TEST

Suite *goal_suite(void)
{
    Suite *suite = suite_create("goal");
    TCase *tests = tcase_create("goal");
    tcase_add_test(tests, goals_are_read);
    tcase_add_test(tests, what_is_no_goal_is_refused_with_its_place);
    tcase_add_test(tests, costs_are_products_of_powers);
    suite_add_tcase(suite, tests);
    return suite;
}
