/* Which points a sweep has, and what each one is. */
#include "tests/unit/api/support.h"
#include "tests/unit/sweep/suites.h"
#include "tests/unit/sweep/support.h"
#include "tools/sweep/prepare.h"

#include <stdlib.h>
#include <string.h>

static void begin(struct pim_sweep *sweep)
{
    struct pim_error error = {PIM_OK, ""};
    char path[PATH_SIZE];
    pim_sweep_initialize(sweep);
    ck_assert_int_eq(
        pim_sweep_add_trace(sweep, trace_of(path, "trace.bin", (struct shape){.unanswered = false}), &error),
        PIM_OK);
}

/* Every combination once, in the order of the numbers: source slowest, repeat fastest. */
START_TEST(test_order)
{
    struct pim_sweep sweep;
    struct pim_error error = {PIM_OK, ""};
    char path[PATH_SIZE];
    uint64_t number = 0;
    begin(&sweep);
    ck_assert_int_eq(
        pim_sweep_add_trace(&sweep, trace_of(path, "other.bin", (struct shape){.unanswered = true}), &error),
        PIM_OK);
    vary(&sweep, "noc.flit_bits", "16,32,64");
    vary_together(&sweep, "dram.trcd_ns", "14,18", "dram.trp_ns", "15,19");
    sweep.repeats = 2;
    prepare(&sweep);
    ck_assert_uint_eq(sweep.numbers, 2 * 3 * 2 * 2);
    for (uint64_t source = 0; source < 2; source++)
        for (size_t bits = 0; bits < 3; bits++)
            for (size_t timing = 0; timing < 2; timing++)
                for (uint64_t repeat = 0; repeat < 2; repeat++) {
                    struct pim_sweep_point point;
                    pim_sweep_locate(&sweep, number, &point);
                    ck_assert_uint_eq(point.number, number++);
                    ck_assert_uint_eq(point.source, source);
                    ck_assert_uint_eq(point.value[0], bits);
                    ck_assert_uint_eq(point.value[1], timing);
                    ck_assert_uint_eq(point.repeat, repeat);
                }
    pim_sweep_terminate(&sweep);
}
END_TEST

START_TEST(test_configuration)
{
    struct pim_sweep sweep;
    struct pim_error error = {PIM_OK, ""};
    struct pim_sweep_point point;
    struct pim_configuration *configuration;
    begin(&sweep);
    ck_assert_int_eq(pim_sweep_add_set(&sweep, "noc.link_latency=3", &error), PIM_OK);
    vary(&sweep, "noc.flit_bits", "16,32");
    vary_together(&sweep, "dram.trcd_ns", "14,18", "dram.trp_ns", "15,19.5");
    prepare(&sweep);
    pim_sweep_locate(&sweep, 3, &point);
    ck_assert_int_eq(pim_sweep_configure(&sweep, &point, false, &configuration, &error), PIM_OK);
    ck_assert_int_eq(pim_configuration_integer(configuration, "noc.flit_bits"), 32);
    ck_assert_int_eq(pim_configuration_integer(configuration, "noc.link_latency"), 3);
    ck_assert_double_eq(pim_configuration_real(configuration, "dram.trcd_ns"), 18);
    ck_assert_double_eq(pim_configuration_real(configuration, "dram.trp_ns"), 19.5);
    pim_configuration_destroy(configuration);
    ck_assert_int_eq(pim_sweep_configure(&sweep, &point, true, &configuration, &error), PIM_OK);
    ck_assert_int_eq(pim_configuration_integer(configuration, "noc.flit_bits"), 64);
    pim_configuration_destroy(configuration);
    pim_sweep_terminate(&sweep);
}
END_TEST

