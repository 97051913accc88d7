/* Random problems and the oracle. */
#include "tests/unit/schedule/instances.h"

#include <stdlib.h>

/* --- problems --- */

static struct pim_schedule_candidate random_candidate(struct pim_random *random, uint32_t branches)
{
    return (struct pim_schedule_candidate){.layer_cycles = pim_random_between(random, 5, 60),
                                           .weights = pim_random_between(random, 0, 30),
                                           .layer_bytes = pim_random_between(random, 0, 6),
                                           .scratch_bytes = pim_random_between(random, 0, 20),
                                           .capacity = (uint32_t)pim_random_between(random, 1, branches)};
}

static void add(struct pim_schedule_stage *stage, const struct pim_schedule_candidate *candidate)
{
    ck_assert(pim_schedule_append(stage, candidate));
}

/* With the classifier, in the last stage: as a candidate of its own beside the one without. */
static void add_variants(struct pim_random *random, struct pim_schedule_stage *stage,
                         struct pim_schedule_candidate candidate)
{
    add(stage, &candidate);
    if (!stage->needs)
        return;
    candidate.provides |= PIM_SCHEDULE_HEAD;
    candidate.once_cycles += pim_random_between(random, 0, 10);
    candidate.weights += pim_random_between(random, 0, 10);
    add(stage, &candidate);
}

static void random_stage(struct pim_random *random, bool plain, bool last, struct pim_schedule_stage *literal,
                         struct pim_schedule_stage *counts)
{
    uint32_t branches = (uint32_t)pim_random_between(random, 1, plain ? 5 : 9);
    uint32_t count = (uint32_t)pim_random_between(random, 1, plain ? 4 : 3);
    bool whole = pim_random_below(random, 2) == 0;
    literal->branches = counts->branches = branches;
    counts->needs = last && !plain ? PIM_SCHEDULE_HEAD : 0;
    for (uint32_t k = 0; k < count; k++) {
        struct pim_schedule_candidate candidate = random_candidate(random, branches);
        if (!plain) {
            candidate.once_cycles = pim_random_below(random, 8);
            candidate.once_bytes = pim_random_below(random, 5);
        }
        if (k == 0 && whole) { /* one node to a branch: no partition has more sub-arrays */
            candidate.capacity = branches;
            candidate.provides = PIM_SCHEDULE_WHOLE;
        }
        if (whole && candidate.capacity == branches && branches > 1)
            candidate.capacity = (uint32_t)pim_random_between(random, (branches + 1) / 2, branches - 1);
        if (whole && k > 0 && candidate.capacity > literal->candidates[0].capacity)
            candidate.capacity = literal->candidates[0].capacity;
        add(literal, &candidate);
        add_variants(random, counts, candidate);
        if (!whole || k == 0)
            continue;
        candidate.weights = 0;
        candidate.needs = PIM_SCHEDULE_WHOLE;
        if (!plain) {
            candidate.layer_cycles += pim_random_below(random, 9);
            candidate.scratch_bytes /= 2;
        }
        add_variants(random, counts, candidate);
    }
}

void random_problem(struct pim_random *random, bool plain, struct pim_schedule_problem *literal,
                    struct pim_schedule_problem *counts)
{
    *literal = *counts = (struct pim_schedule_problem){0};
    literal->stages = counts->stages = (uint32_t)pim_random_between(random, 1, 3);
    literal->memory = counts->memory = pim_random_between(random, 10, 110);
    for (uint32_t s = 0; s < counts->stages; s++)
        random_stage(random, plain, s + 1 == counts->stages, &literal->stage[s], &counts->stage[s]);
    if (plain || counts->stages == 1 || pim_random_below(random, 2) == 0)
        return;
    counts->stage[pim_random_below(random, counts->stages - 1)].staged =
        (uint32_t)pim_random_between(random, 1, 2);
    counts->memory += 40;
}

/* --- the oracle --- */

/* The plans of a stage of which none is beaten by another in all costs. */
struct plans {
    struct pim_schedule_cost *items;
    uint32_t count, capacity;
};

