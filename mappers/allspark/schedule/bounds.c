/*
 * Lagrangian bounds. The memory of a node couples the stages; with a price on each byte of weights instead,
 * every stage is a covering problem with a set-up cost for each candidate, solved by a recurrence over
 * candidates and branches. With the price times the memory subtracted, the sum over the stages is a lower
 * bound of the cycles of any solution.
 */
#include "mappers/allspark/schedule/exact.h"

#include <stdlib.h>
#include <string.h>

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* Fills the row of `position` from the row behind it. Both have FLAGS x (branches + 1) entries. */
static void fill_row(const struct pim_view *view, int64_t price, uint32_t position, const int64_t *behind,
                     int64_t *row, int64_t *layered)
{
    const struct pim_schedule_candidate *candidate = pim_view_candidate(view, position);
    uint32_t branches = view->stage->branches, capacity = candidate->capacity;
    int64_t once = PIM_PRICE_SCALE * (int64_t)candidate->once_cycles + price * (int64_t)candidate->weights;
    int64_t layer = PIM_PRICE_SCALE * (int64_t)candidate->layer_cycles;
    memcpy(row, behind, PIM_SCHEDULE_FLAGS * ((size_t)branches + 1) * sizeof *row);
    for (uint32_t flags = 0; flags < PIM_SCHEDULE_FLAGS; flags++) {
        const int64_t *after = behind + (size_t)(flags | candidate->provides) * (branches + 1);
        int64_t *here = row + (size_t)flags * (branches + 1);
        if (!pim_view_permits(view, position, flags))
            continue;
        if (candidate->provides & PIM_SCHEDULE_HEAD) /* for the classifier alone */
            here[0] = least(here[0], least(once + layer + after[0], PIM_PRICE_INFINITE));
        for (uint32_t r = 1; r <= branches; r++) { /* at least one layer of the candidate */
            uint32_t left = r > capacity ? r - capacity : 0;
            int64_t more = left > 0 ? layered[left] : PIM_PRICE_INFINITE;
            layered[r] = least(layer + least(after[left], more), PIM_PRICE_INFINITE);
            here[r] = least(here[r], least(once + layered[r], PIM_PRICE_INFINITE));
        }
    }
}

static void fill_end(const struct pim_view *view, int64_t *row)
{
    uint32_t branches = view->stage->branches;
    for (uint32_t flags = 0; flags < PIM_SCHEDULE_FLAGS; flags++)
        for (uint32_t r = 0; r <= branches; r++)
            row[(size_t)flags * (branches + 1) + r] =
                r == 0 && (view->stage->needs & ~flags) == 0 ? 0 : PIM_PRICE_INFINITE;
}

int64_t pim_bounds_least(const struct pim_view *view, int64_t price)
{
    uint32_t branches = view->stage->branches;
    size_t row = PIM_SCHEDULE_FLAGS * ((size_t)branches + 1);
    int64_t *space = calloc(2 * row + branches + 1, sizeof *space);
    if (!space)
        return INT64_MIN;
    int64_t *behind = space, *here = space + row, *layered = space + 2 * row;
    fill_end(view, behind);
    for (uint32_t position = view->count; position > 0; position--) {
        fill_row(view, price, position - 1, behind, here, layered);
        int64_t *other = behind;
        behind = here;
        here = other;
    }
    int64_t result = behind[branches];
    free(space);
    return result;
}

bool pim_bounds_make(struct pim_bounds *bounds, const struct pim_view *view, int64_t price)
{
    uint32_t branches = view->stage->branches;
    size_t row = PIM_SCHEDULE_FLAGS * ((size_t)branches + 1);
    *bounds = (struct pim_bounds){.price = price, .branches = branches};
    bounds->table = malloc(((size_t)view->count + 1) * row * sizeof *bounds->table);
    int64_t *layered = calloc((size_t)branches + 1, sizeof *layered);
    if (!bounds->table || !layered) {
        free(layered);
        return false;
    }
    fill_end(view, bounds->table + view->count * row);
    for (uint32_t position = view->count; position > 0; position--)
        fill_row(view, price, position - 1, bounds->table + position * row,
                 bounds->table + (position - 1) * row, layered);
    free(layered);
    return true;
}

void pim_bounds_terminate(struct pim_bounds *bounds)
{
    free(bounds->table);
    *bounds = (struct pim_bounds){0};
}
