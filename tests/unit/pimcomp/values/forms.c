/* See forms.h. */
#include "tests/unit/pimcomp/values/forms.h"

static const uint32_t *shape_of(const struct net *net, uint32_t layer)
{
    return net->graph.layers[layer].output.dimension;
}

static uint32_t reshape(struct net *net, uint32_t from, uint32_t rank, const uint32_t *dimension)
{
    union pim_attributes attributes = {.shape = {.rank = rank}};
    for (uint32_t d = 0; d < rank; d++)
        attributes.shape.dimension[d] = dimension[d];
    return net_add(net, PIM_OPERATOR_RESHAPE, &from, 1, &attributes);
}

static uint32_t transpose(struct net *net, uint32_t from, const uint32_t *order, uint32_t rank)
{
    union pim_attributes attributes = {.transpose = {.order = {0}}};
    for (uint32_t d = 0; d < rank; d++)
        attributes.transpose.order[d] = order[d];
    return net_add(net, PIM_OPERATOR_TRANSPOSE, &from, 1, &attributes);
}

static uint32_t slice(struct net *net, uint32_t from, uint32_t axis, uint32_t begin, uint32_t count,
                      uint32_t step, bool reversed)
{
    union pim_attributes attributes = {
        .slice = {.axis = axis, .begin = begin, .count = count, .step = step, .reversed = reversed}};
    return net_add(net, PIM_OPERATOR_SLICE, &from, 1, &attributes);
}

static uint32_t pad(struct net *net, uint32_t from, uint32_t top, uint32_t left, uint32_t bottom,
                    uint32_t right)
{
    union pim_attributes attributes = {.pad = {.before = {0, 0, top, left}, .after = {0, 0, bottom, right}}};
    return net_add(net, PIM_OPERATOR_PAD, &from, 1, &attributes);
}

static uint32_t upsample(struct net *net, uint32_t from, uint32_t rows, uint32_t columns)
{
    const uint32_t *d = shape_of(net, from);
    union pim_attributes attributes = {
        .shape = {.rank = 4, .dimension = {1, d[1], d[2] * rows, d[3] * columns}}};
    return net_add(net, PIM_OPERATOR_EXPAND, &from, 1, &attributes);
}

/* Channels in `groups`: reshape, transposition, reshape, as in ShuffleNet. */
static uint32_t shuffle(struct net *net, uint32_t from, uint32_t groups)
{
    static const uint32_t order[] = {0, 2, 1, 3, 4};
    const uint32_t c = shape_of(net, from)[1], h = shape_of(net, from)[2], w = shape_of(net, from)[3];
    const uint32_t apart[] = {1, groups, c / groups, h, w}, together[] = {1, c, h, w};
    return reshape(net, transpose(net, reshape(net, from, 5, apart), order, 5), 4, together);
}

static uint32_t stem(struct net *net, uint32_t outputs)
{
    return net_convolution(net, net_input(net, 3, 6, 5), outputs, 3, 1, 1, 1, true);
}

/* The unit of ShuffleNet v1. */
static void build_shuffle(struct net *net)
{
    uint32_t from = stem(net, 12);
    uint32_t layer =
        net_activation(net, net_convolution(net, from, 6, 1, 1, 0, 3, true), PIM_ACTIVATION_RELU);
    layer = net_convolution(net, shuffle(net, layer, 3), 6, 3, 1, 1, 6, true);
    layer = net_convolution(net, layer, 12, 1, 1, 0, 3, true);
    (void)net_activation(net, net_elementwise(net, from, layer, PIM_ELEMENTWISE_ADD), PIM_ACTIVATION_RELU);
}

/* Two units of ShuffleNet v2: halves, joined and shuffled. */
static void build_shuffle_behind_concat(struct net *net)
{
    uint32_t layer = stem(net, 8);
    for (int unit = 0; unit < 2; unit++) {
        uint32_t half[] = {net_slice(net, layer, 0, 4), net_slice(net, layer, 4, 4)};
        half[1] = net_convolution(net, half[1], 4, 3, 1, 1, 1, true);
        layer = shuffle(net, net_concat(net, half, 2), 2);
    }
    (void)net_linear(net, net_flatten(net, layer), 5, true);
}

