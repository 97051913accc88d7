/* Vision transformers in files: the descriptor that a graph is of, and graphs that are none's. */
#include "mappers/network/recognition/recognition.h"
#include "tests/unit/onnx/model.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define INTS(...) ((int64_t[]){__VA_ARGS__}), sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t)

static const struct {
    const char *name, *override;
} cases[] = {
    {"vit-t", NULL},
    {"vit-t", "network.class_token=false"},
    {"vit-s", "network.image=96"},
    {"swin-t", NULL},
    {"swin-t", "network.image=320"},
    {"swin-t", "network.window=4"},
    {"swin-l", NULL},
    {"pvt-tiny", NULL},
    {"pvt-large", "network.image=160"},
    {"twins-svt-s", NULL},
    {"twins-svt-s", "network.image=256"},
    {"focal-t", NULL},
    {"focal-t", "network.expand=2"},
    {"focal-t", "network.image=320"},
    {"cswin-t", NULL},
    {"cswin-t", "network.image=256"},
    {"pvt-tiny", "network.image=32"},
    {"swin-s", "network.classes=0"},
    {"vit-t", "network.mlp_ratio=3"},
};

/* The network of a descriptor, and what its file is read as. */
static void read_case(const char *name, const char *override, struct pim_network **made,
                      struct pim_network **read)
{
    const struct pim_onnx_options options = {0};
    struct pim_error error = {PIM_OK, ""};
    char relative[128], path[1024], *bytes = NULL;
    size_t size;
    (void)snprintf(relative, sizeof relative, "configs/networks/%s.cfg", name);
    enum pim_status status = pim_network_read(pimsim_source_path(path, sizeof path, relative), &override,
                                              override ? 1 : 0, made, &error);
    ck_assert_msg(status == PIM_OK, "%s", error.text);
    FILE *file = open_memstream(&bytes, &size);
    ck_assert_ptr_nonnull(file);
    status = pim_onnx_write(*made, file, &error);
    ck_assert_msg(status == PIM_OK, "%s", error.text);
    ck_assert_int_eq(fclose(file), 0);
    status = pim_onnx_parse("written", (const uint8_t *)bytes, size, &options, read, &error);
    ck_assert_msg(status == PIM_OK, "%s", error.text);
    free(bytes);
}

static void check_same_view(const struct pim_network *made, const struct pim_network *again)
{
    const struct pim_transformer *a = made->transformer, *b = again->transformer;
    ck_assert_str_eq(made->name, again->name);
    ck_assert_uint_eq(made->graph.count, again->graph.count);
    ck_assert_uint_eq(made->graph.macs, again->graph.macs);
    ck_assert_uint_eq(made->graph.padding_macs, again->graph.padding_macs);
    ck_assert_uint_eq(made->graph.parameters, again->graph.parameters);
    ck_assert_int_eq(a->family, b->family);
    ck_assert_uint_eq(a->image, b->image);
    ck_assert_uint_eq(a->classes, b->classes);
    ck_assert_mem_eq(a->stage, b->stage, sizeof a->stage);
    ck_assert_uint_eq(a->blocks, b->blocks);
    ck_assert_mem_eq(a->block, b->block, a->blocks * sizeof a->block[0]);
}

START_TEST(every_family)
{
    struct pim_network *made = NULL, *read = NULL, *again = NULL;
    struct pim_error error = {PIM_OK, ""};
    read_case(cases[PIM_CASE(_i)].name, cases[PIM_CASE(_i)].override, &made, &read);
    enum pim_status status = pim_transformer_recognise(read, &again, &error);
    ck_assert_msg(status == PIM_OK, "%s", error.text);
    check_same_view(made, again);
    pim_network_destroy(again);
    pim_network_destroy(read);
    pim_network_destroy(made);
}
END_TEST

static void refused(struct pim_network *read, const char *part)
{
    struct pim_error error = {PIM_OK, ""};
    struct pim_network *again = NULL;
    ck_assert_int_eq(pim_transformer_recognise(read, &again, &error), PIM_BAD_INPUT);
    ck_assert_ptr_null(again);
    ck_assert_msg(strstr(error.text, part) != NULL, "%s is not in: %s", part, error.text);
}

/* The first layer of an operation behind layer `from`. */
static struct pim_layer *next_of(struct pim_network *network, enum pim_operator operation, uint32_t from)
{
    for (uint32_t i = from; i < network->graph.count; i++) {
        if (network->graph.layers[i].operation == operation)
            return &network->graph.layers[i];
    }
    ck_abort_msg("no such layer");
    return NULL;
}

/* A roll of a map is two slices that change places. In order they are no shift: the same layers with the
 * same shapes, but windows of other tokens. */
