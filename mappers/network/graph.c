/*
 * Building and checking of the network graph.
 */
#include "mappers/network/graph.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FIRST_CAPACITY = 64 };

void pim_graph_initialize(struct pim_graph *graph, struct pim_arena *arena)
{
    *graph = (struct pim_graph){.arena = arena};
}

static enum pim_status no_memory(struct pim_error *error)
{
    return pim_fail(error, PIM_NO_MEMORY, "out of memory while building a network graph");
}

static enum pim_status make_room(struct pim_graph *graph, struct pim_error *error)
{
    if (graph->count < graph->capacity)
        return PIM_OK;
    if (graph->capacity > UINT32_MAX / 4)
        return pim_fail(error, PIM_BAD_INPUT, "the network has more than %" PRIu32 " layers",
                        graph->capacity);
    uint32_t capacity = graph->capacity ? graph->capacity * 2 : FIRST_CAPACITY;
    struct pim_layer *layers = PIM_ARENA_ARRAY(graph->arena, struct pim_layer, capacity);
    if (!layers)
        return no_memory(error);
    if (graph->count)
        memcpy(layers, graph->layers, graph->count * sizeof *layers);
    graph->layers = layers;
    graph->capacity = capacity;
    return PIM_OK;
}

static uint32_t last_dimension(const struct pim_shape *shape)
{
    return shape->dimension[shape->rank - 1];
}

/* Invariant 6 of a layer of `inputs` channels, behind `before` others. */
static enum pim_status check_sharing(const struct pim_graph *graph, uint32_t before,
                                     const union pim_attributes *attributes, uint32_t inputs,
                                     struct pim_error *error)
{
    const uint32_t index = attributes->linear.weights_of, outputs = attributes->linear.outputs;
    const bool transposed = attributes->linear.transposed;
    if (!attributes->linear.shared)
        return transposed ? pim_fail(error, PIM_BAD_INPUT, "only weights of another layer can be transposed")
                          : PIM_OK;
    if (index >= before)
        return pim_fail(error, PIM_BAD_INPUT,
                        "shares the weights of layer %" PRIu32 ", which is not before it", index);
    const struct pim_layer *owner = &graph->layers[index];
    if (owner->operation != PIM_OPERATOR_LINEAR || owner->attributes.linear.shared)
        return pim_fail(error, PIM_BAD_INPUT,
                        "shares the weights of layer %s, which is no linear layer with weights of its own",
                        owner->name);
    const uint32_t rows = last_dimension(&graph->layers[owner->input[0]].output),
                   columns = owner->attributes.linear.outputs;
    if (inputs != (transposed ? columns : rows) || outputs != (transposed ? rows : columns))
        return pim_fail(error, PIM_BAD_INPUT,
                        "needs weights of %" PRIu32 " x %" PRIu32 ": those of layer %s are %" PRIu32
                        " x %" PRIu32 "%s",
                        inputs, outputs, owner->name, rows, columns, transposed ? ", transposed" : "");
    if (attributes->linear.bias != owner->attributes.linear.bias ||
        (attributes->linear.bias && outputs != columns))
        return pim_fail(error, PIM_BAD_INPUT, "shares the bias of layer %s, which has %s", owner->name,
                        owner->attributes.linear.bias ? "one of another length, or is to have none" : "none");
    return PIM_OK;
}

/* Derives what pim_operator_infer() knows about a layer whose inputs are layers of the graph. */
static enum pim_status infer(const struct pim_graph *graph, uint32_t before, enum pim_operator operation,
                             const union pim_attributes *attributes, const uint32_t *input, uint32_t inputs,
                             struct pim_inference *result, struct pim_error *error)
{
    const struct pim_shape *shapes[PIM_LAYER_INPUTS];
    if (inputs > PIM_LAYER_INPUTS)
        return pim_fail(error, PIM_BAD_INPUT, "%" PRIu32 " inputs: at most %d are allowed", inputs,
                        PIM_LAYER_INPUTS);
    for (uint32_t i = 0; i < inputs; i++) {
        if (input[i] >= before)
            return pim_fail(error, PIM_BAD_INPUT,
                            "input %" PRIu32 " names layer %" PRIu32 ", which is not one of the %" PRIu32
                            " layers before it",
                            i, input[i], before);
        shapes[i] = &graph->layers[input[i]].output;
    }
    enum pim_status status = pim_operator_infer(operation, attributes, shapes, inputs, result, error);
    if (status == PIM_OK && operation == PIM_OPERATOR_LINEAR)
        status = check_sharing(graph, before, attributes, last_dimension(shapes[0]), error);
    return status;
}

