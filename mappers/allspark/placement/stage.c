/* Layout, binding and hops of one stage together. */
#include "mappers/allspark/placement/placement.h"
#include "sim/try.h"

#include <inttypes.h>
#include <stdlib.h>

static enum pim_status measure(const struct pim_dependency_graph *graph,
                               const struct pim_placement_slot *slots, uint32_t total, uint32_t height,
                               uint32_t width, uint32_t *slot_of, struct pim_placement_report *report,
                               struct pim_error *error)
{
    *report = (struct pim_placement_report){.branches = graph->branches};
    for (uint32_t b = 0; b < graph->branches; b++)
        slot_of[b] = b;
    report->ordered = pim_placement_hops(graph, slots, slot_of);
    report->random =
        graph->first[graph->branches] ? pim_placement_random_hops(slots, total, width, height) : 0;
    PIM_TRY(pim_placement_bind(graph, slots, total, width, height, slot_of, error));
    report->greedy = pim_placement_hops(graph, slots, slot_of);
    return PIM_OK;
}

enum pim_status pim_placement_of_stage(const struct pim_transformer *transformer, uint32_t stage,
                                       uint32_t height, uint32_t width,
                                       const struct pim_placement_layer *layers, uint32_t count,
                                       uint32_t *slot_of, struct pim_placement_report *report,
                                       struct pim_error *error)
{
    struct pim_dependency_graph graph;
    struct pim_placement_slot *slots;
    uint32_t total;
    PIM_TRY(pim_dependency_graph_make(transformer, stage, &graph, error));
    enum pim_status status = pim_placement_slots(height, width, layers, count, &slots, &total, error);
    if (status != PIM_OK) {
        pim_dependency_graph_terminate(&graph);
        return status;
    }
    uint32_t *place = slot_of ? slot_of : calloc((size_t)graph.branches + 1, sizeof *place);
    if (total != graph.branches)
        status = pim_fail(error, PIM_BAD_INPUT,
                          "stage %" PRIu32 ": %" PRIu32 " branches in the temporal layers, %" PRIu32
                          " in the network",
                          stage + 1, total, graph.branches);
    else if (!place)
        status =
            pim_fail(error, PIM_NO_MEMORY, "out of memory for the placement of stage %" PRIu32, stage + 1);
    else
        status = measure(&graph, slots, total, height, width, place, report, error);
    if (!slot_of)
        free(place);
    free(slots);
    pim_dependency_graph_terminate(&graph);
    return status;
}