START_TEST(windows_without_shift)
{
    struct pim_network *made = NULL, *read = NULL;
    read_case("swin-t", NULL, &made, &read);
    struct pim_layer *concat = next_of(read, PIM_OPERATOR_CONCAT, 0);
    ck_assert_uint_eq(concat->inputs, 2);
    const uint32_t order[2] = {concat->input[1], concat->input[0]};
    concat->input = order;
    refused(read, "swin is the nearest: layer stage1.block2.scores");
    pim_network_destroy(read);
    pim_network_destroy(made);
}
END_TEST

/* A window partition that gathers every eighth row and column in place of neighbours (grid attention). */
START_TEST(windows_of_a_grid)
{
    struct pim_network *made = NULL, *read = NULL;
    read_case("swin-t", NULL, &made, &read);
    struct pim_layer *split = next_of(read, PIM_OPERATOR_RESHAPE, 0);
    ck_assert_uint_eq(split->output.rank, 6); /* 1 x 8 x 7 x 8 x 7 x 96 */
    const uint32_t shape[6] = {1, 7, 8, 7, 8, 96}, order[6] = {0, 2, 4, 1, 3, 5};
    struct pim_layer *turn = next_of(read, PIM_OPERATOR_TRANSPOSE, (uint32_t)(split - read->graph.layers));
    memcpy(split->output.dimension, shape, sizeof shape);
    memcpy(turn->attributes.transpose.order, order, sizeof order);
    refused(read, "of other tokens");
    pim_network_destroy(read);
    pim_network_destroy(made);
}
END_TEST

START_TEST(another_activation)
{
    struct pim_network *made = NULL, *read = NULL;
    read_case("vit-t", NULL, &made, &read);
    next_of(read, PIM_OPERATOR_ACTIVATION, 0)->attributes.activation = PIM_ACTIVATION_RELU;
    refused(read, "vit is the nearest");
    pim_network_destroy(read);
    pim_network_destroy(made);
}
END_TEST

START_TEST(a_missing_residual)
{
    struct pim_network *made = NULL, *read = NULL;
    read_case("vit-t", NULL, &made, &read);
    uint32_t at = pim_graph_find(&read->graph, "stage1.block2.residual1");
    ck_assert_uint_ne(at, PIM_NONE);
    read->graph.layers[at].attributes.elementwise = PIM_ELEMENTWISE_MULTIPLY;
    refused(read, "vit is the nearest");
    pim_network_destroy(read);
    pim_network_destroy(made);
}
END_TEST

/* The second residual begins at the block's input: the longest ways are the same. */
START_TEST(another_residual)
{
    struct pim_network *made = NULL, *read = NULL;
    read_case("vit-t", NULL, &made, &read);
    uint32_t at = pim_graph_find(&read->graph, "stage1.block2.residual2");
    uint32_t first = pim_graph_find(&read->graph, "stage1.block2.residual1");
    uint32_t begin = pim_graph_find(&read->graph, "stage1.block1.residual2");
    ck_assert(at != PIM_NONE && first != PIM_NONE && begin != PIM_NONE);
    struct pim_layer *layer = &read->graph.layers[at];
    const uint32_t inputs[2] = {layer->input[0] == first ? begin : layer->input[0],
                                layer->input[1] == first ? begin : layer->input[1]};
    layer->input = inputs;
    refused(read, "layer stage1.block2.residual2 is elementwise work");
    pim_network_destroy(read);
    pim_network_destroy(made);
}
END_TEST

START_TEST(another_mean_or_normalisation)
{
    struct pim_network *made = NULL, *read = NULL;
    read_case("swin-t", NULL, &made, &read);
    struct pim_layer *mean = next_of(read, PIM_OPERATOR_REDUCTION, 0);
    mean->attributes.reduction.kind = PIM_REDUCTION_EXTREMUM;
    refused(read, "is a pooling");
    mean->attributes.reduction.kind = PIM_REDUCTION_MEAN;
    next_of(read, PIM_OPERATOR_NORMALIZATION, 0)->attributes.normalization.root_mean_square = true;
    refused(read, "is a normalisation");
    pim_network_destroy(read);
    pim_network_destroy(made);
}
END_TEST

START_TEST(a_convolutional_network)
{
    struct pim_network *made = NULL, *read = NULL;
    read_case("squeezenet", NULL, &made, &read);
    refused(read, "no feed-forward network");
    pim_network_destroy(read);
    pim_network_destroy(made);
    read_case("vgg8", NULL, &made, &read);
    refused(read, "has no attention in front of it");
    pim_network_destroy(read);
    pim_network_destroy(made);
}
END_TEST

