#include "tests/unit/sweep/suites.h"
#include "tests/unit/test_main.h"

void pimsim_suites(SRunner *runner)
{
    srunner_add_suite(runner, sweep_axis_suite());
    srunner_add_suite(runner, sweep_best_suite());
    srunner_add_suite(runner, sweep_expression_suite());
    srunner_add_suite(runner, sweep_points_suite());
    srunner_add_suite(runner, sweep_specification_suite());
    srunner_add_suite(runner, sweep_store_suite());
    srunner_add_suite(runner, sweep_task_suite());
    srunner_add_suite(runner, sweep_workers_suite());
}
