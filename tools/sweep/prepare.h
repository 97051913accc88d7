/* A sweep whose parts are all there becomes one whose points can run. */
#ifndef PIMSIM_TOOLS_SWEEP_PREPARE_H
#define PIMSIM_TOOLS_SWEEP_PREPARE_H

#include "tools/sweep/sweep.h"

/*
 * Opens traces, reads configurations, constraints and networks, counts. Everything that can be refused before
 * the first cycle is refused here: PIM_BAD_INPUT, PIM_IO, PIM_NO_MEMORY. To be called once, when all parts
 * are added.
 */
enum pim_status pim_sweep_prepare(struct pim_sweep *sweep, struct pim_error *error);

#endif
