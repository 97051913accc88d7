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
    pim_messages_terminate(&chain->messages);
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

struct pim_handover pim_chain_hand_over(const struct pim_search_inputs *inputs,
                                        const struct pim_layer_mapping *mappings, uint32_t index,
                                        const struct pim_layer_mapping *own, uint32_t link, bool whole)
{
    const struct pim_mapped_layer *mapped = &inputs->layers->layer[index];
    const uint32_t producer = mapped->link[link].producer;
    const struct pim_way way = {pim_chain_unit(inputs, producer), pim_chain_unit(inputs, index)};
    return pim_hand_over(inputs->machine, &mappings[producer].cost, &own->cost,
                         whole ? 1 : own->strides.steps, way);
}

struct pim_handover pim_chain_sending(const struct pim_search_inputs *inputs,
                                      const struct pim_layer_mapping *mappings,
                                      const struct pim_intake *intakes, uint32_t index, uint32_t reader)
{
    const struct pim_mapped_layer *mapped = &inputs->layers->layer[reader];
    struct pim_handover all = {0};
    for (uint32_t j = 0; j < mapped->links && mappings[reader].cost.channels > 0; j++) {
        const bool whole = pim_intake_whole(inputs, intakes[reader], reader, j);
        if (mapped->link[j].producer != index)
            continue;
        const struct pim_handover one =
            pim_chain_hand_over(inputs, mappings, reader, &mappings[reader], j, whole);
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
        cycles += pim_chain_sending(inputs, mappings, intakes, producer, i).sent;
    return cycles;
}

void pim_chain_events(const struct pim_mapped_layer *mapped, const struct pim_layer_mapping *own,
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
    pim_chain_events(mapped, own, transformed, layer);
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
        const struct pim_handover handover = pim_chain_hand_over(inputs, mappings, index, own, j, whole);
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

uint64_t pim_chain_taken_from(const struct pim_search_inputs *inputs,
                              const struct pim_overlap_chain_layer *layer, uint32_t index, uint32_t reader,
                              bool ends)
{
    const uint32_t places = pim_intake_places(inputs);
    if (ends && reader / places != index / places) {
        const uint32_t then = index / places * places + reader % places;
        return then == index ? 0 : then > index ? layer[then].end : layer[then].left;
    }
    if (reader < places || reader - places == index)
        return 0;
    const struct pim_overlap_chain_layer *before = &layer[reader - places];
    return pim_larger(before->left, before->end);
}

struct pim_leaving pim_chain_leave(const struct pim_overlap_chain_layer *layer, uint32_t index, uint32_t but,
                                   bool ends)
{
    const uint64_t end = layer[index].end;
    return (struct pim_leaving){.index = index, .but = but, .ends = ends, .now = end, .left = end};
}

void pim_chain_send_last(const struct pim_search_inputs *inputs, const struct pim_overlap_chain_layer *layer,
                         uint32_t reader, struct pim_handover last, struct pim_leaving *leaving)
{
    if (last.message == 0) /* what it has made stays in its channels */
        return;
    leaving->now =
        pim_larger(leaving->now, pim_chain_taken_from(inputs, layer, leaving->index, reader, leaving->ends));
    leaving->left =
        pim_larger(leaving->left, reader == leaving->but ? leaving->now : leaving->now + last.message);
    leaving->now += last.sent;
}
