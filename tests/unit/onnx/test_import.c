/* What becomes of the operators, of constants, and of layers that exporters write out in several nodes. */
#include "tests/unit/onnx/model.h"

#define INTS(...) (int64_t[]){__VA_ARGS__}, sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t)

START_TEST(convolution_takes_padding_and_scale)
{
    struct model m = {.opset = 9};
    model_input(&m, "x", INTS(1, 3, 30, 30));
    model_weights(&m, "w", INTS(8, 3, 3, 3));
    model_weights(&m, "c", INTS(8));
    model_weights(&m, "s", INTS(8, 1, 1));
    model_node(&m, "Pad", "pad", "x", "padded");
    model_integers(&m, "pads", INTS(0, 0, 1, 1, 0, 0, 1, 1));
    model_node(&m, "Conv", "conv", "padded w", "a");
    model_integers(&m, "strides", INTS(2, 2));
    model_node(&m, "BatchNormalization", "bn", "a c c c c", "b");
    model_node(&m, "Mul", "scale", "b s", "d");
    model_node(&m, "Add", "shift", "d s", "e");
    model_node(&m, "Relu", "relu", "e", "y");
    model_output(&m, "y");
    struct pim_network *network = model_read(&m);
    const struct pim_layer *conv = layer_named(network, "conv");
    ck_assert_uint_eq(network->graph.count, 3); /* input, convolution, activation */
    check_shape(conv, "1x8x15x15");
    ck_assert_uint_eq(conv->attributes.convolution.sliding.pad_before[0], 1);
    ck_assert_uint_eq(conv->macs, 8 * 15 * 15 * 27);
    ck_assert_uint_eq(conv->parameters, 8 * 27 + 8);
    pim_network_destroy(network);
}
END_TEST

START_TEST(a_value_read_twice_is_not_absorbed)
{
    struct model m = {.opset = 13};
    model_input(&m, "x", INTS(1, 4, 8, 8));
    model_weights(&m, "w", INTS(4, 1, 3, 3));
    model_weights(&m, "c", INTS(4));
    model_node(&m, "Conv", "depthwise", "x w", "a");
    model_integer(&m, "group", 4);
    model_text(&m, "auto_pad", "SAME_UPPER");
    model_node(&m, "BatchNormalization", "bn", "a c c c c", "b");
    model_node(&m, "Add", "sum", "a b", "y");
    model_output(&m, "y");
    struct pim_network *network = model_read(&m);
    check_shape(layer_named(network, "depthwise"), "1x4x8x8");
    ck_assert_uint_eq(layer_named(network, "depthwise")->macs, 4 * 64 * 9);
    ck_assert_uint_eq(layer_named(network, "bn")->parameters, 8);
    ck_assert_uint_eq(layer_named(network, "sum")->inputs, 2);
    pim_network_destroy(network);
}
END_TEST

START_TEST(shape_arithmetic_is_folded)
{
    struct model m = {.opset = 13};
    model_input(&m, "x", INTS(2, 6, 4, 5));
    model_scalar(&m, "zero", 0);
    model_list(&m, "first", INTS(0));
    model_list(&m, "rest", INTS(-1));
    model_node(&m, "Shape", "shape", "x", "s");
    model_node(&m, "Gather", "batch", "s zero", "n");
    model_node(&m, "Unsqueeze", "list", "n first", "nl");
    model_node(&m, "Concat", "target", "nl rest", "t");
    model_integer(&m, "axis", 0);
    model_node(&m, "Reshape", "reshape", "x t", "y");
    model_output(&m, "y");
    struct pim_network *network = model_read(&m);
    ck_assert_uint_eq(network->graph.count, 2);
    check_shape(layer_named(network, "reshape"), "2x120");
    pim_network_destroy(network);
}
END_TEST

