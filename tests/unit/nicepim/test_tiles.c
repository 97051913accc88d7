/* Tiles of a product on one node: how many input channels they have, whatever the layer and the array. */
#include "mappers/network/layer_table.h"
#include "mappers/nicepim/map/program/emit.h"
#include "models/system/system.h"
#include "sim/random.h"
#include "tests/unit/estimate/machine.h"
#include "tests/unit/nicepim/plans.h"
#include "tests/unit/test_main.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The array of 128 x 8 PEs: rows are input channels. */
static void read_nodes(struct pim_estimate_hardware *nodes)
{
    static struct machine machine;
    machine_read(&machine, "nicepim-4x8", NULL, 0);
    *nodes = machine.estimate;
    ck_assert_uint_eq(nodes->pe_rows, 128);
    ck_assert_uint_eq(nodes->pe_columns, 8);
}

/* The tile of the first part of a convolution of 56 x 56 outputs with so many channels, cut for all nodes. */
static struct tiling tile_of(struct pim_estimate_hardware *nodes, unsigned kernel, unsigned channels,
                             unsigned outputs)
{
    static struct nice_plan plan;
    struct pim_network *network;
    struct pim_error error = {0};
    struct pim_part part;
    struct tile_product product;
    struct tiling tiling;
    char text[256];
    (void)snprintf(
        text, sizeof text,
        "Layer name, IFMAP Height, IFMAP Width, Filter Height, Filter Width, Channels, Num Filter, "
        "Strides,\nconv, %u, %u, %u, %u, %u, %u, 1,\n",
        55 + kernel, 55 + kernel, kernel, kernel, channels, outputs);
    check(pim_layer_table_parse("one.csv", text, strlen(text), &network, &error), &error);
    const struct nice_request request = nicepim_request(network, nodes, NICE_SERIAL);
    check(nice_plan_make(&request, &plan, &error), &error);
    uint32_t layer = 0;
    while (plan.flow.operation[layer].kind != FLOW_PRODUCT)
        layer++;
    struct pim_cut whole = {.high = {1, 1, 1, 1, 1}, .wide = {1, 1, 1, 1, 1}};
    memcpy(whole.order, plan.decision[layer].cut.order, sizeof whole.order);
    pim_cut_part(&plan.flow.operation[layer].conv, &whole, 0, 0, &part);
    ck_assert(nice_tile_product(&plan, layer, &whole, &part, &product));
    ck_assert(tile_choose(nodes, &product, &plan.weights, &tiling));
    nice_plan_terminate(&plan);
    pim_network_destroy(network);
    return tiling;
}

/* All input channels of a layer with no more than half of the rows: not one channel at a time. */
START_TEST(few_channels_are_one_tile)
{
    static const unsigned channels[] = {2, 3, 48, 61, 64};
    struct pim_estimate_hardware nodes;
    read_nodes(&nodes);
    for (size_t i = 0; i < sizeof channels / sizeof channels[0]; i++) {
        struct tiling tiling = tile_of(&nodes, 1, channels[i], 64);
        ck_assert_uint_eq(tiling.channels, channels[i]);
        /* a vector a cycle for eight outputs, and little more */
        ck_assert_uint_ge(tiling.compute, 56 * 56 * 64 / 8);
        ck_assert_uint_lt(tiling.compute, 2 * 56 * 56 * 64 / 8);
    }
    ck_assert_uint_eq(tile_of(&nodes, 3, 7, 64).channels, 7); /* 63 of the rows */
}
END_TEST

/* Where half of the weights buffer does not take them: the most that it takes. */
START_TEST(a_small_buffer_takes_the_most_that_fits)
{
    struct pim_estimate_hardware nodes;
    read_nodes(&nodes);
    nodes.weight_bytes = 2 * 32 * 8 * 2;
    ck_assert_uint_eq(tile_of(&nodes, 1, 64, 64).channels, 32);
    nodes.weight_bytes -= 2;
    ck_assert_uint_eq(tile_of(&nodes, 1, 64, 64).channels, 16);
}
END_TEST

