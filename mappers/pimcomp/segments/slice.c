/* Networks out of networks: parts of wide layers, and segments. See segments.h. */
#include "mappers/pimcomp/segments/segments.h"

#include <inttypes.h>
#include <stdio.h>

enum { NAME_MOST = 256 };

static enum pim_status no_memory(struct pim_error *error)
{
    return pim_fail(error, PIM_NO_MEMORY, "no memory for the segments of a network");
}

/* --- wide layers --- */

static uint32_t divide_up(uint32_t a, uint32_t b)
{
    return a / b + (a % b != 0);
}

/* Whether array groups for all rows of a matrix and `columns` columns find room on an empty chip. */
static bool has_room(const struct pim_core_architecture *a, const struct pim_core_layer *layer,
                     uint32_t columns)
{
    uint64_t groups = divide_up(layer->rows, a->array_rows), step = a->arrays_per_group_step;
    uint64_t arrays = (divide_up(columns, a->array_columns) + step - 1) / step * step;
    uint64_t whole = arrays / a->arrays, rest = arrays % a->arrays, cores = groups * whole;
    if (rest > 0) {
        uint64_t each = a->arrays / rest;
        cores += (groups + each - 1) / each;
    }
    return cores <= a->cores;
}

/* In how many parts a layer goes; 0: however many, one does not fit. */
static uint32_t parts_of(const struct pim_core_architecture *a, const struct pim_core_layer *layer)
{
    uint32_t most = divide_up(layer->channels, a->array_columns);
    if (layer->kind != PIM_CORE_MATRIX || layer->blocks > 1 || layer->tensor_block != 0)
        return 1;
    for (uint32_t parts = 1; parts <= most; parts++)
        if (has_room(a, layer, divide_up(most, parts) * a->array_columns))
            return parts;
    return 0;
}

struct split {
    const struct pim_core_network *from;
    struct pim_core_network *to;
    uint32_t *first, *parts; /* of each layer of `from`: its layers in `to` */
    struct pim_arena *arena;
};

/* The sources of a layer in terms of the parts of what it reads. */
static bool map_source(const struct split *s, const struct pim_core_source *from, struct pim_core_source *to)
{
    uint32_t most = 0;
    for (uint32_t i = 0; i < from->parts; i++)
        most += s->parts[from->part[i].layer];
    struct pim_core_part *part = PIM_ARENA_ARRAY(s->arena, struct pim_core_part, most);
    if (!part)
        return false;
    *to = *from;
    to->part = part;
    to->parts = 0;
    for (uint32_t i = 0; i < from->parts; i++) {
        uint32_t channel = from->part[i].channel, end = channel + from->part[i].channels, at = 0;
        for (uint32_t p = 0; p < s->parts[from->part[i].layer]; p++) {
            uint32_t layer = s->first[from->part[i].layer] + p, next = at + s->to->layer[layer].channels;
            if (channel < next && at < end) {
                uint32_t begin = channel > at ? channel : at, stop = end < next ? end : next;
                part[to->parts++] =
                    (struct pim_core_part){.layer = layer, .channel = begin - at, .channels = stop - begin};
            }
            at = next;
        }
    }
    return true;
}

/* Layer `index` as one layer or in parts of whole columns of arrays. */
static bool add_layers(struct split *s, uint32_t index, const struct pim_core_architecture *a)
{
    const struct pim_core_layer *from = &s->from->layer[index];
    struct pim_core_source source[PIM_CORE_SOURCES];
    uint32_t parts = s->parts[index], width = divide_up(divide_up(from->channels, a->array_columns), parts);
    s->first[index] = s->to->count;
    for (uint32_t i = 0; i < from->sources; i++)
        if (!map_source(s, &from->source[i], &source[i]))
            return false;
    for (uint32_t p = 0; p < parts; p++) {
        struct pim_core_layer *to = &s->to->layer[s->to->count++];
        *to = *from;
        for (uint32_t i = 0; i < from->sources; i++)
            to->source[i] = source[i];
        if (parts == 1)
            continue;
        char name[NAME_MOST];
        uint32_t left = from->channels - p * width * a->array_columns;
        (void)snprintf(name, sizeof name, "%s %" PRIu32 "/%" PRIu32, from->name, p + 1, parts);
        to->name = pim_arena_copy_text(s->arena, name);
        to->first_channel = p * width * a->array_columns;
        to->channels = left < width * a->array_columns ? left : width * a->array_columns;
        if (!to->name)
            return false;
    }
    return true;
}

