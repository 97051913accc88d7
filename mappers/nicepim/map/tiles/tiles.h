/*
 * A product on one node in tiles: of batches, rows, columns and channels of the output and of channels of
 * the input. The input of a tile is the box that its windows cover, read once for each tile that needs it;
 * windows that overlap share its elements. Tiles fit half of each buffer, so that the next is loaded while
 * one is worked; only where a whole operand is one tile it may fill the buffer.
 */
#ifndef PIMSIM_MAPPERS_NICEPIM_MAP_TILES_TILES_H
#define PIMSIM_MAPPERS_NICEPIM_MAP_TILES_TILES_H

#include "mappers/nicepim/map/tiles/tile_cost.h"

/* The tiling of least cost, of several the one of the smallest tiles; false when not even the smallest fits.
 */
bool tile_choose(const struct pim_estimate_hardware *hardware, const struct tile_product *product,
                 const struct nice_weights *weights, struct tiling *tiling);

/* The same with tiles of so many output and input channels; false: they do not fit. */
bool tile_choose_positions(const struct pim_estimate_hardware *hardware, const struct tile_product *product,
                           const struct nice_weights *weights, const uint32_t channels[2],
                           struct tiling *tiling);

#endif
