/* One function for each operator of the graph: the ONNX nodes that are it. docs/networks.md has the table. */
#include "mappers/network/onnx/export/exporter.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static const char *input_name(const struct pim_onnx_exporter *e, uint32_t index)
{
    return e->graph->layers[e->layer->input[index]].name;
}

static const struct pim_shape *input_shape(const struct pim_onnx_exporter *e, uint32_t index)
{
    return &e->graph->layers[e->layer->input[index]].output;
}

static const char *put1(struct pim_onnx_exporter *e, const char *operation, bool last, const char *a)
{
    return pim_onnx_put(e, operation, last, 1, &a);
}

static const char *put2(struct pim_onnx_exporter *e, const char *operation, bool last, const char *a,
                        const char *b)
{
    const char *inputs[2] = {a, b};
    return pim_onnx_put(e, operation, last, 2, inputs);
}

static const char *put_reshape(struct pim_onnx_exporter *e, bool last, const char *a, const int64_t *shape,
                               size_t rank)
{
    return put2(e, "Reshape", last, a, pim_onnx_put_list(e, shape, rank, NULL));
}

static const char *put_shape(struct pim_onnx_exporter *e, bool last, const char *a,
                             const struct pim_shape *shape)
{
    int64_t list[PIM_SHAPE_RANK];
    for (uint32_t d = 0; d < shape->rank; d++)
        list[d] = shape->dimension[d];
    return put_reshape(e, last, a, list, shape->rank);
}

static const char *put_transpose(struct pim_onnx_exporter *e, bool last, const char *a, const int64_t *order,
                                 size_t rank)
{
    const char *name = put1(e, "Transpose", last, a);
    pim_onnx_put_integers(e, "perm", order, rank);
    return name;
}

static const char *put_slice(struct pim_onnx_exporter *e, bool last, const char *a, int64_t axis,
                             int64_t begin, int64_t end, int64_t step)
{
    const char *inputs[5] = {a, pim_onnx_put_list(e, &begin, 1, NULL), pim_onnx_put_list(e, &end, 1, NULL),
                             pim_onnx_put_list(e, &axis, 1, NULL), pim_onnx_put_list(e, &step, 1, NULL)};
    return pim_onnx_put(e, "Slice", last, 5, inputs);
}

void pim_onnx_refuse_layer(struct pim_onnx_exporter *e, const char *what)
{
    e->status = pim_fail(e->error, PIM_BAD_INPUT, "layer %s (%s): ONNX has no operator for %s",
                         e->layer->name, pim_operator_name(e->layer->operation), what);
}

static void put_parameter(struct pim_onnx_exporter *e)
{
    (void)pim_onnx_put_weights(e, e->layer->name, &e->layer->output);
}

/* Zeros that are no weights: whole numbers, expanded, as floats. */
static void put_constant(struct pim_onnx_exporter *e)
{
    static const struct pim_shape scalar = {.rank = 0};
    const struct pim_shape *shape = &e->layer->output;
    const int64_t zero = 0;
    int64_t list[PIM_SHAPE_RANK];
    for (uint32_t d = 0; d < shape->rank; d++)
        list[d] = shape->dimension[d];
    const char *zeros = put2(e, "Expand", false, pim_onnx_put_list(e, &zero, 1, &scalar),
                             pim_onnx_put_list(e, list, shape->rank, NULL));
    (void)put1(e, "Cast", true, zeros);
    pim_onnx_put_integer(e, "to", 1);
}

/* Elements at computed places: which ones is left open, like the weights. All inputs as one list, and from it
 * as many elements as the result has. */
static void put_places(struct pim_onnx_exporter *e)
{
    static const int64_t all[1] = {-1};
    const struct pim_shape *shape = &e->layer->output;
    const char *inputs[PIM_LAYER_INPUTS] = {""};
    int64_t list[PIM_SHAPE_RANK];
    for (uint32_t n = 0; n < e->layer->inputs; n++)
        inputs[n] = put_reshape(e, false, input_name(e, n), all, 1);
    const char *from = inputs[0];
    if (e->layer->inputs > 1) {
        from = pim_onnx_put(e, "Concat", false, e->layer->inputs, inputs);
        pim_onnx_put_integer(e, "axis", 0);
    }
    for (uint32_t d = 0; d < shape->rank; d++)
        list[d] = shape->dimension[d];
    const char *index = put1(e, "ConstantOfShape", false, pim_onnx_put_list(e, list, shape->rank, NULL));
    index = put1(e, "Cast", false, index);
    pim_onnx_put_integer(e, "to", 7);
    (void)put2(e, "Gather", true, from, index);
    pim_onnx_put_integer(e, "axis", 0);
}

