/* Operators that become layers of their own, or several: shapes, MACs and parameters worked out by hand. */
#include "tests/unit/onnx/model.h"

#define INTS(...) (int64_t[]){__VA_ARGS__}, sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t)
#define FLOATS(...) (float[]){__VA_ARGS__}, sizeof((float[]){__VA_ARGS__}) / sizeof(float)

Suite *operators_suite(void);

START_TEST(transposed_convolutions)
{
    struct model m = {.opset = 13};
    model_input(&m, "x", INTS(1, 8, 10, 10));
    model_input(&m, "s", INTS(1, 8, 10));
    model_weights(&m, "w", INTS(8, 4, 3, 3));
    model_weights(&m, "v", INTS(8, 4, 4));
    model_weights(&m, "c", INTS(4));
    model_weights(&m, "d", INTS(8));
    model_node(&m, "ConvTranspose", "plain", "x w", "p");
    model_integers(&m, "strides", INTS(2, 3));
    model_node(&m, "BatchNormalization", "bn", "p c c c c", "a"); /* its bias */
    model_node(&m, "ConvTranspose", "padded", "x w c", "b");
    model_integers(&m, "strides", INTS(2, 2));
    model_integers(&m, "pads", INTS(1, 1, 1, 1));
    model_integers(&m, "output_padding", INTS(1, 0));
    model_node(&m, "ConvTranspose", "sized", "x w", "c1");
    model_integers(&m, "strides", INTS(3, 2));
    model_integers(&m, "output_shape", INTS(32, 19));
    model_node(&m, "ConvTranspose", "same", "x w d", "e");
    model_integer(&m, "group", 2);
    model_integers(&m, "strides", INTS(2, 2));
    model_text(&m, "auto_pad", "SAME_LOWER");
    model_node(&m, "ConvTranspose", "signal", "s v", "f");
    model_integers(&m, "strides", INTS(4));
    model_output(&m, "a");
    model_output(&m, "b");
    model_output(&m, "c1");
    model_output(&m, "e");
    model_output(&m, "f");
    struct pim_network *network = model_read(&m);
    const struct pim_layer *plain = layer_named(network, "plain"), *sized = layer_named(network, "sized");
    check_shape(plain, "1x4x21x30");
    ck_assert_uint_eq(plain->macs, 100 * 8 * 4 * 9);
    ck_assert_uint_eq(plain->parameters, 8 * 4 * 9 + 4);
    check_shape(layer_named(network, "padded"), "1x4x20x19");
    check_shape(sized, "1x4x32x19"); /* 30 are made, 2 added behind; 21 are made, 2 cut away */
    ck_assert_uint_eq(sized->attributes.convolution.output_padding[0], 2);
    ck_assert_uint_eq(sized->attributes.convolution.sliding.pad_before[1], 1);
    check_shape(layer_named(network, "same"), "1x8x20x20");
    check_shape(layer_named(network, "signal.signal"), "1x4x40");
    pim_network_destroy(network);
}
END_TEST

START_TEST(transposed_convolutions_that_are_refused)
{
    struct model m = {.opset = 13};
    model_input(&m, "x", INTS(1, 8, 10, 10));
    model_weights(&m, "w", INTS(4, 4, 3, 3));
    model_node(&m, "ConvTranspose", "p", "x w", "y");
    model_output(&m, "y");
    model_refused(&m, "for 4 input channels, but the input has 8");
    m = (struct model){.opset = 13};
    model_input(&m, "x", INTS(1, 8, 10, 10));
    model_weights(&m, "v", INTS(8, 4, 3, 3));
    model_node(&m, "ConvTranspose", "q", "x v", "y");
    model_integers(&m, "output_shape", INTS(0, 10));
    model_output(&m, "y");
    model_refused(&m, "an output of 0 positions");
}
END_TEST