START_TEST(slices_splits_and_picks)
{
    struct model m = {.opset = 13};
    model_input(&m, "x", INTS(1, 10, 6));
    model_list(&m, "one", INTS(1));
    model_list(&m, "end", INTS(INT64_MAX));
    model_list(&m, "two", INTS(2));
    model_list(&m, "last", INTS(-1));
    model_list(&m, "far", INTS(INT64_MIN + 1));
    model_list(&m, "minus", INTS(-3));
    model_list(&m, "sizes", INTS(4, 2));
    model_scalar(&m, "third", -8);
    model_node(&m, "Slice", "every_second", "x one end one two", "a"); /* 1 3 5 7 9 */
    model_node(&m, "Slice", "backwards", "x last far one minus", "b"); /* 9 6 3 0 */
    model_node(&m, "Split", "split", "x sizes", "c d");
    model_integer(&m, "axis", -1);
    model_node(&m, "Gather", "pick", "x third", "e"); /* position 2 */
    model_integer(&m, "axis", 1);
    for (const char *o = "abcde"; *o; o++)
        model_output(&m, (char[]){*o, 0});
    struct pim_network *network = model_read(&m);
    const struct pim_layer *second = layer_named(network, "every_second"),
                           *back = layer_named(network, "backwards");
    check_shape(second, "1x5x6");
    ck_assert_uint_eq(second->attributes.slice.begin, 1);
    ck_assert_uint_eq(second->attributes.slice.step, 2);
    check_shape(back, "1x4x6");
    ck_assert_uint_eq(back->attributes.slice.begin, 0);
    ck_assert_uint_eq(back->attributes.slice.step, 3);
    ck_assert(back->attributes.slice.reversed);
    check_shape(layer_named(network, "split.part000"), "1x10x4");
    check_shape(layer_named(network, "split.part001"), "1x10x2");
    ck_assert_uint_eq(layer_named(network, "split.part001")->attributes.slice.begin, 4);
    ck_assert_uint_eq(layer_named(network, "pick")->attributes.slice.begin, 2);
    check_shape(layer_named(network, "pick.drop"), "1x6");
    pim_network_destroy(network);
}
END_TEST

START_TEST(written_out_layers_are_recognised)
{
    struct model m = {.opset = 13};
    model_input(&m, "x", INTS(1, 4, 8));
    model_number(&m, "root", 1.41421356f);
    model_number(&m, "one", 1);
    model_number(&m, "half", 0.5f);
    model_number(&m, "two", 2);
    model_number(&m, "e", 1e-5f);
    model_weights(&m, "s", INTS(8));
    model_node(&m, "ReduceMean", "mean", "x", "n1");
    model_integers(&m, "axes", INTS(-1));
    model_node(&m, "Sub", "sub", "x n1", "n2");
    model_node(&m, "Pow", "pow", "n2 two", "n3");
    model_node(&m, "ReduceMean", "variance", "n3", "n4");
    model_integers(&m, "axes", INTS(-1));
    model_node(&m, "Add", "epsilon", "n4 e", "n5");
    model_node(&m, "Sqrt", "deviation", "n5", "n6");
    model_node(&m, "Div", "divide", "n2 n6", "n7");
    model_node(&m, "Mul", "scale", "n7 s", "n8");
    model_node(&m, "Add", "shift", "n8 s", "n");
    model_node(&m, "Div", "g", "n root", "g1");
    model_node(&m, "Erf", "erf", "g1", "g2");
    model_node(&m, "Add", "plus", "g2 one", "g3");
    model_node(&m, "Mul", "times", "n g3", "g4");
    model_node(&m, "Mul", "halve", "g4 half", "g5");
    model_node(&m, "Sigmoid", "s1", "g5", "h1");
    model_node(&m, "Mul", "s2", "g5 h1", "y");
    model_output(&m, "y");
    struct pim_network *network = model_read(&m);
    ck_assert_uint_eq(network->graph.count, 4);
    ck_assert_uint_eq(layer_named(network, "mean.layer_normalization")->parameters, 16);
    ck_assert_int_eq(layer_named(network, "g.gelu")->attributes.activation, PIM_ACTIVATION_GELU);
    ck_assert_int_eq(layer_named(network, "s1.silu")->attributes.activation, PIM_ACTIVATION_SILU);
    pim_network_destroy(network);
}
END_TEST

/* Layer normalisation written out with a scale, without a shift, as of models without biases. */
START_TEST(a_written_out_normalisation_without_a_shift_has_its_scale)
{
    struct model m = {.opset = 13};
    model_input(&m, "x", INTS(1, 4, 8));
    model_number(&m, "two", 2);
    model_number(&m, "e", 1e-5f);
    model_weights(&m, "s", INTS(8));
    model_node(&m, "ReduceMean", "mean", "x", "n1");
    model_integers(&m, "axes", INTS(-1));
    model_node(&m, "Sub", "sub", "x n1", "n2");
    model_node(&m, "Pow", "pow", "n2 two", "n3");
    model_node(&m, "ReduceMean", "variance", "n3", "n4");
    model_integers(&m, "axes", INTS(-1));
    model_node(&m, "Add", "epsilon", "n4 e", "n5");
    model_node(&m, "Sqrt", "deviation", "n5", "n6");
    model_node(&m, "Div", "divide", "n2 n6", "n7");
    model_node(&m, "Mul", "double", "n7 two", "n8");
    model_node(&m, "Mul", "scale", "n8 s", "y");
    model_output(&m, "y");
    struct pim_network *network = model_read(&m);
    ck_assert_uint_eq(network->graph.count, 2);
    ck_assert_uint_eq(layer_named(network, "mean.layer_normalization")->parameters, 8);
    pim_network_destroy(network);
}
END_TEST

