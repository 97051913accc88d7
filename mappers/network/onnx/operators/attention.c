/*
 * Attention that a file has as one node, written out: scores, softmax, context; and what stands around it in
 * the operators of com.microsoft. Heads are dimension 1: [batch, heads, tokens, channels of a head].
 */
#include "mappers/network/onnx/operators/operators.h"
#include "onnx.pb-c.h"

#include <string.h>

static const uint32_t heads_order[4] = {0, 2, 1, 3}; /* tokens and heads swapped; its own inverse */

/* [batch, tokens, channels] with the heads apart; what has four dimensions has them so already. */
static uint32_t apart(struct pim_onnx_importer *i, const char *suffix, uint32_t layer, int64_t heads)
{
    const struct pim_shape shape = pim_onnx_shape_of(i, layer);
    if (i->status != PIM_OK || shape.rank == 4)
        return layer;
    if (shape.rank != 3 || heads < 1 || shape.dimension[2] % (uint64_t)heads != 0) {
        pim_onnx_fail(i, "%lld heads do not divide the channels of [batch, tokens, channels]",
                      (long long)heads);
        return layer;
    }
    const struct pim_shape split = {.rank = 4,
                                    .dimension = {shape.dimension[0], shape.dimension[1], (uint32_t)heads,
                                                  shape.dimension[2] / (uint32_t)heads}};
    return pim_onnx_transpose(i, suffix, pim_onnx_reshape(i, suffix, layer, &split), heads_order);
}

static uint32_t together(struct pim_onnx_importer *i, uint32_t layer)
{
    layer = pim_onnx_transpose(i, "tokens", layer, heads_order);
    const struct pim_shape shape = pim_onnx_shape_of(i, layer);
    const struct pim_shape joined = {
        .rank = 3,
        .dimension = {shape.dimension[0], shape.dimension[1],
                      pim_onnx_size(i, "the channels", (int64_t)shape.dimension[2] * shape.dimension[3], 1)}};
    return pim_onnx_reshape(i, "channels", layer, &joined);
}

static uint32_t add_pair(struct pim_onnx_importer *i, const char *suffix, uint32_t layer,
                         struct pim_onnx_value *value)
{
    const union pim_attributes add = {.elementwise = PIM_ELEMENTWISE_ADD};
    if (!value || i->status != PIM_OK)
        return layer;
    const uint32_t pair[2] = {layer, pim_onnx_layer_of(i, value)};
    return pim_onnx_add(i, PIM_OPERATOR_ELEMENTWISE, suffix, &add, 2, pair);
}

/* Tokens of earlier runs before those of this one. */
static uint32_t behind_past(struct pim_onnx_importer *i, const char *suffix, struct pim_onnx_value *past,
                            uint32_t layer)
{
    const union pim_attributes a = {.concat = {.axis = 2}};
    if (!past || i->status != PIM_OK || pim_onnx_elements(&past->shape) == 0)
        return layer;
    const uint32_t pair[2] = {pim_onnx_layer_of(i, past), layer};
    return pim_onnx_add(i, PIM_OPERATOR_CONCAT, suffix, &a, 2, pair);
}

/* Several heads of queries share one of keys and values: copies of it. */
static uint32_t repeat_heads(struct pim_onnx_importer *i, const char *suffix, uint32_t layer, uint32_t heads)
{
    const struct pim_shape s = pim_onnx_shape_of(i, layer);
    if (i->status != PIM_OK || s.dimension[1] == heads)
        return layer;
    if (heads % s.dimension[1] != 0) {
        pim_onnx_fail(i, "%u heads of keys do not divide %u of queries", s.dimension[1], heads);
        return layer;
    }
    const struct pim_shape one = {
        .rank = 5, .dimension = {s.dimension[0], s.dimension[1], 1, s.dimension[2], s.dimension[3]}};
    const struct pim_shape all = {.rank = 4,
                                  .dimension = {s.dimension[0], heads, s.dimension[2], s.dimension[3]}};
    union pim_attributes copies = {.shape = one};
    copies.shape.dimension[2] = heads / s.dimension[1];
    layer = pim_onnx_reshape(i, suffix, layer, &one);
    layer = pim_onnx_add(i, PIM_OPERATOR_EXPAND, suffix, &copies, 1, &layer);
    return pim_onnx_reshape(i, suffix, layer, &all);
}

