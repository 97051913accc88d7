/* The graph: adding, sorting, and what its check refuses. */
#include "sim/random.h"
#include "tests/unit/network/networks.h"

#include <stdio.h>
#include <string.h>

#define INPUTS(...)                                                                                          \
    (const uint32_t[])                                                                                       \
    {                                                                                                        \
        __VA_ARGS__                                                                                          \
    }

static struct pim_layer_description describe(const char *name, enum pim_operator operation, uint32_t inputs,
                                             const uint32_t *input)
{
    struct pim_layer_description d = {.name = name,
                                      .operation = operation,
                                      .stage = PIM_NONE,
                                      .block = PIM_NONE,
                                      .inputs = inputs,
                                      .input = input};
    if (operation == PIM_OPERATOR_INPUT)
        d.attributes.shape = (struct pim_shape){.rank = 2, .dimension = {4, 8}};
    if (operation == PIM_OPERATOR_LINEAR)
        d.attributes.linear.outputs = 8;
    return d;
}

START_TEST(adding_keeps_sums_and_refuses_dangling_inputs)
{
    struct pim_arena arena;
    struct pim_graph graph;
    struct pim_error error = {0};
    uint32_t index = 99;
    pim_arena_initialize(&arena, 0);
    pim_graph_initialize(&graph, &arena);
    struct pim_layer_description d = describe("x", PIM_OPERATOR_INPUT, 0, NULL);
    ck_assert_int_eq(pim_graph_add(&graph, &d, &index, &error), PIM_OK);
    ck_assert_uint_eq(index, 0);
    d = describe("w", PIM_OPERATOR_LINEAR, 1, INPUTS(0));
    d.padding_macs = 100;
    for (int i = 0; i < 1000; i++) /* beyond several capacities */
        ck_assert_int_eq(pim_graph_add(&graph, &d, NULL, &error), PIM_OK);
    ck_assert_uint_eq(graph.macs, 1000 * 4 * 8 * 8);
    ck_assert_uint_eq(graph.padding_macs, 100000);
    ck_assert_uint_eq(graph.parameters, 64000);

    d = describe("y", PIM_OPERATOR_LINEAR, 1, INPUTS(1001)); /* its own index */
    ck_assert_int_eq(pim_graph_add(&graph, &d, NULL, &error), PIM_BAD_INPUT);
    ck_assert_ptr_nonnull(strstr(error.text, "layer y: input 0 names layer 1001"));
    d = describe("z", PIM_OPERATOR_LINEAR, 1, INPUTS(0));
    d.padding_macs = 4 * 8 * 8 + 1;
    ck_assert_int_eq(pim_graph_add(&graph, &d, NULL, &error), PIM_BAD_INPUT);
    ck_assert_ptr_nonnull(strstr(error.text, "257 MACs on padding are more than all its 256"));
    d.padding_macs = 0;
    d.attributes.linear.shared = true;
    d.attributes.linear.weights_of = 5000;
    ck_assert_int_eq(pim_graph_add(&graph, &d, NULL, &error), PIM_BAD_INPUT);
    ck_assert_uint_eq(graph.count, 1001); /* as before */
    ck_assert_uint_eq(graph.macs, 1000 * 4 * 8 * 8);
    ck_assert_int_eq(pim_graph_check(&graph, &error), PIM_BAD_INPUT);
    ck_assert_str_eq(error.text, "two layers are named w");
    pim_arena_terminate(&arena);
}
END_TEST

