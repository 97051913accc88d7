/*
 * Convolutions, transposed and deformable ones, and poolings: windows that slide over one to three
 * dimensions.
 *
 * A signal [batch, channels, length] becomes a map of height 1. The dimensions that the node slides over are
 * the last ones; entry axis_of() of pim_sliding belongs to each.
 */
#include "mappers/network/onnx/operators/operators.h"
#include "onnx.pb-c.h"

#include <inttypes.h>
#include <string.h>

enum { DIMENSIONS = 3 }; /* to slide over, at most */

/* The entry of pim_sliding for sliding dimension d of `dimensions`. */
static unsigned axis_of(uint32_t dimensions, uint32_t d)
{
    return dimensions == 3 ? (d == 0 ? 2 : d - 1) : 2 - dimensions + d;
}

/* The input of a sliding operator as a map or a volume; `*dimensions` is 1, 2 or 3. */
static uint32_t as_map(struct pim_onnx_importer *i, struct pim_onnx_value *input, uint32_t *dimensions)
{
    uint32_t layer = pim_onnx_layer_of(i, input);
    struct pim_shape shape = pim_onnx_shape_of(i, layer);
    *dimensions = shape.rank >= 3 && shape.rank <= 5 ? shape.rank - 2 : 1;
    if (i->status == PIM_OK && (shape.rank < 3 || shape.rank > 5))
        pim_onnx_fail(i, "its input has %u dimensions: 3 to 5 (one to three to slide over) are supported",
                      shape.rank);
    if (shape.rank == 3) {
        const struct pim_shape map = {
            .rank = 4, .dimension = {shape.dimension[0], shape.dimension[1], 1, shape.dimension[2]}};
        layer = pim_onnx_reshape(i, "map", layer, &map);
    }
    return layer;
}

/* The output, as a signal again where the input was one. */
static uint32_t as_before(struct pim_onnx_importer *i, uint32_t layer, uint32_t dimensions)
{
    struct pim_shape shape = pim_onnx_shape_of(i, layer);
    if (dimensions != 1)
        return layer;
    const struct pim_shape signal = {
        .rank = 3, .dimension = {shape.dimension[0], shape.dimension[1], shape.dimension[3]}};
    return pim_onnx_reshape(i, "signal", layer, &signal);
}

/* What slides: kernel and strides of 1, and of nothing along dimensions that are not there. */
static struct pim_sliding plain_sliding(uint32_t dimensions)
{
    struct pim_sliding s = {.kernel = {1, 1}, .stride = {1, 1}, .dilation = {1, 1}};
    if (dimensions == 3)
        s.kernel[2] = s.stride[2] = s.dilation[2] = 1;
    return s;
}

/* One attribute of `dimensions` entries; `to` is left as it is where the node does not have it. */
static void read_entries(struct pim_onnx_importer *i, const char *name, uint32_t dimensions, int64_t least,
                         uint32_t *to)
{
    int64_t list[DIMENSIONS];
    bool given;
    uint32_t count = pim_onnx_list(i, name, SIZE_MAX, list, DIMENSIONS, &given);
    if (!given || count == 0)
        return;
    if (count != dimensions) {
        pim_onnx_fail(i, "%s has %u entries: %u are needed", name, count, dimensions);
        return;
    }
    for (uint32_t d = 0; d < dimensions; d++)
        to[axis_of(dimensions, d)] = pim_onnx_size(i, name, list[d], least);
}

static uint64_t reach_of(const struct pim_sliding *s, unsigned axis)
{
    return (uint64_t)s->dilation[axis] * (s->kernel[axis] - 1) + 1;
}

/* SAME: as many positions as the stride leaves of the extent, padding that was taken over included; the odd
 * one of the further padding goes behind or before. */
static void pad_same(struct pim_sliding *s, unsigned axis, uint32_t extent, bool before)
{
    uint64_t wide = (uint64_t)extent + s->pad_before[axis] + s->pad_after[axis];
    uint64_t positions = (wide + s->stride[axis] - 1) / s->stride[axis];
    uint64_t needed = (positions - 1) * s->stride[axis] + reach_of(s, axis);
    uint64_t padding = needed > wide ? needed - wide : 0;
    padding = padding > PIM_DIMENSION_LIMIT ? PIM_DIMENSION_LIMIT : padding;
    uint32_t front = (uint32_t)(before ? padding - padding / 2 : padding / 2);
    s->pad_before[axis] += front;
    s->pad_after[axis] += (uint32_t)padding - front;
}

