/* Networks out of networks: parts of wide layers, and segments. See segments.h. */
#include "mappers/pimcomp/layout/layout.h"
#include "mappers/pimcomp/partition/partition.h"
#include "mappers/pimcomp/segments/segments.h"
#include "sim/integer.h"
#include "sim/try.h"

#include <inttypes.h>
#include <stdio.h>

enum { NAME_MOST = 256 };

static enum pim_status no_memory(struct pim_error *error)
{
    return pim_fail(error, PIM_NO_MEMORY, "no memory for the segments of a network");
}

/* --- wide layers --- */

/* A layer goes in parts of whole units of output channels: columns of arrays, or groups of a convolution. */
static uint32_t unit_of(const struct pim_core_architecture *a, const struct pim_core_layer *layer)
{
    return layer->blocks > 1 ? layer->channels / layer->blocks : a->array_columns;
}

/* Channels [first, first + channels) of a matrix as a layer, but for its name and the parts of its source. */
static struct pim_core_layer part_of(const struct pim_core_layer *layer, uint32_t first, uint32_t channels)
{
    struct pim_core_layer part = *layer;
    part.first_channel = first;
    part.channels = channels;
    if (layer->blocks > 1) { /* of a group's channels alone */
        part.blocks = channels / (layer->channels / layer->blocks);
        part.rows = layer->rows / layer->blocks * part.blocks;
        part.source[0].channels = layer->source[0].channels / layer->blocks * part.blocks;
    }
    return part;
}

/* Whether one replica of a layer finds room on an empty chip. PIM_BAD_INPUT: it does not, *error says why. */
static enum pim_status find_room(const struct pim_core_layer *layer,
                                 const struct pim_core_segment_problem *problem, struct pim_error *error)
{
    struct pim_core_layer alone = *layer;
    const struct pim_core_network network = {.name = layer->name, .count = 1, .layer = &alone};
    struct pim_core_partition partition;
    struct pim_core_layout layout;
    const struct pim_core_mapping mapping = {
        .architecture = problem->architecture, .network = &network, .partition = &partition};
    struct pim_arena scratch;
    pim_arena_initialize(&scratch, 1 << 16);
    enum pim_status status = pim_core_partition_make(&network, problem->architecture, problem->mode,
                                                     problem->forced, &scratch, &partition, error);
    if (status == PIM_OK)
        status = pim_core_layout_first(&mapping, &scratch, &layout, error);
    pim_arena_terminate(&scratch);
    return status;
}

/* The fewest parts of a layer that find room each on an empty chip; all but the last are equally wide. */
static enum pim_status count_parts(const struct pim_core_segment_problem *problem,
                                   const struct pim_core_layer *layer, uint32_t *parts,
                                   struct pim_error *error)
{
    struct pim_error why = {0};
    *parts = 1;
    if (layer->kind != PIM_CORE_MATRIX)
        return PIM_OK;
    uint32_t unit = unit_of(problem->architecture, layer), units = pim_divide_up32(layer->channels, unit);
    for (uint32_t wanted = 1, last = 0; wanted <= units; wanted++) {
        uint32_t each = pim_divide_up32(units, wanted);
        if (each == last)
            continue;
        last = each;
        const struct pim_core_layer part = part_of(layer, 0, each < units ? each * unit : layer->channels);
        struct pim_error tried = {0};
        *parts = pim_divide_up32(units, each);
        enum pim_status status = find_room(&part, problem, &tried);
        if (status == PIM_OK)
            return PIM_OK;
        why = tried;
        if (status != PIM_BAD_INPUT)
            break;
    }
    *error = why;
    return pim_fail_in(error, "%s: not even %s of its matrix fits", layer->name,
                       layer->blocks > 1 ? "one group" : "a single column of arrays");
}

struct split {
    const struct pim_core_network *from;
    struct pim_core_network *to;
    uint32_t *first, *parts; /* of each layer of `from`: its layers in `to` */
    struct pim_arena *arena;
};

/* The sources of a layer in terms of the parts of what it reads: `channels` of them from `first` on. */
static bool map_source(const struct split *s, const struct pim_core_source *from, uint32_t first,
                       uint32_t channels, struct pim_core_source *to)
{
    uint32_t room = 0;
    for (uint32_t i = 0; i < from->parts; i++)
        room += s->parts[from->part[i].layer];
    struct pim_core_part *part = PIM_ARENA_ARRAY(s->arena, struct pim_core_part, room);
    if (!part)
        return false;
    *to = *from;
    to->part = part;
    to->parts = 0;
    to->channels = channels;
    uint32_t before = 0; /* channels of the source before part i */
    for (uint32_t i = 0; i < from->parts; before += from->part[i++].channels) {
        uint32_t low = first > before ? first - before : 0, at = 0;
        uint32_t most = first + channels > before ? first + channels - before : 0;
        uint32_t channel = from->part[i].channel + low;
        uint32_t end =
            from->part[i].channel + (most < from->part[i].channels ? most : from->part[i].channels);
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

/* Part `number` of layer `index`, which has several. */
static bool add_part(struct split *s, uint32_t index, uint32_t number, uint32_t width)
{
    const struct pim_core_layer *from = &s->from->layer[index];
    struct pim_core_layer *to = &s->to->layer[s->to->count++];
    uint32_t first = number * width, left = from->channels - first;
    char name[NAME_MOST];
    *to = part_of(from, first, left < width ? left : width);
    uint32_t each = from->blocks > 1 ? from->source[0].channels / from->blocks : 0;
    uint32_t block = from->blocks > 1 ? first / (from->channels / from->blocks) : 0;
    (void)snprintf(name, sizeof name, "%s %" PRIu32 "/%" PRIu32, from->name, number + 1, s->parts[index]);
    to->name = pim_arena_copy_text(s->arena, name);
    return to->name && map_source(s, &from->source[0], block * each, to->source[0].channels, &to->source[0]);
}

/* Layer `index` as one layer or in parts. */
static bool add_layers(struct split *s, uint32_t index, const struct pim_core_architecture *a)
{
    const struct pim_core_layer *from = &s->from->layer[index];
    uint32_t parts = s->parts[index];
    s->first[index] = s->to->count;
    if (parts == 1) {
        struct pim_core_layer *to = &s->to->layer[s->to->count++];
        *to = *from;
        for (uint32_t i = 0; i < from->sources; i++)
            if (!map_source(s, &from->source[i], 0, from->source[i].channels, &to->source[i]))
                return false;
        return true;
    }
    uint32_t unit = unit_of(a, from), units = pim_divide_up32(from->channels, unit);
    for (uint32_t p = 0; p < parts; p++)
        if (!add_part(s, index, p, pim_divide_up32(units, parts) * unit))
            return false;
    return true;
}

enum pim_status pim_core_segments_split(const struct pim_core_network *network,
                                        const struct pim_core_segment_problem *problem,
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
        PIM_TRY(count_parts(problem, &network->layer[i], &s.parts[i], error));
        count += s.parts[i];
    }
    *split = *network;
    split->arena = arena;
    split->count = 0;
    split->layer = PIM_ARENA_ARRAY(arena, struct pim_core_layer, count);
    if (!split->layer || count > UINT32_MAX)
        return no_memory(error);
    for (uint32_t i = 0; i < network->count; i++)
        if (!add_layers(&s, i, problem->architecture))
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