START_TEST(volumes)
{
    struct model m = {.opset = 13};
    model_input(&m, "x", INTS(1, 3, 8, 20, 30));
    model_weights(&m, "w", INTS(6, 3, 3, 5, 7));
    model_node(&m, "Pad", "pad", "x", "q");
    model_integers(&m, "pads", INTS(0, 0, 0, 0, 3, 0, 0, 0, 0, 3));
    model_node(&m, "Conv", "conv", "q w", "a");
    model_integers(&m, "strides", INTS(1, 2, 3));
    model_integers(&m, "pads", INTS(1, 0, 0, 1, 0, 0));
    model_node(&m, "MaxPool", "pool", "a", "b");
    model_integers(&m, "kernel_shape", INTS(1, 2, 2));
    model_integers(&m, "strides", INTS(1, 2, 2));
    model_node(&m, "GlobalAveragePool", "mean", "b", "y");
    model_output(&m, "y");
    m.opset = 9; /* Pad has its widths as an attribute */
    struct pim_network *network = model_read(&m);
    const struct pim_layer *conv = layer_named(network, "conv");
    check_shape(conv, "1x6x8x8x10"); /* depth 8, (20 - 5) / 2 + 1, (36 - 7) / 3 + 1 */
    ck_assert_uint_eq(conv->attributes.convolution.sliding.pad_before[1], 3);
    ck_assert_uint_eq(conv->macs, 640 * 6 * 3 * 105);
    check_shape(layer_named(network, "pool"), "1x6x8x4x5");
    check_shape(layer_named(network, "mean"), "1x6x1x1x1");
    pim_network_destroy(network);
}
END_TEST

/* Equations with a = [2, 3, 4], b as given; c are learned weights. */
static const struct {
    const char *equation;
    int64_t b[4];
    size_t rank; /* of b; 0: one operand */
    bool weights;
    const char *shape;
    uint64_t macs, parameters;
} products[] = {
    {"bij,bkj->bik", {2, 5, 4}, 3, false, "2x3x5", 2 * 3 * 5 * 4, 0},
    {"bij,bkj->kib", {2, 5, 4}, 3, false, "5x3x2", 2 * 3 * 5 * 4, 0},
    {"bij,jk->bik", {4, 6}, 2, true, "2x3x6", 6 * 4 * 6, 24},
    {"bij , ijk -> bk", {3, 4, 5}, 3, true, "2x5", 2 * 12 * 5, 60},
    {"bij,ikj->bik",
     {3, 5, 4},
     3,
     true,
     "2x3x5",
     3 * 2 * 5 * 4,
     60}, /* a matrix for each i: no linear layer */
    {"...ij,...jk->...ik", {4, 7}, 2, false, "2x3x7", 6 * 4 * 7, 0},
    {"...ij,...kj->...ik", {1, 7, 4}, 3, false, "2x3x7", 6 * 4 * 7, 0},
    {"bij,bij->b", {2, 3, 4}, 3, false, "2", 24, 0},
    {"bij,k->bijk", {5}, 1, false, "2x3x4x5", 0, 0},
    {"bij,bkl->bk", {2, 5, 6}, 3, false, "2x5", 0, 0},     /* sums first, then numbers times rows */
    {"bij,bjk", {2, 4, 5}, 3, false, "3x5", 3 * 5 * 8, 0}, /* i and k occur once: b and j are contracted */
    {"bij->jib", {0}, 0, false, "4x3x2", 0, 0},
    {"bij->j", {0}, 0, false, "4", 0, 0},
    {"bij->", {0}, 0, false, "scalar", 0, 0},
};

START_TEST(einsum)
{
    struct model m = {.opset = 13};
    model_input(&m, "a", INTS(2, 3, 4));
    if (products[_i].rank && products[_i].weights)
        model_weights(&m, "b", products[_i].b, products[_i].rank);
    else if (products[_i].rank)
        model_input(&m, "b", products[_i].b, products[_i].rank);
    model_node(&m, "Einsum", "e", products[_i].rank ? "a b" : "a", "y");
    model_text(&m, "equation", products[_i].equation);
    model_output(&m, "y");
    struct pim_network *network = model_read(&m);
    const struct pim_layer *last = &network->graph.layers[network->graph.count - 1];
    check_shape(last, products[_i].shape);
    ck_assert_uint_eq(network->graph.macs, products[_i].macs);
    ck_assert_uint_eq(network->graph.parameters, products[_i].parameters);
    pim_network_destroy(network);
}
END_TEST

