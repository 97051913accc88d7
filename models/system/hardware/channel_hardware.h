/* Reads the keys of channels that compute (models/system/hardware/level_keys.h) into the structs of
 * models/channel. */
#ifndef PIMSIM_MODELS_SYSTEM_HARDWARE_CHANNEL_HARDWARE_H
#define PIMSIM_MODELS_SYSTEM_HARDWARE_CHANNEL_HARDWARE_H

#include "models/system/hardware.h"

/* After clocks and common energies of `hardware` are read. PIM_BAD_INPUT names the key and its place. */
enum pim_status pim_channel_hardware_read(const struct pim_configuration *configuration,
                                          struct pim_hardware *hardware, struct pim_error *error);

#endif
