/* Populations of mappings with their latencies; see samples.h. */
#include "mappers/conflict/estimators/samples.h"

#include "sim/integer.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    const char *name;
    enum pim_tile_mapping mapping;
    bool converged;
} sorts[] = {
#define X(name, text, mapping, converged) {text, mapping, converged},
    PIM_TILE_SORT_MAP(X)
#undef X
};

const char *pim_tile_sort_name(unsigned sort)
{
    return sort < PIM_TILE_SORTS ? sorts[sort].name : NULL;
}

static uint64_t seed_of(uint64_t seed, uint32_t number, unsigned sort)
{
    uint64_t state = seed ^ ((uint64_t)number << 8 | (sort + 1)) * UINT64_C(0x9e3779b97f4a7c15);
    return pim_splitmix64(&state) & INT64_MAX;
}

static bool reserve(struct pim_tile_samples *samples, uint32_t more)
{
    size_t room = (size_t)samples->count + more;
    void *place = realloc(samples->place, room * samples->nodes * sizeof *samples->place);
    samples->place = place ? place : samples->place;
    void *latency = realloc(samples->latency_ns, room * sizeof *samples->latency_ns);
    samples->latency_ns = latency ? latency : samples->latency_ns;
    void *cost = realloc(samples->cost, room * sizeof *samples->cost);
    samples->cost = cost ? cost : samples->cost;
    void *bottleneck = realloc(samples->bottleneck, room * sizeof *samples->bottleneck);
    samples->bottleneck = bottleneck ? bottleneck : samples->bottleneck;
    samples->room = (uint32_t)room;
    return place && latency && cost && bottleneck;
}

static void keep(void *context, const struct pim_tile_finalist *finalist)
{
    struct pim_tile_samples *samples = context;
    struct pim_tile_population *population = &samples->population[samples->populations];
    if (!isfinite(finalist->latency_ns) || samples->count == samples->room) {
        population->still++;
        return;
    }
    memcpy(samples->place + (size_t)samples->count * samples->nodes, finalist->place,
           samples->nodes * sizeof *samples->place);
    samples->latency_ns[samples->count] = finalist->latency_ns;
    samples->cost[samples->count] = finalist->cost;
    samples->bottleneck[samples->count++] = finalist->bottleneck;
    population->count++;
}

static enum pim_status draw(struct pim_tile_samples *samples, const struct pim_tile_graph *graph,
                            const struct pim_tile_mapping_options *given, uint32_t number, unsigned sort,
                            struct pim_error *error)
{
    struct pim_tile_population *population = &samples->population[samples->populations];
    struct pim_tile_mapping_result result;
    *population = (struct pim_tile_population){.sort = (enum pim_tile_sort)sort,
                                               .seed = seed_of(given->seed, number, sort),
                                               .generations = sorts[sort].converged ? given->generations : 0,
                                               .first = samples->count};
    const struct pim_tile_mapping_options options = {.mapping = sorts[sort].mapping,
                                                     .fitness = PIM_TILE_BY_COST,
                                                     .grid = given->grid,
                                                     .population = given->population,
                                                     .generations = (uint32_t)population->generations,
                                                     .finalists = given->population,
                                                     .seed = population->seed,
                                                     .threads = given->threads,
                                                     .stop = given->stop,
                                                     .stop_context = given->stop_context,
                                                     .finalist = keep,
                                                     .finalist_context = samples,
                                                     .simulate = given->simulate,
                                                     .simulate_context = given->simulate_context};
    uint32_t *place = calloc((size_t)graph->nodes + 1, sizeof *place);
    enum pim_status status =
        place && reserve(samples, given->population)
            ? pim_tile_map(graph, &options, place, &result, error)
            : pim_fail(error, PIM_NO_MEMORY, "no memory for %" PRIu32 " mappings", given->population);
    free(place);
    if (status != PIM_OK)
        return status;
    if (result.search.end == PIM_SEARCH_STOPPED || (given->stop && given->stop(given->stop_context)))
        return pim_fail(error, PIM_BAD_INPUT, "it was stopped: estimators are trained whole or not at all");
    samples->populations++;
    return PIM_OK;
}

enum pim_status pim_tile_samples_draw(struct pim_tile_samples *samples, const struct pim_tile_graph *graph,
                                      const struct pim_tile_mapping_options *options, uint32_t first,
                                      uint32_t last, struct pim_error *error)
{
    *samples = (struct pim_tile_samples){.nodes = graph->nodes};
    assert(options->simulate);
    if (first >= last || last > PIM_TILE_POPULATIONS)
        return pim_fail(error, PIM_BAD_INPUT,
                        "populations %" PRIu32 " to %" PRIu32 ": allowed are 0 to %d, one at least", first,
                        last, PIM_TILE_POPULATIONS);
    samples->population = calloc((size_t)(last - first) * PIM_TILE_SORTS, sizeof *samples->population);
    if (!samples->population)
        return pim_fail(error, PIM_NO_MEMORY, "no memory for %" PRIu32 " populations", last - first);
    for (uint32_t number = first; number < last; number++)
        for (unsigned sort = 0; sort < PIM_TILE_SORTS; sort++)
            if (draw(samples, graph, options, number, sort, error) != PIM_OK)
                return error->status;
    return PIM_OK;
}

void pim_tile_samples_terminate(struct pim_tile_samples *samples)
{
    free(samples->population);
    free(samples->place);
    free(samples->latency_ns);
    free(samples->cost);
    free(samples->bottleneck);
    *samples = (struct pim_tile_samples){0};
}
