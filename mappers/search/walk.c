/* Random and exhaustive walks; see walk.h. */
#include "mappers/search/walk.h"

#include "mappers/search/population.h"

#include <math.h>

enum { BLOCK = 1024, PARTS = 16 };

/* Part p of a block has the individuals 2 p (its best) and 2 p + 1 (room); the last is the best of all. */
struct run {
    const struct pim_search_problem *problem;
    struct pim_population population;
    uint64_t first, last; /* candidates of this block */
    enum pim_status status[PARTS];
    struct pim_error error[PARTS];
};

static void work_part(void *context, unsigned worker, uint64_t part)
{
    struct run *run = context;
    const struct pim_search_problem *problem = run->problem;
    struct pim_individual *best = &run->population.made[2 * part], *room = best + 1;
    void *scratch = run->population.scratch[worker];
    uint64_t first = run->first + part * (BLOCK / PARTS), last = first + BLOCK / PARTS;
    best->score[0] = HUGE_VAL;
    best->identity = UINT64_MAX; /* none */
    for (uint64_t i = first; i < last && i < run->last; i++) {
        struct pim_random random =
            pim_search_stream(run->population.budget->seed, (uint32_t)(i >> 32), (uint32_t)i);
        problem->start(problem->context, scratch, room->data, i, &random);
        room->identity = i;
        run->status[part] = pim_individual_score(problem, scratch, room, &run->error[part]);
        if (run->status[part] != PIM_OK)
            return;
        if (best->identity == UINT64_MAX || pim_individual_compare(problem, room, best) < 0)
            pim_individual_copy(problem, best, room);
    }
}

static enum pim_status one_block(struct run *run, struct pim_individual *best, struct pim_error *error)
{
    pim_workers_run(run->population.workers, work_part, run, 0, PARTS);
    for (unsigned part = 0; part < PARTS; part++) {
        const struct pim_individual *found = &run->population.made[2 * part];
        if (run->status[part] != PIM_OK) {
            if (error)
                *error = run->error[part];
            return run->status[part];
        }
        if (found->identity != UINT64_MAX &&
            (best->identity == UINT64_MAX || pim_individual_compare(run->problem, found, best) < 0))
            pim_individual_copy(run->problem, best, found);
    }
    return PIM_OK;
}

static enum pim_status walk(struct run *run, uint64_t space, const struct pim_search_budget *budget,
                            struct pim_search_result *result, struct pim_error *error)
{
    struct pim_individual *best = &run->population.made[2 * PARTS];
    struct pim_search_watch watch;
    struct pim_search_budget blocks = *budget;
    uint64_t end = space != 0 && space <= budget->steps ? space : budget->steps;
    enum pim_status status = PIM_OK;
    blocks.patience = budget->patience / BLOCK + (budget->patience % BLOCK != 0);
    best->identity = UINT64_MAX;
    best->score[0] = HUGE_VAL;
    pim_search_begin(&watch, &blocks, HUGE_VAL);
    for (bool over = false; !over && status == PIM_OK;) {
        run->first = result->steps;
        run->last = end - run->first < BLOCK ? end : run->first + BLOCK;
        status = one_block(run, best, error);
        result->steps = run->last;
        over = pim_search_over(&watch, result->steps, best->score[0], run->problem->bound, &result->end) ||
               run->last == end;
    }
    result->evaluations = result->steps;
    result->best = best->score[0];
    if (status == PIM_OK && space != 0 && result->steps == space) {
        result->end = PIM_SEARCH_COMPLETE;
        result->bound = result->best;
    }
    return status;
}

enum pim_status pim_walk(const struct pim_search_problem *problem, uint64_t space,
                         const struct pim_search_budget *budget, void *best, struct pim_search_result *result,
                         struct pim_error *error)
{
    struct run run = {.problem = problem};
    *result = (struct pim_search_result){.bound = problem->bound};
    if (budget->steps == 0)
        return pim_fail(error, PIM_BAD_INPUT, "a walk of no candidates: at least one is needed");
    enum pim_status status =
        pim_population_initialize(&run.population, problem, budget, 2 * PARTS + 1, error);
    if (status == PIM_OK)
        status = walk(&run, space, budget, result, error);
    if (status == PIM_OK) {
        struct pim_individual out = {.data = best};
        pim_individual_copy(problem, &out, &run.population.made[2 * PARTS]);
    }
    pim_population_terminate(&run.population);
    return status;
}