enum pim_status pim_graph_add(struct pim_graph *graph, const struct pim_layer_description *description,
                              uint32_t *index, struct pim_error *error)
{
    struct pim_inference result = {0};
    enum pim_status status = infer(graph, graph->count, description->operation, &description->attributes,
                                   description->input, description->inputs, &result, error);
    if (status == PIM_OK && description->padding_macs > result.macs)
        status = pim_fail(error, PIM_BAD_INPUT,
                          "%" PRIu64 " MACs on padding are more than all its %" PRIu64 " MACs",
                          description->padding_macs, result.macs);
    if (status == PIM_OK && (result.macs > PIM_COUNT_LIMIT - graph->macs ||
                             result.parameters > PIM_COUNT_LIMIT - graph->parameters))
        status = pim_fail(error, PIM_BAD_INPUT, "the network has more than %" PRIu64 " MACs or parameters",
                          PIM_COUNT_LIMIT);
    if (status == PIM_OK)
        status = make_room(graph, error);
    if (status != PIM_OK)
        return pim_fail_in(error, "layer %s", description->name);

    size_t name_size = strlen(description->name) + 1;
    char *name = PIM_ARENA_ARRAY(graph->arena, char, name_size);
    uint32_t *input = PIM_ARENA_ARRAY(graph->arena, uint32_t, description->inputs);
    if (!name || !input)
        return no_memory(error);
    memcpy(name, description->name, name_size);
    if (description->inputs)
        memcpy(input, description->input, description->inputs * sizeof *input);
    graph->layers[graph->count] = (struct pim_layer){
        .name = name,
        .operation = description->operation,
        .role = description->role,
        .stage = description->stage,
        .block = description->block,
        .inputs = description->inputs,
        .input = input,
        .attributes = description->attributes,
        .output = result.output,
        .macs = result.macs,
        .padding_macs = description->padding_macs,
        .parameters = result.parameters,
    };
    graph->macs += result.macs;
    graph->padding_macs += description->padding_macs;
    graph->parameters += result.parameters;
    if (index)
        *index = graph->count;
    graph->count++;
    return PIM_OK;
}

void pim_graph_drop_last(struct pim_graph *graph)
{
    assert(graph->count > 0);
    const struct pim_layer *last = &graph->layers[--graph->count];
    graph->macs -= last->macs;
    graph->padding_macs -= last->padding_macs;
    graph->parameters -= last->parameters;
}

enum pim_status pim_graph_keep(struct pim_graph *graph, const uint8_t *keep, struct pim_error *error)
{
    size_t edges = 0;
    for (uint32_t i = 0; i < graph->count; i++)
        edges += graph->layers[i].inputs;
    uint32_t *position = malloc(((size_t)graph->count + 1) * sizeof *position),
             *input = PIM_ARENA_ARRAY(graph->arena, uint32_t, edges), kept = 0;
    if (!position || !input) {
        free(position);
        return no_memory(error);
    }
    graph->macs = graph->padding_macs = graph->parameters = 0;
    for (uint32_t i = 0; i < graph->count; i++) {
        struct pim_layer layer = graph->layers[i];
        position[i] = kept;
        if (!keep[i])
            continue;
        for (uint32_t j = 0; j < layer.inputs; j++) {
            assert(keep[layer.input[j]]);
            input[j] = position[layer.input[j]];
        }
        layer.input = input;
        input += layer.inputs;
        if (layer.operation == PIM_OPERATOR_LINEAR && layer.attributes.linear.shared)
            layer.attributes.linear.weights_of = position[layer.attributes.linear.weights_of];
        graph->layers[kept++] = layer;
        graph->macs += layer.macs;
        graph->padding_macs += layer.padding_macs;
        graph->parameters += layer.parameters;
    }
    graph->count = kept;
    free(position);
    return PIM_OK;
}

