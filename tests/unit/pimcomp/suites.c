/* The suites of the lowering, the partition, the layouts and the search. */
#include "tests/unit/pimcomp/cases.h"

void pimsim_suites(SRunner *runner)
{
    srunner_add_suite(runner, architecture_suite());
    srunner_add_suite(runner, lower_suite());
    srunner_add_suite(runner, partition_suite());
    srunner_add_suite(runner, layout_suite());
    srunner_add_suite(runner, search_suite());
    srunner_add_suite(runner, refinement_suite());
    srunner_add_suite(runner, timing_suite());
}
