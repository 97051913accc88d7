#include "mappers/overlapim/layers.h"
#include "sim/integer.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* What stands behind a tensor of the graph: outputs of mapped layers, or the input of the network. */
struct origin {
    uint32_t layer, channel; /* channel of the tensor that its channel 0 is */
    bool flat, whole;
};

struct origins {
    uint32_t count;
    struct origin *list;
    uint32_t owner; /* the mapped layer whose output this tensor is, as it is; PIM_NONE */
};

struct making {
    const struct pim_graph *graph;
    struct pim_mapped_layers *layers;
    struct origins *origins; /* by graph layer */
    uint32_t *readers;       /* by graph layer */
    struct pim_error *error;
};

/* --- tensors as outputs --- */

/* Batch, channels, rows and columns; tokens are batch. */
struct view {
    uint64_t size[4];
};

static bool is_map(const struct pim_graph *graph, uint32_t index)
{
    /* token maps are [batch, height, width, channels]: operators that make them work on the last dimension */
    enum pim_operator operation = graph->layers[index].operation;
    if (graph->layers[index].output.rank != 4)
        return false;
    if (operation == PIM_OPERATOR_ACTIVATION || operation == PIM_OPERATOR_NORMALIZATION ||
        operation == PIM_OPERATOR_ELEMENTWISE || operation == PIM_OPERATOR_CONCAT ||
        operation == PIM_OPERATOR_PAD)
        return is_map(graph, graph->layers[index].input[0]);
    return operation == PIM_OPERATOR_INPUT || operation == PIM_OPERATOR_CONVOLUTION ||
           operation == PIM_OPERATOR_TRANSPOSED_CONVOLUTION || operation == PIM_OPERATOR_POOLING;
}

static struct view view_of(const struct pim_graph *graph, uint32_t index)
{
    const struct pim_shape *shape = &graph->layers[index].output;
    struct view view = {{1, 1, 1, 1}};
    if (is_map(graph, index)) {
        for (unsigned i = 0; i < 4; i++)
            view.size[i] = shape->dimension[i];
        return view;
    }
    for (uint32_t i = 0; i + 1 < shape->rank; i++)
        view.size[0] *= shape->dimension[i];
    if (shape->rank > 0)
        view.size[1] = shape->dimension[shape->rank - 1];
    return view;
}

static enum pim_status refuse(const struct making *making, uint32_t index, const char *why)
{
    const struct pim_layer *layer = &making->graph->layers[index];
    return pim_fail(making->error, PIM_BAD_INPUT, "layer %s (%s): %s", layer->name,
                    pim_operator_name(layer->operation), why);
}

static enum pim_status set_sizes(const struct making *making, uint32_t index, const uint64_t size[4],
                                 struct pim_workload *workload)
{
    static const unsigned dimension[4] = {PIM_N, PIM_K, PIM_P, PIM_Q};
    for (unsigned i = 0; i < 4; i++) {
        if (size[i] == 0 || size[i] > PIM_NEST_EXTENT)
            return refuse(making, index, "a dimension of its output is larger than 2^24");
        workload->size[dimension[i]] = (uint32_t)size[i];
    }
    return PIM_OK;
}

/* --- origins --- */

static enum pim_status add_origin(const struct making *making, struct origins *origins, struct origin origin)
{
    struct origin *grown = realloc(origins->list, (origins->count + 1) * sizeof *grown);
    if (!grown)
        return pim_fail(making->error, PIM_NO_MEMORY, "out of memory for the layers of the network");
    origins->list = grown;
    origins->list[origins->count++] = origin;
    return PIM_OK;
}

/* The tensor is read through an arrangement: `flat` and `whole` as the arrangement says, channels shifted. */
static enum pim_status pass_on(const struct making *making, uint32_t from, uint32_t to, bool flat, bool whole,
                               uint32_t channel)
{
    const struct origins *source = &making->origins[from];
    for (uint32_t i = 0; i < source->count; i++) {
        struct origin origin = source->list[i];
        origin.whole = origin.whole || whole || (flat && (origin.flat || origin.channel > 0)) ||
                       (origin.flat && channel > 0);
        origin.flat = (origin.flat || flat) && !origin.whole;
        origin.channel += channel;
        if (add_origin(making, &making->origins[to], origin) != PIM_OK)
            return making->error->status;
    }
    return PIM_OK;
}