static void put_linear(struct pim_onnx_exporter *e)
{
    const union pim_attributes *a = &e->layer->attributes;
    const struct pim_shape *shape = input_shape(e, 0);
    const struct pim_shape weights = {.rank = 2,
                                      .dimension = {shape->dimension[shape->rank - 1], a->linear.outputs}};
    const struct pim_shape bias = {.rank = 1, .dimension = {a->linear.outputs}};
    const struct pim_layer *owner = a->linear.shared ? &e->graph->layers[a->linear.weights_of] : e->layer;
    const char *weight_name = pim_onnx_inner_name(e, owner, "weight");
    const char *bias_name = pim_onnx_inner_name(e, owner, "bias");
    if (!a->linear.shared) {
        (void)pim_onnx_put_weights(e, weight_name, &weights);
        if (a->linear.bias)
            (void)pim_onnx_put_weights(e, bias_name, &bias);
    }
    static const int64_t turned[2] = {1, 0};
    if (a->linear.transposed)
        weight_name = put_transpose(e, false, weight_name, turned, 2);
    const char *product = put2(e, "MatMul", !a->linear.bias, input_name(e, 0), weight_name);
    if (a->linear.bias)
        (void)put2(e, "Add", true, product, bias_name);
}

static void put_matrix(struct pim_onnx_exporter *e)
{
    const struct pim_shape *second = input_shape(e, 1);
    const char *b = input_name(e, 1);
    if (e->layer->attributes.matrix.transpose_second) {
        int64_t order[PIM_SHAPE_RANK];
        for (uint32_t d = 0; d < second->rank; d++)
            order[d] = d;
        order[second->rank - 2] = second->rank - 1;
        order[second->rank - 1] = second->rank - 2;
        b = put_transpose(e, false, b, order, second->rank);
    }
    (void)put2(e, "MatMul", true, input_name(e, 0), b);
}

/* [branches, tokens, channels] as [branches, heads, tokens, channels of a head], or with the last two
 * swapped. */
static const char *put_heads(struct pim_onnx_exporter *e, uint32_t input, uint32_t heads, bool swap)
{
    static const int64_t plain[4] = {0, 2, 1, 3}, swapped[4] = {0, 2, 3, 1};
    const struct pim_shape *s = input_shape(e, input);
    const int64_t shape[4] = {s->dimension[0], s->dimension[1], heads, s->dimension[2] / heads};
    return put_transpose(e, false, put_reshape(e, false, input_name(e, input), shape, 4),
                         swap ? swapped : plain, 4);
}

static void put_scores(struct pim_onnx_exporter *e)
{
    const union pim_attributes *a = &e->layer->attributes;
    const struct pim_shape *s = input_shape(e, 0), *out = &e->layer->output;
    uint32_t heads = a->attention.heads;
    uint64_t table = a->attention.bias_parameters;
    const char *query = put_heads(e, 0, heads, false), *key = put_heads(e, 1, heads, true);
    const char *product = put2(e, "MatMul", false, query, key);
    uint32_t channels = s->dimension[2] / heads; /* of a head */
    double scale = 1 / sqrt((double)channels);
    const char *number = pim_onnx_put_number(e, scale);
    product = put2(e, "Mul", table == 0, product, number);
    if (table == 0)
        return;
    /* Relative position bias: an entry of the table for each head, query and key. Which one is left open, as
     * the weights are; what counts is the table's size. */
    if (table > PIM_DIMENSION_LIMIT) {
        pim_onnx_refuse_layer(e, "a bias table of that size");
        return;
    }
    const struct pim_shape entries = {.rank = 1, .dimension = {(uint32_t)table}};
    const struct pim_shape index = {.rank = 3,
                                    .dimension = {out->dimension[1], out->dimension[2], out->dimension[3]}};
    const char *bias = pim_onnx_put_weights(e, pim_onnx_inner_name(e, e->layer, "bias_table"), &entries);
    const int64_t dimensions[3] = {index.dimension[0], index.dimension[1], index.dimension[2]};
    const char *zeros = put1(e, "ConstantOfShape", false, pim_onnx_put_list(e, dimensions, 3, NULL));
    const char *indices = put1(e, "Cast", false, zeros);
    pim_onnx_put_integer(e, "to", 7);
    (void)put2(e, "Add", true, product, put2(e, "Gather", false, bias, indices));
}

