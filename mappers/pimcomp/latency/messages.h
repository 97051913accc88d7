/* Stages of a round of the low-latency schedule, its messages and their order. */
#ifndef PIMSIM_MAPPERS_PIMCOMP_LATENCY_MESSAGES_H
#define PIMSIM_MAPPERS_PIMCOMP_LATENCY_MESSAGES_H

#include "mappers/pimcomp/latency/state.h"

/* --- program --- */
/* Brings messages, of which none depends on another, into an order in which cores are busy with as many at a
 * time as they can. */
bool pim_ll_order_create(struct pim_ll *ll);
void pim_ll_order_destroy(struct pim_ll_order *order);
void pim_ll_order_messages(struct pim_ll *ll, struct pim_core_stage *messages);
/* Emits what is staged and gives back the blocks that waited for it. */
void pim_ll_flush(struct pim_ll *ll);
/* Performs all requests. */
void pim_ll_transmit(struct pim_ll *ll);
void pim_ll_release_later(struct pim_ll *ll, uint32_t core, uint32_t address, uint32_t bytes);
/* `items` with room for `needed`, perhaps moved. When memory is out: as it was, and status says so. */
void *pim_ll_grow(struct pim_ll *ll, void *items, size_t *room, size_t needed, size_t item_bytes);
#define PIM_LL_GROW(ll, items, room, needed)                                                                 \
    ((items) = pim_ll_grow((ll), (items), &(room), (needed), sizeof *(items)), (ll)->status == PIM_OK)

#endif
