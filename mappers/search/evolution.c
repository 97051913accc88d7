/* Evolution with one objective; see evolution.h. */
#include "mappers/search/evolution.h"

#include <inttypes.h>

struct run {
    const struct pim_evolution_options *options;
    const struct pim_search_problem *problem;
    struct pim_population population;
};

static uint32_t parent_of(const struct pim_evolution_options *options, uint32_t place,
                          struct pim_random *random)
{
    if (options->each)
        return (place - options->survivors) % options->survivors;
    uint64_t a = pim_random_below(random, options->survivors),
             b = pim_random_below(random, options->survivors);
    return (uint32_t)(a < b ? a : b);
}

static bool breed(struct pim_population *population, void *breeder, void *scratch, uint32_t place,
                  struct pim_random *random)
{
    const struct run *run = breeder;
    const struct pim_evolution_options *options = run->options;
    const struct pim_search_problem *problem = population->problem;
    struct pim_individual *child = population->individual[place];
    const struct pim_individual *parent = population->individual[parent_of(options, place, random)];
    pim_individual_copy(problem, child, parent);
    bool changed = false;
    if (problem->cross && options->cross_milli > 0 && pim_random_below(random, 1000) < options->cross_milli) {
        uint64_t other = pim_random_below(random, options->survivors),
                 another = pim_random_below(random, options->survivors);
        problem->cross(problem->context, scratch, child, parent,
                       population->individual[other < another ? other : another], random);
        changed = true;
    }
    uint32_t done = 0;
    do {
        bool mutated = problem->mutate(problem->context, scratch, child->data, random);
        changed = changed || mutated;
        done++;
    } while (done < options->mutations && pim_random_below(random, 2));
    return changed;
}

/* Behind the sorting: of twins the older stays, the others go to the end. */
static void part_twins(struct pim_population *population)
{
    struct pim_individual **individual = population->individual;
    uint32_t kept = 0, last = population->count;
    for (uint32_t i = 0; i < last;) {
        bool twin = false;
        for (uint32_t k = kept; k-- > 0 && !twin && individual[k]->score[0] == individual[i]->score[0];)
            twin = individual[k]->digest == individual[i]->digest;
        if (!twin) {
            kept = ++i;
            continue;
        }
        struct pim_individual *out = individual[i];
        last--;
        for (uint32_t k = i; k < last; k++)
            individual[k] = individual[k + 1];
        individual[last] = out;
    }
}

static enum pim_status check(const struct pim_evolution_options *options, struct pim_error *error)
{
    if (options->survivors < 1 || options->survivors >= options->population)
        return pim_fail(error, PIM_BAD_INPUT,
                        "%" PRIu32 " survivors in a population of %" PRIu32 ": 1 to %" PRIu32 " are possible",
                        options->survivors, options->population,
                        options->population > 0 ? options->population - 1 : 0);
    return PIM_OK;
}

static enum pim_status order(struct run *run, struct pim_error *error)
{
    struct pim_population *population = &run->population;
    enum pim_status status =
        pim_individuals_sort(run->problem, population->individual, population->count, error);
    if (status == PIM_OK && run->problem->digest)
        part_twins(population);
    return status;
}

static enum pim_status one_generation(struct run *run, struct pim_error *error)
{
    const struct pim_evolution_options *options = run->options;
    struct pim_population *population = &run->population;
    enum pim_status status = pim_population_make(population, options->survivors, options->population,
                                                 options->breed ? options->breed : breed,
                                                 options->breed ? options->breeder : run, error);
    if (status != PIM_OK)
        return status;
    population->generation++;
    if (options->bred)
        options->bred(options->context, population);
    return order(run, error);
}

static enum pim_status generations(struct run *run, const struct pim_search_budget *budget,
                                   struct pim_search_result *result, struct pim_error *error)
{
    const struct pim_evolution_options *options = run->options;
    struct pim_population *population = &run->population;
    struct pim_search_watch watch;
    enum pim_status status = pim_population_make(population, 0, population->count, NULL, NULL, error);
    if (status == PIM_OK)
        status = order(run, error);
    if (status != PIM_OK)
        return status;
    double best = population->individual[0]->score[0];
    bool over = budget->steps == 0;
    result->end = PIM_SEARCH_STEPS;
    pim_search_begin(&watch, budget, best);
    while (!over && status == PIM_OK) {
        status = one_generation(run, error);
        best = population->individual[0]->score[0];
        result->steps++;
        over = pim_search_over(&watch, result->steps, best, run->problem->bound, &result->end);
        if (options->sorted && options->sorted(options->context, population) && !over) {
            over = true;
            result->end = PIM_SEARCH_PATIENCE;
        }
    }
    result->best = best;
    return status;
}

enum pim_status pim_evolve(const struct pim_search_problem *problem,
                           const struct pim_evolution_options *options,
                           const struct pim_search_budget *budget, void *best,
                           struct pim_search_result *result, struct pim_error *error)
{
    struct run run = {.options = options, .problem = problem};
    *result = (struct pim_search_result){.bound = problem->bound};
    enum pim_status status = check(options, error);
    if (status != PIM_OK)
        return status;
    status = pim_population_initialize(&run.population, problem, budget, options->population, error);
    if (status == PIM_OK)
        status = generations(&run, budget, result, error);
    result->evaluations = run.population.evaluations;
    if (status == PIM_OK) {
        struct pim_individual out = {.data = best};
        pim_individual_copy(problem, &out, run.population.individual[0]);
        if (options->done)
            status = options->done(options->context, &run.population, error);
    }
    pim_population_terminate(&run.population);
    return status;
}
