/*
 * How the tuner chooses the next architecture: NicePIM's models or one of its rivals. A strategy knows what
 * it was told and its seed, nothing else: told the same, it proposes the same.
 *
 * All methods begin with the same PIM_TUNE_FIRST random architectures, whatever their seed, and propose none
 * whose area is over the budget. Those that learn draw candidates that the filter predicts to keep to it,
 * take the one of least predicted cost whose area does, and none twice.
 */
#ifndef PIMSIM_TOOLS_TUNE_STRATEGY_STRATEGY_H
#define PIMSIM_TOOLS_TUNE_STRATEGY_STRATEGY_H

#include "sim/status.h"
#include "tools/tune/space.h"

#include <stdint.h>

enum { PIM_TUNE_FIRST = 8, PIM_TUNE_CANDIDATES = 16384, PIM_TUNE_EPOCHS = 200 };

/* X(name, text) */
#define PIM_TUNE_METHOD_MAP(X)                                                                               \
    X(PIM_TUNE_NICEPIM, "nicepim")     /* filter and deep kernel */                                          \
    X(PIM_TUNE_RANDOM, "random")       /* uniform within the area */                                         \
    X(PIM_TUNE_ANNEALING, "annealing") /* simulated annealing */                                             \
    X(PIM_TUNE_PROCESS, "gaussian")    /* a Gaussian process instead of the deep kernel */                   \
    X(PIM_TUNE_BOOSTED, "trees")       /* gradient-boosted trees instead of it */

enum pim_tune_method {
#define X(name, text) name,
    PIM_TUNE_METHOD_MAP(X)
#undef X
        PIM_TUNE_METHODS
};

const char *pim_tune_method_name(enum pim_tune_method method);

struct pim_tune_strategy;

struct pim_tune_strategy_options {
    const struct pim_tune_space *space; /* borrowed */
    double budget;                      /* mm2 */
    enum pim_tune_method method;
    uint64_t seed;
    size_t candidates; /* of an iteration; usual: PIM_TUNE_CANDIDATES */
    uint64_t epochs;   /* of training in an iteration; usual: PIM_TUNE_EPOCHS */
    unsigned threads;  /* changes no result */
};

enum pim_status pim_tune_strategy_create(const struct pim_tune_strategy_options *options,
                                         struct pim_tune_strategy **strategy, struct pim_error *error);
void pim_tune_strategy_destroy(struct pim_tune_strategy *strategy); /* NULL is allowed */

/* How many of the `count` iterations from `iteration` on can be proposed before any of them is observed; at
 * least 1. */
uint64_t pim_tune_independent(const struct pim_tune_strategy *strategy, uint64_t iteration, uint64_t count);

struct pim_tune_proposal {
    struct pim_tune_architecture architecture;
    uint64_t rejected; /* looked at before; their area was over the budget */
    /* Of methods with a filter: candidates that were drawn, and what the filter mistook among them. */
    uint64_t drawn, false_accepts, false_rejects;
};

/* Iterations are proposed in their order. */
enum pim_status pim_tune_propose(struct pim_tune_strategy *strategy, uint64_t iteration,
                                 struct pim_tune_proposal *proposal, struct pim_error *error);

/* What came out of it: the cost, infinite where it failed. In the order of the iterations. */
enum pim_status pim_tune_observe(struct pim_tune_strategy *strategy,
                                 const struct pim_tune_architecture *architecture, double cost,
                                 struct pim_error *error);

#endif