static enum pim_status arrange(const struct making *making, uint32_t index)
{
    const struct pim_layer *layer = &making->graph->layers[index];
    struct view to = view_of(making->graph, index);
    uint32_t channel = 0;
    for (uint32_t i = 0; i < layer->inputs; i++) {
        struct view from = view_of(making->graph, layer->input[i]);
        bool same = memcmp(&from, &to, sizeof to) == 0 && layer->operation != PIM_OPERATOR_TRANSPOSE &&
                    layer->operation != PIM_OPERATOR_SHIFT && layer->operation != PIM_OPERATOR_GATHER;
        bool flat = layer->operation == PIM_OPERATOR_RESHAPE && from.size[0] == to.size[0] &&
                    to.size[2] == 1 && to.size[3] == 1 && !same;
        bool joined = layer->operation == PIM_OPERATOR_CONCAT && is_map(making->graph, index) &&
                      layer->attributes.concat.axis == 1;
        if (pass_on(making, layer->input[i], index, flat, !same && !flat && !joined, channel) != PIM_OK)
            return making->error->status;
        channel += joined ? (uint32_t)from.size[1] : 0;
    }
    return PIM_OK;
}

/* --- layers --- */

static struct pim_mapped_layer *add_layer(const struct making *making, uint32_t index)
{
    struct pim_mapped_layers *layers = making->layers;
    struct pim_mapped_layer *layer = &layers->layer[layers->count];
    memset(layer, 0, sizeof *layer);
    layer->name = making->graph->layers[index].name;
    layer->graph_layer = index;
    pim_workload_initialize(&layer->workload);
    making->origins[index].owner = layers->count++;
    return layer;
}

/* At most so many that sums over links, times PIM_OPERAND, are numbers. */
static uint64_t outputs_of(const struct pim_mapped_layer *layer)
{
    const uint32_t *size = layer->workload.size;
    const uint64_t outputs = (uint64_t)size[PIM_N] * size[PIM_K] * size[PIM_P] * size[PIM_Q];
    return pim_smaller(outputs, UINT32_MAX);
}

/* What comes from each of the links of an operand, from link `first` on: as their producers have outputs. */
static enum pim_status share_out(const struct making *making, struct pim_mapped_layer *layer, uint32_t first)
{
    uint64_t all = 0, so_far = 0;
    uint32_t *grown = realloc(layer->part, (layer->links + 1) * sizeof *grown);
    if (!grown)
        return pim_fail(making->error, PIM_NO_MEMORY, "out of memory for the layers of the network");
    layer->part = grown;
    layer->operands += layer->links > first;
    for (uint32_t j = first; j < layer->links; j++)
        all += outputs_of(&making->layers->layer[layer->link[j].producer]);
    for (uint32_t j = first; j < layer->links; j++) {
        const uint64_t before = PIM_OPERAND * so_far / all;
        so_far += outputs_of(&making->layers->layer[layer->link[j].producer]);
        layer->part[j] = (uint32_t)(PIM_OPERAND * so_far / all - before);
    }
    return PIM_OK;
}

/* Links to all origins of one input; an arrangement that does not fit is read as a whole. */
static enum pim_status link_input(const struct making *making, uint32_t input, enum pim_link_role role,
                                  struct pim_mapped_layer *layer)
{
    const struct origins *origins = &making->origins[input];
    const uint32_t first = layer->links;
    struct pim_error ignored = {PIM_OK, ""};
    for (uint32_t i = 0; i < origins->count; i++) {
        const struct origin *origin = &origins->list[i];
        struct pim_link link = {.producer = origin->layer,
                                .role = origin->whole ? PIM_LINK_WHOLE : role,
                                .flatten = origin->flat,
                                .first_channel = origin->channel};
        if (pim_link_check(&link, &making->layers->layer[origin->layer].workload, &layer->workload,
                           &ignored) != PIM_OK)
            link.role = PIM_LINK_WHOLE;
        if (link.role == PIM_LINK_WHOLE) {
            link.flatten = false;
            link.first_channel = 0;
            making->layers->whole_links++;
        }
        struct pim_link *grown = realloc(layer->link, (layer->links + 1) * sizeof *grown);
        if (!grown)
            return pim_fail(making->error, PIM_NO_MEMORY, "out of memory for the layers of the network");
        layer->link = grown;
        layer->link[layer->links++] = link;
        uint32_t deepest = making->layers->layer[layer->link[layer->main].producer].depth;
        uint32_t depth = making->layers->layer[link.producer].depth;
        if (depth > deepest || (depth == deepest && link.producer > layer->link[layer->main].producer))
            layer->main = layer->links - 1;
        layer->depth = depth >= layer->depth ? depth + 1 : layer->depth;
    }
    return share_out(making, layer, first);
}

