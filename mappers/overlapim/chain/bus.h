/* The bus between stacks: when it is taken, for messages that are not known in the order of their times. */
#ifndef PIMSIM_MAPPERS_OVERLAPIM_CHAIN_BUS_H
#define PIMSIM_MAPPERS_OVERLAPIM_CHAIN_BUS_H

#include "sim/status.h"

#include <stdint.h>

struct pim_bus_taken {
    uint64_t from, to;
};

/* Zeroed: free. */
struct pim_bus {
    uint64_t count, room;
    struct pim_bus_taken *taken; /* owned; apart, in the order of time */
};

/* Takes the bus for so many cycles, the first that are free from `from` on; `*end`: when it has had them. */
enum pim_status pim_bus_serve(struct pim_bus *bus, uint64_t from, uint64_t cycles, uint64_t *end,
                              struct pim_error *error);
void pim_bus_terminate(struct pim_bus *bus);

#endif
