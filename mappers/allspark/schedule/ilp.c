/*
 * The schedule as an integer programme: for each candidate n (layers) and use (0 or 1), n <= most * use; the
 * largest workspace, and of each stage what lasts and the scratch, are columns of their own. Its size does
 * not depend on the number of branches, and grows with that of the candidates.
 */
#include "mappers/allspark/schedule/schedule.h"
#include "mappers/search/integer/solver.h"

#include <stdlib.h>

struct model {
    struct pim_mps mps;
    uint32_t first[PIM_SCHEDULE_STAGES]; /* column of each stage */
};

static void counts_of_stage(const struct pim_schedule_stage *stage, struct model *model, uint32_t s,
                            uint32_t memory)
{
    struct pim_mps *mps = &model->mps;
    uint32_t covered = pim_mps_row(mps, PIM_MPS_AT_LEAST, stage->branches), heads = UINT32_MAX;
    uint32_t layers = pim_mps_row(mps, PIM_MPS_AT_MOST, stage->branches);
    model->first[s] = mps->column_count;
    if (stage->needs & PIM_SCHEDULE_HEAD)
        heads = pim_mps_row(mps, PIM_MPS_EQUAL, 1);
    for (uint32_t k = 0; k < stage->count; k++) { /* columns n and use, one after the other */
        const struct pim_schedule_candidate *candidate = &stage->candidates[k];
        int64_t most = (stage->branches + (int64_t)candidate->capacity - 1) / candidate->capacity;
        uint32_t n = pim_mps_column(mps, (int64_t)candidate->layer_cycles, 0, most);
        uint32_t use = pim_mps_column(mps, (int64_t)candidate->once_cycles, 0, 1);
        uint32_t link = pim_mps_row(mps, PIM_MPS_AT_MOST, 0);
        pim_mps_entry(mps, covered, n, candidate->capacity);
        pim_mps_entry(mps, layers, n, 1);
        pim_mps_entry(mps, link, n, 1);
        pim_mps_entry(mps, link, use, -most);
        pim_mps_entry(mps, memory, use, (int64_t)candidate->weights);
        if (heads != UINT32_MAX && (candidate->provides & PIM_SCHEDULE_HEAD)) {
            uint32_t used = pim_mps_row(mps, PIM_MPS_AT_MOST, 0); /* it must have a layer to have it */
            pim_mps_entry(mps, heads, use, 1);
            pim_mps_entry(mps, used, use, 1);
            pim_mps_entry(mps, used, n, -1);
        }
    }
    for (uint32_t k = 0; k < stage->count; k++) {
        if (!(stage->candidates[k].needs & PIM_SCHEDULE_WHOLE))
            continue;
        uint32_t reuse = pim_mps_row(mps, PIM_MPS_AT_MOST, 0); /* use <= layers of whole copies */
        pim_mps_entry(mps, reuse, model->first[s] + 2 * k + 1, 1);
        for (uint32_t other = 0; other < stage->count; other++)
            if (stage->candidates[other].provides & PIM_SCHEDULE_WHOLE)
                pim_mps_entry(mps, reuse, model->first[s] + 2 * other, -1);
    }
}

/* What lasts of a stage and its largest scratch, as columns: an entry for each candidate, however many there
   are. */
struct workspace {
    uint32_t lasting, scratch;
};

/* A row of a column that is at least what the entries to come take. */
static uint32_t at_least(struct pim_mps *mps, uint32_t column)
{
    uint32_t row = pim_mps_row(mps, PIM_MPS_AT_LEAST, 0);
    pim_mps_entry(mps, row, column, 1);
    return row;
}

/* lasting >= sum of once and layer bytes; scratch >= that of each used candidate; largest >= both together */
static struct workspace counted_workspace(const struct pim_schedule_stage *stage, struct model *model,
                                          uint32_t s, uint32_t largest)
{
    struct pim_mps *mps = &model->mps;
    const struct workspace workspace = {.lasting = pim_mps_column(mps, 0, 0, INT64_MAX),
                                        .scratch = pim_mps_column(mps, 0, 0, INT64_MAX)};
    uint32_t lasting = at_least(mps, workspace.lasting);
    for (uint32_t k = 0; k < stage->count; k++) {
        const struct pim_schedule_candidate *candidate = &stage->candidates[k];
        uint32_t n = model->first[s] + 2 * k, use = n + 1, scratch = at_least(mps, workspace.scratch);
        pim_mps_entry(mps, lasting, n, -(int64_t)candidate->layer_bytes);
        pim_mps_entry(mps, lasting, use, -(int64_t)candidate->once_bytes);
        pim_mps_entry(mps, scratch, use, -(int64_t)candidate->scratch_bytes);
    }
    uint32_t both = at_least(mps, largest);
    pim_mps_entry(mps, both, workspace.lasting, -1);
    pim_mps_entry(mps, both, workspace.scratch, -1);
    return workspace;
}

