#include "tools/tune/strategy/strategy.h"

#include "mappers/learn/elementary.h"
#include "mappers/search/annealing.h"
#include "sim/arena.h"
#include "tools/tune/strategy/candidates.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { DRAWS_MOST = 4000000, FILTER_PART = 4, SCRATCH_EVERY = 20, COOLING_ITERATIONS = 100 };

struct seen {
    struct pim_tune_architecture architecture;
    double cost;
};

struct pim_tune_strategy {
    struct pim_tune_strategy_options options;
    struct seen *seen; /* all that were observed, in their order */
    size_t seen_count, seen_capacity;
    /* of methods that learn */
    struct pim_workers *workers;
    struct pim_tune_filter *filter;
    struct pim_tune_suggestion *suggestion;
    struct pim_tune_candidates candidates;
    double *mean;
    size_t *order;
    /* of annealing */
    size_t current;     /* the seen one where the chain stands */
    double temperature; /* of the first move */
};

const char *pim_tune_method_name(enum pim_tune_method method)
{
    static const char *const names[] = {
#define X(name, text) text,
        PIM_TUNE_METHOD_MAP(X)
#undef X
    };
    return names[method];
}

static enum pim_status no_memory(struct pim_error *error)
{
    return pim_fail(error, PIM_NO_MEMORY, "out of memory for the tuner");
}

static bool learns(enum pim_tune_method method)
{
    return method != PIM_TUNE_RANDOM && method != PIM_TUNE_ANNEALING;
}

static enum pim_status prepare(struct pim_tune_strategy *strategy, struct pim_error *error)
{
    const struct pim_tune_strategy_options *options = &strategy->options;
    enum pim_tune_suggestion_kind kind = options->method == PIM_TUNE_NICEPIM   ? PIM_TUNE_DEEP_KERNEL
                                         : options->method == PIM_TUNE_PROCESS ? PIM_TUNE_GAUSSIAN
                                                                               : PIM_TUNE_TREES;
    if (!learns(options->method))
        return PIM_OK;
    strategy->mean = calloc(options->candidates, sizeof *strategy->mean);
    strategy->order = calloc(options->candidates, sizeof *strategy->order);
    if (!strategy->mean || !strategy->order ||
        !pim_tune_candidates_initialize(&strategy->candidates, options->candidates))
        return no_memory(error);
    if (pim_workers_create(&strategy->workers, options->threads, error) != PIM_OK ||
        pim_tune_filter_create(options->seed, &strategy->filter, error) != PIM_OK)
        return error->status;
    return pim_tune_suggestion_create(kind, options->seed, &strategy->suggestion, error);
}

enum pim_status pim_tune_strategy_create(const struct pim_tune_strategy_options *options,
                                         struct pim_tune_strategy **strategy, struct pim_error *error)
{
    *strategy = calloc(1, sizeof **strategy);
    if (!*strategy)
        return no_memory(error);
    (*strategy)->options = *options;
    if (prepare(*strategy, error) == PIM_OK)
        return PIM_OK;
    pim_tune_strategy_destroy(*strategy);
    *strategy = NULL;
    return error->status;
}

void pim_tune_strategy_destroy(struct pim_tune_strategy *strategy)
{
    if (!strategy)
        return;
    pim_tune_suggestion_destroy(strategy->suggestion);
    pim_tune_filter_destroy(strategy->filter);
    pim_workers_destroy(strategy->workers);
    pim_tune_candidates_terminate(&strategy->candidates);
    free(strategy->mean);
    free(strategy->order);
    free(strategy->seen);
    free(strategy);
}

uint64_t pim_tune_independent(const struct pim_tune_strategy *strategy, uint64_t iteration, uint64_t count)
{
    if (strategy->options.method == PIM_TUNE_RANDOM)
        return count;
    if (iteration >= PIM_TUNE_FIRST)
        return 1;
    return count < PIM_TUNE_FIRST - iteration ? count : PIM_TUNE_FIRST - iteration;
}

/* The numbers of an iteration do not depend on those of others. */
static uint64_t seed_of(const struct pim_tune_strategy *strategy, uint64_t iteration)
{
    uint64_t state = iteration < PIM_TUNE_FIRST ? 0 : strategy->options.seed,
             mixed = pim_splitmix64(&state) ^ iteration;
    return pim_splitmix64(&mixed);
}

