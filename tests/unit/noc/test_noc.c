#include "tests/unit/noc/suites.h"

void pimsim_suites(SRunner *runner)
{
    srunner_add_suite(runner, micro_suite());
    srunner_add_suite(runner, golden_suite());
    srunner_add_suite(runner, run_length_suite());
    srunner_add_suite(runner, crowd_suite());
    srunner_add_suite(runner, blocked_suite());
    srunner_add_suite(runner, watchdog_suite());
    srunner_add_suite(runner, network_suite());
    srunner_add_suite(runner, estimate_suite());
}