/* `pads`: those before each dimension, then those behind; added to what is there. */
static void read_pads(struct pim_onnx_importer *i, uint32_t dimensions, struct pim_sliding *s)
{
    int64_t pads[2 * DIMENSIONS];
    uint32_t count = pim_onnx_list(i, "pads", SIZE_MAX, pads, 2 * DIMENSIONS, NULL);
    if (count != 0 && count != 2 * dimensions)
        pim_onnx_fail(i, "pads has %u entries: %u are needed", count, 2 * dimensions);
    for (uint32_t d = 0; d < dimensions && count == 2 * dimensions; d++) {
        s->pad_before[axis_of(dimensions, d)] += pim_onnx_size(i, "pads", pads[d], 0);
        s->pad_after[axis_of(dimensions, d)] += pim_onnx_size(i, "pads", pads[dimensions + d], 0);
    }
}

static void read_window(struct pim_onnx_importer *i, uint32_t dimensions, struct pim_sliding *s)
{
    read_entries(i, "kernel_shape", dimensions, 1, s->kernel);
    read_entries(i, "strides", dimensions, 1, s->stride);
    read_entries(i, "dilations", dimensions, 1, s->dilation);
}

/* kernel_shape may be missing in a convolution: `sliding` then holds what the weights say. */
static void read_sliding(struct pim_onnx_importer *i, uint32_t layer, uint32_t dimensions,
                         struct pim_sliding *s)
{
    struct pim_shape shape = pim_onnx_shape_of(i, layer);
    bool upper = pim_onnx_text_is(i, "auto_pad", "SAME_UPPER"),
         lower = pim_onnx_text_is(i, "auto_pad", "SAME_LOWER");
    if (i->status != PIM_OK)
        return;
    read_window(i, dimensions, s);
    for (uint32_t d = 0; d < dimensions && (upper || lower) && i->status == PIM_OK; d++)
        pad_same(s, axis_of(dimensions, d), shape.dimension[shape.rank - dimensions + d], lower);
    if (!upper && !lower && !pim_onnx_text_is(i, "auto_pad", "VALID"))
        read_pads(i, dimensions, s);
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
    if (!pad || pad->operation != PIM_OPERATOR_PAD || input->readers != 1 || input->output ||
        layer + 1 != graph->count || pad->output.rank < 4 || pad->output.rank > 5)
        return layer;
    uint32_t dimensions = pad->output.rank - 2;
    if (!pim_onnx_pads_zeros(i, input))
        return layer;
    for (int d = 0; d < 2; d++)
        if (pad->attributes.pad.before[d] || pad->attributes.pad.after[d])
            return layer;
    for (uint32_t d = 0; d < dimensions; d++) {
        s->pad_before[axis_of(dimensions, d)] = pad->attributes.pad.before[2 + d];
        s->pad_after[axis_of(dimensions, d)] = pad->attributes.pad.after[2 + d];
    }
    uint32_t source = pad->input[0];
    pim_graph_drop_last(graph);
    return source;
}

/* The kernel as the weights [.., .., kernel] have it; fails where kernel_shape says otherwise. */
static void read_kernel(struct pim_onnx_importer *i, const struct pim_shape *weights, uint32_t dimensions,
                        struct pim_sliding *s)
{
    uint32_t said[DIMENSIONS] = {0, 0, 0};
    if (i->status == PIM_OK && weights->rank != dimensions + 2)
        pim_onnx_fail(i, "its weights have %u dimensions: %u are needed", weights->rank, dimensions + 2);
    read_entries(i, "kernel_shape", dimensions, 1, said);
    for (uint32_t d = 0; d < dimensions && i->status == PIM_OK; d++) {
        unsigned axis = axis_of(dimensions, d);
        s->kernel[axis] = weights->dimension[2 + d];
        if (said[axis] != 0 && said[axis] != s->kernel[axis])
            pim_onnx_fail(i, "kernel_shape differs from the weights' own shape");
    }
}

/* Weights that the network computes; those that enter it from outside count as its own. */
static bool computed(const struct pim_onnx_value *weights)
{
    return weights->kind == PIM_ONNX_ACTIVATION && weights->maker != PIM_NONE;
}