/* The workspace of two stages that take turns, as in pim_schedule_together(). */
static void workspace_together(struct pim_mps *mps, uint32_t staged, const struct workspace *first,
                               const struct workspace *second, uint32_t largest)
{
    uint32_t moved = at_least(mps, largest), worked = at_least(mps, largest);
    pim_mps_entry(mps, moved, first->lasting, -1 - (int64_t)staged);
    pim_mps_entry(mps, moved, second->lasting, -2);
    pim_mps_entry(mps, worked, first->lasting, -1);
    pim_mps_entry(mps, worked, second->lasting, -1);
    pim_mps_entry(mps, worked, second->scratch, -1);
}

/* False when memory is out. */
static bool make(const struct pim_schedule_problem *problem, struct model *model)
{
    uint32_t memory = pim_mps_row(&model->mps, PIM_MPS_AT_MOST, (int64_t)problem->memory);
    struct workspace workspace[PIM_SCHEDULE_STAGES];
    uint32_t largest = pim_mps_column(&model->mps, 0, 0, INT64_MAX);
    pim_mps_entry(&model->mps, memory, largest, 1);
    for (uint32_t s = 0; s < problem->stages; s++)
        counts_of_stage(&problem->stage[s], model, s, memory);
    for (uint32_t s = 0; s < problem->stages; s++)
        workspace[s] = counted_workspace(&problem->stage[s], model, s, largest);
    for (uint32_t s = 0; s + 1 < problem->stages; s++)
        if (problem->stage[s].staged > 0)
            workspace_together(&model->mps, problem->stage[s].staged, &workspace[s], &workspace[s + 1],
                               largest);
    return !model->mps.out_of_memory;
}

/* --- what a solver found --- */

static void take_layers(const struct pim_schedule_problem *problem, const struct model *model,
                        const int64_t *values, struct pim_schedule_solution *solution)
{
    for (uint32_t s = 0; s < problem->stages; s++)
        for (uint32_t k = 0; k < problem->stage[s].count; k++)
            solution->layers[s][k] = (uint32_t)values[model->first[s] + 2 * k];
}

static enum pim_status judge(const struct pim_schedule_problem *problem,
                             const struct pim_solver_answer *answer, struct pim_schedule_solution *solution,
                             struct pim_error *error)
{
    struct pim_schedule_cost cost;
    if (answer->outcome == PIM_SOLVER_INFEASIBLE)
        return PIM_OK;
    if (answer->outcome == PIM_SOLVER_UNKNOWN)
        return pim_fail(error, PIM_BAD_INPUT,
                        "%s found no schedule %s: give it more time (--time-limit), or use --scheduler exact",
                        answer->solver, answer->stopped ? "before it was stopped" : "in its time");
    if (!pim_schedule_cost(problem, solution->layers, &cost) ||
        cost.weights + cost.workspace > problem->memory)
        return pim_fail(error, PIM_BAD_INPUT,
                        "the schedule of %s keeps its constraints only within its tolerances: use another "
                        "solver, or --scheduler exact",
                        answer->solver);
    solution->found = true;
    solution->cycles = cost.cycles;
    solution->bound = answer->outcome == PIM_SOLVER_OPTIMAL ? cost.cycles : pim_schedule_bound(problem);
    solution->stopped = answer->outcome != PIM_SOLVER_OPTIMAL;
    return PIM_OK;
}

enum pim_status pim_schedule_ilp(const struct pim_schedule_problem *problem, const char *name,
                                 uint32_t seconds, const struct pim_schedule_watch *watch,
                                 struct pim_schedule_solution *solution, struct pim_error *error)
{
    struct model model = {0};
    struct pim_solver_answer answer;
    if (!pim_schedule_solution_initialize(solution, problem) || !make(problem, &model)) {
        pim_mps_terminate(&model.mps);
        return pim_fail(error, PIM_NO_MEMORY, "out of memory for the schedule");
    }
    const struct pim_solver_limit limit = {seconds, watch ? watch->stop : NULL,
                                           watch ? watch->context : NULL};
    enum pim_status status = pim_solver_run(name, &model.mps, &limit, "--scheduler exact", &answer, error);
    if (status == PIM_OK && (answer.outcome == PIM_SOLVER_OPTIMAL || answer.outcome == PIM_SOLVER_FEASIBLE))
        take_layers(problem, &model, answer.values, solution);
    if (status == PIM_OK)
        status = judge(problem, &answer, solution, error);
    pim_solver_answer_terminate(&answer);
    pim_mps_terminate(&model.mps);
    return status;
}
