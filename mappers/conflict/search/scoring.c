/* What a search of mappings is scored by: run.h. */
#include "mappers/conflict/search/run.h"

#include "mappers/conflict/estimators/estimator.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const struct pim_place_routes routes = {.undirected = true, .stretch = true};

static size_t load_size(const struct pim_tile_problem *problem)
{
    return (size_t)problem->cells * PIM_PLACE_DIRECTIONS * sizeof(uint64_t);
}

static uint64_t hops(const struct pim_tile_problem *problem, const uint32_t *place)
{
    return pim_place_hops(&problem->options->grid, problem->flows, problem->graph->edges, place);
}

/* Through the worst link; `load`: room for all of them. */
static uint64_t worst_load(const struct pim_tile_problem *problem, const uint32_t *place, uint64_t *load)
{
    memset(load, 0, load_size(problem));
    pim_place_loads(&problem->options->grid, problem->flows, problem->graph->edges, place, &routes, load);
    return pim_place_worst(&problem->options->grid, load, NULL);
}

/* The room of a learned fitness, in a thread's scratch. */
static struct pim_tile_estimation **estimation_of(const struct pim_tile_run *run, void *scratch)
{
    return (struct pim_tile_estimation **)(void *)((char *)scratch + run->estimation_at);
}

static enum pim_status make_estimation(void *context, void *scratch, struct pim_error *error)
{
    const struct pim_tile_run *run = context;
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
    struct pim_tile_run *run = context;
    const uint32_t *place = problem->places(problem, data);
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
        scores[0] = (double)hops(problem, place);
    if (run->fitness == PIM_TILE_BY_BOTTLENECK || problem->search.objectives > 1) {
        void *load = (char *)scratch + run->load_at;
        scores[problem->search.objectives > 1] = (double)worst_load(problem, place, load);
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

enum pim_status pim_tile_run_problem(struct pim_tile_run *run, struct pim_error *error)
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
    problem->search.scratch_size = run->load_at + load_size(problem);
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

enum pim_status pim_tile_run_judge(const struct pim_tile_run *run, const uint32_t *place, uint64_t *cost,
                                   uint64_t *bottleneck, struct pim_error *error)
{
    const struct pim_tile_problem *problem = &run->problem;
    uint64_t *load = malloc(load_size(problem));
    if (!load)
        return pim_fail(error, PIM_NO_MEMORY, "no memory for %" PRIu32 " cells", problem->cells);
    *cost = hops(problem, place);
    *bottleneck = worst_load(problem, place, load);
    free(load);
    return PIM_OK;
}
