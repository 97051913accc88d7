/* A mapping from its options: the problem is made, searched, and the best of the end simulated. */
#include "mappers/conflict/mapping.h"

#include "mappers/conflict/estimators/estimator.h"
#include "mappers/search/evolution.h"
#include "mappers/search/nsga2.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Link loads of a thread stand behind the room of the mapping. */
struct run {
    struct pim_tile_problem problem;
    const struct pim_tile_mapping_options *options;
    size_t load_at, estimation_at; /* in a thread's scratch */
    uint32_t *place;
    struct pim_tile_mapping_result *result;
    struct pim_tile_deadline deadline;
    bool chosen; /* time was over before the search itself */
    /* of the finalists */
    uint32_t finalists; /* of the last population; the others are seeds */
    double *latency, *interval;
    enum pim_status *status;
    struct pim_error *errors;
    struct pim_population *population;
    uint32_t *first; /* places of the fastest of all searches, one mapping behind the other */
    uint32_t firsts;
    double first_latency[PIM_TILE_STARTS];
    double limit; /* no child that is slower survives */
    /* A search by anything but cost starts from the survivors of a search by cost, one by simulation from the
     * fastest finalists of several. */
    enum pim_tile_fitness fitness; /* of the search that goes on */
    uint32_t share;                /* of the seeds that each search gives; 0: it is no search for seeds */
    uint32_t seeds;
    unsigned char *seed;
};

enum { FINALISTS_AT_A_TIME = 16 };

static const uint32_t NO_WINNER = UINT32_MAX;

static const struct pim_place_routes routes = {.undirected = true, .stretch = true};

/* The room of a learned fitness, in a thread's scratch. */
static struct pim_tile_estimation **estimation_of(const struct run *run, void *scratch)
{
    return (struct pim_tile_estimation **)(void *)((char *)scratch + run->estimation_at);
}

static enum pim_status make_estimation(void *context, void *scratch, struct pim_error *error)
{
    const struct run *run = context;
    struct pim_tile_estimation **estimation = estimation_of(run, scratch);
    *estimation = pim_tile_estimation_create(run->options->setting, run->options->estimator);
    return *estimation ? PIM_OK : pim_fail(error, PIM_NO_MEMORY, "no memory for an estimator");
}

static void free_estimation(void *context, void *scratch)
{
    pim_tile_estimation_destroy(*estimation_of(context, scratch));
}

/* Only the problem's start and mutation know how an individual looks; scores read its places. The context of
   the search is the problem, which is the first member of the run. */
static enum pim_status score(void *context, void *scratch, void *data, double *scores,
                             struct pim_error *error)
{
    const struct pim_tile_problem *problem = context;
    struct run *run = context;
    const struct pim_grid *grid = &run->options->grid;
    const uint32_t *place = problem->places(problem, data);
    uint32_t edges = problem->graph->edges;
    if (run->fitness == PIM_TILE_BY_SIMULATION) {
        double latency, interval;
        const struct pim_tile_limits limits = {run->limit, pim_search_limit_over, &run->deadline.limit};
        bool both = problem->search.objectives > 1;
        enum pim_status status = run->options->simulate(run->options->simulate_context, place, &limits,
                                                        &latency, both ? &interval : NULL, error);
        scores[0] = latency;
        if (both)
            scores[1] = interval;
        return status;
    }
    if (run->fitness > PIM_TILE_BY_SIMULATION)
        scores[0] = pim_tile_estimation_latency(*estimation_of(run, scratch), place);
    else
        scores[0] = (double)pim_place_hops(grid, problem->flows, edges, place);
    if (run->fitness == PIM_TILE_BY_BOTTLENECK || problem->search.objectives > 1) {
        uint64_t *load = (uint64_t *)(void *)((char *)scratch + run->load_at);
        memset(load, 0, (size_t)problem->cells * PIM_PLACE_DIRECTIONS * sizeof *load);
        pim_place_loads(grid, problem->flows, edges, place, &routes, load);
        double worst = (double)pim_place_worst(grid, load, NULL);
        if (problem->search.objectives > 1)
            scores[1] = worst;
        else
            scores[0] = worst;
    }
    return PIM_OK;
}

uint64_t pim_tile_digest(const uint32_t *place, uint32_t nodes)
{
    uint64_t state = 0;
    for (uint32_t n = 0; n < nodes; n++) {
        state ^= place[n];
        state = pim_splitmix64(&state);
    }
    return state;
}

