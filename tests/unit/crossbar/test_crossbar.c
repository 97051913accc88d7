/* Cost, capacity and energy of crossbars against figures of the simulator pimsim-nn (tests/data/pimcomp) and
 * against a schedule of an MVM that is walked through step by step. */
#include "models/cost/crossbar.h"
#include "sim/random.h"
#include "tests/unit/test_main.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* The default core of pimsim-nn: one cycle is 1 ns. */
static struct pim_crossbar_configuration standard(void)
{
    return (struct pim_crossbar_configuration){.arrays = 64,
                                               .rows = 128,
                                               .columns = 128,
                                               .cell_bits = 16,
                                               .weight_bits = 16,
                                               .input_bits = 8,
                                               .management_arrays = 1,
                                               .pipelined = true,
                                               .dac_bits = 1,
                                               .dac_count = 128,
                                               .adc_count = 16,
                                               .dac_cycles = 1,
                                               .read_cycles = 7,
                                               .sample_hold_cycles = 1,
                                               .adc_cycles = 20,
                                               .shift_add_cycles = 1,
                                               .output_buffer_cycles = 1};
}

static uint64_t cycles_of(const struct pim_crossbar_configuration *configuration)
{
    struct pim_crossbar_cost cost;
    struct pim_error error = {.status = PIM_OK};
    ck_assert_msg(pim_crossbar_check(configuration, &error) == PIM_OK, "%s", error.text);
    pim_crossbar_cost_of(configuration, &cost);
    return cost.mvm_cycles;
}

START_TEST(measured_cycles)
{
    struct pim_crossbar_configuration configuration = standard();
    struct pim_crossbar_cost cost;
    pim_crossbar_cost_of(&configuration, &cost);
    ck_assert_uint_eq(cost.front_cycles, 9);
    ck_assert_uint_eq(cost.back_cycles, 162);
    ck_assert_uint_eq(cost.applications, 8);
    ck_assert_uint_eq(cost.conversions, 8);
    ck_assert_uint_eq(cost.mvm_cycles, 1305);
    configuration.input_bits = 16;
    ck_assert_uint_eq(cycles_of(&configuration), 2601);
    configuration = standard();
    configuration.pipelined = false;
    ck_assert_uint_eq(cycles_of(&configuration), 1368);
    /* its divisions round down */
    configuration = standard();
    configuration.adc_count = 3;
    ck_assert_uint_eq(cycles_of(&configuration), 9 + 8 * (22 + 42 * 20));
    configuration.floor_division = true;
    ck_assert_uint_eq(cycles_of(&configuration), 6745);
    configuration = standard();
    configuration.dac_count = 256;
    ck_assert_uint_eq(cycles_of(&configuration), 1305);
    configuration.floor_division = true;
    ck_assert_uint_eq(cycles_of(&configuration), 9);
}
END_TEST

START_TEST(measured_energy)
{
    struct pim_crossbar_configuration configuration = standard();
    const struct pim_crossbar_power power = {.read = 22.24, .adc = 1.135};
    ck_assert_double_eq_tol(pim_crossbar_mvm_pj(&configuration, &power, 1.0, 7.0), 24490.24, 1e-6);
    const struct pim_crossbar_power none = {.read = 0};
    ck_assert(pim_crossbar_mvm_pj(&configuration, &none, 1.0, 7.0) == 0.0);
    /* by hand: 8 applications of (2 x 1 x 128 + 3 + 10) + 8 conversions of (4 + 5) each */
    const struct pim_crossbar_power parts = {.dac = 2, .sample_hold = 3, .shift_add = 4, .output_buffer = 5};
    configuration.input_buffer_cycles = 0;
    ck_assert_double_eq_tol(pim_crossbar_mvm_pj(&configuration, &parts, 1.0, 7.0),
                            8 * (2 * 128 + 3 + 8 * (4 + 5)), 1e-9);
}
END_TEST

/* Table V of PIMCOMP: logical arrays x rows x columns x 2 bytes a core. */
START_TEST(capacities_of_table_v)
{
    static const struct {
        uint32_t cores, arrays, rows, columns;
        uint64_t mebibytes;
    } machines[] = {{168, 96, 128, 128, 63}, {138, 128, 128, 128, 69}, {64, 8, 512, 1024, 64}};
    for (size_t i = 0; i < sizeof machines / sizeof machines[0]; i++)
        for (int in_arrays = 0; in_arrays < 2; in_arrays++) {
            struct pim_crossbar_configuration configuration = standard();
            struct pim_crossbar_cost cost;
            configuration.arrays = machines[i].arrays;
            configuration.rows = machines[i].rows;
            configuration.columns = machines[i].columns;
            configuration.cell_bits = 2;
            configuration.slices_in_arrays = in_arrays;
            pim_crossbar_cost_of(&configuration, &cost);
            ck_assert_uint_eq(cost.slices, 8);
            ck_assert_uint_eq((uint64_t)machines[i].cores * cost.logical_arrays * cost.logical_rows *
                                  cost.logical_columns * 2,
                              machines[i].mebibytes << 20);
            configuration.differential = true;
            pim_crossbar_cost_of(&configuration, &cost);
            ck_assert_uint_eq(cost.slices, 16);
        }
}
END_TEST

