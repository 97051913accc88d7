/* The program of an exchange from node to node. Moves have their order. */
#ifndef PIMSIM_MAPPERS_ALLSPARK_REDISTRIBUTION_DIRECT_H
#define PIMSIM_MAPPERS_ALLSPARK_REDISTRIBUTION_DIRECT_H

#include "mappers/allspark/redistribution/exchange.h"

/* Packs, sends and unpacks; the staging of the regions is advanced behind what it takes. False when memory is
   out. */
bool pim_direct_make(struct pim_exchange *exchange);

#endif
