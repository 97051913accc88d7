#ifndef PIMSIM_MAPPERS_MACHINE_NETWORK_H
#define PIMSIM_MAPPERS_MACHINE_NETWORK_H

#include "sim/integer.h"

#include <stdbool.h>
#include <stdint.h>

/* In which order messages pass the columns and rows of a mesh or torus. */
enum pim_machine_order {
    PIM_MACHINE_NO_ORDER, /* not known: another topology; or nobody asks: an ideal network */
    PIM_MACHINE_X_FIRST,  /* routings with a choice among shortest ways as well */
    PIM_MACHINE_Y_FIRST
};

/* What the network says of itself: its zero-load latency in cycles of its clock is fixed + per_router *
   routers + flits - 1, with one router at least; fixed is negative where a long link makes the first router
   cheaper than the others. A flit holds the narrowest link of its way for flit_cycles / flit_cycles_by
   cycles; flit_cycles_by 0: for one. Where buffers are shallow, worm_flits of a packet pass a link one after
   the other, and the next ones worm_cycles after they began, others in between; worm_flits 0: no less than a
   link does. */
struct pim_machine_network {
    int64_t fixed;
    uint64_t per_router;
    uint64_t flit_cycles, flit_cycles_by;
    uint64_t link_cycles, link_cycles_by; /* the same of links between routers alone, and of those to units */
    uint64_t terminal_cycles, terminal_cycles_by;
    uint64_t worm_cycles, worm_flits;
    enum pim_machine_order order;
    bool ideal;             /* packets pass one another on links between routers and to units */
    bool wraps;             /* rows and columns of three routers and more are rings */
    bool detours;           /* every packet goes by a router of its own, any of all */
    uint32_t concentration; /* units of a router, neighbours in a row; 0: one */
    uint32_t columns, rows; /* routers of a mesh or torus; 0: as many as the units need */
};

/* Network cycles that so many flits of any packets hold that link. */
static inline uint64_t pim_machine_passage(const struct pim_machine_network *network, uint64_t flits)
{
    return network->flit_cycles_by == 0 ? flits
                                        : pim_scale_up(flits, network->flit_cycles, network->flit_cycles_by);
}

/* The same of a link between routers, or of one to a unit. */
static inline uint64_t pim_machine_hold(const struct pim_machine_network *network, bool terminal,
                                        uint64_t flits)
{
    const uint64_t cycles = terminal ? network->terminal_cycles : network->link_cycles,
                   by = terminal ? network->terminal_cycles_by : network->link_cycles_by;
    return by == 0 ? flits : pim_scale_up(flits, cycles, by);
}

/* Network cycles that so many flits of one packet take to pass it. */
static inline uint64_t pim_machine_worm(const struct pim_machine_network *network, uint64_t flits)
{
    const uint64_t link = pim_machine_passage(network, flits), most = network->worm_flits;
    if (most == 0 || flits == 0)
        return link;
    return pim_larger(link, (flits - 1) / most * network->worm_cycles +
                                pim_machine_passage(network, (flits - 1) % most + 1));
}

/* The links that leave a router of a mesh: to its neighbours, and to its unit. */
enum pim_machine_link {
    PIM_MACHINE_EAST,
    PIM_MACHINE_WEST,
    PIM_MACHINE_SOUTH,
    PIM_MACHINE_NORTH,
    PIM_MACHINE_UNIT,
    PIM_MACHINE_LINKS
};

/* Routers of a mesh or torus, in rows. */
struct pim_machine_grid {
    uint32_t columns, rows;
    uint32_t units; /* of a router */
    uint32_t width; /* units in a row */
    bool wraps, y_first;
};

/* Under an array of units of that size, or of a part of one from its first unit on. */
static inline struct pim_machine_grid pim_machine_grid(const struct pim_machine_network *network,
                                                       uint32_t width, uint32_t height)
{
    const uint32_t units = network->concentration == 0 ? 1 : network->concentration;
    return (struct pim_machine_grid){.columns = network->columns > 0 ? network->columns : width / units,
                                     .rows = network->rows > 0 ? network->rows : height,
                                     .units = units,
                                     .width = width,
                                     .wraps = network->wraps,
                                     .y_first = network->order == PIM_MACHINE_Y_FIRST};
}

/* The router of a unit. */
static inline uint32_t pim_machine_router(const struct pim_machine_grid *grid, uint32_t unit)
{
    return unit / grid->width * grid->columns + unit % grid->width / grid->units;
}

/* Whether the shorter way from `at` to `to`, another place of a line of `count`, leads upwards; `even`
 * decides where both ways around a ring are equal. */
static inline bool pim_machine_up(bool wraps, uint32_t count, uint32_t at, uint32_t to, bool even)
{
    if (!wraps || count < 3)
        return at < to;
    const uint32_t up = at < to ? to - at : count + to - at;
    return 2 * up == count ? even : 2 * up < count;
}

/* The link by which a message to router `to` leaves router `at`; to the unit, when it is there. */
static inline enum pim_machine_link pim_machine_towards(const struct pim_machine_grid *grid, uint32_t at,
                                                        uint32_t to)
{
    if (at == to)
        return PIM_MACHINE_UNIT;
    const uint32_t x = at % grid->columns, y = at / grid->columns, to_x = to % grid->columns,
                   to_y = to / grid->columns;
    const bool even = (x + y) % 2 == 0;
    if (y == to_y || (x != to_x && !grid->y_first))
        return pim_machine_up(grid->wraps, grid->columns, x, to_x, even) ? PIM_MACHINE_EAST
                                                                         : PIM_MACHINE_WEST;
    return pim_machine_up(grid->wraps, grid->rows, y, to_y, even) ? PIM_MACHINE_SOUTH : PIM_MACHINE_NORTH;
}

/* The router at the other end of a link to a neighbour. */
static inline uint32_t pim_machine_behind(const struct pim_machine_grid *grid, uint32_t at,
                                          enum pim_machine_link link)
{
    const uint32_t last_x = grid->columns - 1, last_row = (grid->rows - 1) * grid->columns,
                   x = at % grid->columns;
    switch (link) {
    case PIM_MACHINE_EAST:
        return x < last_x ? at + 1 : at - last_x;
    case PIM_MACHINE_WEST:
        return x > 0 ? at - 1 : at + last_x;
    case PIM_MACHINE_SOUTH:
        return at < last_row ? at + grid->columns : at - last_row;
    case PIM_MACHINE_NORTH:
        return at >= grid->columns ? at - grid->columns : at + last_row;
    case PIM_MACHINE_UNIT:
    case PIM_MACHINE_LINKS:
        break;
    }
    return at;
}

/* Links from a router to another. */
uint32_t pim_machine_distance(const struct pim_machine_grid *grid, uint32_t from, uint32_t to);

/* Routers that a packet passes in the mean from a router to another, both included; with detours by any
 * router, rounded. */
uint32_t pim_machine_routers(const struct pim_machine_network *network, const struct pim_machine_grid *grid,
                             uint32_t from, uint32_t to);

/* The same in the mean of all places of both; with detours alone. */
uint32_t pim_machine_detour(const struct pim_machine_grid *grid);

/* Flits that pass the busiest link, in the mean, while every unit sends `flits` by detours; no fewer than
 * those. */
uint64_t pim_machine_detour_flits(const struct pim_machine_grid *grid, uint64_t flits);

/* The router by which packet `number` goes: drawn by its number. */
uint32_t pim_machine_via(const struct pim_machine_grid *grid, uint64_t number);

#endif
