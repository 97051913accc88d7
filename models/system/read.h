/* From the values of keys to the hardware that they describe, checked. */
#ifndef PIMSIM_MODELS_SYSTEM_READ_H
#define PIMSIM_MODELS_SYSTEM_READ_H

#include "models/system/hardware.h"
#include "sim/configuration/configuration.h"

/*
 * Fills `hardware` from a complete configuration of pim_hardware_schema. PIM_BAD_INPUT names the key and its
 * place.
 */
enum pim_status pim_hardware_read(const struct pim_configuration *configuration,
                                  struct pim_hardware *hardware, struct pim_error *error);

#endif
