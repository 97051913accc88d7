/* Lowering: what becomes of each operator, and what is refused. */
#include "tests/unit/pimcomp/cases.h"
#include "traces/instruction.h"

#include <string.h>

START_TEST(convolution_takes_activation)
{
    struct core_case c;
    core_case_begin(&c);
    uint32_t x = core_case_image(&c, 3, 9, 9);
    x = core_case_convolution(&c, "conv", x, 8, 3, 2, 1);
    x = core_case_activation(&c, "relu", x, PIM_ACTIVATION_RELU);
    x = core_case_activation(&c, "tanh", x, PIM_ACTIVATION_TANH);
    (void)core_case_activation(&c, "clip", x, PIM_ACTIVATION_CLIP);
    core_case_lower(&c);
    ck_assert_uint_eq(c.network.count, 3);
    const struct pim_core_layer *conv = &c.network.layer[1];
    ck_assert_int_eq(conv->kind, PIM_CORE_MATRIX);
    ck_assert_uint_eq(conv->graph_layer, 3); /* of the tanh */
    ck_assert_uint_eq(conv->matrix_layer, 1);
    ck_assert_uint_eq(conv->windows, 25);
    ck_assert_uint_eq(conv->rows, 27);
    ck_assert(conv->bias && !conv->output);
    ck_assert_uint_eq(conv->afters, 2);
    ck_assert_int_eq(conv->after[0].operation, PIM_LOCAL_RELU);
    ck_assert_int_eq(conv->after[1].operation, PIM_LOCAL_FUNCTION);
    ck_assert_int_eq(conv->after[1].immediate, PIM_ACTIVATION_TANH);
    /* There is no room for a third: a layer of its own. */
    ck_assert_int_eq(c.network.layer[2].kind, PIM_CORE_ELEMENT);
    ck_assert_int_eq(c.network.layer[2].element.operation, PIM_LOCAL_CLIP);
    ck_assert(c.network.layer[2].output);
    ck_assert_uint_eq(conv->consumers, 1);
    ck_assert_uint_eq(conv->consumer[0], 2);
    ck_assert_uint_eq(core_case_weights(&c), 27 * 8);
    ck_assert_uint_eq(core_case_macs(&c), 27 * 8 * 25);
    core_case_end(&c);
}
END_TEST

START_TEST(a_map_read_twice_takes_no_activation)
{
    struct core_case c;
    core_case_begin(&c);
    uint32_t x = core_case_image(&c, 3, 8, 8);
    uint32_t conv = core_case_convolution(&c, "conv", x, 3, 3, 1, 1);
    uint32_t pair[2] = {conv, core_case_activation(&c, "relu", conv, PIM_ACTIVATION_RELU)};
    const union pim_attributes add = {.elementwise = PIM_ELEMENTWISE_ADD};
    (void)core_case_layer(&c, "sum", PIM_OPERATOR_ELEMENTWISE, &add, 2, pair);
    core_case_lower(&c);
    ck_assert_uint_eq(c.network.count, 4);
    ck_assert_uint_eq(c.network.layer[1].afters, 0);
    ck_assert_uint_eq(c.network.layer[1].consumers, 2);
    const struct pim_core_layer *sum = &c.network.layer[3];
    ck_assert_uint_eq(sum->sources, 2);
    ck_assert_int_eq(sum->element.operation, PIM_LOCAL_ADD);
    ck_assert_uint_eq(sum->source[0].part[0].layer, 1);
    ck_assert_uint_eq(sum->source[1].part[0].layer, 2);
    core_case_end(&c);
}
END_TEST

START_TEST(concatenation_and_slices_become_parts)
{
    struct core_case c;
    core_case_begin(&c);
    uint32_t x = core_case_image(&c, 3, 8, 8);
    uint32_t pair[2] = {core_case_convolution(&c, "a", x, 5, 1, 1, 0),
                        core_case_convolution(&c, "b", x, 7, 3, 1, 1)};
    const union pim_attributes concat = {.concat = {.axis = 1}};
    const union pim_attributes slice = {.slice = {.axis = 1, .begin = 3, .count = 6}};
    x = core_case_layer(&c, "concat", PIM_OPERATOR_CONCAT, &concat, 2, pair);
    x = core_case_layer(&c, "slice", PIM_OPERATOR_SLICE, &slice, 1, &x);
    (void)core_case_convolution(&c, "c", x, 4, 1, 1, 0);
    core_case_lower(&c);
    const struct pim_core_source *source = &core_case_named(&c, "c")->source[0];
    ck_assert_uint_eq(c.network.count, 4);
    ck_assert_uint_eq(source->channels, 6);
    ck_assert_uint_eq(source->parts, 2);
    ck_assert_uint_eq(source->part[0].layer, 1);
    ck_assert_uint_eq(source->part[0].channel, 3);
    ck_assert_uint_eq(source->part[0].channels, 2);
    ck_assert_uint_eq(source->part[1].layer, 2);
    ck_assert_uint_eq(source->part[1].channel, 0);
    ck_assert_uint_eq(source->part[1].channels, 4);
    core_case_end(&c);
}
END_TEST

