/* The suites that prove numbers. */
#include "tests/unit/pimcomp/values/functional.h"
#include "tests/unit/test_main.h"

void pimsim_suites(SRunner *runner)
{
    srunner_add_suite(runner, evaluate_suite());
    srunner_add_suite(runner, execute_suite());
    srunner_add_suite(runner, functional_suite());
    srunner_add_suite(runner, segments_suite());
}
