/*
 * The least memory of a node with which a problem has a solution: the labels of all stages with cycles left
 * out, and for each workspace the lightest weights that keep within it.
 */
#include "mappers/allspark/schedule/exact.h"

#include <stdlib.h>

struct least {
    struct pim_schedule_problem timeless; /* the problem with cycles of 0 */
    struct pim_view view[PIM_SCHEDULE_STAGES];
    struct pim_bounds bounds[PIM_SCHEDULE_STAGES];
    struct pim_labels labels[PIM_SCHEDULE_STAGES];
    uint32_t best[PIM_SCHEDULE_STAGES];
    uint64_t bytes;
};

static bool copy(struct least *least, const struct pim_schedule_problem *problem)
{
    least->timeless = (struct pim_schedule_problem){.stages = problem->stages};
    for (uint32_t s = 0; s < problem->stages; s++) {
        const struct pim_schedule_stage *from = &problem->stage[s];
        struct pim_schedule_stage *to = &least->timeless.stage[s];
        to->branches = from->branches;
        to->needs = from->needs;
        for (uint32_t i = 0; i < from->count; i++) {
            struct pim_schedule_candidate candidate = from->candidates[i];
            candidate.layer_cycles = candidate.once_cycles = 0;
            if (!pim_schedule_append(to, &candidate))
                return false;
        }
        if (!pim_view_make(&least->view[s], to) || !pim_bounds_make(&least->bounds[s], &least->view[s], 1))
            return false;
    }
    return true;
}

/* --- an upper bound: one candidate in each stage --- */

static bool alone(const struct pim_schedule_stage *stage, uint32_t index, struct pim_schedule_cost *cost)
{
    const struct pim_schedule_candidate *candidate = &stage->candidates[index];
    uint64_t layers = (stage->branches + (uint64_t)candidate->capacity - 1) / candidate->capacity;
    cost->weights = candidate->weights;
    cost->workspace = candidate->once_bytes + layers * candidate->layer_bytes + candidate->scratch_bytes;
    return ((stage->needs | candidate->needs) & ~candidate->provides) == 0;
}

/* Weights and workspace of the lightest single candidates with a workspace up to `limit`; UINT64_MAX: a stage
   has none. */
static uint64_t bytes_alone(const struct least *least, uint64_t limit)
{
    uint64_t weights = 0, workspace = 0;
    for (uint32_t s = 0; s < least->timeless.stages; s++) {
        const struct pim_schedule_stage *stage = &least->timeless.stage[s];
        struct pim_schedule_cost cost, best = {.weights = UINT64_MAX};
        for (uint32_t i = 0; i < least->view[s].count; i++)
            if (alone(stage, least->view[s].order[i], &cost) && cost.workspace <= limit &&
                (cost.weights < best.weights ||
                 (cost.weights == best.weights && cost.workspace < best.workspace)))
                best = cost;
        if (best.weights == UINT64_MAX)
            return UINT64_MAX;
        weights += best.weights;
        workspace = best.workspace > workspace ? best.workspace : workspace;
    }
    return weights + workspace;
}

static uint64_t upper_bound(const struct least *least)
{
    uint64_t bytes = UINT64_MAX;
    for (uint32_t s = 0; s < least->timeless.stages; s++)
        for (uint32_t i = 0; i < least->view[s].count; i++) {
            struct pim_schedule_cost cost;
            if (!alone(&least->timeless.stage[s], least->view[s].order[i], &cost))
                continue;
            uint64_t here = bytes_alone(least, cost.workspace);
            bytes = here < bytes ? here : bytes;
        }
    return bytes;
}

/* --- all plans below it --- */

/* The least weights of a stage: cycles are 0, and the price of a byte is 1. */
static int64_t least_weights(const struct least *least, uint32_t s)
{
    return pim_bounds_rest(&least->bounds[s], 0, 0, least->timeless.stage[s].branches);
}

static bool make_labels(struct least *least, uint64_t bytes)
{
    int64_t limit = bytes < PIM_PRICE_INFINITE / 2 ? (int64_t)bytes : PIM_PRICE_INFINITE / 2, all = 0;
    uint64_t workspace = 0;
    for (uint32_t s = 0; s < least->timeless.stages; s++) {
        all += least_weights(least, s);
        if (least->view[s].least_workspace > workspace)
            workspace = least->view[s].least_workspace;
    }
    if (all >= PIM_PRICE_INFINITE)
        return true; /* a stage has no plan at all */
    for (uint32_t s = 0; s < least->timeless.stages; s++) {
        const struct pim_label_limit limits = {
            .priced = limit - (all - least_weights(least, s)), .memory = UINT64_MAX, .workspace = workspace};
        if (!pim_labels_make(&least->labels[s], &least->view[s], &least->bounds[s], &limits))
            return false;
    }
    return true;
}

static void try_workspace(struct least *least, uint64_t limit)
{
    uint64_t weights = 0, workspace = 0;
    uint32_t taken[PIM_SCHEDULE_STAGES];
    for (uint32_t s = 0; s < least->timeless.stages; s++) {
        const struct pim_labels *labels = &least->labels[s];
        const struct pim_label *best = NULL;
        for (uint32_t i = 0; i < labels->complete_count; i++) {
            const struct pim_label *label = &labels->items[labels->complete[i]];
            if (pim_label_workspace(label) <= limit && (!best || label->weights < best->weights)) {
                best = label;
                taken[s] = labels->complete[i];
            }
        }
        if (!best)
            return;
        weights += best->weights;
        workspace = pim_label_workspace(best) > workspace ? pim_label_workspace(best) : workspace;
    }
    if (weights + workspace >= least->bytes)
        return;
    least->bytes = weights + workspace;
    for (uint32_t s = 0; s < least->timeless.stages; s++)
        least->best[s] = taken[s];
}

static void terminate(struct least *least)
{
    for (uint32_t s = 0; s < PIM_SCHEDULE_STAGES; s++) {
        pim_labels_terminate(&least->labels[s]);
        pim_bounds_terminate(&least->bounds[s]);
        pim_view_terminate(&least->view[s]);
    }
    pim_schedule_problem_terminate(&least->timeless);
}

bool pim_least_memory_fits(const struct pim_schedule_problem *problem, bool *fits)
{
    struct least least = {.bytes = UINT64_MAX};
    bool done = copy(&least, problem);
    *fits = done && upper_bound(&least) <= problem->memory;
    terminate(&least);
    return done;
}

enum pim_status pim_schedule_least_memory(const struct pim_schedule_problem *problem, uint64_t *bytes,
                                          struct pim_schedule_solution *solution, struct pim_error *error)
{
    struct least least = {.bytes = UINT64_MAX};
    bool done = pim_schedule_solution_initialize(solution, problem) && copy(&least, problem) &&
                make_labels(&least, upper_bound(&least));
    for (uint32_t s = 0; done && s < problem->stages; s++)
        for (uint32_t i = 0; i < least.labels[s].complete_count; i++)
            try_workspace(&least, pim_label_workspace(&least.labels[s].items[least.labels[s].complete[i]]));
    *bytes = least.bytes;
    solution->found = done && least.bytes != UINT64_MAX;
    for (uint32_t s = 0; solution->found && s < problem->stages; s++)
        pim_labels_layers(&least.labels[s], &least.view[s], least.best[s], solution->layers[s]);
    terminate(&least);
    return done ? PIM_OK : pim_fail(error, PIM_NO_MEMORY, "out of memory for the schedule");
}
