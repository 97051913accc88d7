#include "mappers/network/recognition/origin.h"

/* An element on its way back. */
struct walk {
    uint32_t layer;
    uint64_t element;
    bool ended, nowhere;
};

static void unravel(const struct pim_shape *shape, uint64_t element, uint64_t *position)
{
    for (uint32_t i = shape->rank; i-- > 0;) {
        position[i] = element % shape->dimension[i];
        element /= shape->dimension[i];
    }
}

static uint64_t ravel(const struct pim_shape *shape, const uint64_t *position)
{
    uint64_t element = 0;
    for (uint32_t i = 0; i < shape->rank; i++)
        element = element * shape->dimension[i] + position[i];
    return element;
}

static void through_transpose(const struct pim_layer *layer, const struct pim_shape *from, struct walk *walk)
{
    uint64_t to[PIM_SHAPE_RANK] = {0}, position[PIM_SHAPE_RANK] = {0};
    unravel(&layer->output, walk->element, to);
    for (uint32_t i = 0; i < layer->output.rank; i++)
        position[layer->attributes.transpose.order[i]] = to[i];
    walk->element = ravel(from, position);
}

static void through_slice(const struct pim_layer *layer, const struct pim_shape *from, struct walk *walk)
{
    const uint32_t axis = layer->attributes.slice.axis, count = layer->attributes.slice.count;
    const uint64_t step = layer->attributes.slice.step ? layer->attributes.slice.step : 1;
    uint64_t position[PIM_SHAPE_RANK] = {0};
    unravel(&layer->output, walk->element, position);
    if (layer->attributes.slice.reversed)
        position[axis] = count - 1 - position[axis];
    position[axis] = layer->attributes.slice.begin + position[axis] * step;
    walk->element = ravel(from, position);
}

static void through_pad(const struct pim_layer *layer, const struct pim_shape *from, struct walk *walk)
{
    uint64_t position[PIM_SHAPE_RANK] = {0};
    unravel(&layer->output, walk->element, position);
    for (uint32_t i = 0; i < from->rank; i++) {
        const uint64_t before = layer->attributes.pad.before[i];
        walk->nowhere |= position[i] < before || position[i] - before >= from->dimension[i];
        position[i] -= before;
    }
    walk->element = walk->nowhere ? 0 : ravel(from, position);
}

/* Into the input that holds the element. */
static void through_concat(const struct pim_graph *graph, const struct pim_layer *layer, struct walk *walk)
{
    const uint32_t axis = layer->attributes.concat.axis;
    uint64_t position[PIM_SHAPE_RANK] = {0};
    unravel(&layer->output, walk->element, position);
    uint32_t i = 0;
    while (i + 1 < layer->inputs) {
        const uint64_t extent = graph->layers[layer->input[i]].output.dimension[axis];
        if (position[axis] < extent)
            break;
        position[axis] -= extent;
        i++;
    }
    walk->layer = layer->input[i];
    walk->element = ravel(&graph->layers[walk->layer].output, position);
}

/* Into the one operand that comes from the input, where it has the shape of the result. */
static void through_elementwise(const struct pim_graph *graph, const struct pim_layer *layer,
                                const bool *computed, struct walk *walk)
{
    uint32_t from = PIM_NONE;
    for (uint32_t i = 0; i < layer->inputs; i++) {
        if (computed[layer->input[i]] && from != PIM_NONE)
            walk->ended = true;
        if (computed[layer->input[i]])
            from = layer->input[i];
    }
    if (from == PIM_NONE ||
        pim_shape_elements(&graph->layers[from].output) != pim_shape_elements(&layer->output))
        walk->ended = true;
    if (!walk->ended)
        walk->layer = from;
}

static uint64_t columns(const struct pim_shape *shape)
{
    return shape->rank ? shape->dimension[shape->rank - 1] : 1;
}

static void step(const struct pim_graph *graph, const bool *computed, struct walk *walk)
{
    const struct pim_layer *layer = &graph->layers[walk->layer];
    const struct pim_shape *from = &graph->layers[layer->inputs ? layer->input[0] : walk->layer].output;
    switch ((unsigned)layer->operation) {
    case PIM_OPERATOR_CONCAT:
        through_concat(graph, layer, walk);
        return;
    case PIM_OPERATOR_ELEMENTWISE:
        through_elementwise(graph, layer, computed, walk);
        return;
    case PIM_OPERATOR_RESHAPE:
    case PIM_OPERATOR_ACTIVATION:
    case PIM_OPERATOR_SOFTMAX:
        break;
    case PIM_OPERATOR_MATRIX_MULTIPLICATION: /* a row of the result is of the row of the first operand */
        walk->ended = pim_shape_elements(&layer->output) / columns(&layer->output) !=
                      pim_shape_elements(from) / columns(from);
        if (!walk->ended)
            walk->element = walk->element / columns(&layer->output) * columns(from);
        break;
    case PIM_OPERATOR_NORMALIZATION:
        walk->ended = layer->attributes.normalization.kind != PIM_NORMALIZATION_LAYER;
        break;
    case PIM_OPERATOR_LINEAR:
        walk->element = walk->element / columns(&layer->output) * columns(from);
        break;
    case PIM_OPERATOR_TRANSPOSE:
        through_transpose(layer, from, walk);
        break;
    case PIM_OPERATOR_SLICE:
        through_slice(layer, from, walk);
        break;
    case PIM_OPERATOR_PAD:
        through_pad(layer, from, walk);
        break;
    default:
        walk->ended = true;
        break;
    }
    if (!walk->ended)
        walk->layer = layer->input[0];
}

uint64_t pim_origin(const struct pim_graph *graph, const bool *computed, uint32_t layer, uint64_t element,
                    uint64_t *steps)
{
    struct walk walk = {.layer = layer, .element = element};
    while (!walk.ended && !walk.nowhere) {
        ++*steps;
        if (!computed[walk.layer])
            return 0;
        step(graph, computed, &walk);
    }
    if (walk.nowhere)
        return 0;
    const struct pim_layer *end = &graph->layers[walk.layer];
    const bool map = end->operation == PIM_OPERATOR_CONVOLUTION && end->output.rank == 4;
    const uint64_t positions = map ? (uint64_t)end->output.dimension[2] * end->output.dimension[3] : 0;
    return 1 + (map ? walk.element % positions : walk.element / columns(&end->output));
}