static uint64_t digest(void *context, const void *data)
{
    const struct pim_tile_problem *problem = context;
    return pim_tile_digest(problem->places(problem, data), problem->graph->nodes);
}

static bool over(struct run *run)
{
    return pim_search_limit_over(&run->deadline.limit);
}

/* --- the end --- */

static const uint32_t *finalist_places(const struct run *run, uint64_t index)
{
    const struct pim_tile_problem *problem = &run->problem;
    if (index < run->finalists)
        return problem->places(problem, run->population->individual[index]->data);
    return problem->places(problem, run->seed + (index - run->finalists) * problem->search.size);
}

static void simulate_one(void *context, unsigned worker, uint64_t index)
{
    struct run *run = context;
    (void)worker;
    run->status[index] =
        pim_tile_simulate_found(&run->deadline, finalist_places(run, index), &run->latency[index],
                                run->options->finalist ? &run->interval[index] : NULL, &run->errors[index]);
}

static void tell_finalist(const struct run *run, uint32_t index)
{
    const struct pim_tile_problem *problem = &run->problem;
    const struct pim_grid *grid = &run->options->grid;
    const uint32_t *place = finalist_places(run, index);
    uint64_t *load = calloc((size_t)problem->cells * PIM_PLACE_DIRECTIONS, sizeof *load);
    if (!load)
        return;
    pim_place_loads(grid, problem->flows, problem->graph->edges, place, &routes, load);
    const struct pim_tile_finalist finalist = {
        .rank = index,
        .cost = pim_place_hops(grid, problem->flows, problem->graph->edges, place),
        .bottleneck = pim_place_worst(grid, load, NULL),
        .latency_ns = run->latency[index],
        .interval_ns = run->interval[index],
        .place = place};
    free(load);
    run->options->finalist(run->options->finalist_context, &finalist);
}

/* Local moves begin at the fastest finalists of all searches so far. */
static enum pim_status keep_fastest(struct run *run, uint32_t count, struct pim_error *error)
{
    size_t nodes = run->problem.graph->nodes;
    uint32_t first[PIM_TILE_STARTS], known = run->firsts;
    double *latency = calloc((size_t)known + count, sizeof *latency);
    uint32_t *kept = calloc(PIM_TILE_STARTS * nodes + 1, sizeof *kept);
    if (!latency || !kept) {
        free(latency);
        free(kept);
        return pim_fail(error, PIM_NO_MEMORY, "no memory for %" PRIu32 " mappings", known + count);
    }
    memcpy(latency, run->first_latency, known * sizeof *latency);
    memcpy(latency + known, run->latency, count * sizeof *latency);
    run->firsts = pim_tile_fastest(latency, known + count, first);
    for (uint32_t i = 0; i < run->firsts; i++) {
        const uint32_t *place =
            first[i] < known ? run->first + first[i] * nodes : finalist_places(run, first[i] - known);
        memcpy(kept + i * nodes, place, nodes * sizeof *kept);
        run->first_latency[i] = latency[first[i]];
    }
    free(latency);
    free(run->first);
    run->first = kept;
    return PIM_OK;
}

/* All of them, or as many as there is time for; `winner` is set where one is faster than those before. */
static enum pim_status simulate_finalists(struct run *run, uint32_t asked, uint32_t *winner,
                                          struct pim_error *error)
{
    struct pim_tile_mapping_result *result = run->result;
    uint32_t count = 0, ended = 0;
    double least = result->latency_ns; /* of the searches before; NAN: nothing is known */
    do {
        uint32_t next = count + FINALISTS_AT_A_TIME < asked ? count + FINALISTS_AT_A_TIME : asked;
        pim_workers_run(run->population->workers, simulate_one, run, count, next);
        count = next;
    } while (count < asked && !over(run));
    for (uint32_t i = 0; i < count; i++) {
        if (run->status[i] != PIM_OK) {
            if (error)
                *error = run->errors[i];
            return run->status[i];
        }
        if (isnan(run->latency[i])) /* stopped: it may be anything */
            continue;
        ended++;
        if (isnan(least) || run->latency[i] < least) {
            *winner = i;
            least = run->latency[i];
        }
        if (run->options->finalist)
            tell_finalist(run, i);
    }
    result->finalists += ended;
    if (ended == 0) {
        double known = run->population->individual[0]->score[0];
        if (isnan(least) && run->fitness == PIM_TILE_BY_SIMULATION && isfinite(known))
            result->latency_ns = known;
        return PIM_OK;
    }
    result->latency_ns = least;
    return ended == count ? keep_fastest(run, count, error) : PIM_OK; /* else there is no time for more */
}

