/*
 * mapping = "best": of the programs that may run at a point, the one that runs fastest there.
 *
 * They are the point's own and those of the other points with the same source that differ from it in
 * values of axes of bandwidth alone (every key of which changes how fast messages and memories are, and
 * neither what a program computes nor where it has room). Only points that the constraints admit count,
 * and only programs that mappers make for their own point, so nothing depends on the order of the points.
 *
 * Invariants
 *  1. The cycles of a point are no more than those of the program of any such point replayed on it, be it
 *     that point's own or the one that was taken there.
 *  2. Of equally fast ones the point's own is taken, then the first in the order of points.
 */
#ifndef PIMSIM_TOOLS_SWEEP_BEST_H
#define PIMSIM_TOOLS_SWEEP_BEST_H

#include "models/system/hardware.h"
#include "tools/sweep/sweep.h"
#include "tools/sweep/trace_pool.h"

struct pim_sweep_best {
    struct pim_sweep_point point; /* whose program is taken */
    bool beaten;                  /* it is not the point's own */
    uint64_t own_cycles; /* of the point's own program; 0: `until` stopped it, and nothing was tried */
};

/* Whether programs may be replayed along an axis. */
bool pim_sweep_is_bandwidth(const struct pim_sweep_axis *axis);

/* Refuses sweeps in which mapping = "best" changes nothing. */
enum pim_status pim_sweep_check_best(const struct pim_sweep *sweep, struct pim_error *error);

/* Finds it. Fails with what the mapper of the point or the replay of its own program fails with; a program of
 * another point that cannot be made or does not run is no candidate. */
enum pim_status pim_sweep_find_best(const struct pim_sweep *sweep, struct pim_trace_pool *pool,
                                    const struct pim_sweep_point *point, const struct pim_hardware *hardware,
                                    struct pim_sweep_best *best, struct pim_error *error);

/* search_cycles, search_beaten, and of whose values of the axes of bandwidth the program is. */
struct pim_sweep_result;
void pim_sweep_best_add(const struct pim_sweep *sweep, const struct pim_sweep_best *best,
                        struct pim_sweep_result *result);

#endif
