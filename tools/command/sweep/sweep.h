/* What the files of `pimsim sweep` share. */
#ifndef PIMSIM_TOOLS_COMMAND_SWEEP_SWEEP_H
#define PIMSIM_TOOLS_COMMAND_SWEEP_SWEEP_H

#include "tools/command/options.h"
#include "tools/sweep/store/store.h"
#include "tools/sweep/sweep.h"
#include "tools/sweep/trace_pool.h"

enum { SWEEP_PATH_BYTES = 4096, SWEEP_THREADS_MOST = 4096 };

struct sweep_request {
    const char *path; /* the argument: specification, trace or results */
    struct common_options common;
    struct text_list vary, constraints;
    unsigned fidelity; /* index in SWEEP_FIDELITIES */
    uint64_t until, repeats, seed;
    bool seed_given;  /* 0 is a seed too */
    uint64_t seconds; /* 0: without limit */
    const char *output, *cache;
    uint64_t threads;
    bool resume, force, retry, yes, list;
    bool status, costs;
    unsigned export;
    /* several machines */
    bool slurm, slurm_script, merge;
    uint64_t tasks, task; /* task: NO_TASK when this is none */
    const char *submission, *partition;
    struct text_list slurm_options;
    bool refusals; /* a point that a mapper refuses is an answer, not a failure */
};
#define SWEEP_NO_TASK UINT64_MAX
#define SWEEP_FIDELITIES "configured|ideal|analytic|flit"

/* This program as a path. */
const char *sweep_program(char path[SWEEP_PATH_BYTES]);

/* Runs what is missing of a prepared sweep, and keeps the results in the output of the request. */
enum pim_status sweep_run(const struct sweep_request *request, const struct pim_sweep *sweep,
                          struct pim_error *error);

/* The traces of the sweep, in the cache folder of the request. */
enum pim_status sweep_pool(const struct sweep_request *request, const struct pim_sweep *sweep,
                           struct pim_trace_pool **pool, struct pim_error *error);

/* --slurm and --slurm-script: makes a submission for what `store` lacks, and hands it in or prints its
 * script. */
enum pim_status sweep_submit(const struct sweep_request *request, const struct pim_sweep *sweep,
                             struct pim_store *store, struct pim_error *error);
/* --task: works on a submission. */
enum pim_status sweep_task(const struct sweep_request *request, const struct pim_sweep *sweep,
                           struct pim_error *error);
/* --merge: adds the results of tasks to the table. */
enum pim_status sweep_merge(const struct sweep_request *request, struct pim_error *error);

#endif
