/*
 * The threads of a sweep: each takes the next point that is missing, runs it, and adds it to the results.
 *
 * Invariants
 * 1. A point is run by one thread, from its number alone; results do not depend on how many threads there
 * are.
 * 2. A point that fails is a result like any other. What ends the sweep is that results cannot be written.
 */
#ifndef PIMSIM_TOOLS_SWEEP_WORKERS_H
#define PIMSIM_TOOLS_SWEEP_WORKERS_H

#include "sim/status.h"
#include "tools/sweep/sweep.h"
#include "tools/sweep/trace_pool.h"

#include <stdbool.h>
#include <stdint.h>

struct pim_sweep_result;

/* Where the results go and which points are wanted. Calls never overlap, but those of `run`. */
struct pim_sweep_sink {
    void *context;
    /* Whether `point`, which the constraints admit, is still to be run. */
    enum pim_status (*wanted)(void *context, uint64_t point, bool *wanted, struct pim_error *error);
    enum pim_status (*add)(void *context, const struct pim_sweep_result *result, struct pim_error *error);
    /* Runs a point in one of the threads, as pim_sweep_run() does it; NULL: that. */
    void (*run)(void *context, const struct pim_sweep_point *point, struct pim_sweep_result *result);
    /* Whether no further point is to begin; NULL: never. */
    bool (*stop)(void *context);
    bool leave_signals; /* SIGINT is the caller's: nobody looks for Ctrl-C here */
};

struct pim_sweep_outcome {
    uint64_t done, failed; /* of this call */
    uint64_t beaten;       /* of these, points at which a program of another one ran: best.h */
    bool stopped;          /* by Ctrl-C or by the sink */
    bool interrupted;      /* by Ctrl-C first */
};

/*
 * Runs all wanted points of [first, last) with `threads` threads (at least 1). `label` and `quiet` are for
 * the progress bar, `expected` is how many points it counts to. Ctrl-C (SIGINT) lets the points that run end
 * and begins no more; a second one ends the process as usual.
 */
enum pim_status pim_sweep_work(const struct pim_sweep *sweep, struct pim_trace_pool *pool,
                               const struct pim_sweep_sink *sink, uint64_t first, uint64_t last,
                               unsigned threads, uint64_t expected, bool quiet,
                               struct pim_sweep_outcome *outcome, struct pim_error *error);

#endif
