/* Cycles that were found, by their sharing sets: layers alike, and plans of one network, ask again and again.
 * Of one thread, and with one set of options. */
#ifndef PIMSIM_MAPPERS_NICEPIM_CYCLES_CYCLES_MEMORY_H
#define PIMSIM_MAPPERS_NICEPIM_CYCLES_CYCLES_MEMORY_H

#include "mappers/nicepim/cycles/cycles.h"

struct pim_cycles_memory;

/* NULL: out of memory. */
struct pim_cycles_memory *pim_cycles_memory_create(void);
void pim_cycles_memory_destroy(struct pim_cycles_memory *memory);

/* The order of pim_cycles_solve(), looked up first; it has a place for each member. */
enum pim_status pim_cycles_recall(struct pim_cycles_memory *memory, const struct pim_sharing *sharing,
                                  const struct pim_cycles_options *options, uint32_t *order,
                                  struct pim_error *error);

#endif