static enum pim_status finish(const struct making *making, uint32_t index, struct pim_mapped_layer *layer)
{
    if (pim_workload_check(&layer->workload, making->error) != PIM_OK)
        return pim_fail_in(making->error, "layer %s", making->graph->layers[index].name);
    struct origin self = {.layer = making->origins[index].owner};
    making->layers->products += layer->product;
    return add_origin(making, &making->origins[index], self);
}

static enum pim_status set_window(const struct making *making, uint32_t index,
                                  const struct pim_sliding *sliding, struct pim_workload *workload)
{
    for (unsigned axis = 0; axis < 2; axis++) {
        workload->size[PIM_R + axis] = sliding->kernel[axis];
        workload->stride[axis] = sliding->stride[axis];
        workload->padding[axis] = sliding->pad_before[axis];
        workload->dilation[axis] = sliding->dilation[axis] ? sliding->dilation[axis] : 1;
    }
    return making->graph->layers[index].output.rank == 4
               ? PIM_OK
               : refuse(making, index, "volumes are not mapped: maps of two dimensions are");
}

static enum pim_status make_convolution(const struct making *making, uint32_t index)
{
    const struct pim_layer *layer = &making->graph->layers[index];
    struct pim_mapped_layer *mapped = add_layer(making, index);
    struct view out = view_of(making->graph, index);
    mapped->product = true;
    mapped->workload.groups = layer->attributes.convolution.groups;
    /* of the input as the convolution reads it: what made it may have been no map */
    mapped->workload.size[PIM_C] =
        making->graph->layers[layer->input[0]].output.dimension[1] / mapped->workload.groups;
    mapped->post.additions = layer->attributes.convolution.bias;
    if (set_sizes(making, index, out.size, &mapped->workload) != PIM_OK ||
        set_window(making, index, &layer->attributes.convolution.sliding, &mapped->workload) != PIM_OK ||
        link_input(making, layer->input[0], PIM_LINK_INPUT, mapped) != PIM_OK)
        return making->error->status;
    return finish(making, index, mapped);
}

static enum pim_status make_linear(const struct making *making, uint32_t index)
{
    const struct pim_layer *layer = &making->graph->layers[index];
    struct pim_mapped_layer *mapped = add_layer(making, index);
    struct view out = view_of(making->graph, index), in = view_of(making->graph, layer->input[0]);
    mapped->product = true;
    mapped->post.additions = layer->attributes.linear.bias;
    if (in.size[1] > PIM_NEST_EXTENT)
        return refuse(making, index, "more than 2^24 inputs");
    mapped->workload.size[PIM_C] = (uint32_t)in.size[1];
    if (set_sizes(making, index, out.size, &mapped->workload) != PIM_OK ||
        link_input(making, layer->input[0], PIM_LINK_INPUT, mapped) != PIM_OK)
        return making->error->status;
    return finish(making, index, mapped);
}

/* Attention of one branch: query x key^T, probabilities x value, per head. More branches are rows: their
 * second operand is read as a whole. */
