/*
 * The traces of a sweep, shared by its threads.
 *
 * A trace that the sweep names is open all the time. One that a mapper makes is made when the first point
 * needs it; a mapper that refuses harms one point only. It stays in the cache folder under a name that is a
 * hash (XXH3, 128 bits) of all it depends on: version of pimsim and file of the program that maps, mapper and
 * its options, content of the network, hardware configuration. Points, sweeps and later runs with the same
 * content share the file. Each file appears whole or not at all, so processes may share the folder.
 *
 * A program of a mapper that can start from plans (--start-from) is made once from nothing, and once more
 * from the plans of other points: that is another trace, whose name is a hash of its own mapping and of the
 * names of those that it starts from. So the plans of such mappers are kept beside their traces.
 *
 * Invariants
 * 1. A mapping is made by one thread; others that need it wait. One that failed is not tried again: all
 *    points that need it get the same message.
 * 2. A trace is open while a point uses it. The hash of its program is known from then on.
 */
#ifndef PIMSIM_TOOLS_SWEEP_TRACE_POOL_H
#define PIMSIM_TOOLS_SWEEP_TRACE_POOL_H

#include "sim/status.h"
#include "tools/sweep/sweep.h"

struct pim_trace_pool;

/* Whose program: that of a point. */
struct pim_sweep_program {
    const struct pim_sweep_point *point;
    /* The points of whose plans its search starts, at most PIM_SWEEP_STARTS_MOST; none: from nothing. */
    const struct pim_sweep_point *start;
    size_t starts;
};

enum { PIM_SWEEP_STARTS_MOST = 16 };

/* `sweep` is borrowed. `folder` is the cache and is made when it is needed; it
 * is copied. *pool is NULL after a failure. */
enum pim_status pim_trace_pool_create(const struct pim_sweep *sweep, const char *folder,
                                      struct pim_trace_pool **pool, struct pim_error *error);
void pim_trace_pool_destroy(struct pim_trace_pool *pool);

/* A trace, to be given back; `wait` false: *trace is NULL while another thread makes it. */
enum pim_status pim_trace_pool_take(struct pim_trace_pool *pool, const struct pim_sweep_program *program,
                                    bool wait, const struct pim_trace **trace, struct pim_error *error);
void pim_trace_pool_give(struct pim_trace_pool *pool, const struct pim_trace *trace);

/* Whether the hash of a program is known without opening it. */
enum pim_status pim_trace_pool_hash(struct pim_trace_pool *pool, const struct pim_sweep_program *program,
                                    bool *known, uint64_t *hash, struct pim_error *error);

#endif
