/*
 * Gather, transfer and scatter as section VII-B2 of the paper has them: what leaves the nodes of a branch is
 * gathered on the top-left node of its sub-array, transferred from there to the top-left node of the other
 * branch, and scattered from there to the nodes that need it.
 *
 * A relay is made of the moves of an exchange. Bytes are cut into *pieces* with the same consumers each. A
 * piece goes once to the top-left node of its branch, once from there to each branch that needs it, and once
 * from there to each node that does.
 *
 * Invariants:
 *  1. The top-left node needs room for what it gathers and for what is transferred to it. It has the memory
 *     behind everything that is alive. Where that is too little the exchange goes in rounds; a piece takes
 *     all of its way in one round.
 *  2. Steps: pack; for each round gather, transfer, scatter; unpack.
 *  3. Features are overwritten in the last step alone.
 *  4. What a node gives to itself is copied there, and what the top-left node has itself is not sent to it.
 */
#ifndef PIMSIM_MAPPERS_ALLSPARK_REDISTRIBUTION_RELAY_H
#define PIMSIM_MAPPERS_ALLSPARK_REDISTRIBUTION_RELAY_H

#include "mappers/allspark/redistribution/exchange.h"

/* Fills program and end of an exchange whose moves have their order; the memory of the nodes is
   free from `room` on, but for the staging of the exchange. PIM_BAD_INPUT: not even one piece at a time has
   room. PIM_NO_MEMORY. */
enum pim_status pim_relay_make(const struct pim_allspark_plan *plan, struct pim_exchange *exchange,
                               uint64_t room, struct pim_error *error);

#endif
