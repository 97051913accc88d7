/* The end of a search: the best of its last population are simulated. See run.h. */
#include "mappers/conflict/search/run.h"

#include "sim/try.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { FINALISTS_AT_A_TIME = 16 };

static const uint32_t NO_WINNER = UINT32_MAX;

static const uint32_t *finalist_places(const struct pim_tile_run *run, uint64_t index)
{
    const struct pim_tile_problem *problem = &run->problem;
    if (index < run->finalists)
        return problem->places(problem, run->population->individual[index]->data);
    return problem->places(problem, run->seed + (index - run->finalists) * problem->search.size);
}

static void simulate_one(void *context, unsigned worker, uint64_t index)
{
    struct pim_tile_run *run = context;
    (void)worker;
    run->status[index] =
        pim_tile_simulate_found(&run->deadline, finalist_places(run, index), &run->latency[index],
                                run->options->finalist ? &run->interval[index] : NULL, &run->errors[index]);
}

static enum pim_status tell_finalist(const struct pim_tile_run *run, uint32_t index, struct pim_error *error)
{
    struct pim_tile_finalist finalist = {.rank = index,
                                         .latency_ns = run->latency[index],
                                         .interval_ns = run->interval[index],
                                         .place = finalist_places(run, index)};
    PIM_TRY(pim_tile_run_judge(run, finalist.place, &finalist.cost, &finalist.bottleneck, error));
    run->options->finalist(run->options->finalist_context, &finalist);
    return PIM_OK;
}

/* Local moves begin at the fastest finalists of all searches so far. */
static enum pim_status keep_fastest(struct pim_tile_run *run, uint32_t count, struct pim_error *error)
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
static enum pim_status simulate_finalists(struct pim_tile_run *run, uint32_t asked, uint32_t *winner,
                                          struct pim_error *error)
{
    struct pim_tile_mapping_result *result = run->result;
    uint32_t count = 0, ended = 0;
    double least = result->latency_ns; /* of the searches before; NAN: nothing is known */
    do {
        uint32_t next = count + FINALISTS_AT_A_TIME < asked ? count + FINALISTS_AT_A_TIME : asked;
        pim_workers_run(run->population->workers, simulate_one, run, count, next);
        count = next;
    } while (count < asked && !pim_tile_run_is_over(run));
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
            PIM_TRY(tell_finalist(run, i, error));
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
static enum pim_status give_seeds(struct pim_tile_run *run, uint32_t count, struct pim_error *error)
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

enum pim_status pim_tile_run_choose(void *context, struct pim_population *population, struct pim_error *error)
{
    struct pim_tile_run *run = context;
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