/* The fastest finalists become seeds of the search by simulation, byte for byte: they own nothing. */
static enum pim_status give_seeds(struct run *run, uint32_t count, struct pim_error *error)
{
    size_t size = run->problem.search.size;
    unsigned char *seed = realloc(run->seed, ((size_t)run->seeds + run->share) * size);
    if (!seed)
        return pim_fail(error, PIM_NO_MEMORY, "no memory for %" PRIu32 " mappings", run->seeds + run->share);
    run->seed = seed;
    for (uint32_t given = 0; given < run->share; given++) {
        uint32_t fastest = NO_WINNER;
        for (uint32_t i = 0; i < count; i++)
            if (run->latency[i] < HUGE_VAL &&
                (fastest == NO_WINNER || run->latency[i] < run->latency[fastest]))
                fastest = i;
        if (fastest == NO_WINNER)
            break;
        memcpy(run->seed + run->seeds++ * size, run->population->individual[fastest]->data, size);
        run->latency[fastest] = HUGE_VAL; /* given */
    }
    return PIM_OK;
}

/* The best by fitness, or by simulation of the first `finalists`. */
static enum pim_status choose(void *context, struct pim_population *population, struct pim_error *error)
{
    struct run *run = context;
    const struct pim_tile_mapping_options *options = run->options;
    uint32_t count = options->simulate ? options->finalists : 0;
    uint32_t winner = run->result->searches == 0 ? 0 : NO_WINNER;
    count = count < options->population ? count : options->population;
    if (options->fitness == PIM_TILE_BY_SIMULATION && run->share == 0)
        count = options->population < PIM_TILE_STARTS ? options->population : PIM_TILE_STARTS;
    run->population = population;
    run->finalists = count > 0 ? count : 1; /* without simulations the first wins */
    if (run->seed && options->fitness != PIM_TILE_BY_SIMULATION && !run->chosen)
        count += count < run->seeds ? count : run->seeds;
    enum pim_status status = PIM_OK;
    if (count > 0) {
        run->latency = calloc(count, sizeof *run->latency);
        run->interval = calloc(count, sizeof *run->interval);
        run->status = calloc(count, sizeof *run->status);
        run->errors = calloc(count, sizeof *run->errors);
        status = run->latency && run->interval && run->status && run->errors
                     ? simulate_finalists(run, count, &winner, error)
                     : pim_fail(error, PIM_NO_MEMORY, "no memory for %" PRIu32 " mappings", count);
        if (status == PIM_OK && run->share > 0)
            status = give_seeds(run, count, error);
        free(run->latency);
        free(run->interval);
        free(run->status);
        free(run->errors);
    }
    if (winner != NO_WINNER)
        memcpy(run->place, finalist_places(run, winner), run->problem.graph->nodes * sizeof *run->place);
    return status;
}

static enum pim_status choose_of_front(void *context, struct pim_population *population, uint32_t front,
                                       struct pim_error *error)
{
    struct run *run = context;
    run->result->front = front;
    return choose(context, population, error);
}

/* --- searches --- */

/* The survivors of the search by cost, byte for byte: an individual owns nothing. */
static enum pim_status keep_seeds(void *context, struct pim_population *population, struct pim_error *error)
{
    struct run *run = context;
    size_t size = run->problem.search.size;
    uint32_t count = run->options->population;
    run->seed = malloc(count * size);
    if (!run->seed)
        return pim_fail(error, PIM_NO_MEMORY, "no memory for %" PRIu32 " mappings", count);
    for (uint32_t i = 0; i < count; i++)
        memcpy(run->seed + i * size, population->individual[i]->data, size);
    run->seeds = count;
    run->chosen = over(run);
    return run->chosen ? choose(context, population, error) : PIM_OK;
}

/* A simulation of a child ends where the last survivor does: it would not survive. */
static bool note_limit(void *context, struct pim_population *population)
{
    struct run *run = context;
    run->limit = pim_tile_limit(population, run->options->population);
    return false;
}