static bool expect_learned(struct pim_onnx_importer *i, const struct pim_onnx_value *weights)
{
    if (i->status == PIM_OK && computed(weights))
        pim_onnx_fail(i, "its weights are computed by the network: only learned ones are supported");
    return i->status == PIM_OK;
}

/* Adds the layer, with the batch normalisation, scale and shift and the activation behind it. */
static void bind_convolution(struct pim_onnx_importer *i, enum pim_operator operation,
                             union pim_attributes *a, uint32_t layer, uint32_t dimensions)
{
    struct pim_shape scale = {.rank = dimensions + 2, .dimension = {1, a->convolution.outputs, 1, 1, 1}};
    bool fused = pim_onnx_has(i, "activation"); /* of this very node: nothing behind it is its scale */
    uint32_t value = fused ? PIM_NONE : pim_onnx_absorb_affine(i, &scale, 1, &a->convolution.bias);
    layer = as_before(i, pim_onnx_add(i, operation, "", a, 1, &layer), dimensions);
    if (!fused) {
        pim_onnx_bind_value(i, value, layer);
        return;
    }
    struct pim_onnx_value *added = pim_onnx_optional_input(i, 3); /* FusedConv: before the activation */
    if (added && operation == PIM_OPERATOR_CONVOLUTION && strcmp(i->node->op_type, "FusedConv") == 0) {
        const union pim_attributes add = {.elementwise = PIM_ELEMENTWISE_ADD};
        const uint32_t sum[2] = {layer, pim_onnx_layer_of(i, added)};
        layer = pim_onnx_add(i, PIM_OPERATOR_ELEMENTWISE, "sum", &add, 2, sum);
    }
    pim_onnx_bind_layer(i, 0, pim_onnx_fused_activation(i, layer));
}

/*
 * Weights that the network computes: a product of two activations. The elements of all windows,
 * [batch, groups, elements of a window, windows], meet the weights [groups, outputs, elements of a window].
 */
static void bind_computed(struct pim_onnx_importer *i, const union pim_attributes *a, uint32_t layer,
                          struct pim_onnx_value *weights, struct pim_onnx_value *bias, uint32_t dimensions)
{
    static const union pim_attributes plain = {.matrix = {.transpose_second = false}};
    uint32_t groups = a->convolution.groups, outputs = a->convolution.outputs;
    struct pim_graph *graph = &i->network->graph;
    layer = pim_onnx_add(i, PIM_OPERATOR_CONVOLUTION, "", a, 1, &layer); /* for its checks and its shape */
    if (i->status != PIM_OK)
        return;
    const struct pim_shape map = pim_onnx_shape_of(i, layer);
    uint32_t inputs[2] = {0, graph->layers[layer].input[0]};
    uint64_t window = pim_onnx_elements(&weights->shape) / outputs;
    uint64_t positions = pim_shape_elements(&map) / map.dimension[0] / outputs;
    pim_graph_drop_last(graph);
    const union pim_attributes windows = {
        .shape = {.rank = 4,
                  .dimension = {map.dimension[0], groups,
                                pim_onnx_size(i, "the elements of a window", (int64_t)window, 1),
                                pim_onnx_size(i, "its windows", (int64_t)positions, 1)}}};
    const struct pim_shape matrices = {.rank = 3,
                                       .dimension = {groups, outputs / groups, windows.shape.dimension[2]}};
    inputs[1] = pim_onnx_add(i, PIM_OPERATOR_SAMPLE, "windows", &windows, 1, &inputs[1]);
    inputs[0] = pim_onnx_reshape(i, "matrices", pim_onnx_layer_of(i, weights), &matrices);
    layer = pim_onnx_add(i, PIM_OPERATOR_MATRIX_MULTIPLICATION, "", &plain, 2, inputs);
    layer = pim_onnx_reshape(i, "positions", layer, &map);
    if (bias) {
        const union pim_attributes add = {.elementwise = PIM_ELEMENTWISE_ADD};
        const struct pim_shape channels = {.rank = map.rank, .dimension = {1, outputs, 1, 1, 1}};
        const uint32_t sum[2] = {layer,
                                 pim_onnx_reshape(i, "channels", pim_onnx_layer_of(i, bias), &channels)};
        layer = pim_onnx_add(i, PIM_OPERATOR_ELEMENTWISE, "bias", &add, 2, sum);
    }
    pim_onnx_bind_layer(i, 0, pim_onnx_fused_activation(i, as_before(i, layer, dimensions)));
}

