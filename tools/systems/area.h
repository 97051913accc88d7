/* The area of a node array from its hardware configuration, for `pimsim area` and `pimsim systems`. */
#ifndef PIMSIM_TOOLS_SYSTEMS_AREA_H
#define PIMSIM_TOOLS_SYSTEMS_AREA_H

#include "models/area/area.h"
#include "sim/configuration/configuration.h"
#include "sim/status.h"

#include <stdbool.h>

/*
 * What the closed forms need of a complete configuration, with operands of `bits`, and the areas in all
 * readings. PIM_BAD_INPUT when the hardware is not made of nodes, or has parts that there is no form of.
 */
enum pim_status pim_area_read(const struct pim_configuration *configuration, unsigned bits,
                              struct pim_area_system *system, struct pim_area areas[PIM_AREA_READINGS],
                              struct pim_error *error);

/* Whether there are forms of the routers and controllers of nodes. */
bool pim_area_is_known(const struct pim_configuration *configuration);

/* The same of a mesh of crossbar tiles, array.kind "tile". */
bool pim_area_is_of_tiles(const struct pim_configuration *configuration);
enum pim_status pim_area_read_tiles(const struct pim_configuration *configuration,
                                    struct pim_area_tile_system *system,
                                    struct pim_area_tiles areas[PIM_AREA_READINGS], struct pim_error *error);

#endif
