/*
 * Every golden case of the cycle scheduler without a solver: its load reached, its hops or fewer, if need be
 * with twice the default of moves (8x8_random_6: 144 hops with the default, 142 with twice as many).
 */
#include "mappers/nicepim/cycles/cycles.h"
#include "tests/unit/nicepim/suites.h"

static void run_cases(size_t part)
{
    json_t *root = nicepim_golden("scheduler.json");
    ck_assert_uint_eq(json_array_size(root), 56);
    for (size_t i = part; i < json_array_size(root); i += 4) {
        const json_t *test = json_array_get(root, i);
        struct pim_error error = {0};
        struct pim_sharing sharing;
        struct pim_cycles cycles;
        struct pim_cycles_options options = pim_cycles_defaults();
        options.solver = "none";
        ck_assert_int_eq(pim_sharing_read(test, &sharing, &error), PIM_OK);
        ck_assert_int_eq(pim_cycles_solve(&sharing, &options, &cycles, &error), PIM_OK);
        if (cycles.hops > (uint64_t)nicepim_integer(test, "hops")) {
            options.steps *= 2;
            pim_cycles_terminate(&cycles);
            ck_assert_int_eq(pim_cycles_solve(&sharing, &options, &cycles, &error), PIM_OK);
        }
        ck_assert_int_eq(pim_cycles_check(&sharing, cycles.order, &error), PIM_OK);
        const char *name = json_string_value(json_object_get(test, "name"));
        uint64_t load = (uint64_t)nicepim_integer(test, "max_load");
        uint64_t hops = (uint64_t)nicepim_integer(test, "hops");
        uint64_t bound = (uint64_t)nicepim_integer(test, "hops_lower_bound");
        ck_assert_msg(cycles.max_load == load, "%s: load %lu, not %lu", name, (unsigned long)cycles.max_load,
                      (unsigned long)load);
        ck_assert_msg(cycles.hops <= hops && cycles.hops >= bound,
                      "%s: %lu hops, golden are %lu, at least %lu", name, (unsigned long)cycles.hops,
                      (unsigned long)hops, (unsigned long)bound);
        pim_cycles_terminate(&cycles);
        pim_sharing_terminate(&sharing);
    }
    json_decref(root);
}

START_TEST(first_quarter_reaches_the_golden_load)
{
    run_cases(0);
}
END_TEST

START_TEST(second_quarter_reaches_the_golden_load)
{
    run_cases(1);
}
END_TEST

START_TEST(third_quarter_reaches_the_golden_load)
{
    run_cases(2);
}
END_TEST

START_TEST(last_quarter_reaches_the_golden_load)
{
    run_cases(3);
}
END_TEST

static Suite *one(const char *name, const TTest *test)
{
    Suite *suite = suite_create(name);
    TCase *tests = tcase_create(name);
    tcase_add_test(tests, test);
    suite_add_tcase(suite, tests);
    return suite;
}

void pimsim_suites(SRunner *runner)
{
    srunner_add_suite(runner, one("first", first_quarter_reaches_the_golden_load));
    srunner_add_suite(runner, one("second", second_quarter_reaches_the_golden_load));
    srunner_add_suite(runner, one("third", third_quarter_reaches_the_golden_load));
    srunner_add_suite(runner, one("last", last_quarter_reaches_the_golden_load));
}
