#include "mappers/overlapim/chain/chain.h"
#include "sim/integer.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void pim_chain_terminate(struct pim_chain *chain)
{
    free(chain->layer);
    free(chain->intake);
    memset(chain, 0, sizeof *chain);
}

void pim_chain_layers_free(struct pim_overlap_layer *layers, uint32_t count)
{
    for (uint32_t i = 0; layers && i < count; i++)
        pim_overlap_layer_terminate(&layers[i]);
    free(layers);
}

uint32_t pim_chain_unit(const struct pim_search_inputs *inputs, uint32_t layer)
{
    return layer % pim_intake_places(inputs) * inputs->channels;
}

uint32_t pim_chain_reader(const struct pim_mapped_layers *layers, uint32_t index)
{
    for (uint32_t i = index + 1; i < layers->count; i++) {
        for (uint32_t j = 0; j < layers->layer[i].links; j++) {
            if (layers->layer[i].link[j].producer == index)
                return i;
        }
    }
    return PIM_NONE;
}

uint64_t pim_chain_message(const struct pim_search_inputs *inputs, uint32_t index,
                           const struct pim_step_cost *cost)
{
    const uint32_t reader = pim_chain_reader(inputs->layers, index);
    const struct pim_step_cost consumer = {.channels = inputs->channels};
    if (reader == PIM_NONE)
        return cost->transfer;
    const struct pim_way way = {pim_chain_unit(inputs, index), pim_chain_unit(inputs, reader)};
    return pim_hand_over(inputs->machine, cost, &consumer, cost->stores, way).message;
}

/* From a producer to a layer with mapping `own`; `whole`: in one message. */
static struct pim_handover hand_over(const struct pim_search_inputs *inputs,
                                     const struct pim_layer_mapping *mappings, uint32_t index,
                                     const struct pim_layer_mapping *own, uint32_t link, bool whole)
{
    const struct pim_mapped_layer *mapped = &inputs->layers->layer[index];
    const uint32_t producer = mapped->link[link].producer;
    const struct pim_way way = {pim_chain_unit(inputs, producer), pim_chain_unit(inputs, index)};
    return pim_hand_over(inputs->machine, &mappings[producer].cost, &own->cost,
                         whole ? 1 : own->strides.steps, way);
}

/* What the last messages of a layer take to a reader that has a mapping; nothing to others. */
static struct pim_handover sending(const struct pim_search_inputs *inputs,
                                   const struct pim_layer_mapping *mappings, const struct pim_intake *intakes,
                                   uint32_t index, uint32_t reader)
{
    const struct pim_mapped_layer *mapped = &inputs->layers->layer[reader];
    struct pim_handover all = {0};
    for (uint32_t j = 0; j < mapped->links && mappings[reader].cost.channels > 0; j++) {
        const bool whole = pim_intake_whole(inputs, intakes[reader], reader, j);
        if (mapped->link[j].producer != index)
            continue;
        const struct pim_handover one = hand_over(inputs, mappings, reader, &mappings[reader], j, whole);
        all.message = all.sent + one.message;
        all.sent += one.sent;
    }
    return all;
}

uint32_t pim_chain_links(const struct pim_search_inputs *inputs, uint32_t index)
{
    return inputs->layers->layer[index].links + (index >= pim_intake_places(inputs));
}

void pim_chain_alone(const struct pim_mapped_layer *mapped, const struct pim_layer_mapping *own,
                     struct pim_overlap_layer *layer)
{
    pim_overlap_layer_initialize(layer);
    (void)snprintf(layer->name, sizeof layer->name, "%s", mapped->name);
    layer->workload = mapped->workload;
    layer->nest = own->nest;
    layer->strides = own->strides;
    layer->latency = own->cost.total;
}

