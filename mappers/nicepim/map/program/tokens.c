/* Sequences of tokens: their shapes, the operations of transformers, and what of an input a box needs. */
#include "mappers/nicepim/map/flow.h"

#include <string.h>

/* --- shapes --- */

/* Of a tensor that is no layer's result, as the first layer that reads it has its other input. */
static bool last_of_parameter(const struct flow *flow, uint32_t layer)
{
    for (uint32_t i = layer + 1; i < flow->count; i++) {
        const struct pim_layer *reader = &flow->graph->layers[i];
        for (uint32_t k = 1; k < reader->inputs; k++) {
            if (reader->input[k] == layer && reader->input[0] < layer)
                return flow->operation[reader->input[0]].channels_last;
        }
    }
    return false;
}

static bool is_order(const struct pim_layer *layer, const uint32_t order[4])
{
    return layer->output.rank == 4 &&
           memcmp(layer->attributes.transpose.order, order, 4 * sizeof *order) == 0;
}

static bool order_of(const struct flow *flow, uint32_t layer)
{
    static const uint32_t to_last[] = {0, 2, 3, 1};
    const struct pim_layer *l = &flow->graph->layers[layer];
    if (l->operation == PIM_OPERATOR_PARAMETER)
        return last_of_parameter(flow, layer);
    if (l->inputs == 0)
        return false;
    if (l->operation == PIM_OPERATOR_TRANSPOSE)
        return is_order(l, to_last);
    if (l->operation == PIM_OPERATOR_WINDOW_REVERSE ||
        (l->operation == PIM_OPERATOR_RESHAPE && flow->graph->layers[l->input[0]].output.rank == 3))
        return true;
    return flow->operation[l->input[0]].channels_last;
}

enum pim_status tokens_shape(const struct flow *flow, uint32_t layer, struct flow_operation *operation,
                             struct pim_error *error)
{
    const struct pim_layer *l = &flow->graph->layers[layer];
    const struct pim_shape *shape = &l->output;
    const uint32_t *size = shape->dimension;
    uint32_t *four = operation->dimension;
    bool moved = l->operation == PIM_OPERATOR_RESHAPE || l->operation == PIM_OPERATOR_TRANSPOSE;
    if (shape->rank < 2 || shape->rank > (moved ? 5 : 4))
        return flow_refuse(flow, layer, "its output is neither a map, nor tokens, nor a vector", error);
    four[0] = size[0] * (l->operation == PIM_OPERATOR_PARAMETER ? 1 : flow->batch);
    if (shape->rank == 5) { /* a map whose channels lie in groups */
        four[1] = size[1] * size[2];
        four[2] = size[3];
        four[3] = size[4];
        return PIM_OK;
    }
    four[1] = size[shape->rank == 3 ? 2 : 1];
    four[2] = shape->rank == 4 ? size[2] : shape->rank == 3 ? size[1] : 1;
    four[3] = shape->rank == 4 ? size[3] : 1;
    bool scores = l->operation == PIM_OPERATOR_ATTENTION_SCORES ||
                  (l->operation == PIM_OPERATOR_SOFTMAX && shape->rank == 4);
    if (scores) { /* heads, queries, keys */
        four[1] = size[1] * size[3];
        four[3] = 1;
    }
    operation->channels_last = shape->rank == 4 && !scores && order_of(flow, layer);
    if (operation->channels_last) {
        four[1] = size[3];
        four[2] = size[1];
        four[3] = size[2];
    }
    return PIM_OK;
}

/* --- operations --- */