/* Weights of 4 x 8: used again as they are, and transposed. */
START_TEST(shared_weights_fit)
{
    static const struct {
        uint32_t input, outputs, owner;
        bool shared, transposed, bias;
        const char *part; /* of the message; NULL: taken */
    } layers[] = {
        {0, 8, 1, true, false, false, NULL},
        {1, 4, 1, true, true, false, NULL},
        {0, 8, 9, true, false, false, "shares the weights of layer 9, which is not before it"},
        {0, 8, 0, true, false, false, "layer x, which is no linear layer with weights of its own"},
        {0, 8, 2, true, false, false, "layer y0, which is no linear layer with weights of its own"},
        {0, 7, 1, true, false, false, "needs weights of 4 x 7: those of layer w are 4 x 8"},
        {1, 8, 1, true, false, false, "needs weights of 8 x 8: those of layer w are 4 x 8"},
        {0, 8, 1, true, true, false, "needs weights of 4 x 8: those of layer w are 4 x 8, transposed"},
        {0, 8, 0, false, true, false, "only weights of another layer can be transposed"},
        {0, 8, 1, true, false, true, "shares the bias of layer w, which has none"},
    };
    struct pim_arena arena;
    struct pim_graph graph;
    struct pim_error error = {0};
    pim_arena_initialize(&arena, 0);
    pim_graph_initialize(&graph, &arena);
    struct pim_layer_description d = describe("x", PIM_OPERATOR_INPUT, 0, NULL);
    d.attributes.shape = (struct pim_shape){.rank = 2, .dimension = {3, 4}};
    ck_assert_int_eq(pim_graph_add(&graph, &d, NULL, &error), PIM_OK);
    d = describe("w", PIM_OPERATOR_LINEAR, 1, INPUTS(0));
    d.attributes.linear.outputs = 8;
    ck_assert_int_eq(pim_graph_add(&graph, &d, NULL, &error), PIM_OK);
    for (size_t i = 0; i < sizeof layers / sizeof layers[0]; i++) {
        char name[8];
        (void)snprintf(name, sizeof name, "y%zu", i);
        d = describe(name, PIM_OPERATOR_LINEAR, 1, INPUTS(layers[i].input));
        d.attributes.linear.outputs = layers[i].outputs;
        d.attributes.linear.shared = layers[i].shared;
        d.attributes.linear.transposed = layers[i].transposed;
        d.attributes.linear.bias = layers[i].bias;
        d.attributes.linear.weights_of = layers[i].owner;
        ck_assert_int_eq(pim_graph_add(&graph, &d, NULL, &error), layers[i].part ? PIM_BAD_INPUT : PIM_OK);
        ck_assert(!layers[i].part || strstr(error.text, layers[i].part));
    }
    ck_assert_int_eq(pim_graph_check(&graph, &error), PIM_OK);
    graph.layers[2].attributes.linear.transposed = true;
    ck_assert_int_eq(pim_graph_check(&graph, &error), PIM_BAD_INPUT);
    pim_arena_terminate(&arena);
}
END_TEST

START_TEST(sums_do_not_overflow)
{
    struct pim_arena arena;
    struct pim_graph graph;
    struct pim_error error = {0};
    pim_arena_initialize(&arena, 0);
    pim_graph_initialize(&graph, &arena);
    struct pim_layer_description d = describe("x", PIM_OPERATOR_INPUT, 0, NULL);
    d.attributes.shape = (struct pim_shape){.rank = 2, .dimension = {1u << 26, 1u << 10}};
    ck_assert_int_eq(pim_graph_add(&graph, &d, NULL, &error), PIM_OK);
    d = describe("y", PIM_OPERATOR_LINEAR, 1, INPUTS(0));
    d.attributes.linear.outputs = 1u << 26; /* 2^62 MACs: one layer fits, two do not */
    ck_assert_int_eq(pim_graph_add(&graph, &d, NULL, &error), PIM_OK);
    ck_assert_int_eq(pim_graph_add(&graph, &d, NULL, &error), PIM_BAD_INPUT);
    ck_assert_ptr_nonnull(strstr(error.text, "the network has more than"));
    pim_arena_terminate(&arena);
}
END_TEST

START_TEST(layers_in_any_order_are_sorted)
{
    enum { LAYERS = 60 };
    struct pim_layer_description d[LAYERS];
    uint32_t position[LAYERS], edges[LAYERS][2], shuffled[LAYERS];
    char names[LAYERS][8];
    struct pim_random random;
    pim_random_initialize(&random, 20240607);
    for (int round = 0; round < 50; round++) {
        for (uint32_t i = 0; i < LAYERS; i++)
            shuffled[i] = i;
        for (uint32_t i = LAYERS - 1; i > 0; i--) {
            uint32_t j = (uint32_t)pim_random_below(&random, i + 1), t = shuffled[i];
            shuffled[i] = shuffled[j];
            shuffled[j] = t;
        }
        for (uint32_t i = 0; i < LAYERS; i++) { /* layer i of a valid order stands at shuffled[i] */
            (void)snprintf(names[i], sizeof names[i], "l%u", i);
            if (i > 0) {
                edges[i][0] = shuffled[(uint32_t)pim_random_below(&random, i)];
                edges[i][1] = shuffled[(uint32_t)pim_random_below(&random, i)];
            }
            d[shuffled[i]] = describe(names[i], i == 0 ? PIM_OPERATOR_INPUT : PIM_OPERATOR_ELEMENTWISE,
                                      i == 0 ? 0 : 2, edges[i]);
        }
        struct pim_arena arena;
        struct pim_graph graph;
        struct pim_error error = {0};
        pim_arena_initialize(&arena, 0);
        pim_graph_initialize(&graph, &arena);
        ck_assert_msg(pim_graph_build(&graph, d, LAYERS, position, &error) == PIM_OK, "%s", error.text);
        ck_assert_msg(pim_graph_check(&graph, &error) == PIM_OK, "%s", error.text);
        for (uint32_t i = 0; i < LAYERS; i++) {
            const struct pim_layer *layer = &graph.layers[position[i]];
            ck_assert_str_eq(layer->name, d[i].name);
            for (uint32_t j = 0; j < layer->inputs; j++)
                ck_assert_uint_eq(layer->input[j], position[d[i].input[j]]);
        }
        pim_arena_terminate(&arena);
    }
}
END_TEST

