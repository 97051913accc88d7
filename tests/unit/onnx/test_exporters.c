/* Forms in which exporters write networks: shapes computed while the network runs, layers taken apart. */
#include "tests/unit/onnx/model.h"

#define INTS(...) (int64_t[]){__VA_ARGS__}, sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t)

Suite *exporters_suite(void);

/* x.view(x.size(0), -1), and an upsampling to the size of another map, with an open batch. */
START_TEST(shapes_of_an_open_batch)
{
    struct model m = {.opset = 17};
    model_input(&m, "x", INTS(-1, 8, 6, 5));
    model_input(&m, "big", INTS(-1, 3, 24, 20));
    model_scalar(&m, "zero", 0);
    model_list(&m, "first", INTS(0));
    model_list(&m, "rest", INTS(-1));
    model_list(&m, "two", INTS(2));
    model_list(&m, "four", INTS(4));
    model_node(&m, "Shape", "shape", "x", "s");
    model_node(&m, "Gather", "batch", "s zero", "n");
    model_node(&m, "Unsqueeze", "list", "n first", "nl");
    model_node(&m, "Concat", "target", "nl rest", "t");
    model_integer(&m, "axis", 0);
    model_node(&m, "Reshape", "view", "x t", "flat");
    model_node(&m, "Shape", "big_shape", "big", "bs");
    model_node(&m, "Slice", "big_map", "bs two four first", "bm");
    model_node(&m, "Slice", "own", "s first two first", "os");
    model_node(&m, "Cast", "cast", "bm", "bm64");
    model_integer(&m, "to", 7);
    model_node(&m, "Concat", "sizes", "os bm64", "sz");
    model_integer(&m, "axis", 0);
    model_node(&m, "Resize", "resize", "x - - sz", "up");
    model_text(&m, "mode", "linear");
    model_node(&m, "Concat", "join", "up big", "y");
    model_integer(&m, "axis", 1);
    model_output(&m, "flat");
    model_output(&m, "y");
    m.dimensions[0] = "N=2";
    m.dimension_count = 1;
    struct pim_network *network = model_read(&m);
    check_shape(layer_named(network, "view"), "2x240");
    check_shape(layer_named(network, "resize"), "2x8x24x20");
    check_shape(layer_named(network, "join"), "2x11x24x20");
    pim_network_destroy(network);
}
END_TEST

/* torch.nn.functional.pad of versions 11 to 17: widths from the last dimension on, turned round by a slice
 * with a negative step. */
START_TEST(padding_turned_round)
{
    struct model m = {.opset = 13};
    model_input(&m, "x", INTS(1, 3, 10, 12));
    model_list(&m, "given", INTS(1, 2, 3, 4)); /* left, right, top, bottom */
    model_list(&m, "missing", INTS(4));
    model_list(&m, "pairs", INTS(-1, 2));
    model_list(&m, "zero", INTS(0));
    model_list(&m, "last", INTS(-1));
    model_list(&m, "far", INTS(-INT64_MAX));
    model_node(&m, "ConstantOfShape", "zeros", "missing", "z");
    model_value(&m, 0);
    model_node(&m, "Concat", "all", "given z", "a");
    model_integer(&m, "axis", 0);
    model_node(&m, "Cast", "whole", "a", "c");
    model_integer(&m, "to", 7);
    model_node(&m, "Reshape", "twos", "c pairs", "p");
    model_node(&m, "Slice", "turned", "p last far zero last", "r");
    model_node(&m, "Transpose", "sides", "r", "t");
    model_integers(&m, "perm", INTS(1, 0));
    model_node(&m, "Reshape", "widths", "t last", "w");
    model_node(&m, "Pad", "pad", "x w", "y");
    model_output(&m, "y");
    struct pim_network *network = model_read(&m);
    check_shape(layer_named(network, "pad"), "1x3x17x15");
    ck_assert_uint_eq(layer_named(network, "pad")->attributes.pad.before[2], 3);
    ck_assert_uint_eq(layer_named(network, "pad")->attributes.pad.after[3], 2);
    pim_network_destroy(network);
}
END_TEST

