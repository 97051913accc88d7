/* The suite of the high-throughput schedule. */
#include "tests/unit/pimcomp/high_throughput.h"
#include "tests/unit/test_main.h"

void pimsim_suites(SRunner *runner)
{
    srunner_add_suite(runner, high_throughput_suite());
}
