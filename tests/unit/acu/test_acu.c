/*
 * The auxiliary compute unit's closed form against a pipeline that is stepped cycle by cycle; refusals;
 * defaults.
 */
#include "models/cost/acu.h"
#include "sim/random.h"
#include "tests/unit/test_main.h"

#include <check.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { ROWS_MAX = 40, SAMPLES = 4000 };

static const uint64_t seed = UINT64_C(0x70696d616375);

static uint32_t below(uint64_t *state, uint32_t bound)
{
    return (uint32_t)(pim_splitmix64(state) % bound);
}

struct stepped {
    uint64_t cycles, operations, read, written;
};

/*
 * One group of lanes enters in a cycle, and leaves `depth` cycles after the end of that cycle. A row may
 * begin a pass when the last group of its pass before has left. Rows go pass by pass, in order.
 */
static struct stepped step_unit(const struct pim_acu_operation *o, uint32_t rows, uint32_t elements)
{
    uint64_t left_at[ROWS_MAX] = {0}; /* end of a row's pass before */
    struct stepped result = {0};
    if (!o->by_row) { /* one long vector */
        elements *= rows;
        rows = 1;
    }
    uint64_t cycle = 0;
    for (uint32_t pass = 0; pass < o->passes; pass++) {
        for (uint32_t row = 0; row < rows; row++) {
            while (cycle < left_at[row])
                cycle++;
            for (uint32_t taken = 0; taken < elements; cycle++) {
                for (uint32_t lane = 0; lane < o->elements_per_cycle && taken < elements; lane++, taken++) {
                    result.operations++;
                    result.read += o->operands;
                    result.written += pass + 1 == o->passes;
                }
                left_at[row] = cycle + 1 + o->depth;
            }
            result.cycles = left_at[row];
        }
    }
    return result;
}

START_TEST(closed_form_equals_stepped_pipeline)
{
    uint64_t state = seed, waits = 0;
    printf("seed 0x%" PRIx64 "\n", seed);
    for (int i = 0; i < SAMPLES; i++) {
        struct pim_acu_configuration configuration;
        pim_acu_configuration_assumed(&configuration, 1 + below(&state, 16));
        unsigned operation = below(&state, PIM_VECTORS);
        struct pim_acu_operation *o = &configuration.operation[operation];
        if (below(&state, 2)) {
            o->depth = below(&state, 60);
            o->by_row = below(&state, 2);
            o->passes = o->by_row ? 1 + below(&state, 4) : 1;
            o->operands = 1 + below(&state, 3);
        }
        struct pim_error error;
        ck_assert_msg(pim_acu_check_configuration(&configuration, &error) == PIM_OK, "%s", error.text);
        uint32_t rows = 1 + below(&state, below(&state, 2) ? ROWS_MAX : 3), elements = 1 + below(&state, 100);
        struct pim_acu_cost cost;
        pim_acu_vector(&configuration, operation, rows, elements, &cost);
        struct stepped expected = step_unit(o, rows, elements);
        ck_assert_msg(cost.cycles == expected.cycles,
                      "%s on %u x %u, %u lanes, depth %u, %u passes: %" PRIu64 " cycles, stepped %" PRIu64,
                      pim_vector_name(operation), rows, elements, o->elements_per_cycle, o->depth, o->passes,
                      cost.cycles, expected.cycles);
        ck_assert_uint_eq(cost.operations, expected.operations);
        ck_assert_uint_eq(cost.elements_read, expected.read);
        ck_assert_uint_eq(cost.elements_written, expected.written);
        uint64_t groups = (elements + o->elements_per_cycle - 1) / o->elements_per_cycle;
        waits += o->passes > 1 && rows * groups < groups + o->depth;
    }
    ck_assert_uint_gt(waits, 100); /* passes that waited for the pipeline were among them */
}
END_TEST

/* By hand, 8 lanes: 49 rows of 49 elements are 7 groups each. */
START_TEST(attention_scores_of_a_window)
{
    struct pim_acu_configuration configuration;
    struct pim_acu_cost cost;
    pim_acu_configuration_assumed(&configuration, 8);
    pim_acu_vector(&configuration, PIM_VECTOR_SOFTMAX, 49, 49, &cost);
    ck_assert_uint_eq(cost.cycles, 3 * 49 * 7 + 16);
    ck_assert_uint_eq(cost.operations, 3 * 49 * 49);
    pim_acu_vector(&configuration, PIM_VECTOR_SOFTMAX, 1, 49,
                   &cost); /* one row waits for the pipeline in each pass */
    ck_assert_uint_eq(cost.cycles, 3 * (7 + 16));
    pim_acu_vector(&configuration, PIM_VECTOR_ADD, 49, 49, &cost); /* 2401 elements in 301 groups */
    ck_assert_uint_eq(cost.cycles, 301 + 4);
    ck_assert_uint_eq(cost.elements_read, 2 * 2401);
    ck_assert_uint_eq(cost.elements_written, 2401);
}
END_TEST

START_TEST(impossible_units_are_refused)
{
    struct pim_acu_configuration configuration;
    struct pim_error error;
    const struct {
        unsigned operation;
        struct pim_acu_operation value;
        const char *word;
    } units[] = {
        {PIM_VECTOR_GELU, {0, 1, 1, 1, false}, "ACU operation gelu: elements_per_cycle is 0"},
        {PIM_VECTOR_SOFTMAX, {8, 1, 0, 1, true}, "ACU operation softmax: passes is 0"},
        {PIM_VECTOR_ADD, {8, 1, 1, 9, false}, "ACU operation add: operands is 9"},
        {PIM_VECTOR_COPY, {8, UINT32_MAX, 1, 1, false}, "ACU operation copy: depth"},
        {PIM_VECTOR_TANH, {8, 1, 2, 1, false}, "ACU operation tanh: 2 passes need by_row"},
    };
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        pim_acu_configuration_assumed(&configuration, 8);
        ck_assert_int_eq(pim_acu_check_configuration(&configuration, &error), PIM_OK);
        configuration.operation[units[i].operation] = units[i].value;
        ck_assert_int_eq(pim_acu_check_configuration(&configuration, &error), PIM_BAD_INPUT);
        ck_assert_msg(strstr(error.text, units[i].word) != NULL, "%s", error.text);
    }
    ck_assert_int_eq(pim_acu_check_vector(PIM_VECTORS, 1, 1, &error), PIM_BAD_INPUT);
    ck_assert_int_eq(pim_acu_check_vector(PIM_VECTOR_ADD, 0, 1, &error), PIM_BAD_INPUT);
    ck_assert_int_eq(pim_acu_check_vector(PIM_VECTOR_ADD, 1, PIM_ACU_EXTENT_MAX + 1U, &error), PIM_BAD_INPUT);
    ck_assert_int_eq(pim_acu_check_vector(PIM_VECTOR_ADD, 1, PIM_ACU_EXTENT_MAX, &error), PIM_OK);
}
END_TEST

void pimsim_suites(SRunner *runner)
{
    Suite *suite = suite_create("acu");
    TCase *tests = tcase_create("acu");
    tcase_add_test(tests, closed_form_equals_stepped_pipeline);
    tcase_add_test(tests, attention_scores_of_a_window);
    tcase_add_test(tests, impossible_units_are_refused);
    suite_add_tcase(suite, tests);
    srunner_add_suite(runner, suite);
}
