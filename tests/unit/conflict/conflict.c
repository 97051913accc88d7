#include "tests/unit/conflict/suites.h"
#include "tests/unit/test_main.h"

void pimsim_suites(SRunner *runner)
{
    srunner_add_suite(runner, conflict_instant_suite());
    srunner_add_suite(runner, conflict_graph_suite());
    srunner_add_suite(runner, conflict_golden_suite());
    srunner_add_suite(runner, conflict_replay_suite());
    srunner_add_suite(runner, conflict_table_suite());
    srunner_add_suite(runner, conflict_property_suite());
    srunner_add_suite(runner, conflict_marks_suite());
}