static void build_crop(struct net *net)
{
    uint32_t layer = stem(net, 7);
    layer = slice(net, slice(net, layer, 2, 1, 4, 1, false), 3, 1, 3, 1, false);
    layer = net_activation(net, layer, PIM_ACTIVATION_RELU);
    (void)slice(net, net_convolution(net, layer, 5, 3, 1, 1, 1, true), 2, 2, 1, 1, false);
}

static void build_pad(struct net *net)
{
    uint32_t layer = pad(net, stem(net, 7), 1, 0, 2, 3);
    (void)net_pooling(net, net_activation(net, layer, PIM_ACTIVATION_TANH), PIM_POOLING_MAXIMUM, 2, 2, 0,
                      false);
    (void)net_convolution(net, layer, 4, 3, 1, 0, 1, true);
}

static void build_upsample(struct net *net)
{
    uint32_t small = net_convolution(net, net_input(net, 3, 3, 4), 5, 3, 1, 1, 1, true);
    uint32_t layer = upsample(net, small, 2, 3);
    layer =
        net_elementwise(net, layer, net_convolution(net, layer, 5, 3, 1, 1, 1, true), PIM_ELEMENTWISE_ADD);
    const uint32_t both[] = {layer, upsample(net, small, 2, 3)};
    (void)net_convolution(net, net_concat(net, both, 2), 6, 1, 1, 0, 1, true);
}

static void build_steps(struct net *net)
{
    uint32_t layer = stem(net, 9);
    uint32_t even = slice(net, layer, 1, 0, 5, 2, false), back = slice(net, layer, 1, 2, 5, 1, true);
    layer = net_elementwise(net, even, back, PIM_ELEMENTWISE_ADD);
    layer = slice(net, slice(net, layer, 2, 0, 6, 1, true), 3, 0, 3, 2, true);
    (void)net_convolution(net, layer, 4, 3, 1, 1, 1, true);
}

static void build_turn(struct net *net)
{
    static const uint32_t rows[] = {0, 1, 3, 2}, channels[] = {0, 2, 1, 3};
    uint32_t layer = net_convolution(net, transpose(net, stem(net, 8), rows, 4), 4, 1, 1, 0, 1, true);
    layer = net_convolution(net, transpose(net, layer, channels, 4), 6, 3, 1, 1, 1, true);
    const uint32_t *d = shape_of(net, layer);
    const uint32_t apart[] = {1, d[1] * d[2], d[3] / 2, 2};
    (void)net_activation(net, transpose(net, reshape(net, layer, 4, apart), rows, 4), PIM_ACTIVATION_RELU);
}

static void build_stack(struct net *net)
{
    uint32_t layer = stem(net, 6);
    uint32_t part[] = {layer, net_convolution(net, layer, 6, 3, 1, 1, 1, true),
                       slice(net, layer, 2, 1, 2, 1, false)};
    union pim_attributes attributes = {.concat = {.axis = 2}};
    layer = net_add(net, PIM_OPERATOR_CONCAT, part, 3, &attributes);
    (void)net_convolution(net, layer, 5, 3, 2, 1, 1, true);
}