static void put_context(struct pim_onnx_exporter *e)
{
    static const int64_t order[4] = {0, 2, 1, 3};
    const char *value = put_heads(e, 1, e->layer->attributes.attention.heads, false);
    const char *product = put2(e, "MatMul", false, input_name(e, 0), value);
    (void)put_shape(e, true, put_transpose(e, false, product, order, 4), &e->layer->output);
}

/* The mean of the squares of the last dimension, and its root with the usual addend. */
static const char *put_root_of_mean(struct pim_onnx_exporter *e, const char *values)
{
    const int64_t last = (int64_t)e->layer->output.rank - 1;
    const char *mean = put1(e, "ReduceMean", false, put2(e, "Mul", false, values, values));
    pim_onnx_put_integers(e, "axes", &last, 1);
    return put1(e, "Sqrt", false, put2(e, "Add", false, mean, pim_onnx_put_number(e, 1e-5)));
}

/* Without scale and shift: over the batch and the map by the operator for it, over the last dimension
 * written out. */
static void put_plain_normalization(struct pim_onnx_exporter *e)
{
    const char *x = input_name(e, 0);
    int64_t axes[PIM_SHAPE_RANK], last = (int64_t)e->layer->output.rank - 1;
    size_t count = 0;
    if (e->layer->attributes.normalization.kind == PIM_NORMALIZATION_BATCH) {
        for (uint32_t d = 0; d < e->layer->output.rank; d++)
            if (d != 1)
                axes[count++] = d;
        (void)put1(e, "MeanVarianceNormalization", true, x);
        pim_onnx_put_integers(e, "axes", axes, count);
        return;
    }
    const char *mean = put1(e, "ReduceMean", false, x);
    pim_onnx_put_integers(e, "axes", &last, 1);
    const char *centred = put2(e, "Sub", false, x, mean);
    (void)put2(e, "Div", true, centred, put_root_of_mean(e, centred));
}

/* Version 17 has no operator for it. */
static void put_root_mean_square(struct pim_onnx_exporter *e, const struct pim_shape *channels)
{
    const bool affine = e->layer->attributes.normalization.affine;
    const char *x = input_name(e, 0), *root = put_root_of_mean(e, x);
    const char *result = put2(e, "Div", !affine, x, root);
    if (affine)
        (void)put2(e, "Mul", true, result,
                   pim_onnx_put_weights(e, pim_onnx_inner_name(e, e->layer, "scale"), channels));
}

static void put_normalization(struct pim_onnx_exporter *e)
{
    static const char *const names[4] = {"scale", "shift", "mean", "variance"};
    enum pim_normalization kind = e->layer->attributes.normalization.kind;
    const struct pim_shape *s = input_shape(e, 0);
    const struct pim_shape channels = {
        .rank = 1, .dimension = {s->dimension[kind == PIM_NORMALIZATION_LAYER ? s->rank - 1 : 1]}};
    const char *inputs[5] = {input_name(e, 0)};
    if (kind == PIM_NORMALIZATION_LOCAL_RESPONSE) {
        (void)put1(e, "LRN", true, inputs[0]);
        pim_onnx_put_integer(e, "size", 5);
        return;
    }
    if (e->layer->attributes.normalization.root_mean_square) {
        put_root_mean_square(e, &channels);
        return;
    }
    if (!e->layer->attributes.normalization.affine) {
        put_plain_normalization(e);
        return;
    }
    uint32_t tensors = kind == PIM_NORMALIZATION_BATCH                ? 4
                       : e->layer->attributes.normalization.unshifted ? 1
                                                                      : 2;
    for (uint32_t t = 0; t < tensors; t++)
        inputs[1 + t] = pim_onnx_put_weights(e, pim_onnx_inner_name(e, e->layer, names[t]), &channels);
    (void)pim_onnx_put(e, kind == PIM_NORMALIZATION_BATCH ? "BatchNormalization" : "LayerNormalization", true,
                       1 + tensors, inputs);
}

