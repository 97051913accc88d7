/*
 * The end of a search: local moves on the fastest mappings, judged by simulation alone. A small evolution in
 * which a child is a survivor with one to three nodes moved: a node of a random edge goes to a cell near the
 * other end, and what stands there goes back to where it came from.
 */
#include "mappers/conflict/mapping.h"

#include "mappers/search/evolution.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { CHILDREN = 8, MOVES = 3, REACH = 2 };

struct refinement {
    const struct pim_tile_graph *graph;
    struct pim_tile_deadline *deadline;
    const uint32_t *start; /* places of the mappings it begins with, one behind the other */
    uint32_t starts;
    double limit; /* of a simulation: the last survivor's latency */
};

/* A step along one axis that stays on the grid. */
static uint32_t shifted(uint32_t at, uint32_t size, struct pim_random *random)
{
    uint32_t low = at > REACH ? at - REACH : 0, high = at + REACH < size ? at + REACH : size - 1;
    return low + (uint32_t)pim_random_below(random, (uint64_t)high - low + 1);
}

static bool move(void *context, void *scratch, void *data, struct pim_random *random)
{
    const struct refinement *refinement = context;
    const struct pim_tile_graph *graph = refinement->graph;
    const struct pim_grid *grid = &refinement->deadline->options->grid;
    uint32_t *place = data;
    (void)scratch;
    const struct pim_tile_edge *edge = &graph->edge[pim_random_below(random, graph->edges)];
    bool forth = pim_random_below(random, 2);
    uint32_t node = forth ? edge->source : edge->destination,
             other = forth ? edge->destination : edge->source;
    uint32_t from = place[node], y = shifted(place[other] / grid->width, grid->height, random),
             x = shifted(place[other] % grid->width, grid->width, random), to = y * grid->width + x;
    for (uint32_t n = 0; n < graph->nodes; n++)
        if (place[n] == to)
            place[n] = from;
    place[node] = to;
    return to != from;
}

static void start(void *context, void *scratch, void *data, uint64_t index, struct pim_random *random)
{
    const struct refinement *refinement = context;
    size_t nodes = refinement->graph->nodes;
    memcpy(data, refinement->start + index % refinement->starts * nodes, nodes * sizeof *refinement->start);
    if (index >= refinement->starts)
        (void)move(context, scratch, data, random);
}

static enum pim_status score(void *context, void *scratch, void *data, double *scores,
                             struct pim_error *error)
{
    const struct refinement *refinement = context;
    const struct pim_tile_mapping_options *options = refinement->deadline->options;
    const struct pim_tile_limits limits = {refinement->limit, pim_search_limit_over,
                                           &refinement->deadline->limit};
    (void)scratch;
    return options->simulate(options->simulate_context, data, &limits, scores, NULL, error);
}

double pim_tile_limit(const struct pim_population *population, uint32_t survivors)
{
    for (uint32_t i = 1; i < survivors; i++)
        if (population->individual[i]->score[0] < population->individual[i - 1]->score[0])
            return HUGE_VAL; /* the first twin, behind all others */
    return population->individual[survivors - 1]->score[0];
}

static bool note_limit(void *context, struct pim_population *population)
{
    struct refinement *refinement = context;
    refinement->limit = pim_tile_limit(population, refinement->starts);
    return false;
}

static uint64_t digest(void *context, const void *data)
{
    const struct refinement *refinement = context;
    return pim_tile_digest(data, refinement->graph->nodes);
}

static bool before(const double *latency, uint32_t a, uint32_t b)
{
    return latency[a] != latency[b] ? latency[a] < latency[b] : a < b;
}

uint32_t pim_tile_fastest(const double *latency, uint32_t count, uint32_t first[PIM_TILE_STARTS])
{
    uint32_t found = 0;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t at = found < PIM_TILE_STARTS ? found++ : PIM_TILE_STARTS;
        for (; at > 0 && before(latency, i, first[at - 1]); at--)
            if (at < PIM_TILE_STARTS)
                first[at] = first[at - 1];
        if (at < PIM_TILE_STARTS)
            first[at] = i;
    }
    return found;
}

enum pim_status pim_tile_refine(const struct pim_tile_graph *graph, struct pim_tile_deadline *deadline,
                                const uint32_t *starts, uint32_t count, uint32_t *place,
                                struct pim_tile_mapping_result *result, struct pim_error *error)
{
    const struct pim_tile_mapping_options *options = deadline->options;
    struct refinement refinement = {graph, deadline, starts, count, HUGE_VAL};
    const struct pim_search_problem problem = {.context = &refinement,
                                               .size = graph->nodes * sizeof *place,
                                               .objectives = 1,
                                               .bound = -HUGE_VAL,
                                               .start = start,
                                               .mutate = move,
                                               .score = score,
                                               .digest = digest};
    const struct pim_evolution_options evolution = {.population = count + CHILDREN,
                                                    .survivors = count,
                                                    .each = true,
                                                    .mutations = MOVES,
                                                    .sorted = note_limit,
                                                    .context = &refinement};
    const struct pim_search_budget budget = {.seed = ~options->seed,
                                             .steps = (options->refinement + CHILDREN - 1) / CHILDREN - 1,
                                             .seconds = pim_search_limit_left(&deadline->limit),
                                             .threads = options->threads,
                                             .stop = options->stop,
                                             .stop_context = options->stop_context};
    struct pim_search_result refined;
    if (options->refinement == 0 || count == 0 || graph->edges == 0)
        return PIM_OK;
    enum pim_status status = pim_evolve(&problem, &evolution, &budget, place, &refined, error);
    result->refined = refined.evaluations;
    if (status == PIM_OK && refined.best < result->latency_ns)
        result->latency_ns = refined.best;
    else
        memcpy(place, starts, problem.size); /* nothing faster: the first of the starts goes on */
    return status;
}
