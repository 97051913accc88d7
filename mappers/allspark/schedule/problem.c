/* Problems, solutions, and what a choice of layers costs. */
#include "mappers/allspark/schedule/schedule.h"
#include "sim/arena.h"

#include <stdlib.h>

bool pim_schedule_append(struct pim_schedule_stage *stage, const struct pim_schedule_candidate *candidate)
{
    struct pim_schedule_candidate *items =
        pim_array_grow(stage->candidates, &stage->capacity, (size_t)stage->count + 1, sizeof *items);
    if (!items)
        return false;
    stage->candidates = items;
    stage->candidates[stage->count++] = *candidate;
    return true;
}

void pim_schedule_problem_terminate(struct pim_schedule_problem *problem)
{
    for (uint32_t s = 0; s < PIM_SCHEDULE_STAGES; s++) {
        free(problem->stage[s].candidates);
        problem->stage[s] = (struct pim_schedule_stage){0};
    }
}

bool pim_schedule_solution_initialize(struct pim_schedule_solution *solution,
                                      const struct pim_schedule_problem *problem)
{
    *solution = (struct pim_schedule_solution){0};
    for (uint32_t s = 0; s < problem->stages; s++) {
        solution->layers[s] = calloc((size_t)problem->stage[s].count + 1, sizeof *solution->layers[s]);
        if (!solution->layers[s])
            return false;
    }
    return true;
}

void pim_schedule_solution_terminate(struct pim_schedule_solution *solution)
{
    for (uint32_t s = 0; s < PIM_SCHEDULE_STAGES; s++)
        free(solution->layers[s]);
    *solution = (struct pim_schedule_solution){0};
}

bool pim_schedule_cost_of_stage(const struct pim_schedule_stage *stage, const uint32_t *layers,
                                struct pim_schedule_cost *cost)
{
    uint64_t covered = 0, lasting = 0, scratch = 0, total = 0;
    uint32_t provided = 0, needed = stage->needs, heads = 0;
    *cost = (struct pim_schedule_cost){0};
    for (uint32_t k = 0; k < stage->count; k++) {
        const struct pim_schedule_candidate *candidate = &stage->candidates[k];
        if (layers[k] == 0)
            continue;
        covered += (uint64_t)layers[k] * candidate->capacity;
        total += layers[k];
        cost->cycles += candidate->once_cycles + layers[k] * candidate->layer_cycles;
        cost->weights += candidate->weights;
        lasting += candidate->once_bytes + layers[k] * candidate->layer_bytes;
        scratch = pim_larger(scratch, candidate->scratch_bytes);
        provided |= candidate->provides;
        needed |= candidate->needs;
        heads += (candidate->provides & PIM_SCHEDULE_HEAD) != 0;
    }
    cost->workspace = lasting + scratch;
    cost->lasting = lasting;
    return covered >= stage->branches && total <= stage->branches && (needed & ~provided) == 0 && heads <= 1;
}

bool pim_schedule_cost(const struct pim_schedule_problem *problem, uint32_t *const layers[],
                       struct pim_schedule_cost *cost)
{
    *cost = (struct pim_schedule_cost){0};
    struct pim_schedule_cost part, before = {0};
    for (uint32_t s = 0; s < problem->stages; s++, before = part) {
        if (!pim_schedule_cost_of_stage(&problem->stage[s], layers[s], &part))
            return false;
        cost->cycles += part.cycles;
        cost->weights += part.weights;
        cost->workspace = pim_larger(cost->workspace, part.workspace);
        if (s > 0 && problem->stage[s - 1].staged > 0)
            cost->workspace = pim_larger(cost->workspace,
                                         pim_schedule_together(problem->stage[s - 1].staged, before.lasting,
                                                               part.lasting, part.workspace - part.lasting));
    }
    return true;
}
