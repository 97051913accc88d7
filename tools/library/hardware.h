/* A hardware configuration as closed forms see it. */
#ifndef PIMSIM_TOOLS_LIBRARY_HARDWARE_H
#define PIMSIM_TOOLS_LIBRARY_HARDWARE_H

#include "mappers/estimate/estimate.h"
#include "models/system/hardware.h"
#include "sim/configuration.h"

/* The closed forms' view of a hardware. */
void pim_estimate_hardware_of(const struct pim_configuration *configuration,
                              const struct pim_hardware *hardware, struct pim_estimate_hardware *estimate);

#endif
