/*
 * Places on a grid for things that exchange traffic.
 *
 * Cell c of a grid stands in row c / width and column c % width. A placement gives thing i the cell place[i];
 * cells may stay empty. The distance of two cells is the number of links on a shortest path of the mesh.
 *
 * The directed link that leaves cell c has the number 4 c + direction, west, east, north, south from 0 on.
 */
#ifndef PIMSIM_MAPPERS_PLACE_PLACE_H
#define PIMSIM_MAPPERS_PLACE_PLACE_H

#include "sim/random.h"
#include "sim/status.h"

#include <stdbool.h>
#include <stdint.h>

enum { PIM_PLACE_DIRECTIONS = 4, PIM_PLACE_CELLS = 1 << 20 };

struct pim_grid {
    uint32_t width, height; /* at least 1; at most PIM_PLACE_CELLS cells together */
};

/* Weight that goes from one thing to another. */
struct pim_flow {
    uint32_t from, to;
    uint64_t weight; /* at most 2^40 */
};

static inline uint32_t pim_grid_cells(const struct pim_grid *grid)
{
    return grid->width * grid->height;
}

static inline uint32_t pim_grid_distance(const struct pim_grid *grid, uint32_t a, uint32_t b)
{
    uint32_t ax = a % grid->width, ay = a / grid->width, bx = b % grid->width, by = b / grid->width;
    return (ax > bx ? ax - bx : bx - ax) + (ay > by ? ay - by : by - ay);
}

/* --- what a placement costs (flows.c) --- */

/* Sum over the flows of weight x distance: the total communication cost. */
uint64_t pim_place_hops(const struct pim_grid *grid, const struct pim_flow *flows, uint32_t count,
                        const uint32_t *place);

/* Routes and what a link is. */
struct pim_place_routes {
    bool columns_first; /* along the column, then along the row; else the row first (XY) */
    bool undirected;    /* both directions of a link share the number of the one that leads east or south */
    bool stretch;       /* a link carries weight x distance of the flow: what holding whole paths costs */
};

/* Adds what every flow lays on the links of its route to load[4 x cells], zero before or with other loads. */
void pim_place_loads(const struct pim_grid *grid, const struct pim_flow *flows, uint32_t count,
                     const uint32_t *place, const struct pim_place_routes *routes, uint64_t *load);

/* The links of the route of one flow: writes at most width + height of them, returns their number. */
uint32_t pim_place_route(const struct pim_grid *grid, uint32_t from, uint32_t to,
                         const struct pim_place_routes *routes, uint32_t *links);

/* The largest load, and its link (the first of equals). */
uint64_t pim_place_worst(const struct pim_grid *grid, const uint64_t *load, uint32_t *link);

/* --- making placements --- */

/* The flows of each thing: adjacent[first[i]] to adjacent[first[i + 1] - 1] are indices of flows. */
struct pim_flow_index {
    uint32_t *first, *adjacent;
};
/* PIM_BAD_INPUT for a flow that names a thing beyond `things`, joins a thing with itself, or is too heavy. */
enum pim_status pim_flow_index_make(struct pim_flow_index *index, const struct pim_flow *flows,
                                    uint32_t count, uint32_t things, struct pim_error *error);
void pim_flow_index_terminate(struct pim_flow_index *index);

/*
 * Greedy (greedy.c): heaviest flows first, ties by their order. Neither end placed: one goes to a free cell
 * beside an occupied one (the middle of an empty grid), the other to the nearest free cell; one end placed:
 * the other goes to the free cell nearest to it. Things without flows fill what is left. `random` NULL: of
 * several such cells the first is taken, else any. PIM_BAD_INPUT when there are more things than cells.
 */
enum pim_status pim_place_greedy(const struct pim_grid *grid, const struct pim_flow *flows, uint32_t count,
                                 uint32_t things, struct pim_random *random, uint32_t *place,
                                 struct pim_error *error);

/*
 * Descent (descent.c): exchanges the places of two things, or moves one to an empty cell, the exchange that
 * gains most first (ties: the lower thing, then the lower cell), until none gains or `steps` are done.
 * *hops receives the cost. PIM_BAD_INPUT as pim_flow_index_make(); PIM_NO_MEMORY.
 */
enum pim_status pim_place_descend(const struct pim_grid *grid, const struct pim_flow *flows, uint32_t count,
                                  uint32_t things, uint64_t steps, uint32_t *place, uint64_t *hops,
                                  struct pim_error *error);

/* Annealing from random placements (descent.c), then a descent. `chains` and `moves` as in
 * mappers/search/annealing.h; the result does not depend on the number of threads. */
enum pim_status pim_place_anneal(const struct pim_grid *grid, const struct pim_flow *flows, uint32_t count,
                                 uint32_t things, uint32_t chains, uint64_t moves, uint64_t seed,
                                 unsigned threads, uint32_t *place, uint64_t *hops, struct pim_error *error);

#endif
