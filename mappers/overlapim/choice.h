/*
 * Which of the series of a plan is written: the fastest. In simulated cycles where estimates are less than a
 * third above the shortest, which they may be off by; by the estimates where they are further apart. What no
 * trace can be written of loses to all others. Of equal cycles the series that is named first stands.
 * best_wide is simulated where all before it took more than it is estimated to take: it is there for mixtures
 * whose traces are slower than their estimates, as those are that hand over at their ends.
 */
#ifndef PIMSIM_MAPPERS_OVERLAPIM_CHOICE_H
#define PIMSIM_MAPPERS_OVERLAPIM_CHOICE_H

#include "mappers/overlapim/plan.h"

/* Cycles of the trace of the plan as it is. PIM_BAD_INPUT: none can be written of it; PIM_IO: none can be
 * kept here, or nothing more is to be simulated. */
typedef enum pim_status pim_series_simulate(void *context, uint64_t *cycles, struct pim_error *error);

/* Sets plan->series to one of `list`, and plan->simulated of those that were simulated. The fastest of
 * these is taken; where there are none, and without `simulate`, estimates decide. */
enum pim_status pim_series_choose(struct pim_overlapim_plan *plan, const enum pim_series *list,
                                  unsigned count, pim_series_simulate *simulate, void *context,
                                  struct pim_error *error);

#endif
