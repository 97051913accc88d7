/* The suites of the scheduler. */
#include "tests/unit/schedule/instances.h"

void pimsim_suites(SRunner *runner)
{
    srunner_add_suite(runner, exact_suite());
    srunner_add_suite(runner, ilp_suite());
}
