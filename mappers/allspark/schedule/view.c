/* The candidates of a stage that are worth having, in the order of the search. */
#include "mappers/allspark/schedule/exact.h"

#include <stdlib.h>

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
