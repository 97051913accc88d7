/* The long suite. */
#include "tests/unit/allspark/scenario.h"

void pimsim_suites(SRunner *runner)
{
    srunner_add_suite(runner, others_suite());
}
