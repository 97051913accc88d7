/* Layout, binding and hops of one stage together; and those of all stages of a plan. */
#include "mappers/allspark/placement/placement.h"
#include "mappers/allspark/planning.h"
#include "mappers/allspark/shapes.h"
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

/* --- plans --- */

/* The temporal layers of a stage, one after another; to be freed, NULL when memory is out. */
static struct pim_placement_layer *layers_of(const struct pim_allspark_stage *stage)
{
    struct pim_placement_layer *layers = calloc((size_t)stage->layers + 1, sizeof *layers);
    uint32_t count = 0;
    for (uint32_t i = 0; layers && i < stage->partitions; i++) {
        const struct pim_allspark_partition *part = &stage->partition[i];
        for (uint32_t layer = 0; layer < part->layers; layer++)
            layers[count++] = (struct pim_placement_layer){.u = part->u,
                                                           .v = part->v,
                                                           .stacked = part->slots,
                                                           .branches = pim_branches_of_layer(part, layer)};
    }
    return layers;
}

enum pim_status pim_allspark_placement(const struct pim_allspark_plan *plan, uint32_t stage,
                                       uint32_t *slot_of, struct pim_placement_report *report,
                                       struct pim_error *error)
{
    uint32_t branches = plan->stage[stage].partition[0].branches;
    /* In order: the rows of the map, and the global attention of Twins, where all give to all. */
    if (branches == 1 || plan->stage[stage].partition[0].work == PIM_ALLSPARK_PROJECTIONS ||
        pim_stage_is_global(plan, stage)) {
        *report = (struct pim_placement_report){.branches = branches};
        for (uint32_t b = 0; slot_of && b < branches; b++)
            slot_of[b] = b;
        return PIM_OK;
    }
    struct pim_placement_layer *layers = layers_of(&plan->stage[stage]);
    PIM_NEED_MEMORY(layers, error, "out of memory for the placement");
    enum pim_status status = pim_placement_of_stage(plan->network->transformer, plan->stage[stage].of,
                                                    plan->hardware.height, plan->hardware.width, layers,
                                                    plan->stage[stage].layers, slot_of, report, error);
    free(layers);
    return status;
}

enum pim_status pim_plan_place(struct pim_allspark_plan *plan, struct pim_error *error)
{
    for (uint32_t i = 0; i < plan->stages; i++) {
        struct pim_placement_report report;
        struct pim_allspark_stage *stage = &plan->stage[i];
        stage->slot_of = calloc((size_t)stage->partition[0].branches + 1, sizeof *stage->slot_of);
        PIM_NEED_MEMORY(stage->slot_of, error, "out of memory for the placement");
        PIM_TRY(pim_allspark_placement(plan, i, stage->slot_of, &report, error));
    }
    return PIM_OK;
}