static enum pim_status build(const struct pim_layer_description *d, uint32_t count, struct pim_error *error)
{
    struct pim_arena arena;
    struct pim_graph graph;
    pim_arena_initialize(&arena, 0);
    pim_graph_initialize(&graph, &arena);
    enum pim_status status = pim_graph_build(&graph, d, count, NULL, error);
    pim_arena_terminate(&arena);
    return status;
}

START_TEST(ready_layers_keep_the_described_order)
{
    struct pim_arena arena;
    struct pim_graph graph;
    struct pim_error error = {0};
    const struct pim_layer_description d[] = {
        describe("late", PIM_OPERATOR_ELEMENTWISE, 1, INPUTS(3)),
        describe("b", PIM_OPERATOR_INPUT, 0, NULL),
        describe("after_b", PIM_OPERATOR_ELEMENTWISE, 1, INPUTS(1)),
        describe("a", PIM_OPERATOR_INPUT, 0, NULL),
    };
    static const char *const expected[] = {"b", "after_b", "a", "late"};
    pim_arena_initialize(&arena, 0);
    pim_graph_initialize(&graph, &arena);
    ck_assert_int_eq(pim_graph_build(&graph, d, 4, NULL, &error), PIM_OK);
    for (uint32_t i = 0; i < 4; i++)
        ck_assert_str_eq(graph.layers[i].name, expected[i]);
    ck_assert_uint_eq(pim_graph_find(&graph, "a"), 2);
    ck_assert_uint_eq(pim_graph_find(&graph, "c"), PIM_NONE);
    pim_arena_terminate(&arena);
}
END_TEST

START_TEST(cycles_and_dangling_edges_are_named)
{
    struct pim_error error = {0};
    const struct pim_layer_description cycle[] = {
        describe("in", PIM_OPERATOR_INPUT, 0, NULL),
        describe("behind", PIM_OPERATOR_ELEMENTWISE, 1, INPUTS(3)), /* reads the cycle, is no part of it */
        describe("p", PIM_OPERATOR_ELEMENTWISE, 2, INPUTS(0, 3)),
        describe("q", PIM_OPERATOR_ELEMENTWISE, 1, INPUTS(2)),
    };
    ck_assert_int_eq(build(cycle, 4, &error), PIM_BAD_INPUT);
    ck_assert_str_eq(error.text, "the layers form a cycle: q <- p <- q");
    const struct pim_layer_description self[] = {describe("s", PIM_OPERATOR_ELEMENTWISE, 1, INPUTS(0))};
    ck_assert_int_eq(build(self, 1, &error), PIM_BAD_INPUT);
    ck_assert_str_eq(error.text, "the layers form a cycle: s <- s");
    const struct pim_layer_description both[] = {describe("s", PIM_OPERATOR_ELEMENTWISE, 2, INPUTS(0, 1)),
                                                 describe("t", PIM_OPERATOR_ELEMENTWISE, 1, INPUTS(0))};
    ck_assert_int_eq(build(both, 2, &error), PIM_BAD_INPUT);
    ck_assert_str_eq(error.text, "the layers form a cycle: s <- s");
    const struct pim_layer_description dangling[] = {describe("d", PIM_OPERATOR_ELEMENTWISE, 1, INPUTS(7))};
    ck_assert_int_eq(build(dangling, 1, &error), PIM_BAD_INPUT);
    ck_assert_ptr_nonnull(strstr(error.text, "layer d: input 0 is a dangling edge: it names layer 7 of 1"));
}
END_TEST