uint32_t pim_graph_find(const struct pim_graph *graph, const char *name)
{
    for (uint32_t i = 0; i < graph->count; i++) {
        if (strcmp(graph->layers[i].name, name) == 0)
            return i;
    }
    return PIM_NONE;
}

/* Whether a layer is an output of the network. */
static bool is_output(const struct pim_graph *graph, uint32_t index)
{
    const enum pim_operator operation = graph->layers[index].operation;
    bool none = operation == PIM_OPERATOR_INPUT || operation == PIM_OPERATOR_PARAMETER;
    for (uint32_t i = index + 1; i < graph->count && !none; i++)
        for (uint32_t j = 0; j < graph->layers[i].inputs && !none; j++)
            none = graph->layers[i].input[j] == index;
    return !none;
}

uint64_t pim_graph_images(const struct pim_graph *graph)
{
    uint64_t images = 0;
    for (uint32_t i = 0; i < graph->count; i++) {
        const struct pim_shape *shape = &graph->layers[i].output;
        if (graph->layers[i].operation != PIM_OPERATOR_INPUT)
            continue;
        if (shape->rank < 2 || (images != 0 && shape->dimension[0] != images))
            return 1;
        images = shape->dimension[0];
    }
    for (uint32_t i = 0; i < graph->count && images > 1; i++)
        if (graph->layers[i].output.dimension[0] == images && is_output(graph, i))
            return images;
    return 1; /* channels, or rows, of one image */
}

/* What sorting needs: the readers of each description, and a heap of those whose inputs are all placed. */
struct order {
    const struct pim_layer_description *descriptions;
    uint32_t count;
    uint32_t *waiting;      /* inputs that are not placed yet */
    uint32_t *first_reader; /* count + 1 offsets into `reader` */
    uint32_t *reader;
    uint32_t *heap, ready; /* smallest first */
    uint32_t *position;    /* PIM_NONE until placed */
};

static void heap_push(struct order *order, uint32_t value)
{
    uint32_t i = order->ready++;
    while (i > 0 && order->heap[(i - 1) / 2] > value) {
        order->heap[i] = order->heap[(i - 1) / 2];
        i = (i - 1) / 2;
    }
    order->heap[i] = value;
}

static uint32_t heap_pop(struct order *order)
{
    uint32_t top = order->heap[0], last = order->heap[--order->ready], i = 0;
    for (;;) {
        uint32_t child = 2 * i + 1;
        if (child >= order->ready)
            break;
        if (child + 1 < order->ready && order->heap[child + 1] < order->heap[child])
            child++;
        if (order->heap[child] >= last)
            break;
        order->heap[i] = order->heap[child];
        i = child;
    }
    order->heap[i] = last;
    return top;
}

/* Counts, then fills the lists of readers; names dangling edges. */
static enum pim_status find_readers(struct order *order, struct pim_error *error)
{
    for (uint32_t i = 0; i < order->count; i++) {
        const struct pim_layer_description *d = &order->descriptions[i];
        order->waiting[i] = d->inputs;
        order->position[i] = PIM_NONE;
        for (uint32_t j = 0; j < d->inputs; j++) {
            if (d->input[j] >= order->count)
                return pim_fail(error, PIM_BAD_INPUT,
                                "layer %s: input %" PRIu32 " is a dangling edge: it names layer %" PRIu32
                                " of %" PRIu32,
                                d->name, j, d->input[j], order->count);
            order->first_reader[d->input[j] + 1]++;
        }
    }
    for (uint32_t i = 0; i < order->count; i++)
        order->first_reader[i + 1] += order->first_reader[i];
    uint32_t edges = order->first_reader[order->count];
    for (uint32_t i = order->count; i-- > 0;) {
        const struct pim_layer_description *d = &order->descriptions[i];
        for (uint32_t j = 0; j < d->inputs; j++)
            order->reader[--order->first_reader[d->input[j] + 1]] = i;
    }
    /* The loop above moved every offset to the start of its own list: shift them back into place. */
    for (uint32_t i = 0; i < order->count; i++)
        order->first_reader[i] = order->first_reader[i + 1];
    order->first_reader[order->count] = edges;
    return PIM_OK;
}

