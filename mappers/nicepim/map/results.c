#include "mappers/nicepim/map/results.h"

#include "mappers/nicepim/map/program/product.h"

#include <stdlib.h>
#include <string.h>

/* The pieces of the inputs, one behind the other along `axis`; a tensor without places gets one. */
static void share_home(struct emitter *emitter, uint32_t layer, const uint32_t *inputs, uint32_t count,
                       uint32_t axis)
{
    struct home *home = &emitter->home[layer];
    const struct flow_operation *operation = emitter->plan->flow.operation;
    size_t pieces = count;
    uint32_t before = 0;
    for (uint32_t i = 0; i < count; i++)
        pieces += emitter->home[inputs[i]].count;
    if (!home_reserve(emitter, home, pieces))
        return;
    home->everywhere = count == 1 && emitter->home[inputs[0]].everywhere;
    for (uint32_t i = 0; i < count; i++) {
        const struct home *from = &emitter->home[inputs[i]];
        uint32_t length = operation[inputs[i]].dimension[axis];
        struct pim_span box[4];
        for (size_t d = 0; d < 4; d++)
            box[d] = (struct pim_span){0, operation[layer].dimension[d]};
        box[axis] = (struct pim_span){before, before + length};
        if (from->everywhere && count > 1) {
            home_add(emitter, layer, 0, box);
            program_note(&emitter->program, 0,
                         &(struct nice_note){.kind = NICE_NOTE_PLACED,
                                             .layer = layer,
                                             .place = home->pieces[home->count - 1].place});
        }
        for (uint32_t p = 0; p < from->count; p++) {
            struct piece *piece = &home->pieces[home->count++];
            *piece = from->pieces[p];
            piece->place.box[axis].from += before;
            piece->place.box[axis].to += before;
        }
        before += length;
    }
}

/* A span of the output in proportion to one of the input. */
static struct pim_span scaled(struct pim_span span, uint32_t input, uint32_t output)
{
    return (struct pim_span){(uint32_t)((uint64_t)span.from * output / input),
                             (uint32_t)((uint64_t)span.to * output / input)};
}

/* Results over all nodes, cut along batches or rows, or channels where these are more. */
static void place_evenly(struct emitter *emitter, uint32_t layer)
{
    const uint32_t *size = emitter->plan->flow.operation[layer].dimension;
    uint32_t nodes = emitter->program.nodes;
    size_t along = size[0] >= size[2] ? 0 : 2;
    if (size[along] < nodes && size[1] > size[along] &&
        emitter->plan->flow.operation[layer].reach != FLOW_CHANNELS)
        along = 1;
    if (!home_reserve(emitter, &emitter->home[layer], nodes))
        return;
    for (uint32_t i = 0; i < nodes; i++) {
        struct pim_span box[4];
        for (size_t d = 0; d < 4; d++)
            box[d] = (struct pim_span){0, size[d]};
        box[along] = pim_span_of(size[along], nodes, i);
        home_add(emitter, layer, i, box);
    }
}

/* The piece of all channels of its groups; false: channels are cut otherwise. */
static bool whole_groups(const struct piece *piece, uint32_t group, struct pim_span *channels)
{
    struct pim_span c = piece->place.box[1];
    channels->from = c.from / group * group;
    channels->to = (c.to + group - 1) / group * group;
    return (c.from % group == 0 && c.to % group == 0) || channels->to - channels->from == group;
}

/* What works on whole groups of channels lies where they do: pieces that differ in channels alone share the
 * positions among their nodes. */
static void place_channels(struct emitter *emitter, uint32_t layer)
{
    const struct flow_operation *operation = &emitter->plan->flow.operation[layer];
    const struct home *from = &emitter->home[emitter->plan->flow.graph->layers[layer].input[0]];
    bool fits = !from->everywhere;
    for (uint32_t i = 0; i < from->count; i++) {
        struct pim_span ignored;
        fits &= whole_groups(&from->pieces[i], operation->group, &ignored);
    }
    if (!fits) {
        place_evenly(emitter, layer);
        return;
    }
    if (!home_reserve(emitter, &emitter->home[layer], from->count))
        return;
    for (uint32_t i = 0; i < from->count; i++) {
        struct pim_span box[4], other[4];
        uint32_t count = 0, index = 0;
        memcpy(box, from->pieces[i].place.box, sizeof box);
        (void)whole_groups(&from->pieces[i], operation->group, &box[1]);
        for (uint32_t j = 0; j < from->count; j++) {
            memcpy(other, from->pieces[j].place.box, sizeof other);
            (void)whole_groups(&from->pieces[j], operation->group, &other[1]);
            bool same = memcmp(box, other, sizeof box) == 0;
            index += same && j < i;
            count += same;
        }
        uint32_t rows = box[2].to - box[2].from, batches = box[0].to - box[0].from;
        size_t along = rows >= batches ? 2 : 0;
        struct pim_span part = pim_span_of(box[along].to - box[along].from, count, index);
        box[along] = (struct pim_span){box[along].from + part.from, box[along].from + part.to};
        home_add(emitter, layer, from->pieces[i].node, box);
    }
}