START_TEST(flatten_and_tokens)
{
    struct core_case c;
    core_case_begin(&c);
    uint32_t x = core_case_image(&c, 6, 4, 5);
    const union pim_attributes flat = {.shape = {.rank = 2, .dimension = {1, 120}}};
    const union pim_attributes sequence = {.shape = {.rank = 3, .dimension = {1, 6, 20}}};
    const union pim_attributes turn = {.transpose = {.order = {0, 2, 1}}};
    const union pim_attributes linear = {.linear = {.outputs = 10, .bias = true}};
    uint32_t y = core_case_layer(&c, "flatten", PIM_OPERATOR_RESHAPE, &flat, 1, &x);
    (void)core_case_layer(&c, "fc", PIM_OPERATOR_LINEAR, &linear, 1, &y);
    y = core_case_layer(&c, "sequence", PIM_OPERATOR_RESHAPE, &sequence, 1, &x);
    y = core_case_layer(&c, "turn", PIM_OPERATOR_TRANSPOSE, &turn, 1, &y);
    (void)core_case_layer(&c, "tokens", PIM_OPERATOR_LINEAR, &linear, 1, &y);
    core_case_lower(&c);
    const struct pim_core_layer *fc = core_case_named(&c, "fc"), *tokens = core_case_named(&c, "tokens");
    ck_assert_uint_eq(fc->windows, 1);
    ck_assert_uint_eq(fc->rows, 120);
    ck_assert_uint_eq(fc->sliding.kernel[0], 4);
    ck_assert_uint_eq(fc->sliding.kernel[1], 5);
    ck_assert_uint_eq(tokens->windows, 20);
    ck_assert_uint_eq(tokens->rows, 6);
    ck_assert_uint_eq(tokens->channels, 10);
    core_case_end(&c);
}
END_TEST

START_TEST(batch_normalisation_folds)
{
    struct core_case c;
    core_case_begin(&c);
    const union pim_attributes norm = {.normalization = {.kind = PIM_NORMALIZATION_BATCH, .affine = true}};
    union pim_attributes plain = {
        .convolution = {
            .sliding = {.kernel = {1, 1}, .stride = {1, 1}, .dilation = {1, 1}}, .outputs = 4, .groups = 2}};
    uint32_t x = core_case_image(&c, 4, 3, 3);
    x = core_case_layer(&c, "grouped", PIM_OPERATOR_CONVOLUTION, &plain, 1, &x);
    x = core_case_layer(&c, "norm", PIM_OPERATOR_NORMALIZATION, &norm, 1, &x);
    x = core_case_activation(&c, "relu", x, PIM_ACTIVATION_RELU);
    (void)core_case_layer(&c, "later", PIM_OPERATOR_NORMALIZATION, &norm, 1, &x);
    core_case_lower(&c);
    ck_assert_uint_eq(c.network.count, 2);
    const struct pim_core_layer *layer = &c.network.layer[1];
    ck_assert_uint_eq(layer->rows, 4); /* dense */
    ck_assert(layer->bias && layer->output);
    ck_assert_uint_eq(layer->afters, 2);
    ck_assert_int_eq(layer->after[1].immediate, PIM_VALUE_FUNCTION_AFFINE);
    ck_assert_uint_eq(layer->graph_layer, 4);
    core_case_end(&c);
}
END_TEST

/* The last layer of c->graph is refused; the message has the layer's name and `reason`. */
static void expect_refusal(struct core_case *c, const char *name, const char *reason)
{
    struct pim_error error;
    ck_assert_int_eq(pim_core_network_lower(&c->graph, "case", &c->arena, &c->network, &error),
                     PIM_BAD_INPUT);
    ck_assert_msg(strstr(error.text, name) && strstr(error.text, reason), "%s", error.text);
    core_case_end(c);
}