/* The first input of an unplaced layer that is unplaced itself: while layers are left over, each has one. */
static uint32_t unplaced_input(const struct order *order, uint32_t at)
{
    const struct pim_layer_description *d = &order->descriptions[at];
    uint32_t j = 0;
    while (order->position[d->input[j]] != PIM_NONE)
        j++;
    return d->input[j];
}

/* Walks from an unplaced layer along unplaced inputs until one comes up again, and names that cycle. `seen`
   has room for all descriptions. */
static enum pim_status name_cycle(const struct order *order, uint32_t *seen, struct pim_error *error)
{
    uint32_t at = 0;
    while (order->position[at] != PIM_NONE)
        at++;
    memset(seen, 0, order->count * sizeof *seen);
    for (; seen[at] == 0; at = unplaced_input(order, at))
        seen[at] = 1;
    char text[512];
    size_t used = 0;
    uint32_t start = at;
    do {
        int written = snprintf(text + used, sizeof text - used, "%s <- ", order->descriptions[at].name);
        used += written > 0 ? (size_t)written : 0;
        at = unplaced_input(order, at);
    } while (at != start && used < sizeof text - 64);
    return pim_fail(error, PIM_BAD_INPUT, "the layers form a cycle: %s%s", text,
                    at == start ? order->descriptions[start].name : "...");
}

static enum pim_status place(struct pim_graph *graph, struct order *order, uint32_t at,
                             struct pim_error *error)
{
    struct pim_layer_description d = order->descriptions[at];
    uint32_t input[PIM_LAYER_INPUTS];
    if (d.inputs > PIM_LAYER_INPUTS)
        return pim_fail(error, PIM_BAD_INPUT, "layer %s: %" PRIu32 " inputs: at most %d are allowed", d.name,
                        d.inputs, PIM_LAYER_INPUTS);
    for (uint32_t j = 0; j < d.inputs; j++)
        input[j] = order->position[d.input[j]];
    d.input = input;
    enum pim_status status = pim_graph_add(graph, &d, &order->position[at], error);
    if (status != PIM_OK)
        return status;
    for (uint32_t j = order->first_reader[at]; j < order->first_reader[at + 1]; j++) {
        if (--order->waiting[order->reader[j]] == 0)
            heap_push(order, order->reader[j]);
    }
    return PIM_OK;
}

static enum pim_status place_all(struct pim_graph *graph, struct order *order, struct pim_error *error)
{
    enum pim_status status = find_readers(order, error);
    if (status != PIM_OK)
        return status;
    for (uint32_t i = 0; i < order->count; i++) {
        if (order->waiting[i] == 0)
            heap_push(order, i);
    }
    while (order->ready > 0) {
        status = place(graph, order, heap_pop(order), error);
        if (status != PIM_OK)
            return status;
    }
    return graph->count == order->count ? PIM_OK : name_cycle(order, order->heap, error);
}

