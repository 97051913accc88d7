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
        to->staged = from->staged;
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
    cost->lasting = candidate->once_bytes + layers * candidate->layer_bytes;
    cost->workspace = cost->lasting + candidate->scratch_bytes;
    return ((stage->needs | candidate->needs) & ~candidate->provides) == 0;
}

/* Weights and workspace of the lightest single candidates with a workspace up to `limit`; UINT64_MAX: a stage
   has none. */
static uint64_t bytes_alone(const struct least *least, uint64_t limit)
{
    uint64_t weights = 0, workspace = 0, together;
    struct pim_schedule_cost best = {0}, before;
    for (uint32_t s = 0; s < least->timeless.stages; s++) {
        const struct pim_schedule_stage *stage = &least->timeless.stage[s];
        struct pim_schedule_cost cost;
        before = best;
        best = (struct pim_schedule_cost){.weights = UINT64_MAX};
        for (uint32_t i = 0; i < least->view[s].count; i++)
            if (alone(stage, least->view[s].order[i], &cost) && cost.workspace <= limit &&
                (cost.weights < best.weights ||
                 (cost.weights == best.weights && cost.workspace < best.workspace)))
                best = cost;
        if (best.weights == UINT64_MAX)
            return UINT64_MAX;
        weights += best.weights;
        workspace = best.workspace > workspace ? best.workspace : workspace;
        if (s == 0 || stage[-1].staged == 0)
            continue;
        together = pim_schedule_together(stage[-1].staged, before.lasting, best.lasting,
                                         best.workspace - best.lasting);
        workspace = together > workspace ? together : workspace;
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
        const struct pim_label_limit limits = {.priced = limit - (all - least_weights(least, s)),
                                               .memory = UINT64_MAX,
                                               .workspace = workspace,
                                               .turns = pim_schedule_takes_turns(&least->timeless, s)};
        if (!pim_labels_make(&least->labels[s], &least->view[s], &least->bounds[s], &limits))
            return false;
    }
    return true;
}

static const struct pim_label *label_of(const struct least *least, uint32_t s, uint32_t index)
{
    return &least->labels[s].items[least->labels[s].complete[index]];
}

/* The workspace of two labels of stages that take turns. */
static uint64_t together(const struct least *least, uint32_t s, uint32_t first, uint32_t second)
{
    const struct pim_label *a = label_of(least, s, first), *b = label_of(least, s + 1, second);
    uint64_t both =
        pim_schedule_together(least->timeless.stage[s].staged, a->lasting, b->lasting, b->scratch);
    return pim_label_workspace(a) > both ? pim_label_workspace(a) : both;
}

/* The least weights of stage `s`, and of the next one if they take turns, within a workspace: which labels.
   Returns UINT64_MAX when there are none. */
static uint64_t lightest(const struct least *least, uint32_t s, uint64_t limit, uint32_t *taken)
{
    bool turns = least->timeless.stage[s].staged > 0;
    uint64_t best = UINT64_MAX;
    for (uint32_t i = 0; i < least->labels[s].complete_count; i++) {
        const struct pim_label *label = label_of(least, s, i);
        for (uint32_t j = 0; j < (turns ? least->labels[s + 1].complete_count : 1); j++) {
            uint64_t weights = label->weights + (turns ? label_of(least, s + 1, j)->weights : 0);
            uint64_t workspace = turns ? together(least, s, i, j) : pim_label_workspace(label);
            if (workspace > limit || weights >= best)
                continue;
            best = weights;
            taken[0] = least->labels[s].complete[i];
            if (turns)
                taken[1] = least->labels[s + 1].complete[j];
        }
    }
    return best;
}

/* All stages within a workspace, all of which is counted: the least one is tried, too. */
static void try_workspace(struct least *least, uint64_t limit)
{
    uint64_t weights = 0;
    uint32_t taken[PIM_SCHEDULE_STAGES];
    for (uint32_t s = 0; s<least->timeless.stages; s += least->timeless.stage[s].staged> 0 ? 2 : 1) {
        uint64_t stage = lightest(least, s, limit, &taken[s]);
        if (stage == UINT64_MAX)
            return;
        weights += stage;
    }
    if (weights + limit >= least->bytes)
        return;
    least->bytes = weights + limit;
    for (uint32_t s = 0; s < least->timeless.stages; s++)
        least->best[s] = taken[s];
}

/* Every workspace that a stage, or two that take turns, may have. */
static void try_all(struct least *least)
{
    for (uint32_t s = 0; s < least->timeless.stages; s++)
        for (uint32_t i = 0; i < least->labels[s].complete_count; i++) {
            bool turns = least->timeless.stage[s].staged > 0;
            if (!pim_schedule_takes_turns(&least->timeless, s))
                try_workspace(least, pim_label_workspace(label_of(least, s, i)));
            for (uint32_t j = 0; turns && j < least->labels[s + 1].complete_count; j++)
                try_workspace(least, together(least, s, i, j));
        }
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
    if (done)
        try_all(&least);
    *bytes = least.bytes;
    solution->found = done && least.bytes != UINT64_MAX;
    for (uint32_t s = 0; solution->found && s < problem->stages; s++)
        pim_labels_layers(&least.labels[s], &least.view[s], least.best[s], solution->layers[s]);
    terminate(&least);
    return done ? PIM_OK : pim_fail(error, PIM_NO_MEMORY, "out of memory for the schedule");
}
