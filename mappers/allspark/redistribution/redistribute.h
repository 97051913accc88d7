/* The program of an exchange, what it takes, and its phase: for those that have made its moves. */
#ifndef PIMSIM_MAPPERS_ALLSPARK_REDISTRIBUTION_REDISTRIBUTE_H
#define PIMSIM_MAPPERS_ALLSPARK_REDISTRIBUTION_REDISTRIBUTE_H

#include "mappers/allspark/redistribution/exchange.h"

/*
 * Makes program and estimate of an exchange that has all of its moves. From node to node: every node packs
 * what leaves it into messages, one for each region that gets some of it, and unpacks what came. Or as the
 * plan says: so, or over the top-left nodes of the branches (relay.h). From `room` on nothing in the memory
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

#endif
