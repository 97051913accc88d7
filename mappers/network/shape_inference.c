/*
 * Shape inference: one function for each operator derives the output's shape, the MACs and the parameters.
 * Those of sliding windows and recurrent layers are in shape_sliding.c.
 *
 * Every size is checked: dimensions against PIM_DIMENSION_LIMIT, elements against PIM_ELEMENT_LIMIT, products
 * against 64 bits.
 */
#include "mappers/network/inference.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static bool multiply(uint64_t a, uint64_t b, uint64_t *product)
{
    if (a != 0 && b > UINT64_MAX / a)
        return false;
    *product = a * b;
    return true;
}

uint64_t pim_shape_elements(const struct pim_shape *shape)
{
    uint64_t elements = 1;
    for (uint32_t i = 0; i < shape->rank; i++)
        elements *= shape->dimension[i];
    return elements;
}

bool pim_shape_equal(const struct pim_shape *a, const struct pim_shape *b)
{
    if (a->rank != b->rank)
        return false;
    for (uint32_t i = 0; i < a->rank; i++) {
        if (a->dimension[i] != b->dimension[i])
            return false;
    }
    return true;
}

const char *pim_shape_text(const struct pim_shape *shape, char *text, size_t size)
{
    if (size == 0)
        return text;
    (void)snprintf(text, size, "%s", shape->rank == 0 ? "scalar" : "");
    size_t used = 0;
    for (uint32_t i = 0; i < shape->rank && i < PIM_SHAPE_RANK && used < size; i++) {
        int written = snprintf(text + used, size - used, "%s%" PRIu32, i ? "x" : "", shape->dimension[i]);
        used += written > 0 ? (size_t)written : 0;
    }
    return text;
}

enum pim_status pim_infer_take_output(const struct pim_inference_context *c, const struct pim_shape *shape)
{
    if (shape->rank > PIM_SHAPE_RANK)
        return pim_fail(c->error, PIM_BAD_INPUT,
                        "the output has %" PRIu32 " dimensions: at most %d are allowed", shape->rank,
                        PIM_SHAPE_RANK);
    uint64_t elements = 1;
    for (uint32_t i = 0; i < shape->rank; i++) {
        uint32_t dimension = shape->dimension[i];
        if (dimension == 0 || dimension > PIM_DIMENSION_LIMIT)
            return pim_fail(c->error, PIM_BAD_INPUT,
                            "dimension %" PRIu32 " of the output is %" PRIu32 ": allowed are 1 to %" PRIu32,
                            i, dimension, PIM_DIMENSION_LIMIT);
        if (!multiply(elements, dimension, &elements) || elements > PIM_ELEMENT_LIMIT) {
            char text[96];
            return pim_fail(c->error, PIM_BAD_INPUT, "the output %s has more than %" PRIu64 " elements",
                            pim_shape_text(shape, text, sizeof text), PIM_ELEMENT_LIMIT);
        }
    }
    c->result->output = *shape;
    return PIM_OK;
}

enum pim_status pim_infer_set_macs(const struct pim_inference_context *c, uint64_t a, uint64_t b, uint64_t d)
{
    if (!multiply(a, b, &c->result->macs) || !multiply(c->result->macs, d, &c->result->macs) ||
        c->result->macs > PIM_COUNT_LIMIT)
        return pim_fail(c->error, PIM_BAD_INPUT, "it has more than %" PRIu64 " MACs", PIM_COUNT_LIMIT);
    return PIM_OK;
}

enum pim_status pim_infer_set_parameters(const struct pim_inference_context *c, uint64_t a, uint64_t b,
                                         uint64_t d)
{
    if (!multiply(a, b, &c->result->parameters) ||
        !multiply(c->result->parameters, d, &c->result->parameters) ||
        c->result->parameters > PIM_COUNT_LIMIT)
        return pim_fail(c->error, PIM_BAD_INPUT, "it has more than %" PRIu64 " parameters", PIM_COUNT_LIMIT);
    return PIM_OK;
}

