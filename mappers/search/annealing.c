/* Simulated annealing; see annealing.h. */
#include "mappers/search/annealing.h"

#include "mappers/search/population.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

enum { SAMPLES = 64, SURELY_REFUSED = 64 };

struct chain {
    struct pim_random random;
    double temperature; /* of the first level */
    uint64_t evaluations;
    enum pim_status status;
    struct pim_error error;
};

/* Individuals of a chain: 3 c is where it stands, 3 c + 1 its best, 3 c + 2 room for a move. */
struct run {
    const struct pim_annealing_options *options;
    const struct pim_search_problem *problem;
    struct pim_population population;
    struct chain *chain;
    uint32_t level;
};

/* With probability exp(-x), 0 <= x <= 1: numbers fall below x, x/2, x/3, ... until one does not; the count of
   those that did is even with that probability. */
static bool exponential_part(struct pim_random *random, double x)
{
    bool even = true;
    for (unsigned k = 1; pim_random_unit(random) < x / k; k++)
        even = !even;
    return even;
}

bool pim_search_exponential(struct pim_random *random, double x)
{
    if (!(x < SURELY_REFUSED))
        return false;
    unsigned whole = (unsigned)x;
    for (unsigned i = 0; i < whole; i++)
        if (!exponential_part(random, 1))
            return false;
    return exponential_part(random, x - whole);
}

/* 2^(-level / 8), by multiplications alone. */
static double cooling(uint32_t level)
{
    static const double eighths[8] = {1,
                                      0x1.d5818dcfba487p-1,
                                      0x1.ae89f995ad3adp-1,
                                      0x1.8ace5422aa0dbp-1,
                                      0x1.6a09e667f3bcdp-1,
                                      0x1.4bfdad5362a27p-1,
                                      0x1.306fe0a31b715p-1,
                                      0x1.172b83c7d517bp-1};
    double part = eighths[level % 8];
    for (uint32_t i = 0; i < level / 8; i++)
        part *= 0.5;
    return part;
}

/* What a move changes; HUGE_VAL: nothing moved. Without proposals the moved individual is in `room`. */
static double try_move(struct run *run, uint32_t c, void *scratch)
{
    const struct pim_search_problem *problem = run->problem;
    struct chain *chain = &run->chain[c];
    struct pim_individual *at = &run->population.made[3 * (size_t)c], *room = at + 2;
    chain->evaluations++;
    if (run->options->propose)
        return run->options->propose(problem->context, scratch, at->data, &chain->random);
    pim_individual_copy(problem, room, at);
    if (!problem->mutate(problem->context, scratch, room->data, &chain->random))
        return HUGE_VAL;
    chain->status = pim_individual_score(problem, scratch, room, &chain->error);
    return chain->status == PIM_OK ? room->score[0] - at->score[0] : HUGE_VAL;
}

static void take_move(struct run *run, uint32_t c, void *scratch, double change)
{
    struct pim_individual *at = &run->population.made[3 * (size_t)c];
    if (run->options->propose) {
        run->options->accept(run->problem->context, scratch, at->data);
        at->score[0] += change;
    } else {
        pim_individual_copy(run->problem, at, at + 2);
    }
    if (at->score[0] < at[1].score[0])
        pim_individual_copy(run->problem, at + 1, at);
}

static void start_chain(void *context, unsigned worker, uint64_t index)
{
    struct run *run = context;
    uint32_t c = (uint32_t)index;
    struct chain *chain = &run->chain[c];
    const struct pim_search_problem *problem = run->problem;
    struct pim_individual *at = &run->population.made[3 * (size_t)c];
    void *scratch = run->population.scratch[worker];
    chain->random = pim_search_stream(run->population.budget->seed, 0, c);
    problem->start(problem->context, scratch, at->data, c, &chain->random);
    chain->status = pim_individual_score(problem, scratch, at, &chain->error);
    chain->evaluations++;
    pim_individual_copy(problem, at + 1, at);
    chain->temperature = run->options->temperature;
    double worse = 0, count = 0;
    for (unsigned i = 0; i < SAMPLES && chain->temperature == 0 && chain->status == PIM_OK; i++) {
        double change = try_move(run, c, scratch);
        if (change > 0 && isfinite(change)) {
            worse += change;
            count++;
        }
    }
    if (run->options->temperature == 0)
        chain->temperature = count > 0 ? worse / count : 1;
}