void pim_onnx_convert_convolution(struct pim_onnx_importer *i, unsigned unused)
{
    (void)unused;
    bool integer = strcmp(i->node->op_type, "ConvInteger") == 0,
         quantized = strcmp(i->node->op_type, "QLinearConv") == 0;
    struct pim_onnx_value *input = pim_onnx_input(i, 0), *weights = pim_onnx_input(i, quantized ? 3 : 1);
    struct pim_onnx_value *bias = integer ? NULL : pim_onnx_optional_input(i, quantized ? 8 : 2);
    uint32_t dimensions, layer = as_map(i, input, &dimensions);
    union pim_attributes a = {.convolution = {.sliding = plain_sliding(dimensions), .bias = bias != NULL}};
    read_kernel(i, &weights->shape, dimensions, &a.convolution.sliding);
    if (i->status != PIM_OK)
        return;
    layer = look_through_padding(i, input, layer, &a.convolution.sliding);
    read_sliding(i, layer, dimensions, &a.convolution.sliding);
    a.convolution.groups = pim_onnx_size(i, "group", pim_onnx_integer(i, "group", 1), 1);
    a.convolution.outputs = weights->shape.dimension[0];
    struct pim_shape shape = pim_onnx_shape_of(i, layer);
    uint64_t channels = (uint64_t)weights->shape.dimension[1] * a.convolution.groups;
    if (i->status == PIM_OK && channels != shape.dimension[1])
        pim_onnx_fail(i, "its weights are for %llu input channels in %u groups, but the input has %u",
                      (unsigned long long)channels, a.convolution.groups, shape.dimension[1]);
    if (i->status == PIM_OK && computed(weights))
        bind_computed(i, &a, layer, weights, bias, dimensions);
    else
        bind_convolution(i, PIM_OPERATOR_CONVOLUTION, &a, layer, dimensions);
}

/*
 * The padding of a transposed convolution along one axis: where the output's size is given (or, with SAME,
 * stride times the input's), what is made beyond it is cut, and what is missing is added behind.
 */
static void pad_transposed(struct pim_onnx_importer *i, union pim_attributes *a, unsigned axis,
                           uint32_t extent, int64_t wanted, bool upper)
{
    struct pim_sliding *s = &a->convolution.sliding;
    int64_t made = (int64_t)s->stride[axis] * ((int64_t)extent - 1) + (int64_t)reach_of(s, axis) +
                   a->convolution.output_padding[axis];
    int64_t cut = made - wanted;
    if (wanted < 1 || wanted > (int64_t)PIM_DIMENSION_LIMIT || cut > (int64_t)PIM_DIMENSION_LIMIT) {
        pim_onnx_fail(i, "an output of %" PRId64 " positions cannot be made from %u", wanted, extent);
        return;
    }
    s->pad_before[axis] = cut > 0 ? (uint32_t)(upper ? cut / 2 : cut - cut / 2) : 0;
    s->pad_after[axis] = cut > 0 ? (uint32_t)cut - s->pad_before[axis] : 0;
    a->convolution.output_padding[axis] += cut < 0 ? (uint32_t)-cut : 0;
}

static void read_transposed_padding(struct pim_onnx_importer *i, const struct pim_shape *map,
                                    uint32_t dimensions, union pim_attributes *a)
{
    int64_t sizes[PIM_SHAPE_RANK];
    bool upper = pim_onnx_text_is(i, "auto_pad", "SAME_UPPER"),
         lower = pim_onnx_text_is(i, "auto_pad", "SAME_LOWER"), sized;
    uint32_t count = pim_onnx_list(i, "output_shape", SIZE_MAX, sizes, PIM_SHAPE_RANK, &sized);
    sized = sized && count > 0;
    if (sized && count != dimensions && count != dimensions + 2)
        pim_onnx_fail(i, "output_shape has %u entries: %u are needed", count, dimensions);
    for (uint32_t d = 0; d < dimensions && i->status == PIM_OK && (sized || upper || lower); d++) {
        unsigned axis = axis_of(dimensions, d);
        uint32_t extent = map->dimension[map->rank - dimensions + d];
        int64_t wanted =
            sized ? sizes[count - dimensions + d] : (int64_t)extent * a->convolution.sliding.stride[axis];
        pad_transposed(i, a, axis, extent, wanted, upper);
    }
    if (!sized && !upper && !lower && !pim_onnx_text_is(i, "auto_pad", "VALID"))
        read_pads(i, dimensions, &a->convolution.sliding);
}

