/* Tilings that were found, by their products and weights: layers alike, cuts with parts alike, and plans of
 * one network ask again and again. Of one thread, and one hardware; how many nodes it has does not matter. */
#ifndef PIMSIM_MAPPERS_NICEPIM_MAP_TILES_TILE_MEMORY_H
#define PIMSIM_MAPPERS_NICEPIM_MAP_TILES_TILE_MEMORY_H

#include "mappers/nicepim/map/tiles/tiles.h"

struct tile_memory;

/* NULL: out of memory. */
struct tile_memory *tile_memory_create(void);
void tile_memory_destroy(struct tile_memory *memory);

/* tile_choose(), looked up first. */
bool tile_recall(struct tile_memory *memory, const struct pim_estimate_hardware *hardware,
                 const struct tile_product *product, const struct nice_weights *weights,
                 struct tiling *tiling);

#endif