static void work_level(void *context, unsigned worker, uint64_t index)
{
    struct run *run = context;
    uint32_t c = (uint32_t)index;
    struct chain *chain = &run->chain[c];
    void *scratch = run->population.scratch[worker];
    double temperature = chain->temperature * cooling(run->level);
    uint64_t moves = run->options->moves / PIM_ANNEALING_LEVELS + 1;
    for (uint64_t i = 0; i < moves && chain->status == PIM_OK; i++) {
        double change = try_move(run, c, scratch);
        if (change <= 0 || (change > 0 && pim_search_exponential(&chain->random, change / temperature)))
            take_move(run, c, scratch, change);
    }
}

/* All chains at once; the best of them so far. */
static enum pim_status advance(struct run *run, pim_worker_task *task, uint32_t *best,
                               struct pim_error *error)
{
    uint32_t chains = run->options->chains;
    pim_workers_run(run->population.workers, task, run, 0, chains);
    *best = 0;
    for (uint32_t c = 0; c < chains; c++) {
        if (run->chain[c].status != PIM_OK) {
            if (error)
                *error = run->chain[c].error;
            return run->chain[c].status;
        }
        if (run->population.made[3 * (size_t)c + 1].score[0] <
            run->population.made[3 * (size_t)*best + 1].score[0])
            *best = c;
    }
    return PIM_OK;
}

static enum pim_status cool(struct run *run, const struct pim_search_budget *budget, uint32_t *best,
                            struct pim_search_result *result, struct pim_error *error)
{
    struct pim_search_watch watch;
    struct pim_search_budget levels = *budget;
    levels.steps = budget->steps < PIM_ANNEALING_LEVELS ? budget->steps : PIM_ANNEALING_LEVELS;
    enum pim_status status = advance(run, start_chain, best, error);
    if (status != PIM_OK)
        return status;
    const struct pim_individual *made = run->population.made;
    bool over = levels.steps == 0;
    pim_search_begin(&watch, &levels, made[3 * (size_t)*best + 1].score[0]);
    while (!over && status == PIM_OK) {
        status = advance(run, work_level, best, error);
        run->level++;
        over = pim_search_over(&watch, ++result->steps, made[3 * (size_t)*best + 1].score[0],
                               run->problem->bound, &result->end);
    }
    return status;
}

enum pim_status pim_anneal(const struct pim_search_problem *problem,
                           const struct pim_annealing_options *options,
                           const struct pim_search_budget *budget, void *best,
                           struct pim_search_result *result, struct pim_error *error)
{
    struct run run = {.options = options, .problem = problem};
    uint32_t winner = 0;
    *result = (struct pim_search_result){.bound = problem->bound};
    if (options->chains < 1 || options->chains > PIM_SEARCH_POPULATION / 4)
        return pim_fail(error, PIM_BAD_INPUT, "%" PRIu32 " chains: allowed are 1 to %d", options->chains,
                        PIM_SEARCH_POPULATION / 4);
    enum pim_status status =
        pim_population_initialize(&run.population, problem, budget, 3 * options->chains, error);
    if (status == PIM_OK) {
        run.chain = calloc(options->chains, sizeof *run.chain);
        status = run.chain
                     ? cool(&run, budget, &winner, result, error)
                     : pim_fail(error, PIM_NO_MEMORY, "no memory for %" PRIu32 " chains", options->chains);
    }
    if (status == PIM_OK) {
        struct pim_individual out = {.data = best};
        pim_individual_copy(problem, &out, &run.population.made[3 * (size_t)winner + 1]);
        result->best = out.score[0];
        for (uint32_t c = 0; c < options->chains; c++)
            result->evaluations += run.chain[c].evaluations;
    }
    free(run.chain);
    pim_population_terminate(&run.population);
    return status;
}