struct attention {
    uint32_t query, key, value;  /* layers [batch, heads, tokens, channels of a head] */
    struct pim_onnx_value *mask; /* added to the scores; NULL for none */
    struct pim_onnx_value *past_key, *past_value;
    bool joined;    /* the result is [batch, tokens, channels] */
    size_t present; /* output that is the keys, then the values; 0: none */
    size_t scores;  /* output that is the scores; 0: none */
};

static void attend(struct pim_onnx_importer *i, struct attention *at)
{
    static const union pim_attributes transposed = {.matrix = {.transpose_second = true}},
                                      plain = {.matrix = {.transpose_second = false}};
    at->key = behind_past(i, "keys", at->past_key, at->key);
    at->value = behind_past(i, "values", at->past_value, at->value);
    if (at->present && pim_onnx_is_read(i, at->present))
        pim_onnx_bind_layer(i, at->present, at->key);
    if (at->present && pim_onnx_is_read(i, at->present + 1))
        pim_onnx_bind_layer(i, at->present + 1, at->value);
    uint32_t heads = pim_onnx_shape_of(i, at->query).dimension[1];
    uint32_t pair[2] = {at->query, repeat_heads(i, "key_heads", at->key, heads)};
    uint32_t layer = pim_onnx_add(i, PIM_OPERATOR_MATRIX_MULTIPLICATION, "scores", &transposed, 2, pair);
    if (at->scores && pim_onnx_is_read(i, at->scores))
        pim_onnx_bind_layer(i, at->scores, layer);
    layer = add_pair(i, "mask", layer, at->mask);
    pair[0] = pim_onnx_add(i, PIM_OPERATOR_SOFTMAX, "softmax", NULL, 1, &layer);
    pair[1] = repeat_heads(i, "value_heads", at->value, heads);
    layer = pim_onnx_add(i, PIM_OPERATOR_MATRIX_MULTIPLICATION, "", &plain, 2, pair);
    pim_onnx_bind_layer(i, 0, at->joined ? together(i, layer) : layer);
}

void pim_onnx_convert_attention(struct pim_onnx_importer *i, unsigned unused)
{
    (void)unused;
    int64_t query_heads = pim_onnx_integer(i, "q_num_heads", 0),
            key_heads = pim_onnx_integer(i, "kv_num_heads", query_heads);
    struct attention at = {.mask = pim_onnx_optional_input(i, 3),
                           .past_key = pim_onnx_optional_input(i, 4),
                           .past_value = pim_onnx_optional_input(i, 5),
                           .joined = pim_onnx_input(i, 0)->shape.rank == 3,
                           .present = 1,
                           .scores = 3};
    at.query = apart(i, "query", pim_onnx_layer_of(i, pim_onnx_input(i, 0)), query_heads);
    at.key = apart(i, "key", pim_onnx_layer_of(i, pim_onnx_input(i, 1)), key_heads);
    at.value = apart(i, "value", pim_onnx_layer_of(i, pim_onnx_input(i, 2)), key_heads);
    attend(i, &at);
}

/* Positions [begin, begin + count) of the last dimension. */
static uint32_t part_of(struct pim_onnx_importer *i, const char *suffix, uint32_t layer, uint64_t begin,
                        uint64_t count)
{
    const struct pim_shape shape = pim_onnx_shape_of(i, layer);
    if (i->status != PIM_OK || shape.rank == 0 || begin + count > shape.dimension[shape.rank - 1]) {
        pim_onnx_fail(i, "queries, keys and values do not fit into the channels");
        return layer;
    }
    const union pim_attributes a = {
        .slice = {.axis = shape.rank - 1, .begin = (uint32_t)begin, .count = (uint32_t)count, .step = 1}};
    return pim_onnx_add(i, PIM_OPERATOR_SLICE, suffix, &a, 1, &layer);
}

