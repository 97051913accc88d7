/*
 * A sweep on several machines: tasks that share nothing but a folder, which may be on NFS.
 *
 *     results.sqlite.tasks/            beside the results
 *         0001/                        a submission
 *             identity                 of the sweep
 *             units                    a line for each unit of work: "first last", numbers of points
 *             lease-17                 unit 17 is taken; holds the number of the task
 *             task-3.vm.4711.1700000000.0.jsonl     results of an attempt of task 3, a line for each point
 *
 * Invariants
 * 1. A unit is leased by linking a finished file to its name, which succeeds for one task only, on NFS too.
 * 2. A file of results has one writer. Only its last line can be cut short, and then it has no newline and
 *    does not count.
 * 3. A task that is started again (requeued, or twice by mistake) takes the units it had leased again and
 *    skips the points that its earlier attempts finished. Points that were run twice have equal results, of
 *    which the merge keeps one. So how often and where tasks run changes nothing in the results.
 * 4. A merge adds everything in one transaction, and adding again changes nothing.
 */
#ifndef PIMSIM_TOOLS_SWEEP_SPECIFICATION_TASK_H
#define PIMSIM_TOOLS_SWEEP_SPECIFICATION_TASK_H

#include "sim/status.h"
#include "tools/sweep/store/store.h"
#include "tools/sweep/sweep.h"
#include "tools/sweep/trace_pool.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

enum { PIM_TASKS_MOST = 100000 };

/*
 * Makes a submission for the points of `sweep` that `store` lacks, for so many tasks; points that failed
 * count as missing with `retry`. *folder is its path, which the caller frees; *units is the number of units,
 * 0 (and no folder) when nothing is missing.
 */
enum pim_status pim_task_submit(const char *results, const struct pim_sweep *sweep, struct pim_store *store,
                                bool retry, uint64_t tasks, char **folder, uint64_t *units,
                                struct pim_error *error);

/* Works as task `task` of `tasks` on a submission until no unit is left. PIM_BAD_INPUT when the sweep is not
 * the one that was submitted. */
enum pim_status pim_task_run(const char *folder, const struct pim_sweep *sweep, struct pim_trace_pool *pool,
                             uint64_t task, uint64_t tasks, unsigned threads, uint64_t *points,
                             struct pim_error *error);

/* Adds the results of all submissions of `results` to the store. *points counts the lines, also of points
 * that were there. */
enum pim_status pim_task_merge(const char *results, struct pim_store *store, uint64_t *points,
                               struct pim_error *error);

/* What tasks have done that is not merged: points that the store lacks, and how many of them failed. */
struct pim_task_progress {
    uint64_t points, failed;
};
enum pim_status pim_task_look(const char *results, struct pim_store *store,
                              struct pim_task_progress *progress, struct pim_error *error);

/* --- one result as a line of JSON (task_line.c) --- */

/* Writes the line with its newline. PIM_NO_MEMORY. */
enum pim_status pim_task_write_line(FILE *file, const struct pim_sweep_result *result,
                                    const struct pim_store_host *host, struct pim_error *error);

/* Reads a line without its newline; `name` and `line` are for messages. The result is to be terminated in any
 * case; host->name lives in it. */
enum pim_status pim_task_read_line(const char *name, uint64_t line, const char *text, size_t length,
                                   struct pim_sweep_result *result, struct pim_store_host *host,
                                   struct pim_error *error);

#endif
