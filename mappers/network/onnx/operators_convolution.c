/* Convolutions and poolings: windows that slide over one or two dimensions. */
#include "mappers/network/onnx/importer.h"
#include "onnx.pb-c.h"

#include <string.h>

/* The input of a sliding operator as a layer [batch, channels, height, width]; a signal [batch, channels,
 * length] becomes a map of height 1. `*dimensions` is 1 or 2. */
static uint32_t as_map(struct pim_onnx_importer *i, struct pim_onnx_value *input, uint32_t *dimensions)
{
    uint32_t layer = pim_onnx_layer_of(i, input);
    struct pim_shape shape = pim_onnx_shape_of(i, layer);
    *dimensions = shape.rank >= 2 ? shape.rank - 2 : 0;
    if (i->status == PIM_OK && shape.rank != 3 && shape.rank != 4)
        pim_onnx_fail(i, "its input has %u dimensions: 3 or 4 (one or two to slide over) are supported",
                      shape.rank);
    if (shape.rank == 3) {
        const struct pim_shape map = {
            .rank = 4, .dimension = {shape.dimension[0], shape.dimension[1], 1, shape.dimension[2]}};
        layer = pim_onnx_reshape(i, "map", layer, &map);
    }
    return layer;
}

/* Binds the output, as a signal again where the input was one. */
static void bind_map(struct pim_onnx_importer *i, uint32_t value, uint32_t layer, uint32_t dimensions)
{
    struct pim_shape shape = pim_onnx_shape_of(i, layer);
    if (dimensions == 1) {
        const struct pim_shape signal = {
            .rank = 3, .dimension = {shape.dimension[0], shape.dimension[1], shape.dimension[3]}};
        layer = pim_onnx_reshape(i, "signal", layer, &signal);
    }
    pim_onnx_bind_value(i, value, layer);
}

static uint32_t output_value(const struct pim_onnx_importer *i)
{
    return pim_onnx_names_find(&i->value_names, i->node->output[0]);
}

/* One attribute of `dimensions` entries into the last entries of `to`; left as it is where the node does not
 * have it. */
static void read_pair(struct pim_onnx_importer *i, const char *name, uint32_t dimensions, uint32_t *to)
{
    int64_t list[2];
    bool given;
    uint32_t count = pim_onnx_list(i, name, SIZE_MAX, list, 2, &given);
    if (!given || count == 0)
        return;
    if (count != dimensions) {
        pim_onnx_fail(i, "%s has %u entries: %u are needed", name, count, dimensions);
        return;
    }
    for (uint32_t d = 0; d < dimensions; d++)
        to[2 - dimensions + d] = pim_onnx_size(i, name, list[d], 1);
}

/* SAME: as many positions as the stride leaves of the extent; the odd one of the padding goes behind or
 * before. */
static void pad_same(struct pim_sliding *s, int axis, uint32_t extent, bool before)
{
    uint64_t positions = ((uint64_t)extent + s->stride[axis] - 1) / s->stride[axis];
    uint64_t reach = (uint64_t)s->dilation[axis] * (s->kernel[axis] - 1) + 1;
    uint64_t needed = (positions - 1) * s->stride[axis] + reach;
    uint32_t padding = needed > extent ? (uint32_t)(needed - extent) : 0;
    s->pad_before[axis] = before ? padding - padding / 2 : padding / 2;
    s->pad_after[axis] = padding - s->pad_before[axis];
}

/* kernel_shape may be missing in a convolution: `sliding` then holds what the weights say. */
static void read_sliding(struct pim_onnx_importer *i, uint32_t layer, uint32_t dimensions,
                         struct pim_sliding *s)
{
    struct pim_shape shape = pim_onnx_shape_of(i, layer);
    int64_t pads[4];
    if (i->status != PIM_OK)
        return;
    read_pair(i, "kernel_shape", dimensions, s->kernel);
    read_pair(i, "strides", dimensions, s->stride);
    read_pair(i, "dilations", dimensions, s->dilation);
    bool upper = pim_onnx_text_is(i, "auto_pad", "SAME_UPPER"),
         lower = pim_onnx_text_is(i, "auto_pad", "SAME_LOWER");
    if (upper || lower) {
        for (int axis = 0; axis < 2 && i->status == PIM_OK; axis++)
            pad_same(s, axis, shape.dimension[2 + axis], lower);
        return;
    }
    if (pim_onnx_text_is(i, "auto_pad", "VALID"))
        return;
    uint32_t count = pim_onnx_list(i, "pads", SIZE_MAX, pads, 4, NULL);
    if (count != 0 && count != 2 * dimensions)
        pim_onnx_fail(i, "pads has %u entries: %u are needed", count, 2 * dimensions);
    for (uint32_t d = 0; d < dimensions && count == 2 * dimensions; d++) {
        s->pad_before[2 - dimensions + d] += pim_onnx_size(i, "pads", pads[d], 0);
        s->pad_after[2 - dimensions + d] += pim_onnx_size(i, "pads", pads[dimensions + d], 0);
    }
}

/*
 * A convolution right behind a padding with zeros along the map takes it over: returns the padding's input,
 * and adds its widths to `s`. The PAD layer is in the graph already then; it is looked through when this node
 * alone reads it, and dropped from the graph's end.
 */
