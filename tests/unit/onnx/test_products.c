/* Products: with a matrix of weights, of two results, and with weights that several layers share. */
#include "tests/unit/onnx/model.h"

#include <stdio.h>

#define INTS(...) (int64_t[]){__VA_ARGS__}, sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t)

START_TEST(products)
{
    struct model m = {.opset = 13};
    model_input(&m, "x", INTS(2, 5, 8));
    model_weights(&m, "w", INTS(8, 16));
    model_weights(&m, "b", INTS(16));
    model_weights(&m, "v", INTS(8, 5));
    model_list(&m, "flat", INTS(10, 16));
    model_weights(&m, "g", INTS(4, 16));
    model_weights(&m, "h", INTS(4));
    model_node(&m, "MatMul", "linear", "x w", "a0");
    model_node(&m, "Add", "bias", "b a0", "a");
    model_node(&m, "MatMul", "again", "x w", "c"); /* the same weights, no bias: not the same parameters */
    model_node(&m, "MatMul", "left", "v x", "d");  /* W x */
    model_node(&m, "Transpose", "t", "c", "e");
    model_integers(&m, "perm", INTS(0, 2, 1));
    model_node(&m, "MatMul", "two", "a e", "f");
    model_node(&m, "Reshape", "r", "a flat", "i");
    model_node(&m, "Gemm", "gemm", "i g h", "j");
    model_integer(&m, "transB", 1);
    model_output(&m, "d");
    model_output(&m, "f");
    model_output(&m, "j");
    struct pim_network *network = model_read(&m);
    ck_assert_uint_eq(layer_named(network, "linear")->parameters, 8 * 16 + 16);
    ck_assert_uint_eq(layer_named(network, "linear")->macs, 10 * 8 * 16);
    ck_assert_uint_eq(layer_named(network, "left")->macs, 2 * 8 * 5 * 8);
    check_shape(layer_named(network, "left.output"), "2x8x8");
    ck_assert_int_eq(layer_named(network, "two")->operation, PIM_OPERATOR_MATRIX_MULTIPLICATION);
    ck_assert_uint_eq(layer_named(network, "two")->macs, 2 * 5 * 5 * 16);
    ck_assert_uint_eq(layer_named(network, "gemm")->parameters, 4 * 16 + 4);
    check_shape(layer_named(network, "gemm"), "10x4");
    pim_network_destroy(network);
}
END_TEST

START_TEST(shared_weights_count_once)
{
    struct model m = {.opset = 13};
    model_input(&m, "x", INTS(1, 4, 8));
    model_input(&m, "z", INTS(1, 9, 8));
    model_weights(&m, "w", INTS(8, 8));
    model_weights(&m, "b", INTS(8));
    model_node(&m, "MatMul", "first", "x w", "a");
    model_node(&m, "Add", "first_bias", "a b", "c");
    model_node(&m, "MatMul", "second", "z w", "d");
    model_node(&m, "Add", "second_bias", "d b", "e");
    model_output(&m, "c");
    model_output(&m, "e");
    struct pim_network *network = model_read(&m);
    ck_assert(layer_named(network, "second")->attributes.linear.shared);
    ck_assert_uint_eq(network->graph.parameters, 8 * 8 + 8);
    ck_assert_uint_eq(network->graph.macs, (4 + 9) * 64);
    pim_network_destroy(network);
}
END_TEST

/* One matrix of 64 x 64 and its bias in seven products: as it is, through copies, transposed; and with
 * another bias. */
START_TEST(copies_of_a_matrix_share_its_weights)
{
    static const struct {
        const char *name;
        bool shared, transposed;
    } uses[] = {{"first", false, false}, {"again", true, false}, {"copy", true, false},
                {"turned", true, true},  {"back", true, false},  {"twice", true, false},
                {"other", false, false}};
    struct model m = {.opset = 13};
    model_input(&m, "x", INTS(1, 64));
    model_weights(&m, "w", INTS(64, 64));
    model_weights(&m, "b", INTS(64));
    model_weights(&m, "c", INTS(64));
    model_node(&m, "Identity", "i", "w", "wi");
    model_node(&m, "Identity", "j", "b", "bi");
    model_node(&m, "Transpose", "t", "wi", "wt");
    model_node(&m, "Transpose", "u", "wt", "wu");
    model_node(&m, "Gemm", "first", "x w b", "y0");
    model_node(&m, "Gemm", "again", "y0 w b", "y1");
    model_node(&m, "Gemm", "copy", "y1 wi bi", "y2");
    model_node(&m, "Gemm", "turned", "y2 wt b", "y3");
    model_node(&m, "Gemm", "back", "y3 wt b", "y4");
    model_integer(&m, "transB", 1);
    model_node(&m, "Gemm", "twice", "y4 wu b", "y5");
    model_node(&m, "Gemm", "other", "y5 w c", "y");
    model_output(&m, "y");
    struct pim_network *network = model_read(&m);
    for (size_t u = 0; u < sizeof uses / sizeof uses[0]; u++) {
        const struct pim_layer *layer = layer_named(network, uses[u].name);
        ck_assert_int_eq(layer->attributes.linear.shared, uses[u].shared);
        ck_assert_int_eq(layer->attributes.linear.transposed, uses[u].transposed);
        ck_assert_uint_eq(layer->parameters, uses[u].shared ? 0 : 64 * 65);
    }
    pim_network_destroy(network);
}
END_TEST

