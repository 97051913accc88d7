/*
 * The mesh of the task-graph replay: routers, ports, links.
 *
 * Router r stands in row r / width and column r % width; row 0 is the north. Its ports are the four
 * directions and the processing element. The directed link that leaves router r in direction d has the number
 * 4 r + d. The undirected link between two neighbours has the number of the one that leads east or south.
 */
#ifndef PIMSIM_MODELS_CONFLICT_MESH_H
#define PIMSIM_MODELS_CONFLICT_MESH_H

#include <stdbool.h>
#include <stdint.h>

/* X(name, text); the order west, east, north, south is that in which the authors' code makes the neighbours
 * of a node. */
#define PIM_PORT_MAP(X)                                                                                      \
    X(PIM_PORT_WEST, "west")                                                                                 \
    X(PIM_PORT_EAST, "east")                                                                                 \
    X(PIM_PORT_NORTH, "north")                                                                               \
    X(PIM_PORT_SOUTH, "south")                                                                               \
    X(PIM_PORT_PE, "pe")

enum pim_port {
#define X(name, text) name,
    PIM_PORT_MAP(X)
#undef X
        PIM_PORTS
};
enum { PIM_DIRECTIONS = PIM_PORT_PE };

struct pim_conflict_mesh {
    uint32_t width, height;
};

static inline uint32_t pim_conflict_routers(const struct pim_conflict_mesh *mesh)
{
    return mesh->width * mesh->height;
}

/* The direction that leads back. */
static inline unsigned pim_conflict_opposite(unsigned direction)
{
    return direction ^ 1U;
}

/* Whether router `router` has a neighbour in `direction`, and its number. */
static inline bool pim_conflict_has_neighbour(const struct pim_conflict_mesh *mesh, uint32_t router,
                                              unsigned direction)
{
    switch (direction) {
    case PIM_PORT_WEST:
        return router % mesh->width > 0;
    case PIM_PORT_EAST:
        return router % mesh->width + 1 < mesh->width;
    case PIM_PORT_NORTH:
        return router >= mesh->width;
    case PIM_PORT_SOUTH:
        return router / mesh->width + 1 < mesh->height;
    default:
        return false;
    }
}
static inline uint32_t pim_conflict_neighbour(const struct pim_conflict_mesh *mesh, uint32_t router,
                                              unsigned direction)
{
    switch (direction) {
    case PIM_PORT_WEST:
        return router - 1;
    case PIM_PORT_EAST:
        return router + 1;
    case PIM_PORT_NORTH:
        return router - mesh->width;
    default:
        return router + mesh->width;
    }
}

/* The undirected link of a directed one. */
static inline uint32_t pim_conflict_undirected(const struct pim_conflict_mesh *mesh, uint32_t link)
{
    unsigned direction = link % PIM_DIRECTIONS;
    if (direction == PIM_PORT_EAST || direction == PIM_PORT_SOUTH)
        return link;
    return pim_conflict_neighbour(mesh, link / PIM_DIRECTIONS, direction) * PIM_DIRECTIONS +
           pim_conflict_opposite(direction);
}

/* Hops between two routers on a shortest path. */
uint32_t pim_conflict_distance(const struct pim_conflict_mesh *mesh, uint32_t from, uint32_t to);

/* Writes the directed links of the path along the row first (`columns_first` false) or along the column
 * first, and returns their number, which is pim_conflict_distance(). */
uint32_t pim_conflict_straight(const struct pim_conflict_mesh *mesh, uint32_t from, uint32_t to,
                               bool columns_first, uint32_t *links);

/* "north" and so on. */
const char *pim_port_name(unsigned port);

#endif
