/* Of equally fast programs a point keeps its own. */
#include "models/system/read.h"
#include "models/system/schema.h"
#include "tests/unit/api/support.h"
#include "tests/unit/sweep/suites.h"
#include "tests/unit/sweep/support.h"
#include "tools/sweep/best.h"

#include <stdlib.h>

/* All points have the same trace, so that every replay on a point's hardware takes as long as its own. */
START_TEST(ties_keep_their_own)
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
        ck_assert_uint_gt(best.own_cycles, 0);
        ck_assert(!best.beaten);
        ck_assert_uint_eq(best.point.number, number);
        pim_configuration_destroy(configuration);
    }
    pim_trace_pool_destroy(pool);
    pim_sweep_terminate(&sweep);
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
        ck_assert_int_eq(pim_sweep_is_bandwidth(&sweep.axes[i]), expected[i]);
    pim_sweep_terminate(&sweep);
}
END_TEST

Suite *sweep_best_suite(void)
{
    Suite *suite = suite_create("sweep_best");
    TCase *tests = tcase_create("sweep_best");
    tcase_add_checked_fixture(tests, setup, teardown);
    tcase_add_test(tests, ties_keep_their_own);
    tcase_add_test(tests, axes_of_bandwidth);
    suite_add_tcase(suite, tests);
    return suite;
}