enum pim_status pim_infer_expect_rank(const struct pim_inference_context *c, uint32_t input, uint32_t rank,
                                      const char *layout)
{
    if (c->inputs[input]->rank == rank)
        return PIM_OK;
    char text[96];
    return pim_fail(c->error, PIM_BAD_INPUT, "input %" PRIu32 " has shape %s: %s is needed", input,
                    pim_shape_text(c->inputs[input], text, sizeof text), layout);
}

static enum pim_status expect_axis(const struct pim_inference_context *c, uint32_t axis)
{
    if (axis < c->inputs[0]->rank)
        return PIM_OK;
    return pim_fail(c->error, PIM_BAD_INPUT,
                    "axis %" PRIu32 " does not exist: the input has %" PRIu32 " dimensions", axis,
                    c->inputs[0]->rank);
}

static enum pim_status infer_source(const struct pim_inference_context *c)
{
    return pim_infer_take_output(c, &c->attributes->shape);
}

static enum pim_status infer_parameter(const struct pim_inference_context *c)
{
    enum pim_status status = pim_infer_take_output(c, &c->attributes->shape);
    if (status == PIM_OK)
        c->result->parameters = pim_shape_elements(&c->attributes->shape);
    return status;
}

static enum pim_status infer_reshape(const struct pim_inference_context *c)
{
    enum pim_status status = pim_infer_take_output(c, &c->attributes->shape);
    if (status != PIM_OK)
        return status;
    if (pim_shape_elements(&c->attributes->shape) == pim_shape_elements(c->inputs[0]))
        return PIM_OK;
    char from[96], to[96];
    return pim_fail(c->error, PIM_BAD_INPUT, "%s cannot be reshaped to %s: the numbers of elements differ",
                    pim_shape_text(c->inputs[0], from, sizeof from),
                    pim_shape_text(&c->attributes->shape, to, sizeof to));
}

static enum pim_status infer_linear(const struct pim_inference_context *c)
{
    struct pim_shape output = *c->inputs[0];
    uint32_t outputs = c->attributes->linear.outputs;
    if (output.rank == 0)
        return pim_fail(c->error, PIM_BAD_INPUT,
                        "the input is a scalar: a dimension to multiply along is needed");
    uint64_t channels = output.dimension[output.rank - 1];
    output.dimension[output.rank - 1] = outputs;
    enum pim_status status = pim_infer_take_output(c, &output);
    if (status != PIM_OK)
        return status;
    if (!c->attributes->linear.shared)
        c->result->parameters = channels * outputs + (c->attributes->linear.bias ? outputs : 0);
    return pim_infer_set_macs(c, pim_shape_elements(c->inputs[0]), outputs, 1);
}

/* Widens `shape` by NumPy's rule: dimensions are aligned at the end, and 1 meets any size. */
static enum pim_status broadcast(const struct pim_inference_context *c, struct pim_shape *shape,
                                 const struct pim_shape *other, uint32_t keep)
{
    struct pim_shape wide = {.rank = shape->rank > other->rank ? shape->rank : other->rank};
    for (uint32_t i = keep; i < wide.rank; i++) {
        uint32_t a = i < shape->rank ? shape->dimension[shape->rank - 1 - i] : 1;
        uint32_t b = i < other->rank ? other->dimension[other->rank - 1 - i] : 1;
        if (a != b && a != 1 && b != 1) {
            char first[96], second[96];
            return pim_fail(c->error, PIM_BAD_INPUT, "shapes %s and %s cannot be combined",
                            pim_shape_text(shape, first, sizeof first),
                            pim_shape_text(other, second, sizeof second));
        }
        wide.dimension[wide.rank - 1 - i] = a == 1 ? b : a;
    }
    *shape = wide;
    return PIM_OK;
}

