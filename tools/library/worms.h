/* Packets of a task graph as worms of models/noc, in place of the networks of models/conflict. */
#ifndef PIMSIM_TOOLS_LIBRARY_WORMS_H
#define PIMSIM_TOOLS_LIBRARY_WORMS_H

#include "models/conflict/conflict.h"
#include "models/system/hardware.h"

struct pim_worms;

/* For one run of `graph` with node n at place[n]; all is borrowed until pim_worms_destroy(), which takes
 * NULL. PIM_BAD_INPUT as pim_noc_create(). */
enum pim_status pim_worms_create(const struct pim_hardware *hardware, enum pim_noc_fidelity fidelity,
                                 const struct pim_task_graph *graph, const uint32_t *place,
                                 struct pim_worms **worms, struct pim_error *error);
void pim_worms_destroy(struct pim_worms *worms);

const struct pim_conflict_carrier *pim_worms_carrier(const struct pim_worms *worms);

/* Of an image; UINT64_MAX when there are more. */
uint64_t pim_worms_flits(const struct pim_hardware *hardware, const struct pim_task_graph *graph);

#endif