/* token.expand(batch, -1, -1), and numbers from 0 on as the places of ones. */
START_TEST(expansion_and_counting)
{
    struct model m = {.opset = 14};
    model_input(&m, "x", INTS(-1, 9, 8));
    model_weights(&m, "token", INTS(1, 1, 8));
    model_weights(&m, "table", INTS(20, 8));
    model_scalar(&m, "zero", 0);
    model_scalar(&m, "one", 1);
    model_list(&m, "first", INTS(0));
    model_list(&m, "minus", INTS(-1, -1));
    model_list(&m, "rank", INTS(3));
    model_scalar(&m, "open", -1);
    model_node(&m, "Shape", "shape", "x", "s");
    model_node(&m, "Gather", "batch", "s zero", "n");
    model_node(&m, "Unsqueeze", "list", "n first", "nl");
    model_node(&m, "Concat", "wanted", "nl minus", "w");
    model_integer(&m, "axis", 0);
    model_node(&m, "Equal", "is_open", "w open", "o");
    model_node(&m, "Where", "filled", "o one w", "f"); /* a scalar against a list */
    model_node(&m, "Expand", "expand", "token f", "e");
    model_node(&m, "Concat", "tokens", "e x", "t");
    model_integer(&m, "axis", 1);
    model_node(&m, "Shape", "length", "t", "l");
    model_node(&m, "Gather", "second", "l one", "count");
    model_node(&m, "Unsqueeze", "count_list", "count first", "cl");
    model_node(&m, "ConstantOfShape", "ones", "cl", "z");
    model_value(&m, 1);
    model_node(&m, "NonZero", "places", "z", "p");
    model_node(&m, "Squeeze", "numbers", "p first", "q");
    model_node(&m, "Gather", "positions", "table q", "g");
    model_node(&m, "Add", "sum", "t g", "y");
    model_output(&m, "y");
    m.dimensions[0] = "N=4";
    m.dimension_count = 1;
    struct pim_network *network = model_read(&m);
    check_shape(layer_named(network, "expand"), "4x1x8");
    check_shape(layer_named(network, "positions"), "10x8");
    check_shape(layer_named(network, "sum"), "4x10x8");
    ck_assert_uint_eq(network->graph.parameters, 8 + 160);
    pim_network_destroy(network);
}
END_TEST

/* A block of a transformer as version 18 writes it: axes are inputs, constants are nodes. */
START_TEST(written_out_block)
{
    struct model m = {.opset = 18};
    model_input(&m, "x", INTS(1, 6, 16));
    model_list(&m, "last", INTS(-1));
    model_number(&m, "two", 2);
    model_number(&m, "e", 1e-6F);
    model_number(&m, "scale", 0.5F);
    model_number(&m, "root", 0.70710678F);
    model_number(&m, "one", 1);
    model_number(&m, "half", 0.5F);
    model_weights(&m, "g", INTS(16));
    model_weights(&m, "wqkv", INTS(16, 48));
    model_weights(&m, "bqkv", INTS(48));
    model_weights(&m, "wo", INTS(16, 16));
    model_list(&m, "sizes", INTS(16, 16, 16));
    model_list(&m, "heads", INTS(1, 6, 4, 4));
    model_list(&m, "joined", INTS(1, 6, 16));
    model_node(&m, "Identity", "same", "x", "x1");
    model_node(&m, "ReduceMean", "mean", "x1 last", "n1");
    model_node(&m, "Sub", "sub", "x1 n1", "n2");
    model_node(&m, "Pow", "pow", "n2 two", "n3");
    model_node(&m, "ReduceMean", "variance", "n3 last", "n4");
    model_node(&m, "Add", "epsilon", "n4 e", "n5");
    model_node(&m, "Sqrt", "deviation", "n5", "n6");
    model_node(&m, "Div", "divide", "n2 n6", "n7");
    model_node(&m, "Mul", "gain", "n7 g", "n8");
    model_node(&m, "Add", "shift", "n8 g", "n");
    model_node(&m, "MatMul", "qkv", "n wqkv", "p");
    model_node(&m, "Add", "qkv_bias", "bqkv p", "pb");
    model_node(&m, "Split", "three", "pb sizes", "q k v");
    model_integer(&m, "axis", -1);
    for (const char *t = "qkv"; *t; t++) {
        const char letter[2] = {*t, 0}, input[8] = {*t, ' ', 'h', 'e', 'a', 'd', 's', 0};
        const char apart[3] = {*t, 'r', 0}, moved[3] = {*t, 't', 0};
        model_node(&m, "Reshape", letter, input, apart);
        model_node(&m, "Transpose", moved, apart, moved);
        if (*t == 'k')
            model_integers(&m, "perm", INTS(0, 2, 3, 1));
        else
            model_integers(&m, "perm", INTS(0, 2, 1, 3));
    }
    model_node(&m, "MatMul", "scores", "qt kt", "sc");
    model_node(&m, "Mul", "scaled", "sc scale", "ss");
    model_node(&m, "Softmax", "softmax", "ss", "sm");
    model_integer(&m, "axis", 3);
    model_node(&m, "MatMul", "context", "sm vt", "c");
    model_node(&m, "Transpose", "back", "c", "cb");
    model_integers(&m, "perm", INTS(0, 2, 1, 3));
    model_node(&m, "Reshape", "join", "cb joined", "cj");
    model_node(&m, "MatMul", "out", "cj wo", "o");
    model_node(&m, "Add", "residual", "x o", "r");
    model_node(&m, "Mul", "g1", "r root", "u1");
    model_node(&m, "Erf", "g2", "u1", "u2");
    model_node(&m, "Add", "g3", "u2 one", "u3");
    model_node(&m, "Mul", "g4", "r u3", "u4");
    model_node(&m, "Mul", "g5", "u4 half", "u5");
    model_node(&m, "Clip", "clip", "u5 - one", "y");
    model_output(&m, "y");
    struct pim_network *network = model_read(&m);
    ck_assert_uint_eq(layer_named(network, "mean.layer_normalization")->parameters, 32);
    ck_assert_uint_eq(layer_named(network, "qkv")->parameters, 16 * 48 + 48);
    ck_assert_int_eq(layer_named(network, "g1.gelu")->attributes.activation, PIM_ACTIVATION_GELU);
    ck_assert_uint_eq(network->graph.macs, 6 * 16 * 48 + 2 * 6 * 6 * 16 + 6 * 256);
    ck_assert_uint_eq(network->graph.parameters, 32 + 816 + 256);
    pim_network_destroy(network);
}
END_TEST

