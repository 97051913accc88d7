/* The long suites. */
#include "tests/unit/allspark/scenario.h"

void pimsim_suites(SRunner *runner)
{
    srunner_add_suite(runner, others_suite());
    srunner_add_suite(runner, optimum_long_suite());
    srunner_add_suite(runner, dataflow_long_suite());
}
