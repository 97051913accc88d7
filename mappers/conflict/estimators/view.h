/*
 * What estimators see of a mapping: numbers for each edge of the task graph, and which edges conflict, that
 * is, have XY paths with a link in common.
 *
 * The six numbers of an edge are those of the authors' graph network (MNSIM_NoC, commits 07eb14d, 419ded7):
 * its bits over those of the heaviest edge (the authors' constant, 1.2e6, is that edge of VGG-8), hops / 12,
 * sin(2 pi row / rows) and sin(2 pi column / columns) of source and destination. Two more tell dense networks
 * of conflicts: how many edges an edge conflicts with, and what these carry together, over 16 edges and over
 * 16 times the heaviest one.
 */
#ifndef PIMSIM_MAPPERS_CONFLICT_ESTIMATORS_VIEW_H
#define PIMSIM_MAPPERS_CONFLICT_ESTIMATORS_VIEW_H

#include "mappers/conflict/graph.h"
#include "mappers/learn/matrix.h"
#include "mappers/place/place.h"

enum { PIM_TILE_EDGE_NUMBERS = 6, PIM_TILE_CONFLICT_NUMBERS = 2, PIM_TILE_VIEW_EDGES = 1024 };

/* What is the same for all mappings of a graph on a mesh. */
struct pim_tile_setting {
    const struct pim_tile_graph *graph;
    struct pim_grid grid;
    bool directed;          /* the two directions of a link are links of their own */
    struct pim_flow *flows; /* of the edges */
    uint64_t heaviest;      /* of them, at least 1 */
    double *row_sine, *column_sine;
};

/* PIM_BAD_INPUT when the graph has no edge or more than PIM_TILE_VIEW_EDGES; PIM_NO_MEMORY.
 * pim_tile_setting_terminate() in every case. */
enum pim_status pim_tile_setting_make(struct pim_tile_setting *setting, const struct pim_tile_graph *graph,
                                      const struct pim_grid *grid, bool directed, struct pim_error *error);
void pim_tile_setting_terminate(struct pim_tile_setting *setting);

/* Of one mapping; the room of one thread. */
struct pim_tile_view {
    const struct pim_tile_setting *setting;
    double *edge;                 /* edges x PIM_TILE_EDGE_NUMBERS */
    double *crowd;                /* edges x PIM_TILE_CONFLICT_NUMBERS */
    struct pim_sparse conflicts;  /* propagation of the conflict graph: a graph convolution's P */
    size_t words;                 /* of a set of edges */
    uint64_t *users, *rivals;     /* edges on each directed link; edges that each edge conflicts with */
    uint32_t *route, *route_from; /* links of edge e: route[route_from[e]] to route[route_from[e + 1] - 1] */
    double *root;                 /* square root of 1 + rivals */
};

/* NULL when memory is out. The setting is borrowed. */
struct pim_tile_view *pim_tile_view_create(const struct pim_tile_setting *setting);
void pim_tile_view_destroy(struct pim_tile_view *view);

/* Fills edge, crowd and conflicts for a mapping. */
void pim_tile_view_look(struct pim_tile_view *view, const uint32_t *place);

#endif
