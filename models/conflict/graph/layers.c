/*
 * Dependences from the geometry of layers, in closed form (docs/models/conflict.md has the formulas).
 *
 * A node of kind merge in a conv or fc layer collects partial results: step j needs and frees packet j of
 * each source. Nodes of element_sum layers do the same. A conv or pooling node takes the window of each
 * output pixel from each source; an fc node takes all.
 */
#include "models/conflict/graph/internal.h"

#include "models/cost/window.h"
#include "sim/arena.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum layer_type { CONV, POOLING, FC, ELEMENT_SUM };

struct layer {
    enum layer_type type;
    uint32_t in_h, in_w, out_h, out_w, kernel, stride, pad; /* of conv and pooling */
};

/* Columns of a layers file, by name: it may have others. */
struct columns {
    size_t layer, type, size[7];
};
static const char *const size_names[7] = {"in_h", "in_w", "out_h", "out_w", "kernel", "stride", "pad"};

static enum pim_status find_columns(const struct pim_csv_reader *reader, struct columns *columns,
                                    struct pim_error *error)
{
    enum pim_status status = pim_csv_column(reader, "layer", &columns->layer, error);
    if (status == PIM_OK)
        status = pim_csv_column(reader, "type", &columns->type, error);
    for (size_t i = 0; i < 7 && status == PIM_OK; i++)
        status = pim_csv_column(reader, size_names[i], &columns->size[i], error);
    return status;
}

static enum pim_status take_layer(const struct pim_csv_reader *reader, const struct columns *columns,
                                  uint32_t index, struct layer *layer, struct pim_error *error)
{
    static const char *const types[] = {"conv", "pooling", "fc", "element_sum"};
    uint64_t value = 0;
    if (conflict_graph_row(reader, columns->layer, index, error) != PIM_OK)
        return error->status;
    size_t type = 0;
    while (type < 4 && strcmp(pim_csv_text(reader, columns->type), types[type]) != 0)
        type++;
    if (type == 4)
        return pim_csv_refuse(reader, columns->type, "allowed are conv, pooling, fc and element_sum", error);
    *layer = (struct layer){.type = (enum layer_type)type};
    if (layer->type == FC || layer->type == ELEMENT_SUM)
        return PIM_OK;
    uint32_t *const target[7] = {&layer->in_h,   &layer->in_w,   &layer->out_h, &layer->out_w,
                                 &layer->kernel, &layer->stride, &layer->pad};
    for (size_t i = 0; i < 7; i++) {
        if (pim_csv_count(reader, columns->size[i], i == 6 ? 0 : 1, 65535, &value, error) != PIM_OK)
            return error->status;
        *target[i] = (uint32_t)value;
    }
    return PIM_OK;
}

static enum pim_status read_layers(FILE *stream, const char *name, struct layer **layers, uint32_t *count,
                                   struct pim_error *error)
{
    struct pim_csv_reader *reader;
    struct columns columns;
    size_t room = 0;
    enum pim_status status = pim_csv_open_stream(&reader, stream, name, NULL, 0, error);
    if (status == PIM_OK)
        status = find_columns(reader, &columns, error);
    while (status == PIM_OK) {
        bool more = true;
        status = pim_csv_next(reader, &more, error);
        if (status != PIM_OK || !more)
            break;
        struct layer *grown = pim_array_grow(*layers, &room, (size_t)*count + 1, sizeof **layers);
        if (!grown || *count == PIM_TASK_NODES) {
            *layers = grown ? grown : *layers;
            status = pim_fail(error, PIM_BAD_INPUT, "%s: more than %" PRIu32 " layers", name, *count);
            break;
        }
        *layers = grown;
        status = take_layer(reader, &columns, *count, &(*layers)[*count], error);
        if (status == PIM_OK)
            ++*count;
    }
    pim_csv_close(reader);
    return status;
}

static enum pim_status fill_window(struct pim_task_graph *graph, uint32_t index, const struct layer *layer,
                                   struct pim_error *error)
{
    const struct pim_task_edge *edge = &graph->edge[index];
    uint32_t steps = graph->node[edge->destination].steps;
    if ((uint64_t)layer->in_h * layer->in_w != edge->packets ||
        (uint64_t)layer->out_h * layer->out_w != steps)
        return pim_fail(error, PIM_BAD_INPUT,
                        "%s.layers.csv: the layer of node %" PRIu32 " makes %" PRIu32 " x %" PRIu32
                        " pixels of %" PRIu32 " x %" PRIu32 ", but the node has %" PRIu32
                        " steps and receives %" PRIu32 " packets of node %" PRIu32,
                        graph->name, edge->destination, layer->out_h, layer->out_w, layer->in_h, layer->in_w,
                        steps, edge->packets, edge->source);
    const struct pim_window window = {{layer->in_h, layer->in_w},
                                      {layer->out_h, layer->out_w},
                                      {layer->kernel, layer->kernel},
                                      {layer->stride, layer->stride},
                                      {layer->pad, layer->pad}};
    for (uint32_t step = 0; step < steps; step++)
        pim_window_dependence(&window, step, &graph->need[edge->first + step],
                              &graph->drop[edge->first + step]);
    return PIM_OK;
}

static enum pim_status fill_edge(struct pim_task_graph *graph, uint32_t index, const struct layer *layer,
                                 bool merge, struct pim_error *error)
{
    const struct pim_task_edge *edge = &graph->edge[index];
    uint32_t steps = graph->node[edge->destination].steps;
    bool collects = layer->type == ELEMENT_SUM || (merge && layer->type != POOLING);
    if (!collects && layer->type != FC)
        return fill_window(graph, index, layer, error);
    if (collects && edge->packets != steps)
        return pim_fail(error, PIM_BAD_INPUT,
                        "%s: node %" PRIu32 " collects packet by packet in %" PRIu32
                        " steps, but node %" PRIu32 " sends it %" PRIu32,
                        graph->name, edge->destination, steps, edge->source, edge->packets);
    for (uint32_t step = 0; step < steps; step++) {
        bool last = step == steps - 1;
        graph->need[edge->first + step] = collects ? step + 1 : edge->packets;
        graph->drop[edge->first + step] = collects ? 1 : last ? edge->packets : 0;
    }
    return PIM_OK;
}

enum pim_status conflict_graph_read_layers(struct pim_task_graph *graph, FILE *stream, const uint32_t *layer,
                                           const bool *merge, struct pim_error *error)
{
    char title[512];
    (void)snprintf(title, sizeof title, "%s.layers.csv", graph->name);
    struct layer *layers = NULL;
    uint32_t count = 0;
    enum pim_status status = read_layers(stream, title, &layers, &count, error);
    for (uint32_t e = 0; e < graph->edges && status == PIM_OK; e++) {
        uint32_t node = graph->edge[e].destination;
        if (layer[node] >= count)
            status =
                pim_fail(error, PIM_BAD_INPUT,
                         "%s: node %" PRIu32 " is of layer %" PRIu32 ", but the last row is layer %" PRIu32,
                         title, node, layer[node], count == 0 ? 0 : count - 1);
        else
            status = fill_edge(graph, e, &layers[layer[node]], merge[node], error);
    }
    free(layers);
    return status;
}
