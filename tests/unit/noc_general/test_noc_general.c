#include "tests/unit/noc_general/suites.h"

void pimsim_suites(SRunner *runner)
{
    srunner_add_suite(runner, equal_suite());
    srunner_add_suite(runner, loads_suite());
    srunner_add_suite(runner, sets_suite());
    srunner_add_suite(runner, match_suite());
    srunner_add_suite(runner, shapes_suite());
    srunner_add_suite(runner, rules_suite());
    srunner_add_suite(runner, links_suite());
    srunner_add_suite(runner, topologies_suite());
}
