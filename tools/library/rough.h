/* What the estimates of mappers know only roughly. */
#ifndef PIMSIM_TOOLS_LIBRARY_ROUGH_H
#define PIMSIM_TOOLS_LIBRARY_ROUGH_H

#include "mappers/mapper.h"
#include "models/system/hardware.h"

/* The key of a setting with which estimates of this mapper, and its choices by them, have been seen more than
 * a tenth off; NULL: none (docs/models/estimate.md). */
const char *pim_rough_key(const struct pim_mapper *mapper, const struct pim_hardware *hardware);

#endif
