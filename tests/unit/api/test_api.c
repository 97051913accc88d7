/* The public interface: include/pimsim/pimsim.h. */
#include "tests/unit/api/support.h"
#include "tests/unit/test_main.h"

void pimsim_suites(SRunner *runner)
{
    srunner_add_suite(runner, refusals_suite());
    srunner_add_suite(runner, results_suite());
    srunner_add_suite(runner, together_suite());
}
