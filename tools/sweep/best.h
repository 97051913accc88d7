/*
 * mapping = "each": of the programs that may run at a point, the one that runs fastest there.
 *
 * They are the point's own and those of its neighbours: the other points with the same source that differ
 * from it in values of axes of bandwidth alone (every key of which changes how fast messages and memories
 * are, and neither what a program computes nor where it has room). Only points that the constraints admit
 * count, and only programs that mappers make for their own point, so nothing depends on the order in which
 * points run. Traces, and axes of one value, have no neighbours: their points run what they have.
 *
 * Where the mapper can start from plans (--start-from), each of these points is mapped a second time: its
 * search starts from the layouts of its own first plan and of its neighbours', in the order of points, as it
 * does from those without a search. Both programs of each point count.
 *
 * Invariants (where `until` does not stop the point's own program; else none is tried)
 *  1. The cycles of a point are no more than those of any program of a neighbour replayed on it, be it one of
 *     that neighbour's own or the one that was taken there.
 *  2. Of equally fast ones that of the point's first search is taken, then that of its second, then the first
 *     in the order of points. A program that is the same instruction for instruction is equally fast, and
 *     neither opened nor replayed.
 */
#ifndef PIMSIM_TOOLS_SWEEP_BEST_H
#define PIMSIM_TOOLS_SWEEP_BEST_H

#include "models/system/hardware.h"
#include "tools/sweep/result.h"
#include "tools/sweep/sweep.h"
#include "tools/sweep/trace_pool.h"

/* A point and its neighbours; each replays the programs of all. */
enum { PIM_SWEEP_NEIGHBOURS_MOST = 256 };

struct pim_sweep_starts {
    struct pim_sweep_point point[PIM_SWEEP_STARTS_MOST];
    size_t count;
};

struct pim_sweep_best {
    struct pim_sweep_point point;    /* whose program is taken */
    bool again;                      /* it is that of the second search there, which started from plans: */
    struct pim_sweep_starts *starts; /* of these; NULL: it is that of the first */
    bool beaten;                     /* it is not that of the point's own first search */
    uint64_t own_cycles; /* of the program of the point's own first search; 0: not known, since no other one
                            was there to try, or `until` stopped it, and none was tried */
};

/* Whether a key changes speed alone; whether programs may be replayed along an axis. */
bool pim_sweep_is_bandwidth(const char *key);
bool pim_sweep_axis_is_bandwidth(const struct pim_sweep_axis *axis);

/* Sets sweep->take_best: whether points have neighbours, and their programs are wanted. PIM_BAD_INPUT when
 * there are too many. */
enum pim_status pim_sweep_prepare_best(struct pim_sweep *sweep, struct pim_error *error);

/* Finds it, to be terminated after success. Fails with what the mapper of the point fails with; a program of
 * another point, or of a second search, that cannot be made or does not run is no candidate, and when the
 * point's own does not run none is. */
enum pim_status pim_sweep_find_best(const struct pim_sweep *sweep, struct pim_trace_pool *pool,
                                    const struct pim_sweep_point *point, const struct pim_hardware *hardware,
                                    struct pim_sweep_best *best, struct pim_error *error);

/* The program that is taken, to be given back to the pool. */
enum pim_status pim_sweep_best_take(const struct pim_sweep_best *best, struct pim_trace_pool *pool,
                                    const struct pim_trace **trace, struct pim_error *error);
void pim_sweep_best_terminate(struct pim_sweep_best *best);

/* Runs that so many points take at most, those that only compare programs counted. */
uint64_t pim_sweep_runs_most(const struct pim_sweep *sweep, uint64_t points);

/* search_cycles, search_beaten, which search of a point the program is of, and of whose values of the axes of
 * bandwidth. */
void pim_sweep_best_add(const struct pim_sweep *sweep, const struct pim_sweep_best *best,
                        struct pim_sweep_result *result);

#endif
