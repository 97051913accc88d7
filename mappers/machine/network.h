#ifndef PIMSIM_MAPPERS_MACHINE_NETWORK_H
#define PIMSIM_MAPPERS_MACHINE_NETWORK_H

#include <stdint.h>

/* What the network says of itself: its zero-load latency in cycles of its clock is fixed + per_router *
   routers + flits - 1, with one router at least. A flit holds the narrowest link of its way for flit_cycles /
   flit_cycles_by cycles; flit_cycles_by 0: for one. Where buffers are shallow, a packet alone passes a link
   by worm_flits in worm_cycles, and others in between; worm_flits 0: no less than a link does. */
struct pim_machine_network {
    int64_t fixed;
    uint64_t per_router;
    uint64_t flit_cycles, flit_cycles_by;
    uint64_t worm_cycles, worm_flits;
};

/* Network cycles that so many flits hold that link. */
static inline uint64_t pim_machine_passage(uint64_t flit_cycles, uint64_t by, uint64_t flits)
{
    return by == 0 ? flits : flits * (flit_cycles / by) + (flits * (flit_cycles % by) + by - 1) / by;
}

#endif
