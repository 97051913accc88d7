/* The layers of a network that occupy tiles; see graph.h. */
#include "mappers/conflict/graph.h"

#include <inttypes.h>

struct lowering {
    const struct pim_graph *graph;
    struct pim_tile_layer *layers;
    uint32_t count;
    uint32_t *made; /* of each layer of the network: the layer here that makes its output, or the image */
};

static enum pim_status refuse(const struct pim_layer *layer, const char *why, struct pim_error *error)
{
    return pim_fail(error, PIM_BAD_INPUT, "layer %s (%s): %s", layer->name,
                    pim_operator_name(layer->operation), why);
}

static const struct pim_shape *shape_of(const struct lowering *lowering, const struct pim_layer *layer,
                                        uint32_t input)
{
    return &lowering->graph->layers[layer->input[input]].output;
}

/* A map of one image: [1, channels, height, width]. */
static bool is_map(const struct pim_shape *shape)
{
    return shape->rank == 4 && shape->dimension[0] == 1;
}

/* Takes size and channels of a layer between two maps. */
static enum pim_status take_maps(const struct lowering *lowering, const struct pim_layer *layer,
                                 struct pim_tile_layer *out, struct pim_error *error)
{
    const struct pim_shape *from = shape_of(lowering, layer, 0), *to = &layer->output;
    if (!is_map(from) || !is_map(to))
        return refuse(layer, "only maps of one image have pixels to send", error);
    out->in_channels = from->dimension[1];
    out->out_channels = to->dimension[1];
    for (unsigned axis = 0; axis < 2; axis++) {
        out->window.in_size[axis] = from->dimension[2 + axis];
        out->window.out_size[axis] = to->dimension[2 + axis];
        out->window.kernel[axis] = out->window.stride[axis] = 1;
        out->window.pad[axis] = 0;
    }
    return PIM_OK;
}

static void take_window(const struct pim_sliding *sliding, struct pim_tile_layer *out)
{
    for (unsigned axis = 0; axis < 2; axis++) {
        out->window.kernel[axis] = (sliding->kernel[axis] - 1) * sliding->dilation[axis] + 1;
        out->window.stride[axis] = sliding->stride[axis];
        out->window.pad[axis] = sliding->pad_before[axis];
    }
    out->rows = sliding->kernel[0] * sliding->kernel[1];
}

static enum pim_status lower_convolution(const struct lowering *lowering, const struct pim_layer *layer,
                                         struct pim_tile_layer *out, struct pim_error *error)
{
    if (layer->attributes.convolution.groups != 1)
        return refuse(layer, "grouped convolutions have no rule for crossbars in this system", error);
    out->kind = PIM_TILE_CONVOLUTION;
    if (take_maps(lowering, layer, out, error) != PIM_OK)
        return error->status;
    take_window(&layer->attributes.convolution.sliding, out);
    return PIM_OK;
}

static enum pim_status lower_pooling(const struct lowering *lowering, const struct pim_layer *layer,
                                     struct pim_tile_layer *out, struct pim_error *error)
{
    bool global = layer->operation == PIM_OPERATOR_REDUCTION || layer->attributes.pooling.global;
    out->kind = PIM_TILE_POOLING;
    if (layer->operation == PIM_OPERATOR_REDUCTION) {
        const struct pim_shape *from = shape_of(lowering, layer, 0);
        if (!is_map(from) || layer->attributes.reduction.axes != 12)
            return refuse(layer, "only a reduction over the whole map is a pooling", error);
        out->in_channels = out->out_channels = from->dimension[1];
        for (unsigned axis = 0; axis < 2; axis++) {
            out->window.in_size[axis] = from->dimension[2 + axis];
            out->window.out_size[axis] = 1;
        }
    } else if (take_maps(lowering, layer, out, error) != PIM_OK) {
        return error->status;
    }
    for (unsigned axis = 0; axis < 2 && global; axis++) {
        out->window.kernel[axis] = out->window.stride[axis] = out->window.in_size[axis];
        out->window.pad[axis] = 0;
    }
    if (!global)
        take_window(&layer->attributes.pooling.sliding, out);
    return PIM_OK;
}

static enum pim_status lower_linear(const struct lowering *lowering, const struct pim_layer *layer,
                                    struct pim_tile_layer *out, struct pim_error *error)
{
    const struct pim_shape *from = shape_of(lowering, layer, 0);
    uint64_t features = pim_shape_elements(from), channels = from->dimension[from->rank - 1];
    if (features != channels || features > UINT32_MAX)
        return refuse(layer, "a product with tokens has no place in this system", error);
    *out = (struct pim_tile_layer){.name = out->name,
                                   .kind = PIM_TILE_LINEAR,
                                   .in_channels = (uint32_t)features,
                                   .out_channels = layer->attributes.linear.outputs,
                                   .window = {{1, 1}, {1, 1}, {1, 1}, {1, 1}, {0, 0}},
                                   .rows = 1};
    return PIM_OK;
}

