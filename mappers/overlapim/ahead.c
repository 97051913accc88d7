#include "mappers/overlapim/ahead.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum pim_status pim_ahead_initialize(struct pim_ahead *ahead, const struct pim_search_inputs *inputs,
                                     struct pim_error *error)
{
    uint32_t count = inputs->layers->count;
    *ahead = (struct pim_ahead){.inputs = inputs,
                                .layers = calloc(count, sizeof *ahead->layers),
                                .schedules = calloc(count, sizeof *ahead->schedules),
                                .intakes = calloc(count, sizeof *ahead->intakes)};
    if (!ahead->layers || !ahead->schedules || !ahead->intakes)
        return pim_fail(error, PIM_NO_MEMORY, "out of memory for %" PRIu32 " layers", count);
    for (uint32_t i = 0; i < count; i++)
        ahead->intakes[i].each_row = true; /* how many instructions consumers to come need is not known */
    return PIM_OK;
}

void pim_ahead_terminate(struct pim_ahead *ahead)
{
    if (!ahead->inputs)
        return;
    uint32_t count = ahead->inputs->layers->count;
    for (uint32_t i = 0; ahead->schedules && i < count; i++)
        pim_schedule_terminate(&ahead->schedules[i]);
    free(ahead->schedules);
    free(ahead->intakes);
    pim_chain_layers_free(ahead->layers, count);
}

static enum pim_status schedule(const struct pim_overlap_layer *layers, uint32_t index,
                                struct pim_schedule *schedules, struct pim_error *error)
{
    struct pim_overlap overlap;
    enum pim_status status = pim_overlap_initialize(&overlap, layers, index, schedules, error);
    if (status == PIM_OK)
        status = pim_overlap_schedule(&overlap, false, &schedules[index], error);
    pim_overlap_terminate(&overlap);
    return status;
}

void pim_ahead_begin(struct pim_ahead *ahead, uint32_t index)
{
    ahead->intakes[index].latest = pim_intake_latest(&ahead->inputs->layers->layer[index], ahead->schedules);
}

enum pim_status pim_ahead_fix(struct pim_ahead *ahead, const struct pim_layer_mapping *mappings,
                              uint32_t index, struct pim_error *error)
{
    if (pim_chain_layer(ahead->inputs, mappings, index, &mappings[index], ahead->intakes, false,
                        &ahead->layers[index], error) != PIM_OK ||
        pim_overlap_layer_derive(ahead->layers, index, error) != PIM_OK)
        return error->status;
    return schedule(ahead->layers, index, ahead->schedules, error);
}

/* A row of all channels after the other, in the time that `layer` itself needs. */
static enum pim_status stand_in(struct pim_overlap_layer *layers, uint32_t index, uint64_t transfer,
                                struct pim_error *error)
{
    const struct pim_overlap_layer *before = &layers[index - 1];
    struct pim_overlap_layer *layer = &layers[index];
    const uint32_t *size = before->workload.size;
    pim_overlap_layer_initialize(layer);
    const unsigned rows[] = {PIM_N, PIM_P}, inside[] = {PIM_Q, PIM_C};
    layer->workload.size[PIM_C] = size[PIM_K];
    layer->workload.size[PIM_N] = size[PIM_N];
    layer->workload.size[PIM_P] = size[PIM_P];
    layer->workload.size[PIM_Q] = size[PIM_Q];
    for (unsigned i = 0; i < 4; i++) {
        unsigned d = i < 2 ? rows[i] : inside[i - 2];
        if (layer->workload.size[d] > 1)
            layer->nest.loop[layer->nest.loops++] =
                (struct pim_nest_loop){.dimension = (uint8_t)d, .count = layer->workload.size[d]};
        layer->nest.cut = i < 2 ? layer->nest.loops : layer->nest.cut;
    }
    uint64_t steps = (uint64_t)size[PIM_N] * size[PIM_P];
    layer->latency = (pim_overlap_sequential(before) + steps - 1) / steps;
    layer->link = calloc(1, sizeof *layer->link);
    if (!layer->link)
        return pim_fail(error, PIM_NO_MEMORY, "out of memory for a link");
    layer->link[0] = (struct pim_link){.producer = index - 1, .transfer = transfer};
    layer->links = 1;
    return pim_overlap_layer_derive(layers, index, error);
}

static enum pim_status score(const struct pim_ahead *ahead, const struct pim_layer_mapping *mappings,
                             uint32_t index, const struct pim_layer_mapping *candidate,
                             struct pim_overlap_layer *layers, struct pim_schedule *schedules,
                             uint32_t producers, uint64_t *score, struct pim_error *error)
{
    struct pim_overlap_layer *layer = &layers[producers];
    if (pim_chain_layer(ahead->inputs, mappings, index, candidate, ahead->intakes, false, layer, error) !=
        PIM_OK)
        return error->status;
    for (uint32_t j = 0; j < layer->links; j++) {
        layers[j] = ahead->layers[layer->link[j].producer];
        schedules[j] = ahead->schedules[layer->link[j].producer];
        layer->link[j].producer = j;
    }
    if (pim_overlap_layer_derive(layers, producers, error) != PIM_OK ||
        schedule(layers, producers, schedules, error) != PIM_OK)
        return error->status;
    *score = schedules[producers].end;
    if (pim_chain_reader(ahead->inputs->layers, index) == PIM_NONE)
        return PIM_OK;
    const uint64_t message = pim_chain_message(ahead->inputs, index, &candidate->cost);
    if (stand_in(layers, producers + 1, message, error) != PIM_OK ||
        schedule(layers, producers + 1, schedules, error) != PIM_OK)
        return error->status;
    *score = schedules[producers + 1].end;
    return PIM_OK;
}

enum pim_status pim_ahead_score(const struct pim_ahead *ahead, const struct pim_layer_mapping *mappings,
                                uint32_t index, const struct pim_layer_mapping *candidate, uint64_t *result,
                                struct pim_error *error)
{
    /* the producers, the layer that had its channels before, itself, and the stand-in */
    uint32_t producers = pim_chain_links(ahead->inputs, index);
    struct pim_overlap_layer *layers = calloc(producers + 2, sizeof *layers);
    struct pim_schedule *schedules = calloc(producers + 2, sizeof *schedules);
    enum pim_status status =
        layers && schedules
            ? score(ahead, mappings, index, candidate, layers, schedules, producers, result, error)
            : pim_fail(error, PIM_NO_MEMORY, "out of memory for a candidate");
    for (uint32_t i = producers; i < producers + 2; i++) { /* the producers' own are borrowed */
        if (layers)
            pim_overlap_layer_terminate(&layers[i]);
        if (schedules)
            pim_schedule_terminate(&schedules[i]);
    }
    free(layers);
    free(schedules);
    return status;
}
