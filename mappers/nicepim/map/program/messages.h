/* What nodes send each other in their programs: messages in an order that cannot deadlock, and the rings of
 * sharing sets. */
#ifndef PIMSIM_MAPPERS_NICEPIM_MAP_PROGRAM_MESSAGES_H
#define PIMSIM_MAPPERS_NICEPIM_MAP_PROGRAM_MESSAGES_H

#include "mappers/nicepim/map/program/program.h"

struct program_message {
    uint32_t from, to, number, distance;
    uint64_t bytes, source, target; /* addresses */
    uint64_t after;                 /* the instruction of the sender that makes it */
    uint64_t received;              /* given back: the instruction of the receiver */
};

/* Nodes that pass pieces round a cycle: member i begins with piece i. */
struct program_ring {
    uint32_t count;
    uint32_t *member;  /* nodes, in cycle order after program_schedule */
    uint64_t *bytes;   /* of each piece, by member as they were listed */
    uint32_t *piece;   /* the listed number of the member at each place of the cycle */
    uint64_t *address; /* of the block on each listed member */
    uint64_t *offset;  /* of each piece in the blocks */
    uint64_t *own;     /* PROGRAM_NOTHING, or where a member has its own piece instead */
};

/* Sends messages (sorted in place); `rough`: they are timed at once. Messages with equal ends keep the order
 * of their numbers. */
void program_exchange(struct program *program, struct program_message *messages, size_t count);

/* Orders the rings so that no link is loaded more than necessary. */
void program_schedule(struct program *program, struct program_ring *rings, uint32_t count);
/* All pieces round all rings; or, `reduce`, partial sums added on the way: the member at place i of a cycle
 * ends with the sums of the piece of place i + 1. */
void program_rings(struct program *program, struct program_ring *rings, uint32_t count, bool reduce);
/* What one step takes on average, for candidates: the largest piece, the bytes on the busiest link, and those
 * of the whole block. */
uint64_t program_ring_step(const struct pim_estimate_hardware *hardware, uint64_t piece, uint64_t load,
                           uint64_t block, bool reduce);
bool program_ring_initialize(struct program_ring *ring, uint32_t count);
void program_ring_terminate(struct program_ring *ring);

#endif