static void put_activation(struct pim_onnx_exporter *e)
{
    static const char *const names[PIM_ACTIVATIONS] = {
        [PIM_ACTIVATION_RELU] = "Relu",
        [PIM_ACTIVATION_SIGMOID] = "Sigmoid",
        [PIM_ACTIVATION_TANH] = "Tanh",
        [PIM_ACTIVATION_LEAKY_RELU] = "LeakyRelu",
        [PIM_ACTIVATION_HARD_SIGMOID] = "HardSigmoid",
        [PIM_ACTIVATION_HARD_SWISH] = "HardSwish",
        [PIM_ACTIVATION_ELU] = "Elu",
        [PIM_ACTIVATION_SOFTPLUS] = "Softplus",
        [PIM_ACTIVATION_ERROR_FUNCTION] = "Erf",
        [PIM_ACTIVATION_EXPONENTIAL] = "Exp",
        [PIM_ACTIVATION_LOGARITHM] = "Log",
        [PIM_ACTIVATION_SQUARE_ROOT] = "Sqrt",
        [PIM_ACTIVATION_RECIPROCAL] = "Reciprocal",
    };
    enum pim_activation kind = e->layer->attributes.activation;
    const char *x = input_name(e, 0);
    if (kind == PIM_ACTIVATION_GELU) { /* version 17 has no Gelu: x / sqrt 2 -> erf -> + 1 -> * x -> * 0.5 */
        const char *y = put1(e, "Erf", false, put2(e, "Div", false, x, pim_onnx_put_number(e, sqrt(2))));
        y = put2(e, "Mul", false, put2(e, "Add", false, y, pim_onnx_put_number(e, 1)), x);
        (void)put2(e, "Mul", true, y, pim_onnx_put_number(e, 0.5));
    } else if (kind == PIM_ACTIVATION_SILU) {
        (void)put2(e, "Mul", true, put1(e, "Sigmoid", false, x), x);
    } else if (kind == PIM_ACTIVATION_MISH) {
        (void)put2(e, "Mul", true, put1(e, "Tanh", false, put1(e, "Softplus", false, x)), x);
    } else if (kind == PIM_ACTIVATION_CLIP) {
        /* The graph keeps no limits: those of ReLU6, which the descriptors mean. */
        const char *least = pim_onnx_put_number(e, 0), *most = pim_onnx_put_number(e, 6);
        const char *inputs[3] = {x, least, most};
        (void)pim_onnx_put(e, "Clip", true, 3, inputs);
    } else if (names[kind]) {
        (void)put1(e, names[kind], true, x);
    } else {
        pim_onnx_refuse_layer(e, "a function that is not known");
    }
}

static void put_softmax(struct pim_onnx_exporter *e)
{
    (void)put1(e, "Softmax", true, input_name(e, 0));
    pim_onnx_put_integer(e, "axis", -1);
}

static void put_reduction(struct pim_onnx_exporter *e)
{
    static const char *const names[] = {"ReduceMean", "ReduceSum", "ReduceMax", "ReduceL2"};
    const union pim_attributes *a = &e->layer->attributes;
    int64_t axes[PIM_SHAPE_RANK];
    size_t count = 0;
    for (uint32_t d = 0; d < input_shape(e, 0)->rank; d++)
        if (a->reduction.axes >> d & 1)
            axes[count++] = d;
    bool sum = a->reduction.kind == PIM_REDUCTION_SUM; /* its axes became an input in version 13 */
    if (sum) {
        (void)put2(e, names[a->reduction.kind], true, input_name(e, 0),
                   pim_onnx_put_list(e, axes, count, NULL));
    } else {
        (void)put1(e, names[a->reduction.kind], true, input_name(e, 0));
        pim_onnx_put_integers(e, "axes", axes, count);
    }
    pim_onnx_put_integer(e, "keepdims", a->reduction.keep);
}

static void put_elementwise(struct pim_onnx_exporter *e)
{
    static const char *const names[PIM_ELEMENTWISES] = {
        [PIM_ELEMENTWISE_ADD] = "Add",      [PIM_ELEMENTWISE_SUBTRACT] = "Sub",
        [PIM_ELEMENTWISE_MULTIPLY] = "Mul", [PIM_ELEMENTWISE_DIVIDE] = "Div",
        [PIM_ELEMENTWISE_MAXIMUM] = "Max",  [PIM_ELEMENTWISE_MINIMUM] = "Min",
        [PIM_ELEMENTWISE_POWER] = "Pow",
    };
    const char *operation = names[e->layer->attributes.elementwise], *sum = input_name(e, 0);
    if (!operation) {
        pim_onnx_refuse_layer(e, pim_elementwise_name(e->layer->attributes.elementwise));
        return;
    }
    if (e->layer->inputs == 1)
        (void)put2(e, operation, true, sum, pim_onnx_put_number(e, 1));
    for (uint32_t n = 1; n < e->layer->inputs; n++)
        sum = put2(e, operation, n + 1 == e->layer->inputs, sum, input_name(e, n));
}

