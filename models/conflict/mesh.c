/* Paths on the mesh; see mesh.h. */
#include "models/conflict/mesh.h"
#include "sim/names.h"

#include <stddef.h>

static uint32_t difference(uint32_t a, uint32_t b)
{
    return a < b ? b - a : a - b;
}

uint32_t pim_conflict_distance(const struct pim_conflict_mesh *mesh, uint32_t from, uint32_t to)
{
    return difference(from / mesh->width, to / mesh->width) +
           difference(from % mesh->width, to % mesh->width);
}

uint32_t pim_conflict_straight(const struct pim_conflict_mesh *mesh, uint32_t from, uint32_t to,
                               bool columns_first, uint32_t *links)
{
    uint32_t count = 0;
    for (int leg = 0; leg < 2; leg++) {
        bool vertical = (leg == 0) == columns_first;
        for (;;) {
            uint32_t here = vertical ? from / mesh->width : from % mesh->width;
            uint32_t there = vertical ? to / mesh->width : to % mesh->width;
            if (here == there)
                break;
            unsigned direction = vertical ? (here < there ? PIM_PORT_SOUTH : PIM_PORT_NORTH)
                                          : (here < there ? PIM_PORT_EAST : PIM_PORT_WEST);
            links[count++] = from * PIM_DIRECTIONS + direction;
            from = pim_conflict_neighbour(mesh, from, direction);
        }
    }
    return count;
}

PIM_NAMES(pim_port_name, PIM_PORT_MAP)