static void note(struct plans *plans, const struct pim_schedule_cost *cost)
{
    for (uint32_t i = 0; i < plans->count; i++)
        if (plans->items[i].cycles <= cost->cycles && plans->items[i].weights <= cost->weights &&
            plans->items[i].workspace <= cost->workspace && plans->items[i].lasting == cost->lasting)
            return;
    if (plans->count == plans->capacity) {
        plans->capacity = 2 * plans->capacity + 16;
        plans->items = realloc(plans->items, plans->capacity * sizeof *plans->items);
        ck_assert_ptr_nonnull(plans->items);
    }
    plans->items[plans->count++] = *cost;
}

/* All numbers of layers of the candidates from `k` on, until the branches are covered. */
static void try_layers(const struct pim_schedule_stage *stage, uint32_t k, uint32_t covered, uint32_t *layers,
                       struct plans *plans)
{
    struct pim_schedule_cost cost;
    if (pim_schedule_cost_of_stage(stage, layers, &cost))
        note(plans, &cost);
    if (k == stage->count)
        return;
    uint32_t most = covered < stage->branches ? stage->branches - covered : 1; /* 1: to reuse it, perhaps */
    for (uint32_t n = 0; n <= most; n++) {
        layers[k] = n;
        try_layers(stage, k + 1, covered + n * stage->candidates[k].capacity, layers, plans);
        if (covered + n * stage->candidates[k].capacity >= stage->branches && n > 0)
            break;
    }
    layers[k] = 0;
}

static uint64_t larger(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

/* What two stages that take turns need while the second works, and while things go over. */
static uint64_t both(uint32_t staged, const struct pim_schedule_cost *first,
                     const struct pim_schedule_cost *second)
{
    if (staged == 0)
        return 0;
    return larger(first->lasting + second->workspace, (1 + staged) * first->lasting + 2 * second->lasting);
}

/* `before`: the plan of the stage before. */
static void combine(const struct pim_schedule_problem *problem, const struct plans *plans, uint32_t stage,
                    struct pim_schedule_cost sum, const struct pim_schedule_cost *before, uint64_t *cycles,
                    uint64_t *memory)
{
    if (stage == problem->stages) {
        uint64_t bytes = sum.weights + sum.workspace;
        *memory = bytes < *memory ? bytes : *memory;
        if (bytes <= problem->memory && sum.cycles < *cycles)
            *cycles = sum.cycles;
        return;
    }
    for (uint32_t i = 0; i < plans[stage].count; i++) {
        const struct pim_schedule_cost *plan = &plans[stage].items[i];
        uint64_t together = stage > 0 ? both(problem->stage[stage - 1].staged, before, plan) : 0;
        combine(
            problem, plans, stage + 1,
            (struct pim_schedule_cost){.cycles = sum.cycles + plan->cycles,
                                       .weights = sum.weights + plan->weights,
                                       .workspace = larger(sum.workspace, larger(plan->workspace, together))},
            plan, cycles, memory);
    }
}

static void try_all(const struct pim_schedule_problem *problem, uint64_t *cycles, uint64_t *memory)
{
    struct plans plans[PIM_SCHEDULE_STAGES] = {0};
    *cycles = *memory = UINT64_MAX;
    for (uint32_t s = 0; s < problem->stages; s++) {
        uint32_t layers[MOST_CANDIDATES] = {0};
        ck_assert_uint_le(problem->stage[s].count, MOST_CANDIDATES);
        try_layers(&problem->stage[s], 0, 0, layers, &plans[s]);
    }
    combine(problem, plans, 0, (struct pim_schedule_cost){0}, NULL, cycles, memory);
    for (uint32_t s = 0; s < problem->stages; s++)
        free(plans[s].items);
}

uint64_t brute_force(const struct pim_schedule_problem *problem)
{
    uint64_t cycles, memory;
    try_all(problem, &cycles, &memory);
    return cycles;
}

uint64_t brute_force_memory(const struct pim_schedule_problem *problem)
{
    uint64_t cycles, memory;
    try_all(problem, &cycles, &memory);
    return memory;
}

void check_solution(const struct pim_schedule_problem *problem, const struct pim_schedule_solution *solution)
{
    struct pim_schedule_cost cost;
    ck_assert(pim_schedule_cost(problem, solution->layers, &cost));
    ck_assert_uint_eq(cost.cycles, solution->cycles);
    ck_assert_uint_le(cost.weights + cost.workspace, problem->memory);
    ck_assert_uint_le(solution->bound, solution->cycles);
}
