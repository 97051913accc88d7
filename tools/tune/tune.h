/*
 * The tuner (NicePIM's PIM-Tuner, arXiv 2305.19041, section V): one architecture an iteration, proposed by a
 * strategy, held against the area, mapped and timed on all networks. Iterations are the points of a sweep
 * database, so that --status, --export and `report` read them.
 *
 * Invariants
 * 1. Points do not depend on the number of threads, nor on how often the search was stopped and resumed: what
 *    the database holds is what one uninterrupted search would have found. A resumed search proposes every
 *    iteration again, from the results that are there, and evaluates what is missing.
 * 2. Points are added in the order of the iterations.
 */
#ifndef PIMSIM_TOOLS_TUNE_TUNE_H
#define PIMSIM_TOOLS_TUNE_TUNE_H

#include "sim/status.h"
#include "tools/tune/request.h"

/* What came out; the caller terminates it. */
struct pim_tune_result {
    uint64_t done, failed, now; /* iterations with a result; those of them that failed; added by this call */
    bool stopped, interrupted;  /* by anything; by Ctrl-C */
    struct {
        uint64_t iteration;
        double cost, area;
        char text[128];
    } best[PIM_TUNE_BEST]; /* different ones, ascending in cost */
    unsigned best_count;
    /* Of the ladder: the costs of each fidelity at the iterations that did not fail, and the mean CPU seconds
       of an architecture evaluated now, mapping apart. */
    double *cost[PIM_TUNE_FIDELITIES];
    size_t cost_count;
    double seconds[PIM_TUNE_FIDELITIES], map_seconds, wall_seconds;
};

enum pim_status pim_tune_run(const struct pim_tune_request *request, struct pim_tune_result *result,
                             struct pim_error *error);
void pim_tune_result_terminate(struct pim_tune_result *result);

#endif