/* A window of a token map, shifted; tokens with a learned one in front; neighbours merged. */
static void build_windows(struct net *net)
{
    static const uint32_t tokens[] = {0, 2, 3, 1};
    uint32_t layer = net_convolution(net, net_input(net, 3, 4, 6), 5, 3, 1, 1, 1, true);
    layer = transpose(net, layer, tokens, 4);
    union pim_attributes shift = {.shift = {.rows = -1, .columns = 2}};
    union pim_attributes window = {.window = {.height = 2, .width = 3, .map_height = 4, .map_width = 6}};
    union pim_attributes merging = {.merging = {.factor = 2}};
    uint32_t moved = net_add(net, PIM_OPERATOR_SHIFT, &layer, 1, &shift);
    moved = net_add(net, PIM_OPERATOR_WINDOW_PARTITION, &moved, 1, &window);
    moved = net_linear(net, moved, 5, true);
    moved = net_add(net, PIM_OPERATOR_WINDOW_REVERSE, &moved, 1, &window);
    shift.shift.columns = -2;
    shift.shift.rows = 1;
    moved = net_add(net, PIM_OPERATOR_SHIFT, &moved, 1, &shift);
    layer = net_elementwise(net, moved, layer, PIM_ELEMENTWISE_ADD);
    layer = net_linear(net, net_add(net, PIM_OPERATOR_PATCH_MERGING, &layer, 1, &merging), 7, true);
    union pim_attributes learned = {.shape = {.rank = 3, .dimension = {1, 1, 7}}};
    union pim_attributes rows = {.concat = {.axis = 1}};
    const uint32_t sequence[] = {1, 6, 7};
    const uint32_t both[] = {net_add(net, PIM_OPERATOR_PARAMETER, NULL, 0, &learned),
                             reshape(net, layer, 3, sequence)};
    layer = net_linear(net, net_add(net, PIM_OPERATOR_CONCAT, both, 2, &rows), 6, true);
    (void)net_linear(net, slice(net, layer, 1, 0, 1, 1, false), 4, true);
}

static uint32_t excite(struct net *net, uint32_t from, uint32_t inner, bool map_first)
{
    uint32_t channels = shape_of(net, from)[1];
    uint32_t layer = net_convolution(net, net_global_average(net, from), inner, 1, 1, 0, 1, true);
    layer = net_convolution(net, net_activation(net, layer, PIM_ACTIVATION_RELU), channels, 1, 1, 0, 1, true);
    layer = net_activation(net, layer, PIM_ACTIVATION_HARD_SIGMOID);
    return map_first ? net_elementwise(net, from, layer, PIM_ELEMENTWISE_MULTIPLY)
                     : net_elementwise(net, layer, from, PIM_ELEMENTWISE_MULTIPLY);
}

/* The block of MobileNetV3 and EfficientNet. */
static void build_excite(struct net *net)
{
    uint32_t from = stem(net, 4);
    uint32_t layer = net_convolution(net, from, 10, 1, 1, 0, 1, true);
    layer = net_convolution(net, net_activation(net, layer, PIM_ACTIVATION_SILU), 10, 3, 1, 1, 10, true);
    layer = excite(net, net_activation(net, layer, PIM_ACTIVATION_SILU), 3, true);
    layer = net_convolution(net, layer, 4, 1, 1, 0, 1, true);
    layer = net_elementwise(net, layer, from, PIM_ELEMENTWISE_ADD);
    (void)net_activation(net, excite(net, layer, 2, false), PIM_ACTIVATION_RELU);
}

/* A map with a map of one channel, with one row, less a vector and a vector less it, with one number. */
static void build_broadcast(struct net *net)
{
    uint32_t layer = stem(net, 6);
    uint32_t vector = net_convolution(net, net_global_average(net, layer), 6, 1, 1, 0, 1, true);
    layer = net_elementwise(net, layer, net_convolution(net, layer, 1, 3, 1, 1, 1, true),
                            PIM_ELEMENTWISE_MULTIPLY);
    layer = net_elementwise(net, slice(net, layer, 2, 1, 1, 1, false), layer, PIM_ELEMENTWISE_SUBTRACT);
    layer = net_elementwise(net, layer, vector, PIM_ELEMENTWISE_SUBTRACT);
    layer = net_elementwise(net, vector, layer, PIM_ELEMENTWISE_DIVIDE);
    layer = net_elementwise(net, slice(net, vector, 1, 2, 1, 1, false), layer, PIM_ELEMENTWISE_ADD);
    uint32_t column = slice(net, layer, 3, 2, 1, 1, false), row = slice(net, layer, 2, 0, 1, 1, false);
    (void)net_elementwise(net, column, row, PIM_ELEMENTWISE_MAXIMUM);
}

