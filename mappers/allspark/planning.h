/* The steps by which a plan is made, and where its branches are. */
#ifndef PIMSIM_MAPPERS_ALLSPARK_PLANNING_H
#define PIMSIM_MAPPERS_ALLSPARK_PLANNING_H

#include "mappers/allspark/allspark.h"
#include "mappers/allspark/shapes.h"

/* Sets partitions, rings and temporal layers of every stage, and the memory of the plan (choose.c).
   PIM_BAD_INPUT: what does not fit. */
enum pim_status pim_plan_choose(struct pim_allspark_plan *plan, const struct pim_allspark_options *options,
                                struct pim_error *error);

static inline bool pim_stage_padded(const struct pim_allspark_plan *plan, uint32_t index)
{
    const struct pim_allspark_stage *stage = &plan->stage[index], *partner = &plan->stage[stage->partner];
    const struct pim_allspark_partition *a = &stage->partition[0], *b = &partner->partition[0];
    return (uint64_t)a->branches * a->tokens != (uint64_t)b->branches * b->tokens;
}

/* The slot that a branch is bound to; the partition that has a slot; and the partition of a branch, whose
   *layer is counted from its first. */
static inline uint32_t pim_stage_slot(const struct pim_allspark_stage *stage, uint32_t branch)
{
    return stage->slot_of ? stage->slot_of[branch] : branch;
}

static inline uint32_t pim_stage_partition_of_slot(const struct pim_allspark_stage *stage, uint32_t slot)
{
    uint32_t index = 0;
    while (slot >= stage->partition[index].first_branch + stage->partition[index].layer_branches)
        index++;
    return index;
}

static inline uint32_t pim_stage_partition_of(const struct pim_allspark_stage *stage, uint32_t branch,
                                              uint32_t *layer)
{
    uint32_t slot = pim_stage_slot(stage, branch), index = pim_stage_partition_of_slot(stage, slot);
    const struct pim_allspark_partition *part = &stage->partition[index];
    *layer = (slot - part->first_branch) / pim_layer_capacity(part);
    return index;
}

/* Unit of position `ring`, `column` of a tile of a layout. */
uint32_t pim_tile_unit(const struct pim_allspark_plan *plan, const struct pim_allspark_tile *tile,
                       uint32_t ring, uint32_t column);

/* Cuts the global attention of Twins into branches (global.c), as many as the options say or, where
   partitions are chosen, as make each stage alone quickest. PIM_BAD_INPUT: so many are not possible.
   PIM_NO_MEMORY. */
enum pim_status pim_plan_divide(struct pim_allspark_plan *plan, const struct pim_allspark_options *options,
                                struct pim_error *error);

/* Whether a stage of the plan has the global blocks of Twins. */
bool pim_stage_is_global(const struct pim_allspark_plan *plan, uint32_t index);

/* Splits the last stage of the plan, a stage of the network whose blocks attend in stripes, and the copy of
   it before into the two stages of stripes.c. */
void pim_stripes_split(struct pim_allspark_plan *plan);

/* How often a token is in stripes of one direction, at most: some are in two that reach beyond the map. */
uint32_t pim_stripes_copies(const struct pim_allspark_plan *plan, uint32_t index);

/* Binds the branches of every stage (placement/stage.c): fills slot_of. The layouts are there.
   PIM_NO_MEMORY. */
enum pim_status pim_plan_place(struct pim_allspark_plan *plan, struct pim_error *error);

/* Where branches exchange over top-left nodes: counts the staging of these in the workspace (interaction.c).
   Branches have their places. PIM_BAD_INPUT: it has no room. PIM_NO_MEMORY. */
enum pim_status pim_plan_exchange(struct pim_allspark_plan *plan, struct pim_error *error);

/* Numbers the layers of a stage whose partitions have u, v, ring, layout.count, slots and layers: gives each
   partition its first layer and its branches. */
void pim_stage_number(struct pim_allspark_stage *stage);

#endif