static enum pim_status lower_several(const struct lowering *lowering, const struct pim_layer *layer,
                                     struct pim_tile_layer *out, struct pim_error *error)
{
    bool concat = layer->operation == PIM_OPERATOR_CONCAT;
    out->kind = concat ? PIM_TILE_CONCAT : PIM_TILE_SUM;
    if (take_maps(lowering, layer, out, error) != PIM_OK)
        return error->status;
    if (concat && layer->attributes.concat.axis != 1)
        return refuse(layer, "maps are joined by their channels alone", error);
    for (uint32_t i = 0; i < layer->inputs; i++) {
        const struct pim_shape *from = shape_of(lowering, layer, i);
        if (!is_map(from) || from->dimension[2] != out->window.in_size[0] ||
            from->dimension[3] != out->window.in_size[1] ||
            (!concat && from->dimension[1] != out->out_channels))
            return refuse(layer, "its inputs must be maps of the same size", error);
    }
    out->in_channels = out->out_channels;
    return PIM_OK;
}

static bool vanishes(const struct pim_layer *layer)
{
    switch ((int)layer->operation) {
    case PIM_OPERATOR_NORMALIZATION:
    case PIM_OPERATOR_ACTIVATION:
    case PIM_OPERATOR_SOFTMAX:
    case PIM_OPERATOR_RESHAPE:
        return true;
    case PIM_OPERATOR_ELEMENTWISE:
        return layer->inputs == 1;
    default:
        return false;
    }
}

/* The layers it reads, each once. */
static enum pim_status take_inputs(const struct lowering *lowering, const struct pim_layer *layer,
                                   struct pim_tile_layer *out, struct pim_error *error)
{
    for (uint32_t i = 0; i < layer->inputs; i++) {
        uint32_t from = lowering->made[layer->input[i]];
        bool known = false;
        for (uint32_t k = 0; k < out->inputs; k++)
            known = known || out->input[k] == from;
        if (known)
            continue;
        if (out->inputs == PIM_TILE_INPUTS)
            return refuse(layer, "more than 16 inputs", error);
        out->input[out->inputs++] = from;
    }
    return PIM_OK;
}

static enum pim_status lower_one(struct lowering *lowering, uint32_t index, struct pim_error *error)
{
    const struct pim_layer *layer = &lowering->graph->layers[index];
    struct pim_tile_layer *out = &lowering->layers[lowering->count];
    enum pim_status status;
    if (layer->operation == PIM_OPERATOR_INPUT || vanishes(layer)) {
        lowering->made[index] = layer->inputs > 0 ? lowering->made[layer->input[0]] : PIM_TILE_IMAGE;
        return PIM_OK;
    }
    *out = (struct pim_tile_layer){.name = layer->name};
    if (layer->operation == PIM_OPERATOR_CONVOLUTION)
        status = lower_convolution(lowering, layer, out, error);
    else if (layer->operation == PIM_OPERATOR_POOLING || layer->operation == PIM_OPERATOR_REDUCTION)
        status = lower_pooling(lowering, layer, out, error);
    else if (layer->operation == PIM_OPERATOR_LINEAR)
        status = lower_linear(lowering, layer, out, error);
    else if (layer->operation == PIM_OPERATOR_CONCAT || layer->operation == PIM_OPERATOR_ELEMENTWISE)
        status = lower_several(lowering, layer, out, error);
    else
        status = refuse(layer,
                        "the conflict system knows convolutions, poolings, fully connected layers, sums "
                        "and concatenations of maps",
                        error);
    if (status == PIM_OK)
        status = take_inputs(lowering, layer, out, error);
    lowering->made[index] = lowering->count++;
    return status;
}

enum pim_status pim_tile_layers_of(const struct pim_graph *graph, struct pim_arena *arena,
                                   struct pim_tile_layer **layers, uint32_t *count, struct pim_error *error)
{
    struct lowering lowering = {.graph = graph,
                                .layers = PIM_ARENA_ARRAY(arena, struct pim_tile_layer, graph->count + 1),
                                .made = PIM_ARENA_ARRAY(arena, uint32_t, graph->count + 1)};
    if (!lowering.layers || !lowering.made)
        return pim_fail(error, PIM_NO_MEMORY, "no memory for %" PRIu32 " layers", graph->count);
    for (uint32_t i = 0; i < graph->count; i++)
        if (lower_one(&lowering, i, error) != PIM_OK)
            return error->status;
    if (lowering.count == 0)
        return pim_fail(error, PIM_BAD_INPUT, "the network has no layer that needs a tile");
    *layers = lowering.layers;
    *count = lowering.count;
    return PIM_OK;
}
