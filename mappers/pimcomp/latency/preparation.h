/* What an attempt of the low-latency schedule begins with: tables, members of replicas, fixed buffers. */
#ifndef PIMSIM_MAPPERS_PIMCOMP_LATENCY_PREPARATION_H
#define PIMSIM_MAPPERS_PIMCOMP_LATENCY_PREPARATION_H

#include "mappers/pimcomp/latency/state.h"

/* --- tables --- */
/* Sets positions, tables and runs of a layer whose windows do not slide; false: they do. */
enum pim_status pim_ll_plan_tables(struct pim_ll *ll, uint32_t layer, bool *made);

/* --- plan --- */
enum pim_status pim_ll_plan(struct pim_ll *ll);
/* Members of the replicas of a layer, strips; the sources are planned. */
enum pim_status pim_ll_plan_matrix(struct pim_ll *ll, uint32_t layer);
/* Sets all that windows change back to the beginning, and places the fixed buffers. False: no room, or
 * failed. */
bool pim_ll_begin(struct pim_ll *ll);
/* Frees what pim_ll_begin allocated. */
void pim_ll_end(struct pim_ll *ll);

#endif