static uint32_t batch_norm(struct net *net, uint32_t from)
{
    const union pim_attributes batch = {.normalization = {.kind = PIM_NORMALIZATION_BATCH, .affine = true}};
    return net_add(net, PIM_OPERATOR_NORMALIZATION, &from, 1, &batch);
}

/* An operation with a learned number, or one for each channel. */
static uint32_t learned(struct net *net, uint32_t from, enum pim_elementwise kind, bool channels)
{
    union pim_attributes shape = {
        .shape = {.rank = 3, .dimension = {channels ? shape_of(net, from)[1] : 1, 1, 1}}};
    return net_elementwise(net, from, net_add(net, PIM_OPERATOR_PARAMETER, NULL, 0, &shape), kind);
}

static void build_affine(struct net *net)
{
    uint32_t layer = batch_norm(net, net_convolution(net, net_input(net, 3, 6, 5), 7, 3, 1, 1, 1, false));
    layer = batch_norm(net, net_activation(net, layer, PIM_ACTIVATION_RELU)); /* on its own */
    layer = net_convolution(net, layer, 6, 1, 1, 0, 1, true);
    layer = learned(net, learned(net, layer, PIM_ELEMENTWISE_MULTIPLY, true), PIM_ELEMENTWISE_ADD, true);
    layer = net_activation(net, learned(net, layer, PIM_ELEMENTWISE_DIVIDE, false), PIM_ACTIVATION_RELU);
    layer = batch_norm(net, net_convolution(net, layer, 6, 3, 1, 1, 6, true)); /* depthwise */
    static const uint32_t tokens[] = {0, 2, 3, 1};
    layer = net_linear(net, transpose(net, layer, tokens, 4), 4, true);
    union pim_attributes last = {.shape = {.rank = 1, .dimension = {4}}};
    layer = net_elementwise(net, layer, net_add(net, PIM_OPERATOR_PARAMETER, NULL, 0, &last),
                            PIM_ELEMENTWISE_MULTIPLY);
    union pim_attributes whole = {.shape = {.rank = 3, .dimension = {6, 5, 4}}}; /* no scale of channels */
    (void)net_elementwise(net, layer, net_add(net, PIM_OPERATOR_PARAMETER, NULL, 0, &whole),
                          PIM_ELEMENTWISE_ADD);
}

static uint32_t reduce(struct net *net, uint32_t from, enum pim_reduction kind, uint32_t axes)
{
    const union pim_attributes attributes = {.reduction = {.axes = axes, .keep = true, .kind = kind}};
    return net_add(net, PIM_OPERATOR_REDUCTION, &from, 1, &attributes);
}

/* Over pixels, rows, columns, channels, channels and rows. */
static void build_reduce(struct net *net)
{
    uint32_t layer = stem(net, 6);
    uint32_t sum = reduce(net, layer, PIM_REDUCTION_SUM, 1u << 2 | 1u << 3);
    (void)net_convolution(net, sum, 4, 1, 1, 0, 1, true);
    layer = net_elementwise(net, layer, reduce(net, layer, PIM_REDUCTION_EXTREMUM, 1u << 2),
                            PIM_ELEMENTWISE_SUBTRACT);
    layer = net_elementwise(net, layer, reduce(net, layer, PIM_REDUCTION_MEAN, 1u << 3), PIM_ELEMENTWISE_ADD);
    layer = net_elementwise(net, layer, reduce(net, layer, PIM_REDUCTION_MEAN, 1u << 1),
                            PIM_ELEMENTWISE_MULTIPLY);
    (void)net_activation(net, reduce(net, layer, PIM_REDUCTION_SUM, 1u << 1 | 1u << 2), PIM_ACTIVATION_RELU);
}