/* Biases that are nodes of their own: a copy is the same one. A sum of two is none of another layer. */
START_TEST(added_biases)
{
    static const struct {
        const char *name, *matrix, *shifts[2];
        bool shared;
    } uses[] = {{"first", "w", {"b", NULL}, false}, {"copy", "w", {"bi", NULL}, true},
                {"both", "v", {"b", "c"}, false},   {"one", "v", {"c", NULL}, false},
                {"again", "v", {"c", NULL}, true},  {"last", "v", {"b", "c"}, false}};
    struct model m = {.opset = 13};
    char at[32] = "x", inputs[64], next[32];
    model_input(&m, "x", INTS(1, 64));
    model_weights(&m, "w", INTS(64, 64));
    model_weights(&m, "v", INTS(64, 64));
    model_weights(&m, "b", INTS(64));
    model_weights(&m, "c", INTS(64));
    model_node(&m, "Identity", "i", "b", "bi");
    for (size_t u = 0; u < sizeof uses / sizeof uses[0]; u++) {
        (void)snprintf(inputs, sizeof inputs, "%s %s", at, uses[u].matrix);
        (void)snprintf(at, sizeof at, "%zu", u);
        model_node(&m, "MatMul", uses[u].name, inputs, at);
        for (int s = 0; s < 2 && uses[u].shifts[s]; s++) {
            (void)snprintf(inputs, sizeof inputs, "%s %s", at, uses[u].shifts[s]);
            (void)snprintf(next, sizeof next, "%zu.%d", u, s);
            model_node(&m, "Add", next, inputs, next);
            (void)snprintf(at, sizeof at, "%zu.%d", u, s);
        }
    }
    model_output(&m, at);
    struct pim_network *network = model_read(&m);
    for (size_t u = 0; u < sizeof uses / sizeof uses[0]; u++) {
        const struct pim_layer *layer = layer_named(network, uses[u].name);
        ck_assert_msg(layer->attributes.linear.shared == uses[u].shared, "%s", uses[u].name);
        ck_assert_uint_eq(layer->parameters, uses[u].shared ? 0 : 64 * 65);
    }
    pim_network_destroy(network);
}
END_TEST

/* A scale of each column becomes part of the matrix, which is then another one; with the same scale it is the
 * same. A number is no scale. */
START_TEST(scaled_products_share_with_the_same_scale)
{
    static const struct {
        const char *name, *scale;
        bool shared;
    } uses[] = {{"first", "s", false},  {"same", "s", true},  {"other", "t", false},
                {"plain", NULL, false}, {"copy", "si", true}, {"half", "h", false}};
    struct model m = {.opset = 13};
    char at[32] = "x", inputs[64], next[32];
    model_input(&m, "x", INTS(1, 64));
    model_weights(&m, "w", INTS(64, 64));
    model_weights(&m, "s", INTS(64));
    model_weights(&m, "t", INTS(64));
    model_number(&m, "h", 0.5F);
    model_node(&m, "Identity", "i", "s", "si");
    for (size_t u = 0; u < sizeof uses / sizeof uses[0]; u++) {
        (void)snprintf(inputs, sizeof inputs, "%s w", at);
        (void)snprintf(at, sizeof at, "%zu", u);
        model_node(&m, "MatMul", uses[u].name, inputs, at);
        if (!uses[u].scale)
            continue;
        (void)snprintf(inputs, sizeof inputs, "%s %s", at, uses[u].scale);
        (void)snprintf(next, sizeof next, "%zus", u);
        model_node(&m, "Mul", next, inputs, next);
        (void)snprintf(at, sizeof at, "%zus", u);
    }
    model_output(&m, at);
    struct pim_network *network = model_read(&m);
    for (size_t u = 0; u < sizeof uses / sizeof uses[0]; u++)
        ck_assert_msg(layer_named(network, uses[u].name)->attributes.linear.shared == uses[u].shared, "%s",
                      uses[u].name);
    pim_network_destroy(network);
}
END_TEST