/* Constraints see values of axes and of the base; texts too. */
START_TEST(test_constraints)
{
    struct pim_sweep sweep;
    struct pim_error error = {PIM_OK, ""};
    uint64_t count;
    begin(&sweep);
    ck_assert_int_eq(pim_sweep_add_set(&sweep, "noc.link_latency=3", &error), PIM_OK);
    vary(&sweep, "noc.flit_bits", "16,32,64,128");
    vary(&sweep, "noc.buffer_flits", "2,4,8");
    ck_assert_int_eq(pim_texts_add(&sweep.conditions,
                                   "noc.flit_bits * noc.buffer_flits <= 128 * noc.link_latency", &error),
                     PIM_OK);
    ck_assert_int_eq(
        pim_texts_add(&sweep.conditions, "noc.fidelity != pe.style && noc.fidelity == \"flit\"", &error),
        PIM_OK);
    prepare(&sweep);
    ck_assert_int_eq(pim_sweep_count(&sweep, &count, &error), PIM_OK);
    /* at most 384 bits: 16 x {2, 4, 8}, 32 x {2, 4, 8}, 64 x {2, 4}, 128 x {2} */
    ck_assert_uint_eq(count, 9);
    pim_sweep_terminate(&sweep);
}
END_TEST

/* Seeds: the first repeat has the given one, others have their own, the same in every run. */
START_TEST(test_seeds)
{
    struct pim_sweep sweep;
    struct pim_sweep_point point, other;
    begin(&sweep);
    vary(&sweep, "noc.flit_bits", "16,32");
    sweep.repeats = 100;
    sweep.seed = 7;
    prepare(&sweep);
    pim_sweep_locate(&sweep, 0, &point);
    ck_assert_uint_eq(point.seed, 7);
    for (uint64_t i = 1; i < 100; i++)
        for (uint64_t j = 0; j < i; j++) {
            pim_sweep_locate(&sweep, i, &point);
            pim_sweep_locate(&sweep, j, &other);
            ck_assert_uint_ne(point.seed, other.seed);
            ck_assert_uint_le(point.seed, INT64_MAX);
        }
    pim_sweep_locate(&sweep, 199, &point); /* the same repeat at another point */
    pim_sweep_locate(&sweep, 99, &other);
    ck_assert_uint_eq(point.seed, other.seed);
    pim_sweep_terminate(&sweep);
}
END_TEST

START_TEST(test_huge)
{
    static const char *const keys[] = {"noc.flit_bits", "noc.buffer_flits", "dram.rows",
                                       "buffers.input_bytes"};
    struct pim_sweep sweep;
    struct pim_error error = {PIM_OK, ""};
    struct pim_sweep_point point;
    begin(&sweep);
    for (int i = 0; i < 3; i++)
        vary(&sweep, keys[i], "1:20000:1");
    prepare(&sweep);
    ck_assert_uint_eq(sweep.numbers, UINT64_C(8000000000000));
    pim_sweep_locate(&sweep, sweep.numbers - 1, &point);
    for (int i = 0; i < 3; i++)
        ck_assert_uint_eq(point.value[i], 19999);
    pim_sweep_terminate(&sweep);
    begin(&sweep);
    for (int i = 0; i < 4; i++)
        vary(&sweep, keys[i], "1:20000:1");
    ck_assert_int_eq(pim_sweep_prepare(&sweep, &error), PIM_BAD_INPUT);
    expect_error(&error, PIM_BAD_INPUT, "more than 2^53 points");
    pim_sweep_terminate(&sweep);
}
END_TEST

static const struct {
    const char *set, *key, *values, *condition, *message;
} bad[] = {
    {NULL, "network.image", "224,256", NULL, "is mapped already"},
    {"network.image=64", "noc.flit_bits", "16", NULL, "is mapped already"},
    {"noc.flit_bits=24", "noc.flit_bits", "16,32", NULL, "is an axis, and set"},
    {"noc.flit_bit=64", "noc.flit_bits", "16", NULL, "the nearest is noc.flit_bits"},
    {NULL, "noc.flit_bits", "16", "noc.flit_bit > 3", "the nearest is noc.flit_bits"},
    {NULL, "noc.flit_bits", "16", "network.image > 3", "must be an axis here"},
    {NULL, "noc.flit_bits", "16", "noc.flit_bits >", "it ends where"},
};

