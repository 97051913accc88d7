/* How the result of one point is made. */
#ifndef PIMSIM_TOOLS_SWEEP_RUN_H
#define PIMSIM_TOOLS_SWEEP_RUN_H

#include "tools/sweep/result.h"
#include "tools/sweep/trace_pool.h"

/* Runs point `point`; a failure is part of the result. pim_sweep_result_terminate() is needed in every
 * case. */
void pim_sweep_run(const struct pim_sweep *sweep, struct pim_trace_pool *pool,
                   const struct pim_sweep_point *point, struct pim_sweep_result *result);

#endif