/* A buffer that does not take all columns of the array: half as many, down to one. */
START_TEST(a_tiny_buffer_takes_fewer_columns)
{
    struct pim_estimate_hardware nodes;
    read_nodes(&nodes);
    nodes.weight_bytes = 2 * 2 * 8;
    ck_assert_uint_eq(tile_of(&nodes, 1, 64, 64).n, 8);
    nodes.weight_bytes = 2 * 2 * 8 - 1;
    ck_assert_uint_eq(tile_of(&nodes, 1, 64, 64).n, 4);
    nodes.weight_bytes = 2 * 2;
    ck_assert_uint_eq(tile_of(&nodes, 1, 64, 64).n, 1);
}
END_TEST

/* A layer whose array and vector unit have nearly nothing to do takes what its port does: the first loads and
 * the last store are a part of that. */
START_TEST(the_ends_of_a_layer_count_once)
{
    struct pim_estimate_hardware nodes;
    read_nodes(&nodes);
    nodes.port_bytes /= 16;
    struct tiling tiling = tile_of(&nodes, 1, 64, 64);
    ck_assert_uint_gt(tiling.memory, tiling.compute + tiling.vector);
    ck_assert_uint_ge(tiling.total, tiling.memory * 98 / 100);
    ck_assert_uint_le(tiling.total, tiling.memory * 102 / 100 + pim_estimate_access(&nodes) + tiling.vector);
}
END_TEST

/* And one whose port has hardly anything to do, what its array does. */
START_TEST(a_busy_array_hides_the_port)
{
    struct pim_estimate_hardware nodes;
    read_nodes(&nodes);
    nodes.pe.rows = nodes.pe_rows = 8;
    struct tiling tiling = tile_of(&nodes, 3, 128, 8);
    ck_assert_uint_gt(tiling.compute, 4 * tiling.memory);
    ck_assert_uint_ge(tiling.total, tiling.compute);
    ck_assert_uint_le(tiling.total, tiling.compute * 103 / 100);
}
END_TEST

/* Windows that reach beyond a small map load the map alone: 5 x 5 taps over 3 x 3 positions: 9 elements. */
START_TEST(padding_is_not_loaded)
{
    struct pim_estimate_hardware nodes;
    read_nodes(&nodes);
    const struct nice_weights weights = {.cycles = 1};
    struct tile_product product = {.batches = 1,
                                   .rows = 3,
                                   .columns = 3,
                                   .n = 8,
                                   .channels = 1,
                                   .count = 1,
                                   .kernel = {5, 5},
                                   .stride = {1, 1},
                                   .map = {3, 3}};
    const uint32_t one[] = {8, 1};
    struct tiling small, large;
    nodes.input_bytes = 2 * 3 * 3 * 2; /* two tiles of all that is loaded, and no more */
    ck_assert(tile_choose_positions(&nodes, &product, &weights, one, &small));
    ck_assert_uint_eq(small.rows * small.columns, 9);
    nodes.input_bytes--;
    ck_assert(!tile_choose_positions(&nodes, &product, &weights, one, &large));
    nodes.input_bytes = 1 << 16;
    product.map[0] = product.map[1] = 7; /* without padding: 7 x 7 elements */
    ck_assert(tile_choose_positions(&nodes, &product, &weights, one, &large));
    ck_assert_uint_ge(large.memory, small.memory);
}
END_TEST

/* Products asked for by turns with several weights, some in each other's place: what took another's place is
 * not taken for it. */
START_TEST(what_is_remembered_is_what_was_found)
{
    enum { TRIALS = 20000, WEIGHTS = 3 };
    struct tile_memory *memory = tile_memory_create();
    static const struct nice_weights weights[WEIGHTS] = {
        {.cycles = 1}, {.cycles = 1, .energy = 3}, {.energy = 3}};
    struct pim_estimate_hardware nodes;
    struct pim_random random;
    ck_assert_ptr_nonnull(memory);
    read_nodes(&nodes);
    pim_random_initialize(&random, 1);
    for (uint32_t trial = 0; trial < TRIALS; trial++) {
        struct tile_product product = {.batches = 1, .count = 1, .kernel = {1, 1}, .stride = {1, 1}};
        product.rows = product.map[0] = 1 + (uint32_t)pim_random_below(&random, 4);
        product.columns = product.map[1] = 1 + (uint32_t)pim_random_below(&random, 32);
        product.n = 1 + (uint32_t)pim_random_below(&random, 16);
        product.channels = 1 + (uint32_t)pim_random_below(&random, 16);
        product.sums = (uint32_t)pim_random_below(&random, 2);
        struct tiling found, known;
        for (int turn = 0; turn < 2 * WEIGHTS; turn++) {
            const struct nice_weights *by = &weights[turn % WEIGHTS];
            bool fits = tile_choose(&nodes, &product, by, &found);
            ck_assert(tile_recall(memory, &nodes, &product, by, &known) == fits);
            ck_assert(!fits || memcmp(&found, &known, sizeof found) == 0);
        }
    }
    tile_memory_destroy(memory);
}
END_TEST

