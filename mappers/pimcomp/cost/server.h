/*
 * A server that several ask for cycles, first come first served, told of the requests in any order: global
 * memory of a chip, bus, links between chips.
 *
 * It keeps the intervals in which it is busy. A request takes the cycles that are free from its arrival on;
 * one that is told of late goes between those that were told of before. Intervals far behind the latest one
 * are forgotten: nothing before their end is free.
 */
#ifndef PIMSIM_MAPPERS_PIMCOMP_COST_SERVER_H
#define PIMSIM_MAPPERS_PIMCOMP_COST_SERVER_H

#include "sim/arena.h"

#include <stdbool.h>
#include <stdint.h>

/* Cycles [begin, end). */
struct pim_server_interval {
    uint64_t begin, end;
};

struct pim_server {
    struct pim_server_interval *busy; /* a ring, ascending, with free cycles between */
    uint32_t mask, head, tail;
    uint64_t forgotten; /* cycles before this one are not given any more */
};

/* A server that keeps 2^kept intervals, in `arena`; false: no memory. */
bool pim_server_make(struct pim_server *server, unsigned kept, struct pim_arena *arena);

/* The cycle in which a request of `cycles` that comes at `at` is served. */
uint64_t pim_server_take(struct pim_server *server, uint64_t at, uint64_t cycles);

#endif