START_TEST(einsum_of_diagonals_and_several)
{
    struct model m = {.opset = 13};
    model_input(&m, "a", INTS(5, 3, 5));
    model_input(&m, "b", INTS(3, 4));
    model_input(&m, "c", INTS(4, 6));
    model_node(&m, "Einsum", "trace", "a", "d");
    model_text(&m, "equation", "iji->ji");
    model_node(&m, "Einsum", "chain", "a b c", "e");
    model_text(&m, "equation", "xjy,jk,kl->xyl");
    model_output(&m, "d");
    model_output(&m, "e");
    struct pim_network *network = model_read(&m);
    ck_assert_uint_eq(network->graph.macs, 25 * 3 * 4 + 25 * 4 * 6);
    bool diagonal = false;
    for (uint32_t l = 0; l < network->graph.count; l++) {
        const struct pim_layer *layer = &network->graph.layers[l];
        diagonal |= layer->operation == PIM_OPERATOR_SLICE && layer->attributes.slice.step == 6 &&
                    layer->attributes.slice.count == 5;
    }
    ck_assert(diagonal);
    pim_network_destroy(network);
}
END_TEST

START_TEST(einsum_that_is_refused)
{
    static const struct {
        const char *equation, *message;
    } cases[] = {
        {"bij,bjz->biq", "a label that no input has"},
        {"bij,bjj->bi", "stands for 4 and 5"},
        {"bij,bjk->bb", "or one twice"},
        {"bij->b", "fewer operands"},
        {"bi,bjk->b", "2 labels to an input of 3"},
        {"b..j,bjk->b", "cannot be read"},
        {"bij,bjk,k->b", "cannot be read"},
        {"bij,bjk>b", "cannot be read"},
        {"bij,bjk-", "cannot be read"},
    };
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        struct model m = {.opset = 13};
        model_input(&m, "a", INTS(2, 3, 4));
        model_input(&m, "b", INTS(2, 4, 5));
        model_node(&m, "Einsum", "e", "a b", "y");
        model_text(&m, "equation", cases[c].equation);
        model_output(&m, "y");
        model_refused(&m, cases[c].message);
    }
}
END_TEST

START_TEST(recurrent_layers)
{
    struct model m = {.opset = 14};
    model_input(&m, "x", INTS(10, 2, 32)); /* steps, batch, inputs */
    model_weights(&m, "w", INTS(2, 256, 32));
    model_weights(&m, "r", INTS(2, 256, 64));
    model_weights(&m, "b", INTS(2, 512));
    model_weights(&m, "gw", INTS(1, 15, 2));
    model_weights(&m, "gr", INTS(1, 15, 5));
    model_node(&m, "LSTM", "lstm", "x w r b", "y h -");
    model_text(&m, "direction", "bidirectional");
    model_node(&m, "Transpose", "t", "x", "bt");
    model_integers(&m, "perm", INTS(2, 0, 1)); /* 32 samples of 10 steps of 2 */
    model_node(&m, "GRU", "gru", "bt gw gr", "gy gh");
    model_integer(&m, "layout", 1);
    model_output(&m, "y");
    model_output(&m, "h");
    model_output(&m, "gy");
    model_output(&m, "gh");
    struct model wrong = m;
    struct pim_network *network = model_read(&m);
    ck_assert_uint_eq(layer_named(network, "lstm")->macs, 20 * 2 * 4 * 64 * 96);
    ck_assert_uint_eq(layer_named(network, "lstm")->parameters, 2 * 4 * 64 * 96 + 1024);
    check_shape(layer_named(network, "lstm"), "10x2x2x64");
    check_shape(layer_named(network, "lstm.state"), "2x2x64");
    check_shape(layer_named(network, "gru.batch"), "32x10x1x5");
    check_shape(layer_named(network, "gru.batch_2"), "32x1x5");
    ck_assert_uint_eq(layer_named(network, "gru")->macs, 320 * 3 * 5 * 7);
    pim_network_destroy(network);
    model_node(&wrong, "RNN", "rnn", "x w r", "z");
    model_output(&wrong, "z");
    model_refused(&wrong, "W must be");
}
END_TEST

