#include "tests/unit/nicepim/suites.h"

void pimsim_suites(SRunner *runner)
{
    srunner_add_suite(runner, nicepim_cycles_suite());
    srunner_add_suite(runner, nicepim_sat_suite());
    srunner_add_suite(runner, nicepim_space_suite());
    srunner_add_suite(runner, nicepim_place_suite());
    srunner_add_suite(runner, nicepim_tokens_suite());
    srunner_add_suite(runner, nicepim_exchange_suite());
}
