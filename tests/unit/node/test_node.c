#include "tests/unit/node/suites.h"
#include "tests/unit/test_main.h"

void pimsim_suites(SRunner *runner)
{
    srunner_add_suite(runner, timing_suite());
    srunner_add_suite(runner, messages_suite());
    srunner_add_suite(runner, accounts_suite());
    srunner_add_suite(runner, refusals_suite());
    srunner_add_suite(runner, property_suite());
    srunner_add_suite(runner, reference_suite());
    srunner_add_suite(runner, shared_memory_suite());
}