START_TEST(attention)
{
    struct model m = {.opset = 23};
    model_input(&m, "q", INTS(1, 6, 64));
    model_input(&m, "k", INTS(1, 9, 16));
    model_input(&m, "v", INTS(1, 9, 32));
    model_input(&m, "pk", INTS(1, 2, 3, 8));
    model_input(&m, "pv", INTS(1, 2, 3, 16));
    model_mask(&m, "mask", INTS(6, 12));
    model_node(&m, "Attention", "at", "q k v mask pk pv", "y keys values");
    model_integer(&m, "q_num_heads", 8);
    model_integer(&m, "kv_num_heads", 2);
    model_output(&m, "y");
    model_output(&m, "keys");
    struct pim_network *network = model_read(&m);
    const struct pim_layer *scores = layer_named(network, "at.scores"), *context = layer_named(network, "at");
    check_shape(scores, "1x8x6x12");
    ck_assert_uint_eq(scores->macs, 8 * 6 * 12 * 8);
    ck_assert_uint_eq(context->macs, 8 * 6 * 12 * 16);
    check_shape(layer_named(network, "at.channels"), "1x6x128");
    check_shape(layer_named(network, "at.keys"), "1x2x12x8");
    ck_assert_uint_eq(network->graph.parameters, 0); /* a mask is not learned */
    pim_network_destroy(network);
}
END_TEST

START_TEST(operators_of_onnxruntime)
{
    struct model m = {.opset = 14};
    model_input(&m, "ids", INTS(1, 7));
    model_weights(&m, "words", INTS(100, 16));
    model_weights(&m, "places", INTS(7, 16));
    model_weights(&m, "c", INTS(16));
    model_weights(&m, "w", INTS(16, 48));
    model_weights(&m, "b", INTS(48));
    model_weights(&m, "t", INTS(16, 16));
    model_node(&m, "EmbedLayerNormalization", "embed", "ids - words places - c c", "e n");
    model_domain(&m, "com.microsoft");
    model_node(&m, "Attention", "at", "e w b", "a");
    model_integer(&m, "num_heads", 4);
    model_domain(&m, "com.microsoft");
    model_node(&m, "SkipLayerNormalization", "skip", "a e c c", "s");
    model_domain(&m, "com.microsoft");
    model_node(&m, "FusedMatMul", "product", "s t", "f");
    model_integer(&m, "transB", 1);
    model_domain(&m, "com.microsoft");
    model_node(&m, "BiasGelu", "gelu", "f c", "y");
    model_domain(&m, "com.microsoft");
    model_output(&m, "y");
    struct pim_network *network = model_read(&m);
    ck_assert_uint_eq(layer_named(network, "at.weights")->parameters, 16 * 48 + 48);
    check_shape(layer_named(network, "at.scores"), "1x4x7x7");
    ck_assert_uint_eq(layer_named(network, "product")->parameters, 256);
    ck_assert_uint_eq(network->graph.macs, 7 * 16 * 48 + 2 * 7 * 7 * 16 + 7 * 256);
    ck_assert_uint_eq(network->graph.parameters, 1600 + 112 + 32 + 816 + 32 + 256 + 16);
    check_shape(layer_named(network, "gelu"), "1x7x16");
    pim_network_destroy(network);
}
END_TEST

