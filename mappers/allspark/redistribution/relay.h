/*
 * Gather, transfer and scatter as section VII-B2 of the paper has them: what leaves the nodes of a branch is
 * gathered on the top-left node of its sub-array, transferred from there to the top-left node of the other
 * branch, and scattered from there to the nodes that need it.
 *
 * A relay is made of a finished exchange (exchange.h) and stands in for its messages. Bytes are cut into
 * *pieces* with the same receivers each. A piece goes once to the top-left node of its branch, once from
 * there to each branch that needs it, and once from there to each node that does.
 *
 * Invariants:
 *  1. The top-left node needs room for what it gathers and for what is transferred to it. It has the memory
 *     behind everything that is alive. Where that is too little the exchange goes in rounds; a piece takes
 *     all of its way in one round.
 *  2. Steps: pack; for each round gather, transfer, scatter; unpack. A node that has work in a step joins
 *     before its next one, so that a transfer waits for what was gathered and a scatter for what was
 *     transferred.
 *  3. Messages have an order, by steps first, in which both ends have them: the exchange cannot lock
 *     (exchange.h, invariant 1).
 *  4. Features are overwritten in the last step alone.
 *  5. What a node gives to itself is copied there, and what the top-left node has itself is not sent to it.
 */
#ifndef PIMSIM_MAPPERS_ALLSPARK_REDISTRIBUTION_RELAY_H
#define PIMSIM_MAPPERS_ALLSPARK_REDISTRIBUTION_RELAY_H

#include "mappers/allspark/redistribution/exchange.h"

/* Within the memory of a unit, in a step. */
struct pim_relay_copy {
    uint32_t unit, step;
    uint64_t from, to;
    uint32_t bytes;
};

struct pim_relay_message {
    uint32_t step;
    enum pim_message kind;
    uint32_t from_unit, to_unit;
    uint64_t order; /* among the messages of a step; of equal ones the first that was added goes first */
    uint32_t index; /* as it was added */
    uint64_t from, to, bytes;
};

struct pim_relay {
    uint32_t rounds, steps; /* step 0 packs, step `steps` - 1 unpacks */
    uint64_t end;           /* first address behind its staging, on any node */
    /* the estimate: steps follow each other, each takes as long as the unit that has most to do */
    uint64_t memory_cycles, transfer_cycles;
    /* copies of unit n: copies[first_copy[n]] to copies[first_copy[n + 1] - 1], by steps */
    uint32_t copy_count, copy_capacity;
    struct pim_relay_copy *copies;
    uint32_t *first_copy;
    /* messages in their order; those of unit n: of_unit[first_of_unit[n]] ... as in the exchange */
    uint32_t message_count, message_capacity;
    struct pim_relay_message *messages;
    uint32_t *first_of_unit, *of_unit;
};

/* Fills exchange->relay; the memory of the nodes is free from `room` on, but for the staging of the exchange.
   PIM_BAD_INPUT: not even one piece at a time has room. PIM_NO_MEMORY. */
enum pim_status pim_relay_make(const struct pim_allspark_plan *plan, struct pim_exchange *exchange,
                               uint64_t room, struct pim_error *error);
void pim_relay_destroy(struct pim_relay *relay);

/* Parts of pim_relay_make (relay_steps.c): the work of a step, in the order in which copies and messages may
   join; and the lists of the units when all is there. False when memory is out. */
bool pim_relay_add_copy(struct pim_relay *relay, const struct pim_relay_copy *copy);
bool pim_relay_add_message(struct pim_relay *relay, const struct pim_relay_message *message);
bool pim_relay_end(struct pim_relay *relay, uint32_t units);

/* Fills the estimate; false when memory is out. As pim_exchange_emit and pim_exchange_has_unit
   (relay_emit.c). */
bool pim_relay_price(const struct pim_estimate_hardware *hardware, struct pim_relay *relay, uint32_t units);
void pim_relay_emit(struct pim_emitter *emitter, const struct pim_relay *relay, uint32_t tag);
bool pim_relay_has_unit(const struct pim_relay *relay, uint32_t unit);

#endif
