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
#include "mappers/pimcomp/latency/blocks.h"
#include "mappers/pimcomp/latency/messages.h"
#include "mappers/pimcomp/latency/state.h"

#include <assert.h>
#include <stdlib.h>

void pim_ll_flush(struct pim_ll *ll)
{
    for (int stage = 0; stage < PIM_LL_STAGES && ll->emitter; stage++) {
        if (ll->status != PIM_OK || ll->emitter->program.status != PIM_OK) {
            ll->stage[stage].count = 0; /* half of a message may stand there */
            continue;
        }
        if (stage == PIM_LL_COLLECT || stage == PIM_LL_TRANSMIT)
            pim_ll_order_messages(ll, &ll->stage[stage]);
        pim_core_emitter_release(ll->emitter, &ll->stage[stage]);
    }
    if (ll->emitter && ll->status == PIM_OK)
        ll->status = ll->emitter->program.status;
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

/*
 * Bundles: the pixels that go from one core to another at the same time, as one message. With rendezvous
 * the number of messages of a core counts, more than their bytes. A bundle has one block at the receiver;
 * the sender copies its pixels together, unless they are so already or were for another receiver. Without
 * room for either, pixels go one by one.
 */

static int by_cores(const void *a, const void *b)
{
    const struct pim_ll_pair *x = a, *y = b;
    if (x->cores != y->cores)
        return x->cores < y->cores ? -1 : 1;
    return x->request < y->request ? -1 : x->request > y->request;
}

/* Chains the requests of each pair of cores. */
static void find_bundles(struct pim_ll *ll)
{
    if (!PIM_LL_GROW(ll, ll->pair, ll->pair_room, ll->requests + 1))
        return;
    for (uint32_t i = 0; i < ll->requests; i++) {
        const struct pim_ll_request *request = &ll->request[i];
        uint64_t source = pim_pixel_core(ll->pixels.record[request->source].key);
        uint32_t destination = pim_pixel_core(ll->pixels.record[request->destination].key);
        ll->pair[i] = (struct pim_ll_pair){.cores = source << 32 | destination, .request = i};
    }
    qsort(ll->pair, ll->requests, sizeof *ll->pair, by_cores);
    for (size_t i = 1; i < ll->requests; i++) {
        if (ll->pair[i].cores != ll->pair[i - 1].cores)
            continue;
        ll->request[ll->pair[i - 1].request].next = ll->pair[i].request;
        ll->request[ll->pair[i].request].follows = true;
    }
}

/* Above this a copy takes as long as the message that it saves. */
enum { PIXEL_MOST = 512 };

/* Bytes of a bundle; 0 when its pixels are better sent one by one. *together: they lie back to back. */
static uint32_t measure(const struct pim_ll *ll, uint32_t first, bool *together)
{
    uint64_t bytes = 0, begin = ll->pixels.record[ll->request[first].source].address;
    *together = true;
    for (uint32_t i = first; i != UINT32_MAX; i = ll->request[i].next) {
        *together = *together && ll->pixels.record[ll->request[i].source].address == begin + bytes;
        uint32_t pixel = pim_ll_pixel_bytes(ll, ll->request[i].layer);
        if (pixel > PIXEL_MOST)
            return 0;
        bytes += pixel;
    }
    return bytes <= UINT32_MAX ? (uint32_t)bytes : 0;
}

/* Moves the places of a bundle's pixels at the receiver, which nothing refers to yet, into one block. */
static void join_places(struct pim_ll *ll, uint32_t first, uint32_t core, uint32_t address, uint32_t bytes)
{
    uint32_t shared = UINT32_MAX, offset = 0;
    for (uint32_t i = first; i != UINT32_MAX; i = ll->request[i].next) {
        struct pim_pixel *pixel = &ll->pixels.record[ll->request[i].destination];
        struct pim_ll_block *block = &ll->block[pixel->block];
        assert(block->live == 1);
        pim_local_heap_release(&ll->heap[core], block->address, block->bytes);
        if (shared == UINT32_MAX) {
            shared = pixel->block;
            *block = (struct pim_ll_block){.address = address, .bytes = bytes, .live = 1};
        } else {
            block->live = ll->free_block;
            ll->free_block = pixel->block;
            pixel->block = shared;
            ll->block[shared].live++;
        }
        pixel->address = address + offset;
        offset += pim_ll_pixel_bytes(ll, ll->request[i].layer);
    }
}

/* Two bundles of a core have the same pixels. */
static bool same_pixels(const struct pim_ll *ll, uint32_t a, uint32_t b)
{
    while (a != UINT32_MAX && b != UINT32_MAX && ll->request[a].source == ll->request[b].source) {
        a = ll->request[a].next;
        b = ll->request[b].next;
    }
    return a == b; /* both ended */
}

/* Brings the pixels of a bundle together on their core; false: there is no room. */
static bool copy_together(struct pim_ll *ll, uint32_t first, uint32_t core, uint32_t bytes, uint32_t *address)
{
    struct pim_ll_bundle *last = &ll->last_bundle[core];
    if (last->transmission == ll->transmission && same_pixels(ll, last->first, first)) {
        *address = last->address;
        return true;
    }
    if (!pim_local_heap_allocate(&ll->heap[core], bytes, address))
        return false;
    *last = (struct pim_ll_bundle){.transmission = ll->transmission, .first = first, .address = *address};
    uint32_t to = *address;
    for (uint32_t i = first; i != UINT32_MAX; i = ll->request[i].next) {
        uint32_t pixel = pim_ll_pixel_bytes(ll, ll->request[i].layer);
        if (ll->emitter)
            pim_core_emit_copy(pim_ll_emitter_at(ll, PIM_LL_POST), core, to,
                               ll->pixels.record[ll->request[i].source].address, pixel, 1, 0, 0);
        to += pixel;
    }
    pim_ll_release_later(ll, core, *address, bytes);
    return true;
}

/* Sends a bundle that begins with request `first` as one message; false: there is no room, or one request
 * alone. */
static bool send_bundle(struct pim_ll *ll, uint32_t first)
{
    const struct pim_ll_request *request = &ll->request[first];
    uint32_t source = pim_pixel_core(ll->pixels.record[request->source].key);
    uint32_t destination = pim_pixel_core(ll->pixels.record[request->destination].key);
    bool together;
    uint32_t bytes = measure(ll, first, &together), from = ll->pixels.record[request->source].address, to;
    if (request->next == UINT32_MAX || bytes == 0 ||
        !pim_local_heap_allocate(&ll->heap[destination], bytes, &to))
        return false;
    if (!together && !copy_together(ll, first, source, bytes, &from)) {
        pim_local_heap_release(&ll->heap[destination], to, bytes);
        return false;
    }
    join_places(ll, first, destination, to, bytes);
    if (ll->emitter)
        pim_core_emit_message(pim_ll_emitter_at(ll, PIM_LL_TRANSMIT), source, from, destination, to, bytes);
    return true;
}

/* --- messages --- */

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
        find_bundles(ll);
    for (uint32_t i = 0; i < ll->requests && ll->status == PIM_OK; i++) {
        if (ll->settings.bundles && (ll->request[i].follows || send_bundle(ll, i)))
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
