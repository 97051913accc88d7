/* The program of an exchange, what it takes, and its phase: for those that have made its moves. */
#ifndef PIMSIM_MAPPERS_ALLSPARK_REDISTRIBUTION_REDISTRIBUTE_H
#define PIMSIM_MAPPERS_ALLSPARK_REDISTRIBUTION_REDISTRIBUTE_H

#include "mappers/allspark/redistribution/exchange.h"

/*
 * Makes program and estimate of an exchange that has all of its moves. From node to node: every node packs
 * what leaves it into messages, one for each region that gets some of it, and unpacks what came. Or as the
 * plan says: so, or over the top-left nodes of the branches (relay.c). From `room` on nothing in the memory
 * of the nodes is alive, but for the staging of the exchange itself. PIM_BAD_INPUT: not even a part of what
 * is exchanged has room. PIM_NO_MEMORY.
 */
enum pim_status pim_exchange_direct(const struct pim_allspark_plan *plan, struct pim_exchange *exchange,
                                    struct pim_error *error);
enum pim_status pim_exchange_program(const struct pim_allspark_plan *plan, struct pim_exchange *exchange,
                                     uint64_t room, struct pim_error *error);

/*
 * The estimate of a program (estimate.c): a unit goes through its steps, in each of which it copies beside
 * what it sends and receives. `from`: unit n comes to it at time[n], which becomes the time at which it is
 * done; the estimate is what lies between the last that comes and the last that is done. Else all come at the
 * same time, as where a program is made. False when memory is out.
 */
bool pim_exchange_estimate(const struct pim_estimate_hardware *hardware, struct pim_exchange *exchange);
bool pim_exchange_estimate_from(const struct pim_estimate_hardware *hardware, struct pim_exchange *exchange,
                                uint64_t *time);

/* Adds the estimate, so many times, to what the emitter adds up. */
void pim_exchange_add_estimate(struct pim_emitter *emitter, const struct pim_exchange *exchange,
                               uint64_t times);

/* A phase of that name in which units exchange, with its estimate. `body`, with its context: what a unit does
   instead of the program alone, or NULL. */
void pim_exchange_phase(struct pim_emitter *emitter, const struct pim_exchange *exchange, const char *name,
                        pim_emit_function *body, const void *context);

/*
 * List timing of the messages of a step: between units, in the order in which their programs
 * issue them. docs/models/estimate.md ("An exchange") gives the rules.
 */

/*
 * Sets end[unit], in logic cycles, for the width x height units of the hardware: when all that the unit sends
 * has left and all that it gets is written, if it begins at start[unit]; start[unit] for a unit with nothing
 * to do. Of a unit, sends start in the order of the messages, and so do receives. A message from a unit to
 * itself takes no time. `start` and `end` may be the same. False when memory is out.
 */
bool pim_transport_time_messages(const struct pim_estimate_hardware *hardware,
                                 const struct pim_transport_message *messages, uint32_t count,
                                 const uint64_t *start, uint64_t *end);

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

/* Fills program and end of an exchange whose moves have their order; the memory of the nodes is
   free from `room` on, but for the staging of the exchange. PIM_BAD_INPUT: not even one piece at a time has
   room. PIM_NO_MEMORY. */
enum pim_status pim_relay_make(const struct pim_allspark_plan *plan, struct pim_exchange *exchange,
                               uint64_t room, struct pim_error *error);

#endif