START_TEST(poolings)
{
    struct model m = {.opset = 13};
    model_input(&m, "x", INTS(1, 2, 7, 7));
    model_input(&m, "signal", INTS(1, 2, 9));
    model_node(&m, "MaxPool", "floor", "x", "a");
    model_integers(&m, "kernel_shape", INTS(2, 2));
    model_integers(&m, "strides", INTS(2, 2));
    model_node(&m, "AveragePool", "ceiling", "x", "b");
    model_integers(&m, "kernel_shape", INTS(2, 2));
    model_integers(&m, "strides", INTS(2, 2));
    model_integer(&m, "ceil_mode", 1);
    model_node(&m, "GlobalAveragePool", "global", "x", "c");
    model_node(&m, "MaxPool", "along", "signal", "d");
    model_integers(&m, "kernel_shape", INTS(3));
    model_integers(&m, "strides", INTS(3));
    for (const char *o = "abcd"; *o; o++)
        model_output(&m, (char[]){*o, 0});
    struct pim_network *network = model_read(&m);
    check_shape(layer_named(network, "floor"), "1x2x3x3");
    check_shape(layer_named(network, "ceiling"), "1x2x4x4");
    check_shape(layer_named(network, "global"), "1x2x1x1");
    check_shape(layer_named(network, "along.signal"), "1x2x3");
    pim_network_destroy(network);
}
END_TEST

START_TEST(dead_nodes_unsorted_nodes_and_unnamed_nodes)
{
    struct model m = {.opset = 13};
    model_input(&m, "x", INTS(1, 4));
    model_node(&m, "Tanh", "", "a", "y"); /* before the node it reads */
    model_node(&m, "FromTheFuture", "f", "x", "dead");
    model_node(&m, "Relu", "", "x", "r");
    model_node(&m, "Relu", "", "r", "a");
    model_output(&m, "y");
    struct pim_network *network = model_read(&m);
    ck_assert_uint_eq(network->graph.count, 4);
    ck_assert_uint_eq(layer_named(network, "Tanh")->input[0], pim_graph_find(&network->graph, "Relu_2"));
    pim_network_destroy(network);
}
END_TEST

START_TEST(symbolic_dimensions)
{
    struct model m = {.opset = 13};
    model_input(&m, "x", INTS(-1, -2, 8)); /* N, M, 8 */
    model_node(&m, "Relu", "relu", "x", "y");
    model_output(&m, "y");
    struct model same = m;
    m.dimensions[0] = "M=5";
    m.dimension_count = 1;
    struct pim_network *network = model_read(&m);
    check_shape(layer_named(network, "relu"), "1x5x8"); /* the batch is 1 */
    pim_network_destroy(network);
    model_refused(&same, "--dim M=SIZE");
    same.dimensions[0] = "M=5";
    same.dimensions[1] = "K=5";
    same.dimension_count = 2;
    model_refused(&same, "no input has a dimension of that name");
    same.dimensions[1] = "N=0";
    model_refused(&same, "a size from 1");
}
END_TEST

START_TEST(unknown_operators)
{
    struct model m = {.opset = 13};
    model_input(&m, "x", INTS(1, 4));
    model_node(&m, "FromTheFuture", "strange", "x", "y");
    model_output(&m, "y");
    struct model same = m;
    model_refused(&m, "node strange (FromTheFuture)");
    same.allow_unknown = true;
    struct pim_network *network = model_read(&same);
    ck_assert_int_eq(layer_named(network, "strange")->attributes.elementwise, PIM_ELEMENTWISE_OTHER);
    check_shape(layer_named(network, "strange"), "1x4");
    pim_network_destroy(network);
}
END_TEST

static void check_padding(const struct pim_sliding *s, uint32_t top, uint32_t left, uint32_t bottom,
                          uint32_t right)
{
    ck_assert_uint_eq(s->pad_before[0], top);
    ck_assert_uint_eq(s->pad_before[1], left);
    ck_assert_uint_eq(s->pad_after[0], bottom);
    ck_assert_uint_eq(s->pad_after[1], right);
}

