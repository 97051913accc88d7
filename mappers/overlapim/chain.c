#include "mappers/overlapim/chain.h"

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

/* Layers that have channels of their own at the same time; those behind take them over in turn. */
static uint32_t places(const struct pim_search_inputs *inputs)
{
    return inputs->machine->stacks * inputs->machine->channels / inputs->channels;
}

static enum pim_status fill(const struct pim_search_inputs *inputs, const struct pim_layer_mapping *mappings,
                            uint32_t index, bool transformed, struct pim_overlap_layer *layers,
                            struct pim_error *error)
{
    const struct pim_mapped_layer *mapped = &inputs->layers->layer[index];
    struct pim_overlap_layer *layer = &layers[index];
    uint32_t room = places(inputs);
    uint64_t rows = 0;
    pim_overlap_layer_initialize(layer);
    (void)snprintf(layer->name, sizeof layer->name, "%s", mapped->name);
    layer->workload = mapped->workload;
    layer->nest = mappings[index].nest;
    layer->transformed = transformed;
    layer->link = calloc(mapped->links + 1, sizeof *layer->link);
    if (!layer->link)
        return pim_fail(error, PIM_NO_MEMORY, "out of memory for the links of %s", layer->name);
    for (uint32_t j = 0; j < mapped->links; j++) {
        layer->link[j] = mapped->link[j];
        layer->link[j].transfer = mappings[mapped->link[j].producer].cost.transfer;
    }
    layer->links = mapped->links;
    for (uint32_t j = 0; j < mapped->links; j++)
        rows += mappings[mapped->link[j].producer].cost.sent;
    layer->latency =
        pim_step_with_receipts(inputs->machine, &mappings[index].cost, &mappings[index].strides, rows);
    if (index >= room) /* its channels are free when the layer before it there has ended */
        layer->link[layer->links++] = (struct pim_link){.producer = index - room, .role = PIM_LINK_WHOLE};
    return pim_overlap_layer_derive(layers, index, error);
}

enum pim_status pim_chain_layers(const struct pim_search_inputs *inputs,
                                 const struct pim_layer_mapping *mappings, bool transformed,
                                 struct pim_overlap_layer **layers, struct pim_error *error)
{
    uint32_t count = inputs->layers->count;
    *layers = calloc(count, sizeof **layers);
    if (!*layers)
        return pim_fail(error, PIM_NO_MEMORY, "out of memory for %" PRIu32 " layers", count);
    for (uint32_t i = 0; i < count; i++) {
        if (fill(inputs, mappings, i, transformed, *layers, error) != PIM_OK) {
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

static enum pim_status run_layer(const struct pim_overlap_layer *layers, uint32_t index, bool transformed,
                                 struct pim_schedule *schedules, struct pim_chain *chain,
                                 struct pim_error *error)
{
    struct pim_overlap overlap;
    struct pim_chain_layer *layer = &chain->layer[index];
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
                              const struct pim_layer_mapping *mappings, bool transformed,
                              struct pim_chain *chain, struct pim_error *error)
{
    uint32_t count = inputs->layers->count;
    struct pim_overlap_layer *layers = NULL;
    memset(chain, 0, sizeof *chain);
    chain->layer = calloc(count, sizeof *chain->layer);
    struct pim_schedule *schedules = calloc(count, sizeof *schedules);
    enum pim_status status =
        chain->layer && schedules
            ? pim_chain_layers(inputs, mappings, transformed, &layers, error)
            : pim_fail(error, PIM_NO_MEMORY, "out of memory for %" PRIu32 " schedules", count);
    for (uint32_t i = 0; layers && i < count && status == PIM_OK; i++)
        status = run_layer(layers, i, transformed, schedules, chain, error);
    for (uint32_t i = 0; schedules && i < count; i++)
        pim_schedule_terminate(&schedules[i]);
    free(schedules);
    pim_chain_layers_free(layers, count);
    if (status != PIM_OK)
        pim_chain_terminate(chain);
    return status;
}