static uint32_t softmax(struct net *net, uint32_t from)
{
    const union pim_attributes none = {.shape = {.rank = 0}};
    return net_add(net, PIM_OPERATOR_SOFTMAX, &from, 1, &none);
}

/* Two branches of six tokens, two heads, with a relative position bias. */
static void build_attention(struct net *net)
{
    static const uint32_t tokens[] = {0, 2, 3, 1}, sequence[] = {2, 6, 8};
    uint32_t layer = net_convolution(net, net_input(net, 3, 4, 3), 8, 3, 1, 1, 1, true);
    layer = reshape(net, transpose(net, layer, tokens, 4), 3, sequence);
    const union pim_attributes heads = {.attention = {.heads = 2, .bias_parameters = 7}};
    uint32_t query = net_linear(net, layer, 8, true), key = net_linear(net, layer, 8, true);
    const uint32_t both[] = {query, key};
    uint32_t scores = softmax(net, net_add(net, PIM_OPERATOR_ATTENTION_SCORES, both, 2, &heads));
    const uint32_t context[] = {scores, net_linear(net, layer, 8, true)};
    uint32_t mixed = net_add(net, PIM_OPERATOR_ATTENTION_CONTEXT, context, 2, &heads);
    mixed = net_elementwise(net, net_linear(net, mixed, 8, true), layer, PIM_ELEMENTWISE_ADD);
    const union pim_attributes norm = {.normalization = {.kind = PIM_NORMALIZATION_LAYER, .affine = true}};
    mixed = net_add(net, PIM_OPERATOR_NORMALIZATION, &mixed, 1, &norm);
    (void)net_linear(net, net_activation(net, net_linear(net, mixed, 12, true), PIM_ACTIVATION_GELU), 5,
                     true);
}

static uint32_t multiply(struct net *net, uint32_t a, uint32_t b, bool transposed)
{
    const union pim_attributes matrix = {.matrix = {.transpose_second = transposed}};
    const uint32_t both[] = {a, b};
    return net_add(net, PIM_OPERATOR_MATRIX_MULTIPLICATION, both, 2, &matrix);
}

static void build_matrices(struct net *net)
{
    static const uint32_t sequence[] = {1, 12, 5}, heads[] = {1, 12, 3, 2}, together[] = {1, 12, 6};
    static const uint32_t tokens[] = {0, 2, 3, 1}, apart[] = {0, 2, 1, 3}, turned[] = {0, 2, 3, 1};
    uint32_t layer = net_convolution(net, net_input(net, 3, 3, 4), 5, 3, 1, 1, 1, true);
    layer = reshape(net, transpose(net, layer, tokens, 4), 3, sequence);
    uint32_t query = transpose(net, reshape(net, net_linear(net, layer, 6, true), 4, heads), apart, 4);
    uint32_t key = transpose(net, reshape(net, net_linear(net, layer, 6, true), 4, heads), turned, 4);
    uint32_t value = transpose(net, reshape(net, net_linear(net, layer, 6, true), 4, heads), apart, 4);
    const union pim_attributes number = {.shape = {.rank = 1, .dimension = {1}}};
    uint32_t scores = multiply(net, query, key, false);
    scores = net_elementwise(net, scores, net_add(net, PIM_OPERATOR_PARAMETER, NULL, 0, &number),
                             PIM_ELEMENTWISE_DIVIDE);
    uint32_t mixed = transpose(net, multiply(net, softmax(net, scores), value, false), apart, 4);
    layer = net_linear(net, reshape(net, mixed, 3, together), 5, true);
    (void)multiply(net, layer, layer, true);
}