static enum pim_status build_attention(const struct flow *flow, uint32_t layer,
                                       struct flow_operation *operation, struct pim_error *error)
{
    const struct pim_layer *l = &flow->graph->layers[layer];
    uint32_t heads = l->attributes.attention.heads;
    const uint32_t *first = flow->operation[l->input[0]].dimension;
    if (l->inputs != 2)
        return flow_refuse(flow, layer, "it has more than two inputs", error);
    operation->kind = FLOW_PRODUCT;
    operation->right = l->operation == PIM_OPERATOR_ATTENTION_SCORES ? FLOW_KEYS : FLOW_VALUES;
    operation->groups = heads;
    operation->conv = (struct pim_conv){.length = {operation->dimension[0], operation->dimension[2], 1,
                                                   operation->dimension[1], first[1] / heads},
                                        .kernel_height = 1,
                                        .kernel_width = 1,
                                        .stride_height = 1,
                                        .stride_width = 1,
                                        .height = first[2],
                                        .width = 1};
    return PIM_OK;
}

/* Dimension here of an axis of the graph's tensor. */
static uint32_t axis_of(const struct pim_layer *layer, bool channels_last, uint32_t axis)
{
    static const uint32_t sequence[] = {0, 2, 1}, last[] = {0, 2, 3, 1};
    return layer->output.rank == 3 ? sequence[axis] : channels_last ? last[axis] : axis;
}

static enum pim_status build_reshape(const struct flow *flow, uint32_t layer,
                                     struct flow_operation *operation, struct pim_error *error)
{
    const struct flow_operation *from = &flow->operation[flow->graph->layers[layer].input[0]];
    const uint32_t *in = from->dimension, *out = operation->dimension;
    uint32_t rank = flow->graph->layers[flow->graph->layers[layer].input[0]].output.rank;
    bool groups = rank == 5 || flow->graph->layers[layer].output.rank == 5;
    if (memcmp(in, out, 4 * sizeof *in) == 0 && !(groups && from->channels_last)) {
        operation->kind = FLOW_ALIAS;
        return PIM_OK;
    }
    if (groups)
        return flow_refuse(flow, layer, "it is no cutting of the channels of a map into groups", error);
    bool map = rank == 4;
    if (!map && operation->channels_last && in[1] == 1 && in[2] == out[1] && in[3] == 1 &&
        in[0] == (uint64_t)out[0] * out[2] * out[3]) {
        operation->reach = FLOW_POOLED;
        return PIM_OK;
    }
    bool same = in[0] == out[0] && in[1] == out[1] && (uint64_t)in[2] * in[3] == (uint64_t)out[2] * out[3];
    operation->reach = map ? FLOW_MERGE : FLOW_SPLIT;
    if (!same || (map ? out[3] != 1 || !from->channels_last : in[3] != 1))
        return flow_refuse(flow, layer, "it is no flattening and no map of tokens", error);
    return PIM_OK;
}

static enum pim_status build_transpose(const struct flow *flow, uint32_t layer,
                                       struct flow_operation *operation, struct pim_error *error)
{
    static const uint32_t orders[][4] = {{0, 2, 3, 1}, {0, 3, 1, 2}}, swap[] = {0, 2, 1},
                          shuffle[] = {0, 2, 1, 3, 4};
    const struct pim_layer *l = &flow->graph->layers[layer];
    const struct flow_operation *from = &flow->operation[l->input[0]];
    if (l->output.rank == 3 && memcmp(l->attributes.transpose.order, swap, sizeof swap) == 0) {
        operation->reach = FLOW_SWAP;
        return PIM_OK;
    }
    if (l->output.rank == 5 && memcmp(l->attributes.transpose.order, shuffle, sizeof shuffle) == 0) {
        operation->reach = FLOW_SHUFFLE;
        operation->window[0] = l->output.dimension[2];
        operation->window[1] = l->output.dimension[1];
        return PIM_OK;
    }
    operation->kind = FLOW_ALIAS;
    return is_order(l, orders[from->channels_last ? 1 : 0])
               ? PIM_OK
               : flow_refuse(flow, layer, "it does not bring channels to an end of a map", error);
}

static enum pim_status build_slice(const struct flow *flow, uint32_t layer, struct flow_operation *operation,
                                   struct pim_error *error)
{
    const struct pim_layer *l = &flow->graph->layers[layer];
    operation->reach = FLOW_SLICE;
    operation->axis = axis_of(l, operation->channels_last, l->attributes.slice.axis);
    operation->begin = l->attributes.slice.begin;
    if (l->attributes.slice.step > 1 || l->attributes.slice.reversed || operation->axis == 0)
        return flow_refuse(flow, layer, "its positions are not one run, or batches", error);
    return PIM_OK;
}

