/* A layer of a chain: checked, with strides. */
#include "mappers/overlapim/analysis/overlap.h"
#include "sim/integer.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

void pim_overlap_layer_initialize(struct pim_overlap_layer *layer)
{
    memset(layer, 0, sizeof *layer);
    pim_workload_initialize(&layer->workload);
    layer->latency = 1;
}

void pim_overlap_layer_terminate(struct pim_overlap_layer *layer)
{
    free(layer->link);
    layer->link = NULL;
    layer->links = 0;
}

uint64_t pim_overlap_last_share(uint64_t events, uint64_t row, uint64_t rows)
{
    return events * (row + 1) / rows - events * row / rows;
}

uint64_t pim_overlap_first_share(uint64_t events, uint64_t row, uint64_t rows)
{
    return (events * (row + 1) + rows - 1) / rows - (events * row + rows - 1) / rows;
}

/* What loads and stores take of a step in the mean. */
static uint64_t share_of_step(const struct pim_overlap_layer *layer, uint64_t steps)
{
    return pim_scale_up(layer->loads.ticks, layer->loads.count, steps) +
           pim_scale_up(layer->stores.ticks, layer->stores.count, steps);
}

static uint64_t events_of(const struct pim_overlap_layer *layer, const struct pim_overlap_events *events)
{
    return layer->transformed ? events->existing : events->count;
}

bool pim_overlap_uneven(const struct pim_overlap_layer *layer)
{
    return layer->loads.ticks > 0 || layer->stores.ticks > 0;
}

uint64_t pim_overlap_row_latency(const struct pim_overlap_layer *layer, uint64_t row, uint64_t rows)
{
    if (!pim_overlap_uneven(layer))
        return layer->latency;
    return layer->latency - share_of_step(layer, layer->strides.steps) +
           layer->loads.ticks * pim_overlap_first_share(events_of(layer, &layer->loads), row, rows) +
           layer->stores.ticks * pim_overlap_last_share(events_of(layer, &layer->stores), row, rows);
}

enum pim_status pim_overlap_layer_derive(struct pim_overlap_layer *layers, uint32_t index,
                                         struct pim_error *error)
{
    struct pim_overlap_layer *layer = &layers[index];
    if (pim_workload_check(&layer->workload, error) != PIM_OK ||
        pim_nest_derive(&layer->workload, &layer->nest, &layer->strides, error) != PIM_OK)
        return pim_fail_in(error, "%s", layer->name);
    uint64_t limit = PIM_OVERLAP_TIME >> 10;
    if (layer->latency == 0 || layer->latency > limit / layer->strides.steps)
        return pim_fail(error, PIM_BAD_INPUT,
                        "%s: a step of %" PRIu64 " ticks: allowed are 1 to %" PRIu64
                        " for a layer of %" PRIu64 " steps",
                        layer->name, layer->latency, limit / layer->strides.steps, layer->strides.steps);
    if (layer->loads.count > layer->strides.steps || layer->stores.count > layer->strides.steps ||
        layer->loads.ticks > limit || layer->stores.ticks > limit ||
        layer->loads.existing > layer->loads.count || layer->stores.existing > layer->stores.count ||
        share_of_step(layer, layer->strides.steps) > layer->latency)
        return pim_fail(error, PIM_BAD_INPUT,
                        "%s: loads and stores take more than the steps, or are more than those", layer->name);
    for (uint32_t j = 0; j < layer->links; j++) {
        const struct pim_link *link = &layer->link[j];
        if (link->producer >= index)
            return pim_fail(error, PIM_BAD_INPUT, "%s: reads from a layer that is not before it",
                            layer->name);
        if (link->transfer > limit)
            return pim_fail(error, PIM_BAD_INPUT, "%s: a transfer of %" PRIu64 " ticks: at most %" PRIu64,
                            layer->name, link->transfer, limit);
        if (link->head > limit)
            return pim_fail(error, PIM_BAD_INPUT, "%s: a head of %" PRIu64 " ticks: at most %" PRIu64,
                            layer->name, link->head, limit);
        if (pim_link_check(link, &layers[link->producer].workload, &layer->workload, error) != PIM_OK)
            return pim_fail_in(error, "%s behind %s", layer->name, layers[link->producer].name);
    }
    return PIM_OK;
}
