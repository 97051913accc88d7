/* What the network of tiles has done, for results and reports. */
#ifndef PIMSIM_MODELS_SYSTEM_REPORT_TILE_RESULTS_H
#define PIMSIM_MODELS_SYSTEM_REPORT_TILE_RESULTS_H

#include "models/tile/tile.h"

struct pim_system;
struct pim_run_result;

/* The units as tiles; NULL when they are of another family. */
const struct pim_tiles *pim_system_tiles(const struct pim_system *system);

/* Utilisation of links up to a tick; not with switching wormhole. */
struct pim_conflict_summary pim_tiles_summary(const struct pim_tiles *tiles, pim_time end);

/* What packets waited for links, added up. */
bool pim_tiles_know_waiting(
    const struct pim_tiles *tiles); /* else the sums are not whole, or nobody keeps them */
double pim_tiles_waited_ns(const struct pim_tiles *tiles);

/* Links and counts of packets into the result. */
enum pim_status pim_tiles_collect(struct pim_system *system, struct pim_run_result *result,
                                  struct pim_error *error);

#endif
