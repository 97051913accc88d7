/* The suites of the low-latency schedule. */
#include "tests/unit/pimcomp/low_latency.h"
#include "tests/unit/test_main.h"

void pimsim_suites(SRunner *runner)
{
    srunner_add_suite(runner, local_heap_suite());
    srunner_add_suite(runner, low_latency_suite());
}