static void put_concat(struct pim_onnx_exporter *e)
{
    const char *inputs[PIM_LAYER_INPUTS];
    for (uint32_t n = 0; n < e->layer->inputs; n++)
        inputs[n] = input_name(e, n);
    (void)pim_onnx_put(e, "Concat", true, e->layer->inputs, inputs);
    pim_onnx_put_integer(e, "axis", e->layer->attributes.concat.axis);
}

static void put_slice_layer(struct pim_onnx_exporter *e)
{
    const union pim_attributes *a = &e->layer->attributes;
    int64_t step = a->slice.step ? a->slice.step : 1, begin = a->slice.begin;
    int64_t last = begin + ((int64_t)a->slice.count - 1) * step;
    if (a->slice.reversed) /* an end before position 0 is written as one far below */
        (void)put_slice(e, true, input_name(e, 0), a->slice.axis, last, begin ? begin - 1 : INT64_MIN + 1,
                        -step);
    else
        (void)put_slice(e, true, input_name(e, 0), a->slice.axis, begin, last + 1, step);
}

static const char *put_pads(struct pim_onnx_exporter *e, bool last, const char *x, uint32_t rank,
                            const uint32_t *before, const uint32_t *after)
{
    int64_t pads[2 * PIM_SHAPE_RANK];
    for (uint32_t d = 0; d < rank; d++) {
        pads[d] = before[d];
        pads[rank + d] = after[d];
    }
    return put2(e, "Pad", last, x, pim_onnx_put_list(e, pads, (size_t)2 * rank, NULL));
}

static void put_pad(struct pim_onnx_exporter *e)
{
    const union pim_attributes *a = &e->layer->attributes;
    (void)put_pads(e, true, input_name(e, 0), e->layer->output.rank, a->pad.before, a->pad.after);
}

static void put_reshape_layer(struct pim_onnx_exporter *e)
{
    (void)put_shape(e, true, input_name(e, 0), &e->layer->output);
}

static void put_transpose_layer(struct pim_onnx_exporter *e)
{
    int64_t order[PIM_SHAPE_RANK];
    for (uint32_t d = 0; d < e->layer->output.rank; d++)
        order[d] = e->layer->attributes.transpose.order[d];
    (void)put_transpose(e, true, input_name(e, 0), order, e->layer->output.rank);
}

static void put_gather(struct pim_onnx_exporter *e)
{
    const struct pim_shape *indices = &e->layer->attributes.gather_along.indices;
    const char *index = e->layer->inputs == 2 ? input_name(e, 1) : NULL;
    int64_t dimensions[PIM_SHAPE_RANK];
    for (uint32_t d = 0; d < indices->rank; d++)
        dimensions[d] = indices->dimension[d];
    if (!index)
        index = put1(e, "ConstantOfShape", false, pim_onnx_put_list(e, dimensions, indices->rank, NULL));
    index = put1(e, "Cast", false, index); /* activations are floats */
    pim_onnx_put_integer(e, "to", 7);
    (void)put2(e, "Gather", true, input_name(e, 0), index);
    pim_onnx_put_integer(e, "axis", e->layer->attributes.gather_along.axis);
}

static void put_expand(struct pim_onnx_exporter *e)
{
    const struct pim_shape *from = input_shape(e, 0), *to = &e->layer->output;
    int64_t list[PIM_SHAPE_RANK];
    bool broadcast = true;
    for (uint32_t d = 0; d < to->rank; d++) {
        list[d] = to->dimension[d];
        uint32_t own = d + from->rank >= to->rank ? from->dimension[d + from->rank - to->rank] : 1;
        broadcast &= own == 1 || own == to->dimension[d];
    }
    if (broadcast) {
        (void)put2(e, "Expand", true, input_name(e, 0), pim_onnx_put_list(e, list, to->rank, NULL));
    } else if (from->rank == to->rank) {
        const char *inputs[4] = {input_name(e, 0), "", "", pim_onnx_put_list(e, list, to->rank, NULL)};
        (void)pim_onnx_put(e, "Resize", true, 4, inputs);
    } else {
        pim_onnx_refuse_layer(e, "an expansion that is neither broadcast nor resizing");
    }
}

