/*
 * Closed forms against arrays that are stepped PE by PE and form real products, on random shapes, ports and
 * precisions.
 */
#include "tests/unit/pe/stepped_array.h"
#include "tests/unit/pe/suites.h"

#include "models/cost/pe.h"
#include "sim/random.h"

#include <check.h>
#include <inttypes.h>
#include <stdio.h>

enum { PRODUCTS = 800, EXTENT = 30, SIDE = 9 };

static const uint64_t seed = UINT64_C(0x70696d5f7065);

static uint32_t below(uint64_t *state, uint32_t bound)
{
    return (uint32_t)(pim_splitmix64(state) % bound);
}

static uint32_t random_port(uint64_t *state)
{
    return below(state, 2) ? 0 : 1 + below(state, 24);
}

static struct pim_pe_configuration random_configuration(uint64_t *state, enum pim_pe_dataflow dataflow)
{
    bool output_stationary = dataflow == PIM_PE_OUTPUT_STATIONARY;
    return (struct pim_pe_configuration){.dataflow = dataflow,
                                         .rows = 1 + below(state, SIDE),
                                         .columns = 1 + below(state, SIDE),
                                         .pipeline_depth = below(state, 5),
                                         .double_buffered = !output_stationary && below(state, 2),
                                         .drain_outputs = output_stationary && below(state, 2),
                                         .folds = (enum pim_pe_folds)below(state, 2),
                                         .weight_load = (enum pim_pe_weight_load)below(state, 2),
                                         .input_port_bytes = random_port(state),
                                         .weight_port_bytes = random_port(state),
                                         .output_port_bytes = random_port(state),
                                         .accumulator_bits = 16 + 8 * below(state, 3)};
}

static uint32_t random_extent(uint64_t *state)
{
    return 1 + below(state, below(state, 3) ? EXTENT : 3);
}

static void fill(uint64_t *state, int32_t *values)
{
    for (int i = 0; i < EXTENT * EXTENT; i++)
        values[i] = (int32_t)below(state, 256) - 128;
}

/* output = start (+) input * weight, the plain way. */
static void check_product(const struct stepped_product *product, const int64_t *start)
{
    for (uint32_t i = 0; i < product->m; i++) {
        for (uint32_t j = 0; j < product->n; j++) {
            int64_t sum = product->accumulate ? start[i * product->n + j] : 0;
            for (uint32_t l = 0; l < product->k; l++)
                sum += (int64_t)product->input[i * product->k + l] * product->weight[l * product->n + j];
            ck_assert_int_eq(product->output[i * product->n + j], sum);
        }
    }
}

START_TEST(closed_forms_equal_stepped_arrays)
{
    static const unsigned widths[] = {4, 8, 12, 16};
    uint64_t state = seed + (uint64_t)_i, stalls = 0;
    printf("seed 0x%" PRIx64 "\n", state);
    for (int i = 0; i < PRODUCTS / PIM_PE_DATAFLOWS; i++) {
        struct pim_pe_configuration configuration = random_configuration(&state, (enum pim_pe_dataflow)_i);
        int32_t input[EXTENT * EXTENT], weight[EXTENT * EXTENT];
        int64_t start[EXTENT * EXTENT], output[EXTENT * EXTENT];
        fill(&state, input);
        fill(&state, weight);
        for (int j = 0; j < EXTENT * EXTENT; j++)
            output[j] = start[j] = below(&state, 1000);
        struct stepped_product product = {.configuration = &configuration,
                                          .m = random_extent(&state),
                                          .n = random_extent(&state),
                                          .k = random_extent(&state),
                                          .input_bits = widths[below(&state, 4)],
                                          .weight_bits = widths[below(&state, 4)],
                                          .accumulate = below(&state, 2),
                                          .input = input,
                                          .weight = weight,
                                          .output = output};
        stepped_array_run(&product);
        check_product(&product, start);

        struct pim_error error;
        struct pim_pe_cost cost;
        ck_assert_msg(pim_pe_check_configuration(&configuration, &error) == PIM_OK, "%s", error.text);
        pim_pe_matrix(&configuration, product.m, product.n, product.k, product.input_bits,
                      product.weight_bits, product.accumulate, &cost);
        ck_assert_uint_eq(pim_pe_matrix_cycles(&configuration, product.m, product.n, product.k,
                                               product.input_bits, product.weight_bits),
                          cost.cycles);
        ck_assert_msg(
            cost.cycles == product.cycles,
            "product %d, %s %ux%u, m %u n %u k %u, ports %u %u %u: %" PRIu64 " cycles, stepped %" PRIu64, i,
            pim_pe_dataflow_name((unsigned)_i), configuration.rows, configuration.columns, product.m,
            product.n, product.k, configuration.input_port_bytes, configuration.weight_port_bytes,
            configuration.output_port_bytes, cost.cycles, product.cycles);
        ck_assert_uint_eq(cost.cycles, cost.compute_cycles + cost.port_stall_cycles);
        ck_assert_uint_eq(cost.input_bytes_read, (product.inputs_read * product.input_bits + 7) / 8);
        ck_assert_uint_eq(cost.weight_bytes_read, (product.weights_read * product.weight_bits + 7) / 8);
        ck_assert_uint_eq(cost.output_bytes_read,
                          (product.sums_read * configuration.accumulator_bits + 7) / 8);
        ck_assert_uint_eq(cost.output_bytes_written,
                          (product.sums_written * configuration.accumulator_bits + 7) / 8);
        stalls += cost.port_stall_cycles > 0;
    }
    ck_assert_uint_gt(stalls, PRODUCTS / PIM_PE_DATAFLOWS / 4); /* narrow ports did matter */
}
END_TEST

Suite *suite_pe_property(void)
{
    Suite *suite = suite_create("property");
    TCase *tests = tcase_create("property");
    tcase_add_loop_test(tests, closed_forms_equal_stepped_arrays, 0, PIM_PE_DATAFLOWS);
    suite_add_tcase(suite, tests);
    return suite;
}
