/*
 * Refusals of the PE array, the effect of a port width, and the buffer account.
 */
#include "tests/unit/pe/suites.h"
#include "tests/unit/test_main.h"

#include "models/cost/pe.h"
#include "models/pe/buffer.h"

#include <check.h>
#include <signal.h>
#include <string.h>

static const struct pim_pe_configuration vector_mac_8x8 = {
    .dataflow = PIM_PE_VECTOR_MAC, .rows = 8, .columns = 8, .double_buffered = true, .accumulator_bits = 32};

static void refused(const struct pim_pe_configuration *configuration, const char *word)
{
    struct pim_error error = {PIM_OK, ""};
    ck_assert_int_eq(pim_pe_check_configuration(configuration, &error), PIM_BAD_INPUT);
    ck_assert_msg(strstr(error.text, word) != NULL, "'%s' does not name %s", error.text, word);
}

START_TEST(impossible_arrays_are_refused)
{
    struct pim_error error;
    struct pim_pe_configuration p = vector_mac_8x8;
    ck_assert_int_eq(pim_pe_check_configuration(&p, &error), PIM_OK);
    p.rows = 0;
    refused(&p, "rows is 0");
    p = vector_mac_8x8, p.columns = PIM_PE_SIDE_MAX + 1;
    refused(&p, "columns is 4097");
    p = vector_mac_8x8, p.accumulator_bits = 0;
    refused(&p, "accumulator_bits");
    p = vector_mac_8x8, p.pipeline_depth = UINT32_MAX;
    refused(&p, "pipeline_depth");
    p = vector_mac_8x8, p.dataflow = PIM_PE_OUTPUT_STATIONARY;
    refused(&p, "double_buffered with output_stationary");
    p = vector_mac_8x8, p.drain_outputs = true;
    refused(&p, "drain_outputs with vector_mac");
}
END_TEST

START_TEST(impossible_products_are_refused)
{
    const struct {
        uint32_t m, n, k;
        unsigned input_bits, weight_bits;
        const char *word; /* NULL: allowed */
    } products[] = {
        {1, 1, 1, 1, 64, NULL},
        {1 << 20, 1 << 20, 1, 8, 8, NULL},
        {0, 1, 1, 8, 8, "m of a product"},
        {1, 0, 1, 8, 8, "n of a product"},
        {1, 1, 0, 8, 8, "k of a product"},
        {1, 1, (1 << 20) + 1, 8, 8, "k of a product is 1048577"},
        {1 << 20, 1 << 20, 2, 8, 8, "multiplications"},
        {1, 1, 1, 0, 8, "input element"},
        {1, 1, 1, 8, 65, "weight element"},
    };
    for (size_t i = 0; i < sizeof products / sizeof *products; i++) {
        struct pim_error error = {PIM_OK, ""};
        enum pim_status status = pim_pe_check_matrix(products[i].m, products[i].n, products[i].k,
                                                     products[i].input_bits, products[i].weight_bits, &error);
        ck_assert_int_eq(status, products[i].word ? PIM_BAD_INPUT : PIM_OK);
        if (products[i].word)
            ck_assert_msg(strstr(error.text, products[i].word) != NULL, "%zu: %s", i, error.text);
    }
}
END_TEST

/* An unlimited port hides a factor of two: 32-bit sums of 8 kernels are 32 bytes each way in every step. */
START_TEST(a_narrow_port_doubles_the_time)
{
    struct pim_pe_configuration p = vector_mac_8x8;
    struct pim_pe_cost cost;
    pim_pe_matrix(&p, 197, 768, 768, 8, 8, false, &cost);
    ck_assert_uint_eq(cost.cycles, 197 * 96 * 96);
    p.output_port_bytes = 32;
    pim_pe_matrix(&p, 197, 768, 768, 8, 8, false, &cost);
    ck_assert_uint_eq(cost.port_stall_cycles, 0);
    p.output_port_bytes = 16;
    pim_pe_matrix(&p, 197, 768, 768, 8, 8, false, &cost);
    ck_assert_uint_eq(cost.cycles, 2 * 197 * 96 * 96);
    ck_assert_uint_eq(cost.compute_cycles, 197 * 96 * 96);
    p.output_port_bytes = 31; /* one byte too few costs a whole cycle: no fractions */
    pim_pe_matrix(&p, 197, 768, 768, 8, 8, false, &cost);
    ck_assert_uint_eq(cost.cycles, 2 * 197 * 96 * 96);
}
END_TEST