START_TEST(fused_convolution)
{
    struct model m = {.opset = 11};
    model_input(&m, "x", INTS(1, 4, 8, 8));
    model_weights(&m, "w", INTS(4, 4, 1, 1));
    model_weights(&m, "c", INTS(4));
    model_node(&m, "FusedConv", "conv", "x w c x", "a"); /* a sum before the activation */
    model_text(&m, "activation", "Relu");
    model_domain(&m, "com.microsoft");
    model_node(&m, "BatchNormalization", "bn", "a c c c c", "y"); /* behind the activation: not its bias */
    model_output(&m, "y");
    struct pim_network *network = model_read(&m);
    ck_assert_int_eq(layer_named(network, "conv.activation")->attributes.activation, PIM_ACTIVATION_RELU);
    ck_assert_int_eq(layer_named(network, "conv.sum")->operation, PIM_OPERATOR_ELEMENTWISE);
    ck_assert_uint_eq(layer_named(network, "bn")->parameters, 8);
    pim_network_destroy(network);
}
END_TEST

START_TEST(sizes_of_resizing)
{
    struct model m = {.opset = 18};
    model_input(&m, "x", INTS(1, 4, 30, 40));
    model_list(&m, "sizes", INTS(60, 60));
    model_numbers(&m, "scales", FLOATS(1, 1, 1.5F, 0.5F));
    model_node(&m, "Resize", "fit", "x - - sizes", "a");
    model_integers(&m, "axes", INTS(2, 3));
    model_text(&m, "keep_aspect_ratio_policy", "not_larger");
    model_node(&m, "Resize", "cover", "x - - sizes", "b");
    model_integers(&m, "axes", INTS(3, 2));
    model_text(&m, "keep_aspect_ratio_policy", "not_smaller");
    model_node(&m, "Resize", "scaled", "x - scales", "c");
    model_output(&m, "a");
    model_output(&m, "b");
    model_output(&m, "c");
    struct pim_network *network = model_read(&m);
    check_shape(layer_named(network, "fit"), "1x4x45x60");
    check_shape(layer_named(network, "cover"), "1x4x60x80");
    check_shape(layer_named(network, "scaled"), "1x4x45x20");
    pim_network_destroy(network);
    m = (struct model){.opset = 7};
    model_input(&m, "x", INTS(1, 4, 30, 40));
    model_node(&m, "Upsample", "up", "x", "y");
    model_floats(&m, "scales", FLOATS(1, 1, 2, 2));
    model_output(&m, "y");
    network = model_read(&m);
    check_shape(layer_named(network, "up"), "1x4x60x80");
    pim_network_destroy(network);
}
END_TEST

