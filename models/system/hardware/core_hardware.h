/* Reads the keys of cores (models/system/hardware/core_keys.h) into the structs of models/core and
 * models/energy. */
#ifndef PIMSIM_MODELS_SYSTEM_HARDWARE_CORE_HARDWARE_H
#define PIMSIM_MODELS_SYSTEM_HARDWARE_CORE_HARDWARE_H

#include "models/system/hardware.h"

/* After clocks, network and common energies of `hardware` are read. PIM_BAD_INPUT names the key and its
 * place. */
enum pim_status pim_core_hardware_read(const struct pim_configuration *configuration,
                                       struct pim_hardware *hardware, struct pim_error *error);

#endif