static enum pim_status infer_matrix(const struct pim_inference_context *c)
{
    const struct pim_shape *a = c->inputs[0], *b = c->inputs[1];
    if (a->rank < 2 || b->rank < 2)
        return pim_fail(c->error, PIM_BAD_INPUT, "both inputs need at least two dimensions");
    bool transpose = c->attributes->matrix.transpose_second;
    uint32_t k = b->dimension[b->rank - (transpose ? 1 : 2)], n = b->dimension[b->rank - (transpose ? 2 : 1)];
    if (a->dimension[a->rank - 1] != k) {
        char first[96], second[96];
        return pim_fail(c->error, PIM_BAD_INPUT,
                        "%s cannot be multiplied with %s%s: inner dimensions are %" PRIu32 " and %" PRIu32,
                        pim_shape_text(a, first, sizeof first), pim_shape_text(b, second, sizeof second),
                        transpose ? " transposed" : "", a->dimension[a->rank - 1], k);
    }
    struct pim_shape output = *a;
    enum pim_status status = broadcast(c, &output, b, 2);
    if (status != PIM_OK)
        return status;
    output.dimension[output.rank - 2] = a->dimension[a->rank - 2];
    output.dimension[output.rank - 1] = n;
    status = pim_infer_take_output(c, &output);
    return status == PIM_OK ? pim_infer_set_macs(c, pim_shape_elements(&output), k, 1) : status;
}

static enum pim_status infer_scores(const struct pim_inference_context *c)
{
    const struct pim_shape *query = c->inputs[0], *key = c->inputs[1];
    uint32_t heads = c->attributes->attention.heads;
    enum pim_status status = pim_infer_expect_rank(c, 0, 3, "[branches, tokens, channels]");
    if (status == PIM_OK)
        status = pim_infer_expect_rank(c, 1, 3, "[branches, tokens, channels]");
    if (status != PIM_OK)
        return status;
    if (query->dimension[0] != key->dimension[0] || query->dimension[2] != key->dimension[2])
        return pim_fail(c->error, PIM_BAD_INPUT, "queries and keys differ in branches or channels");
    if (heads == 0 || query->dimension[2] % heads != 0)
        return pim_fail(c->error, PIM_BAD_INPUT, "%" PRIu32 " heads do not divide %" PRIu32 " channels",
                        heads, query->dimension[2]);
    struct pim_shape output = {
        .rank = 4, .dimension = {query->dimension[0], heads, query->dimension[1], key->dimension[1]}};
    status = pim_infer_take_output(c, &output);
    c->result->parameters = c->attributes->attention.bias_parameters;
    return status == PIM_OK ? pim_infer_set_macs(c, pim_shape_elements(query), key->dimension[1], 1) : status;
}

static enum pim_status infer_context(const struct pim_inference_context *c)
{
    const struct pim_shape *scores = c->inputs[0], *value = c->inputs[1];
    enum pim_status status = pim_infer_expect_rank(c, 0, 4, "[branches, heads, queries, keys]");
    if (status == PIM_OK)
        status = pim_infer_expect_rank(c, 1, 3, "[branches, tokens, channels]");
    if (status != PIM_OK)
        return status;
    if (scores->dimension[0] != value->dimension[0] || scores->dimension[3] != value->dimension[1])
        return pim_fail(c->error, PIM_BAD_INPUT, "scores and values differ in branches or tokens");
    if (scores->dimension[1] != c->attributes->attention.heads ||
        value->dimension[2] % scores->dimension[1] != 0)
        return pim_fail(c->error, PIM_BAD_INPUT,
                        "%" PRIu32 " heads do not fit %" PRIu32 " heads of scores and %" PRIu32
                        " channels of values",
                        c->attributes->attention.heads, scores->dimension[1], value->dimension[2]);
    struct pim_shape output = {.rank = 3,
                               .dimension = {value->dimension[0], scores->dimension[2], value->dimension[2]}};
    status = pim_infer_take_output(c, &output);
    return status == PIM_OK ? pim_infer_set_macs(c, pim_shape_elements(&output), value->dimension[1], 1)
                            : status;
}

