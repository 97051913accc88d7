/* The global memory of cores on channels of a DRAM standard; rules: memory_channels.c. */
#ifndef PIMSIM_MODELS_CORE_MEMORY_CHANNELS_H
#define PIMSIM_MODELS_CORE_MEMORY_CHANNELS_H

#include "models/core/cores_internal.h"

/* Makes the channels of a configuration that has them. Destroys what there is, also after a failure. */
enum pim_status pim_core_memory_create(struct pim_cores *cores, struct pim_error *error);
void pim_core_memory_destroy(struct pim_cores *cores);

/* A load or store of the present cycle. pim_core_memory_served tells its end. */
void pim_core_memory_ask(struct pim_cores *cores, const struct pim_core_request *request);

/* Adds what all channels have counted so far. */
void pim_core_memory_rows(const struct pim_units *units, struct pim_dram_counters *sum);

#endif
