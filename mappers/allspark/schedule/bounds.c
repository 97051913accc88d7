/*
 * Lagrangian bounds. The memory of a node couples the stages; with a price on each byte of weights instead,
 * every stage is a covering problem with a set-up cost for each candidate, solved by a recurrence over
 * candidates and branches. With the price times the memory subtracted, the sum over the stages is a lower
 * bound of the cycles of any solution.
 */
#include "mappers/allspark/schedule/exact.h"

#include <stdlib.h>
#include <string.h>

/* --- views: the candidates of a stage that are worth having, in the order of the search --- */

/* Whether a layer of `a` can stand wherever one of `b` stands, and costs no more. */
static bool beats(const struct pim_schedule_candidate *a, const struct pim_schedule_candidate *b,
                  uint32_t branches)
{
    uint32_t reach_a = a->capacity < branches ? a->capacity : branches,
             reach_b = b->capacity < branches ? b->capacity : branches;
    return reach_a >= reach_b && a->layer_cycles <= b->layer_cycles && a->once_cycles <= b->once_cycles &&
           a->weights <= b->weights && a->layer_bytes <= b->layer_bytes && a->once_bytes <= b->once_bytes &&
           a->scratch_bytes <= b->scratch_bytes && (b->provides & ~a->provides) == 0 &&
           (a->needs & ~b->needs) == 0 &&
           ((a->provides ^ b->provides) & PIM_SCHEDULE_HEAD) == 0; /* only one may have the classifier */
}

/* Providers before those that need: whole copies, then those with the classifier, then the rest. */
static unsigned rank(const struct pim_schedule_candidate *candidate)
{
    bool head = (candidate->provides & PIM_SCHEDULE_HEAD) != 0;
    if (candidate->provides & PIM_SCHEDULE_WHOLE)
        return head ? 1 : 0;
    return (head ? 2u : 4u) + (candidate->needs ? 1u : 0u);
}

struct ranked {
    const struct pim_schedule_candidate *candidate;
    uint32_t index;
};

static int compare(const void *left, const void *right)
{
    const struct ranked *a = left, *b = right;
    unsigned rank_a = rank(a->candidate), rank_b = rank(b->candidate);
    if (rank_a != rank_b)
        return rank_a < rank_b ? -1 : 1;
    if (a->candidate->layer_cycles != b->candidate->layer_cycles)
        return a->candidate->layer_cycles < b->candidate->layer_cycles ? -1 : 1;
    return a->index < b->index ? -1 : 1;
}

static void note_least(struct pim_view *view, const struct pim_schedule_candidate *candidate)
{
    uint64_t workspace = candidate->layer_bytes + candidate->once_bytes + candidate->scratch_bytes;
    /* What reuses a copy has no weights, but the copy has. */
    if (candidate->needs == 0 && candidate->weights < view->least_weights)
        view->least_weights = candidate->weights;
    if (workspace < view->least_workspace)
        view->least_workspace = workspace;
}

bool pim_view_make(struct pim_view *view, const struct pim_schedule_stage *stage)
{
    *view = (struct pim_view){.stage = stage, .least_weights = UINT64_MAX, .least_workspace = UINT64_MAX};
    struct ranked *ranked = malloc((stage->count + (size_t)1) * sizeof *ranked);
    view->order = malloc((stage->count + (size_t)1) * sizeof *view->order);
    if (!ranked || !view->order) {
        free(ranked);
        return false;
    }
    for (uint32_t i = 0; i < stage->count; i++) {
        const struct pim_schedule_candidate *candidate = &stage->candidates[i];
        bool beaten = false;
        for (uint32_t j = 0; j < stage->count && !beaten; j++) {
            const struct pim_schedule_candidate *other = &stage->candidates[j];
            beaten = j != i && beats(other, candidate, stage->branches) &&
                     (j < i || !beats(candidate, other, stage->branches));
        }
        if (!beaten)
            ranked[view->count++] = (struct ranked){candidate, i};
    }
    qsort(ranked, view->count, sizeof *ranked, compare);
    for (uint32_t i = 0; i < view->count; i++) {
        view->order[i] = ranked[i].index;
        note_least(view, ranked[i].candidate);
    }
    free(ranked);
    return true;
}

void pim_view_terminate(struct pim_view *view)
{
    free(view->order);
    *view = (struct pim_view){0};
}

bool pim_view_permits(const struct pim_view *view, uint32_t position, uint32_t flags)
{
    const struct pim_schedule_candidate *candidate = pim_view_candidate(view, position);
    bool headless = (view->stage->needs & PIM_SCHEDULE_HEAD & ~flags) != 0;
    bool before = (candidate->provides & (PIM_SCHEDULE_WHOLE | PIM_SCHEDULE_HEAD)) != 0;
    return (candidate->needs & ~flags) == 0 && (candidate->provides & flags & PIM_SCHEDULE_HEAD) == 0 &&
           (before || !headless);
}

/* --- bounds --- */

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
