#include "mappers/nicepim/map/flow.h"

#include <stdlib.h>
#include <string.h>

enum pim_status flow_refuse(const struct flow *flow, uint32_t layer, const char *why, struct pim_error *error)
{
    const struct pim_layer *l = &flow->graph->layers[layer];
    return pim_fail(error, PIM_BAD_INPUT, "layer %.80s (%s) cannot be cut over nodes: %s", l->name,
                    pim_operator_name(l->operation), why);
}

static void set_window(struct flow_operation *operation, const struct pim_sliding *sliding,
                       const uint32_t input[4])
{
    operation->conv.kernel_height = sliding->kernel[0];
    operation->conv.kernel_width = sliding->kernel[1];
    operation->conv.stride_height = sliding->stride[0];
    operation->conv.stride_width = sliding->stride[1];
    operation->conv.pad_top = sliding->pad_before[0];
    operation->conv.pad_left = sliding->pad_before[1];
    operation->conv.height = input[2];
    operation->conv.width = input[3];
}

static void set_loops(struct flow_operation *operation, uint32_t channels)
{
    operation->conv.length[PIM_LOOP_B] = operation->dimension[0];
    operation->conv.length[PIM_LOOP_P] = operation->dimension[2];
    operation->conv.length[PIM_LOOP_Q] = operation->dimension[3];
    operation->conv.length[PIM_LOOP_K] = operation->dimension[1];
    operation->conv.length[PIM_LOOP_C] = channels;
    operation->weight_bytes = (uint64_t)FLOW_BYTES * operation->dimension[1] * channels *
                              operation->conv.kernel_height * operation->conv.kernel_width;
}

static enum pim_status build_convolution(const struct flow *flow, uint32_t layer,
                                         struct flow_operation *operation, struct pim_error *error)
{
    const struct pim_layer *l = &flow->graph->layers[layer];
    const uint32_t *input = flow->operation[l->input[0]].dimension;
    const struct pim_sliding *sliding = &l->attributes.convolution.sliding;
    if (sliding->kernel[2] > 1 || l->inputs != 1)
        return flow_refuse(flow, layer, "it is of a volume, or has computed weights", error);
    if (sliding->dilation[0] > 1 || sliding->dilation[1] > 1)
        return flow_refuse(flow, layer, "its kernel is dilated", error);
    operation->kind = FLOW_PRODUCT;
    operation->groups = l->attributes.convolution.groups;
    set_window(operation, sliding, input);
    set_loops(operation, input[1] / operation->groups);
    return PIM_OK;
}

static enum pim_status build_linear(const struct flow *flow, uint32_t layer, struct flow_operation *operation,
                                    struct pim_error *error)
{
    const struct pim_layer *l = &flow->graph->layers[layer];
    const struct flow_operation *from = &flow->operation[l->input[0]];
    if (flow->graph->layers[l->input[0]].output.rank == 4 && !from->channels_last)
        return flow_refuse(flow, layer, "it is along the last dimension of a map", error);
    operation->kind = FLOW_PRODUCT;
    operation->groups = 1;
    operation->conv = (struct pim_conv){.kernel_height = 1,
                                        .kernel_width = 1,
                                        .stride_height = 1,
                                        .stride_width = 1,
                                        .height = from->dimension[2],
                                        .width = from->dimension[3]};
    set_loops(operation, from->dimension[1]);
    return PIM_OK;
}

static bool fusible(const struct flow *flow, uint32_t layer, const uint32_t *readers)
{
    uint32_t from = flow->graph->layers[layer].input[0];
    enum flow_kind kind = flow->operation[from].kind;
    return (kind == FLOW_PRODUCT || kind == FLOW_FUSED) && readers[from] == 1;
}

/* The activation is what the requantisation of its product does. */
static void fuse(const struct flow *flow, uint32_t layer, enum pim_vector vector)
{
    while (flow->operation[layer].kind == FLOW_FUSED)
        layer = flow->graph->layers[layer].input[0];
    if (vector != PIM_VECTOR_RELU) /* clipping comes with rounding */
        flow->operation[layer].vector = vector;
}