/* ONNX lists the beginnings of all dimensions, then their ends; the odd one of SAME_UPPER lies at the end. */
START_TEST(padding_stands_on_its_side)
{
    struct model m = {.opset = 13};
    model_input(&m, "x", INTS(1, 2, 8, 8));
    model_weights(&m, "w", INTS(2, 2, 4, 4));
    model_node(&m, "Conv", "listed", "x w", "a");
    model_integers(&m, "pads", INTS(0, 1, 2, 3));
    model_node(&m, "MaxPool", "pooled", "x", "b");
    model_integers(&m, "kernel_shape", INTS(4, 4));
    model_integers(&m, "pads", INTS(3, 2, 1, 0));
    model_node(&m, "Conv", "upper", "x w", "c");
    model_text(&m, "auto_pad", "SAME_UPPER");
    model_node(&m, "Conv", "lower", "x w", "d");
    model_text(&m, "auto_pad", "SAME_LOWER");
    model_output(&m, "a");
    model_output(&m, "b");
    model_output(&m, "c");
    model_output(&m, "d");
    struct pim_network *network = model_read(&m);
    check_padding(&layer_named(network, "listed")->attributes.convolution.sliding, 0, 1, 2, 3);
    check_padding(&layer_named(network, "pooled")->attributes.pooling.sliding, 3, 2, 1, 0);
    check_padding(&layer_named(network, "upper")->attributes.convolution.sliding, 1, 1, 2, 2);
    check_padding(&layer_named(network, "lower")->attributes.convolution.sliding, 2, 2, 1, 1);
    pim_network_destroy(network);
}
END_TEST

/* All of them in one go, whatever stands first; what is folded or converted is not among them. */
START_TEST(all_unknown_operators_are_listed)
{
    struct model m = {.opset = 13};
    model_input(&m, "x", INTS(1, 4));
    model_node(&m, "FromTheFuture", "a", "x", "y");
    model_node(&m, "Shape", "s", "x", "shape");
    model_node(&m, "Reshape", "r", "y shape", "z");
    model_node(&m, "FromThePast", "b", "z", "u");
    model_node(&m, "FromTheFuture", "c", "u", "v");
    model_node(&m, "Relu", "d", "v", "w");
    model_output(&m, "w");
    model_refused(&m, "not known in this file, with their nodes: FromTheFuture (2), FromThePast (1)");
}
END_TEST

/* Also those in the branches of an If. */
START_TEST(unknown_operators_of_branches_are_listed)
{
    struct model yes = {.opset = 13}, no = {.opset = 13}, m = {.opset = 13};
    model_node(&yes, "FromTheFuture", "a", "x", "p");
    model_output(&yes, "p");
    model_node(&no, "Relu", "b", "x", "q");
    model_output(&no, "q");
    model_input(&m, "x", INTS(1, 4));
    model_scalar(&m, "one", 1);
    model_node(&m, "If", "if", "one", "y");
    model_branch(&m, "then_branch", &yes);
    model_branch(&m, "else_branch", &no);
    model_node(&m, "FromThePast", "c", "y", "z");
    model_output(&m, "z");
    model_refused(&m, "not known in this file, with their nodes: FromThePast (1), FromTheFuture (1)");
}
END_TEST

/* A list without contents, as one whose data stand in another file. */
START_TEST(a_list_in_another_file_is_told)
{
    struct model m = {.opset = 13};
    model_input(&m, "x", INTS(1, 4));
    model_mask(&m, "shape", INTS(2));
    model_node(&m, "Reshape", "r", "x shape", "y");
    model_output(&m, "y");
    model_refused(&m, "of tensors in other files (external data) shapes alone are read");
}
END_TEST

static Suite *import(void)
{
    Suite *suite = suite_create("import");
    TCase *tests = tcase_create("import");
    tcase_add_test(tests, convolution_takes_padding_and_scale);
    tcase_add_test(tests, a_value_read_twice_is_not_absorbed);
    tcase_add_test(tests, shape_arithmetic_is_folded);
    tcase_add_test(tests, slices_splits_and_picks);
    tcase_add_test(tests, written_out_layers_are_recognised);
    tcase_add_test(tests, a_written_out_normalisation_without_a_shift_has_its_scale);
    tcase_add_test(tests, poolings);
    tcase_add_test(tests, dead_nodes_unsorted_nodes_and_unnamed_nodes);
    tcase_add_test(tests, symbolic_dimensions);
    tcase_add_test(tests, padding_stands_on_its_side);
    tcase_add_test(tests, unknown_operators);
    tcase_add_test(tests, all_unknown_operators_are_listed);
    tcase_add_test(tests, unknown_operators_of_branches_are_listed);
    tcase_add_test(tests, a_list_in_another_file_is_told);
    suite_add_tcase(suite, tests);
    return suite;
}

Suite *operators_suite(void);
Suite *exporters_suite(void);
Suite *refusals_suite(void);
Suite *round_trip_suite(void);
Suite *products_suite(void);

void pimsim_suites(SRunner *runner)
{
    srunner_add_suite(runner, import());
    srunner_add_suite(runner, operators_suite());
    srunner_add_suite(runner, exporters_suite());
    srunner_add_suite(runner, refusals_suite());
    srunner_add_suite(runner, round_trip_suite());
    srunner_add_suite(runner, products_suite());
}