static enum pim_status infer_normalization(const struct pim_inference_context *c)
{
    const struct pim_shape *input = c->inputs[0];
    bool batch = c->attributes->normalization.kind != PIM_NORMALIZATION_LAYER;
    if (input->rank < (batch ? 2u : 1u))
        return pim_fail(c->error, PIM_BAD_INPUT, "the input has too few dimensions to have channels");
    uint64_t channels = input->dimension[batch ? 1 : input->rank - 1];
    c->result->parameters = !c->attributes->normalization.affine     ? 0
                            : c->attributes->normalization.unshifted ? channels
                                                                     : 2 * channels;
    return pim_infer_take_output(c, input);
}

static enum pim_status infer_same(const struct pim_inference_context *c)
{
    return pim_infer_take_output(c, c->inputs[0]);
}

static enum pim_status infer_reduction(const struct pim_inference_context *c)
{
    const struct pim_shape *input = c->inputs[0];
    uint32_t axes = c->attributes->reduction.axes;
    if (axes >> input->rank != 0)
        return pim_fail(c->error, PIM_BAD_INPUT, "the input has only %" PRIu32 " dimensions to reduce",
                        input->rank);
    struct pim_shape output = {.rank = 0};
    for (uint32_t i = 0; i < input->rank; i++) {
        bool reduced = (axes >> i & 1) != 0;
        if (!reduced || c->attributes->reduction.keep)
            output.dimension[output.rank++] = reduced ? 1 : input->dimension[i];
    }
    return pim_infer_take_output(c, &output);
}

static enum pim_status infer_elementwise(const struct pim_inference_context *c)
{
    struct pim_shape output = *c->inputs[0];
    for (uint32_t i = 1; i < c->count; i++) {
        enum pim_status status = broadcast(c, &output, c->inputs[i], 0);
        if (status != PIM_OK)
            return status;
    }
    return pim_infer_take_output(c, &output);
}

static enum pim_status infer_concat(const struct pim_inference_context *c)
{
    struct pim_shape output = *c->inputs[0];
    uint32_t axis = c->attributes->concat.axis;
    enum pim_status status = expect_axis(c, axis);
    if (status != PIM_OK)
        return status;
    uint64_t sum = 0;
    for (uint32_t i = 0; i < c->count; i++) {
        struct pim_shape other = *c->inputs[i];
        if (axis < other.rank) {
            sum += other.dimension[axis];
            other.dimension[axis] = output.dimension[axis];
        }
        if (!pim_shape_equal(&other, &output)) {
            char first[96], second[96];
            return pim_fail(c->error, PIM_BAD_INPUT,
                            "input %" PRIu32
                            " of shape %s does not fit input 0 of shape %s along axis %" PRIu32,
                            i, pim_shape_text(c->inputs[i], first, sizeof first),
                            pim_shape_text(c->inputs[0], second, sizeof second), axis);
        }
    }
    output.dimension[axis] = sum > PIM_DIMENSION_LIMIT ? UINT32_MAX : (uint32_t)sum;
    return pim_infer_take_output(c, &output);
}

static enum pim_status infer_slice(const struct pim_inference_context *c)
{
    struct pim_shape output = *c->inputs[0];
    uint32_t axis = c->attributes->slice.axis;
    enum pim_status status = expect_axis(c, axis);
    if (status != PIM_OK)
        return status;
    uint64_t step = c->attributes->slice.step ? c->attributes->slice.step : 1,
             count = c->attributes->slice.count;
    uint64_t end = c->attributes->slice.begin + (count ? (count - 1) * step + 1 : 0);
    if (count > output.dimension[axis] || end > output.dimension[axis])
        return pim_fail(c->error, PIM_BAD_INPUT,
                        "the slice ends at %" PRIu64 ", but axis %" PRIu32 " has %" PRIu32 " positions", end,
                        axis, output.dimension[axis]);
    output.dimension[axis] = c->attributes->slice.count;
    return pim_infer_take_output(c, &output);
}