/* A cyclic roll along one axis: what leaves at one end comes in at the other. */
static const char *put_roll(struct pim_onnx_exporter *e, bool last, const char *x, int64_t axis,
                            uint32_t size, int32_t by)
{
    int64_t shift = ((int64_t)by % size + size) % size, cut = (int64_t)size - shift;
    if (shift == 0)
        return last ? put1(e, "Identity", true, x) : x;
    const char *tail = put_slice(e, false, x, axis, cut, size, 1);
    const char *name = put2(e, "Concat", last, tail, put_slice(e, false, x, axis, 0, cut, 1));
    pim_onnx_put_integer(e, "axis", axis);
    return name;
}

static void put_shift(struct pim_onnx_exporter *e)
{
    const union pim_attributes *a = &e->layer->attributes;
    const struct pim_shape *s = input_shape(e, 0);
    const char *x = put_roll(e, false, input_name(e, 0), 1, s->dimension[1], a->shift.rows);
    (void)put_roll(e, true, x, 2, s->dimension[2], a->shift.columns);
}

static const int64_t window_order[6] = {0, 1, 3, 2, 4, 5}; /* its own inverse */

static void put_window_partition(struct pim_onnx_exporter *e)
{
    const union pim_attributes *a = &e->layer->attributes;
    const struct pim_shape *s = input_shape(e, 0);
    const int64_t h = a->window.height, w = a->window.width;
    const int64_t apart[6] = {s->dimension[0], s->dimension[1] / h, h, s->dimension[2] / w, w,
                              s->dimension[3]};
    const char *x = put_reshape(e, false, input_name(e, 0), apart, 6);
    (void)put_shape(e, true, put_transpose(e, false, x, window_order, 6), &e->layer->output);
}

static void put_window_reverse(struct pim_onnx_exporter *e)
{
    const union pim_attributes *a = &e->layer->attributes;
    const struct pim_shape *out = &e->layer->output;
    const int64_t h = a->window.height, w = a->window.width;
    const int64_t apart[6] = {out->dimension[0], out->dimension[1] / h, out->dimension[2] / w, h, w,
                              out->dimension[3]};
    const char *x = put_reshape(e, false, input_name(e, 0), apart, 6);
    (void)put_shape(e, true, put_transpose(e, false, x, window_order, 6), out);
}

/* Position of a region that begins half of `around` before the map. */
static uint64_t cyclic_position(uint64_t position, uint64_t around, uint64_t size)
{
    return (position + around * size - around / 2) % size;
}

/*
 * Regions that overlap: the map with a margin of zeros, or without one where it begins anew at its border;
 * its positions as one dimension, and from those the positions of every region.
 */
static void put_window_gather(struct pim_onnx_exporter *e)
{
    const struct pim_shape *s = input_shape(e, 0);
    uint32_t stride = e->layer->attributes.gather.stride, side = e->layer->attributes.gather.side;
    bool cyclic = e->layer->attributes.gather.cyclic;
    uint32_t around = side > stride ? side - stride : 0, margin = cyclic ? 0 : around;
    uint32_t before[4] = {0, margin / 2, margin / 2, 0};
    uint32_t after[4] = {0, margin - margin / 2, margin - margin / 2, 0};
    uint64_t rows = s->dimension[1] / stride, columns = s->dimension[2] / stride,
             width = (uint64_t)s->dimension[2] + margin;
    uint64_t count = rows * columns * side * side;
    if (count > PIM_DIMENSION_LIMIT / 16) {
        pim_onnx_refuse_layer(e, "so many overlapping regions");
        return;
    }
    int64_t *index = pim_arena_require_array(&e->arena, (size_t)count + 1, sizeof *index, _Alignof(int64_t));
    for (uint64_t n = 0; n < count; n++) {
        uint64_t window = n / side / side, y = window / columns * stride + n / side % side,
                 x = window % columns * stride + n % side;
        index[n] = (int64_t)(cyclic ? cyclic_position(y, around, s->dimension[1]) * width +
                                          cyclic_position(x, around, s->dimension[2])
                                    : y * width + x);
    }
    const char *map = input_name(e, 0);
    if (margin)
        map = put_pads(e, false, map, 4, before, after);
    const int64_t flat[3] = {s->dimension[0], (int64_t)(((uint64_t)s->dimension[1] + margin) * width),
                             s->dimension[3]};
    const struct pim_shape shape = {.rank = 1, .dimension = {(uint32_t)count}};
    const char *picked = put2(e, "Gather", false, put_reshape(e, false, map, flat, 3),
                              pim_onnx_put_list(e, index, (size_t)count, &shape));
    pim_onnx_put_integer(e, "axis", 1);
    (void)put_shape(e, true, picked, &e->layer->output);
}

