/*
 * The cuts of a plan, one product after the other, where the whole is estimated to end earlier with another:
 * the choice sees what moves between layers only roughly, and what a cut costs those after it not at all.
 */
#ifndef PIMSIM_MAPPERS_NICEPIM_MAP_REFINE_REFINE_H
#define PIMSIM_MAPPERS_NICEPIM_MAP_REFINE_REFINE_H

#include "mappers/nicepim/map/plan.h"
#include "mappers/nicepim/map/program/emit.h"

/*
 * Changes decisions of a plan so that its programs are estimated to take fewer cycles. *result is that of the
 * plan as it comes and as it is left: never more cycles, and where there are not fewer the plan is as it was.
 * Baselines are not changed. Where the plan is to stop, the rest of the products stays as it is
 * (`cut_short`). The cost of the choice stays what the choice was worth.
 */
enum pim_status nice_refine(struct nice_plan *plan, struct nice_result *result, struct pim_error *error);

#endif