/* Results of a vector operation lie where the like part of the first input lies. */
static void place_vector(struct emitter *emitter, uint32_t layer)
{
    const struct flow *flow = &emitter->plan->flow;
    const struct flow_operation *operation = &flow->operation[layer];
    uint32_t first = flow->graph->layers[layer].input[0];
    const uint32_t *size = flow->operation[first].dimension;
    const struct home *from = &emitter->home[first];
    struct home *home = &emitter->home[layer];
    bool spread = from->everywhere || operation->kind == FLOW_FLATTEN;
    if (!home_reserve(emitter, home, spread ? emitter->program.nodes : from->count))
        return;
    for (uint32_t i = 0; i < (spread ? emitter->program.nodes : from->count); i++) {
        struct pim_span box[4];
        for (size_t d = 0; d < 4; d++)
            box[d] = spread ? (struct pim_span){0, operation->dimension[d]} : from->pieces[i].place.box[d];
        if (spread) {
            uint32_t channels = operation->kind == FLOW_FLATTEN ? size[1] : operation->dimension[1];
            struct pim_span part = pim_span_of(channels, emitter->program.nodes, i);
            uint32_t plane = operation->dimension[1] / channels;
            box[1] = (struct pim_span){part.from * plane, part.to * plane};
            home_add(emitter, layer, i, box);
            continue;
        }
        if (operation->reach == FLOW_PLANE && (box[2].from > 0 || box[3].from > 0))
            continue;
        for (size_t d = 0; d < 4; d++)
            box[d] = scaled(box[d], size[d], operation->dimension[d]);
        if (operation->reach == FLOW_PLANE)
            box[2] = box[3] = (struct pim_span){0, 1};
        home_add(emitter, layer, from->pieces[i].node, box);
    }
}

bool results_follow(struct emitter *emitter, uint32_t layer)
{
    const struct flow_operation *operation = &emitter->plan->flow.operation[layer];
    const struct pim_layer *graph = &emitter->plan->flow.graph->layers[layer];
    bool plain = operation->kind == FLOW_FLATTEN &&
                 operation->dimension[1] == emitter->plan->flow.operation[graph->input[0]].dimension[1];
    if (operation->kind == FLOW_INPUT)
        emitter->home[layer].everywhere = true;
    else if (operation->kind == FLOW_CONCAT)
        share_home(emitter, layer, graph->input, graph->inputs, operation->axis);
    else if (operation->kind == FLOW_FUSED || operation->kind == FLOW_ALIAS || plain)
        share_home(emitter, layer, graph->input, 1, 1);
    else {
        bool moved = operation->kind == FLOW_VECTOR && operation->reach >= FLOW_SLICE;
        bool mean = operation->reach == FLOW_PLANE && graph->operation == PIM_OPERATOR_REDUCTION;
        if (operation->reach == FLOW_CHANNELS)
            place_channels(emitter, layer);
        else if (moved || mean)
            place_evenly(emitter, layer);
        else
            place_vector(emitter, layer);
        return true;
    }
    return false;
}

void results_of_product(struct emitter *emitter, uint32_t layer)
{
    const struct nice_plan *plan = emitter->plan;
    const struct nice_decision *decision = &plan->decision[layer];
    const struct nice_region *region = &decision->region;
    const struct pim_conv *conv = &plan->flow.operation[layer].conv;
    uint32_t nodes = region->width * region->height,
             sums = decision->cut.high[PIM_LOOP_C] * decision->cut.wide[PIM_LOOP_C];
    struct pim_part *parts = calloc((size_t)nodes + 1, sizeof *parts);
    uint32_t *set = calloc((size_t)nodes + 1, sizeof *set),
             *member = calloc((size_t)nodes + 1, sizeof *member);
    if (parts && set && member && home_reserve(emitter, &emitter->home[layer], nodes)) {
        for (uint32_t i = 0; i < nodes; i++)
            pim_cut_part(conv, &decision->cut, i / region->width, i % region->width, &parts[i]);
        if (sums > 1)
            (void)pim_cut_groups(parts, nodes, PIM_SHARED_SUMS, set);
        for (uint32_t i = 0; i < nodes; i++) {
            struct pim_span box[4], piece[4];
            bool runs;
            if (pim_part_macs(conv, &parts[i]) == 0)
                continue;
            product_output_box(&parts[i], box);
            split_box(box, plan->layout[layer], sums, sums > 1 ? member[set[i]]++ : 0, piece, &runs);
            home_add(emitter, layer,
                     (region->y + i / region->width) * plan->hardware->width + region->x + i % region->width,
                     piece);
        }
    } else if (emitter->program.status == PIM_OK) {
        emitter->program.status =
            pim_fail(emitter->program.error, PIM_NO_MEMORY, "out of memory for the places of maps");
    }
    free(parts);
    free(set);
    free(member);
}
