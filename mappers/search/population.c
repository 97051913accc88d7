/* A population that threads make and score; see population.h. */
#include "mappers/search/population.h"

#include <inttypes.h>
#include <stdlib.h>

static enum pim_status make_scratches(struct pim_population *population, struct pim_error *error)
{
    const struct pim_search_problem *problem = population->problem;
    while (population->scratches < pim_workers_count(population->workers)) {
        void *scratch = calloc(1, problem->scratch_size + 1);
        enum pim_status status =
            scratch ? PIM_OK : pim_fail(error, PIM_NO_MEMORY, "no memory for the threads of the search");
        if (status == PIM_OK && problem->scratch_initialize)
            status = problem->scratch_initialize(problem->context, scratch, error);
        if (status != PIM_OK) {
            free(scratch);
            return status;
        }
        population->scratch[population->scratches++] = scratch;
    }
    return PIM_OK;
}

enum pim_status pim_population_initialize(struct pim_population *population,
                                          const struct pim_search_problem *problem,
                                          const struct pim_search_budget *budget, uint32_t count,
                                          struct pim_error *error)
{
    *population = (struct pim_population){.problem = problem, .budget = budget, .count = count};
    enum pim_status status = pim_search_check(problem, budget, error);
    if (status == PIM_OK && (count < 1 || count > PIM_SEARCH_POPULATION))
        status = pim_fail(error, PIM_BAD_INPUT, "a population of %" PRIu32 ": allowed are 1 to %d", count,
                          PIM_SEARCH_POPULATION);
    if (status == PIM_OK)
        status = pim_individuals_make(problem, count, &population->made, error);
    if (status != PIM_OK)
        return status;
    population->individual = calloc((size_t)count + 1, sizeof(struct pim_individual *));
    population->outcome = calloc((size_t)count + 1, sizeof *population->outcome);
    if (!population->individual || !population->outcome)
        return pim_fail(error, PIM_NO_MEMORY, "no memory for a population of %" PRIu32, count);
    for (uint32_t i = 0; i < count; i++)
        population->individual[i] = &population->made[i];
    status = pim_workers_create(&population->workers, budget->threads, error);
    return status == PIM_OK ? make_scratches(population, error) : status;
}

void pim_population_terminate(struct pim_population *population)
{
    pim_workers_destroy(population->workers);
    for (unsigned i = 0; i < population->scratches; i++) {
        if (population->problem->scratch_terminate)
            population->problem->scratch_terminate(population->problem->context, population->scratch[i]);
        free(population->scratch[i]);
    }
    pim_individuals_free(population->problem, population->count, population->made);
    free(population->individual);
    free(population->outcome);
}

static void make_one(void *context, unsigned worker, uint64_t index)
{
    struct pim_population *population = context;
    const struct pim_search_problem *problem = population->problem;
    uint32_t place = (uint32_t)index;
    struct pim_individual *individual = population->individual[place];
    bool start = population->breed == NULL;
    struct pim_random random =
        pim_search_stream(population->budget->seed, start ? UINT32_MAX : population->generation, place);
    void *scratch = population->scratch[worker];
    bool changed = true;
    if (start)
        problem->start(problem->context, scratch, individual->data, place, &random);
    else
        changed = population->breed(population, population->breeder, scratch, place, &random);
    individual->identity = (start ? 0 : (uint64_t)population->generation + 1) << 32 | place;
    individual->digest = problem->digest ? problem->digest(problem->context, individual->data) : 0;
    population->outcome[place].scored = changed;
    population->outcome[place].status =
        changed ? pim_individual_score(problem, scratch, individual, &population->outcome[place].error)
                : PIM_OK;
}

enum pim_status pim_population_make(struct pim_population *population, uint32_t first, uint32_t last,
                                    pim_population_breed *breed, void *breeder, struct pim_error *error)
{
    population->breed = breed;
    population->breeder = breeder;
    pim_workers_run(population->workers, make_one, population, first, last);
    for (uint32_t i = first; i < last; i++) {
        population->evaluations += population->outcome[i].scored;
        if (population->outcome[i].status != PIM_OK) {
            if (error)
                *error = population->outcome[i].error;
            return population->outcome[i].status;
        }
    }
    return PIM_OK;
}
