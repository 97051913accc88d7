/*
 * The schedule as an integer programme, in two forms.
 *
 * Counts: for each candidate n (layers) and use (0 or 1), n <= most * use; the largest workspace, and of each
 * stage what lasts and the scratch, are columns of their own. Its size does not depend on the number of
 * branches, and grows with that of the candidates.
 *
 * Literal: the paper's X (a layer j of a stage has i branches under scheme k), Y and Z, with what its text
 * means where the printed constraints say something else (docs/mappers/allspark.md lists the places).
 */
#include "mappers/allspark/schedule/ilp.h"

#include "mappers/search/integer/solver.h"

#include <stdlib.h>

/* --- counts --- */

static void counts_of_stage(const struct pim_schedule_stage *stage, struct pim_ilp_model *model, uint32_t s,
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
static struct workspace counted_workspace(const struct pim_schedule_stage *stage, struct pim_ilp_model *model,
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

bool pim_ilp_counts(const struct pim_schedule_problem *problem, struct pim_ilp_model *model)
{
    *model = (struct pim_ilp_model){.form = PIM_SCHEDULE_COUNTS};
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

/* --- literal --- */

/* The columns of a stage: X of layer j, scheme k, i branches (from 1); Z of layer j, scheme k. */
struct literal {
    struct pim_mps *mps;
    const struct pim_schedule_stage *stage;
    uint32_t whole; /* the scheme [1,1]; UINT32_MAX: there is none */
    uint32_t x, z;  /* first columns */
};

static uint32_t column_x(const struct literal *literal, uint32_t j, uint32_t k, uint32_t i)
{
    uint32_t branches = literal->stage->branches;
    return literal->x + (j * literal->stage->count + k) * branches + i - 1;
}

static uint32_t column_z(const struct literal *literal, uint32_t j, uint32_t k)
{
    return literal->z + j * literal->stage->count + k;
}

/* Adds value * (sum over i of X) to a row. */
static void add_layer(const struct literal *literal, uint32_t row, uint32_t j, uint32_t k, int64_t value)
{
    for (uint32_t i = 1; i <= literal->stage->branches; i++)
        pim_mps_entry(literal->mps, row, column_x(literal, j, k, i), value);
}

static void make_columns(struct literal *literal)
{
    const struct pim_schedule_stage *stage = literal->stage;
    literal->x = literal->mps->column_count;
    for (uint32_t j = 0; j < stage->branches; j++)
        for (uint32_t k = 0; k < stage->count; k++)
            for (uint32_t i = 1; i <= stage->branches; i++) /* (1): at most N_ab branches */
                (void)pim_mps_column(literal->mps, (int64_t)stage->candidates[k].layer_cycles, 0,
                                     i <= stage->candidates[k].capacity);
    literal->z = literal->mps->column_count;
    for (uint32_t j = 0; j < stage->branches * stage->count; j++)
        (void)pim_mps_column(literal->mps, 0, 0, 1);
}

/* (2), (3), (4) */
static void place_branches(const struct literal *literal)
{
    const struct pim_schedule_stage *stage = literal->stage;
    uint32_t all = pim_mps_row(literal->mps, PIM_MPS_EQUAL, stage->branches);
    for (uint32_t j = 0; j < stage->branches; j++) {
        uint32_t one = pim_mps_row(literal->mps, PIM_MPS_AT_MOST, 1);
        uint32_t order = j == 0 ? 0 : pim_mps_row(literal->mps, PIM_MPS_AT_LEAST, 0);
        for (uint32_t k = 0; k < stage->count; k++)
            for (uint32_t i = 1; i <= stage->branches; i++) {
                pim_mps_entry(literal->mps, all, column_x(literal, j, k, i), i);
                pim_mps_entry(literal->mps, one, column_x(literal, j, k, i), 1);
                if (j > 0) {
                    pim_mps_entry(literal->mps, order, column_x(literal, j - 1, k, i), i);
                    pim_mps_entry(literal->mps, order, column_x(literal, j, k, i), -(int64_t)i);
                }
            }
    }
}

/* (8): Y = 1 when layer j, if it has scheme k, does not take its weights from layer `before`. */
static uint32_t reuse_between(const struct literal *literal, uint32_t j, uint32_t before, uint32_t k)
{
    struct pim_mps *mps = literal->mps;
    uint32_t y = pim_mps_column(mps, 0, 0, 1), row;
    bool whole = literal->whole != UINT32_MAX;
    if (whole) {
        row = pim_mps_row(mps, PIM_MPS_AT_MOST, 1);
        pim_mps_entry(mps, row, y, 1);
        add_layer(literal, row, before, literal->whole, 1);
    }
    row = pim_mps_row(mps, PIM_MPS_AT_MOST, 0);
    pim_mps_entry(mps, row, y, -1);
    add_layer(literal, row, j, k, 1);
    add_layer(literal, row, before, k, k == literal->whole ? -2 : -1);
    if (whole && k != literal->whole)
        add_layer(literal, row, before, literal->whole, -1);
    row = pim_mps_row(mps, PIM_MPS_AT_MOST, 1);
    pim_mps_entry(mps, row, y, 1);
    add_layer(literal, row, before, k, 1);
    return y;
}

/* (9): Z = 1 when not all Y are 1; at j = 0 nothing can be reused: Z = 1 - X. */
static void weights_of_layer(const struct literal *literal, uint32_t j, uint32_t k)
{
    struct pim_mps *mps = literal->mps;
    uint32_t first = pim_mps_row(mps, j == 0 ? PIM_MPS_EQUAL : PIM_MPS_AT_LEAST, j == 0 ? 1 : (int64_t)j);
    pim_mps_entry(mps, first, column_z(literal, j, k), j == 0 ? 1 : (int64_t)j);
    if (j == 0) {
        add_layer(literal, first, 0, k, 1);
        return;
    }
    uint32_t second = pim_mps_row(mps, PIM_MPS_AT_MOST, j);
    pim_mps_entry(mps, second, column_z(literal, j, k), 1);
    for (uint32_t before = 0; before < j; before++) {
        uint32_t y = reuse_between(literal, j, before, k);
        pim_mps_entry(mps, first, y, 1);
        pim_mps_entry(mps, second, y, 1);
    }
}

/* (5), (10), (11): workspace and weights; returns the weights that the memory row counts but are not stored
   when Z = 1. */
static uint64_t memory_of_stage(const struct literal *literal, uint32_t memory, uint32_t workspace)
{
    const struct pim_schedule_stage *stage = literal->stage;
    uint64_t charged = 0;
    for (uint32_t j = 0; j < stage->branches; j++) {
        uint32_t row = pim_mps_row(literal->mps, PIM_MPS_AT_LEAST, 0);
        pim_mps_entry(literal->mps, row, workspace, 1);
        for (uint32_t k = 0; k < stage->count; k++) {
            const struct pim_schedule_candidate *candidate = &stage->candidates[k];
            weights_of_layer(literal, j, k);
            pim_mps_entry(literal->mps, memory, column_z(literal, j, k), -(int64_t)candidate->weights);
            charged += candidate->weights;
            for (uint32_t other = 0; other < stage->branches; other++)
                add_layer(literal, row, other, k,
                          -(int64_t)(candidate->layer_bytes + (other == j ? candidate->scratch_bytes : 0)));
        }
    }
    return charged;
}

bool pim_ilp_literal(const struct pim_schedule_problem *problem, struct pim_ilp_model *model)
{
    *model = (struct pim_ilp_model){.form = PIM_SCHEDULE_LITERAL};
    struct pim_mps *mps = &model->mps;
    uint32_t memory = pim_mps_row(mps, PIM_MPS_AT_MOST, 0);
    uint32_t workspace = pim_mps_column(mps, 0, 0, INT64_MAX);
    uint64_t charged = 0;
    pim_mps_entry(mps, memory, workspace, 1);
    for (uint32_t s = 0; s < problem->stages && !mps->out_of_memory; s++) {
        struct literal literal = {.mps = mps, .stage = &problem->stage[s], .whole = UINT32_MAX};
        for (uint32_t k = 0; k < literal.stage->count; k++)
            if (literal.stage->candidates[k].provides & PIM_SCHEDULE_WHOLE)
                literal.whole = k;
        make_columns(&literal);
        model->first[s] = literal.x;
        place_branches(&literal);
        charged += memory_of_stage(&literal, memory, workspace);
    }
    if (!mps->out_of_memory)
        mps->rows[memory].right = (int64_t)problem->memory - (int64_t)charged;
    return !mps->out_of_memory;
}

/* --- what a solver found --- */

void pim_ilp_layers(const struct pim_schedule_problem *problem, const struct pim_ilp_model *model,
                    const int64_t *values, struct pim_schedule_solution *solution)
{
    for (uint32_t s = 0; s < problem->stages; s++) {
        const struct pim_schedule_stage *stage = &problem->stage[s];
        const int64_t *first = values + model->first[s];
        for (uint32_t k = 0; k < stage->count; k++) {
            if (model->form == PIM_SCHEDULE_COUNTS)
                solution->layers[s][k] = (uint32_t)first[2 * (size_t)k];
            for (uint32_t j = 0; model->form == PIM_SCHEDULE_LITERAL && j < stage->branches; j++)
                for (uint32_t i = 0; i < stage->branches; i++)
                    solution->layers[s][k] +=
                        first[((size_t)j * stage->count + k) * stage->branches + i] != 0;
        }
    }
}

/* --- the whole --- */

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

enum pim_status pim_schedule_ilp(const struct pim_schedule_problem *problem, enum pim_schedule_form form,
                                 const char *name, uint32_t seconds, const struct pim_schedule_watch *watch,
                                 struct pim_schedule_solution *solution, struct pim_error *error)
{
    struct pim_ilp_model model;
    struct pim_solver_answer answer;
    bool made = pim_schedule_solution_initialize(solution, problem);
    made =
        (form == PIM_SCHEDULE_COUNTS ? pim_ilp_counts(problem, &model) : pim_ilp_literal(problem, &model)) &&
        made;
    if (!made) {
        pim_mps_terminate(&model.mps);
        return pim_fail(error, PIM_NO_MEMORY, "out of memory for the schedule");
    }
    const struct pim_solver_limit limit = {seconds, watch ? watch->stop : NULL,
                                           watch ? watch->context : NULL};
    enum pim_status status = pim_solver_run(name, &model.mps, &limit, "--scheduler exact", &answer, error);
    if (status == PIM_OK && (answer.outcome == PIM_SOLVER_OPTIMAL || answer.outcome == PIM_SOLVER_FEASIBLE))
        pim_ilp_layers(problem, &model, answer.values, solution);
    if (status == PIM_OK)
        status = judge(problem, &answer, solution, error);
    pim_solver_answer_terminate(&answer);
    pim_mps_terminate(&model.mps);
    return status;
}
