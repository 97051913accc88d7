/* Tiles of a product on one node: how many input channels they have, whatever the layer and the array. */
#include "mappers/network/layer_table.h"
#include "mappers/nicepim/map/make_plan.h"
#include "mappers/nicepim/map/program/emit.h"
#include "models/system/read.h"
#include "models/system/schema.h"
#include "models/system/system.h"
#include "sim/random.h"
#include "tests/unit/test_main.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void check(enum pim_status status, const struct pim_error *error)
{
    ck_assert_msg(status == PIM_OK, "%s", error->text);
}

/* The array of 128 x 8 PEs: rows are input channels. */
static void read_nodes(struct pim_estimate_hardware *nodes)
{
    struct pim_configuration *configuration;
    struct pim_hardware hardware;
    struct pim_error error = {0};
    char path[512];
    check(pim_configuration_create(&pim_hardware_schema, &configuration, &error), &error);
    pimsim_source_path(path, sizeof path, "configs/hardware/nicepim-4x8.cfg");
    check(pim_configuration_read_file(configuration, path, &error), &error);
    check(pim_hardware_read(configuration, &hardware, &error), &error);
    const struct pim_machine_network network = {.fixed = (int64_t)hardware.node.zero_load.fixed,
                                                .per_router = hardware.node.zero_load.per_router};
    check(pim_machine_nodes_read(configuration, &network, nodes, &error), &error);
    pim_configuration_destroy(configuration);
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
    const struct nice_request request = {.network = network,
                                         .hardware = nodes,
                                         .batch = 1,
                                         .capacity = nodes->memory_bytes,
                                         .copy_limit = UINT64_MAX,
                                         .method = NICE_SERIAL,
                                         .weights = {.cycles = 1}};
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
    suite_add_tcase(suite, tests);
    srunner_add_suite(runner, suite);
}