static enum pim_status infer_gather(const struct pim_inference_context *c)
{
    const struct pim_shape *input = c->inputs[0], *indices = &c->attributes->gather_along.indices;
    uint32_t axis = c->attributes->gather_along.axis;
    enum pim_status status = expect_axis(c, axis);
    if (status != PIM_OK)
        return status;
    if (c->count == 2 && !pim_shape_equal(c->inputs[1], indices))
        return pim_fail(c->error, PIM_BAD_INPUT, "the indices do not have the shape that the attribute says");
    struct pim_shape output = {.rank = input->rank - 1 + indices->rank};
    if (indices->rank > PIM_SHAPE_RANK || output.rank > PIM_SHAPE_RANK)
        return pim_fail(c->error, PIM_BAD_INPUT, "the output has more than %d dimensions", PIM_SHAPE_RANK);
    for (uint32_t i = 0; i < output.rank; i++) {
        if (i < axis)
            output.dimension[i] = input->dimension[i];
        else if (i < axis + indices->rank)
            output.dimension[i] = indices->dimension[i - axis];
        else
            output.dimension[i] = input->dimension[i + 1 - indices->rank];
    }
    return pim_infer_take_output(c, &output);
}

/* Any larger size of any dimension: what is copied where (broadcast, tiles, interpolation) is not told. */
static enum pim_status infer_expand(const struct pim_inference_context *c)
{
    if (c->attributes->shape.rank < c->inputs[0]->rank)
        return pim_fail(c->error, PIM_BAD_INPUT, "an expansion cannot take dimensions away");
    return pim_infer_take_output(c, &c->attributes->shape);
}

static enum pim_status infer_pad(const struct pim_inference_context *c)
{
    struct pim_shape output = *c->inputs[0];
    for (uint32_t i = 0; i < output.rank; i++) {
        uint64_t size =
            (uint64_t)output.dimension[i] + c->attributes->pad.before[i] + c->attributes->pad.after[i];
        output.dimension[i] = size > PIM_DIMENSION_LIMIT ? UINT32_MAX : (uint32_t)size;
    }
    return pim_infer_take_output(c, &output);
}

static enum pim_status infer_transpose(const struct pim_inference_context *c)
{
    const struct pim_shape *input = c->inputs[0];
    struct pim_shape output = {.rank = input->rank};
    uint32_t seen = 0;
    for (uint32_t i = 0; i < input->rank; i++) {
        uint32_t from = c->attributes->transpose.order[i];
        if (from >= input->rank || (seen >> from & 1) != 0)
            return pim_fail(c->error, PIM_BAD_INPUT,
                            "the order of a transposition must name each of %" PRIu32 " dimensions once",
                            input->rank);
        seen |= UINT32_C(1) << from;
        output.dimension[i] = input->dimension[from];
    }
    return pim_infer_take_output(c, &output);
}

static enum pim_status infer_shift(const struct pim_inference_context *c)
{
    enum pim_status status = pim_infer_expect_rank(c, 0, 4, "[batch, height, width, channels]");
    return status == PIM_OK ? pim_infer_take_output(c, c->inputs[0]) : status;
}

static enum pim_status windows_divide(const struct pim_inference_context *c, uint32_t map_height,
                                      uint32_t map_width)
{
    uint32_t height = c->attributes->window.height, width = c->attributes->window.width;
    if (height > 0 && width > 0 && map_height % height == 0 && map_width % width == 0)
        return PIM_OK;
    return pim_fail(c->error, PIM_BAD_INPUT,
                    "windows of %" PRIu32 "x%" PRIu32 " do not divide a map of %" PRIu32 "x%" PRIu32
                    ": it must be padded",
                    height, width, map_height, map_width);
}

static enum pim_status infer_window_partition(const struct pim_inference_context *c)
{
    const struct pim_shape *map = c->inputs[0];
    enum pim_status status = pim_infer_expect_rank(c, 0, 4, "[batch, height, width, channels]");
    if (status == PIM_OK)
        status = windows_divide(c, map->dimension[1], map->dimension[2]);
    if (status != PIM_OK)
        return status;
    uint64_t tokens = (uint64_t)c->attributes->window.height * c->attributes->window.width;
    uint64_t branches = pim_shape_elements(map) / map->dimension[3] / tokens;
    struct pim_shape output = {.rank = 3, .dimension = {0, 0, map->dimension[3]}};
    output.dimension[0] = branches > PIM_DIMENSION_LIMIT ? UINT32_MAX : (uint32_t)branches;
    output.dimension[1] = tokens > PIM_DIMENSION_LIMIT ? UINT32_MAX : (uint32_t)tokens;
    return pim_infer_take_output(c, &output);
}