START_TEST(test_refused)
{
    struct pim_sweep sweep;
    struct pim_error error = {PIM_OK, ""};
    begin(&sweep);
    vary(&sweep, bad[_i].key, bad[_i].values);
    if (bad[_i].set)
        ck_assert_int_eq(pim_sweep_add_set(&sweep, bad[_i].set, &error), PIM_OK);
    if (bad[_i].condition)
        ck_assert_int_eq(pim_texts_add(&sweep.conditions, bad[_i].condition, &error), PIM_OK);
    ck_assert_int_eq(pim_sweep_prepare(&sweep, &error), PIM_BAD_INPUT);
    expect_error(&error, PIM_BAD_INPUT, bad[_i].message);
    pim_sweep_terminate(&sweep);
}
END_TEST

static const struct {
    const char *first, *second, *message;
} twice[] = {
    {"noc.flit_bits", "noc.flit_bits", "noc.flit_bits is an axis twice"},
    {"dram.trcd_ns", "dram.trcd", "dram.trcd_ns and dram.trcd are axes, and say the same: remove one"},
    {"dram.trefi", "dram.trefi_ns", "dram.trefi and dram.trefi_ns are axes, and say the same: remove one"},
};

START_TEST(test_axis_twice)
{
    struct pim_sweep sweep;
    struct pim_error error = {PIM_OK, ""};
    struct pim_sweep_axis axis = {.keys = calloc(1, sizeof *axis.keys), .key_count = 1, .count = 1};
    begin(&sweep);
    vary(&sweep, twice[_i].first, "16,32");
    ck_assert_int_eq(pim_sweep_key_begin(&axis.keys[0], twice[_i].second, &error), PIM_OK);
    ck_assert_int_eq(pim_sweep_key_add(&axis.keys[0], "8", &error), PIM_OK);
    ck_assert_int_eq(pim_sweep_key_end(&axis.keys[0], &error), PIM_OK);
    ck_assert_int_eq(pim_sweep_add_axis(&sweep, &axis, &error), PIM_BAD_INPUT);
    expect_error(&error, PIM_BAD_INPUT, twice[_i].message);
    pim_sweep_terminate(&sweep);
}
END_TEST

/* The identity changes with everything that results depend on, and with nothing else. */
START_TEST(test_identity)
{
    struct pim_sweep sweeps[7];
    struct pim_error error = {PIM_OK, ""};
    for (int i = 0; i < 7; i++) {
        begin(&sweeps[i]);
        vary(&sweeps[i], "noc.flit_bits", i == 2 ? "16,64" : "16,32");
        sweeps[i].repeats = i == 3 ? 2 : 1;
        sweeps[i].until_cycle = i == 4 ? 100 : 0;
        if (i == 5)
            ck_assert_int_eq(pim_sweep_add_set(&sweeps[i], "noc.link_latency=3", &error), PIM_OK);
        if (i == 6)
            ck_assert_int_eq(pim_texts_add(&sweeps[i].conditions, "noc.flit_bits > 1", &error), PIM_OK);
        prepare(&sweeps[i]);
        if (i > 0)
            ck_assert_msg((strcmp(sweeps[0].identity, sweeps[i].identity) == 0) == (i == 1), "%d", i);
    }
    for (int i = 0; i < 7; i++)
        pim_sweep_terminate(&sweeps[i]);
}
END_TEST

Suite *sweep_points_suite(void)
{
    Suite *suite = suite_create("sweep_points");
    TCase *cases = tcase_create("points");
    tcase_add_checked_fixture(cases, setup, teardown);
    tcase_add_test(cases, test_order);
    tcase_add_test(cases, test_configuration);
    tcase_add_test(cases, test_constraints);
    tcase_add_test(cases, test_seeds);
    tcase_add_test(cases, test_huge);
    tcase_add_loop_test(cases, test_refused, 0, sizeof bad / sizeof bad[0]);
    tcase_add_loop_test(cases, test_axis_twice, 0, (int)(sizeof twice / sizeof twice[0]));
    tcase_add_test(cases, test_identity);
    suite_add_tcase(suite, cases);
    return suite;
}