void form_build(struct net *net, enum form form)
{
    static void (*const build[FORMS])(struct net *) = {
        [FORM_SHUFFLE] = build_shuffle,     [FORM_SHUFFLE_BEHIND_CONCAT] = build_shuffle_behind_concat,
        [FORM_CROP] = build_crop,           [FORM_PAD] = build_pad,
        [FORM_UPSAMPLE] = build_upsample,   [FORM_STEPS] = build_steps,
        [FORM_TURN] = build_turn,           [FORM_STACK] = build_stack,
        [FORM_WINDOWS] = build_windows,     [FORM_EXCITE] = build_excite,
        [FORM_BROADCAST] = build_broadcast, [FORM_ATTENTION] = build_attention,
        [FORM_MATRICES] = build_matrices,   [FORM_REDUCE] = build_reduce,
        [FORM_AFFINE] = build_affine,
    };
    build[form](net);
}

/* --- networks drawn at random --- */

static uint32_t draw(struct pim_random *random, uint32_t first, uint32_t last)
{
    return (uint32_t)pim_random_between(random, first, last);
}

/* A form behind layer `from`, a map. */
static uint32_t random_form(struct net *net, struct pim_random *random, uint32_t from)
{
    const uint32_t c = shape_of(net, from)[1], h = shape_of(net, from)[2], w = shape_of(net, from)[3];
    uint32_t axis = draw(random, 1, 3), size = shape_of(net, from)[axis], groups = draw(random, 2, 4);
    static const uint32_t turned[] = {0, 1, 3, 2};
    switch (draw(random, 0, 10)) {
    case 0:
        return c % groups == 0 ? shuffle(net, from, groups)
                               : shuffle(net, net_convolution(net, from, 2 * groups, 1, 1, 0, 1, true), 2);
    case 1: {
        uint32_t count = draw(random, 1, size), begin = draw(random, 0, size - count);
        return slice(net, from, axis, begin, count, 1, draw(random, 0, 3) == 0);
    }
    case 2:
        return h + w > 14 ? transpose(net, from, turned, 4)
                          : pad(net, from, draw(random, 0, 1), draw(random, 0, 2), draw(random, 0, 2), 0);
    case 3:
        return h * w > 20 ? slice(net, from, 2, 0, (h + 1) / 2, 2, false)
                          : upsample(net, from, 2, groups - 1);
    case 4:
        return excite(net, from, groups, draw(random, 0, 1) == 0);
    case 5:
        return net_elementwise(net, net_convolution(net, from, 1, 1, 1, 0, 1, true), from,
                               draw(random, 0, 1) ? PIM_ELEMENTWISE_MULTIPLY : PIM_ELEMENTWISE_SUBTRACT);
    case 8:
        return net_elementwise(net, from,
                               reduce(net, from, (enum pim_reduction)draw(random, 0, 2), 1u << axis),
                               PIM_ELEMENTWISE_ADD);
    case 9: /* rows with rows of each channel */
        return multiply(net, net_convolution(net, from, c, 1, 1, 0, 1, true), from, true);
    case 6:
        return batch_norm(net, net_convolution(net, from, groups, 3, 1, 1, 1, draw(random, 0, 1) == 0));
    case 7:
        return learned(net, net_convolution(net, from, groups, 1, 1, 0, 1, draw(random, 0, 1) == 0),
                       draw(random, 0, 1) ? PIM_ELEMENTWISE_ADD : PIM_ELEMENTWISE_MULTIPLY,
                       draw(random, 0, 1) == 0);
    default:
        return transpose(net, from, turned, 4);
    }
}

/* A convolution that keeps the map, with an activation behind it, or none. */
static uint32_t random_convolution(struct net *net, struct pim_random *random, uint32_t from,
                                   uint32_t outputs)
{
    uint32_t kernel = draw(random, 0, 1) ? 3 : 1;
    uint32_t channels = net->graph.layers[from].output.dimension[1];
    uint32_t groups = channels % 2 == 0 && outputs % 2 == 0 && draw(random, 0, 4) == 0 ? 2 : 1;
    uint32_t layer =
        net_convolution(net, from, outputs, kernel, 1, kernel / 2, groups, draw(random, 0, 1) == 0);
    switch (draw(random, 0, 5)) {
    case 0:
        return layer;
    case 1:
        return net_activation(net, layer, PIM_ACTIVATION_CLIP);
    case 2:
        return net_activation(net, layer, PIM_ACTIVATION_TANH);
    default:
        return net_activation(net, layer, PIM_ACTIVATION_RELU);
    }
}

