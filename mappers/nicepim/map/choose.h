/* Candidates of all layers on all regions that come up, and the choice among them. */
#ifndef PIMSIM_MAPPERS_NICEPIM_MAP_CHOOSE_H
#define PIMSIM_MAPPERS_NICEPIM_MAP_CHOOSE_H

#include "mappers/nicepim/map/plan.h"

/* Fills the decisions of a plan, for the layouts it has. PIM_BAD_INPUT when nothing fits. */
enum pim_status nice_decide(struct nice_plan *plan, struct pim_error *error);

#endif