/* Whether the area is within the budget; the filter, where there is one, is told of it. */
static enum pim_status is_legal(struct pim_tune_strategy *strategy,
                                const struct pim_tune_architecture *architecture, bool *legal,
                                struct pim_error *error)
{
    struct pim_area area;
    double features[PIM_TUNE_DIMENSIONS];
    pim_tune_area(strategy->options.space, architecture, &area);
    *legal = area.engines <= strategy->options.budget;
    if (!strategy->filter)
        return PIM_OK;
    pim_tune_features(strategy->options.space, architecture, features);
    return pim_tune_filter_add(strategy->filter, features,
                               pim_logarithm(area.engines / strategy->options.budget), error);
}

/* Uniform among those within the budget; the smallest of all where so many draws find none. */
static enum pim_status draw_legal(struct pim_tune_strategy *strategy, struct pim_random *random,
                                  struct pim_tune_proposal *proposal, struct pim_error *error)
{
    bool legal = false;
    for (; proposal->rejected < DRAWS_MOST; proposal->rejected++) {
        pim_tune_random(strategy->options.space, random, &proposal->architecture);
        if (is_legal(strategy, &proposal->architecture, &legal, error) != PIM_OK || legal)
            return error->status;
    }
    pim_tune_smallest(strategy->options.space, &proposal->architecture);
    return PIM_OK;
}

/* --- annealing --- */

/* Costs by their logarithms; what failed is never stood on. */
static double height(const struct seen *seen)
{
    return isfinite(seen->cost) ? pim_logarithm(seen->cost) : 1e300;
}

/* The chain begins at the best of the first ones, and so that three of ten moves as bad as the mean step
 * between them are taken. */
static void begin_chain(struct pim_tune_strategy *strategy)
{
    double sum = 0, count = 0;
    for (size_t i = 0; i < strategy->seen_count; i++) {
        const struct seen *one = &strategy->seen[i];
        if (height(one) < height(&strategy->seen[strategy->current]))
            strategy->current = i;
        if (i > 0 && isfinite(one->cost) && isfinite(one[-1].cost)) {
            sum += fabs(height(one) - height(&one[-1]));
            count++;
        }
    }
    double step = count > 0 && sum > 0 ? sum / count : 1;
    strategy->temperature = step / -pim_logarithm(0.3);
}

/* Whether the chain moves to the one observed last. One of a hundred such moves is taken after
 * COOLING_ITERATIONS. */
static void move_chain(struct pim_tune_strategy *strategy)
{
    size_t last = strategy->seen_count - 1, move = last - PIM_TUNE_FIRST;
    double rise = height(&strategy->seen[last]) - height(&strategy->seen[strategy->current]);
    double share = (double)(move < COOLING_ITERATIONS ? move : COOLING_ITERATIONS) / COOLING_ITERATIONS;
    double coldest = pim_logarithm(0.3) / pim_logarithm(0.01);
    double temperature = strategy->temperature * pim_exponential(share * pim_logarithm(coldest));
    struct pim_random random;
    pim_random_initialize(&random, ~seed_of(strategy, last));
    if (rise <= 0 || (rise < 1e200 && pim_search_exponential(&random, rise / temperature)))
        strategy->current = last;
}

static enum pim_status step_legal(struct pim_tune_strategy *strategy, struct pim_random *random,
                                  struct pim_tune_proposal *proposal, struct pim_error *error)
{
    bool legal = false;
    for (; proposal->rejected < DRAWS_MOST; proposal->rejected++) {
        proposal->architecture = strategy->seen[strategy->current].architecture;
        pim_tune_step(strategy->options.space, random, &proposal->architecture);
        if (is_legal(strategy, &proposal->architecture, &legal, error) != PIM_OK || legal)
            return error->status;
    }
    proposal->architecture = strategy->seen[strategy->current].architecture; /* no step keeps to the budget */
    return PIM_OK;
}

/* --- learning --- */