/* SegNet's way down and up: the places of the maxima go along. */
START_TEST(places)
{
    struct model m = {.opset = 18};
    model_input(&m, "x", INTS(1, 4, 8, 8));
    model_input(&m, "grid", INTS(1, 5, 6, 2));
    model_input(&m, "boxes", INTS(9, 4));
    model_list(&m, "which", INTS(0, 0, 0, 0, 0, 0, 0, 0, 0));
    model_list(&m, "k", INTS(3));
    model_scalar(&m, "depth", 10);
    model_list(&m, "offon", INTS(0, 1));
    model_list(&m, "image", INTS(5, 5));
    model_list(&m, "block", INTS(2, 2));
    model_node(&m, "MaxPool", "pool", "x", "p places");
    model_integers(&m, "kernel_shape", INTS(2, 2));
    model_integers(&m, "strides", INTS(2, 2));
    model_node(&m, "MaxUnpool", "unpool", "p places", "a");
    model_integers(&m, "kernel_shape", INTS(2, 2));
    model_integers(&m, "strides", INTS(2, 2));
    model_node(&m, "GridSample", "sample", "x grid", "b");
    model_node(&m, "RoiAlign", "regions", "x boxes which", "c");
    model_integer(&m, "output_height", 7);
    model_integer(&m, "output_width", 3);
    model_node(&m, "TopK", "top", "x k", "- d");
    model_node(&m, "OneHot", "hot", "boxes depth offon", "e");
    model_integer(&m, "axis", 1);
    model_node(&m, "GatherND", "pick", "x boxes", "f");
    model_node(&m, "Flatten", "flat", "boxes", "g"); /* [9, 4] as columns of [1, 9, 4] */
    model_list(&m, "nine", INTS(1, 4, 9));
    model_node(&m, "Reshape", "columns", "g nine", "h");
    model_list(&m, "four", INTS(3, 3));
    model_node(&m, "Col2Im", "image", "h four block", "i");
    for (const char *o = "abcdefi"; *o; o++)
        model_output(&m, (char[]){*o, 0});
    struct pim_network *network = model_read(&m);
    check_shape(layer_named(network, "pool.places"), "1x4x4x4");
    check_shape(layer_named(network, "unpool"), "1x4x8x8");
    ck_assert_int_eq(layer_named(network, "unpool")->operation, PIM_OPERATOR_SCATTER);
    check_shape(layer_named(network, "sample"), "1x4x5x6");
    check_shape(layer_named(network, "regions"), "9x4x7x3");
    check_shape(layer_named(network, "top.places"), "1x4x8x3");
    check_shape(layer_named(network, "hot"), "9x10x4");
    check_shape(layer_named(network, "pick"), "9");
    check_shape(layer_named(network, "image"), "1x1x3x3");
    ck_assert_uint_eq(network->graph.macs, 0);
    pim_network_destroy(network);
}
END_TEST

START_TEST(deformable_and_computed_convolutions)
{
    struct model m = {.opset = 19};
    model_input(&m, "x", INTS(1, 4, 9, 9));
    model_input(&m, "offsets", INTS(1, 18, 4, 4));
    model_input(&m, "code", INTS(6, 36));
    model_weights(&m, "w", INTS(6, 4, 3, 3));
    model_list(&m, "shape", INTS(6, 4, 3, 3));
    model_node(&m, "DeformConv", "deformed", "x w offsets", "a");
    model_integers(&m, "strides", INTS(2, 2));
    model_node(&m, "Tanh", "tanh", "code", "t");
    model_node(&m, "Reshape", "kernel", "t shape", "k");
    model_node(&m, "Conv", "dynamic", "x k", "b");
    model_integers(&m, "strides", INTS(2, 2));
    model_output(&m, "a");
    model_output(&m, "b");
    struct pim_network *network = model_read(&m);
    check_shape(layer_named(network, "deformed"), "1x6x4x4");
    ck_assert_uint_eq(layer_named(network, "deformed")->macs, 16 * 6 * 36);
    ck_assert_uint_eq(network->graph.macs, 2 * 16 * 6 * 36);
    ck_assert_uint_eq(network->graph.parameters, 6 * 36);
    check_shape(layer_named(network, "dynamic.positions"), "1x6x4x4");
    pim_network_destroy(network);
}
END_TEST

START_TEST(sizes_that_the_data_decides)
{
    struct model m = {.opset = 13};
    model_input(&m, "boxes", INTS(1, 50, 4));
    model_input(&m, "scores", INTS(1, 3, 50));
    model_input(&m, "target", INTS(2));
    model_node(&m, "NonMaxSuppression", "best", "boxes scores", "kept");
    model_node(&m, "Cast", "cast", "kept", "y");
    model_node(&m, "Reshape", "shaped", "boxes target", "z");
    model_output(&m, "y");
    model_output(&m, "z");
    struct model open = m, declared = m;
    model_refused(&open, "say it with --dim kept=SIZE");
    m.dimensions[0] = "kept=20";
    m.dimensions[1] = "target=10,-1";
    m.dimension_count = 2;
    struct pim_network *network = model_read(&m);
    check_shape(layer_named(network, "best"), "20x3");
    check_shape(layer_named(network, "shaped"), "10x20");
    pim_network_destroy(network);
    declared.dimensions[0] = "kept=20";
    declared.dimension_count = 1;
    open = declared;
    model_refused(&open, "constant list of whole numbers");
    open.dimensions[1] = "target=10,x";
    open.dimension_count = 2;
    model_refused(&open, "whole numbers with commas between");
    model_declare(&declared, "z", INTS(25, 8)); /* what the file says counts where nothing else does */
    network = model_read(&declared);
    check_shape(layer_named(network, "shaped"), "25x8");
    pim_network_destroy(network);
}
END_TEST