static enum pim_status make_attention(const struct making *making, uint32_t index)
{
    const struct pim_layer *layer = &making->graph->layers[index];
    bool scores = layer->operation == PIM_OPERATOR_ATTENTION_SCORES;
    const struct pim_shape *first = &making->graph->layers[layer->input[0]].output;
    const struct pim_shape *second = &making->graph->layers[layer->input[1]].output;
    uint64_t heads = layer->attributes.attention.heads, rows = 1;
    struct pim_mapped_layer *mapped = add_layer(making, index);
    uint32_t tokens = second->dimension[second->rank - 2];
    uint32_t channels = second->dimension[second->rank - 1];
    for (uint32_t i = 0; i + 1 < first->rank; i++)
        rows *= first->dimension[i];
    if (!scores) /* probabilities are [branches, heads, tokens, tokens] */
        rows = pim_shape_elements(&layer->output) / channels;
    mapped->product = true;
    mapped->workload.groups = (uint32_t)heads;
    mapped->workload.size[PIM_C] = scores ? channels / (uint32_t)heads : tokens;
    const uint64_t size[4] = {rows, scores ? heads * tokens : channels, 1, 1};
    if (set_sizes(making, index, size, &mapped->workload) != PIM_OK ||
        link_input(making, layer->input[0], PIM_LINK_INPUT, mapped) != PIM_OK ||
        link_input(making, layer->input[1], scores ? PIM_LINK_ROWS : PIM_LINK_COLUMNS, mapped) != PIM_OK)
        return making->error->status;
    return finish(making, index, mapped);
}

static enum pim_status make_matrix(const struct making *making, uint32_t index)
{
    const struct pim_layer *layer = &making->graph->layers[index];
    const struct pim_shape *first = &making->graph->layers[layer->input[0]].output;
    struct pim_mapped_layer *mapped = add_layer(making, index);
    bool transposed = layer->attributes.matrix.transpose_second;
    struct view out = view_of(making->graph, index);
    mapped->product = true;
    mapped->workload.size[PIM_C] = first->rank > 0 ? first->dimension[first->rank - 1] : 1;
    if (set_sizes(making, index, out.size, &mapped->workload) != PIM_OK ||
        link_input(making, layer->input[0], PIM_LINK_INPUT, mapped) != PIM_OK ||
        link_input(making, layer->input[1], transposed ? PIM_LINK_ROWS : PIM_LINK_COLUMNS, mapped) != PIM_OK)
        return making->error->status;
    return finish(making, index, mapped);
}

/*
 * Additions and multiplications of an output of a vector layer. Assumed, as no source gives them for such a
 * memory: a comparison is a subtraction and a selection (2 additions); a function of one element is a
 * polynomial of degree 4 (4 of each); a division is a multiplication with a reciprocal by 2 steps of Newton's
 * method (5 multiplications, 2 additions).
 */
static struct pim_column_operations operations_of(const struct pim_layer *layer)
{
    static const struct pim_column_operations function = {4, 4}, scaled = {1, 1}, quotient = {6, 9};
    if (layer->operation == PIM_OPERATOR_ACTIVATION)
        return layer->attributes.activation == PIM_ACTIVATION_RELU   ? (struct pim_column_operations){1, 0}
               : layer->attributes.activation == PIM_ACTIVATION_CLIP ? (struct pim_column_operations){4, 0}
               : layer->attributes.activation == PIM_ACTIVATION_LEAKY_RELU ? scaled
                                                                           : function;
    if (layer->operation == PIM_OPERATOR_NORMALIZATION) /* mean, variance, root, scale and shift */
        return layer->attributes.normalization.kind == PIM_NORMALIZATION_BATCH
                   ? scaled
                   : (struct pim_column_operations){8, 7};
    if (layer->operation == PIM_OPERATOR_SOFTMAX) /* exponential, sum, division */
        return (struct pim_column_operations){4 + 1 + 2, 4 + 5};
    switch (layer->attributes.elementwise) {
    case PIM_ELEMENTWISE_ADD:
    case PIM_ELEMENTWISE_SUBTRACT:
        return (struct pim_column_operations){1, 0};
    case PIM_ELEMENTWISE_MULTIPLY:
        return (struct pim_column_operations){0, 1};
    case PIM_ELEMENTWISE_MAXIMUM:
    case PIM_ELEMENTWISE_MINIMUM:
    case PIM_ELEMENTWISE_SELECT:
        return (struct pim_column_operations){2, 0};
    case PIM_ELEMENTWISE_DIVIDE:
    case PIM_ELEMENTWISE_POWER:
    case PIM_ELEMENTWISE_OTHER:
    case PIM_ELEMENTWISES:
        break;
    }
    return quotient;
}