static enum pim_status build_reduction(const struct flow *flow, uint32_t layer,
                                       struct flow_operation *operation, struct pim_error *error)
{
    const struct pim_layer *l = &flow->graph->layers[layer], *from = &flow->graph->layers[l->input[0]];
    const uint32_t *in = flow->operation[l->input[0]].dimension;
    bool tokens = from->output.rank == 3 && l->attributes.reduction.axes == 2,
         map = from->output.rank == 4 &&
               l->attributes.reduction.axes == (flow->operation[l->input[0]].channels_last ? 6u : 12u);
    bool mean = l->attributes.reduction.kind == PIM_REDUCTION_MEAN;
    operation->reach = FLOW_PLANE;
    operation->vector = PIM_VECTOR_AVERAGE;
    operation->taps = in[2] * in[3];
    operation->dimension[1] = in[1];
    operation->dimension[2] = operation->dimension[3] = 1;
    return mean && (tokens || map) ? PIM_OK
                                   : flow_refuse(flow, layer, "it is not the mean of all positions", error);
}

static enum pim_status build_window(const struct flow *flow, uint32_t layer, struct flow_operation *operation,
                                    struct pim_error *error)
{
    const struct pim_layer *l = &flow->graph->layers[layer];
    bool windows = l->operation == PIM_OPERATOR_WINDOW_PARTITION;
    const uint32_t *map = windows ? flow->operation[l->input[0]].dimension : operation->dimension;
    operation->reach = windows ? FLOW_WINDOWS : FLOW_REVERSE;
    operation->window[0] = l->attributes.window.height;
    operation->window[1] = l->attributes.window.width;
    return map[2] % operation->window[0] == 0 && map[3] % operation->window[1] == 0
               ? PIM_OK
               : flow_refuse(flow, layer, "its windows do not divide the map", error);
}

static enum pim_status build_pad(const struct flow *flow, uint32_t layer, struct flow_operation *operation,
                                 struct pim_error *error)
{
    const struct pim_layer *l = &flow->graph->layers[layer];
    const uint32_t *in = flow->operation[l->input[0]].dimension;
    operation->reach = FLOW_PAD;
    for (uint32_t axis = 0; axis < l->output.rank; axis++) {
        uint32_t here = axis_of(l, operation->channels_last, axis);
        if (here >= 2)
            operation->shift[here - 2] = -(int32_t)l->attributes.pad.before[axis];
    }
    return operation->dimension[0] == in[0] && operation->dimension[1] == in[1]
               ? PIM_OK
               : flow_refuse(flow, layer, "it is along batches or channels", error);
}

enum pim_status tokens_build(const struct flow *flow, uint32_t layer, struct flow_operation *operation,
                             struct pim_error *error)
{
    const struct pim_layer *l = &flow->graph->layers[layer];
    switch ((int)l->operation) {
    case PIM_OPERATOR_ATTENTION_SCORES:
    case PIM_OPERATOR_ATTENTION_CONTEXT:
        return build_attention(flow, layer, operation, error);
    case PIM_OPERATOR_RESHAPE:
        return build_reshape(flow, layer, operation, error);
    case PIM_OPERATOR_TRANSPOSE:
        return build_transpose(flow, layer, operation, error);
    case PIM_OPERATOR_CONCAT:
        operation->kind = FLOW_CONCAT;
        operation->axis = axis_of(l, operation->channels_last, l->attributes.concat.axis);
        return operation->axis > 0 ? PIM_OK : flow_refuse(flow, layer, "it is along batches", error);
    case PIM_OPERATOR_SLICE:
        return build_slice(flow, layer, operation, error);
    case PIM_OPERATOR_REDUCTION:
        return build_reduction(flow, layer, operation, error);
    case PIM_OPERATOR_PAD:
        return build_pad(flow, layer, operation, error);
    case PIM_OPERATOR_WINDOW_PARTITION:
    case PIM_OPERATOR_WINDOW_REVERSE:
        return build_window(flow, layer, operation, error);
    case PIM_OPERATOR_SHIFT:
        operation->reach = FLOW_SHIFT;
        operation->shift[0] = -l->attributes.shift.rows;
        operation->shift[1] = -l->attributes.shift.columns;
        return PIM_OK;
    case PIM_OPERATOR_WINDOW_GATHER:
        operation->reach = FLOW_AROUND;
        operation->window[0] = l->attributes.gather.stride;
        operation->window[1] = l->attributes.gather.side;
        operation->cyclic = l->attributes.gather.cyclic;
        return PIM_OK;
    case PIM_OPERATOR_PATCH_MERGING:
        operation->reach = FLOW_GATHER;
        operation->window[0] = operation->window[1] = l->attributes.merging.factor;
        return PIM_OK;
    default:
        return flow_refuse(flow, layer, "this mapper does not know it", error);
    }
}

