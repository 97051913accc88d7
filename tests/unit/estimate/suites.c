#include "tests/unit/estimate/suites.h"

#include "tests/unit/test_main.h"

void pimsim_suites(SRunner *runner)
{
    srunner_add_suite(runner, estimate_memory_suite());
    srunner_add_suite(runner, estimate_engines_suite());
    srunner_add_suite(runner, estimate_ring_suite());
    srunner_add_suite(runner, estimate_pace_suite());
    srunner_add_suite(runner, estimate_tiling_suite());
    srunner_add_suite(runner, estimate_programs_suite());
}