static enum pim_status infer_window_reverse(const struct pim_inference_context *c)
{
    const struct pim_shape *windows = c->inputs[0];
    uint32_t height = c->attributes->window.map_height, width = c->attributes->window.map_width;
    enum pim_status status = pim_infer_expect_rank(c, 0, 3, "[branches, tokens, channels]");
    if (status == PIM_OK)
        status = windows_divide(c, height, width);
    if (status != PIM_OK)
        return status;
    uint64_t positions = (uint64_t)height * width,
             tokens = (uint64_t)windows->dimension[0] * windows->dimension[1];
    if (positions == 0 ||
        windows->dimension[1] != (uint64_t)c->attributes->window.height * c->attributes->window.width ||
        tokens % positions != 0)
        return pim_fail(c->error, PIM_BAD_INPUT,
                        "%" PRIu32 " windows of %" PRIu32 " tokens do not make up maps of %" PRIu32
                        "x%" PRIu32,
                        windows->dimension[0], windows->dimension[1], height, width);
    struct pim_shape output = {
        .rank = 4, .dimension = {(uint32_t)(tokens / positions), height, width, windows->dimension[2]}};
    return pim_infer_take_output(c, &output);
}

static enum pim_status infer_window_gather(const struct pim_inference_context *c)
{
    const struct pim_shape *map = c->inputs[0];
    uint32_t stride = c->attributes->gather.stride, side = c->attributes->gather.side;
    enum pim_status status = pim_infer_expect_rank(c, 0, 4, "[batch, height, width, channels]");
    if (status != PIM_OK)
        return status;
    if (stride == 0 || map->dimension[1] % stride != 0 || map->dimension[2] % stride != 0)
        return pim_fail(c->error, PIM_BAD_INPUT,
                        "a stride of %" PRIu32 " does not divide a map of %" PRIu32 "x%" PRIu32, stride,
                        map->dimension[1], map->dimension[2]);
    uint64_t tokens = (uint64_t)side * side;
    uint64_t branches = pim_shape_elements(map) / map->dimension[3] / stride / stride;
    struct pim_shape output = {.rank = 3, .dimension = {0, 0, map->dimension[3]}};
    output.dimension[0] = branches > PIM_DIMENSION_LIMIT ? UINT32_MAX : (uint32_t)branches;
    output.dimension[1] = tokens > PIM_DIMENSION_LIMIT ? UINT32_MAX : (uint32_t)tokens;
    return pim_infer_take_output(c, &output);
}

static enum pim_status infer_patch_merging(const struct pim_inference_context *c)
{
    const struct pim_shape *map = c->inputs[0];
    uint64_t factor = c->attributes->merging.factor;
    enum pim_status status = pim_infer_expect_rank(c, 0, 4, "[batch, height, width, channels]");
    if (status != PIM_OK)
        return status;
    if (factor == 0)
        return pim_fail(c->error, PIM_BAD_INPUT, "the factor of a patch merging is 0: at least 1 is needed");
    struct pim_shape output = *map;
    output.dimension[1] = (uint32_t)((map->dimension[1] + factor - 1) / factor);
    output.dimension[2] = (uint32_t)((map->dimension[2] + factor - 1) / factor);
    uint64_t channels = factor > 65535 ? PIM_ELEMENT_LIMIT : factor * factor * map->dimension[3];
    output.dimension[3] = channels > PIM_DIMENSION_LIMIT ? UINT32_MAX : (uint32_t)channels;
    return pim_infer_take_output(c, &output);
}

