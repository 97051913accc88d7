/*
 * Lowering: a network graph becomes the layers that cores execute. Layers of the graph are visited in their
 * topological order; each gets a view (lowering.h), and those with arithmetic make a lowered layer or join
 * the one before (lowering/convert.c). What cores cannot execute is refused by name: nothing is passed over.
 */
#include "mappers/pimcomp/lowering/lowering.h"
#include "mappers/verify/value.h"
#include "sim/names.h"
#include "sim/try.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

PIM_NAMES(pim_core_layer_kind_name, PIM_CORE_LAYER_MAP)

static const uint8_t pixels_first[PIM_AXES] = {PIM_AXIS_ROW, PIM_AXIS_COLUMN, PIM_AXIS_CHANNEL};

bool pim_lowering_fail(struct pim_lowering *l, const char *format, ...)
{
    char text[512];
    va_list arguments;
    if (l->status != PIM_OK)
        return false;
    va_start(arguments, format);
    (void)vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    l->status = pim_fail(l->error, PIM_BAD_INPUT, "layer %s (%s): %s", l->layer->name,
                         pim_operator_name(l->layer->operation), text);
    return false;
}

bool pim_lowering_no_memory(struct pim_lowering *l)
{
    l->status = pim_fail(l->error, PIM_NO_MEMORY, "no memory to lower layer %s", l->layer->name);
    return false;
}

struct pim_core_layer *pim_lowering_add(struct pim_lowering *l, enum pim_core_layer_kind kind,
                                        uint32_t channels, uint32_t height, uint32_t width)
{
    struct pim_core_layer *layer = &l->network->layer[l->network->count++];
    uint64_t windows = (uint64_t)height * width;
    *layer = (struct pim_core_layer){.name = pim_arena_copy_text(l->arena, l->layer->name),
                                     .graph_layer = l->index,
                                     .matrix_layer = PIM_NONE,
                                     .kind = kind,
                                     .channels = channels,
                                     .height = height,
                                     .width = width,
                                     .windows = (uint32_t)windows};
    if (windows * channels > UINT32_MAX)
        pim_lowering_fail(l, "its output has %" PRIu64 " elements: a map of cores has less than 2^32",
                          windows * channels);
    return layer;
}

/* Every reader of an input wants its last dimension as the channels. */
static bool channels_last(const struct pim_lowering *l)
{
    bool last = true, read = false;
    for (uint32_t i = l->index + 1; i < l->graph->count; i++) {
        const struct pim_layer *reader = &l->graph->layers[i];
        for (uint32_t n = 0; n < reader->inputs; n++)
            if (reader->input[n] == l->index) {
                read = true;
                last &= reader->operation == PIM_OPERATOR_TRANSPOSE && reader->output.rank == 4 &&
                        reader->attributes.transpose.order[1] == 3;
            }
    }
    return last && read;
}

/* The image: [1, channels, height, width], or channels last; fewer dimensions: rows of pixels. */
static void lower_input(struct pim_lowering *l)
{
    const struct pim_shape *shape = &l->layer->output;
    const uint32_t *d = shape->dimension;
    char text[96];
    uint32_t channels = 1, height = 1, width = 1;
    bool map = false;
    if (shape->rank > 4 || (shape->rank == 4 && d[0] != 1)) {
        pim_lowering_fail(
            l,
            "its shape is %s: cores take one sample of at most three dimensions (export with a batch of 1; "
            "samples after another are --batch)",
            pim_shape_text(shape, text, sizeof text));
        return;
    }
    if (shape->rank == 4) {
        map = !channels_last(l);
        channels = map ? d[1] : d[3];
        height = map ? d[2] : d[1];
        width = map ? d[3] : d[2];
    } else if (shape->rank > 0) {
        channels = d[shape->rank - 1];
        height = shape->rank == 3 ? d[0] : 1;
        width = shape->rank >= 2 ? d[shape->rank - 2] : 1;
    }
    (void)pim_lowering_add(l, PIM_CORE_INPUT, channels, height, width);
    l->view[l->index] = pim_view_of_layer(l, l->network->count - 1, map ? NULL : pixels_first);
}

/* A learned tensor among the inputs of an operator that moves data: it lies in the global memory as an input
 * does. */
static void place_parameters(struct pim_lowering *l)
{
    for (uint32_t i = 0; i < l->layer->inputs && l->status == PIM_OK; i++) {
        uint32_t tensor = l->layer->input[i];
        if (!l->view[tensor].parameter)
            continue;
        const struct pim_shape *shape = &l->graph->layers[tensor].output;
        uint64_t elements = pim_shape_elements(shape);
        uint32_t channels = shape->rank ? shape->dimension[shape->rank - 1] : 1;
        if (elements > UINT32_MAX || channels == 0) {
            pim_lowering_fail(l, "a learned tensor of its inputs is too large for a map");
            return;
        }
        struct pim_core_layer *layer =
            pim_lowering_add(l, PIM_CORE_INPUT, channels, 1, (uint32_t)(elements / channels));
        layer->graph_layer = tensor;
        layer->name = pim_arena_copy_text(l->arena, l->graph->layers[tensor].name);
        l->view[tensor] = pim_view_of_layer(l, l->network->count - 1, pixels_first);
        l->view[tensor].sole = false;
    }
}

