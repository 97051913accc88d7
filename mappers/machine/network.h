#ifndef PIMSIM_MAPPERS_MACHINE_NETWORK_H
#define PIMSIM_MAPPERS_MACHINE_NETWORK_H

#include <stdint.h>

/* What the network says of itself: its zero-load latency in cycles of its clock is fixed + per_router *
   routers + flits - 1, with one router at least. */
struct pim_machine_network {
    int64_t fixed;
    uint64_t per_router;
};

#endif