/* Query, key or value: a part of one product, as exporters of frameworks write it. */
static void part_of_product(struct model *m, const char *part, int64_t index, bool keys)
{
    char chosen[8], moved[8], name[8], inputs[16];
    (void)snprintf(name, sizeof name, "i%s", part);
    (void)snprintf(chosen, sizeof chosen, "%s_part", part);
    (void)snprintf(moved, sizeof moved, "%s_t", part);
    (void)snprintf(inputs, sizeof inputs, "turned %s", name);
    model_scalar(m, name, index);
    model_node(m, "Gather", chosen, inputs, keys ? chosen : moved);
    model_integer(m, "axis", 0);
    if (keys) {
        model_node(m, "Transpose", moved, chosen, moved);
        model_integers(m, "perm", INTS(0, 1, 3, 2));
    }
}

enum norm { AS_OPERATOR, OPERATOR_WITH_SCALE, WITH_SCALE_AND_SHIFT, WITH_SCALE, PLAIN, WITHOUT_MEAN };

/* One node of a layer normalisation that is written out; `$` stands for its name. */
static void step(struct model *m, const char *norm, const char *operation, const char *inputs,
                 const char *output)
{
    char text[2][64];
    for (int t = 0; t < 2; t++) {
        size_t length = 0;
        for (const char *c = t ? output : inputs; *c; c++)
            length += (size_t)snprintf(text[t] + length, sizeof text[t] - length, "%.*s",
                                       *c == '$' ? (int)strlen(norm) : 1, *c == '$' ? norm : c);
    }
    model_node(m, operation, text[1], text[0], text[1]);
    if (strcmp(operation, "ReduceMean") == 0)
        model_integers(m, "axes", INTS(-1));
}

/* A layer normalisation of tensor `from`. */
static void put_norm(struct model *m, enum norm norm, const char *name, const char *from, const char *result)
{
    char inputs[32];
    (void)snprintf(inputs, sizeof inputs, norm == AS_OPERATOR ? "%s g g" : "%s g", from);
    if (norm == AS_OPERATOR || norm == OPERATOR_WITH_SCALE || norm == WITHOUT_MEAN) {
        model_node(m, norm == WITHOUT_MEAN ? "SimplifiedLayerNormalization" : "LayerNormalization", name,
                   inputs, result);
        return;
    }
    (void)snprintf(inputs, sizeof inputs, "%s $m", from);
    step(m, name, "ReduceMean", from, "$m");
    step(m, name, "Sub", inputs, "$d");
    step(m, name, "Pow", "$d two", "$s");
    step(m, name, "ReduceMean", "$s", "$v");
    step(m, name, "Add", "$v epsilon", "$e");
    step(m, name, "Sqrt", "$e", "$r");
    step(m, name, "Div", "$d $r", norm == PLAIN ? result : "$q");
    if (norm != PLAIN)
        step(m, name, "Mul", "$q g", norm == WITH_SCALE ? result : "$z");
    if (norm == WITH_SCALE_AND_SHIFT)
        step(m, name, "Add", "$z g", result);
}