START_TEST(check_sees_every_change)
{
    struct pim_network *network = read_network("swin-t", NULL);
    struct pim_graph *graph = &network->graph;
    struct pim_error error = {0};
    uint32_t at = pim_graph_find(graph, "stage2.block1.query");
    ck_assert_int_eq(pim_graph_check(graph, &error), PIM_OK);
    struct pim_layer kept = graph->layers[at];
    const uint32_t forward[] = {at + 1};

    graph->layers[at].output.dimension[0]++;
    ck_assert_int_eq(pim_graph_check(graph, &error), PIM_BAD_INPUT);
    ck_assert_ptr_nonnull(strstr(
        error.text, "layer stage2.block1.query: its shape is 17x49x192, but its inputs make it 16x49x192"));
    graph->layers[at] = kept;
    graph->layers[at].macs--;
    ck_assert_int_eq(pim_graph_check(graph, &error), PIM_BAD_INPUT);
    graph->layers[at] = kept;
    graph->layers[at].parameters++;
    ck_assert_int_eq(pim_graph_check(graph, &error), PIM_BAD_INPUT);
    graph->layers[at] = kept;
    graph->layers[at].padding_macs = kept.macs + 1;
    ck_assert_int_eq(pim_graph_check(graph, &error), PIM_BAD_INPUT);
    graph->layers[at] = kept;
    graph->layers[at].input = forward;
    ck_assert_int_eq(pim_graph_check(graph, &error), PIM_BAD_INPUT);
    graph->layers[at] = kept;
    graph->layers[at].name = graph->layers[at + 1].name;
    ck_assert_int_eq(pim_graph_check(graph, &error), PIM_BAD_INPUT);
    graph->layers[at] = kept;
    graph->macs++;
    ck_assert_int_eq(pim_graph_check(graph, &error), PIM_BAD_INPUT);
    graph->macs--;
    ck_assert_int_eq(pim_graph_check(graph, &error), PIM_OK);
    graph->count = 1; /* the image alone: nothing is computed, but it is an output */
    graph->macs = graph->padding_macs = graph->parameters = 0;
    ck_assert_int_eq(pim_graph_check(graph, &error), PIM_OK);
    graph->count = 0;
    ck_assert_int_eq(pim_graph_check(graph, &error), PIM_BAD_INPUT);
    pim_network_destroy(network);
}
END_TEST

/* The inputs decide, where they agree and an output does: two images that come at once are two, a vector is
 * none, and neither are the channels of one image without a batch. */
START_TEST(images_are_what_the_inputs_agree_on)
{
    static const struct pim_shape shapes[] = {{4, {2, 3, 8, 8}}, {3, {2, 5, 7}}, {4, {1, 3, 8, 8}},
                                              {1, {2}},          {2, {2, 9}},    {4, {1, 2, 8, 8}}};
    static const struct {
        uint32_t inputs, input[2], output;
        uint64_t images;
    } cases[] = {{0, {0}, 0, 1},    {1, {0}, 4, 2}, {2, {0, 1}, 3, 2}, {2, {0, 2}, 4, 1},
                 {2, {0, 3}, 4, 1}, {1, {4}, 1, 2}, {1, {1}, 5, 1},    {1, {2}, 2, 1}};
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
        static const uint32_t read[] = {0, 1, 2};
        struct pim_layer layers[4] = {{.operation = PIM_OPERATOR_PARAMETER, .output = {2, {2, 9}}}};
        const uint32_t inputs = cases[k].inputs;
        const struct pim_graph graph = {.count = inputs + 2, .layers = layers};
        for (uint32_t i = 0; i < inputs; i++) {
            layers[i + 1].operation = PIM_OPERATOR_INPUT;
            layers[i + 1].output = shapes[cases[k].input[i]];
        }
        layers[inputs + 1] = (struct pim_layer){.operation = PIM_OPERATOR_CONCAT,
                                                .output = shapes[cases[k].output],
                                                .inputs = inputs + 1,
                                                .input = read};
        ck_assert_uint_eq(pim_graph_images(&graph), cases[k].images);
    }
}
END_TEST

Suite *graph_suite(void)
{
    Suite *suite = suite_create("graph");
    TCase *group = tcase_create("graph");
    tcase_add_test(group, adding_keeps_sums_and_refuses_dangling_inputs);
    tcase_add_test(group, shared_weights_fit);
    tcase_add_test(group, sums_do_not_overflow);
    tcase_add_test(group, layers_in_any_order_are_sorted);
    tcase_add_test(group, ready_layers_keep_the_described_order);
    tcase_add_test(group, cycles_and_dangling_edges_are_named);
    tcase_add_test(group, check_sees_every_change);
    tcase_add_test(group, images_are_what_the_inputs_agree_on);
    suite_add_tcase(suite, group);
    return suite;
}
