/* The schema of the network alone (`pimsim noc`), and the values of its keys as the network's own struct. */
#ifndef PIMSIM_MODELS_SYSTEM_HARDWARE_NOC_SCHEMA_H
#define PIMSIM_MODELS_SYSTEM_HARDWARE_NOC_SCHEMA_H

#include "models/noc/noc.h"
#include "sim/configuration/configuration.h"

extern const struct pim_schema pim_noc_schema;

/*
 * Fills `noc` from the noc.* keys of either schema; width and height come from the caller. Checks the result;
 * PIM_BAD_INPUT.
 */
enum pim_status pim_noc_configuration_read(const struct pim_configuration *configuration, uint32_t width,
                                           uint32_t height, struct pim_noc_configuration *noc,
                                           struct pim_error *error);

#endif