/* BERT's mask from whole numbers to a summand, and a pooled token; half precision throughout does no harm. */
START_TEST(masks_of_tokens)
{
    struct model m = {.opset = 12};
    model_input(&m, "mask", INTS(-1, 7));
    model_input(&m, "scores", INTS(-1, 4, 7, 7));
    model_number(&m, "one", 1);
    model_number(&m, "low", -10000);
    model_scalar(&m, "zero", 0);
    model_node(&m, "Unsqueeze", "wide", "mask", "m2");
    model_integers(&m, "axes", INTS(1, 2));
    model_node(&m, "Cast", "float", "m2", "m3");
    model_integer(&m, "to", 10);
    model_node(&m, "Sub", "turned", "one m3", "m4");
    model_node(&m, "Mul", "large", "m4 low", "m5");
    model_node(&m, "Add", "masked", "scores m5", "s");
    model_node(&m, "Softmax", "softmax", "s", "p");
    model_integer(&m, "axis", -1);
    model_node(&m, "Gather", "token", "p zero", "y");
    model_integer(&m, "axis", 2);
    model_output(&m, "y");
    struct pim_network *network = model_read(&m);
    check_shape(layer_named(network, "masked"), "1x4x7x7");
    check_shape(layer_named(network, "token.drop"), "1x4x7");
    ck_assert_uint_eq(network->graph.parameters, 0);
    pim_network_destroy(network);
}
END_TEST

/* Windows of a shifted map, as exporters of Swin write torch.roll and the partition. */
START_TEST(rolled_windows)
{
    struct model m = {.opset = 13};
    model_input(&m, "x", INTS(1, 8, 8, 6));
    model_list(&m, "begin", INTS(2));
    model_list(&m, "zero", INTS(0));
    model_list(&m, "end", INTS(INT64_MAX));
    model_list(&m, "one", INTS(1));
    model_list(&m, "apart", INTS(1, 2, 4, 2, 4, 6));
    model_list(&m, "windows", INTS(-1, 16, 6));
    model_node(&m, "Slice", "tail", "x begin end one", "a");
    model_node(&m, "Slice", "head", "x zero begin one", "b");
    model_node(&m, "Concat", "roll", "a b", "c");
    model_integer(&m, "axis", 1);
    model_node(&m, "Reshape", "six", "c apart", "d");
    model_node(&m, "Transpose", "order", "d", "e");
    model_integers(&m, "perm", INTS(0, 1, 3, 2, 4, 5));
    model_node(&m, "Reshape", "partition", "e windows", "y");
    model_output(&m, "y");
    struct pim_network *network = model_read(&m);
    check_shape(layer_named(network, "partition"), "4x16x6");
    pim_network_destroy(network);
}
END_TEST

