/* A mapping from its options: the problem is made, searched, and the best of the end simulated. */
#include "mappers/conflict/search/run.h"

#include "mappers/conflict/estimators/estimator.h"
#include "mappers/search/evolution.h"
#include "mappers/search/nsga2.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static enum pim_status choose_of_front(void *context, struct pim_population *population, uint32_t front,
                                       struct pim_error *error)
{
    struct pim_tile_run *run = context;
    run->result->front = front;
    return pim_tile_run_choose(context, population, error);
}

/* The survivors of the search by cost, byte for byte: an individual owns nothing. */
static enum pim_status keep_seeds(void *context, struct pim_population *population, struct pim_error *error)
{
    struct pim_tile_run *run = context;
    size_t size = run->problem.search.size;
    uint32_t count = run->options->population;
    run->seed = malloc(count * size);
    if (!run->seed)
        return pim_fail(error, PIM_NO_MEMORY, "no memory for %" PRIu32 " mappings", count);
    for (uint32_t i = 0; i < count; i++)
        memcpy(run->seed + i * size, population->individual[i]->data, size);
    run->seeds = count;
    run->chosen = pim_tile_run_is_over(run);
    return run->chosen ? pim_tile_run_choose(context, population, error) : PIM_OK;
}

/* A simulation of a child ends where the last survivor does: it would not survive. */
static bool note_limit(void *context, struct pim_population *population)
{
    struct pim_tile_run *run = context;
    run->limit = pim_tile_limit(population, run->options->population);
    return false;
}

/* The survivors themselves, then mutants of them. */
static void start_from_seed(void *context, void *scratch, void *data, uint64_t index,
                            struct pim_random *random)
{
    struct pim_tile_run *run = context;
    const struct pim_search_problem *search = &run->problem.search;
    memcpy(data, run->seed + index % run->seeds * search->size, search->size);
    if (index >= run->seeds)
        (void)search->mutate(context, scratch, data, random);
}

/* The search by cost whose survivors are the start of the real one. */
static enum pim_status search_by_cost(struct pim_tile_run *run, const struct pim_evolution_options *evolution,
                                      const struct pim_search_budget *budget, void *best,
                                      struct pim_error *error)
{
    struct pim_search_problem by_cost = run->problem.search;
    struct pim_evolution_options options = *evolution;
    struct pim_search_budget quiet = *budget;
    quiet.progress = NULL;
    options.done = keep_seeds;
    options.sorted = NULL;
    by_cost.objectives = 1;
    run->fitness = PIM_TILE_BY_COST;
    uint32_t objectives = run->problem.search.objectives;
    run->problem.search.objectives = 1;
    enum pim_status status = pim_evolve(&by_cost, &options, &quiet, best, &run->result->search, error);
    run->problem.search.objectives = objectives;
    run->fitness = run->options->fitness;
    run->problem.search.start = start_from_seed;
    return status;
}

static enum pim_status search(struct pim_tile_run *run, uint64_t seed, struct pim_error *error)
{
    const struct pim_tile_mapping_options *options = run->options;
    struct pim_tile_problem *problem = &run->problem;
    bool by_cost = options->fitness == PIM_TILE_BY_COST || run->share > 0;
    struct pim_search_budget budget = {.seed = seed,
                                       .steps = options->generations,
                                       .seconds = pim_search_limit_left(&run->deadline.limit),
                                       .threads = options->threads,
                                       .stop = options->stop,
                                       .stop_context = options->stop_context,
                                       .progress = options->progress,
                                       .progress_context = options->progress_context};
    const struct pim_nsga2_options sorting = {
        .population = options->population, .cross_milli = 900, .done = choose_of_front, .context = run};
    bool authors = options->mapping == PIM_TILE_NODE_GROUP;
    const struct pim_evolution_options evolution = {
        .population = options->population * (options->mapping == PIM_TILE_HEURISTIC ? 3 : 2),
        .survivors = options->population,
        .each = authors,
        .cross_milli = authors ? 0 : 500,
        .breed = problem->breed,
        .breeder = problem,
        .sorted = options->fitness == PIM_TILE_BY_SIMULATION && !by_cost ? note_limit : NULL,
        .done = pim_tile_run_choose,
        .context = run};
    void *best = calloc(1, problem->search.size);
    if (!best)
        return pim_fail(error, PIM_NO_MEMORY, "no memory for the search");
    enum pim_status status = PIM_OK;
    run->fitness = by_cost ? PIM_TILE_BY_COST : options->fitness;
    if (run->share == 0 && run->seeds > 0)
        problem->search.start = start_from_seed; /* other searches gave them */
    else if (!by_cost || options->mapping == PIM_TILE_NSGA2)
        status = search_by_cost(run, &evolution, &budget, best, error);
    budget.seconds = pim_search_limit_left(&run->deadline.limit);
    if (status == PIM_OK && !run->chosen)
        status = options->mapping == PIM_TILE_NSGA2
                     ? pim_nsga2(&problem->search, &sorting, &budget, best, &run->result->search, error)
                     : pim_evolve(&problem->search, &evolution, &budget, best, &run->result->search, error);
    free(best);
    return status;
}

