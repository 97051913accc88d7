/* Instants against the machine's binary64. */
#include "models/conflict/replay/instant.h"

#include "sim/random.h"
#include "tests/unit/conflict/suites.h"

#include <math.h>
#include <string.h>

static const enum pim_conflict_arithmetic rounded = PIM_CONFLICT_ROUNDED, exact = PIM_CONFLICT_EXACT;

static uint64_t bits_of(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

/* A figure of any size between 2^-40 and 2^40, with few or many bits, so that ties of rounding come up. */
static double any(struct pim_random *random)
{
    uint64_t significand = pim_random_next(random) >> 11;
    significand &= ~UINT64_C(0) << pim_random_below(random, 53);
    return ldexp((double)(significand | UINT64_C(1) << 52), (int)pim_random_below(random, 80) - 92);
}

START_TEST(rounded_instants_keep_their_figure)
{
    struct pim_random random;
    pim_random_initialize(&random, 11);
    for (int i = 0; i < 100000; i++) {
        double value = any(&random);
        pim_time instant = pim_conflict_instant(rounded, value);
        ck_assert_uint_le(instant, PIM_TIME_LAST);
        ck_assert_uint_eq(bits_of(pim_conflict_ns(rounded, instant)), bits_of(value));
    }
    ck_assert_uint_eq(pim_conflict_instant(rounded, 0.0), 0);
    ck_assert_uint_eq(bits_of(pim_conflict_ns(rounded, 0)), bits_of(0.0));
}
END_TEST

START_TEST(rounded_sums_are_those_of_binary64)
{
    struct pim_random random;
    pim_random_initialize(&random, 12);
    for (int i = 0; i < 300000; i++) {
        double a = any(&random), b = any(&random);
        pim_time sum =
            pim_conflict_after(rounded, pim_conflict_instant(rounded, a), pim_conflict_instant(rounded, b));
        ck_assert_msg(bits_of(pim_conflict_ns(rounded, sum)) == bits_of(a + b),
                      "seed 12, sum %d: %a + %a gives %a, not %a", i, a, b, pim_conflict_ns(rounded, sum),
                      a + b);
    }
}
END_TEST

START_TEST(order_is_that_of_the_figures)
{
    struct pim_random random;
    pim_random_initialize(&random, 13);
    for (int i = 0; i < 100000; i++) {
        double a = any(&random), b = any(&random);
        ck_assert((a < b) == (pim_conflict_instant(rounded, a) < pim_conflict_instant(rounded, b)));
    }
    ck_assert_uint_lt(0, pim_conflict_instant(rounded, 1e-9));
}
END_TEST

START_TEST(nothing_added_changes_nothing)
{
    pim_time instant = pim_conflict_instant(rounded, 282.37534965454546);
    ck_assert_uint_eq(pim_conflict_after(rounded, instant, 0), instant);
    ck_assert_uint_eq(pim_conflict_after(rounded, 0, instant), instant);
    ck_assert_uint_eq(pim_conflict_after(rounded, instant, pim_conflict_instant(rounded, 1e-20)), instant);
}
END_TEST

START_TEST(exact_sums_are_exact_and_end)
{
    pim_time tenth = pim_conflict_instant(exact, 0.1), sum = 0;
    for (int i = 0; i < 1000; i++)
        sum = pim_conflict_after(exact, sum, tenth);
    ck_assert_uint_eq(sum, 1000 * tenth);
    ck_assert_double_eq(pim_conflict_ns(exact, sum), 100.0);
    ck_assert_uint_eq(pim_conflict_after(exact, PIM_TIME_LAST, 1), PIM_TIME_NEVER);
    ck_assert_uint_eq(pim_conflict_instant(exact, 1e13), PIM_TIME_NEVER);
}
END_TEST

START_TEST(fixed_figures_round_down)
{
    ck_assert_uint_eq(pim_conflict_fixed(rounded, pim_conflict_instant(rounded, 3.5)), UINT64_C(7) << 19);
    ck_assert_uint_eq(pim_conflict_fixed(exact, pim_conflict_instant(exact, 3.5)), UINT64_C(7) << 19);
    ck_assert_uint_eq(pim_conflict_fixed(rounded, pim_conflict_instant(rounded, 1e-9)), 0);
    ck_assert_uint_eq(pim_conflict_fixed(rounded, pim_conflict_instant(rounded, ldexp(1, 40))), UINT64_C(1)
                                                                                                    << 60);
}
END_TEST

Suite *conflict_instant_suite(void)
{
    Suite *suite = suite_create("instant");
    TCase *cases = tcase_create("instants");
    tcase_add_test(cases, rounded_instants_keep_their_figure);
    tcase_add_test(cases, rounded_sums_are_those_of_binary64);
    tcase_add_test(cases, order_is_that_of_the_figures);
    tcase_add_test(cases, nothing_added_changes_nothing);
    tcase_add_test(cases, exact_sums_are_exact_and_end);
    tcase_add_test(cases, fixed_figures_round_down);
    suite_add_tcase(suite, cases);
    return suite;
}
