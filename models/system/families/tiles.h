/* What the network of tiles has done, for results and reports. */
#ifndef PIMSIM_MODELS_SYSTEM_FAMILIES_TILES_H
#define PIMSIM_MODELS_SYSTEM_FAMILIES_TILES_H

#include "models/tile/tile.h"

struct pim_system;

/* The units as tiles; NULL when they are of another family. */
const struct pim_tiles *pim_system_tiles(const struct pim_system *system);

/* Utilisation of links up to a tick; not with switching wormhole. */
struct pim_conflict_summary pim_tiles_summary(const struct pim_tiles *tiles, pim_time end);

/* What packets waited for links, added up. */
bool pim_tiles_know_waiting(
    const struct pim_tiles *tiles); /* else the sums are not whole, or nobody keeps them */
double pim_tiles_waited_ns(const struct pim_tiles *tiles);

#endif