enum pim_status pim_core_segments_split(const struct pim_core_network *network,
                                        const struct pim_core_architecture *architecture,
                                        struct pim_arena *arena, struct pim_core_network *split,
                                        struct pim_error *error)
{
    struct split s = {.from = network,
                      .to = split,
                      .arena = arena,
                      .first = PIM_ARENA_ARRAY(arena, uint32_t, network->count),
                      .parts = PIM_ARENA_ARRAY(arena, uint32_t, network->count)};
    uint64_t count = 0;
    if (!s.first || !s.parts)
        return no_memory(error);
    for (uint32_t i = 0; i < network->count; i++) {
        /* the last part may be empty where columns do not divide: parts of so many columns, then as many as
         * there are */
        s.parts[i] = parts_of(architecture, &network->layer[i]);
        if (s.parts[i] == 0)
            return pim_fail(error, PIM_BAD_INPUT,
                            "%s: the %" PRIu32 " rows of its matrix take more than all %" PRIu32
                            " cores of %" PRIu32 " arrays for a single column of arrays",
                            network->layer[i].name, network->layer[i].rows, architecture->cores,
                            architecture->arrays);
        if (s.parts[i] > 1) {
            uint32_t columns = divide_up(network->layer[i].channels, architecture->array_columns);
            s.parts[i] = divide_up(columns, divide_up(columns, s.parts[i]));
        }
        count += s.parts[i];
    }
    *split = *network;
    split->arena = arena;
    split->count = 0;
    split->layer = PIM_ARENA_ARRAY(arena, struct pim_core_layer, count);
    if (!split->layer || count > UINT32_MAX)
        return no_memory(error);
    for (uint32_t i = 0; i < network->count; i++)
        if (!add_layers(&s, i, architecture))
            return no_memory(error);
    return pim_core_network_connect(split, error);
}

/* --- segments --- */

struct slice {
    const struct pim_core_network *from;
    struct pim_core_segment *segment;
    uint32_t *number; /* of each layer: in the segment; PIM_NONE: it is not in it */
    struct pim_arena *arena;
};

/* A layer of an earlier segment, or an input of the network. */
static void add_input(struct slice *s, uint32_t index)
{
    struct pim_core_network *to = &s->segment->network;
    const struct pim_core_layer *from = &s->from->layer[index];
    if (s->number[index] != PIM_NONE)
        return;
    s->number[index] = to->count;
    s->segment->origin[to->count] = index;
    struct pim_core_layer *layer = &to->layer[to->count++];
    *layer = *from;
    layer->kind = PIM_CORE_INPUT;
    layer->sources = layer->afters = layer->affines = layer->moves = 0;
    layer->bias = layer->output = false;
}

static bool add_layer(struct slice *s, uint32_t index)
{
    struct pim_core_network *to = &s->segment->network;
    const struct pim_core_layer *from = &s->from->layer[index];
    s->number[index] = to->count;
    s->segment->origin[to->count] = index;
    struct pim_core_layer *layer = &to->layer[to->count++];
    *layer = *from;
    for (uint32_t i = 0; i < from->sources; i++) {
        struct pim_core_part *part = PIM_ARENA_ARRAY(s->arena, struct pim_core_part, from->source[i].parts);
        if (!part)
            return false;
        for (uint32_t p = 0; p < from->source[i].parts; p++) {
            part[p] = from->source[i].part[p];
            part[p].layer = s->number[part[p].layer];
        }
        layer->source[i].part = part;
    }
    for (uint32_t i = 0; i < from->consumers; i++)
        layer->output = layer->output || from->consumer[i] >= s->segment->end;
    if (layer->kind == PIM_CORE_MATRIX) {
        uint64_t weights = (uint64_t)layer->rows * layer->channels / layer->blocks;
        to->weights += weights;
        to->macs += weights * layer->windows;
    }
    return true;
}

enum pim_status pim_core_segment_slice(const struct pim_core_network *network, uint32_t begin, uint32_t end,
                                       struct pim_arena *arena, struct pim_core_segment *segment,
                                       struct pim_error *error)
{
    struct slice s = {.from = network,
                      .segment = segment,
                      .arena = arena,
                      .number = PIM_ARENA_ARRAY(arena, uint32_t, network->count)};
    *segment = (struct pim_core_segment){
        .begin = begin,
        .end = end,
        .origin = PIM_ARENA_ARRAY(arena, uint32_t, network->count),
        .network = {.arena = arena,
                    .name = network->name,
                    .layer = PIM_ARENA_ARRAY(arena, struct pim_core_layer, network->count)}};
    if (!s.number || !segment->origin || !segment->network.layer)
        return no_memory(error);
    for (uint32_t i = 0; i < network->count; i++)
        s.number[i] = PIM_NONE;
    for (uint32_t i = begin; i < end; i++)
        for (uint32_t n = 0; n < network->layer[i].sources; n++)
            for (uint32_t p = 0; p < network->layer[i].source[n].parts; p++) {
                uint32_t from = network->layer[i].source[n].part[p].layer;
                if (from < begin || network->layer[from].kind == PIM_CORE_INPUT)
                    add_input(&s, from);
            }
    for (uint32_t i = begin; i < end; i++)
        if (network->layer[i].kind != PIM_CORE_INPUT && !add_layer(&s, i))
            return no_memory(error);
    return pim_core_network_connect(&segment->network, error);
}
