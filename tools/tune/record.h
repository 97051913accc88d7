/*
 * An iteration of the tuner as a point of a sweep: its number is the point's, its architecture the settings
 * of one axis whose keys vary together, what came out of it the statistics:
 *
 *     cycles, time_ns, energy_pj.total       sums over the networks
 *     area.engines_mm2, area.total_mm2       in the reading of the constraints
 *     tune.cost, tune.quality                the goal, and 1 / cost
 *     tune.best_quality, tune.best_three     so far: the largest quality, the mean of those of the best three
 *     tune.rejected                          proposals that were over the budget
 *     tune.false_accepts_percent, ..rejects_percent   of the candidates that the filter judged
 *     networks.<name>.cycles, .time_ns, .energy_pj, .cost
 *     ladder.<fidelity>.cost, and networks.<name>.<fidelity>.* where every fidelity is taken
 */
#ifndef PIMSIM_TOOLS_TUNE_RECORD_H
#define PIMSIM_TOOLS_TUNE_RECORD_H

#include "tools/sweep/result.h"
#include "tools/sweep/sweep.h"
#include "tools/tune/best.h"
#include "tools/tune/evaluate.h"
#include "tools/tune/goal.h"
#include "tools/tune/strategy/strategy.h"

enum { PIM_TUNE_NETWORKS_MOST = 64, PIM_TUNE_ERROR_BYTES = 512 };

/* What stays the same over all iterations. */
struct pim_tune_subject {
    const struct pim_tune_space *space;
    struct pim_tune_goal goal;
    char **labels; /* of the networks */
    size_t networks;
    unsigned fidelities; /* bits */
    enum pim_tune_fidelity fidelity;
};

struct pim_tune_outcome {
    struct pim_tune_proposal proposal;
    bool known;
    enum pim_status status;
    char error[PIM_TUNE_ERROR_BYTES];    /* of the first network that failed */
    struct pim_tune_evaluation *network; /* of each */
    double cost[PIM_TUNE_FIDELITIES];    /* infinite where it failed */
    double cpu_seconds, wall_seconds;
};

/* Costs from the figures of the networks. */
void pim_tune_sum_up(const struct pim_tune_subject *subject, struct pim_tune_outcome *outcome);

/* `best` counts the outcome in already. *result is to be terminated. */
enum pim_status pim_tune_write_outcome(const struct pim_tune_subject *subject, uint64_t iteration,
                                       const struct pim_tune_outcome *outcome,
                                       const struct pim_tune_best *best, struct pim_sweep_result *result,
                                       struct pim_error *error);

/* Takes what `result` says; PIM_BAD_INPUT when it is not of the architecture that stands in the outcome. */
enum pim_status pim_tune_read_outcome(const struct pim_tune_subject *subject,
                                      const struct pim_sweep_result *result, struct pim_tune_outcome *outcome,
                                      struct pim_error *error);

/* The axis of a tuning, for a store; all else of the sweep is the caller's. */
enum pim_status pim_tune_add_axis(struct pim_sweep *sweep, uint64_t iterations, struct pim_error *error);

#endif