/* CNTK and Caffe2: version 3 to 6, a bias added from a given axis on. */
START_TEST(old_operator_sets)
{
    struct model m = {.opset = 3};
    model_input(&m, "x", INTS(1, 4, 8, 8));
    model_weights(&m, "w", INTS(6, 4, 3, 3));
    model_weights(&m, "b", INTS(6));
    model_weights(&m, "f", INTS(10, 96));
    model_weights(&m, "fb", INTS(10));
    model_node(&m, "Conv", "conv", "x w", "a");
    model_text(&m, "auto_pad", "SAME_UPPER");
    model_node(&m, "Relu", "between", "a", "a2");
    model_node(&m, "Add", "bias", "a2 b", "c");
    model_integer(&m, "broadcast", 1);
    model_integer(&m, "axis", 1);
    model_node(&m, "MaxPool", "pool", "c", "p");
    model_integers(&m, "kernel_shape", INTS(2, 2));
    model_integers(&m, "strides", INTS(2, 2));
    model_node(&m, "Reshape", "flat", "p", "r");
    model_integers(&m, "shape", INTS(0, -1));
    model_node(&m, "Gemm", "gemm", "r f fb", "g");
    model_integer(&m, "broadcast", 1);
    model_integer(&m, "transB", 1);
    model_node(&m, "Softmax", "softmax", "g", "y");
    model_output(&m, "y");
    struct pim_network *network = model_read(&m);
    check_shape(layer_named(network, "bias"), "1x6x8x8");
    check_shape(layer_named(network, "softmax"), "1x10");
    ck_assert_uint_eq(layer_named(network, "gemm")->parameters, 970);
    pim_network_destroy(network);
}
END_TEST

/* Functions of the model, one of which calls another: each call becomes the nodes of its body. */
START_TEST(functions)
{
    struct model m = {.opset = 18};
    model_function(&m, "Linear", "x weight", "y");
    model_node(&m, "Transpose", "t", "weight", "wt");
    model_integers(&m, "perm", INTS(1, 0));
    model_node(&m, "MatMul", "product", "x wt", "y");
    model_end_function(&m);
    model_function(&m, "Block", "x weight mask", "y second");
    model_node(&m, "Linear", "", "x weight", "inner");
    model_domain(&m, "local");
    model_node(&m, "Softmax", "softmax", "inner", "second");
    model_reference(&m, "axis", "dim");
    model_node(&m, "Relu", "relu", "inner", "y");
    model_end_function(&m);
    model_input(&m, "x", INTS(1, 5, 8));
    model_weights(&m, "w1", INTS(16, 8));
    model_weights(&m, "w2", INTS(4, 16));
    model_node(&m, "Block", "first", "x w1", "a");
    model_domain(&m, "local");
    model_node(&m, "Block", "second", "a w2", "- b");
    model_integer(&m, "dim", 1);
    model_domain(&m, "local");
    model_output(&m, "b");
    struct model endless = m;
    struct pim_network *network = model_read(&m);
    ck_assert_uint_eq(network->graph.macs, 5 * 8 * 16 + 5 * 16 * 4);
    ck_assert_uint_eq(network->graph.parameters, 128 + 64);
    check_shape(&network->graph.layers[network->graph.count - 1], "1x5x4");
    ck_assert_int_eq(layer_named(network, "first#1/relu")->operation, PIM_OPERATOR_ACTIVATION);
    pim_network_destroy(network);
    model_function(&endless, "Round", "x", "y");
    model_node(&endless, "Round", "again", "x", "y");
    model_domain(&endless, "local");
    model_end_function(&endless);
    model_node(&endless, "Round", "start", "b", "z");
    model_domain(&endless, "local");
    model_output(&endless, "z");
    model_refused(&endless, "more than 16 deep");
}
END_TEST