static enum pim_status search_once(struct pim_tile_run *run, const struct pim_search_problem *whole,
                                   uint64_t seed, struct pim_error *error)
{
    struct pim_tile_mapping_result *result = run->result;
    const struct pim_search_result before = result->search;
    run->problem.search = *whole;
    run->limit = HUGE_VAL;
    enum pim_status status = search(run, seed, error);
    result->search.steps += before.steps;
    result->search.evaluations += before.evaluations;
    return status;
}

/* Searches with seeds of their own. What they share are the fastest finalists, and the fastest of all. Those
 * before a search by simulation are by cost. */
static enum pim_status search_often(struct pim_tile_run *run, struct pim_error *error)
{
    const struct pim_tile_mapping_options *options = run->options;
    struct pim_tile_mapping_result *result = run->result;
    const struct pim_search_problem whole = run->problem.search;
    uint32_t searches =
        options->simulate && options->finalists > 0 && options->searches > 1 ? options->searches : 1;
    bool simulation = options->fitness == PIM_TILE_BY_SIMULATION && searches > 1;
    uint64_t seeds = options->seed;
    enum pim_status status = PIM_OK;
    if (simulation)
        run->share = (options->population + searches - 1) / searches;
    while (status == PIM_OK && result->searches < searches &&
           (result->searches == 0 || !pim_tile_run_is_over(run))) {
        if (!simulation) {
            free(run->seed);
            run->seed = NULL;
            run->seeds = 0;
        }
        status =
            search_once(run, &whole, result->searches == 0 ? options->seed : pim_splitmix64(&seeds), error);
        result->searches++;
    }
    run->share = 0;
    return status == PIM_OK && simulation && !pim_tile_run_is_over(run)
               ? search_once(run, &whole, options->seed, error)
               : status;
}

static void terminate(struct pim_tile_problem *problem)
{
    free(problem->flows);
    free(problem->order);
    free(problem->group);
    free(problem->member);
    free(problem->first);
    free(problem->offset);
}

static enum pim_status check(const struct pim_tile_graph *graph,
                             const struct pim_tile_mapping_options *options, struct pim_error *error)
{
    const struct pim_grid *grid = &options->grid;
    if (grid->width == 0 || grid->height == 0 || grid->height > PIM_PLACE_CELLS / grid->width)
        return pim_fail(error, PIM_BAD_INPUT, "a mesh of %" PRIu32 " x %" PRIu32 " tiles", grid->width,
                        grid->height);
    if (graph->nodes > pim_grid_cells(grid))
        return pim_fail(error, PIM_BAD_INPUT,
                        "the network needs %" PRIu32 " tiles, but the mesh of %" PRIu32 " x %" PRIu32
                        " has %" PRIu32 ": %" PRIu32 " %s missing",
                        graph->nodes, grid->width, grid->height, pim_grid_cells(grid),
                        graph->nodes - pim_grid_cells(grid),
                        graph->nodes - pim_grid_cells(grid) == 1 ? "is" : "are");
    if (options->population < 2 || options->population > 65536)
        return pim_fail(error, PIM_BAD_INPUT, "a population of %" PRIu32 ": allowed are 2 to 65536",
                        options->population);
    if ((unsigned)options->mapping >= PIM_TILE_MAPPINGS || (unsigned)options->fitness >= PIM_TILE_FITNESSES)
        return pim_fail(error, PIM_BAD_INPUT, "there is no such mapping or fitness");
    if (options->fitness == PIM_TILE_BY_SIMULATION && !options->simulate)
        return pim_fail(error, PIM_BAD_INPUT, "simulation as fitness needs a simulator");
    if (options->fitness > PIM_TILE_BY_SIMULATION &&
        (!options->setting || !options->estimator ||
         options->estimator->kind + PIM_TILE_BY_MLP != (unsigned)options->fitness))
        return pim_fail(error, PIM_BAD_INPUT, "%s as fitness needs the estimator of that name",
                        pim_tile_fitness_name(options->fitness));
    return PIM_OK;
}

