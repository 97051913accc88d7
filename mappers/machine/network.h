#ifndef PIMSIM_MAPPERS_MACHINE_NETWORK_H
#define PIMSIM_MAPPERS_MACHINE_NETWORK_H

#include "sim/integer.h"

#include <stdbool.h>
#include <stdint.h>

/* In which order messages pass the columns and rows of a mesh. */
enum pim_machine_order {
    PIM_MACHINE_NO_ORDER, /* not known: another topology or routing, or links of a list */
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
    return pim_larger(link, (flits - 1) / most * network->worm_cycles + (flits - 1) % most + 1);
}

#endif