/* --- boxes --- */

/* Positions of a rolled dimension: all of them where the span wraps. */
static struct pim_span rolled(struct pim_span span, int64_t shift, uint32_t size)
{
    int64_t from = ((int64_t)span.from + shift) % (int64_t)size;
    from += from < 0 ? size : 0;
    int64_t to = from + (span.to - span.from);
    return to > size ? (struct pim_span){0, size} : (struct pim_span){(uint32_t)from, (uint32_t)to};
}

/* The box around some windows, and around some rows of one. */
static void needs_windows(const struct flow_operation *operation, const uint32_t size[4],
                          const struct pim_span output[4], struct pim_span input[4])
{
    uint32_t high = operation->window[0], wide = operation->window[1];
    uint32_t across = size[3] / wide, count = size[2] / high * across;
    uint32_t first = output[0].from, last = output[0].to - 1;
    input[0] = (struct pim_span){first / count, last / count + 1};
    input[2] = (struct pim_span){0, size[2]};
    input[3] = (struct pim_span){0, size[3]};
    if (first / count != last / count)
        return;
    first %= count;
    last %= count;
    input[2] = (struct pim_span){first / across * high, (last / across + 1) * high};
    if (first / across != last / across)
        return;
    input[3] = (struct pim_span){first % across * wide, (last % across + 1) * wide};
    if (first == last)
        input[2] = (struct pim_span){first / across * high + output[2].from / wide,
                                     first / across * high + (output[2].to + wide - 1) / wide};
}

/* All windows between the first and the last that a box touches. */
static void needs_reverse(const struct flow_operation *operation, const uint32_t size[4],
                          const struct pim_span output[4], struct pim_span input[4])
{
    uint32_t high = operation->window[0], wide = operation->window[1];
    uint32_t across = operation->dimension[3] / wide, count = operation->dimension[2] / high * across;
    uint32_t first = output[2].from / high * across + output[3].from / wide,
             last = (output[2].to - 1) / high * across + (output[3].to - 1) / wide;
    input[0] = (struct pim_span){output[0].from * count + first, (output[0].to - 1) * count + last + 1};
    input[2] = (struct pim_span){0, size[2]};
    input[3] = (struct pim_span){0, 1};
}

/* Channels of the output that follow each other are of one group each, by turns. */
static struct pim_span needs_shuffle(const struct flow_operation *operation, struct pim_span output)
{
    uint32_t groups = operation->window[0], channels = operation->window[1], last = output.to - 1;
    bool turn = output.from / groups == last / groups; /* all of one turn */
    uint32_t first_group = turn ? output.from % groups : 0, last_group = turn ? last % groups : groups - 1;
    return (struct pim_span){first_group * channels + output.from / groups,
                             last_group * channels + last / groups + 1};
}

/* Of a map that begins anew at its border: all positions where the span goes over it. */
static struct pim_span around(int64_t from, int64_t to, uint32_t size, bool cyclic)
{
    int64_t turn = cyclic && to <= 0 ? size : cyclic && from >= size ? -(int64_t)size : 0;
    if (cyclic && (from + turn < 0 || to + turn > size))
        return (struct pim_span){0, size};
    return flow_clip(from + turn, to + turn, size);
}