/* A ViT of one block with 2 heads of 8 channels on 2 x 2 patches and a class token. */
static void framework_file(struct model *m, enum norm norm)
{
    *m = (struct model){.opset = 17};
    model_input(m, "image", INTS(1, 3, 8, 8));
    model_weights(m, "patch", INTS(16, 3, 4, 4));
    model_weights(m, "token", INTS(1, 1, 16));
    model_weights(m, "position", INTS(1, 5, 16));
    model_weights(m, "g", INTS(16));
    model_weights(m, "wqkv", INTS(16, 48));
    model_weights(m, "bqkv", INTS(48));
    model_weights(m, "wo", INTS(16, 16));
    model_weights(m, "w1", INTS(16, 64));
    model_weights(m, "w2", INTS(64, 16));
    model_weights(m, "classes", INTS(10, 16));
    model_number(m, "scale", 0.35F);
    model_number(m, "two", 2);
    model_number(m, "epsilon", 1e-5F);
    model_scalar(m, "zero", 0);
    model_list(m, "flat", INTS(1, 16, 4));
    model_list(m, "apart", INTS(1, 5, 3, 2, 8));
    model_list(m, "joined", INTS(1, 5, 16));
    model_node(m, "Conv", "embedding", "image patch", "e1");
    model_integers(m, "strides", INTS(4, 4));
    model_node(m, "Reshape", "flatten", "e1 flat", "e2");
    model_node(m, "Transpose", "tokens", "e2", "e3");
    model_integers(m, "perm", INTS(0, 2, 1));
    model_node(m, "Concat", "class", "token e3", "e4");
    model_integer(m, "axis", 1);
    model_node(m, "Add", "place", "e4 position", "x");
    put_norm(m, norm, "norm1", "x", "n");
    model_node(m, "MatMul", "qkv", "n wqkv", "p");
    model_node(m, "Add", "qkv_bias", "bqkv p", "pb");
    model_node(m, "Reshape", "three", "pb apart", "three");
    model_node(m, "Transpose", "turn", "three", "turned");
    model_integers(m, "perm", INTS(2, 0, 3, 1, 4));
    part_of_product(m, "q", 0, false);
    part_of_product(m, "k", 1, true);
    part_of_product(m, "v", 2, false);
    model_node(m, "Mul", "scaled", "q_t scale", "qs");
    model_node(m, "MatMul", "scores", "qs k_t", "sc");
    model_node(m, "Softmax", "softmax", "sc", "sm");
    model_integer(m, "axis", -1);
    model_node(m, "MatMul", "context", "sm v_t", "c");
    model_node(m, "Transpose", "back", "c", "cb");
    model_integers(m, "perm", INTS(0, 2, 1, 3));
    model_node(m, "Reshape", "join", "cb joined", "cj");
    model_node(m, "MatMul", "out", "cj wo", "o");
    model_node(m, "Add", "residual1", "x o", "r");
    put_norm(m, norm, "norm2", "r", "n2");
    model_node(m, "MatMul", "expand", "n2 w1", "f1");
    model_node(m, "Gelu", "gelu", "f1", "f2");
    model_node(m, "MatMul", "contract", "f2 w2", "f3");
    model_node(m, "Add", "residual2", "r f3", "y");
    put_norm(m, norm, "norm", "y", "yn");
    model_node(m, "Gather", "first", "yn zero", "first");
    model_integer(m, "axis", 1);
    model_node(m, "Gemm", "head", "first classes", "out10");
    model_integer(m, "transB", 1);
    model_output(m, "out10");
}

/* Norms may be written out, and then also lack the shift, or both. */
START_TEST(as_frameworks_write_it)
{
    static const uint64_t parameters[] = {32, 16, 32, 16, 0};
    static struct model m;
    struct pim_error error = {PIM_OK, ""};
    struct pim_network *again = NULL;
    framework_file(&m, (enum norm)_i);
    struct pim_network *read = model_read(&m);
    ck_assert_uint_eq(next_of(read, PIM_OPERATOR_NORMALIZATION, 0)->parameters, parameters[_i]);
    enum pim_status status = pim_transformer_recognise(read, &again, &error);
    ck_assert_msg(status == PIM_OK, "%s", error.text);
    const struct pim_transformer *t = again->transformer;
    ck_assert_int_eq(t->family, PIM_FAMILY_VIT);
    ck_assert_uint_eq(t->stages, 1);
    ck_assert_uint_eq(t->blocks, 1);
    ck_assert_uint_eq(t->patch, 4);
    ck_assert_uint_eq(t->classes, 10);
    ck_assert_uint_eq(t->stage[0].heads, 2);
    ck_assert_uint_eq(t->stage[0].channels, 16);
    ck_assert_uint_eq(t->stage[0].class_tokens, 1);
    ck_assert_uint_eq(t->block[0].attention[0].query_tokens, 5);
    ck_assert_uint_eq(read->graph.macs, again->graph.macs);
    pim_network_destroy(again);
    pim_network_destroy(read);
}
END_TEST

START_TEST(norms_without_mean)
{
    static struct model m;
    framework_file(&m, WITHOUT_MEAN);
    struct pim_network *read = model_read(&m);
    refused(read, "is a normalisation");
    pim_network_destroy(read);
}
END_TEST

static Suite *recognition(void)
{
    Suite *suite = suite_create("recognition");
    TCase *tcase = tcase_create("recognition");
    tcase_add_loop_test(tcase, every_family, 0, PIM_CASES(sizeof cases / sizeof cases[0]));
    tcase_add_test(tcase, windows_without_shift);
    tcase_add_test(tcase, windows_of_a_grid);
    tcase_add_test(tcase, another_activation);
    tcase_add_test(tcase, a_missing_residual);
    tcase_add_test(tcase, another_residual);
    tcase_add_test(tcase, another_mean_or_normalisation);
    tcase_add_test(tcase, a_convolutional_network);
    tcase_add_loop_test(tcase, as_frameworks_write_it, 0, WITHOUT_MEAN);
    tcase_add_test(tcase, norms_without_mean);
    suite_add_tcase(suite, tcase);
    return suite;
}

void pimsim_suites(SRunner *runner)
{
    srunner_add_suite(runner, recognition());
}