/* An MVM stepped through: applications one after the other, their conversions one after the other; pipelined,
 * an application may overlap the conversions of the one before, in two stages of equal length. */
static uint64_t walk(const struct pim_crossbar_configuration *c, uint64_t applications, uint64_t conversions)
{
    uint64_t front =
        (uint64_t)c->input_buffer_cycles + c->dac_cycles + c->read_cycles + c->sample_hold_cycles;
    uint64_t after = (uint64_t)c->shift_add_cycles + c->output_buffer_cycles;
    uint64_t back = 0, adc_free = 0, after_free = 0;
    for (uint64_t i = 0; i < conversions; i++) { /* ADC and what is behind it as a pipeline of two stages */
        uint64_t converted = adc_free + c->adc_cycles;
        back = (converted > after_free ? converted : after_free) + after;
        after_free = back;
        adc_free = converted;
    }
    uint64_t time = 0;
    for (uint64_t i = 0; i < applications; i++)
        time += c->pipelined && i + 1 < applications ? (front > back ? front : back) : front + back;
    return time ? time : 1;
}

START_TEST(against_a_walk)
{
    struct pim_random random;
    pim_random_initialize(&random, 61 + (uint64_t)_i);
    printf("seed %d\n", 61 + _i);
    for (unsigned turn = 0; turn < 200; turn++) {
        struct pim_crossbar_configuration c = standard();
        c.pipelined = pim_random_below(&random, 2);
        c.input_bits = 1 + (uint32_t)pim_random_below(&random, 16);
        c.dac_bits = 1 + (uint32_t)pim_random_below(&random, 4);
        c.rows = 1 + (uint32_t)pim_random_below(&random, 300);
        c.columns = 16 + (uint32_t)pim_random_below(&random, 300);
        c.dac_count = 1 + (uint32_t)pim_random_below(&random, 128);
        c.adc_count = 1 + (uint32_t)pim_random_below(&random, 64);
        c.adc_cycles = (uint32_t)pim_random_below(&random, 20);
        c.shift_add_cycles = (uint32_t)pim_random_below(&random, 10);
        c.output_buffer_cycles = (uint32_t)pim_random_below(&random, 10);
        c.read_cycles = (uint32_t)pim_random_below(&random, 100);
        uint64_t bits = (c.input_bits + c.dac_bits - 1) / c.dac_bits;
        uint64_t parts = (c.rows + c.dac_count - 1) / c.dac_count;
        ck_assert_uint_eq(cycles_of(&c), walk(&c, bits * parts, (c.columns + c.adc_count - 1) / c.adc_count));
    }
}
END_TEST

START_TEST(refusals)
{
    struct pim_error error = {.status = PIM_OK};
    struct pim_crossbar_configuration configuration = standard();
    configuration.adc_count = 0;
    ck_assert_int_eq(pim_crossbar_check(&configuration, &error), PIM_BAD_INPUT);
    ck_assert_ptr_nonnull(strstr(error.text, "adc_count is 0"));
    configuration = standard();
    configuration.cell_bits = 1;
    configuration.columns = 8;
    ck_assert_int_eq(pim_crossbar_check(&configuration, &error), PIM_BAD_INPUT);
    ck_assert_ptr_nonnull(strstr(error.text, "16 columns"));
    configuration.slices_in_arrays = true;
    configuration.arrays = 15;
    ck_assert_int_eq(pim_crossbar_check(&configuration, &error), PIM_BAD_INPUT);
    ck_assert_ptr_nonnull(strstr(error.text, "16 arrays"));
    configuration = standard();
    configuration.management_arrays = 65;
    ck_assert_int_eq(pim_crossbar_check(&configuration, &error), PIM_BAD_INPUT);
    configuration.management_arrays = 8;
    ck_assert_uint_eq(pim_crossbar_occupied(&configuration, 1), 8);
    ck_assert_uint_eq(pim_crossbar_occupied(&configuration, 16), 16);
}
END_TEST

void pimsim_suites(SRunner *runner)
{
    Suite *suite = suite_create("crossbar");
    TCase *cases = tcase_create("crossbar");
    tcase_add_test(cases, measured_cycles);
    tcase_add_test(cases, measured_energy);
    tcase_add_test(cases, capacities_of_table_v);
    tcase_add_loop_test(cases, against_a_walk, 0, 4);
    tcase_add_test(cases, refusals);
    suite_add_tcase(suite, cases);
    srunner_add_suite(runner, suite);
}
