/* Layer tables of SCALE-Sim: sizes and MACs as it computes them, both forms, what is refused and where. */
#include "mappers/network/layer_table.h"
#include "mappers/network/source.h"
#include "sim/random.h"
#include "tests/unit/network/networks.h"

#include <stdio.h>
#include <string.h>

#define CONVOLUTIONS                                                                                         \
    "Layer name, IFMAP Height, IFMAP Width, Filter Height, Filter Width, Channels, Num Filter, Strides,\n"

static struct pim_network *parsed(const char *text)
{
    struct pim_network *network = NULL;
    struct pim_error error = {0};
    ck_assert_msg(pim_layer_table_parse("folder/net.v1.csv", text, strlen(text), &network, &error) == PIM_OK,
                  "%s", error.text);
    ck_assert_int_eq(pim_graph_check(&network->graph, &error), PIM_OK);
    return network;
}

static void expect_shape(const struct pim_layer *layer, uint32_t channels, uint32_t height, uint32_t width)
{
    const struct pim_shape shape = {4, {1, channels, height, width}};
    ck_assert_msg(pim_shape_equal(&layer->output, &shape), "%s", layer->name);
}

/* A row as SCALE-Sim computes it (topology_utils.py, topo_calc_hyperparams): sizes of the output and MACs. */
START_TEST(convolutions)
{
    struct pim_network *network = parsed("\xef\xbb\xbf" CONVOLUTIONS "Conv1,224, 224,7,7,3,64,2,\r\n"
                                         "\n"
                                         ",,,,,,,,\n"
                                         "  Conv2 , 14, 15, 3, 2, 16, 32, 2, 2, 1:1, NPU,,\n"
                                         "ConvDP3, 14, 14, 3, 3, 32, 2, 1\n"
                                         "Conv2, 1, 1, 1, 1, 512, 100, 5,");
    const struct pim_graph *graph = &network->graph;
    ck_assert_str_eq(network->name, "net.v1");
    ck_assert_ptr_null(network->transformer);
    ck_assert_uint_eq(graph->count, 8); /* an input for each */
    const struct pim_layer *first = find_layer(network, "Conv1");
    expect_shape(first, 64, 110, 110); /* ceil((224 - 7 + 2) / 2): one more than fits */
    ck_assert_uint_eq(first->macs, UINT64_C(110) * 110 * 49 * 3 * 64);
    ck_assert_uint_eq(first->parameters, 49 * 3 * 64);
    expect_shape(find_layer(network, "Conv2"), 32, 7, 8);
    ck_assert_uint_eq(find_layer(network, "Conv2")->macs, 7 * 8 * 6 * 16 * 32);
    expect_shape(find_layer(network, "ConvDP3"), 64, 12, 12);
    ck_assert_uint_eq(find_layer(network, "ConvDP3")->macs, 12 * 12 * 9 * 32 * 2);
    expect_shape(find_layer(network, "Conv2 (line 7)"), 100, 1, 1);
    ck_assert_uint_eq(graph->macs, first->macs + 7 * 8 * 6 * 16 * 32 + 12 * 12 * 9 * 32 * 2 + 51200);
    pim_network_destroy(network);
}
END_TEST

START_TEST(products)
{
    struct pim_network *network = parsed("Layer, m, N, K,\nQKV, 49, 384, 128,\nOut,197,768,3072,1:1\n");
    const struct pim_layer *layer = find_layer(network, "QKV");
    expect_shape(layer, 384, 49, 1);
    ck_assert_uint_eq(layer->macs, 49 * 384 * 128);
    ck_assert_uint_eq(layer->parameters, 384 * 128);
    ck_assert_uint_eq(find_layer(network, "Out")->macs, UINT64_C(197) * 768 * 3072);
    pim_network_destroy(network);
}
END_TEST

/* Random rows against the formula of SCALE-Sim, in floating point as it has it. */
START_TEST(random_rows)
{
    enum { SEED = 2511, ROUNDS = 2000 };
    struct pim_random random;
    pim_random_initialize(&random, SEED);
    for (unsigned round = 0; round < ROUNDS; round++) {
        uint64_t size[7];
        for (unsigned i = 2; i < 7; i++)
            size[i] = 1 + pim_random_below(&random, 12);
        size[0] = size[2] + pim_random_below(&random, 60);
        size[1] = size[3] + pim_random_below(&random, 60);
        char text[400];
        (void)snprintf(text, sizeof text, CONVOLUTIONS "a,%u,%u,%u,%u,%u,%u,%u,\n", (unsigned)size[0],
                       (unsigned)size[1], (unsigned)size[2], (unsigned)size[3], (unsigned)size[4],
                       (unsigned)size[5], (unsigned)size[6]);
        uint64_t rows = 0,
                 columns = 0; /* windows that begin at or before the last that fits whole, and one more */
        for (uint64_t at = 0; at < size[0] - size[2] + size[6]; at += size[6])
            rows++;
        for (uint64_t at = 0; at < size[1] - size[3] + size[6]; at += size[6])
            columns++;
        struct pim_network *network = parsed(text);
        ck_assert_msg(network->graph.macs == rows * columns * size[2] * size[3] * size[4] * size[5],
                      "seed %d: %s", SEED, text);
        pim_network_destroy(network);
    }
}
END_TEST

