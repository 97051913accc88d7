/* The common tick of several clocks. */
#include "sim/kernel/clock.h"
#include "tests/unit/kernel/test_kernel.h"

#include <string.h>

START_TEST(ticks_are_the_least_common_multiple)
{
    static const uint64_t khz[] = {1000000, 800000, 1600000, 1333};
    uint64_t ticks = 0;
    pim_time periods[4];
    struct pim_error error = {.status = PIM_OK};
    ck_assert_int_eq(pim_clock_ticks_per_second(khz, 1, NULL, &ticks, periods, &error), PIM_OK);
    ck_assert_uint_eq(ticks, UINT64_C(1000000000));
    ck_assert_uint_eq(periods[0], 1);
    ck_assert_int_eq(pim_clock_ticks_per_second(khz, 3, NULL, &ticks, periods, &error), PIM_OK);
    ck_assert_uint_eq(ticks, UINT64_C(8000000000));
    ck_assert_uint_eq(periods[0], 8);
    ck_assert_uint_eq(periods[1], 10);
    ck_assert_uint_eq(periods[2], 5);
}
END_TEST

START_TEST(impossible_frequencies_are_refused)
{
    static const uint64_t zero[] = {1000, 0};
    static const uint64_t prime[] = {999983, 1000003, 7};
    static const uint64_t huge[] = {UINT64_MAX};
    static const uint64_t limit[] = {UINT64_C(1000000000000), UINT64_C(1000000000000)};
    static const char *const names[] = {"noc.clock_khz", "logic.clock_khz", "dram.clock_khz"};
    uint64_t ticks = 5;
    pim_time periods[3] = {6, 6, 6};
    struct pim_error error = {.status = PIM_OK};
    ck_assert_int_eq(pim_clock_ticks_per_second(zero, 2, names, &ticks, periods, &error), PIM_BAD_INPUT);
    ck_assert_ptr_nonnull(strstr(error.text, "logic.clock_khz"));
    ck_assert_int_eq(pim_clock_ticks_per_second(prime, 3, names, &ticks, periods, &error), PIM_BAD_INPUT);
    ck_assert_ptr_nonnull(strstr(error.text, "dram.clock_khz"));
    ck_assert_int_eq(pim_clock_ticks_per_second(huge, 1, NULL, &ticks, periods, &error), PIM_BAD_INPUT);
    ck_assert_int_eq(pim_clock_ticks_per_second(huge, 0, NULL, &ticks, periods, &error), PIM_BAD_INPUT);
    ck_assert_uint_eq(ticks, 5);
    ck_assert_uint_eq(periods[0], 6);
    ck_assert_int_eq(pim_clock_ticks_per_second(limit, 2, NULL, &ticks, periods, &error), PIM_OK);
    ck_assert_uint_eq(ticks, PIM_CLOCK_MAX_HZ);
}
END_TEST

Suite *clock_suite(void)
{
    Suite *suite = suite_create("clock");
    TCase *tick = tcase_create("tick");
    tcase_add_test(tick, ticks_are_the_least_common_multiple);
    tcase_add_test(tick, impossible_frequencies_are_refused);
    suite_add_tcase(suite, tick);
    return suite;
}