static enum pim_status train(struct pim_tune_strategy *strategy, uint64_t iteration, struct pim_error *error)
{
    size_t count = strategy->seen_count;
    double *features = calloc(count * PIM_TUNE_DIMENSIONS + 1, sizeof *features);
    double *cost = calloc(count + 1, sizeof *cost);
    enum pim_status status = features && cost ? PIM_OK : no_memory(error);
    for (size_t i = 0; status == PIM_OK && i < count; i++) {
        pim_tune_features(strategy->options.space, &strategy->seen[i].architecture,
                          features + i * PIM_TUNE_DIMENSIONS);
        cost[i] = strategy->seen[i].cost;
    }
    uint64_t epochs = strategy->options.epochs;
    if (status == PIM_OK) /* the filter has all its data at once at first, and a few more each time after */
        status = pim_tune_filter_train(strategy->filter,
                                       iteration == PIM_TUNE_FIRST ? epochs : epochs / FILTER_PART, error);
    if (status == PIM_OK)
        status = pim_tune_suggestion_train(strategy->suggestion, count, features, cost, epochs,
                                           (iteration - PIM_TUNE_FIRST) % SCRATCH_EVERY == 0, error);
    free(features);
    free(cost);
    return status;
}

static bool was_seen(const struct pim_tune_strategy *strategy,
                     const struct pim_tune_architecture *architecture)
{
    for (size_t i = 0; i < strategy->seen_count; i++)
        if (memcmp(&strategy->seen[i].architecture, architecture, sizeof *architecture) == 0)
            return true;
    return false;
}

static enum pim_status suggest(struct pim_tune_strategy *strategy, uint64_t iteration,
                               struct pim_tune_proposal *proposal, struct pim_error *error)
{
    struct pim_tune_candidates *candidates = &strategy->candidates;
    struct pim_random random;
    uint64_t seed = seed_of(strategy, iteration);
    bool legal = false;
    if (train(strategy, iteration, error) != PIM_OK ||
        pim_tune_candidates_draw(candidates, strategy->options.space, strategy->options.budget,
                                 strategy->filter, strategy->workers, seed, error) != PIM_OK)
        return error->status;
    pim_tune_suggestion_predict(strategy->suggestion, candidates->count, candidates->features,
                                strategy->mean);
    if (pim_tune_candidates_rank(candidates, strategy->mean, strategy->order, error) != PIM_OK)
        return error->status;
    proposal->drawn = candidates->drawn;
    proposal->false_accepts = candidates->false_accepts;
    proposal->false_rejects = candidates->false_rejects;
    for (size_t i = 0; i < candidates->count; i++) {
        proposal->architecture = candidates->items[strategy->order[i]];
        if (was_seen(strategy, &proposal->architecture))
            continue;
        if (is_legal(strategy, &proposal->architecture, &legal, error) != PIM_OK || legal)
            return error->status;
        proposal->rejected++;
    }
    pim_random_initialize(&random, ~seed);
    return draw_legal(strategy, &random, proposal, error);
}

/* --- all --- */

enum pim_status pim_tune_propose(struct pim_tune_strategy *strategy, uint64_t iteration,
                                 struct pim_tune_proposal *proposal, struct pim_error *error)
{
    struct pim_random random;
    *proposal = (struct pim_tune_proposal){.rejected = 0};
    pim_random_initialize(&random, seed_of(strategy, iteration));
    if (iteration < PIM_TUNE_FIRST || strategy->options.method == PIM_TUNE_RANDOM)
        return draw_legal(strategy, &random, proposal, error);
    if (strategy->options.method == PIM_TUNE_ANNEALING)
        return step_legal(strategy, &random, proposal, error);
    return suggest(strategy, iteration, proposal, error);
}

enum pim_status pim_tune_observe(struct pim_tune_strategy *strategy,
                                 const struct pim_tune_architecture *architecture, double cost,
                                 struct pim_error *error)
{
    struct seen *grown =
        pim_array_grow(strategy->seen, &strategy->seen_capacity, strategy->seen_count + 1, sizeof *grown);
    if (!grown)
        return no_memory(error);
    strategy->seen = grown;
    grown[strategy->seen_count++] = (struct seen){*architecture, cost};
    if (strategy->options.method == PIM_TUNE_ANNEALING && strategy->seen_count == PIM_TUNE_FIRST)
        begin_chain(strategy);
    else if (strategy->options.method == PIM_TUNE_ANNEALING && strategy->seen_count > PIM_TUNE_FIRST)
        move_chain(strategy);
    return PIM_OK;
}
