/* The graph and its mapping as files that `pimsim tasks` replays. */
#ifndef PIMSIM_MAPPERS_CONFLICT_FILES_H
#define PIMSIM_MAPPERS_CONFLICT_FILES_H

#include "mappers/conflict/graph.h"

/* PREFIX.nodes.csv, PREFIX.edges.csv, and PREFIX.layers.csv (PREFIX.deps.csv where windows are not square):
 * whole, or none of them. */
enum pim_status pim_tile_graph_write(const struct pim_tile_graph *tiles, const char *prefix,
                                     struct pim_error *error);

/* PREFIX.mappings.json: the mapping by its name, rows and columns of the nodes. */
enum pim_status pim_tile_mapping_write(const struct pim_tile_graph *tiles, const char *name, uint32_t width,
                                       const uint32_t *place, const char *prefix, struct pim_error *error);

#endif