/* --- nothing cheaper is left out --- */

/* Sizes as tilings take them: twice as large, and the whole last. */
static uint32_t larger(uint32_t size, uint32_t length)
{
    return size >= length ? 0 : 2 * size < length ? 2 * size : length;
}

/* The next positions in the order of sizes; false: all are in one tile. */
static bool next_positions(const struct tile_product *product, struct tiling *tiling)
{
    uint32_t *sizes[] = {&tiling->columns, &tiling->rows, &tiling->batches};
    const uint32_t lengths[] = {product->columns, product->rows, product->batches};
    for (size_t d = 0; d < 3; d++) {
        uint32_t next = larger(*sizes[d], lengths[d]);
        if (next > 0) {
            *sizes[d] = next;
            return true;
        }
    }
    return false;
}

static void draw_product(struct pim_random *random, struct tile_product *product)
{
    static const uint32_t kernels[] = {1, 1, 3, 5};
    memset(product, 0, sizeof *product);
    product->batches = 1 + (uint32_t)pim_random_below(random, 2);
    product->rows = 1 + (uint32_t)pim_random_below(random, 20);
    product->columns = 1 + (uint32_t)pim_random_below(random, 20);
    product->n = 1 + (uint32_t)pim_random_below(random, 100);
    product->channels = 1 + (uint32_t)pim_random_below(random, 100);
    product->count = 1 + (uint32_t)pim_random_below(random, 3);
    product->sums = (uint32_t)pim_random_below(random, 2);
    product->kernel[0] = product->kernel[1] = kernels[pim_random_below(random, 4)];
    product->stride[0] = product->stride[1] = 1 + (uint32_t)pim_random_below(random, 2);
    product->map[0] = product->rows * product->stride[0];
    product->map[1] = product->columns * product->stride[1];
    if (pim_random_below(random, 3) == 0)
        return; /* layouts are not known */
    const struct spread input = {{(uint8_t)pim_random_below(random, 2), 1u << pim_random_below(random, 4)},
                                 {product->batches, product->channels, product->map[0], product->map[1]}},
                        output = {{(uint8_t)pim_random_below(random, 2), 1u << pim_random_below(random, 4)},
                                  {product->batches, product->n, product->rows, product->columns}};
    product->input = input;
    product->output = output;
}

/* All positions of given channels, from the smallest on: the first of least cost. Bounds hold for each. */
static bool look_at_all(const struct pim_estimate_hardware *nodes, const struct tile_product *product,
                        const struct nice_weights *weights, const uint32_t channels[2], struct tiling *best)
{
    struct tiling trial = {.batches = 1, .rows = 1, .columns = 1, .n = channels[0], .channels = channels[1]};
    struct tile_volumes volumes;
    struct tile_channels known;
    uint64_t least = UINT64_MAX, cost;
    uint32_t extent[PLACE_DIMENSIONS], step[PLACE_DIMENSIONS];
    tile_measure(product, &volumes);
    tile_prepare(nodes, product, &volumes, true, channels[0], channels[1], &known);
    do {
        const uint64_t m = (uint64_t)trial.batches * trial.rows * trial.columns;
        const bool whole = m == (uint64_t)product->batches * product->rows * product->columns &&
                           product->count == 1,
                   one[] = {whole && trial.channels == product->channels, whole && trial.n == product->n};
        if (tile_input_box(product, &trial, extent, step) * FLOW_BYTES * (one[0] ? 1 : 2) >
                nodes->input_bytes ||
            m * trial.n * nodes->accumulator_bytes * (one[1] ? 1 : 2) > nodes->output_bytes)
            break;
        trial.resident = trial.stationary = false;
        ck_assert(tile_estimate(nodes, product, &volumes, &known, weights, UINT64_MAX, &trial, &cost));
        ck_assert_uint_le(known.least_cycles, trial.total);
        ck_assert_uint_le(tile_least_cycles(nodes, product), trial.total);
        ck_assert(weights->energy == 0 || known.least_pj <= trial.pj);
        if (cost < least) {
            struct tiling again = trial; /* what costs a little less than a limit is found */
            ck_assert(tile_estimate(nodes, product, &volumes, &known, weights, cost + 1, &again, &cost));
            ck_assert(!tile_estimate(nodes, product, &volumes, &known, weights, cost, &again, &cost));
            least = cost;
            *best = trial;
        }
    } while (next_positions(product, &trial));
    return least < UINT64_MAX;
}

