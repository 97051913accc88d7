/* The array groups of a trace: whether the arrays of cores hold them. */
#include "models/core/cores.h"
#include "sim/integer.h"
#include "sim/try.h"

#include <inttypes.h>

/* Arrays of a core. 2^24 groups of 2^32 arrays at most; `beside` those that stay, sets take turns. */
static uint64_t arrays_taken(const struct pim_crossbar_configuration *crossbar,
                             const struct pim_trace_array_group *groups, uint32_t count)
{
    uint64_t taken = 0, beside = 0, of_set = 0;
    for (uint32_t i = 0; i < count; i++) {
        uint64_t occupied = pim_crossbar_occupied(crossbar, groups[i].arrays);
        of_set = i > 0 && groups[i].set == groups[i - 1].set ? of_set + occupied : occupied;
        beside = groups[i].set == 0 ? of_set : beside;
        taken = pim_larger(taken, of_set + (groups[i].set == 0 ? 0 : beside));
    }
    return taken;
}

/* Every weight of a group has its cells. A trace that was mapped for larger arrays, or for fewer slices of a
 * weight, has groups that these do not hold. */
static enum pim_status check_group(const struct pim_crossbar_cost *cost, uint32_t core, uint32_t number,
                                   const struct pim_trace_array_group *group, struct pim_error *error)
{
    const uint64_t columns = (uint64_t)group->folds * group->columns,
                   room = (uint64_t)group->arrays * cost->logical_columns;
    if (group->rows > cost->logical_rows)
        return pim_fail(error, PIM_BAD_INPUT,
                        "core %" PRIu32 ", array group %" PRIu32 " has %" PRIu32
                        " rows of weights, an array %" PRIu32 " (crossbar.rows): map again for such arrays",
                        core, number, group->rows, cost->logical_rows);
    if (columns > room)
        return pim_fail(error, PIM_BAD_INPUT,
                        "core %" PRIu32 ", array group %" PRIu32 " has %" PRIu64
                        " columns of weights, its arrays (%" PRIu32 ") hold %" PRIu64
                        " (crossbar.columns, cell_bits, weight_bits, weight_slicing, sign): map again for "
                        "such arrays",
                        core, number, columns, group->arrays, room);
    return PIM_OK;
}

static enum pim_status check_core(const struct pim_crossbar_configuration *crossbar,
                                  const struct pim_crossbar_cost *cost, const struct pim_trace *trace,
                                  uint32_t core, struct pim_error *error)
{
    uint32_t count;
    const struct pim_trace_array_group *groups = pim_trace_array_groups(trace, core, &count);
    const uint64_t taken = arrays_taken(crossbar, groups, count);
    if (taken > cost->logical_arrays)
        return pim_fail(error, PIM_BAD_INPUT,
                        "core %" PRIu32 " holds %" PRIu64 " arrays, has %" PRIu32 ": %" PRIu64
                        " are missing (crossbar.count_x, crossbar.count_y)",
                        core, taken, cost->logical_arrays, taken - cost->logical_arrays);
    for (uint32_t i = 0; i < count; i++)
        PIM_TRY(check_group(cost, core, i, &groups[i], error));
    return PIM_OK;
}

enum pim_status pim_cores_check(const struct pim_crossbar_configuration *crossbar,
                                const struct pim_trace *trace, struct pim_error *error)
{
    const struct pim_trace_description *description = pim_trace_description(trace);
    const uint32_t cores = description->width * description->height;
    struct pim_crossbar_cost cost;
    pim_crossbar_cost_of(crossbar, &cost);
    for (uint32_t core = 0; core < cores; core++)
        PIM_TRY(check_core(crossbar, &cost, trace, core, error));
    return PIM_OK;
}
