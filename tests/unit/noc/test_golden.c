/* Every packet list measured on BookSim 2, all columns of all packets, with and without sleeping routers. */
#include "tests/unit/noc/cases.h"
#include "tests/unit/noc/suites.h"

START_TEST(golden_list)
{
    const int which = PIM_CASE(_i);
    int index = which % GOLDEN_LISTS;
    struct pim_noc_configuration configuration = golden_configuration(index);
    configuration.step_every_cycle = which >= GOLDEN_LISTS;
    struct list expected = list_read(golden_name(index)), found = list_copy(&expected);
    (void)list_run(&configuration, &found, 211, NULL);
    list_expect_same(&expected, &found, golden_name(index));
    list_free(&expected);
    list_free(&found);
}
END_TEST

Suite *golden_suite(void)
{
    Suite *suite = suite_create("noc_golden");
    TCase *lists = tcase_create("lists");
    tcase_add_loop_test(lists, golden_list, 0, PIM_CASES(2 * GOLDEN_LISTS));
    suite_add_tcase(suite, lists);
    return suite;
}
