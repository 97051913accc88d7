/* Equations (12) to (15) of the paper, phase by phase: what stands beside our own estimate. */
#ifndef PIMSIM_MAPPERS_ALLSPARK_EQUATIONS_H
#define PIMSIM_MAPPERS_ALLSPARK_EQUATIONS_H

#include "mappers/allspark/steps.h"

/*
 * Sets the equations of a step's phase, where the paper has a term for it: docs/mappers/allspark-equations.md
 * says which. emitter->place is the node that our estimate is of.
 */
void pim_equations_of_step(struct pim_emitter *emitter, enum pim_step step, uint32_t block,
                           struct pim_trace_phase *phase);

#endif