/* The one layer behind an element-by-element operator that nothing else reads: it works where they are. */
static bool fuse(const struct making *making, uint32_t index)
{
    const struct pim_layer *layer = &making->graph->layers[index];
    bool batch = layer->operation == PIM_OPERATOR_NORMALIZATION &&
                 layer->attributes.normalization.kind == PIM_NORMALIZATION_BATCH;
    uint32_t input = layer->input[0], owner = making->origins[input].owner;
    if ((layer->operation != PIM_OPERATOR_ACTIVATION && !batch) || owner == PIM_NONE ||
        making->readers[input] != 1)
        return false;
    struct pim_column_operations operations = operations_of(layer);
    making->layers->layer[owner].post.additions += operations.additions;
    making->layers->layer[owner].post.multiplications += operations.multiplications;
    making->origins[index].owner = owner;
    return true;
}

/* Element by element, or over the channels of a row (softmax, layer normalisation). */
static enum pim_status make_vector(const struct making *making, uint32_t index)
{
    const struct pim_layer *layer = &making->graph->layers[index];
    if (fuse(making, index))
        return pass_on(making, layer->input[0], index, false, false, 0);
    struct pim_mapped_layer *mapped = add_layer(making, index);
    struct view out = view_of(making->graph, index);
    bool over_row = layer->operation == PIM_OPERATOR_SOFTMAX ||
                    (layer->operation == PIM_OPERATOR_NORMALIZATION &&
                     layer->attributes.normalization.kind != PIM_NORMALIZATION_BATCH);
    mapped->each = operations_of(layer);
    if (set_sizes(making, index, out.size, &mapped->workload) != PIM_OK)
        return making->error->status;
    mapped->workload.groups = over_row ? 1 : mapped->workload.size[PIM_K];
    mapped->workload.size[PIM_C] = over_row ? mapped->workload.size[PIM_K] : 1;
    for (uint32_t i = 0; i < layer->inputs; i++) {
        if (link_input(making, layer->input[i], PIM_LINK_INPUT, mapped) != PIM_OK)
            return making->error->status;
    }
    return finish(making, index, mapped);
}

static enum pim_status make_pooling(const struct making *making, uint32_t index)
{
    const struct pim_layer *layer = &making->graph->layers[index];
    if (layer->attributes.pooling.kind == PIM_POOLING_NORM)
        return refuse(making, index, "it pools by a norm");
    struct pim_mapped_layer *mapped = add_layer(making, index);
    struct view out = view_of(making->graph, index), in = view_of(making->graph, layer->input[0]);
    bool global = layer->attributes.pooling.global;
    if (set_sizes(making, index, out.size, &mapped->workload) != PIM_OK ||
        set_window(making, index, &layer->attributes.pooling.sliding, &mapped->workload) != PIM_OK)
        return making->error->status;
    for (unsigned axis = 0; global && axis < 2; axis++) {
        mapped->workload.size[PIM_R + axis] = (uint32_t)in.size[2 + axis];
        mapped->workload.stride[axis] = mapped->workload.dilation[axis] = 1;
        mapped->workload.padding[axis] = 0;
    }
    uint32_t window = mapped->workload.size[PIM_R] * mapped->workload.size[PIM_S];
    bool maximum = layer->attributes.pooling.kind == PIM_POOLING_MAXIMUM;
    mapped->each = maximum ? (struct pim_column_operations){2 * (window - 1), 0}
                           : (struct pim_column_operations){window - 1, 1};
    mapped->workload.groups = mapped->workload.size[PIM_K];
    if (link_input(making, layer->input[0], PIM_LINK_INPUT, mapped) != PIM_OK)
        return making->error->status;
    return finish(making, index, mapped);
}

/* Sums over dimensions: all of the input, element by element. */
static enum pim_status make_reduction(const struct making *making, uint32_t index)
{
    const struct pim_layer *layer = &making->graph->layers[index];
    struct pim_mapped_layer *mapped = add_layer(making, index);
    struct view out = view_of(making->graph, index);
    uint64_t from = pim_shape_elements(&making->graph->layers[layer->input[0]].output);
    uint64_t to = pim_shape_elements(&layer->output);
    if (from / to > PIM_NEST_EXTENT)
        return refuse(making, index, "more than 2^24 elements for an output");
    mapped->each = (struct pim_column_operations){(uint32_t)(from / to), 1};
    if (set_sizes(making, index, out.size, &mapped->workload) != PIM_OK ||
        link_input(making, layer->input[0], PIM_LINK_WHOLE, mapped) != PIM_OK)
        return making->error->status;
    return finish(making, index, mapped);
}