/* Whether a simulation that was asked for has not ended. */
static bool stopped(struct pim_tile_run *run)
{
    const struct pim_tile_mapping_result *result = run->result;
    return run->options->simulate && (isnan(result->latency_ns) || isnan(result->interval_ns)) &&
           pim_tile_run_is_over(run);
}

/* All images are replayed once, on the mapping that is taken. */
static enum pim_status judge_images(struct pim_tile_run *run, struct pim_error *error)
{
    const struct pim_tile_mapping_options *options = run->options;
    struct pim_tile_mapping_result *result = run->result;
    double latency, interval = (double)NAN;
    enum pim_status status = PIM_OK;
    const bool asked = options->images > 1 && isfinite(result->latency_ns);
    const bool first = options->judge && !options->simulate; /* nothing was simulated before */
    result->interval_ns = result->latency_ns;
    if (options->judge && !isinf(result->latency_ns) && !stopped(run))
        status = pim_tile_judge_found(&run->deadline, run->place, &interval, error);
    else if (!options->judge && asked)
        status = pim_tile_simulate_found(&run->deadline, run->place, &latency, &interval, error);
    if (asked || first || isinf(interval))
        result->interval_ns = interval;
    if (first && options->images <= 1)
        result->latency_ns = interval;
    return status;
}

enum pim_status pim_tile_map(const struct pim_tile_graph *graph,
                             const struct pim_tile_mapping_options *options, uint32_t *place,
                             struct pim_tile_mapping_result *result, struct pim_error *error)
{
    struct pim_tile_run run = {
        .options = options, .place = place, .result = result, .limit = HUGE_VAL, .deadline.options = options};
    pim_search_limit_begin(&run.deadline.limit, options->seconds, options->stop, options->stop_context);
    *result = (struct pim_tile_mapping_result){.latency_ns = nan(""), .interval_ns = nan("")};
    if (check(graph, options, error) != PIM_OK)
        return error->status;
    run.problem = (struct pim_tile_problem){.graph = graph,
                                            .options = options,
                                            .flows = pim_tile_flows(graph),
                                            .cells = pim_grid_cells(&options->grid)};
    if (!run.problem.flows)
        return pim_fail(error, PIM_NO_MEMORY, "no memory for %" PRIu32 " edges", graph->edges);
    result->searched = options->mapping > PIM_TILE_BOUSTROPHEDON;
    enum pim_status status = PIM_OK;
    if (result->searched) {
        status = pim_tile_run_problem(&run, error);
        if (status == PIM_OK)
            status = search_often(&run, error);
        if (status == PIM_OK && options->refinement > 0 && !pim_tile_run_is_over(&run))
            status = pim_tile_refine(graph, &run.deadline, run.first, run.firsts, place, result, error);
    } else {
        pim_tile_pattern(options->mapping, &options->grid, graph->nodes, place);
        if (options->simulate)
            status = pim_tile_simulate_found(&run.deadline, place, &result->latency_ns, NULL, error);
    }
    if (status == PIM_OK)
        status = judge_images(&run, error);
    result->stopped = stopped(&run);
    result->ended_early = pim_search_end_cause(result->search.end);
    if (!result->ended_early)
        result->ended_early = pim_search_limit_cause(&run.deadline.limit);
    if (status == PIM_OK)
        status = pim_tile_run_judge(&run, place, &result->cost, &result->bottleneck, error);
    terminate(&run.problem);
    free(run.seed);
    free(run.first);
    return status;
}
