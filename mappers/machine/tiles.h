/* Tiles of crossbars as mappers see them, read once from a configuration (array.kind "tile"). */
#ifndef PIMSIM_MAPPERS_MACHINE_TILES_H
#define PIMSIM_MAPPERS_MACHINE_TILES_H

#include "sim/configuration/configuration.h"

struct pim_machine_tiles {
    uint32_t width, height;                           /* of the mesh, in tiles */
    uint32_t crossbar_rows, crossbar_columns;         /* of a crossbar */
    uint32_t rows_of_crossbars, columns_of_crossbars; /* of a tile */
    uint32_t bits;                                    /* of an activation */
    double link_gbps;
    bool stores; /* routers store and forward; else a transfer holds its path */
    bool tables; /* routers work behaviour tables */
    bool worms;  /* packets are worms of the routers of noc.*, which store as well */
    uint64_t logic_khz;
};

/* PIM_BAD_INPUT when the hardware has no tiles. */
enum pim_status pim_machine_tiles_read(const struct pim_configuration *configuration,
                                       struct pim_machine_tiles *tiles, struct pim_error *error);

#endif