START_TEST(refusals_name_layer_and_reason)
{
    struct core_case c;
    core_case_begin(&c);
    uint32_t x = core_case_image(&c, 4, 6, 6);
    const union pim_attributes weights = {.shape = {.rank = 4, .dimension = {1, 4, 6, 6}}};
    uint32_t pair[2] = {core_case_layer(&c, "weights", PIM_OPERATOR_PARAMETER, &weights, 0, NULL), x};
    const union pim_attributes plain = {.matrix = {.transpose_second = false}};
    (void)core_case_layer(&c, "product", PIM_OPERATOR_MATRIX_MULTIPLICATION, &plain, 2, pair);
    expect_refusal(&c, "product", "input 0 is a learned tensor, and a product here is of two results");

    core_case_begin(&c);
    x = core_case_image(&c, 4, 6, 6);
    const union pim_attributes resize = {.shape = {.rank = 4, .dimension = {1, 4, 9, 6}}};
    (void)core_case_layer(&c, "resize", PIM_OPERATOR_EXPAND, &resize, 1, &x);
    expect_refusal(&c, "resize", "nearest");

    core_case_begin(&c);
    x = core_case_image(&c, 4, 6, 6);
    const union pim_attributes some = {.gather_along = {.axis = 1, .indices = {.rank = 1, .dimension = {3}}}};
    (void)core_case_layer(&c, "some", PIM_OPERATOR_GATHER, &some, 1, &x);
    expect_refusal(&c, "some", "not known");
}
END_TEST

/* A channel shuffle is one layer that moves; a crop and what follows it in one reader, too. A slice of
 * neighbouring channels and a transposition of whole axes are none. */
START_TEST(movement_becomes_moves)
{
    struct core_case c;
    core_case_begin(&c);
    uint32_t x = core_case_image(&c, 6, 6, 5);
    const union pim_attributes split = {.shape = {.rank = 5, .dimension = {1, 2, 3, 6, 5}}};
    const union pim_attributes swap = {.transpose = {.order = {0, 2, 1, 3, 4}}};
    const union pim_attributes join = {.shape = {.rank = 4, .dimension = {1, 6, 6, 5}}};
    const union pim_attributes rows = {.slice = {.axis = 2, .begin = 1, .count = 4}};
    const union pim_attributes columns = {.slice = {.axis = 3, .begin = 2, .count = 3}};
    const union pim_attributes channels = {.slice = {.axis = 1, .begin = 1, .count = 2}};
    x = core_case_layer(&c, "split", PIM_OPERATOR_RESHAPE, &split, 1, &x);
    x = core_case_layer(&c, "swap", PIM_OPERATOR_TRANSPOSE, &swap, 1, &x);
    x = core_case_layer(&c, "join", PIM_OPERATOR_RESHAPE, &join, 1, &x);
    x = core_case_convolution(&c, "conv", x, 4, 1, 1, 0);
    x = core_case_layer(&c, "rows", PIM_OPERATOR_SLICE, &rows, 1, &x);
    x = core_case_layer(&c, "columns", PIM_OPERATOR_SLICE, &columns, 1, &x);
    x = core_case_layer(&c, "channels", PIM_OPERATOR_SLICE, &channels, 1, &x);
    (void)core_case_convolution(&c, "last", x, 4, 1, 1, 0);
    core_case_lower(&c);
    ck_assert_uint_eq(c.network.count, 5);
    const struct pim_core_layer *shuffle = &c.network.layer[1], *crop = &c.network.layer[3];
    ck_assert_int_eq(shuffle->kind, PIM_CORE_MOVE);
    ck_assert_uint_eq(shuffle->channels, 6);
    ck_assert_uint_eq(shuffle->moves, 1);
    ck_assert_int_eq(crop->kind, PIM_CORE_MOVE);
    ck_assert_uint_eq(crop->height, 4);
    ck_assert_uint_eq(crop->width, 3);
    ck_assert_uint_eq(crop->channels, 2);
    ck_assert_int_eq(crop->move[0].from[1], 1);
    ck_assert_int_eq(crop->move[0].from[2], 2);
    ck_assert_uint_eq(crop->source[0].channels, 4);
    core_case_end(&c);
}
END_TEST