/* The largest products do not wrap: these have narrow ports on the flattest and the deepest array. */
START_TEST(bounds_do_not_overflow)
{
    struct pim_pe_configuration p = {.dataflow = PIM_PE_WEIGHT_STATIONARY,
                                     .rows = 1,
                                     .columns = PIM_PE_SIDE_MAX,
                                     .folds = PIM_PE_FOLDS_PADDED,
                                     .input_port_bytes = 1,
                                     .weight_port_bytes = 1,
                                     .output_port_bytes = 1,
                                     .accumulator_bits = PIM_PE_BITS_MAX};
    struct pim_pe_cost cost;
    pim_pe_matrix(&p, 1 << 20, 1, 1 << 20, 64, 64, false, &cost);
    /* 2^20 folds of a load of 2^15 cycles and 2^20 + 2^12 - 1 steps of 2^15 cycles. */
    ck_assert_uint_eq(cost.cycles, ((UINT64_C(1) << 20) << 15) * (1 + (1 << 20) + (1 << 12) - 1));
    ck_assert_uint_eq(cost.macs, PIM_PE_MACS_MAX);
}
END_TEST

START_TEST(a_buffer_keeps_account)
{
    struct pim_buffer_space space;
    pim_buffer_initialize(&space, 100);
    ck_assert(pim_buffer_fits(&space, 100) && !pim_buffer_fits(&space, 101));
    ck_assert(!pim_buffer_fits(&space, UINT64_MAX));
    pim_buffer_take(&space, 60);
    ck_assert(pim_buffer_fits(&space, 40) && !pim_buffer_fits(&space, 41));
    ck_assert_uint_eq(pim_buffer_free(&space), 40);
    pim_buffer_take(&space, 30);
    pim_buffer_give(&space, 90);
    pim_buffer_take(&space, 10);
    ck_assert_uint_eq(space.taken, 10);
    ck_assert_uint_eq(space.high_water, 90);
}
END_TEST

#ifndef NDEBUG
START_TEST(giving_back_too_much_is_a_bug)
{
    struct pim_buffer_space space;
    pim_buffer_initialize(&space, 100);
    pim_buffer_take(&space, 10);
    pim_buffer_give(&space, 11);
}
END_TEST

START_TEST(taking_too_much_is_a_bug)
{
    struct pim_buffer_space space;
    pim_buffer_initialize(&space, 100);
    pim_buffer_take(&space, 101);
}
END_TEST
#endif

void pimsim_suites(SRunner *runner)
{
    Suite *suite = suite_create("rules");
    TCase *tests = tcase_create("rules");
    tcase_add_test(tests, impossible_arrays_are_refused);
    tcase_add_test(tests, impossible_products_are_refused);
    tcase_add_test(tests, a_narrow_port_doubles_the_time);
    tcase_add_test(tests, bounds_do_not_overflow);
    tcase_add_test(tests, a_buffer_keeps_account);
#ifndef NDEBUG
    tcase_add_test_raise_signal(tests, giving_back_too_much_is_a_bug, SIGABRT);
    tcase_add_test_raise_signal(tests, taking_too_much_is_a_bug, SIGABRT);
#endif
    suite_add_tcase(suite, tests);
    srunner_add_suite(runner, suite);
    srunner_add_suite(runner, suite_pe_golden());
    srunner_add_suite(runner, suite_pe_property());
}