START_TEST(what_is_learned)
{
    struct model m = {.opset = 13};
    model_input(&m, "x", INTS(1, 4, 8, 8));
    model_weights(&m, "w", INTS(6, 4, 3, 3));
    model_mask(&m, "causal", INTS(1, 1, 300, 300)); /* more entries than are kept */
    model_list(&m, "zero", INTS(0));
    model_list(&m, "eight", INTS(8));
    model_list(&m, "two", INTS(2));
    model_list(&m, "three", INTS(3));
    model_number(&m, "low", -10000);
    /* Standardised weights: computed from constants, and counted once. */
    model_node(&m, "ReduceMean", "mean", "w", "m");
    model_integers(&m, "axes", INTS(1, 2, 3));
    model_node(&m, "Sub", "centred", "w m", "c");
    model_node(&m, "ReduceL2", "norm", "c", "n");
    model_integers(&m, "axes", INTS(1, 2, 3));
    model_node(&m, "Div", "standard", "c n", "s");
    model_node(&m, "Conv", "conv", "x s", "a");
    /* A piece of a mask: no parameters. */
    model_node(&m, "Slice", "rows", "causal zero eight two", "r");
    model_node(&m, "Slice", "columns", "r zero eight three", "q");
    model_node(&m, "Where", "masked", "q x low", "b");
    model_output(&m, "a");
    model_output(&m, "b");
    struct pim_network *network = model_read(&m);
    ck_assert_uint_eq(network->graph.parameters, 6 * 36);
    ck_assert_int_eq(layer_named(network, "q")->operation, PIM_OPERATOR_CONSTANT);
    ck_assert_uint_eq(network->graph.count, 4);
    pim_network_destroy(network);
}
END_TEST

START_TEST(padding_that_is_not_zero)
{
    struct model m = {.opset = 13};
    model_input(&m, "x", INTS(1, 4, 8, 8));
    model_weights(&m, "w", INTS(6, 4, 3, 3));
    model_list(&m, "pads", INTS(0, 0, 1, 1, 0, 0, 1, 1));
    model_number(&m, "one", 1);
    model_node(&m, "Pad", "reflect", "x pads", "a");
    model_text(&m, "mode", "reflect");
    model_node(&m, "Conv", "first", "a w", "b");
    model_node(&m, "Pad", "ones", "x pads one", "c");
    model_node(&m, "Conv", "second", "c w", "d");
    model_output(&m, "b");
    model_output(&m, "d");
    struct pim_network *network = model_read(&m);
    ck_assert_int_eq(layer_named(network, "reflect")->operation, PIM_OPERATOR_PAD);
    ck_assert_int_eq(layer_named(network, "ones")->operation, PIM_OPERATOR_PAD);
    check_shape(layer_named(network, "first"), "1x6x8x8");
    pim_network_destroy(network);
}
END_TEST

/* Divided by its norm: no mean is taken off, and nothing is learned. */
START_TEST(division_by_a_norm)
{
    struct model m = {.opset = 13};
    model_input(&m, "x", INTS(1, 4, 8));
    model_node(&m, "LpNormalization", "norm", "x", "y");
    model_output(&m, "y");
    struct pim_network *network = model_read(&m);
    const struct pim_layer *norm = layer_named(network, "norm");
    ck_assert_int_eq(norm->operation, PIM_OPERATOR_NORMALIZATION);
    ck_assert(norm->attributes.normalization.root_mean_square);
    ck_assert_uint_eq(norm->parameters, 0);
    pim_network_destroy(network);
}
END_TEST

