#include "tests/unit/test_main.h"
#include "tests/unit/traces/suites.h"

void pimsim_suites(SRunner *runner)
{
    srunner_add_suite(runner, file_suite());
    srunner_add_suite(runner, damage_suite());
    srunner_add_suite(runner, program_suite());
    srunner_add_suite(runner, text_suite());
    srunner_add_suite(runner, check_suite());
    srunner_add_suite(runner, order_suite());
    srunner_add_suite(runner, local_suite());
    srunner_add_suite(runner, golden_suite());
    srunner_add_suite(runner, page_suite());
}
