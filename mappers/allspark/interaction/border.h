/* What the tokens of a window need of their neighbours in others: the convolution over the map of Twins. */
#ifndef PIMSIM_MAPPERS_ALLSPARK_INTERACTION_BORDER_H
#define PIMSIM_MAPPERS_ALLSPARK_INTERACTION_BORDER_H

#include "mappers/allspark/redistribution/exchange.h"

/* The exchange of emitter->stage; one of no units where no convolution goes over the map, or while nothing is
   placed. A failure is in emitter->status. Free with pim_exchange_terminate. */
void pim_border_make(struct pim_emitter *emitter, struct pim_exchange *exchange);

/* The phase stageS/block0/position_border, of all layers and images; nothing of an exchange of no units. */
void pim_emit_border(struct pim_emitter *emitter, const struct pim_exchange *exchange);

/* Address of the field (position.h) of the layer and image that are worked. */
uint64_t pim_border_field(const struct pim_emitter *emitter);

#endif