void pim_onnx_convert_transposed_convolution(struct pim_onnx_importer *i, unsigned unused)
{
    (void)unused;
    const struct pim_onnx_value *weights = pim_onnx_input(i, 1);
    uint32_t dimensions, layer = as_map(i, pim_onnx_input(i, 0), &dimensions);
    struct pim_shape map = pim_onnx_shape_of(i, layer);
    union pim_attributes a = {
        .convolution = {.sliding = plain_sliding(dimensions), .bias = pim_onnx_optional_input(i, 2) != NULL}};
    read_kernel(i, &weights->shape, dimensions, &a.convolution.sliding);
    if (!expect_learned(i, weights))
        return;
    read_window(i, dimensions, &a.convolution.sliding);
    read_entries(i, "output_padding", dimensions, 0, a.convolution.output_padding);
    a.convolution.groups = pim_onnx_size(i, "group", pim_onnx_integer(i, "group", 1), 1);
    a.convolution.outputs = pim_onnx_size(i, "its output channels",
                                          (int64_t)weights->shape.dimension[1] * a.convolution.groups, 1);
    if (i->status == PIM_OK && weights->shape.dimension[0] != map.dimension[1])
        pim_onnx_fail(i, "its weights are for %u input channels, but the input has %u",
                      weights->shape.dimension[0], map.dimension[1]);
    if (i->status == PIM_OK)
        read_transposed_padding(i, &map, dimensions, &a);
    bind_convolution(i, PIM_OPERATOR_TRANSPOSED_CONVOLUTION, &a, layer, dimensions);
}

/*
 * Deformable: every weight meets an element interpolated at a computed place. The elements of all windows
 * side by side are a map on which the convolution has a stride of its kernel.
 */
void pim_onnx_convert_deformable_convolution(struct pim_onnx_importer *i, unsigned unused)
{
    (void)unused;
    const struct pim_onnx_value *weights = pim_onnx_input(i, 1), *bias = pim_onnx_optional_input(i, 3);
    struct pim_onnx_value *offset = pim_onnx_input(i, 2), *mask = pim_onnx_optional_input(i, 4);
    uint32_t dimensions, inputs[3] = {as_map(i, pim_onnx_input(i, 0), &dimensions)}, count = 2;
    struct pim_shape map = pim_onnx_shape_of(i, inputs[0]);
    struct pim_sliding window = plain_sliding(dimensions);
    if (i->status == PIM_OK && dimensions != 2)
        pim_onnx_fail(i, "only deformable convolutions of maps [batch, channels, height, width] are known");
    read_kernel(i, &weights->shape, dimensions, &window);
    inputs[1] = pim_onnx_layer_of(i, offset);
    if (mask)
        inputs[count++] = pim_onnx_layer_of(i, mask);
    if (!expect_learned(i, weights))
        return;
    read_sliding(i, inputs[0], dimensions, &window);
    union pim_attributes a = {.convolution = {.sliding = {.kernel = {window.kernel[0], window.kernel[1]},
                                                          .stride = {window.kernel[0], window.kernel[1]},
                                                          .dilation = {1, 1}},
                                              .bias = bias != NULL,
                                              .outputs = weights->shape.dimension[0]}};
    a.convolution.groups = pim_onnx_size(i, "group", pim_onnx_integer(i, "group", 1), 1);
    struct pim_shape windows = map;
    for (uint32_t d = 0; d < 2 && i->status == PIM_OK; d++) {
        int64_t room = (int64_t)map.dimension[2 + d] + window.pad_before[d] + window.pad_after[d] -
                       (int64_t)reach_of(&window, d);
        windows.dimension[2 + d] =
            pim_onnx_size(i, "a dimension of its windows",
                          room < 0 ? 0 : (room / window.stride[d] + 1) * (int64_t)window.kernel[d], 1);
    }
    const union pim_attributes sample = {.shape = windows};
    uint32_t layer = pim_onnx_add(i, PIM_OPERATOR_SAMPLE, "windows", &sample, count, inputs);
    if (i->status == PIM_OK)
        bind_convolution(i, PIM_OPERATOR_CONVOLUTION, &a, layer, dimensions);
}

