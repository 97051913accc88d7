/*
 * The paper's integer programme literally: X (a layer j of a stage has i branches under scheme k), Y
 * and Z, with what its text means where the printed constraints say something else (docs/mappers/allspark.md
 * lists the places). For small problems without costs that come once and needs other than those of reuse.
 */
#include "mappers/search/integer/solver.h"
#include "tests/unit/schedule/instances.h"

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

/* The programme; first[s]: its first column of stage s. */
static void make(const struct pim_schedule_problem *problem, struct pim_mps *mps, uint32_t *first)
{
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
        first[s] = literal.x;
        place_branches(&literal);
        charged += memory_of_stage(&literal, memory, workspace);
    }
    ck_assert(!mps->out_of_memory);
    mps->rows[memory].right = (int64_t)problem->memory - (int64_t)charged;
}

uint64_t literal_optimum(const struct pim_schedule_problem *problem, const char *solver, uint32_t seconds)
{
    struct pim_mps mps = {0};
    struct pim_solver_answer answer;
    struct pim_schedule_solution found;
    struct pim_error error = {0};
    const struct pim_solver_limit limit = {.seconds = seconds};
    uint32_t first[PIM_SCHEDULE_STAGES];
    make(problem, &mps, first);
    ck_assert(pim_schedule_solution_initialize(&found, problem));
    ck_assert_msg(pim_solver_run(solver, &mps, &limit, NULL, &answer, &error) == PIM_OK, "%s", error.text);
    ck_assert(answer.outcome == PIM_SOLVER_OPTIMAL || answer.outcome == PIM_SOLVER_INFEASIBLE);
    for (uint32_t s = 0; answer.outcome == PIM_SOLVER_OPTIMAL && s < problem->stages; s++) {
        const struct pim_schedule_stage *stage = &problem->stage[s];
        for (uint32_t x = 0; x < stage->branches * stage->count * stage->branches; x++)
            found.layers[s][x / stage->branches % stage->count] += answer.values[first[s] + x] != 0;
    }
    struct pim_schedule_cost cost = {.cycles = UINT64_MAX};
    if (answer.outcome == PIM_SOLVER_OPTIMAL) {
        ck_assert(pim_schedule_cost(problem, found.layers, &cost));
        ck_assert_uint_le(cost.weights + cost.workspace, problem->memory);
    }
    pim_solver_answer_terminate(&answer);
    pim_mps_terminate(&mps);
    pim_schedule_solution_terminate(&found);
    return cost.cycles;
}
