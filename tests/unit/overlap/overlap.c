#include "tests/unit/overlap/suites.h"

void pimsim_suites(SRunner *runner)
{
    srunner_add_suite(runner, golden_suite());
    srunner_add_suite(runner, property_suite());
    srunner_add_suite(runner, nest_suite());
    srunner_add_suite(runner, refusal_suite());
    srunner_add_suite(runner, machine_suite());
    srunner_add_suite(runner, search_suite());
    srunner_add_suite(runner, near_suite());
    srunner_add_suite(runner, values_suite());
    srunner_add_suite(runner, replay_suite());
    srunner_add_suite(runner, concat_suite());
}