/* SAME is of the padded map: 10 x 11 positions here, which a stride of 2 halves, rounded up. */
START_TEST(padding_before_a_convolution_that_pads_by_itself)
{
    static const struct {
        const char *pad;
        uint32_t before, after;
    } kinds[] = {{"SAME_UPPER", 1, 2}, {"SAME_LOWER", 2, 1}};
    for (size_t k = 0; k < 2; k++) {
        struct model m = {.opset = 13};
        model_input(&m, "x", INTS(1, 4, 8, 8));
        model_weights(&m, "w", INTS(6, 4, 3, 3));
        model_list(&m, "pads", INTS(0, 0, 1, 2, 0, 0, 1, 1));
        model_node(&m, "Pad", "pad", "x pads", "a");
        model_node(&m, "Conv", "conv", "a w", "y");
        model_text(&m, "auto_pad", kinds[k].pad);
        model_integers(&m, "strides", INTS(2, 2));
        model_output(&m, "y");
        struct pim_network *network = model_read(&m);
        const struct pim_layer *conv = layer_named(network, "conv");
        const struct pim_sliding *sliding = &conv->attributes.convolution.sliding;
        ck_assert_uint_eq(network->graph.count, 2);
        check_shape(conv, "1x6x5x6");
        ck_assert_uint_eq(conv->macs, 30 * 6 * 36);
        ck_assert_uint_eq(sliding->pad_before[0], kinds[k].before);
        ck_assert_uint_eq(sliding->pad_after[0], kinds[k].after);
        ck_assert_uint_eq(sliding->pad_before[1], 3);
        ck_assert_uint_eq(sliding->pad_after[1], 2);
        pim_network_destroy(network);
    }
}
END_TEST

START_TEST(refused_with_the_reason)
{
    static const struct {
        const char *operation, *domain, *message;
    } cases[] = {
        {"Loop", "", "how often it runs"},
        {"SequenceMap", "", "its body is a network"},
        {"OptionalGetElement", "", "may be absent"},
        {"StringNormalizer", "", "works on text"},
        {"DFT", "", "depend on the algorithm"},
        {"TreeEnsembleRegressor", "ai.onnx.ml", "classical learning"},
        {"Adam", "ai.onnx.preview.training", "a step of training"},
        {"Conv", "somebody.else", "of domain somebody.else"},
    };
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        struct model m = {.opset = 13};
        model_input(&m, "x", INTS(1, 4));
        model_node(&m, cases[c].operation, "n", "x", "y");
        model_domain(&m, cases[c].domain);
        model_output(&m, "y");
        model_refused(&m, cases[c].message);
    }
}
END_TEST

Suite *operators_suite(void)
{
    Suite *suite = suite_create("operators");
    TCase *tests = tcase_create("operators");
    tcase_add_test(tests, transposed_convolutions);
    tcase_add_test(tests, transposed_convolutions_that_are_refused);
    tcase_add_test(tests, volumes);
    tcase_add_loop_test(tests, einsum, 0, (int)(sizeof products / sizeof *products));
    tcase_add_test(tests, einsum_of_diagonals_and_several);
    tcase_add_test(tests, einsum_that_is_refused);
    tcase_add_test(tests, recurrent_layers);
    tcase_add_test(tests, attention);
    tcase_add_test(tests, operators_of_onnxruntime);
    tcase_add_test(tests, fused_convolution);
    tcase_add_test(tests, sizes_of_resizing);
    tcase_add_test(tests, places);
    tcase_add_test(tests, deformable_and_computed_convolutions);
    tcase_add_test(tests, sizes_that_the_data_decides);
    tcase_add_test(tests, what_is_learned);
    tcase_add_test(tests, padding_that_is_not_zero);
    tcase_add_test(tests, padding_before_a_convolution_that_pads_by_itself);
    tcase_add_test(tests, division_by_a_norm);
    tcase_add_test(tests, refused_with_the_reason);
    suite_add_tcase(suite, tests);
    return suite;
}