static void build_activation(const struct flow *flow, uint32_t layer, const uint32_t *readers,
                             struct flow_operation *operation)
{
    const enum pim_activation activation = flow->graph->layers[layer].attributes.activation;
    operation->kind = fusible(flow, layer, readers) ? FLOW_FUSED : FLOW_VECTOR;
    operation->vector = activation == PIM_ACTIVATION_GELU      ? PIM_VECTOR_GELU
                        : activation == PIM_ACTIVATION_SIGMOID ? PIM_VECTOR_SIGMOID
                        : activation == PIM_ACTIVATION_TANH    ? PIM_VECTOR_TANH
                                                               : PIM_VECTOR_RELU;
    if (operation->kind == FLOW_FUSED)
        fuse(flow, layer, operation->vector);
}

static void build_normalization(const struct flow *flow, uint32_t layer, const uint32_t *readers,
                                struct flow_operation *operation)
{
    const struct pim_layer *l = &flow->graph->layers[layer];
    operation->vector = PIM_VECTOR_MULTIPLY;
    if (l->attributes.normalization.kind == PIM_NORMALIZATION_BATCH) {
        operation->kind = fusible(flow, layer, readers) ? FLOW_FUSED : FLOW_VECTOR;
        return;
    }
    operation->reach = FLOW_NEAR;
    operation->taps = 5;
    if (l->attributes.normalization.kind == PIM_NORMALIZATION_LAYER) {
        operation->vector = PIM_VECTOR_LAYERNORM;
        operation->reach = FLOW_CHANNELS;
        operation->group = operation->dimension[1];
    }
}

static enum pim_status build_pooling(const struct flow *flow, uint32_t layer,
                                     struct flow_operation *operation, struct pim_error *error)
{
    const struct pim_layer *l = &flow->graph->layers[layer];
    const uint32_t *input = flow->operation[l->input[0]].dimension;
    if (l->attributes.pooling.kind == PIM_POOLING_NORM)
        return flow_refuse(flow, layer, "it pools by a norm", error);
    operation->vector =
        l->attributes.pooling.kind == PIM_POOLING_MAXIMUM ? PIM_VECTOR_MAXIMUM : PIM_VECTOR_AVERAGE;
    operation->reach = l->attributes.pooling.global ? FLOW_PLANE : FLOW_WINDOW;
    if (operation->reach == FLOW_WINDOW)
        set_window(operation, &l->attributes.pooling.sliding, input);
    operation->taps = operation->reach == FLOW_PLANE
                          ? input[2] * input[3]
                          : operation->conv.kernel_height * operation->conv.kernel_width;
    return PIM_OK;
}

static enum pim_status build_reshape(const struct flow *flow, uint32_t layer,
                                     struct flow_operation *operation, struct pim_error *error)
{
    const struct pim_layer *l = &flow->graph->layers[layer];
    const uint32_t *input = flow->operation[l->input[0]].dimension, *output = operation->dimension;
    if (l->output.rank > 2 || flow->graph->layers[l->input[0]].output.rank < 4)
        return tokens_build(flow, layer, operation, error);
    operation->kind = FLOW_FLATTEN;
    return output[0] == input[0] && output[2] == 1 && output[3] == 1 &&
                   output[1] == (uint64_t)input[1] * input[2] * input[3]
               ? PIM_OK
               : flow_refuse(flow, layer, "it is no flattening", error);
}

static enum pim_status build_other(const struct flow *flow, uint32_t layer, const uint32_t *readers,
                                   struct flow_operation *operation, struct pim_error *error)
{
    const struct pim_layer *l = &flow->graph->layers[layer];
    if (l->operation == PIM_OPERATOR_INPUT || l->operation == PIM_OPERATOR_PARAMETER) {
        operation->kind = FLOW_INPUT;
        return PIM_OK;
    }
    if (l->inputs == 0)
        return flow_refuse(flow, layer, "it is a tensor of its own", error);
    const bool same = memcmp(flow->operation[l->input[0]].dimension, operation->dimension,
                             sizeof operation->dimension) == 0;
    operation->kind = FLOW_VECTOR;
    operation->taps = l->inputs;
    switch ((int)l->operation) {
    case PIM_OPERATOR_ACTIVATION:
        build_activation(flow, layer, readers, operation);
        return PIM_OK;
    case PIM_OPERATOR_NORMALIZATION:
        build_normalization(flow, layer, readers, operation);
        return PIM_OK;
    case PIM_OPERATOR_SOFTMAX:
        operation->vector = PIM_VECTOR_SOFTMAX;
        operation->reach = FLOW_CHANNELS;
        operation->group = l->output.dimension[l->output.rank - 1];
        return operation->dimension[1] % operation->group == 0 && same
                   ? PIM_OK
                   : flow_refuse(flow, layer, "it is not along channels", error);
    case PIM_OPERATOR_POOLING:
        return build_pooling(flow, layer, operation, error);
    case PIM_OPERATOR_ELEMENTWISE:
        operation->vector =
            l->attributes.elementwise == PIM_ELEMENTWISE_MULTIPLY ? PIM_VECTOR_MULTIPLY : PIM_VECTOR_ADD;
        return same ? PIM_OK : flow_refuse(flow, layer, "its first operand is broadcast", error);
    case PIM_OPERATOR_RESHAPE:
        return build_reshape(flow, layer, operation, error);
    default:
        return tokens_build(flow, layer, operation, error);
    }
}