static bool same_tiles(const struct tiling *a, const struct tiling *b)
{
    return a->batches == b->batches && a->rows == b->rows && a->columns == b->columns && a->n == b->n &&
           a->channels == b->channels && a->resident == b->resident && a->stationary == b->stationary &&
           a->total == b->total;
}

/* The best of all tilings, each looked at, is the one that is chosen with bounds. */
START_TEST(what_is_left_out_costs_more)
{
    enum { TRIALS = 400 };
    static const struct nice_weights weights[] = {
        {.cycles = 1}, {.cycles = 20000, .energy = 1}, {.energy = 1}};
    struct pim_estimate_hardware nodes;
    struct pim_random random;
    read_nodes(&nodes);
    pim_random_initialize(&random, 7);
    for (int trial = 0; trial < TRIALS; trial++) {
        const struct nice_weights *by = &weights[trial % 3];
        struct tile_product product;
        struct tiling least = {.n = 0}, chosen = least, here = least, all = least;
        draw_product(&random, &product);
        nodes.pe.rows = nodes.pe_rows = 4; /* no tiles leave it half empty */
        nodes.pe.dataflow = (enum pim_pe_dataflow)pim_random_below(&random, PIM_PE_DATAFLOWS);
        const uint32_t columns = product.n < nodes.pe_columns ? product.n : nodes.pe_columns;
        uint64_t cost = UINT64_MAX;
        for (uint32_t c = 1; c > 0; c = larger(c, product.channels)) {
            const uint32_t double_c = larger(c, product.channels);
            if (double_c > 0 && tile_k(&product, c) * 2 <= nodes.pe_rows && cost < UINT64_MAX)
                continue;
            for (uint32_t n = columns; n > 0; n = larger(n, product.n)) {
                const uint32_t channels[] = {n, c};
                if (tile_k(&product, c) * n * FLOW_BYTES * 2 > nodes.weight_bytes ||
                    !look_at_all(&nodes, &product, by, channels, &here))
                    continue;
                ck_assert(tile_choose_positions(&nodes, &product, by, channels, &all));
                ck_assert(same_tiles(&here, &all));
                if (nice_cost(by, here.total, here.pj) >= cost)
                    continue;
                cost = nice_cost(by, here.total, here.pj);
                least = here;
            }
        }
        ck_assert(tile_choose(&nodes, &product, by, &chosen) && same_tiles(&least, &chosen));
    }
}
END_TEST

void pimsim_suites(SRunner *runner)
{
    Suite *suite = suite_create("tiles");
    TCase *tests = tcase_create("tiles");
    tcase_add_test(tests, few_channels_are_one_tile);
    tcase_add_test(tests, a_small_buffer_takes_the_most_that_fits);
    tcase_add_test(tests, a_tiny_buffer_takes_fewer_columns);
    tcase_add_test(tests, the_ends_of_a_layer_count_once);
    tcase_add_test(tests, a_busy_array_hides_the_port);
    tcase_add_test(tests, padding_is_not_loaded);
    tcase_add_test(tests, what_is_remembered_is_what_was_found);
    tcase_add_test(tests, what_is_left_out_costs_more);
    suite_add_tcase(suite, tests);
    srunner_add_suite(runner, suite);
}
