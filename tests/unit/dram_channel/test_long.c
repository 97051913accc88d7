/* A million commands for every preset, at random settings: none of them breaks a rule. */
#include "models/dram/schema.h"
#include "tests/unit/dram_channel/check_runs.h"
#include "tests/unit/test_main.h"

#include <check.h>

START_TEST(a_million_commands)
{
    uint64_t commands = 0;
    for (uint64_t seed = 100; commands < 1000000; seed += 100)
        commands += check_runs((size_t)_i, 4, 20000, seed);
}
END_TEST

void pimsim_suites(SRunner *runner)
{
    Suite *suite = suite_create("channel_million");
    TCase *cases = tcase_create("random");
    tcase_set_timeout(cases, 100);
    tcase_add_loop_test(cases, a_million_commands, 0, (int)pim_dram_preset_count());
    suite_add_tcase(suite, cases);
    srunner_add_suite(runner, suite);
}
