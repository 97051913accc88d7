/* What a point takes its neighbours for. */
#include "models/system/read.h"
#include "models/system/schema.h"
#include "tests/unit/api/support.h"
#include "tests/unit/sweep/suites.h"
#include "tests/unit/sweep/support.h"
#include "tests/unit/test_main.h"
#include "tools/sweep/best.h"
#include "tools/sweep/prepare.h"

#include <stdlib.h>
#include <string.h>

/* All points have the same trace, so there is nothing to replay. */
START_TEST(equal_programs_are_not_replayed)
{
    struct pim_sweep sweep;
    struct pim_error error = {PIM_OK, ""};
    struct pim_trace_pool *pool;
    char path[PATH_SIZE], folder[PATH_SIZE];
    pim_sweep_initialize(&sweep);
    ck_assert_int_eq(
        pim_sweep_add_trace(&sweep, trace_of(path, "trace.bin", (struct shape){.unanswered = false}), &error),
        PIM_OK);
    vary(&sweep, "noc.flit_bits", "8,16,32");
    vary(&sweep, "noc.link_latency", "1,5");
    prepare(&sweep);
    ck_assert_int_eq(pim_trace_pool_create(&sweep, temporary(folder, "cache"), &pool, &error), PIM_OK);
    for (uint64_t number = 0; number < 6; number++) {
        struct pim_sweep_point point;
        struct pim_sweep_best best;
        struct pim_configuration *configuration;
        struct pim_hardware hardware;
        pim_sweep_locate(&sweep, number, &point);
        ck_assert_int_eq(pim_sweep_configure(&sweep, &point, false, &configuration, &error), PIM_OK);
        ck_assert_int_eq(pim_hardware_read(configuration, &hardware, &error), PIM_OK);
        ck_assert_msg(pim_sweep_find_best(&sweep, pool, &point, &hardware, &best, &error) == PIM_OK, "%s",
                      error.text);
        ck_assert_uint_eq(best.own_cycles, 0);
        ck_assert(!best.beaten);
        ck_assert_uint_eq(best.point.number, number);
        pim_sweep_best_terminate(&best);
        pim_configuration_destroy(configuration);
    }
    pim_trace_pool_destroy(pool);
    pim_sweep_terminate(&sweep);
}
END_TEST

/* The hash of a program is that of what units do: equal for traces that say the same, not for others. */
START_TEST(hashes_of_programs)
{
    char path[PATH_SIZE];
    uint64_t hash[3];
    for (unsigned i = 0; i < 3; i++) {
        struct pim_trace *trace;
        struct pim_error error = {PIM_OK, ""};
        (void)trace_of(path, i == 1 ? "again.bin" : "trace.bin", (struct shape){.unanswered = i == 2});
        ck_assert_int_eq(pim_trace_open(path, &trace, &error), PIM_OK);
        hash[i] = pim_trace_program_hash(trace);
        pim_trace_close(trace);
    }
    ck_assert_uint_eq(hash[0], hash[1]);
    ck_assert_uint_ne(hash[0], hash[2]);
}
END_TEST

/* An axis changes speed alone when all its keys do. */
START_TEST(axes_of_bandwidth)
{
    struct pim_sweep sweep;
    pim_sweep_initialize(&sweep);
    vary(&sweep, "noc.flit_bits", "8,16");
    vary(&sweep, "noc.width", "8,16");
    vary_together(&sweep, "noc.buffer_flits", "4,8", "dram.trcd_ns", "14,18");
    vary_together(&sweep, "noc.link_latency", "1,2", "noc.virtual_channels", "2,4");
    const bool expected[] = {true, false, false, true};
    for (size_t i = 0; i < sizeof expected / sizeof expected[0]; i++)
        ck_assert_int_eq(pim_sweep_axis_is_bandwidth(&sweep.axes[i]), expected[i]);
    pim_sweep_terminate(&sweep);
}
END_TEST

/* A sweep with one mapped network, or a trace, and values of two keys. */
static void prepare_with(struct pim_sweep *sweep, const char *trace, const char *flits, const char *second,
                         const char *others)
{
    struct pim_error error = {PIM_OK, ""};
    char network[PATH_SIZE], hardware[PATH_SIZE];
    (void)pimsim_source_path(network, sizeof network, "configs/networks/vit-t.cfg");
    (void)pimsim_source_path(hardware, sizeof hardware, "configs/hardware/allspark-16x16.cfg");
    pim_sweep_initialize(sweep);
    enum pim_status status = trace ? pim_sweep_add_trace(sweep, trace, &error)
                                   : pim_sweep_add_mapped(sweep, network, "allspark", &error);
    if (status == PIM_OK && !trace)
        status = pim_texts_add(&sweep->hardware, hardware, &error);
    ck_assert_int_eq(status, PIM_OK);
    vary(sweep, "noc.flit_bits", flits);
    vary(sweep, second, others);
}

START_TEST(who_has_neighbours)
{
    static const struct {
        const char *flits, *second, *others;
        bool trace, once, own, taken;
    } cases[] = {{"32,64", "dram.trcd_ns", "14,18", false, false, false, true},
                 {"64", "dram.trcd_ns", "14,18", false, false, false, false},
                 {"64", "noc.buffer_flits", "4,8", false, false, false, true},
                 {"32,64", "dram.trcd_ns", "14,18", false, true, false, false},
                 {"32,64", "dram.trcd_ns", "14,18", false, false, true, false},
                 {"32,64", "dram.trcd_ns", "14,18", true, false, false, false}};
    char path[PATH_SIZE];
    trace_of(path, "trace.bin", (struct shape){.unanswered = false});
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct pim_sweep sweep;
        prepare_with(&sweep, cases[i].trace ? path : NULL, cases[i].flits, cases[i].second, cases[i].others);
        sweep.map_once = cases[i].once;
        sweep.own_programs = cases[i].own;
        prepare(&sweep);
        ck_assert_msg(sweep.take_best == cases[i].taken, "case %zu", i);
        ck_assert_int_eq(strstr(sweep.identity, "take_best") != NULL, cases[i].taken);
        ck_assert_int_eq(strstr(sweep.identity, "own_programs") != NULL, cases[i].own);
        pim_sweep_terminate(&sweep);
    }
    struct pim_sweep many;
    struct pim_error error = {PIM_OK, ""};
    prepare_with(&many, NULL, "1:20:1", "noc.buffer_flits", "1:13:1");
    ck_assert_int_eq(pim_sweep_prepare(&many, &error), PIM_BAD_INPUT);
    ck_assert_ptr_nonnull(strstr(error.text, "260 points differ in bandwidth and latency alone"));
    pim_sweep_terminate(&many);
}
END_TEST

Suite *sweep_best_suite(void)
{
    Suite *suite = suite_create("sweep_best");
    TCase *tests = tcase_create("sweep_best");
    tcase_add_checked_fixture(tests, setup, teardown);
    tcase_add_test(tests, equal_programs_are_not_replayed);
    tcase_add_test(tests, who_has_neighbours);
    tcase_add_test(tests, hashes_of_programs);
    tcase_add_test(tests, axes_of_bandwidth);
    suite_add_tcase(suite, tests);
    return suite;
}