/* The box around some rows of the regions of some windows, or around a run of one row. */
static void needs_around(const struct flow_operation *operation, const uint32_t size[4],
                         const struct pim_span output[4], struct pim_span input[4])
{
    const int64_t stride = operation->window[0], side = operation->window[1];
    const int64_t before = side > stride ? (side - stride) / 2 : 0;
    uint32_t across = size[3] / operation->window[0], count = size[2] / operation->window[0] * across;
    uint32_t first = output[0].from, last = output[0].to - 1;
    input[0] = (struct pim_span){first / count, last / count + 1};
    bool one = input[0].to - input[0].from == 1;
    int64_t top = one ? first % count / across : 0, bottom = one ? last % count / across : count / across - 1,
            left = one && top == bottom ? first % across : 0,
            right = one && top == bottom ? last % across : across - 1;
    int64_t y[2] = {output[2].from / side, (output[2].to - 1) / side};
    int64_t x[2] = {y[0] == y[1] ? output[2].from % side : 0,
                    y[0] == y[1] ? (output[2].to - 1) % side : side - 1};
    input[2] =
        around(top * stride - before + y[0], bottom * stride - before + y[1] + 1, size[2], operation->cyclic);
    input[3] =
        around(left * stride - before + x[0], right * stride - before + x[1] + 1, size[3], operation->cyclic);
}

void tokens_needs(const struct flow_operation *operation, const uint32_t size[4],
                  const struct pim_span output[4], struct pim_span input[4])
{
    uint32_t wide = operation->dimension[3], factor = operation->window[0], axis = operation->axis, rows;
    switch ((int)operation->reach) {
    case FLOW_SLICE:
        input[axis] =
            (struct pim_span){output[axis].from + operation->begin, output[axis].to + operation->begin};
        return;
    case FLOW_MERGE:
        input[2] = (struct pim_span){output[2].from / size[3], (output[2].to + size[3] - 1) / size[3]};
        input[3] = (struct pim_span){0, size[3]};
        return;
    case FLOW_SPLIT:
        input[2] = (struct pim_span){output[2].from * wide, output[2].to * wide};
        input[3] = (struct pim_span){0, 1};
        return;
    case FLOW_SHIFT:
        input[2] = rolled(output[2], operation->shift[0], size[2]);
        input[3] = rolled(output[3], operation->shift[1], size[3]);
        return;
    case FLOW_PAD:
        for (size_t d = 2; d < 4; d++)
            input[d] = flow_clip((int64_t)output[d].from + operation->shift[d - 2],
                                 (int64_t)output[d].to + operation->shift[d - 2], size[d]);
        return;
    case FLOW_WINDOWS:
        needs_windows(operation, size, output, input);
        return;
    case FLOW_REVERSE:
        needs_reverse(operation, size, output, input);
        return;
    case FLOW_AROUND:
        needs_around(operation, size, output, input);
        return;
    case FLOW_SHUFFLE:
        input[1] = needs_shuffle(operation, output[1]);
        return;
    case FLOW_SWAP:
        input[1] = output[2];
        input[2] = output[1];
        return;
    case FLOW_POOLED:
        rows = operation->dimension[2];
        input[0] = (struct pim_span){(output[0].from * rows + output[2].from) * wide + output[3].from,
                                     ((output[0].to - 1) * rows + output[2].to - 1) * wide + output[3].to};
        input[1] = input[3] = (struct pim_span){0, 1};
        input[2] = output[1];
        return;
    case FLOW_GATHER:
        input[1] = (struct pim_span){0, size[1]};
        input[2] = flow_clip((int64_t)output[2].from * factor, (int64_t)output[2].to * factor, size[2]);
        input[3] = flow_clip((int64_t)output[3].from * factor, (int64_t)output[3].to * factor, size[3]);
        return;
    default:
        return;
    }
}
