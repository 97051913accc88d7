#include "mappers/allspark/check/standing.h"

#include "sim/try.h"

#include <inttypes.h>

uint64_t share_of(uint64_t total, uint64_t parts, uint64_t index)
{
    return (total + parts - 1 - index) / parts;
}

uint64_t share_start(uint64_t total, uint64_t parts, uint64_t index)
{
    uint64_t start = 0;
    for (uint64_t i = 0; i < index; i++)
        start += share_of(total, parts, i);
    return start;
}

uint32_t spread_before(const struct pim_allspark_partition *part, uint64_t total, uint32_t column)
{
    uint64_t channels = share_start(part->heads, part->v, column) * part->head_channels;
    return (uint32_t)(total * channels / part->channels);
}

uint32_t unit_of(const struct pim_allspark_plan *plan, const struct pim_allspark_partition *part,
                 uint32_t group, uint32_t ring, uint32_t column)
{
    const struct pim_allspark_tile *tile = &part->layout.tiles[group];
    uint32_t x = tile->turned ? tile->x + ring : tile->x + column;
    uint32_t y = tile->turned ? tile->y + column : tile->y + ring;
    return y * plan->hardware.width + x;
}

static enum pim_status each_of_group(const struct pim_allspark_plan *plan, struct standing at,
                                     visit_standing *visit, void *context, struct pim_error *error)
{
    for (at.ring = 0; at.ring < at.part->slots * at.part->u; at.ring++)
        for (at.column = 0; at.column < at.part->v; at.column++) {
            at.unit = unit_of(plan, at.part, at.group, at.ring, at.column);
            at.row = at.ring % at.part->u;
            if (at.unit >= plan->hardware.width * plan->hardware.height)
                return pim_fail(error, PIM_BAD_INPUT,
                                "group %" PRIu32 " of partition %" PRIu32 " stands beyond the array",
                                at.group, at.index);
            PIM_TRY(visit(context, &at, error));
        }
    return PIM_OK;
}

enum pim_status each_standing(const struct pim_allspark_plan *plan, uint32_t stage, visit_standing *visit,
                              void *context, struct pim_error *error)
{
    for (uint32_t i = 0; i < plan->stage[stage].partitions; i++) {
        const struct pim_allspark_partition *part = &plan->stage[stage].partition[i];
        /* A copy that others reuse is on all nodes. */
        uint32_t last = part->reused ? part->branches : part->layer_branches;
        for (uint32_t group = 0; group < part->layout.count && group * part->slots < last; group++) {
            const struct standing at = {
                .group = group, .index = i, .part = part, .stage = &plan->stage[stage]};
            PIM_TRY(each_of_group(plan, at, visit, context, error));
        }
    }
    return PIM_OK;
}

uint32_t branch_of(const struct standing *standing, uint32_t layer)
{
    const struct pim_allspark_partition *part = standing->part;
    uint32_t in_layer = standing->group * part->slots + standing->ring / part->u;
    uint32_t branch = layer * part->layout.count * part->slots + in_layer;
    if (branch >= part->layer_branches)
        return UINT32_MAX;
    uint32_t slot = part->first_branch + branch; /* which branch is bound to it */
    for (branch = 0; branch < part->branches && standing->stage->slot_of[branch] != slot;)
        branch++;
    return branch < part->branches ? branch : UINT32_MAX;
}