/* Attention of two heads: two products and a softmax of blocks of channels, and nothing moves. */
START_TEST(attention_becomes_products)
{
    struct core_case c;
    core_case_begin(&c);
    uint32_t x = core_case_image(&c, 3, 4, 5);
    const union pim_attributes turn = {.transpose = {.order = {0, 2, 3, 1}}};
    const union pim_attributes tokens = {.shape = {.rank = 3, .dimension = {1, 20, 6}}};
    const union pim_attributes linear = {.linear = {.outputs = 6, .bias = true}};
    const union pim_attributes heads = {.attention = {.heads = 2}};
    x = core_case_layer(&c, "turn", PIM_OPERATOR_TRANSPOSE, &turn, 1,
                        &(uint32_t){core_case_convolution(&c, "conv", x, 6, 1, 1, 0)});
    x = core_case_layer(&c, "tokens", PIM_OPERATOR_RESHAPE, &tokens, 1, &x);
    uint32_t pair[2] = {core_case_layer(&c, "query", PIM_OPERATOR_LINEAR, &linear, 1, &x),
                        core_case_layer(&c, "key", PIM_OPERATOR_LINEAR, &linear, 1, &x)};
    pair[0] = core_case_layer(&c, "scores", PIM_OPERATOR_ATTENTION_SCORES, &heads, 2, pair);
    pair[0] = core_case_layer(&c, "softmax", PIM_OPERATOR_SOFTMAX, NULL, 1, pair);
    pair[1] = core_case_layer(&c, "value", PIM_OPERATOR_LINEAR, &linear, 1, &x);
    (void)core_case_layer(&c, "context", PIM_OPERATOR_ATTENTION_CONTEXT, &heads, 2, pair);
    core_case_lower(&c);
    ck_assert_uint_eq(c.network.count, 8); /* image, convolution, three linear layers, and: */
    const struct pim_core_layer *scores = core_case_named(&c, "scores");
    ck_assert_int_eq(scores->kind, PIM_CORE_PRODUCT);
    ck_assert(scores->product.transposed);
    ck_assert_uint_eq(scores->product.batches, 2);
    ck_assert_uint_eq(scores->product.inner, 3);
    ck_assert_uint_eq(scores->product.columns, 20);
    ck_assert_uint_eq(scores->channels, 40);
    ck_assert_uint_eq(core_case_named(&c, "softmax")->block, 20);
    const struct pim_core_layer *context = core_case_named(&c, "context");
    ck_assert(!context->product.transposed);
    ck_assert_uint_eq(context->product.inner, 20);
    ck_assert_uint_eq(context->product.columns, 3);
    ck_assert_uint_eq(context->windows, 20);
    core_case_end(&c);
}
END_TEST

/* All CNN descriptors: every channel of every source comes from an earlier layer of the same map, one output,
 * MACs of the graph (none of them has groups here). */
START_TEST(all_descriptors_lower)
{
    static const char *const names[] = {"vgg8",      "vgg16",     "resnet18",   "resnet34", "resnet50",
                                        "resnet152", "googlenet", "squeezenet", "alexnet",  "darknet53"};
    struct core_case c;
    core_case_begin(&c);
    core_case_network(&c, names[_i], NULL);
    uint32_t outputs = 0;
    ck_assert_uint_eq(core_case_macs(&c), c.source->graph.macs);
    for (uint32_t i = 0; i < c.network.count; i++) {
        const struct pim_core_layer *layer = &c.network.layer[i];
        outputs += layer->output;
        ck_assert_uint_eq(layer->windows, layer->height * layer->width);
        ck_assert(layer->consumers != 0 || layer->output);
        for (uint32_t s = 0; s < layer->sources; s++) {
            uint32_t channels = 0;
            for (uint32_t p = 0; p < layer->source[s].parts; p++) {
                const struct pim_core_part *part = &layer->source[s].part[p];
                const struct pim_core_layer *from = &c.network.layer[part->layer];
                ck_assert_uint_lt(part->layer, i);
                ck_assert_uint_le(part->channel + part->channels, from->channels);
                ck_assert_uint_eq(from->height, layer->source[s].height);
                ck_assert_uint_eq(from->width, layer->source[s].width);
                channels += part->channels;
            }
            ck_assert_uint_eq(channels, layer->source[s].channels);
        }
    }
    ck_assert_uint_eq(outputs, 1);
    core_case_end(&c);
}
END_TEST

Suite *lower_suite(void)
{
    Suite *suite = suite_create("lower");
    TCase *t = tcase_create("lower");
    tcase_add_test(t, convolution_takes_activation);
    tcase_add_test(t, a_map_read_twice_takes_no_activation);
    tcase_add_test(t, concatenation_and_slices_become_parts);
    tcase_add_test(t, flatten_and_tokens);
    tcase_add_test(t, batch_normalisation_folds);
    tcase_add_test(t, refusals_name_layer_and_reason);
    tcase_add_test(t, movement_becomes_moves);
    tcase_add_test(t, attention_becomes_products);
    tcase_add_loop_test(t, all_descriptors_lower, 0, 10);
    suite_add_tcase(suite, t);
    return suite;
}
