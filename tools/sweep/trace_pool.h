/*
 * The traces of a sweep, shared by its threads.
 *
 * A trace that the sweep names is open all the time. One that a mapper makes is made when the first point
 * needs it; a mapper that refuses harms one point only. It stays in the cache folder under a name that is a
 * hash (XXH3, 128 bits) of all it depends on: version of pimsim, mapper and its options, content of the
 * network, hardware configuration. Points, sweeps and later runs with the same content share the file. Each
 * file appears whole or not at all, so processes may share the folder.
 *
 * Invariants
 * 1. A mapping is made by one thread; others that need it wait. One that failed is not tried again: all
 *    points that need it get the same message.
 * 2. A trace is open while a point uses it.
 */
#ifndef PIMSIM_TOOLS_SWEEP_TRACE_POOL_H
#define PIMSIM_TOOLS_SWEEP_TRACE_POOL_H

#include "sim/status.h"
#include "tools/sweep/sweep.h"

struct pim_trace_pool;

/* `sweep` is borrowed. `folder` is the cache and is made when it is needed; it
 * is copied. *pool is NULL after a failure. */
enum pim_status pim_trace_pool_create(const struct pim_sweep *sweep, const char *folder,
                                      struct pim_trace_pool **pool, struct pim_error *error);
void pim_trace_pool_destroy(struct pim_trace_pool *pool);

/* The trace of a point, to be given back. */
enum pim_status pim_trace_pool_take(struct pim_trace_pool *pool, const struct pim_sweep_point *point,
                                    const struct pim_trace **trace, struct pim_error *error);
/* The same, but *trace is NULL while another thread makes it. */
enum pim_status pim_trace_pool_try(struct pim_trace_pool *pool, const struct pim_sweep_point *point,
                                   const struct pim_trace **trace, struct pim_error *error);
void pim_trace_pool_give(struct pim_trace_pool *pool, const struct pim_trace *trace);

#endif