START_TEST(a_permutation_names_every_dimension)
{
    struct model m = {.opset = 13};
    model_input(&m, "x", INTS(1, 64));
    model_weights(&m, "w", INTS(64, 64));
    model_node(&m, "Transpose", "t", "w", "wt");
    model_integers(&m, "perm", INTS(0, 0));
    model_node(&m, "MatMul", "first", "x wt", "y");
    model_output(&m, "y");
    model_refused(&m, "perm must name every dimension once");
}
END_TEST

/* Entries of a permutation that count from the end; the matrix is the same, or transposed. */
START_TEST(a_transposition_may_count_from_the_end)
{
    static const int64_t orders[2][2] = {{-2, -1}, {-1, -2}};
    for (int turned = 0; turned < 2; turned++) {
        struct model m = {.opset = 13};
        model_input(&m, "x", INTS(1, 64));
        model_weights(&m, "w", INTS(64, 64));
        model_node(&m, "Transpose", "t", "w", "wt");
        model_integers(&m, "perm", orders[turned], 2);
        model_node(&m, "MatMul", "first", "x w", "y0");
        model_node(&m, "MatMul", "second", "y0 wt", "y");
        model_output(&m, "y");
        struct pim_network *network = model_read(&m);
        const struct pim_layer *second = layer_named(network, "second");
        ck_assert(second->attributes.linear.shared);
        ck_assert_int_eq(second->attributes.linear.transposed, turned);
        pim_network_destroy(network);
    }
}
END_TEST

/* A fused activation stands behind the sum, with a learned matrix and with two results. */
START_TEST(a_gemm_that_adds_more_than_a_bias_keeps_its_activation)
{
    static const char *const inputs[] = {"x w full", "x x full", "x w b"};
    for (size_t k = 0; k < sizeof inputs / sizeof inputs[0]; k++) {
        struct model m = {.opset = 13};
        model_input(&m, "x", INTS(16, 16));
        model_weights(&m, "w", INTS(16, 16));
        model_weights(&m, "full", INTS(16, 16));
        model_weights(&m, "b", INTS(16));
        model_node(&m, "FusedGemm", "gemm", inputs[k], "y");
        model_domain(&m, "com.microsoft");
        model_text(&m, "activation", "Relu");
        model_output(&m, "y");
        struct pim_network *network = model_read(&m);
        const struct pim_layer *last = &network->graph.layers[network->graph.count - 1];
        ck_assert_int_eq(last->operation, PIM_OPERATOR_ACTIVATION);
        ck_assert_int_eq(last->attributes.activation, PIM_ACTIVATION_RELU);
        pim_network_destroy(network);
    }
}
END_TEST

/* What a Gemm adds may be a whole matrix, a column, or a result: no bias, and a sum behind the product. */
START_TEST(a_gemm_that_adds_more_than_a_bias_has_learned_weights)
{
    static const char *const inputs[] = {"x w full", "x w column", "x w x"};
    for (size_t k = 0; k < sizeof inputs / sizeof inputs[0]; k++) {
        struct model m = {.opset = 13};
        model_input(&m, "x", INTS(16, 16));
        model_weights(&m, "w", INTS(16, 16));
        model_weights(&m, "full", INTS(16, 16));
        model_weights(&m, "column", INTS(16, 1));
        model_node(&m, "Gemm", "gemm", inputs[k], "y");
        model_output(&m, "y");
        struct pim_network *network = model_read(&m);
        const struct pim_layer *gemm = layer_named(network, "gemm");
        ck_assert_int_eq(gemm->operation, PIM_OPERATOR_LINEAR);
        ck_assert_uint_eq(gemm->parameters, 16 * 16);
        ck_assert_uint_eq(gemm->macs, 16 * 16 * 16);
        ck_assert_int_eq(layer_named(network, "gemm.add")->operation, PIM_OPERATOR_ELEMENTWISE);
        pim_network_destroy(network);
    }
}
END_TEST

Suite *products_suite(void);

Suite *products_suite(void)
{
    Suite *suite = suite_create("products");
    TCase *tests = tcase_create("products");
    tcase_add_test(tests, products);
    tcase_add_test(tests, shared_weights_count_once);
    tcase_add_test(tests, copies_of_a_matrix_share_its_weights);
    tcase_add_test(tests, added_biases);
    tcase_add_test(tests, scaled_products_share_with_the_same_scale);
    tcase_add_test(tests, a_permutation_names_every_dimension);
    tcase_add_test(tests, a_transposition_may_count_from_the_end);
    tcase_add_test(tests, a_gemm_that_adds_more_than_a_bias_keeps_its_activation);
    tcase_add_test(tests, a_gemm_that_adds_more_than_a_bias_has_learned_weights);
    suite_add_tcase(suite, tests);
    return suite;
}
