/* Graphs of tiles on the network of the hardware: what the conflict mapper judges mappings by. */
#ifndef PIMSIM_TOOLS_LIBRARY_TILES_H
#define PIMSIM_TOOLS_LIBRARY_TILES_H

#include "mappers/conflict/graph.h"
#include "mappers/mapper.h"
#include "models/conflict/conflict.h"

/* The same graph for the model; the caller destroys it. */
enum pim_status pim_tiles_task_graph(const struct pim_tile_graph *tiles, struct pim_task_graph **graph,
                                     struct pim_error *error);

/* Its context is a struct pim_hardware of tiles. */
extern const struct pim_mapper_tiles pim_tiles_simulator;

#endif