static uint32_t look_through_padding(struct pim_onnx_importer *i, const struct pim_onnx_value *input,
                                     uint32_t layer, struct pim_sliding *s)
{
    struct pim_graph *graph = &i->network->graph;
    const struct pim_layer *pad = i->status == PIM_OK ? &graph->layers[layer] : NULL;
    if (!pad || pad->operation != PIM_OPERATOR_PAD || input->readers != 1 || layer + 1 != graph->count ||
        pad->output.rank != 4)
        return layer;
    for (int d = 0; d < 2; d++)
        if (pad->attributes.pad.before[d] || pad->attributes.pad.after[d])
            return layer;
    for (int d = 0; d < 2; d++) {
        s->pad_before[d] = pad->attributes.pad.before[2 + d];
        s->pad_after[d] = pad->attributes.pad.after[2 + d];
    }
    uint32_t source = pad->input[0];
    pim_graph_drop_last(graph);
    return source;
}

void pim_onnx_convert_convolution(struct pim_onnx_importer *i)
{
    bool integer = strcmp(i->node->op_type, "ConvInteger") == 0,
         quantized = strcmp(i->node->op_type, "QLinearConv") == 0;
    struct pim_onnx_value *input = pim_onnx_input(i, 0), *weights = pim_onnx_input(i, quantized ? 3 : 1);
    const struct pim_onnx_value *bias = integer ? NULL : pim_onnx_optional_input(i, quantized ? 8 : 2);
    uint32_t dimensions, layer = as_map(i, input, &dimensions);
    union pim_attributes a = {
        .convolution = {.sliding = {.kernel = {1, 1}, .stride = {1, 1}, .dilation = {1, 1}},
                        .bias = bias != NULL}};
    if (i->status != PIM_OK)
        return;
    if (weights->shape.rank != dimensions + 2) {
        pim_onnx_fail(i, "its weights have %u dimensions: %u are needed", weights->shape.rank,
                      dimensions + 2);
        return;
    }
    for (uint32_t d = 0; d < dimensions; d++)
        a.convolution.sliding.kernel[2 - dimensions + d] = weights->shape.dimension[2 + d];
    uint32_t before = layer;
    layer = look_through_padding(i, input, layer, &a.convolution.sliding);
    if (before != layer)
        input = NULL;
    read_sliding(i, layer, dimensions, &a.convolution.sliding);
    a.convolution.groups = pim_onnx_size(i, "group", pim_onnx_integer(i, "group", 1), 1);
    a.convolution.outputs = weights->shape.dimension[0];
    struct pim_shape shape = pim_onnx_shape_of(i, layer);
    uint64_t channels = (uint64_t)weights->shape.dimension[1] * a.convolution.groups;
    if (i->status == PIM_OK && channels != shape.dimension[1])
        pim_onnx_fail(i, "its weights are for %llu input channels in %u groups, but the input has %u",
                      (unsigned long long)channels, a.convolution.groups, shape.dimension[1]);
    for (uint32_t d = 0; d < dimensions && i->status == PIM_OK; d++)
        if (a.convolution.sliding.kernel[2 - dimensions + d] != weights->shape.dimension[2 + d])
            pim_onnx_fail(i, "kernel_shape differs from the weights' own shape");
    struct pim_shape scale = {.rank = dimensions + 2, .dimension = {1, a.convolution.outputs, 1, 1}};
    uint32_t value = pim_onnx_absorb_affine(i, &scale, 1, &a.convolution.bias);
    layer = pim_onnx_add(i, PIM_OPERATOR_CONVOLUTION, "", &a, 1, &layer);
    bind_map(i, value, layer, dimensions);
}

void pim_onnx_convert_pooling(struct pim_onnx_importer *i)
{
    struct pim_onnx_value *input = pim_onnx_input(i, 0);
    uint32_t dimensions, layer = as_map(i, input, &dimensions);
    union pim_attributes a = {.pooling = {.sliding = {.kernel = {1, 1}, .stride = {1, 1}, .dilation = {1, 1}},
                                          .kind = strcmp(i->node->op_type, "MaxPool") == 0
                                                      ? PIM_POOLING_MAXIMUM
                                                      : PIM_POOLING_AVERAGE}};
    if (i->status == PIM_OK && !pim_onnx_has(i, "kernel_shape"))
        pim_onnx_fail(i, "kernel_shape is missing");
    a.pooling.sliding.ceil_mode = pim_onnx_integer(i, "ceil_mode", 0) != 0;
    read_sliding(i, layer, dimensions, &a.pooling.sliding);
    layer = pim_onnx_add(i, PIM_OPERATOR_POOLING, "", &a, 1, &layer);
    bind_map(i, output_value(i), layer, dimensions);
}

void pim_onnx_convert_global_pooling(struct pim_onnx_importer *i)
{
    uint32_t dimensions, layer = as_map(i, pim_onnx_input(i, 0), &dimensions);
    const union pim_attributes a = {.pooling = {.kind = strcmp(i->node->op_type, "GlobalMaxPool") == 0
                                                            ? PIM_POOLING_MAXIMUM
                                                            : PIM_POOLING_AVERAGE,
                                                .global = true}};
    layer = pim_onnx_add(i, PIM_OPERATOR_POOLING, "", &a, 1, &layer);
    bind_map(i, output_value(i), layer, dimensions);
}
