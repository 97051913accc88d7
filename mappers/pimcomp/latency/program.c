/*
 * From operations to programs.
 *
 * The operations of a round of the queue are emitted in stages: gathers and loads; MVMs; sums within
 * members; messages with partial sums; everything behind them; messages with pixels. So the MVMs of a
 * core stand together and run at the same time on its arrays (paper: PIMCOMP, section III-C, Fig. 2c).
 * The paper lets each gather stand before its MVM where cores issue out of order (Fig. 2d): with a window
 * of some instructions that keeps MVMs outside of it, which costs more than it gains
 * (docs/mappers/pimcomp-low-latency.md has figures).
 *
 * Why that is right. Nothing moves over an operation that it depends on: gathers read pixels alone, and
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

static void emit(struct pim_core_emitter *emitter, const struct pim_ll_operation *o)
{
    switch ((enum pim_ll_kind)o->kind) {
    case PIM_LL_DO_LOAD:
        pim_core_emit_load(emitter, o->core, o->a, o->global, o->bytes, o->count, o->stride_a);
        break;
    case PIM_LL_DO_STORE:
        pim_core_emit_store(emitter, o->core, o->a, o->global, o->bytes, o->count, o->stride_a);
        break;
    case PIM_LL_DO_COPY:
        pim_core_emit_copy(emitter, o->core, o->a, o->b, o->bytes, o->count, o->stride_a, o->stride_b);
        break;
    case PIM_LL_DO_WRITE:
        pim_core_emit_write(emitter, o->core, o->a, 0, o->bytes, o->count, o->stride_a);
        break;
    case PIM_LL_DO_MVM:
        pim_core_emit_mvm(emitter, o->core, o->stride_a, o->stride_b, o->a, o->b);
        break;
    case PIM_LL_DO_VECTOR:
        pim_core_emit_vector(emitter, o->core, o->vector, o->a, o->b, o->c, o->count);
        break;
    case PIM_LL_DO_MESSAGE:
        pim_core_emit_message(emitter, o->core, o->a, o->c, o->b, o->bytes);
        break;
    }
}

void pim_ll_put(struct pim_ll *ll, enum pim_ll_stage stage, const struct pim_ll_operation *operation)
{
    if (!ll->emitter || ll->status != PIM_OK)
        return;
    struct pim_ll_operations *operations = &ll->operations[stage];
    if (!PIM_LL_GROW(ll, operations->operation, operations->room, operations->count + 1))
        return;
    operations->operation[operations->count++] = *operation;
}

void pim_ll_put_copy(struct pim_ll *ll, enum pim_ll_stage stage, uint32_t core, uint32_t to, uint32_t from,
                     uint32_t bytes)
{
    pim_ll_put(ll, stage,
               &(struct pim_ll_operation){
                   .kind = PIM_LL_DO_COPY, .core = core, .a = to, .b = from, .bytes = bytes, .count = 1});
}

void pim_ll_put_zeros(struct pim_ll *ll, enum pim_ll_stage stage, uint32_t core, uint32_t to, uint32_t bytes)
{
    pim_ll_put(ll, stage,
               &(struct pim_ll_operation){
                   .kind = PIM_LL_DO_WRITE, .core = core, .a = to, .bytes = bytes, .count = 1});
}

void pim_ll_put_transfer(struct pim_ll *ll, enum pim_ll_stage stage, enum pim_ll_kind kind, uint32_t core,
                         uint32_t local, uint64_t global, uint32_t bytes)
{
    pim_ll_put(
        ll, stage,
        &(struct pim_ll_operation){
            .kind = (uint8_t)kind, .core = core, .a = local, .bytes = bytes, .count = 1, .global = global});
}

void pim_ll_put_vector(struct pim_ll *ll, enum pim_ll_stage stage, uint32_t core,
                       struct pim_core_vector vector, uint32_t to, uint32_t a, uint32_t b, uint32_t elements)
{
    pim_ll_put(ll, stage,
               &(struct pim_ll_operation){.kind = PIM_LL_DO_VECTOR,
                                          .vector = vector,
                                          .core = core,
                                          .a = to,
                                          .b = a,
                                          .c = b,
                                          .count = elements});
}

void pim_ll_put_addition(struct pim_ll *ll, enum pim_ll_stage stage, uint32_t core, uint32_t to,
                         uint32_t from, uint32_t elements)
{
    pim_ll_put_vector(ll, stage, core, (struct pim_core_vector){.operation = PIM_LOCAL_ADD}, to, to, from,
                      elements);
}

void pim_ll_put_message(struct pim_ll *ll, enum pim_ll_stage stage, uint32_t source, uint32_t from,
                        uint32_t destination, uint32_t to, uint32_t bytes)
{
    pim_ll_put(
        ll, stage,
        &(struct pim_ll_operation){
            .kind = PIM_LL_DO_MESSAGE, .core = source, .a = from, .c = destination, .b = to, .bytes = bytes});
}

void pim_ll_flush(struct pim_ll *ll)
{
    for (int stage = 0; stage < PIM_LL_STAGES; stage++) {
        struct pim_ll_operations *operations = &ll->operations[stage];
        if (stage == PIM_LL_COLLECT || stage == PIM_LL_TRANSMIT)
            pim_ll_order_messages(ll, operations);
        for (size_t i = 0; i < operations->count && ll->status == PIM_OK; i++) {
            emit(ll->emitter, &operations->operation[i]);
            ll->status = ll->emitter->status;
        }
        operations->count = 0;
    }
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
    pim_ll_put_message(ll, PIM_LL_TRANSMIT, pim_pixel_core(source->key), source->address,
                       pim_pixel_core(destination->key), destination->address,
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

void pim_ll_put_afters(struct pim_ll *ll, uint32_t index, uint32_t core, uint32_t address)
{
    const struct pim_core_layer *layer = ll->layer[index].core_layer;
    for (uint32_t i = 0; i < layer->afters; i++)
        pim_ll_put_vector(ll, PIM_LL_POST, core, layer->after[i], address, address, 0, layer->channels);
}
