#include "tests/unit/tile/suites.h"

#include "tests/unit/test_main.h"

void pimsim_suites(SRunner *runner)
{
    srunner_add_suite(runner, tile_replay_suite());
    srunner_add_suite(runner, tile_units_suite());
}
