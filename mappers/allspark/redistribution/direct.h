/* The program of an exchange from node to node, and what it takes. Moves have their order. */
#ifndef PIMSIM_MAPPERS_ALLSPARK_REDISTRIBUTION_DIRECT_H
#define PIMSIM_MAPPERS_ALLSPARK_REDISTRIBUTION_DIRECT_H

#include "mappers/allspark/redistribution/exchange.h"

/* Packs, sends and unpacks; the staging of the regions is advanced behind what it takes. False when memory is
   out. */
bool pim_direct_make(struct pim_exchange *exchange);

/* The estimate where all units come at the same time. False when memory is out. */
bool pim_direct_estimate(const struct pim_estimate_hardware *hardware, struct pim_exchange *exchange);

/* The same where unit n comes to it at time[n], which becomes the time at which it is done: the estimate is
 * what lies between the last that comes and the last that is done. */
bool pim_direct_estimate_from(const struct pim_estimate_hardware *hardware, struct pim_exchange *exchange,
                              uint64_t *time);

#endif
