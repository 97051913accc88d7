/*
 * A server that several ask for cycles, first come first served, told of the requests in any order: port of a
 * local memory, global memory of a chip, bus, links between chips.
 *
 * Time is cut into buckets, each of which has as many cycles to give as it is long. A request takes what is
 * left from the bucket of its arrival on. Buckets far behind the latest one are forgotten.
 */
#ifndef PIMSIM_MAPPERS_PIMCOMP_COST_SERVER_H
#define PIMSIM_MAPPERS_PIMCOMP_COST_SERVER_H

#include "sim/arena.h"

#include <stdbool.h>
#include <stdint.h>

struct pim_server {
    unsigned shift;  /* a bucket has 2^shift cycles, at most 2^15 */
    uint32_t mask;   /* buckets kept, less one */
    uint64_t end;    /* buckets from here on are untouched */
    uint16_t *given; /* cycles of each bucket before `end`; undefined behind it */
    uint16_t *skip;  /* of a full bucket: to one that may not be full; undefined of all others */
};

/* A server with 2^shift cycles to a bucket and 2^kept buckets, in `arena`; false: no memory. */
bool pim_server_make(struct pim_server *server, unsigned shift, unsigned kept, struct pim_arena *arena);

/* The cycle in which a request of `cycles` that comes at `at` is served. */
uint64_t pim_server_take(struct pim_server *server, uint64_t at, uint64_t cycles);

#endif
