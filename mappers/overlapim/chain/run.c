#include "mappers/overlapim/chain/run.h"

#include "mappers/overlapim/chain/times.h"
#include "sim/integer.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

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

/* When a layer has sent all, its messages in the mean. */
static uint64_t left_at(const struct pim_search_inputs *inputs, const struct pim_layer_mapping *mappings,
                        const struct pim_chain *chain, uint32_t index, uint32_t but, bool ends)
{
    struct pim_leaving leaving = pim_chain_leave(chain->layer, index, but, ends);
    for (uint32_t i = index + 1; i < inputs->layers->count; i++)
        pim_chain_send_last(inputs, chain->layer, i,
                            pim_chain_sending(inputs, mappings, chain->intake, index, i), &leaving);
    return leaving.left;
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
        const struct pim_handover handover =
            pim_chain_hand_over(inputs, mappings, index, &mappings[index], j, whole);
        const bool by_row = j == intakes[index].latest && !whole;
        transfer = pim_larger(transfer, by_row ? handover.ready : handover.message);
    }
    return transfer;
}

static enum pim_status run_layer(const struct pim_overlap_layer *layers, uint32_t index, bool transformed,
                                 bool counts_moved, uint64_t transfer, struct pim_schedule *schedules,
                                 struct pim_chain *chain, struct pim_error *error)
{
    struct pim_overlap overlap;
    struct pim_overlap_chain_layer *layer = &chain->layer[index];
    enum pim_status status = pim_overlap_initialize(&overlap, layers, index, schedules, error);
    if (status == PIM_OK)
        status = pim_overlap_schedule(&overlap, transformed, &schedules[index], error);
    if (status == PIM_OK && counts_moved)
        status = count_moved(&overlap, &layer->moved, error);
    pim_overlap_terminate(&overlap);
    layer->end = schedules[index].end;
    uint64_t alone = pim_overlap_sequential(&layers[index]);
    layer->start = layer->end > alone ? layer->end - alone : 0; /* at the latest */
    chain->sequential += transfer + alone;
    return status;
}

/* All of it, with `limit` UINT64_MAX. */
static enum pim_status run(const struct pim_search_inputs *inputs, const struct pim_layer_mapping *mappings,
                           bool transformed, bool ends, uint64_t limit, struct pim_chain *chain,
                           struct pim_error *error)
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
            status = run_layer(layers, i, transformed, transformed && limit == UINT64_MAX,
                               transfer_of(inputs, mappings, chain->intake, i), schedules, chain, error);
    }
    if (status == PIM_OK)
        status = pim_messages_make(inputs, mappings, transformed, ends, layers, schedules, &chain->messages,
                                   error);
    if (status == PIM_OK)
        status = pim_times_run(inputs, mappings, transformed, ends, limit, chain, error);
    for (uint32_t i = 0; schedules && i < count; i++)
        pim_schedule_terminate(&schedules[i]);
    free(schedules);
    pim_chain_layers_free(layers, count);
    if (status != PIM_OK)
        pim_chain_terminate(chain);
    return status;
}

enum pim_status pim_chain_run(const struct pim_search_inputs *inputs,
                              const struct pim_layer_mapping *mappings, bool transformed, bool ends,
                              struct pim_chain *chain, struct pim_error *error)
{
    return run(inputs, mappings, transformed, ends, UINT64_MAX, chain, error);
}

enum pim_status pim_chain_run_before(const struct pim_search_inputs *inputs,
                                     const struct pim_layer_mapping *mappings, bool transformed,
                                     uint64_t limit, bool *before, struct pim_chain *chain,
                                     struct pim_error *error)
{
    enum pim_status status = run(inputs, mappings, transformed, false, limit, chain, error);
    *before = status == PIM_OK && chain->end < limit;
    return status;
}