enum pim_status pim_graph_build(struct pim_graph *graph, const struct pim_layer_description *descriptions,
                                uint32_t count, uint32_t *position, struct pim_error *error)
{
    assert(graph->count == 0);
    uint64_t edges = 0;
    for (uint32_t i = 0; i < count; i++)
        edges += descriptions[i].inputs;
    /* One piece of memory: waiting, heap, position, first_reader, reader. */
    uint64_t words = 4 * (uint64_t)count + 1 + edges;
    if (edges > UINT32_MAX || words > SIZE_MAX / sizeof(uint32_t))
        return pim_fail(error, PIM_BAD_INPUT, "the network has %" PRIu64 " edges: too many", edges);
    uint32_t *memory = calloc((size_t)words, sizeof *memory);
    if (!memory)
        return no_memory(error);
    struct order order = {.descriptions = descriptions, .count = count};
    order.waiting = memory;
    order.heap = order.waiting + count;
    order.position = order.heap + count;
    order.first_reader = order.position + count;
    order.reader = order.first_reader + count + 1;
    enum pim_status status = place_all(graph, &order, error);
    if (status == PIM_OK && position && count)
        memcpy(position, order.position, count * sizeof *position);
    free(memory);
    return status;
}

static int compare_names(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static enum pim_status check_names(const struct pim_graph *graph, struct pim_error *error)
{
    const char **names = malloc(graph->count * sizeof *names);
    if (!names)
        return no_memory(error);
    for (uint32_t i = 0; i < graph->count; i++)
        names[i] = graph->layers[i].name;
    qsort(names, graph->count, sizeof *names, compare_names);
    enum pim_status status = PIM_OK;
    for (uint32_t i = 1; i < graph->count && status == PIM_OK; i++) {
        if (strcmp(names[i - 1], names[i]) == 0)
            status = pim_fail(error, PIM_BAD_INPUT, "two layers are named %s", names[i]);
    }
    free(names);
    return status;
}

static enum pim_status check_layer(const struct pim_graph *graph, uint32_t index, struct pim_error *error)
{
    const struct pim_layer *layer = &graph->layers[index];
    struct pim_inference result;
    enum pim_status status = infer(graph, index, layer->operation, &layer->attributes, layer->input,
                                   layer->inputs, &result, error);
    if (status != PIM_OK)
        return status;
    if (!pim_shape_equal(&result.output, &layer->output)) {
        char stored[96], derived[96];
        return pim_fail(error, PIM_BAD_INPUT, "its shape is %s, but its inputs make it %s",
                        pim_shape_text(&layer->output, stored, sizeof stored),
                        pim_shape_text(&result.output, derived, sizeof derived));
    }
    if (result.macs != layer->macs || result.parameters != layer->parameters ||
        layer->padding_macs > layer->macs)
        return pim_fail(error, PIM_BAD_INPUT, "its MACs or parameters are not those of its operator");
    return PIM_OK;
}

enum pim_status pim_graph_check(const struct pim_graph *graph, struct pim_error *error)
{
    if (graph->count == 0)
        return pim_fail(error, PIM_BAD_INPUT, "the network has no layers");
    uint8_t *read = calloc(graph->count, 1);
    if (!read)
        return no_memory(error);
    enum pim_status status = PIM_OK;
    uint64_t macs = 0, padding = 0, parameters = 0;
    for (uint32_t i = 0; i < graph->count && status == PIM_OK; i++) {
        const struct pim_layer *layer = &graph->layers[i];
        status = check_layer(graph, i, error);
        if (status != PIM_OK) {
            status = pim_fail_in(error, "layer %s", layer->name);
            break;
        }
        for (uint32_t j = 0; j < layer->inputs; j++)
            read[layer->input[j]] = 1;
        macs += layer->macs;
        padding += layer->padding_macs;
        parameters += layer->parameters;
    }
    for (uint32_t i = 0; i + 1 < graph->count && status == PIM_OK; i++) {
        enum pim_operator operation = graph->layers[i].operation;
        if (!read[i] && (operation == PIM_OPERATOR_INPUT || operation == PIM_OPERATOR_PARAMETER))
            status = pim_fail(error, PIM_BAD_INPUT, "layer %s is read by no layer", graph->layers[i].name);
    }
    free(read);
    if (status == PIM_OK &&
        (macs != graph->macs || padding != graph->padding_macs || parameters != graph->parameters))
        status = pim_fail(error, PIM_BAD_INPUT, "the sums over the layers are not those of the graph");
    return status == PIM_OK ? check_names(graph, error) : status;
}
