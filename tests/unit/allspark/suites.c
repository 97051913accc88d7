/* The quick suites. */
#include "tests/unit/allspark/scenario.h"

void pimsim_suites(SRunner *runner)
{
    srunner_add_suite(runner, layout_suite());
    srunner_add_suite(runner, plan_suite());
    srunner_add_suite(runner, optimum_suite());
    srunner_add_suite(runner, dataflow_suite());
    srunner_add_suite(runner, volumes_suite());
    srunner_add_suite(runner, real_suite());
    srunner_add_suite(runner, exchange_suite());
    srunner_add_suite(runner, relay_suite());
    srunner_add_suite(runner, equations_suite());
    srunner_add_suite(runner, values_suite());
}