static enum pim_pooling pooling_kind(const struct pim_onnx_importer *i)
{
    const char *operation = i->node->op_type;
    return strstr(operation, "Max")  ? PIM_POOLING_MAXIMUM
           : strstr(operation, "Lp") ? PIM_POOLING_NORM
                                     : PIM_POOLING_AVERAGE;
}

void pim_onnx_convert_pooling(struct pim_onnx_importer *i, unsigned unused)
{
    (void)unused;
    struct pim_onnx_value *input = pim_onnx_input(i, 0);
    uint32_t dimensions, layer = as_map(i, input, &dimensions), source = layer;
    union pim_attributes a = {.pooling = {.sliding = plain_sliding(dimensions), .kind = pooling_kind(i)}};
    if (i->status == PIM_OK && !pim_onnx_has(i, "kernel_shape"))
        pim_onnx_fail(i, "kernel_shape is missing");
    a.pooling.sliding.ceil_mode = pim_onnx_integer(i, "ceil_mode", 0) != 0;
    read_sliding(i, layer, dimensions, &a.pooling.sliding);
    layer = pim_onnx_add(i, PIM_OPERATOR_POOLING, "", &a, 1, &layer);
    const union pim_attributes places = {.shape = pim_onnx_shape_of(i, layer)};
    if (pim_onnx_is_read(i, 0))
        pim_onnx_bind_layer(i, 0, as_before(i, layer, dimensions));
    else if (i->status == PIM_OK)
        pim_graph_drop_last(&i->network->graph);
    if (!pim_onnx_is_read(i, 1)) /* the places of the maxima, for MaxUnpool */
        return;
    layer = pim_onnx_add(i, PIM_OPERATOR_SORT, "places", &places, 1, &source);
    pim_onnx_bind_layer(i, 1, as_before(i, layer, dimensions));
}

void pim_onnx_convert_global_pooling(struct pim_onnx_importer *i, unsigned unused)
{
    (void)unused;
    uint32_t dimensions, layer = as_map(i, pim_onnx_input(i, 0), &dimensions);
    const union pim_attributes a = {.pooling = {.kind = pooling_kind(i), .global = true}};
    layer = pim_onnx_add(i, PIM_OPERATOR_POOLING, "", &a, 1, &layer);
    pim_onnx_bind_layer(i, 0, as_before(i, layer, dimensions));
}

/* Each element goes back to where its maximum was: the pooling's input in size, and zero elsewhere. */
void pim_onnx_convert_unpooling(struct pim_onnx_importer *i, unsigned unused)
{
    (void)unused;
    struct pim_onnx_value *input = pim_onnx_input(i, 0);
    const struct pim_shape from = input->shape;
    uint32_t dimensions = from.rank >= 3 && from.rank <= 5 ? from.rank - 2 : 0;
    int64_t sizes[PIM_SHAPE_RANK];
    bool sized;
    uint32_t count = pim_onnx_list(i, NULL, 2, sizes, PIM_SHAPE_RANK, &sized);
    if (i->status == PIM_OK && (dimensions == 0 || (sized && count != from.rank)))
        pim_onnx_fail(i, "its input has %u dimensions: 3 to 5, and as many sizes, are needed", from.rank);
    if (i->status != PIM_OK)
        return;
    struct pim_sliding s = plain_sliding(dimensions);
    read_window(i, dimensions, &s);
    read_pads(i, dimensions, &s);
    union pim_attributes a = {.shape = from};
    for (uint32_t d = 0; d < from.rank && i->status == PIM_OK; d++) {
        unsigned axis = d < 2 ? 0 : axis_of(dimensions, d - 2);
        int64_t wide = d < 2 ? from.dimension[d]
                             : ((int64_t)from.dimension[d] - 1) * s.stride[axis] + s.kernel[axis] -
                                   s.pad_before[axis] - s.pad_after[axis];
        a.shape.dimension[d] = pim_onnx_size(i, "a dimension of the result", sized ? sizes[d] : wide, 1);
    }
    const uint32_t layers[2] = {pim_onnx_layer_of(i, input), pim_onnx_layer_of(i, pim_onnx_input(i, 1))};
    pim_onnx_bind_layer(i, 0, pim_onnx_add(i, PIM_OPERATOR_SCATTER, "", &a, 2, layers));
}