/* com.microsoft: input and the weights of queries, keys and values side by side. */
void pim_onnx_convert_packed_attention(struct pim_onnx_importer *i, unsigned unused)
{
    (void)unused;
    struct pim_onnx_value *weights = pim_onnx_input(i, 1);
    const struct pim_shape w = weights->shape;
    int64_t heads = pim_onnx_integer(i, "num_heads", 0), sizes[3];
    uint32_t layer = pim_onnx_layer_of(i, pim_onnx_input(i, 0)), outputs = w.rank == 2 ? w.dimension[1] : 0;
    bool sized;
    if (pim_onnx_list(i, "qkv_hidden_sizes", SIZE_MAX, sizes, 3, &sized) != 3 || !sized)
        sizes[0] = sizes[1] = sizes[2] = outputs / 3;
    if (i->status == PIM_OK && (outputs == 0 || pim_onnx_optional_input(i, 4) || sizes[0] < 1 ||
                                sizes[1] < 1 || sizes[2] < 1 || sizes[0] + sizes[1] + sizes[2] != outputs))
        pim_onnx_fail(i, "weights [inputs, queries, keys and values side by side], and no past, are known");
    if (i->status == PIM_OK && pim_onnx_shape_of(i, layer).rank != 3)
        pim_onnx_fail(i, "its input must be [batch, tokens, channels]");
    const union pim_attributes a = {
        .linear = {.outputs = outputs, .bias = pim_onnx_optional_input(i, 2) != NULL}};
    layer = pim_onnx_add(i, PIM_OPERATOR_LINEAR, "weights", &a, 1, &layer);
    uint64_t q = (uint64_t)sizes[0], k = (uint64_t)sizes[1], v = (uint64_t)sizes[2];
    struct attention at = {.mask = pim_onnx_optional_input(i, 5), .joined = true};
    at.query = apart(i, "query", part_of(i, "query", layer, 0, q), heads);
    at.key = apart(i, "key", part_of(i, "key", layer, q, k), heads);
    at.value = apart(i, "value", part_of(i, "value", layer, q + k, v), heads);
    attend(i, &at);
}

/* com.microsoft: queries, keys and values from elsewhere, with or without the biases of all three. */
void pim_onnx_convert_multi_head_attention(struct pim_onnx_importer *i, unsigned unused)
{
    (void)unused;
    static const char *const names[3] = {"query", "key", "value"};
    int64_t heads = pim_onnx_integer(i, "num_heads", 0);
    struct pim_onnx_value *bias = pim_onnx_optional_input(i, 3);
    uint32_t layers[3] = {0};
    uint64_t begin = 0;
    struct attention at = {.mask = pim_onnx_optional_input(i, 5),
                           .past_key = pim_onnx_optional_input(i, 6),
                           .past_value = pim_onnx_optional_input(i, 7),
                           .joined = true,
                           .present = 1};
    for (size_t n = 0; n < 3 && i->status == PIM_OK; n++) {
        struct pim_onnx_value *input = pim_onnx_input(i, n);
        layers[n] = pim_onnx_layer_of(i, input);
        if (i->status == PIM_OK && input->shape.rank != 3 && (n == 0 || input->shape.rank != 4))
            pim_onnx_fail(i, "its %s must be [batch, tokens, channels]", names[n]);
        if (bias && i->status == PIM_OK && input->shape.rank == 3) {
            const union pim_attributes add = {.elementwise = PIM_ELEMENTWISE_ADD};
            uint64_t count = input->shape.dimension[2];
            const uint32_t pair[2] = {layers[n],
                                      part_of(i, "biases", pim_onnx_layer_of(i, bias), begin, count)};
            layers[n] = pim_onnx_add(i, PIM_OPERATOR_ELEMENTWISE, "bias", &add, 2, pair);
            begin += count;
        }
        layers[n] = apart(i, names[n], layers[n], heads);
    }
    at.query = layers[0];
    at.key = layers[1];
    at.value = layers[2];
    attend(i, &at);
}

/* Elementwise turns by the place of a token; the tables of sines are constants. */
static uint32_t rotate(struct pim_onnx_importer *i, const char *suffix, uint32_t layer)
{
    const union pim_attributes a = {.elementwise = PIM_ELEMENTWISE_MULTIPLY};
    return pim_onnx_add(i, PIM_OPERATOR_ELEMENTWISE, suffix, &a, 1, &layer);
}

void pim_onnx_convert_rotation(struct pim_onnx_importer *i, unsigned unused)
{
    (void)unused;
    pim_onnx_bind_layer(i, 0, rotate(i, "", pim_onnx_layer_of(i, pim_onnx_input(i, 0))));
}

