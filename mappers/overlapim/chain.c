#include "mappers/overlapim/chain.h"
#include "sim/integer.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void pim_chain_terminate(struct pim_chain *chain)
{
    free(chain->layer);
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

/* From a producer to a layer with mapping `own`. */
static struct pim_handover hand_over(const struct pim_search_inputs *inputs,
                                     const struct pim_layer_mapping *mappings, uint32_t index,
                                     const struct pim_layer_mapping *own, uint32_t link)
{
    const struct pim_mapped_layer *mapped = &inputs->layers->layer[index];
    const uint32_t producer = mapped->link[link].producer;
    const struct pim_way way = {pim_chain_unit(inputs, producer), pim_chain_unit(inputs, index)};
    return pim_hand_over(inputs->machine, &mappings[producer].cost, &own->cost, own->strides.steps, way);
}

uint32_t pim_chain_links(const struct pim_search_inputs *inputs, uint32_t index)
{
    return inputs->layers->layer[index].links + (index >= pim_intake_places(inputs));
}

/* What the last messages of a layer take, one after the other, to all that read it and have a mapping, but for
 * `next`, which takes over its channels. */
static uint64_t sending(const struct pim_search_inputs *inputs, const struct pim_layer_mapping *mappings,
                        uint32_t index, uint32_t next)
{
    uint64_t cycles = 0;
    for (uint32_t i = index + 1; i < inputs->layers->count; i++) {
        const struct pim_mapped_layer *mapped = &inputs->layers->layer[i];
        for (uint32_t j = 0; j < mapped->links && mappings[i].cost.channels > 0; j++)
            cycles += i != next && mapped->link[j].producer == index
                          ? hand_over(inputs, mappings, i, &mappings[i], j).message
                          : 0;
    }
    return cycles;
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

enum pim_status pim_chain_layer(const struct pim_search_inputs *inputs,
                                const struct pim_layer_mapping *mappings, uint32_t index,
                                const struct pim_layer_mapping *own, struct pim_intake intake,
                                struct pim_overlap_layer *layer, struct pim_error *error)
{
    const struct pim_mapped_layer *mapped = &inputs->layers->layer[index];
    pim_chain_alone(mapped, own, layer);
    layer->link = calloc(mapped->links + 1, sizeof *layer->link);
    if (!layer->link)
        return pim_fail(error, PIM_NO_MEMORY, "out of memory for the links of %s", layer->name);
    uint64_t bus = 0; /* between stacks, behind the first message of the latest producer */
    for (uint32_t j = 0; j < mapped->links; j++) {
        const bool latest = j == intake.latest;
        struct pim_link *link = &layer->link[j];
        *link = mapped->link[j];
        const bool at_end = intake.ends && pim_intake_at_end(inputs, index, link->producer);
        if (at_end || (!latest && !intake.each_row))
            *link = (struct pim_link){.producer = mapped->link[j].producer, .role = PIM_LINK_WHOLE};
        const struct pim_handover handover = hand_over(inputs, mappings, index, own, j);
        /* what the other producers send is there, and written, while the layer waits for the latest */
        link->transfer = latest ? handover.ready : handover.message;
        link->head = at_end ? 0 : pim_intake_head(inputs, index, &own->cost, j);
        layer->latency += latest ? handover.writing : 0;
        bus += handover.all_bus - (latest ? handover.bus : 0);
    }
    layer->latency = pim_larger(layer->latency, pim_divide_up(bus, own->strides.steps));
    layer->links = mapped->links;
    if (pim_chain_links(inputs, index) > layer->links) { /* its channels are free when that layer has left */
        const uint32_t before = index - pim_intake_places(inputs);
        layer->link[layer->links++] = (struct pim_link){
            .producer = before, .role = PIM_LINK_WHOLE, .transfer = sending(inputs, mappings, before, index)};
    }
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
        enum pim_status status = pim_chain_layer(inputs, mappings, i, &mappings[i], chain->layer[i].intake,
                                                 &(*layers)[i], error);
        (*layers)[i].transformed = transformed;
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

/* Decides how the layer takes what its producers send, and links it so. */
static enum pim_status link_layer(const struct pim_search_inputs *inputs,
                                  const struct pim_layer_mapping *mappings, uint32_t index, bool transformed,
                                  bool ends, const struct pim_schedule *schedules, struct pim_chain *chain,
                                  struct pim_overlap_layer *layers, struct pim_error *error)
{
    struct pim_intake *intake = &chain->layer[index].intake;
    uint64_t rows;
    if (pim_chain_rows(inputs, index, &mappings[index], transformed, &rows, error) != PIM_OK)
        return error->status;
    *intake = pim_intake_decide(inputs, mappings, index, rows, schedules, ends);
    if (pim_chain_layer(inputs, mappings, index, &mappings[index], *intake, &layers[index], error) != PIM_OK)
        return error->status;
    layers[index].transformed = transformed;
    return pim_overlap_layer_derive(layers, index, error);
}

static enum pim_status run_layer(const struct pim_overlap_layer *layers, uint32_t index, bool transformed,
                                 struct pim_schedule *schedules, struct pim_chain *chain,
                                 struct pim_error *error)
{
    struct pim_overlap overlap;
    struct pim_overlap_chain_layer *layer = &chain->layer[index];
    uint64_t transfer = 0;
    enum pim_status status = pim_overlap_initialize(&overlap, layers, index, schedules, error);
    if (status == PIM_OK)
        status = pim_overlap_schedule(&overlap, transformed, &schedules[index], error);
    if (status == PIM_OK && transformed)
        status = count_moved(&overlap, &layer->moved, error);
    pim_overlap_terminate(&overlap);
    layer->end = schedules[index].end;
    uint64_t alone = pim_overlap_sequential(&layers[index]);
    layer->start = layer->end > alone ? layer->end - alone : 0; /* at the latest */
    for (uint32_t j = 0; j < layers[index].links; j++)
        transfer = layers[index].link[j].transfer > transfer ? layers[index].link[j].transfer : transfer;
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
    enum pim_status status =
        chain->layer && schedules && layers
            ? PIM_OK
            : pim_fail(error, PIM_NO_MEMORY, "out of memory for %" PRIu32 " schedules", count);
    for (uint32_t i = 0; i < count && status == PIM_OK; i++) {
        status = link_layer(inputs, mappings, i, transformed, ends, schedules, chain, layers, error);
        if (status == PIM_OK)
            status = run_layer(layers, i, transformed, schedules, chain, error);
    }
    for (uint32_t i = 0; i < count && status == PIM_OK; i++) {
        chain->layer[i].left = chain->layer[i].end + sending(inputs, mappings, i, PIM_NONE);
    }
    for (uint32_t i = 0; schedules && i < count; i++)
        pim_schedule_terminate(&schedules[i]);
    free(schedules);
    pim_chain_layers_free(layers, count);
    if (status != PIM_OK)
        pim_chain_terminate(chain);
    return status;
}
