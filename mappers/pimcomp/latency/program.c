/*
 * Stages.
 *
 * The instructions of a round of the queue are emitted in stages: gathers and loads; MVMs; sums within
 * members; messages with partial sums; everything behind them; messages with pixels. So the MVMs of a
 * core stand together and run at the same time on its arrays (paper: PIMCOMP, section III-C, Fig. 2c).
 * The paper lets each gather stand before its MVM where cores issue out of order (Fig. 2d): with a window
 * of some instructions that keeps MVMs outside of it, which costs more than it gains
 * (docs/mappers/pimcomp-low-latency.md has figures).
 *
 * Why that is right. Nothing moves over an instruction that it depends on: gathers read pixels alone, and
 * wait for the next flush for those made since the last one; MVMs read what gathers wrote, or such
 * pixels; sums within members read outputs of MVMs; partial sums are complete then; vector layers and
 * stores come in the order in which they were put, and wait for the next flush for what comes by message.
 * Places are given back at the flush alone, so no address is used twice within a round.
 *
 * Messages of a stage do not depend on each other and are put into an order that keeps many cores busy
 * (latency/order.c). A message is emitted for both of its cores at once, so the order is one for all
 * cores, which excludes deadlock.
 */
#include "mappers/pimcomp/latency/latency.h"

void pim_ll_flush(struct pim_ll *ll)
{
    for (int stage = 0; stage < PIM_LL_STAGES && ll->emitter; stage++) {
        if (ll->status != PIM_OK || ll->emitter->status != PIM_OK) {
            ll->stage[stage].count = 0; /* half of a message may stand there */
            continue;
        }
        if (stage == PIM_LL_COLLECT || stage == PIM_LL_TRANSMIT)
            pim_ll_order_messages(ll, &ll->stage[stage]);
        pim_core_emitter_release(ll->emitter, &ll->stage[stage]);
    }
    if (ll->emitter && ll->status == PIM_OK)
        ll->status = ll->emitter->status;
    if (ll->emitter)
        ll->emitter->stage = NULL;
    for (size_t i = 0; i < ll->deferrals; i++)
        pim_local_heap_release(&ll->heap[ll->deferred[i].core], ll->deferred[i].address,
                               ll->deferred[i].bytes);
    ll->deferrals = 0;
    ll->epoch++;
}

void pim_ll_release_later(struct pim_ll *ll, uint32_t core, uint32_t address, uint32_t bytes)
{
    if (PIM_LL_GROW(ll, ll->deferred, ll->deferred_room, ll->deferrals + 1))
        ll->deferred[ll->deferrals++] =
            (struct pim_ll_reservation){.core = core, .address = address, .bytes = bytes};
}

static void send_pixel(struct pim_ll *ll, const struct pim_ll_request *request)
{
    const struct pim_pixel *source = &ll->pixels.record[request->source];
    const struct pim_pixel *destination = &ll->pixels.record[request->destination];
    if (ll->emitter)
        pim_core_emit_message(pim_ll_emitter_at(ll, PIM_LL_TRANSMIT), pim_pixel_core(source->key),
                              source->address, pim_pixel_core(destination->key), destination->address,
                              pim_ll_pixel_bytes(ll, request->layer));
}

void pim_ll_transmit(struct pim_ll *ll)
{
    ll->transmission++;
    if (ll->settings.bundles)
        pim_ll_find_bundles(ll);
    for (uint32_t i = 0; i < ll->requests && ll->status == PIM_OK; i++) {
        if (ll->settings.bundles && (ll->request[i].follows || pim_ll_send_bundle(ll, i)))
            continue;
        send_pixel(ll, &ll->request[i]);
        for (uint32_t more = ll->request[i].next; more != UINT32_MAX; more = ll->request[more].next)
            send_pixel(ll, &ll->request[more]);
    }
    for (size_t i = 0; i < ll->requests && ll->status == PIM_OK; i++) {
        struct pim_pixel *destination = &ll->pixels.record[ll->request[i].destination];
        destination->here = destination->by_message = true;
        destination->epoch = ll->epoch;
        ll->steps++;
        pim_ll_use(ll, ll->request[i].source);
    }
    ll->requests = 0;
}
