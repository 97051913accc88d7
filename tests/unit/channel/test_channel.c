#include "tests/unit/channel/suites.h"
#include "tests/unit/test_main.h"

void pimsim_suites(SRunner *runner)
{
    srunner_add_suite(runner, channel_timing_suite());
    srunner_add_suite(runner, channel_commands_suite());
    srunner_add_suite(runner, channel_property_suite());
    srunner_add_suite(runner, channel_refusals_suite());
    srunner_add_suite(runner, channel_values_suite());
}