enum pim_status pim_chain_rows(const struct pim_search_inputs *inputs, uint32_t index,
                               const struct pim_layer_mapping *own, bool transformed, uint64_t *rows,
                               struct pim_error *error)
{
    const struct pim_schedule none = {0};
    struct pim_overlap_layer layer;
    struct pim_overlap overlap;
    *rows = own->strides.steps;
    if (!transformed)
        return PIM_OK;
    pim_chain_alone(&inputs->layers->layer[index], own, &layer);
    enum pim_status status = pim_overlap_initialize(&overlap, &layer, 0, &none, error);
    *rows = pim_divide_up(overlap.data_spaces, own->strides.banks);
    pim_overlap_terminate(&overlap);
    return status;
}

/* Messages of a producer to layers before this one, which are sent before its own. */
static uint64_t sent_before(const struct pim_search_inputs *inputs, const struct pim_layer_mapping *mappings,
                            const struct pim_intake *intakes, uint32_t producer, uint32_t index)
{
    uint64_t cycles = 0;
    for (uint32_t i = producer + 1; i < index; i++)
        cycles += sending(inputs, mappings, intakes, producer, i).sent;
    return cycles;
}

/* Loads and stores of a layer, where they are not in all of its steps: transformed, those that exist. */
static void set_events(const struct pim_mapped_layer *mapped, const struct pim_layer_mapping *own,
                       bool transformed, struct pim_overlap_layer *layer)
{
    const struct pim_step_cost *cost = &own->cost;
    struct pim_column_use use = {.input_loads = cost->loads, .output_stores = cost->stores};
    layer->transformed = transformed;
    if (cost->loads == own->strides.steps && cost->stores == own->strides.steps)
        return;
    if (transformed)
        pim_column_use_existing(mapped, &own->nest, &own->strides, &use);
    layer->loads = (struct pim_overlap_events){cost->loads, cost->load, use.input_loads};
    layer->stores = (struct pim_overlap_events){cost->stores, cost->store, use.output_stores};
}

enum pim_status pim_chain_layer(const struct pim_search_inputs *inputs,
                                const struct pim_layer_mapping *mappings, uint32_t index,
                                const struct pim_layer_mapping *own, const struct pim_intake *intakes,
                                bool transformed, struct pim_overlap_layer *layer, struct pim_error *error)
{
    const struct pim_mapped_layer *mapped = &inputs->layers->layer[index];
    const struct pim_intake intake = intakes[index];
    pim_chain_alone(mapped, own, layer);
    set_events(mapped, own, transformed, layer);
    layer->link = calloc(mapped->links + 1, sizeof *layer->link);
    if (!layer->link)
        return pim_fail(error, PIM_NO_MEMORY, "out of memory for the links of %s", layer->name);
    uint64_t bus = 0; /* between stacks, behind the first message of each producer */
    for (uint32_t j = 0; j < mapped->links; j++) {
        struct pim_link *link = &layer->link[j];
        *link = mapped->link[j];
        const bool at_end = intake.ends && pim_intake_at_end(inputs, index, link->producer),
                   whole = pim_intake_whole(inputs, intake, index, j), by_row = j == intake.latest && !whole;
        if (whole)
            *link = (struct pim_link){.producer = mapped->link[j].producer, .role = PIM_LINK_WHOLE};
        const struct pim_handover handover = hand_over(inputs, mappings, index, own, j, whole);
        /* what comes whole, and from others than the latest, is written while the layer waits */
        link->transfer = by_row ? handover.ready : handover.message;
        link->transfer += sent_before(inputs, mappings, intakes, link->producer, index);
        link->head = at_end ? 0 : pim_intake_head(inputs, index, &own->cost, j);
        layer->latency += by_row ? handover.writing : 0;
        bus += whole ? 0 : handover.all_bus - handover.bus;
    }
    layer->latency = pim_larger(layer->latency, pim_divide_up(bus, own->strides.steps));
    layer->links = mapped->links;
    if (pim_chain_links(inputs, index) > layer->links) /* its channels are free when that layer has left */
        layer->link[layer->links++] = (struct pim_link){.producer = index - pim_intake_places(inputs),
                                                        .role = PIM_LINK_WHOLE,
                                                        .transfer = intake.vacated};
    return PIM_OK;
}

