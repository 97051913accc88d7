/* Going through steps and data spaces by the cells of the components. Private to mappers/overlapim. */
#ifndef PIMSIM_MAPPERS_OVERLAPIM_ANALYSIS_ENUMERATE_H
#define PIMSIM_MAPPERS_OVERLAPIM_ANALYSIS_ENUMERATE_H

#include "mappers/overlapim/analysis/overlap.h"

/* Index of the output tile of a data space in [N][K][P][Q]. */
uint64_t pim_overlap_output_tile(const struct pim_overlap_layer *layer, const uint32_t tiles[4],
                                 const struct pim_ready *space);

/* Their counts along N, K, P, Q; returns the product. */
uint64_t pim_overlap_output_tiles(const struct pim_overlap_layer *layer, uint32_t tiles[4]);

#endif
