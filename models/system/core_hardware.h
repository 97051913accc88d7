/* Reads the keys of cores (models/system/core_keys.h) into the structs of models/core and models/energy. */
#ifndef PIMSIM_MODELS_SYSTEM_CORE_HARDWARE_H
#define PIMSIM_MODELS_SYSTEM_CORE_HARDWARE_H

#include "models/system/hardware.h"

/* After clocks and network of `hardware` are read. PIM_BAD_INPUT names the key and its place. */
enum pim_status pim_core_hardware_read(const struct pim_configuration *configuration,
                                       struct pim_hardware *hardware, struct pim_error *error);

/* The part of the energies that only cores have; after pim_core_hardware_read(). */
void pim_core_energy_read(const struct pim_configuration *configuration, const struct pim_hardware *hardware,
                          struct pim_energy_configuration *energy);

#endif
