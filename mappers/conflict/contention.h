/*
 * Who stands in whose way: what the packets of edges lay on links, and how long an edge is held up by those
 * that travel while it does. docs/mappers/conflict.md has the rules.
 */
#ifndef PIMSIM_MAPPERS_CONFLICT_CONTENTION_H
#define PIMSIM_MAPPERS_CONFLICT_CONTENTION_H

#include "mappers/conflict/graph.h"
#include "mappers/machine/tiles.h"

/* When the packets of an edge travel, ns; evenly between the first and the last. */
struct pim_tile_window {
    double first, last;
};

struct pim_tile_contention;

/* Of an image, node n at place[n]. NULL when memory is out. */
struct pim_tile_contention *pim_tile_contention_create(const struct pim_tile_graph *graph,
                                                       const uint32_t *place,
                                                       const struct pim_machine_tiles *machine);
void pim_tile_contention_destroy(struct pim_tile_contention *contention); /* NULL is allowed */

/* The time that the packets of an edge need together with all that is in their way within its window. */
double pim_tile_contention_time(struct pim_tile_contention *contention, uint32_t edge,
                                const struct pim_tile_window *windows);

/* The same of the busiest link on its way, whenever packets travel: no image follows another one faster. */
double pim_tile_contention_interval(struct pim_tile_contention *contention, uint32_t edge);

#endif
