/*
 * Where the nodes of a stage stand and what they hold, from the page (docs/mappers/allspark.md) and the plan
 * alone: the emitter has rules of its own for the same, and the check holds one against the other.
 */
#ifndef PIMSIM_MAPPERS_ALLSPARK_CHECK_STANDING_H
#define PIMSIM_MAPPERS_ALLSPARK_CHECK_STANDING_H

#include "mappers/allspark/allspark.h"

/* The share of part `index` of `total` things over `parts`, larger shares first, and where it begins. */
uint64_t share_of(uint64_t total, uint64_t parts, uint64_t index);
uint64_t share_start(uint64_t total, uint64_t parts, uint64_t index);

/* First channel of a column, of `total` that are spread like the channels of the stage; `column` may be v. */
uint32_t spread_before(const struct pim_allspark_partition *part, uint64_t total, uint32_t column);

/* A node of a partition of a stage: where it stands in its group. */
struct standing {
    uint32_t unit, group, ring, row, column;
    uint32_t index; /* of the partition */
    const struct pim_allspark_partition *part;
    const struct pim_allspark_stage *stage;
};

/* The unit of a place of a group. */
uint32_t unit_of(const struct pim_allspark_plan *plan, const struct pim_allspark_partition *part,
                 uint32_t group, uint32_t ring, uint32_t column);

/* Calls `visit` for all nodes of all groups that a partition uses, for all partitions of a stage, until one
   call fails. */
typedef enum pim_status visit_standing(void *context, const struct standing *standing,
                                       struct pim_error *error);
enum pim_status each_standing(const struct pim_allspark_plan *plan, uint32_t stage, visit_standing *visit,
                              void *context, struct pim_error *error);

/* The branch of the network that a node works in a layer, counted from the partition's first; UINT32_MAX:
   none. */
uint32_t branch_of(const struct standing *standing, uint32_t layer);

#endif