/* Neighbours of a block go into the channels, rows varying fastest, as the networks' own code does. */
static void put_patch_merging(struct pim_onnx_exporter *e)
{
    static const int64_t order[6] = {0, 1, 3, 4, 2, 5};
    const struct pim_shape *s = input_shape(e, 0), *out = &e->layer->output;
    uint32_t factor = e->layer->attributes.merging.factor, before[4] = {0}, after[4] = {0};
    after[1] = out->dimension[1] * factor - s->dimension[1];
    after[2] = out->dimension[2] * factor - s->dimension[2];
    const char *x = input_name(e, 0);
    if (after[1] || after[2])
        x = put_pads(e, false, x, 4, before, after);
    const int64_t apart[6] = {s->dimension[0], out->dimension[1], factor, out->dimension[2],
                              factor,          s->dimension[3]};
    x = put_transpose(e, false, put_reshape(e, false, x, apart, 6), order, 6);
    (void)put_shape(e, true, x, out);
}

static void put_nothing(struct pim_onnx_exporter *e)
{
    (void)e; /* inputs of the network are described, not made */
}

void pim_onnx_put_layer(struct pim_onnx_exporter *e)
{
    static void (*const put[PIM_OPERATORS])(struct pim_onnx_exporter *) = {
        [PIM_OPERATOR_INPUT] = put_nothing,
        [PIM_OPERATOR_PARAMETER] = put_parameter,
        [PIM_OPERATOR_CONVOLUTION] = pim_onnx_put_convolution,
        [PIM_OPERATOR_TRANSPOSED_CONVOLUTION] = pim_onnx_put_transposed_convolution,
        [PIM_OPERATOR_RECURRENT] = pim_onnx_put_recurrent,
        [PIM_OPERATOR_CONSTANT] = put_constant,
        [PIM_OPERATOR_SAMPLE] = put_places,
        [PIM_OPERATOR_SCATTER] = put_places,
        [PIM_OPERATOR_SORT] = put_places,
        [PIM_OPERATOR_LINEAR] = put_linear,
        [PIM_OPERATOR_MATRIX_MULTIPLICATION] = put_matrix,
        [PIM_OPERATOR_ATTENTION_SCORES] = put_scores,
        [PIM_OPERATOR_ATTENTION_CONTEXT] = put_context,
        [PIM_OPERATOR_NORMALIZATION] = put_normalization,
        [PIM_OPERATOR_ACTIVATION] = put_activation,
        [PIM_OPERATOR_SOFTMAX] = put_softmax,
        [PIM_OPERATOR_POOLING] = pim_onnx_put_pooling,
        [PIM_OPERATOR_REDUCTION] = put_reduction,
        [PIM_OPERATOR_ELEMENTWISE] = put_elementwise,
        [PIM_OPERATOR_CONCAT] = put_concat,
        [PIM_OPERATOR_SLICE] = put_slice_layer,
        [PIM_OPERATOR_GATHER] = put_gather,
        [PIM_OPERATOR_EXPAND] = put_expand,
        [PIM_OPERATOR_PAD] = put_pad,
        [PIM_OPERATOR_RESHAPE] = put_reshape_layer,
        [PIM_OPERATOR_TRANSPOSE] = put_transpose_layer,
        [PIM_OPERATOR_SHIFT] = put_shift,
        [PIM_OPERATOR_WINDOW_PARTITION] = put_window_partition,
        [PIM_OPERATOR_WINDOW_REVERSE] = put_window_reverse,
        [PIM_OPERATOR_WINDOW_GATHER] = put_window_gather,
        [PIM_OPERATOR_PATCH_MERGING] = put_patch_merging,
    };
    put[e->layer->operation](e);
}