/* x.squeeze(1) where the size was open: the branch that runs is known when the size is. */
START_TEST(branches)
{
    struct model yes = {.opset = 13}, no = {.opset = 13}, inner = {.opset = 13}, m = {.opset = 13};
    model_list(&yes, "axis", INTS(1));
    model_node(&yes, "Squeeze", "squeeze", "x axis", "r");
    model_output(&yes, "r");
    model_weights(&inner, "w", INTS(8, 4)); /* of the innermost branch; x and k from further outside */
    model_node(&inner, "MatMul", "product", "k w", "r");
    model_output(&inner, "r");
    model_node(&no, "Relu", "relu", "x", "k");
    model_node(&no, "If", "again", "is_one", "r");
    model_branch(&no, "then_branch", &yes);
    model_branch(&no, "else_branch", &inner);
    model_output(&no, "r");
    model_input(&m, "x", INTS(-1, -2, 8));
    model_scalar(&m, "one", 1);
    model_node(&m, "Shape", "shape", "x", "s");
    model_node(&m, "Gather", "size", "s one", "n");
    model_node(&m, "Equal", "equal", "n one", "is_one");
    model_node(&m, "If", "if", "is_one", "y");
    model_branch(&m, "then_branch", &yes);
    model_branch(&m, "else_branch", &no);
    model_node(&m, "Tanh", "tanh", "y", "z");
    model_output(&m, "z");
    struct model other = m, open = m;
    m.dimensions[0] = "M=1";
    m.dimension_count = 1;
    struct pim_network *network = model_read(&m);
    check_shape(layer_named(network, "tanh"), "1x8");
    ck_assert_uint_eq(network->graph.count, 3);
    pim_network_destroy(network);
    other.dimensions[0] = "M=5";
    other.dimension_count = 1;
    network = model_read(&other);
    check_shape(layer_named(network, "tanh"), "1x5x4");
    ck_assert_uint_eq(network->graph.parameters, 32);
    ck_assert_uint_eq(network->graph.macs, 5 * 32);
    pim_network_destroy(network);
    open.dimensions[0] = "M=5";
    open.dimension_count = 1;
    model_input(&open, "flag", INTS(1));
    model_node(&open, "If", "late", "flag", "u");
    model_branch(&open, "then_branch", &yes);
    model_branch(&open, "else_branch", &no);
    model_output(&open, "u");
    model_refused(&open, "which of its branches runs depends on the data");
    open = (struct model){.opset = 13};
    model_input(&open, "x", INTS(1));
    model_node(&open, "If", "bare", "x", "u");
    model_output(&open, "u");
    model_refused(&open, "its then_branch is missing");
}
END_TEST

/* torch.stack of some of what torch.split made: lists are the tensors in them. */
START_TEST(lists)
{
    struct model m = {.opset = 13};
    model_input(&m, "x", INTS(2, 10, 6));
    model_list(&m, "sizes", INTS(3, 4, 3));
    model_scalar(&m, "four", 4);
    model_scalar(&m, "last", -1);
    model_scalar(&m, "one", 1);
    model_node(&m, "SplitToSequence", "split", "x sizes", "s");
    model_integer(&m, "axis", 1);
    model_node(&m, "SequenceErase", "without", "s one", "t");
    model_node(&m, "ConcatFromSequence", "stack", "t", "a");
    model_integer(&m, "axis", 1);
    model_integer(&m, "new_axis", 1);
    model_node(&m, "SplitToSequence", "fours", "x four", "u");
    model_integer(&m, "axis", 2);
    model_node(&m, "SequenceAt", "tail", "u last", "v");
    model_node(&m, "Relu", "relu", "v", "b");
    model_node(&m, "SequenceLength", "length", "u", "n");
    model_node(&m, "Gather", "pick", "x n", "c"); /* two pieces: place 2 */
    model_integer(&m, "axis", 1);
    model_output(&m, "a");
    model_output(&m, "b");
    model_output(&m, "c");
    struct model wrong = m, other = m;
    struct pim_network *network = model_read(&m);
    check_shape(layer_named(network, "stack"), "2x2x3x6");
    check_shape(layer_named(network, "relu"), "2x10x2");
    ck_assert_uint_eq(layer_named(network, "pick")->attributes.slice.begin, 2);
    /* Nobody takes the middle piece or the first four: they are no layers. */
    ck_assert_uint_eq(pim_graph_find(&network->graph, "split.piece_2"), PIM_NONE);
    ck_assert_uint_eq(pim_graph_find(&network->graph, "fours.piece"), PIM_NONE);
    pim_network_destroy(network);
    model_node(&wrong, "SequenceAt", "far", "u four", "z");
    model_output(&wrong, "z");
    model_refused(&wrong, "place 4 does not exist: the list has 2");
    model_node(&other, "Relu", "all", "u", "z");
    model_output(&other, "z");
    model_refused(&other, "is a list of tensors");
}
END_TEST

Suite *exporters_suite(void)
{
    Suite *suite = suite_create("exporters");
    TCase *tests = tcase_create("exporters");
    tcase_add_test(tests, shapes_of_an_open_batch);
    tcase_add_test(tests, padding_turned_round);
    tcase_add_test(tests, expansion_and_counting);
    tcase_add_test(tests, written_out_block);
    tcase_add_test(tests, masks_of_tokens);
    tcase_add_test(tests, rolled_windows);
    tcase_add_test(tests, old_operator_sets);
    tcase_add_test(tests, functions);
    tcase_add_test(tests, branches);
    tcase_add_test(tests, lists);
    suite_add_tcase(suite, tests);
    return suite;
}