/* com.microsoft: fewer heads of keys and values than of queries; all three may stand in input 0. */
void pim_onnx_convert_grouped_attention(struct pim_onnx_importer *i, unsigned unused)
{
    (void)unused;
    int64_t heads = pim_onnx_integer(i, "num_heads", 0), key_heads = pim_onnx_integer(i, "kv_num_heads", 0);
    struct pim_onnx_value *key = pim_onnx_optional_input(i, 1), *value = pim_onnx_optional_input(i, 2);
    uint32_t query = pim_onnx_layer_of(i, pim_onnx_input(i, 0));
    struct attention at = {.past_key = pim_onnx_optional_input(i, 3),
                           .past_value = pim_onnx_optional_input(i, 4),
                           .joined = true,
                           .present = 1};
    const struct pim_shape shape = pim_onnx_shape_of(i, query);
    if (i->status == PIM_OK && (shape.rank != 3 || heads < 1 || key_heads < 1 ||
                                heads > (int64_t)PIM_DIMENSION_LIMIT || key_heads > heads))
        pim_onnx_fail(i, "queries [batch, tokens, channels] in num_heads, at least kv_num_heads, are needed");
    if (i->status != PIM_OK)
        return;
    at.query = query;
    if (key && value) {
        at.key = pim_onnx_layer_of(i, key);
        at.value = pim_onnx_layer_of(i, value);
    } else {
        uint64_t channels = shape.dimension[2] / (uint64_t)(heads + 2 * key_heads);
        uint64_t q = channels * (uint64_t)heads, k = channels * (uint64_t)key_heads;
        at.query = part_of(i, "query", query, 0, q);
        at.key = part_of(i, "key", query, q, k);
        at.value = part_of(i, "value", query, q + k, k);
    }
    if (pim_onnx_integer(i, "do_rotary", 0) != 0) {
        at.query = rotate(i, "query_rotation", at.query);
        at.key = rotate(i, "key_rotation", at.key);
    }
    at.query = apart(i, "query", at.query, heads);
    at.key = apart(i, "key", at.key, key_heads);
    at.value = apart(i, "value", at.value, key_heads);
    attend(i, &at);
}

/* com.microsoft: entries of the tables of words, places and segments, summed and normalised. */
void pim_onnx_convert_embedding(struct pim_onnx_importer *i, unsigned unused)
{
    (void)unused;
    const union pim_attributes add = {.elementwise = PIM_ELEMENTWISE_ADD},
                               norm = {.normalization = {.kind = PIM_NORMALIZATION_LAYER, .affine = true}};
    struct pim_onnx_value *words = pim_onnx_input(i, 0);
    const union pim_attributes pick = {.gather_along = {.axis = 0, .indices = words->shape}};
    uint32_t sum[2] = {0, 0};
    for (size_t n = 2; n < 5 && i->status == PIM_OK; n++) {
        struct pim_onnx_value *table = pim_onnx_optional_input(i, n),
                              *places = n == 2   ? words
                                        : n == 4 ? pim_onnx_optional_input(i, 1)
                                                 : NULL;
        if (!table)
            continue;
        const uint32_t inputs[2] = {pim_onnx_layer_of(i, table), places ? pim_onnx_layer_of(i, places) : 0};
        uint32_t layer = pim_onnx_add(i, PIM_OPERATOR_GATHER, "entries", &pick, places ? 2 : 1, inputs);
        sum[1] = layer;
        sum[0] = n == 2 ? layer : pim_onnx_add(i, PIM_OPERATOR_ELEMENTWISE, "sum", &add, 2, sum);
    }
    uint32_t layer = pim_onnx_add(i, PIM_OPERATOR_NORMALIZATION, "", &norm, 1, &sum[0]);
    pim_onnx_bind_layer(i, 0, layer);
    if (pim_onnx_is_read(i, 1)) { /* how many words each row has */
        const union pim_attributes count = {
            .reduction = {.axes = ((1u << words->shape.rank) - 1) & ~1u, .kind = PIM_REDUCTION_SUM}};
        layer = pim_onnx_layer_of(i, words);
        pim_onnx_bind_layer(i, 1, pim_onnx_add(i, PIM_OPERATOR_REDUCTION, "words", &count, 1, &layer));
    }
    if (pim_onnx_is_read(i, 2))
        pim_onnx_bind_layer(i, 2, sum[0]);
}