/* The survivors themselves, then mutants of them. */
static void start_from_seed(void *context, void *scratch, void *data, uint64_t index,
                            struct pim_random *random)
{
    struct run *run = context;
    const struct pim_search_problem *search = &run->problem.search;
    memcpy(data, run->seed + index % run->seeds * search->size, search->size);
    if (index >= run->seeds)
        (void)search->mutate(context, scratch, data, random);
}

/* The search by cost whose survivors are the start of the real one. */
static enum pim_status search_by_cost(struct run *run, const struct pim_evolution_options *evolution,
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

static enum pim_status make_problem(struct run *run, struct pim_error *error)
{
    struct pim_tile_problem *problem = &run->problem;
    const struct pim_tile_mapping_options *options = run->options;
    uint32_t nodes = problem->graph->nodes, most = options->group_most;
    enum pim_status status = PIM_OK;
    problem->search = (struct pim_search_problem){
        .context = run, .objectives = 1, .bound = -HUGE_VAL, .score = score, .digest = digest};
    problem->order = pim_tile_heavy_edges(problem->graph);
    if (!problem->order)
        return pim_fail(error, PIM_NO_MEMORY, "no memory for %" PRIu32 " edges", problem->graph->edges);
    if (options->mapping == PIM_TILE_HEURISTIC)
        pim_tile_heuristic_problem(problem);
    else if (options->mapping == PIM_TILE_NODE_GROUP)
        pim_tile_node_group_problem(problem);
    else
        status = pim_tile_groups_problem(problem,
                                         options->mapping == PIM_TILE_GROUPS ? 0
                                         : most                              ? most
                                                                             : (nodes + 15) / 16,
                                         error);
    if (options->mapping == PIM_TILE_NSGA2)
        problem->search.objectives = 2;
    run->load_at = (problem->search.scratch_size + 15) / 16 * 16;
    problem->search.scratch_size =
        run->load_at + (size_t)problem->cells * PIM_PLACE_DIRECTIONS * sizeof(uint64_t);
    if (options->fitness > PIM_TILE_BY_SIMULATION) {
        run->estimation_at = problem->search.scratch_size;
        problem->search.scratch_size += sizeof(struct pim_tile_estimation *);
        problem->search.scratch_initialize = make_estimation;
        problem->search.scratch_terminate = free_estimation;
    }
    run->result->groups = problem->groups;
    run->result->space = pim_tile_space(problem->cells, problem->groups ? problem->groups : nodes);
    return status;
}

static enum pim_status search(struct run *run, uint64_t seed, struct pim_error *error)
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
        .done = choose,
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

static enum pim_status search_once(struct run *run, const struct pim_search_problem *whole, uint64_t seed,
                                   struct pim_error *error)
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
static enum pim_status search_often(struct run *run, struct pim_error *error)
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
    while (status == PIM_OK && result->searches < searches && (result->searches == 0 || !over(run))) {
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
    return status == PIM_OK && simulation && !over(run) ? search_once(run, &whole, options->seed, error)
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

/* What a mapping costs, whatever it was searched by. */
static enum pim_status judge(struct run *run, struct pim_error *error)
{
    const struct pim_tile_problem *problem = &run->problem;
    const struct pim_grid *grid = &run->options->grid;
    uint64_t *load = calloc((size_t)problem->cells * PIM_PLACE_DIRECTIONS, sizeof *load);
    if (!load)
        return pim_fail(error, PIM_NO_MEMORY, "no memory for %" PRIu32 " cells", problem->cells);
    run->result->cost = pim_place_hops(grid, problem->flows, problem->graph->edges, run->place);
    pim_place_loads(grid, problem->flows, problem->graph->edges, run->place, &routes, load);
    run->result->bottleneck = pim_place_worst(grid, load, NULL);
    free(load);
    return PIM_OK;
}

/* Whether a simulation that was asked for has not ended. */
static bool stopped(struct run *run)
{
    const struct pim_tile_mapping_result *result = run->result;
    return run->options->simulate && (isnan(result->latency_ns) || isnan(result->interval_ns)) && over(run);
}

/* All images are replayed once, on the mapping that is taken. */
static enum pim_status judge_images(struct run *run, struct pim_error *error)
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
    struct run run = {
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
        status = make_problem(&run, error);
        if (status == PIM_OK)
            status = search_often(&run, error);
        if (status == PIM_OK && options->refinement > 0 && !over(&run))
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
        status = judge(&run, error);
    terminate(&run.problem);
    free(run.seed);
    free(run.first);
    return status;
}