/* A map of half the height and width. */
static uint32_t random_smaller(struct net *net, struct pim_random *random, uint32_t from)
{
    if (draw(random, 0, 1)) {
        uint32_t padding = draw(random, 0, 1);
        return net_convolution(net, from, draw(random, 1, 9), 3, 2, padding, 1, true);
    }
    bool last = draw(random, 0, 1) == 0;
    uint32_t padding = draw(random, 0, 1);
    uint32_t size = draw(random, 2, 3);
    return net_pooling(net, from, draw(random, 0, 1) ? PIM_POOLING_AVERAGE : PIM_POOLING_MAXIMUM, size, 2,
                       padding, last);
}

static uint32_t random_block(struct net *net, struct pim_random *random, uint32_t from)
{
    uint32_t channels = net->graph.layers[from].output.dimension[1];
    const uint32_t *extent = net->graph.layers[from].output.dimension + 2;
    uint32_t size = extent[0] < extent[1] ? extent[0] : extent[1];
    uint32_t branch[3];
    if (draw(random, 0, 2) == 0)
        return random_form(net, random, from);
    switch (draw(random, 0, 4)) {
    case 0: /* residual */
        branch[0] = random_convolution(net, random, from, draw(random, 1, 9));
        branch[1] = random_convolution(net, random, branch[0], channels);
        branch[2] = net_elementwise(net, from, branch[1], PIM_ELEMENTWISE_ADD);
        return draw(random, 0, 1) ? net_activation(net, branch[2], PIM_ACTIVATION_RELU) : branch[2];
    case 1: /* branches */
        for (uint32_t i = 0; i < 3; i++)
            branch[i] = random_convolution(net, random, from, draw(random, 1, 7));
        if (size > 1 && draw(random, 0, 1))
            branch[2] = net_pooling(net, from, PIM_POOLING_MAXIMUM, 3, 1, 1, false);
        return net_concat(net, branch, 3);
    case 2: /* a smaller map */
        if (size < 4)
            return random_convolution(net, random, from, draw(random, 1, 9));
        return random_smaller(net, random, from);
    case 3: /* halves of the channels */
        if (channels < 2)
            return random_convolution(net, random, from, draw(random, 2, 9));
        branch[0] = net_slice(net, from, 0, channels / 2);
        branch[1] = net_slice(net, from, channels / 2, channels - channels / 2);
        branch[0] = random_convolution(net, random, branch[0], draw(random, 1, 6));
        return net_concat(net, branch, 2);
    default:
        return random_convolution(net, random, from, draw(random, 1, 20));
    }
}

/* Arguments of a call may be evaluated in any order, so every draw is a statement of its own here. */
void net_random(struct net *net, struct pim_random *random)
{
    uint32_t columns = draw(random, 5, 9);
    uint32_t rows = draw(random, 5, 9);
    uint32_t layer = net_input(net, draw(random, 1, 5), rows, columns);
    layer = random_convolution(net, random, layer, draw(random, 1, 9));
    uint32_t blocks = draw(random, 1, 4);
    for (uint32_t i = 0; i < blocks; i++)
        layer = random_block(net, random, layer);
    if (draw(random, 0, 3) == 0)
        return;
    if (draw(random, 0, 1))
        layer = net_global_average(net, layer);
    layer = net_linear(net, net_flatten(net, layer), draw(random, 1, 12), true);
    if (draw(random, 0, 1))
        (void)net_linear(net, net_activation(net, layer, PIM_ACTIVATION_RELU), draw(random, 1, 9), false);
}