/* Operators that only move data: their output is a view of their input, or a MOVE. False: not one of them. */
static bool lower_movement(struct pim_lowering *l)
{
    const struct pim_layer *layer = l->layer;
    struct pim_core_view *view = &l->view[l->index];
    const struct pim_core_view *input = &l->view[layer->input[0]];
    const struct pim_shape *shape = &l->graph->layers[layer->input[0]].output;
    bool same_elements = pim_shape_elements(&layer->output) == pim_shape_elements(shape);
    if (layer->operation == PIM_OPERATOR_CONCAT) {
        place_parameters(l);
        if (l->status != PIM_OK || pim_view_concatenate(l, view))
            return true;
    }
    bool still =
        layer->operation == PIM_OPERATOR_RESHAPE ||
        (same_elements && (layer->operation == PIM_OPERATOR_EXPAND || layer->operation == PIM_OPERATOR_PAD ||
                           (layer->operation == PIM_OPERATOR_GATHER && layer->inputs == 1 &&
                            shape->dimension[layer->attributes.gather_along.axis] == 1)));
    if (still) {
        *view = *input;
        view->sole &= l->readers[l->index] == 1;
    }
    return still || l->status != PIM_OK || pim_lower_moves(l);
}

static void lower_layer(struct pim_lowering *l)
{
    bool parameters = l->layer->inputs > 0;
    for (uint32_t i = 0; i < l->layer->inputs; i++)
        parameters &= l->view[l->layer->input[i]].parameter;
    if (parameters || l->layer->operation == PIM_OPERATOR_PARAMETER ||
        l->layer->operation == PIM_OPERATOR_CONSTANT)
        l->view[l->index] = (struct pim_core_view){.parameter = true};
    else if (l->layer->operation == PIM_OPERATOR_INPUT)
        lower_input(l);
    else if (!lower_movement(l))
        pim_lower_arithmetic(l);
}

/*
 * Who reads whom. With `list` NULL counts the consumers of each layer, otherwise appends each reader to the
 * list of the layer from list + start[layer] on. `last` (scratch) keeps a reader from being taken twice.
 */
static void visit_consumers(struct pim_core_network *network, uint32_t *last, uint32_t *list,
                            const uint64_t *start)
{
    for (uint32_t i = 0; i < network->count; i++) {
        last[i] = PIM_NONE;
        network->layer[i].consumers = 0;
    }
    for (uint32_t i = 0; i < network->count; i++) {
        const struct pim_core_layer *reader = &network->layer[i];
        for (uint32_t s = 0; s < reader->sources; s++)
            for (uint32_t p = 0; p < reader->source[s].parts; p++) {
                uint32_t from = reader->source[s].part[p].layer;
                if (last[from] == i)
                    continue;
                last[from] = i;
                if (list)
                    list[start[from] + network->layer[from].consumers] = i;
                network->layer[from].consumers++;
            }
    }
}

/* Lists of the consumers of each layer, without repetitions, in rising order. */
enum pim_status pim_core_network_connect(struct pim_core_network *network, struct pim_error *error)
{
    uint32_t *last = PIM_ARENA_ARRAY(network->arena, uint32_t, network->count);
    uint64_t *start = PIM_ARENA_ARRAY(network->arena, uint64_t, network->count), total = 0;
    uint32_t *list = NULL;
    if (last && start) {
        visit_consumers(network, last, NULL, NULL);
        for (uint32_t i = 0; i < network->count; i++) {
            start[i] = total;
            total += network->layer[i].consumers;
        }
        list = PIM_ARENA_ARRAY(network->arena, uint32_t, total);
    }
    PIM_NEED_MEMORY(list, error, "no memory for the consumers of %" PRIu32 " layers", network->count);
    visit_consumers(network, last, list, start);
    for (uint32_t i = 0; i < network->count; i++)
        network->layer[i].consumer = list + start[i];
    return PIM_OK;
}

/* Outputs of the network that only began to move. */
static void settle_outputs(struct pim_lowering *l)
{
    for (uint32_t i = 0; i < l->graph->count && l->status == PIM_OK; i++) {
        l->index = i;
        l->layer = &l->graph->layers[i];
        if (l->readers[i] == 0 && !l->view[i].parameter)
            (void)pim_move_settle(l, i, PIM_LAYOUT_ANY);
    }
}

/* Outputs of the network: what nothing reads. */
static void mark_outputs(struct pim_lowering *l)
{
    struct pim_core_network *network = l->network;
    for (uint32_t i = 0; i < l->graph->count; i++)
        if (l->readers[i] == 0)
            for (uint32_t p = 0; p < l->view[i].parts; p++)
                network->layer[l->view[i].part[p].layer].output = true;
}

enum pim_status pim_core_network_lower(const struct pim_graph *graph, const char *name,
                                       struct pim_arena *arena, struct pim_core_network *network,
                                       struct pim_error *error)
{
    struct pim_lowering l = {.graph = graph, .arena = arena, .network = network, .error = error};
    for (uint32_t i = 0; i < graph->count; i++)
        l.capacity += 4 * graph->layers[i].inputs + 2; /* its inputs and what it reads may need a move */
    *network = (struct pim_core_network){.arena = arena, .name = pim_arena_copy_text(arena, name)};
    network->layer = PIM_ARENA_ARRAY(arena, struct pim_core_layer, l.capacity);
    l.view = PIM_ARENA_ARRAY(arena, struct pim_core_view, graph->count);
    l.readers = PIM_ARENA_ARRAY(arena, uint32_t, graph->count);
    PIM_NEED_MEMORY(network->layer && l.view && l.readers, error, "no memory to lower %" PRIu32 " layers",
                    graph->count);
    for (uint32_t i = 0; i < graph->count; i++)
        for (uint32_t n = 0; n < graph->layers[i].inputs; n++)
            l.readers[graph->layers[i].input[n]]++;
    for (l.index = 0; l.index < graph->count && l.status == PIM_OK; l.index++) {
        l.layer = &graph->layers[l.index];
        lower_layer(&l);
    }
    settle_outputs(&l);
    if (l.status != PIM_OK)
        return l.status;
    mark_outputs(&l);
    return pim_core_network_connect(network, error);
}
