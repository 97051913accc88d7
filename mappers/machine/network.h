#ifndef PIMSIM_MAPPERS_MACHINE_NETWORK_H
#define PIMSIM_MAPPERS_MACHINE_NETWORK_H

#include "sim/integer.h"

#include <stdbool.h>
#include <stdint.h>

/* In which order messages pass the columns and rows of a mesh. */
enum pim_machine_order {
    /* not known: another topology or routing, or links of a list; or nobody asks: an ideal network */
    PIM_MACHINE_NO_ORDER,
    PIM_MACHINE_X_FIRST,
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

/* The one by which a message to unit `to` leaves router `at` of a mesh of that width: x first where the order
 * is not known. */
static inline enum pim_machine_link pim_machine_towards(const struct pim_machine_network *network,
                                                        uint32_t width, uint32_t at, uint32_t to)
{
    if (at == to)
        return PIM_MACHINE_UNIT;
    const bool same_column = at % width == to % width, same_row = at / width == to / width;
    if (same_row || (!same_column && network->order != PIM_MACHINE_Y_FIRST))
        return at % width < to % width ? PIM_MACHINE_EAST : PIM_MACHINE_WEST;
    return at < to ? PIM_MACHINE_SOUTH : PIM_MACHINE_NORTH;
}

/* The router at the other end of a link to a neighbour. */
static inline uint32_t pim_machine_behind(uint32_t width, uint32_t at, enum pim_machine_link link)
{
    return link == PIM_MACHINE_EAST    ? at + 1
           : link == PIM_MACHINE_WEST  ? at - 1
           : link == PIM_MACHINE_SOUTH ? at + width
                                       : at - width;
}

#endif