static enum pim_status make_one(const struct making *making, uint32_t index)
{
    making->origins[index].owner = PIM_NONE;
    switch (making->graph->layers[index].operation) {
    case PIM_OPERATOR_INPUT:
    case PIM_OPERATOR_PARAMETER:
    case PIM_OPERATOR_CONSTANT:
        return PIM_OK;
    case PIM_OPERATOR_CONVOLUTION:
        return make_convolution(making, index);
    case PIM_OPERATOR_LINEAR:
        return make_linear(making, index);
    case PIM_OPERATOR_MATRIX_MULTIPLICATION:
        return make_matrix(making, index);
    case PIM_OPERATOR_ATTENTION_SCORES:
    case PIM_OPERATOR_ATTENTION_CONTEXT:
        return make_attention(making, index);
    case PIM_OPERATOR_NORMALIZATION:
    case PIM_OPERATOR_ACTIVATION:
    case PIM_OPERATOR_SOFTMAX:
    case PIM_OPERATOR_ELEMENTWISE:
        return make_vector(making, index);
    case PIM_OPERATOR_POOLING:
        return make_pooling(making, index);
    case PIM_OPERATOR_REDUCTION:
        return make_reduction(making, index);
    case PIM_OPERATOR_CONCAT:
    case PIM_OPERATOR_SLICE:
    case PIM_OPERATOR_GATHER:
    case PIM_OPERATOR_EXPAND:
    case PIM_OPERATOR_PAD:
    case PIM_OPERATOR_RESHAPE:
    case PIM_OPERATOR_TRANSPOSE:
    case PIM_OPERATOR_SHIFT:
    case PIM_OPERATOR_WINDOW_PARTITION:
    case PIM_OPERATOR_WINDOW_REVERSE:
    case PIM_OPERATOR_WINDOW_GATHER:
    case PIM_OPERATOR_PATCH_MERGING:
        return arrange(making, index);
    case PIM_OPERATOR_TRANSPOSED_CONVOLUTION:
    case PIM_OPERATOR_RECURRENT:
    case PIM_OPERATOR_SAMPLE:
    case PIM_OPERATOR_SCATTER:
    case PIM_OPERATOR_SORT:
    case PIM_OPERATORS:
        break;
    }
    return refuse(making, index,
                  "this operator has no nest: convolutions, matrix products and vector "
                  "operations have");
}

enum pim_status pim_mapped_layers_make(const struct pim_network *network, struct pim_mapped_layers *layers,
                                       struct pim_error *error)
{
    const struct pim_graph *graph = &network->graph;
    memset(layers, 0, sizeof *layers);
    layers->layer = calloc(graph->count + 1, sizeof *layers->layer);
    struct making making = {.graph = graph,
                            .layers = layers,
                            .origins = calloc(graph->count + 1, sizeof *making.origins),
                            .readers = calloc(graph->count + 1, sizeof *making.readers),
                            .error = error};
    enum pim_status status = PIM_OK;
    if (!layers->layer || !making.origins || !making.readers)
        status = pim_fail(error, PIM_NO_MEMORY, "out of memory for %" PRIu32 " layers", graph->count);
    for (uint32_t i = 0; status == PIM_OK && i < graph->count; i++) {
        for (uint32_t j = 0; j < graph->layers[i].inputs; j++)
            making.readers[graph->layers[i].input[j]]++;
    }
    for (uint32_t i = 0; status == PIM_OK && i < graph->count; i++)
        status = make_one(&making, i);
    for (uint32_t i = 0; making.origins && i < graph->count; i++)
        free(making.origins[i].list);
    free(making.origins);
    free(making.readers);
    if (status == PIM_OK && layers->products == 0)
        status =
            pim_fail(error, PIM_BAD_INPUT, "%s: holds no convolution and no matrix product", network->name);
    if (status != PIM_OK)
        pim_mapped_layers_terminate(layers);
    return status;
}

void pim_mapped_layers_terminate(struct pim_mapped_layers *layers)
{
    for (uint32_t i = 0; layers->layer && i < layers->count; i++) {
        free(layers->layer[i].link);
        free(layers->layer[i].part);
    }
    free(layers->layer);
    memset(layers, 0, sizeof *layers);
}
