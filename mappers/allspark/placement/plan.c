/* The placement of a plan: binds the branches of every stage to the places of its temporal layers. */
#include "mappers/allspark/mapping.h"
#include "mappers/allspark/placement/placement.h"
#include "sim/try.h"

#include <stdlib.h>

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
