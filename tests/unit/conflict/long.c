/* Every row of the golden files. */
#include "tests/unit/conflict/support.h"
#include "tests/unit/test_main.h"

#include <stdlib.h>

START_TEST(every_row_of_the_replay_matrix)
{
    size_t count;
    struct golden_row *rows = read_golden("results_replay_matrix.csv", &count);
    ck_assert_uint_eq(count, 120);
    for (size_t i = 0; i < count; i++)
        check_golden_row(&rows[i]);
    free(rows);
}
END_TEST

void pimsim_suites(SRunner *runner)
{
    Suite *suite = suite_create("matrix");
    TCase *cases = tcase_create("rows");
    tcase_add_test(cases, every_row_of_the_replay_matrix);
    suite_add_tcase(suite, cases);
    srunner_add_suite(runner, suite);
}
