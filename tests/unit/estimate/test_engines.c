/* PE array and ACU: the mapper's closed forms against the models', on random products and rows. */
#include "tests/unit/estimate/machine.h"
#include "tests/unit/estimate/suites.h"

#include "models/cost/acu.h"
#include "models/cost/pe.h"
#include "sim/random.h"

#include <inttypes.h>
#include <stdio.h>

static const uint64_t seed = UINT64_C(0x656e67696e6573);

enum { PRODUCTS = 400 };

/* The array's cycles, with ports wide enough: exactly. */
START_TEST(products_take_the_cycles_of_the_array)
{
    const char *const wide[] = {"pe.input_port_bytes=0", "pe.weight_port_bytes=0", "pe.output_port_bytes=0",
                                "pe.weight_load=\"hidden\""};
    struct machine machine;
    struct pim_random random;
    pim_random_initialize(&random, seed + (uint64_t)_i);
    machine_read(&machine, machine_presets[_i], wide, 4);
    ck_assert(!machine.estimate.systolic);
    for (int i = 0; i < PRODUCTS; i++) {
        uint32_t m = (uint32_t)pim_random_between(&random, 1, 200),
                 n = (uint32_t)pim_random_between(&random, 1, 200),
                 k = (uint32_t)pim_random_between(&random, 1, 200);
        struct pim_pe_cost cost;
        pim_pe_matrix(&machine.hardware.node.pe, m, n, k, 8, 8, true, &cost);
        ck_assert_uint_eq(pim_estimate_matrix(&machine.estimate, m, n, k), cost.cycles);
    }
}
END_TEST

/* Weights that take longer than the few vectors behind them, or are not loaded meanwhile: exactly, too. */
START_TEST(weights_hold_up_short_folds)
{
    static const char *const slow[] = {"pe.weight_port_bytes=8", "pe.double_buffered=false",
                                       "pe.weight_load=\"kernel_per_cycle\""};
    struct pim_random random;
    pim_random_initialize(&random, seed + (uint64_t)_i);
    for (size_t which = 0; which < sizeof slow / sizeof *slow; which++) {
        struct machine machine;
        machine_read(&machine, machine_presets[_i], &slow[which], 1);
        ck_assert(machine.estimate.weights_wait);
        for (int i = 0; i < PRODUCTS; i++) {
            uint32_t m = (uint32_t)pim_random_between(&random, 1, 20),
                     n = (uint32_t)pim_random_between(&random, 1, 200),
                     k = (uint32_t)pim_random_between(&random, 1, 200);
            ck_assert_uint_eq(pim_estimate_matrix(&machine.estimate, m, n, k),
                              pim_pe_matrix_cycles(&machine.hardware.node.pe, m, n, k, 8, 8));
        }
    }
}
END_TEST

/* With the ports of the preset, or ports so narrow that they set the pace: full folds within a percent. */
START_TEST(ports_set_the_pace)
{
    const char *const narrow[] = {"pe.input_port_bytes=3", "pe.weight_port_bytes=64",
                                  "pe.output_port_bytes=5"};
    for (size_t set = 0; set < 2; set++) {
        struct machine machine;
        machine_read(&machine, machine_presets[_i], narrow, set ? 3 : 0);
        const struct pim_pe_configuration *pe = &machine.hardware.node.pe;
        struct pim_pe_cost cost;
        pim_pe_matrix(pe, 3000, 3 * pe->columns, 2 * pe->rows, 8, 8, true, &cost);
        double cycles = (double)pim_estimate_matrix(&machine.estimate, 3000, 3 * pe->columns, 2 * pe->rows);
        ck_assert_double_le(cycles, 1.01 * (double)cost.cycles);
        ck_assert_double_ge(cycles, 0.99 * (double)cost.cycles);
        if (set)
            ck_assert_uint_gt(cost.port_stall_cycles, 0);
    }
}
END_TEST

/* Elementwise work and reductions, whose passes and rows are those of the unit's table. */
START_TEST(vectors_take_the_cycles_of_the_unit)
{
    static const unsigned operations[] = {PIM_VECTOR_COPY, PIM_VECTOR_SOFTMAX, PIM_VECTOR_LAYERNORM};
    struct machine machine;
    struct pim_random random;
    pim_random_initialize(&random, seed + 99 + (uint64_t)_i);
    machine_read(&machine, machine_presets[_i], NULL, 0);
    for (int i = 0; i < PRODUCTS; i++) {
        unsigned operation = operations[i % 3];
        const struct pim_acu_operation *unit = &machine.hardware.node.acu.operation[operation];
        uint32_t rows = (uint32_t)pim_random_between(&random, 1, 200),
                 elements = (uint32_t)pim_random_between(&random, 1, 300);
        struct pim_acu_cost cost;
        pim_acu_vector(&machine.hardware.node.acu, operation, rows, elements, &cost);
        uint64_t estimate = pim_estimate_vector(&machine.estimate, rows, elements, unit->passes);
        /* the form has one depth for all operations */
        ck_assert_uint_eq(estimate - machine.estimate.acu_depth, cost.cycles - unit->depth);
    }
}
END_TEST

Suite *estimate_engines_suite(void)
{
    Suite *suite = suite_create("engines");
    TCase *cases = tcase_create("engines");
    printf("estimate engines: seed 0x%" PRIx64 "\n", seed);
    tcase_add_loop_test(cases, products_take_the_cycles_of_the_array, 0, MACHINE_PRESETS);
    tcase_add_loop_test(cases, weights_hold_up_short_folds, 0, MACHINE_PRESETS);
    tcase_add_loop_test(cases, ports_set_the_pace, 0, MACHINE_PRESETS);
    tcase_add_loop_test(cases, vectors_take_the_cycles_of_the_unit, 0, MACHINE_PRESETS);
    suite_add_tcase(suite, cases);
    return suite;
}