static enum pim_status build_operations(struct flow *flow, const uint32_t *readers, struct pim_error *error)
{
    for (uint32_t i = 0; i < flow->count; i++) {
        const struct pim_layer *layer = &flow->graph->layers[i];
        struct flow_operation *operation = &flow->operation[i];
        operation->vector = PIM_VECTOR_COPY;
        if (tokens_shape(flow, i, operation, error) != PIM_OK)
            return error->status;
        enum pim_status status =
            layer->operation == PIM_OPERATOR_CONVOLUTION ? build_convolution(flow, i, operation, error)
            : layer->operation == PIM_OPERATOR_LINEAR    ? build_linear(flow, i, operation, error)
                                                         : build_other(flow, i, readers, operation, error);
        if (status != PIM_OK)
            return status;
    }
    return PIM_OK;
}

static enum pim_status find_segments(struct flow *flow, struct pim_error *error)
{
    size_t edges = 0;
    for (uint32_t i = 0; i < flow->count; i++)
        edges += flow->graph->layers[i].inputs;
    bool *layer = calloc((size_t)flow->count + 1, sizeof *layer);
    uint32_t(*edge)[2] = calloc(edges + 1, sizeof *edge);
    if (!layer || !edge) {
        free(layer);
        free(edge);
        return pim_fail(error, PIM_NO_MEMORY, "out of memory for the segments");
    }
    edges = 0;
    for (uint32_t i = 0; i < flow->count; i++) {
        layer[i] = flow->operation[i].kind == FLOW_PRODUCT;
        for (uint32_t k = 0; k < flow->graph->layers[i].inputs; k++) {
            edge[edges][0] = flow->graph->layers[i].input[k];
            edge[edges++][1] = i;
        }
    }
    struct pim_flow_graph graph = {flow->count, layer, edges, (const uint32_t(*)[2])edge};
    enum pim_status status = pim_segments_of(&graph, &flow->segments, error);
    free(layer);
    free(edge);
    return status;
}

enum pim_status flow_build(const struct pim_network *network, uint32_t batch, struct flow *flow,
                           struct pim_error *error)
{
    const struct pim_graph *graph = &network->graph;
    *flow = (struct flow){.graph = graph, .batch = batch, .count = graph->count, .macs = graph->macs * batch};
    flow->operation = calloc((size_t)graph->count + 1, sizeof *flow->operation);
    uint32_t *readers = calloc((size_t)graph->count + 1, sizeof *readers);
    enum pim_status status = PIM_OK;
    if (!flow->operation || !readers)
        status = pim_fail(error, PIM_NO_MEMORY, "out of memory for a network of %u layers",
                          (unsigned)graph->count);
    for (uint32_t i = 0; status == PIM_OK && i < graph->count; i++) {
        for (uint32_t k = 0; k < graph->layers[i].inputs; k++)
            readers[graph->layers[i].input[k]]++;
    }
    if (status == PIM_OK)
        status = build_operations(flow, readers, error);
    if (status == PIM_OK)
        status = find_segments(flow, error);
    if (status == PIM_OK && flow->segments.segment_count == 0)
        status = pim_fail(error, PIM_BAD_INPUT, "the network has no convolution and no matrix product");
    free(readers);
    if (status != PIM_OK)
        flow_terminate(flow);
    return status;
}

void flow_terminate(struct flow *flow)
{
    pim_segments_terminate(&flow->segments);
    free(flow->operation);
    *flow = (struct flow){0};
}

/* --- boxes --- */

