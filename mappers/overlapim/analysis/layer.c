/* A layer of a chain: checked, with strides. */
#include "mappers/overlapim/analysis/overlap.h"

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
