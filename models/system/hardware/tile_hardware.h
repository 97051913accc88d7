/* Reads the keys of tiles (models/system/hardware/tile_keys.h) into the structs of models/tile. */
#ifndef PIMSIM_MODELS_SYSTEM_HARDWARE_TILE_HARDWARE_H
#define PIMSIM_MODELS_SYSTEM_HARDWARE_TILE_HARDWARE_H

#include "models/system/hardware.h"

enum pim_status pim_tile_hardware_read(const struct pim_configuration *configuration,
                                       struct pim_hardware *hardware, struct pim_error *error);

#endif
