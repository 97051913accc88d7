#include "tests/unit/core/suites.h"
#include "tests/unit/test_main.h"

void pimsim_suites(SRunner *runner)
{
    srunner_add_suite(runner, core_timing_suite());
    srunner_add_suite(runner, core_messages_suite());
    srunner_add_suite(runner, core_refusals_suite());
    srunner_add_suite(runner, core_property_suite());
    srunner_add_suite(runner, core_micro_suite());
    srunner_add_suite(runner, core_memory_suite());
}