enum pim_status pim_chain_layers(const struct pim_search_inputs *inputs,
                                 const struct pim_layer_mapping *mappings, bool transformed,
                                 const struct pim_chain *chain, struct pim_overlap_layer **layers,
                                 struct pim_error *error)
{
    uint32_t count = inputs->layers->count;
    *layers = calloc(count, sizeof **layers);
    if (!*layers)
        return pim_fail(error, PIM_NO_MEMORY, "out of memory for %" PRIu32 " layers", count);
    for (uint32_t i = 0; i < count; i++) {
        enum pim_status status = pim_chain_layer(inputs, mappings, i, &mappings[i], chain->intake,
                                                 transformed, &(*layers)[i], error);
        if (status != PIM_OK || pim_overlap_layer_derive(*layers, i, error) != PIM_OK) {
            pim_chain_layers_free(*layers, count);
            *layers = NULL;
            return error->status;
        }
    }
    return PIM_OK;
}

static enum pim_status count_moved(struct pim_overlap *overlap, uint64_t *moved, struct pim_error *error)
{
    struct pim_ready *list = NULL;
    if (pim_overlap_list(overlap, &list, error) != PIM_OK)
        return error->status;
    pim_overlap_sort(list, overlap->data_spaces);
    enum pim_status status = pim_overlap_moved(overlap, list, moved, error);
    free(list);
    return status;
}

/* When the channels of a reader take what comes to them: where layers hand over at their ends, and the reader
 * is of a later turn, with or behind the layer that they work in the turn of the producer; else when the one
 * before the reader has left them. Layers that have not been run yet: 0. */
static uint64_t taken_from(const struct pim_search_inputs *inputs, const struct pim_chain *chain,
                           uint32_t index, uint32_t reader, bool ends)
{
    const uint32_t places = pim_intake_places(inputs);
    if (ends && reader / places != index / places) {
        const uint32_t then = index / places * places + reader % places;
        return then == index ? 0 : then > index ? chain->layer[then].end : chain->layer[then].left;
    }
    if (reader < places || reader - places == index)
        return 0;
    const struct pim_overlap_chain_layer *before = &chain->layer[reader - places];
    return pim_larger(before->left, before->end);
}

/* When a layer has sent all: to one reader after the other, each when its channels take it. What one reader
 * may wait for itself is left out; PIM_NONE: nothing is. */
static uint64_t left_at(const struct pim_search_inputs *inputs, const struct pim_layer_mapping *mappings,
                        const struct pim_chain *chain, uint32_t index, uint32_t but, bool ends)
{
    uint64_t now = chain->layer[index].end, left = now;
    for (uint32_t i = index + 1; i < inputs->layers->count; i++) {
        const struct pim_handover handover = sending(inputs, mappings, chain->intake, index, i);
        if (handover.message == 0)
            continue;
        now = pim_larger(now, taken_from(inputs, chain, index, i, ends));
        left = pim_larger(left, i == but ? now : now + handover.message);
        now += handover.sent;
    }
    return left;
}

/* Decides how the layer takes what its producers send, and links it so. */
static enum pim_status link_layer(const struct pim_search_inputs *inputs,
                                  const struct pim_layer_mapping *mappings, uint32_t index, bool transformed,
                                  bool ends, const struct pim_schedule *schedules, struct pim_chain *chain,
                                  struct pim_overlap_layer *layers, struct pim_error *error)
{
    const uint32_t places = pim_intake_places(inputs);
    struct pim_intake *intake = &chain->intake[index];
    uint64_t rows;
    if (pim_chain_rows(inputs, index, &mappings[index], transformed, &rows, error) != PIM_OK)
        return error->status;
    *intake = pim_intake_decide(inputs, mappings, index, rows, schedules, ends);
    if (index >= places) {
        struct pim_overlap_chain_layer *before = &chain->layer[index - places];
        before->left = left_at(inputs, mappings, chain, index - places, index, ends);
        intake->vacated = before->left - before->end;
    }
    if (pim_chain_layer(inputs, mappings, index, &mappings[index], chain->intake, transformed, &layers[index],
                        error) != PIM_OK)
        return error->status;
    return pim_overlap_layer_derive(layers, index, error);
}

