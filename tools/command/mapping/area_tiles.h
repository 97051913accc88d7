/* What `pimsim area` says of a mesh of crossbar tiles. */
#ifndef PIMSIM_TOOLS_COMMAND_MAPPING_AREA_TILES_H
#define PIMSIM_TOOLS_COMMAND_MAPPING_AREA_TILES_H

#include "sim/configuration/configuration.h"
#include "sim/status.h"

#include <stdio.h>

enum pim_status area_tiles_write_text(FILE *file, const struct pim_configuration *configuration,
                                      struct pim_error *error);
enum pim_status area_tiles_write_json(FILE *file, const struct pim_configuration *configuration,
                                      struct pim_error *error);

#endif
