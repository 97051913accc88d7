/*
 * Threads that share the pieces of a task. Which thread works which piece is left to chance, so a piece must
 * depend on its number alone, and write only what is its own.
 */
#ifndef PIMSIM_MAPPERS_SEARCH_WORKERS_H
#define PIMSIM_MAPPERS_SEARCH_WORKERS_H

#include "sim/status.h"

#include <stdint.h>

/* Works piece `index` on behalf of thread `worker`, 0 to threads - 1. */
typedef void pim_worker_task(void *context, unsigned worker, uint64_t index);

struct pim_workers;

/* How many threads an option of threads means: 0 one for each processor that is online; PIM_SEARCH_THREADS at
 * most, as many as a search may have. */
unsigned pim_workers_wanted(uint64_t option);

/* The caller and threads - 1 others (0: none), fewer when the system gives no more: pim_workers_count() says
 * how many numbers `worker` may have. PIM_NO_MEMORY. */
enum pim_status pim_workers_create(struct pim_workers **workers, unsigned threads, struct pim_error *error);
unsigned pim_workers_count(const struct pim_workers *workers);

/* Works pieces first to last - 1 with all threads, the caller as worker 0, and returns when all are done. */
void pim_workers_run(struct pim_workers *workers, pim_worker_task *task, void *context, uint64_t first,
                     uint64_t last);

/* Ends the threads; NULL is allowed. */
void pim_workers_destroy(struct pim_workers *workers);

#endif
