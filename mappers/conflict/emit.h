/* The trace of a mapping: edges, takes and steps of every tile (docs/models/tile.md). */
#ifndef PIMSIM_MAPPERS_CONFLICT_EMIT_H
#define PIMSIM_MAPPERS_CONFLICT_EMIT_H

#include "mappers/conflict/estimate.h"
#include "mappers/conflict/graph.h"
#include "mappers/mapper.h"
#include "traces/file/writer.h"

/* Programs and phases (`imageM/LAYER`) of `images` images, node n in the unit place[n]. PIM_BAD_INPUT for
 * counts that an instruction cannot hold, and when it is stopped. */
enum pim_status pim_tile_emit(const struct pim_tile_graph *graph, const uint32_t *place, uint32_t images,
                              const struct pim_tile_estimate *estimate, const struct pim_tile_limits *limits,
                              struct pim_trace_writer *writer, struct pim_error *error);

#endif