/* From the end of the last producer to the first step of a layer that runs behind all of them. */
static uint64_t transfer_of(const struct pim_search_inputs *inputs, const struct pim_layer_mapping *mappings,
                            const struct pim_intake *intakes, uint32_t index)
{
    uint64_t transfer = 0;
    for (uint32_t j = 0; j < inputs->layers->layer[index].links; j++) {
        const bool whole = pim_intake_whole(inputs, intakes[index], index, j);
        const struct pim_handover handover = hand_over(inputs, mappings, index, &mappings[index], j, whole);
        const bool by_row = j == intakes[index].latest && !whole;
        transfer = pim_larger(transfer, by_row ? handover.ready : handover.message);
    }
    return transfer;
}

static enum pim_status run_layer(const struct pim_overlap_layer *layers, uint32_t index, bool transformed,
                                 uint64_t transfer, struct pim_schedule *schedules, struct pim_chain *chain,
                                 struct pim_error *error)
{
    struct pim_overlap overlap;
    struct pim_overlap_chain_layer *layer = &chain->layer[index];
    enum pim_status status = pim_overlap_initialize(&overlap, layers, index, schedules, error);
    if (status == PIM_OK)
        status = pim_overlap_schedule(&overlap, transformed, &schedules[index], error);
    if (status == PIM_OK && transformed)
        status = count_moved(&overlap, &layer->moved, error);
    pim_overlap_terminate(&overlap);
    layer->end = schedules[index].end;
    uint64_t alone = pim_overlap_sequential(&layers[index]);
    layer->start = layer->end > alone ? layer->end - alone : 0; /* at the latest */
    chain->sequential += transfer + alone;
    chain->end = layer->end > chain->end ? layer->end : chain->end;
    return status;
}

enum pim_status pim_chain_run(const struct pim_search_inputs *inputs,
                              const struct pim_layer_mapping *mappings, bool transformed, bool ends,
                              struct pim_chain *chain, struct pim_error *error)
{
    uint32_t count = inputs->layers->count;
    struct pim_overlap_layer *layers = calloc(count, sizeof *layers);
    struct pim_schedule *schedules = calloc(count, sizeof *schedules);
    memset(chain, 0, sizeof *chain);
    chain->layer = calloc(count, sizeof *chain->layer);
    chain->intake = calloc(count, sizeof *chain->intake);
    enum pim_status status =
        chain->layer && chain->intake && schedules && layers
            ? PIM_OK
            : pim_fail(error, PIM_NO_MEMORY, "out of memory for %" PRIu32 " schedules", count);
    for (uint32_t i = 0; i < count && status == PIM_OK; i++) /* of those that are not decided yet */
        chain->intake[i] = (struct pim_intake){.each_row = true, .ends = ends};
    for (uint32_t i = 0; i < count && status == PIM_OK; i++) {
        status = link_layer(inputs, mappings, i, transformed, ends, schedules, chain, layers, error);
        if (status == PIM_OK)
            status = run_layer(layers, i, transformed, transfer_of(inputs, mappings, chain->intake, i),
                               schedules, chain, error);
    }
    for (uint32_t i = 0; i < count && status == PIM_OK; i++)
        chain->layer[i].left = left_at(inputs, mappings, chain, i, PIM_NONE, ends);
    for (uint32_t i = 0; schedules && i < count; i++)
        pim_schedule_terminate(&schedules[i]);
    free(schedules);
    pim_chain_layers_free(layers, count);
    if (status != PIM_OK)
        pim_chain_terminate(chain);
    return status;
}
