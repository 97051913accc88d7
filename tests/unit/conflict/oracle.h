/*
 * The replay once more, as plainly as its rules can be written: binary64 times, every edge, node and link
 * looked at in every time point, packets as objects. Slow on purpose; the property tests hold the model
 * against it.
 */
#ifndef PIMSIM_TESTS_UNIT_CONFLICT_ORACLE_H
#define PIMSIM_TESTS_UNIT_CONFLICT_ORACLE_H

#include "models/conflict/conflict.h"

struct oracle_result {
    double end_ns;
    bool deadlock;
    uint64_t time_points, packets, hops;
};

/* For routings xy, yx and adaptive, arbiters fixed and balance, without router limits or delays. Meshes of at
 * most 64 routers, graphs of at most 64 edges. */
struct oracle_result oracle_run(const struct pim_task_graph *graph, const uint32_t *placement,
                                const struct pim_conflict_options *options);

#endif
