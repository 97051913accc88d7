/*
 * mapping = "each": of the programs that may run at a point, the one that runs fastest there.
 *
 * They are the point's own and those of its neighbours: the other points with the same source that differ
 * from it in values of axes of bandwidth alone (every key of which changes how fast messages and memories
 * are, and neither what a program computes nor where it has room). Only points that the constraints admit
 * count, and only programs that mappers make for their own point, so nothing depends on the order in which
 * points run. Traces, and axes of one value, have no neighbours: their points run what they have.
 *
 * Invariants (where `until` does not stop the point's own program; else none is tried)
 *  1. The cycles of a point are no more than those of the program of any neighbour replayed on it, be it that
 *     neighbour's own or the one that was taken there.
 *  2. Of equally fast ones the point's own is taken, then that of the first in the order of points. A program
 *     that is the same instruction for instruction is equally fast, and not replayed.
 */
#ifndef PIMSIM_TOOLS_SWEEP_BEST_H
#define PIMSIM_TOOLS_SWEEP_BEST_H

#include "models/system/hardware.h"
#include "tools/sweep/sweep.h"
#include "tools/sweep/trace_pool.h"

/* A point and its neighbours; each replays the programs of all. */
enum { PIM_SWEEP_NEIGHBOURS_MOST = 256 };

struct pim_sweep_best {
    struct pim_sweep_point point; /* whose program is taken */
    bool beaten;                  /* it is not the point's own */
    uint64_t own_cycles; /* of the point's own program; 0: not known, since no other one was there to try, or
                            `until` stopped it, and none was tried */
};

/* Whether a key changes speed alone; whether programs may be replayed along an axis. */
bool pim_sweep_is_bandwidth(const char *key);
bool pim_sweep_axis_is_bandwidth(const struct pim_sweep_axis *axis);

/* Sets sweep->take_best: whether points have neighbours, and their programs are wanted. PIM_BAD_INPUT when
 * there are too many. */
enum pim_status pim_sweep_prepare_best(struct pim_sweep *sweep, struct pim_error *error);

/* Finds it. Fails with what the mapper of the point fails with; a program of another point that cannot be
 * made or does not run is no candidate, and when the point's own does not run none is. */
enum pim_status pim_sweep_find_best(const struct pim_sweep *sweep, struct pim_trace_pool *pool,
                                    const struct pim_sweep_point *point, const struct pim_hardware *hardware,
                                    struct pim_sweep_best *best, struct pim_error *error);

/* search_cycles, search_beaten, and of whose values of the axes of bandwidth the program is. */
struct pim_sweep_result;
void pim_sweep_best_add(const struct pim_sweep *sweep, const struct pim_sweep_best *best,
                        struct pim_sweep_result *result);

#endif
