/* The search NSGA-II; see nsga2.h. */
#include "mappers/search/nsga2.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct run {
    const struct pim_nsga2_options *options;
    const struct pim_search_problem *problem;
    struct pim_population population; /* the parents, then as many children */
    double *points;
    uint32_t *front, *selected;
    double *crowding;
    struct pim_individual **order;
};

/* The parents stand best first, so the winner of a tournament is the lower of two places. */
static uint32_t tournament(uint32_t parents, struct pim_random *random)
{
    uint64_t a = pim_random_below(random, parents), b = pim_random_below(random, parents);
    return (uint32_t)(a < b ? a : b);
}

static bool breed(struct pim_population *population, void *breeder, void *scratch, uint32_t place,
                  struct pim_random *random)
{
    const struct run *run = breeder;
    const struct pim_search_problem *problem = run->problem;
    uint32_t parents = run->options->population;
    struct pim_individual *child = population->individual[place];
    const struct pim_individual *parent = population->individual[tournament(parents, random)];
    pim_individual_copy(problem, child, parent);
    bool crossed = problem->cross && pim_random_below(random, 1000) < run->options->cross_milli;
    if (crossed)
        problem->cross(problem->context, scratch, child, parent,
                       population->individual[tournament(parents, random)], random);
    bool mutated = problem->mutate(problem->context, scratch, child->data, random);
    return mutated || crossed;
}

/* Puts the best half, by front and crowding, in front of the others. */
static enum pim_status select_half(struct run *run, uint32_t count, struct pim_error *error)
{
    uint32_t objectives = run->problem->objectives;
    struct pim_individual **individual = run->population.individual;
    enum pim_status status = PIM_OK;
    for (uint32_t i = 0; i < count; i++)
        memcpy(run->points + (size_t)i * objectives, individual[i]->score, objectives * sizeof *run->points);
    status = pim_nsga2_fronts(run->points, count, objectives, run->front, error);
    if (status == PIM_OK)
        status = pim_nsga2_crowding(run->points, count, objectives, run->front, run->crowding, error);
    if (status == PIM_OK)
        status = pim_nsga2_select(count, run->front, run->crowding, count, run->selected, error);
    for (uint32_t i = 0; i < count && status == PIM_OK; i++)
        run->order[i] = individual[run->selected[i]];
    if (status == PIM_OK)
        memcpy(individual, run->order, count * sizeof(struct pim_individual *));
    return status;
}

static double least(const struct run *run)
{
    double best = HUGE_VAL;
    for (uint32_t i = 0; i < run->options->population; i++)
        if (run->population.individual[i]->score[0] < best)
            best = run->population.individual[i]->score[0];
    return best;
}

static enum pim_status generations(struct run *run, const struct pim_search_budget *budget,
                                   struct pim_search_result *result, struct pim_error *error)
{
    struct pim_population *population = &run->population;
    uint32_t parents = run->options->population;
    struct pim_search_watch watch;
    enum pim_status status = pim_population_make(population, 0, parents, NULL, NULL, error);
    if (status == PIM_OK)
        status = select_half(run, parents, error);
    if (status != PIM_OK)
        return status;
    bool over = budget->steps == 0;
    result->best = least(run);
    pim_search_begin(&watch, budget, result->best);
    while (!over) {
        status = pim_population_make(population, parents, 2 * parents, breed, run, error);
        population->generation++;
        if (status == PIM_OK)
            status = select_half(run, 2 * parents, error);
        if (status != PIM_OK)
            return status;
        result->best = least(run);
        over = pim_search_over(&watch, ++result->steps, result->best, -HUGE_VAL, &result->end);
    }
    return PIM_OK;
}

static enum pim_status make_room(struct run *run, struct pim_error *error)
{
    uint32_t parents = run->options->population;
    size_t all = 2 * (size_t)parents;
    run->points = calloc(all * run->problem->objectives, sizeof *run->points);
    run->front = calloc(all, sizeof *run->front);
    run->selected = calloc(all, sizeof *run->selected);
    run->crowding = calloc(all, sizeof *run->crowding);
    run->order = calloc(all, sizeof(struct pim_individual *));
    return run->points && run->front && run->selected && run->crowding && run->order
               ? PIM_OK
               : pim_fail(error, PIM_NO_MEMORY, "no memory for a population of %" PRIu32, parents);
}

/* Hands out the first front, by the scores. */
static enum pim_status hand_out(struct run *run, void *best, struct pim_error *error)
{
    struct pim_individual out = {.data = best}, **individual = run->population.individual;
    uint32_t parents = run->options->population, members = 0;
    enum pim_status status = select_half(run, parents, error);
    for (uint32_t i = 0; i < parents && status == PIM_OK; i++)
        members += run->front[run->selected[i]] == 0;
    if (status == PIM_OK)
        status = pim_individuals_sort(run->problem, individual, members, error);
    if (status != PIM_OK)
        return status;
    pim_individual_copy(run->problem, &out, individual[0]);
    return run->options->done ? run->options->done(run->options->context, &run->population, members, error)
                              : PIM_OK;
}

enum pim_status pim_nsga2(const struct pim_search_problem *problem, const struct pim_nsga2_options *options,
                          const struct pim_search_budget *budget, void *best,
                          struct pim_search_result *result, struct pim_error *error)
{
    struct run run = {.options = options, .problem = problem};
    *result = (struct pim_search_result){.bound = problem->bound};
    if (options->population < 2 || options->population > PIM_SEARCH_POPULATION / 2)
        return pim_fail(error, PIM_BAD_INPUT, "a population of %" PRIu32 ": allowed are 2 to %d",
                        options->population, PIM_SEARCH_POPULATION / 2);
    enum pim_status status =
        pim_population_initialize(&run.population, problem, budget, 2 * options->population, error);
    if (status == PIM_OK)
        status = make_room(&run, error);
    if (status == PIM_OK)
        status = generations(&run, budget, result, error);
    if (status == PIM_OK)
        status = hand_out(&run, best, error);
    result->evaluations = run.population.evaluations;
    free(run.points);
    free(run.front);
    free(run.selected);
    free(run.crowding);
    free(run.order);
    pim_population_terminate(&run.population);
    return status;
}