static const struct {
    const char *text, *message;
} refusals[] = {
    {"", "net.csv:1: no heading of a layer table"},
    {"\n\n", "no heading"},
    {"Conv1, 224, 224, 7, 7, 3, 64, 2,\n", "net.csv:1: no heading"},
    {"Layer, M, K, N,\na,1,2,3,\n", "no heading"},
    {CONVOLUTIONS, "a heading and no layers"},
    {CONVOLUTIONS "a,8,8,3,3,4,4,\n", "net.csv:2: 7 fields: a name and seven sizes are expected"},
    {CONVOLUTIONS "\na,8,8,3,3,4,x,1,\n", "net.csv:3: field 7 is 'x': an integer from 1 to 2147483647"},
    {CONVOLUTIONS "a,8,8,3,3,4,0,1,\n", "field 7 is '0'"},
    {CONVOLUTIONS "a,8,8,3,3,4,-1,1,\n", "field 7 is '-1'"},
    {CONVOLUTIONS "a,8,8,3,3,4,2147483648,1,\n", "field 7 is '2147483648'"},
    {CONVOLUTIONS "a,8,8,3,3,4,99999999999999999999,1,\n", "field 7"},
    {CONVOLUTIONS "a,8,8,9,3,4,4,1,\n", "field 4 is '9': Filter height cannot be larger than IFMAP height"},
    {CONVOLUTIONS "a,8,8,3,9,4,4,1,\n", "field 5 is '9': Filter width cannot be larger than IFMAP width"},
    {CONVOLUTIONS "a,8,8,3,3,4,4,1,2,\n",
     "field 9 is '2': SCALE-Sim 2 takes it as the stride along the width"},
    {CONVOLUTIONS "a,8,8,3,3,4,4,1,2:4,\n", "field 9 is '2:4': products are dense here"},
    {CONVOLUTIONS "a,8,8,3,3,4,4,1,1:1,GPU,\n", "field 10 is 'GPU': nothing but"},
    {CONVOLUTIONS "a,8,8,3,3,4,4,1,1,1,1,1,1\n", "net.csv:2: more than 12 fields"},
    {CONVOLUTIONS ",8,8,3,3,4,4,1,\n", "field 1 is '': a name of 1 to 100 characters"},
    {CONVOLUTIONS "a\x1b[2J,8,8,3,3,4,4,1,\n", "printable ASCII"},
    {CONVOLUTIONS "aDP,8,8,3,3,100000,100000,1,\n",
     "too many channels of a depthwise layer: channels times filters may be 2147483647"},
    {CONVOLUTIONS "a,2147483647,2147483647,1,1,2147483647,1,1,\n", "net.csv:2: "},
    {"Layer, M, N, K,\na,1,2,\n", "net.csv:2: 3 fields: a name and M, N, K"},
    {"Layer, M, N, K,\na,1,2,3,1\n", "field 5 is '1': nothing but"},
};

START_TEST(refused)
{
    const char *text = refusals[_i].text;
    struct pim_network *network = NULL;
    struct pim_error error = {0};
    ck_assert_int_eq(pim_layer_table_parse("net.csv", text, strlen(text), &network, &error), PIM_BAD_INPUT);
    ck_assert_msg(strstr(error.text, refusals[_i].message) != NULL, "\"%s\" is not in \"%s\"",
                  refusals[_i].message, error.text);
    ck_assert_ptr_null(network);
}
END_TEST

START_TEST(sources)
{
    ck_assert_int_eq(pim_network_source_of("a.csv"), PIM_NETWORK_TABLE);
    ck_assert_int_eq(pim_network_source_of("a.onnx"), PIM_NETWORK_ONNX);
    ck_assert_int_eq(pim_network_source_of("csv"), PIM_NETWORK_DESCRIPTOR);
    ck_assert_int_eq(pim_network_source_of("a.csv.cfg"), PIM_NETWORK_DESCRIPTOR);
    struct pim_network *network;
    struct pim_error error = {0};
    ck_assert_int_eq(pim_layer_table_read("/nowhere/a.csv", &network, &error), PIM_IO);
}
END_TEST

Suite *layer_table_suite(void)
{
    Suite *suite = suite_create("layer_table");
    TCase *tables = tcase_create("tables");
    tcase_add_test(tables, convolutions);
    tcase_add_test(tables, products);
    tcase_add_test(tables, random_rows);
    tcase_add_loop_test(tables, refused, 0, (int)(sizeof refusals / sizeof refusals[0]));
    tcase_add_test(tables, sources);
    suite_add_tcase(suite, tables);
    return suite;
}