/* The operators' functions and how many inputs they take. */
static const struct {
    enum pim_status (*infer)(const struct pim_inference_context *c);
    uint32_t least, most;
} operators[PIM_OPERATORS] = {
    [PIM_OPERATOR_INPUT] = {infer_source, 0, 0},
    [PIM_OPERATOR_PARAMETER] = {infer_parameter, 0, 0},
    [PIM_OPERATOR_CONSTANT] = {infer_source, 0, 0},
    [PIM_OPERATOR_CONVOLUTION] = {pim_infer_convolution, 1, 1},
    [PIM_OPERATOR_TRANSPOSED_CONVOLUTION] = {pim_infer_transposed_convolution, 1, 1},
    [PIM_OPERATOR_RECURRENT] = {pim_infer_recurrent, 1, PIM_LAYER_INPUTS},
    [PIM_OPERATOR_SAMPLE] = {infer_source, 1, PIM_LAYER_INPUTS},
    [PIM_OPERATOR_SCATTER] = {infer_source, 1, PIM_LAYER_INPUTS},
    [PIM_OPERATOR_SORT] = {infer_source, 1, PIM_LAYER_INPUTS},
    [PIM_OPERATOR_LINEAR] = {infer_linear, 1, 1},
    [PIM_OPERATOR_MATRIX_MULTIPLICATION] = {infer_matrix, 2, 2},
    [PIM_OPERATOR_ATTENTION_SCORES] = {infer_scores, 2, 2},
    [PIM_OPERATOR_ATTENTION_CONTEXT] = {infer_context, 2, 2},
    [PIM_OPERATOR_NORMALIZATION] = {infer_normalization, 1, 1},
    [PIM_OPERATOR_ACTIVATION] = {infer_same, 1, 1},
    [PIM_OPERATOR_SOFTMAX] = {infer_same, 1, 1},
    [PIM_OPERATOR_POOLING] = {pim_infer_pooling, 1, 1},
    [PIM_OPERATOR_REDUCTION] = {infer_reduction, 1, 1},
    [PIM_OPERATOR_ELEMENTWISE] = {infer_elementwise, 1, PIM_LAYER_INPUTS},
    [PIM_OPERATOR_CONCAT] = {infer_concat, 1, PIM_LAYER_INPUTS},
    [PIM_OPERATOR_SLICE] = {infer_slice, 1, 1},
    [PIM_OPERATOR_GATHER] = {infer_gather, 1, 2},
    [PIM_OPERATOR_EXPAND] = {infer_expand, 1, 1},
    [PIM_OPERATOR_PAD] = {infer_pad, 1, 1},
    [PIM_OPERATOR_RESHAPE] = {infer_reshape, 1, 1},
    [PIM_OPERATOR_TRANSPOSE] = {infer_transpose, 1, 1},
    [PIM_OPERATOR_SHIFT] = {infer_shift, 1, 1},
    [PIM_OPERATOR_WINDOW_PARTITION] = {infer_window_partition, 1, 1},
    [PIM_OPERATOR_WINDOW_REVERSE] = {infer_window_reverse, 1, 1},
    [PIM_OPERATOR_WINDOW_GATHER] = {infer_window_gather, 1, 1},
    [PIM_OPERATOR_PATCH_MERGING] = {infer_patch_merging, 1, 1},
};

enum pim_status pim_operator_infer(enum pim_operator operation, const union pim_attributes *attributes,
                                   const struct pim_shape *const *inputs, uint32_t count,
                                   struct pim_inference *result, struct pim_error *error)
{
    struct pim_inference_context c = {attributes, inputs, count, result, error};
    memset(result, 0, sizeof *result);
    if ((unsigned)operation >= PIM_OPERATORS)
        return pim_fail(error, PIM_BAD_INPUT, "operator %u does not exist", (unsigned)operation);
    if (count < operators[operation].least || count > operators[operation].most)
        return pim_fail(error, PIM_BAD_INPUT, "%s takes %" PRIu32 " to %" PRIu32 " inputs, not %" PRIu32,
                        pim_operator_name(operation), operators[operation].least, operators[operation].most,
                        count);
    return operators[operation].infer(&c);
}