struct pim_span flow_clip(int64_t from, int64_t to, uint32_t size)
{
    from = from < 0 ? 0 : from > size ? size : from;
    to = to < from ? from : to > size ? size : to;
    return (struct pim_span){(uint32_t)from, (uint32_t)to};
}

void flow_needs(const struct flow *flow, uint32_t layer, uint32_t index, const struct pim_span output[4],
                struct pim_span input[4])
{
    const struct flow_operation *operation = &flow->operation[layer];
    const uint32_t *size = flow->operation[flow->graph->layers[layer].input[index]].dimension;
    for (size_t d = 0; d < 4; d++)
        input[d] = size[d] == 1 ? (struct pim_span){0, 1} : output[d];
    if (operation->kind == FLOW_FLATTEN) {
        uint32_t plane = size[2] * size[3];
        input[1] = flow_clip(output[1].from / plane, (output[1].to + plane - 1) / plane, size[1]);
    }
    if (operation->kind == FLOW_FLATTEN || operation->reach == FLOW_PLANE) {
        input[2] = (struct pim_span){0, size[2]};
        input[3] = (struct pim_span){0, size[3]};
    } else if (operation->reach == FLOW_CHANNELS) {
        uint32_t group = operation->group;
        input[1] =
            (struct pim_span){output[1].from / group * group, (output[1].to + group - 1) / group * group};
    } else if (operation->reach == FLOW_NEAR) {
        input[1] = flow_clip((int64_t)output[1].from - 2, (int64_t)output[1].to + 2, size[1]);
    } else if (operation->reach == FLOW_WINDOW) {
        const struct pim_conv *conv = &operation->conv;
        input[2] = flow_clip(
            (int64_t)output[2].from * conv->stride_height - conv->pad_top,
            ((int64_t)output[2].to - 1) * conv->stride_height - conv->pad_top + conv->kernel_height, size[2]);
        input[3] = flow_clip(
            (int64_t)output[3].from * conv->stride_width - conv->pad_left,
            ((int64_t)output[3].to - 1) * conv->stride_width - conv->pad_left + conv->kernel_width, size[3]);
    } else if (operation->reach != FLOW_SAME) {
        tokens_needs(operation, size, output, input);
    }
}

void flow_product_box(const struct flow_operation *operation, const struct pim_part *part,
                      struct pim_span input[4])
{
    memcpy(input, part->box, sizeof part->box);
    if (operation->groups <= 1 || flow_box_elements(part->box) == 0)
        return;
    /* The channels of the groups that the output channels belong to. */
    uint32_t outputs = operation->dimension[1] / operation->groups,
             inputs = operation->conv.length[PIM_LOOP_C];
    uint32_t first = part->loop[PIM_LOOP_K].from / outputs, last = (part->loop[PIM_LOOP_K].to - 1) / outputs;
    input[1] = (struct pim_span){first * inputs, (last + 1) * inputs};
}

bool flow_groups_are_whole(const struct flow_operation *operation, uint32_t parts)
{
    uint32_t channels = operation->dimension[1], own = channels / (operation->groups ? operation->groups : 1);
    for (uint32_t i = 0; i < parts && operation->groups > 1; i++) {
        struct pim_span span = pim_span_of(channels, parts, i);
        if (span.from < span.to && span.from / own != (span.to - 1) / own &&
            (span.from % own != 0 || span.to % own != 0))
            return false;
    }
    return true;
}

/* Keys of one head or of whole ones: rows of the second input; values: its channels, and all rows. */
void flow_right_box(const struct flow_operation *operation, const struct pim_part *part,
                    struct pim_span input[4])
{
    uint32_t own = operation->dimension[1] / operation->groups, inputs = operation->conv.length[PIM_LOOP_C];
    struct pim_span k = part->loop[PIM_LOOP_K];
    uint32_t first = k.from / own, last = (k.to - 1) / own;
    input[0] = part->loop[PIM_LOOP_B];
    input[3] = (struct pim_span){0, 1};
    if (operation->right == FLOW_VALUES) {
        input[1] = k;
        input[2] = (struct pim_span){0, inputs};
        return;
    }
    input[1] = (struct pim_span){first * inputs, (last + 1) * inputs};
    input[2] = first == last ? (struct pim_span){k.from - first * own, k.to - first * own}
                             : (struct pim_span){0, own};
}
