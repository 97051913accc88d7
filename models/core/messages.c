/* Messages between cores: rule 9 of docs/models/core.md. */
#include "models/core/cores_internal.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A record, whatever it held. */
static void *take(struct pim_pool *pool, size_t size)
{
    void *record = pim_pool_take(pool, size);
    if (!record) {
        fprintf(stderr, "pimsim: out of memory for the messages of cores\n");
        _Exit(1);
    }
    return record;
}

static void give_back_message(struct pim_cores *cores, struct pim_core_message *message)
{
    if (message->injected >= message->bytes && message->written >= message->bytes)
        pim_pool_give(&cores->messages, message);
}

/* --- meeting --- */

struct pim_core_posted *pim_core_find_posted(const struct pim_core *core, uint32_t source, uint32_t tag)
{
    for (uint32_t i = 0; i < core->posted_count; i++)
        if (core->posted[i].source == source && core->posted[i].tag == tag)
            return &core->posted[i];
    return NULL;
}

static uint64_t announcement(const struct pim_core *receiver, const struct pim_core *sender)
{
    const struct pim_cores_configuration *configuration = &receiver->cores->configuration;
    if (!configuration->synchronous)
        return 0;
    if (receiver->chip != sender->chip)
        return configuration->link_cycles * pim_core_link_hops(receiver->cores, sender->chip, receiver->chip);
    if (configuration->interconnect != PIM_INTERCONNECT_MESH)
        return 1;
    uint64_t routers = 1 + pim_core_hops(receiver, sender);
    pim_time ticks = (configuration->zero_load.fixed + routers * configuration->zero_load.per_router) *
                     configuration->zero_load.period;
    return pim_divide_up(ticks, configuration->logic_period);
}

/* A send and its receive have met: the receiver's engine works from now on. */
bool pim_core_meet(struct pim_core_message *message, struct pim_core_slot *receive, uint64_t now)
{
    struct pim_core *core = receive->core;
    if (message->bytes != receive->instruction.u.network.bytes) {
        pim_core_fail(core, receive,
                      "waits for %" PRIu64 " bytes, tag %" PRIu32 ", and core %" PRIu32 " sends %" PRIu64,
                      receive->instruction.u.network.bytes, message->tag, message->source, message->bytes);
        return false;
    }
    pim_core_account_at(core, now);
    core->queue[PIM_ENGINE_RECEIVE].unknown++;
    message->receive = receive;
    receive->message = message;
    PIM_ADD_BYTES(core, bytes_received, message->bytes);
    return true;
}

/* --- send --- */

uint64_t pim_core_send_available(struct pim_core *core, const struct pim_core_slot *slot, uint64_t now)
{
    struct pim_cores *cores = core->cores;
    struct pim_core_slot *waiting = pim_core_slot_of(core, slot->sequence);
    struct pim_core *peer = pim_core_at(cores, slot->instruction.u.network.peer);
    if (core->sending)
        return PIM_CYCLE_UNKNOWN;
    if (core->send_free > now)
        return core->send_free;
    const struct pim_core_posted *posted =
        pim_core_find_posted(peer, core->unit.id, slot->instruction.u.network.tag);
    if (posted) {
        waiting->cause = PIM_WAIT_PEER;
        return posted->visible;
    }
    if (!cores->configuration.synchronous) {
        uint64_t room = cores->configuration.receive_bytes;
        uint64_t bytes = slot->instruction.u.network.bytes;
        if (peer->held_bytes == 0 || (peer->held_bytes < room && bytes <= room - peer->held_bytes))
            return now;
        peer->senders_waiting += core->waits_for != peer->unit.id;
    }
    core->waits_for = peer->unit.id;
    waiting->cause = cores->configuration.synchronous ? PIM_WAIT_PEER : PIM_WAIT_BUFFER;
    return PIM_CYCLE_UNKNOWN;
}

static void read_packet(struct pim_core *core, struct pim_core_slot *slot, uint64_t now)
{
    struct pim_core_message *message = slot->message;
    uint64_t rest = message->bytes - message->read, most = core->cores->configuration.packet_bytes;
    uint64_t bytes = rest < most ? rest : most;
    message->read += bytes;
    pim_core_enter(core, pim_core_port(core, now, bytes, false), PIM_STEP_PACKET, slot, bytes);
}

struct pim_core_message *pim_core_new_message(struct pim_core *core, struct pim_core_slot *send)
{
    const struct pim_instruction *instruction = &send->instruction;
    struct pim_core_message *message = take(&core->cores->messages, sizeof *message);
    *message = (struct pim_core_message){.source = core->unit.id,
                                         .destination = instruction->u.network.peer,
                                         .tag = instruction->u.network.tag,
                                         .phase = core->unit.sums,
                                         .bytes = instruction->u.network.bytes,
                                         .send = send};
    send->message = message;
    PIM_ADD_BYTES(core, bytes_sent, message->bytes);
    return message;
}

void pim_core_remove_posted(struct pim_core *core, struct pim_core_posted *posted)
{
    uint32_t place = (uint32_t)(posted - core->posted);
    core->posted_count--;
    memmove(posted, posted + 1, (core->posted_count - place) * sizeof *posted);
}

void pim_core_send(struct pim_core *core, struct pim_core_slot *slot, uint64_t now)
{
    struct pim_cores *cores = core->cores;
    const struct pim_instruction *instruction = &slot->instruction;
    struct pim_core *peer = pim_core_at(cores, instruction->u.network.peer);
    struct pim_core_message *message = pim_core_new_message(core, slot);
    core->sending = slot;
    if (core->waits_for != UINT32_MAX && !cores->configuration.synchronous)
        peer->senders_waiting--;
    core->waits_for = UINT32_MAX;
    struct pim_core_posted *posted = pim_core_find_posted(peer, core->unit.id, message->tag);
    if (posted) {
        struct pim_core_slot *receive = posted->slot;
        pim_core_account_at(peer, now); /* it has waited up to now */
        pim_core_remove_posted(peer, posted);
        if (!pim_core_meet(message, receive, now))
            return;
        if (cores->configuration.synchronous)
            pim_core_tell(peer, PIM_ENGINE_RECEIVE, now); /* its engine is free for the next one */
    } else {
        assert(!cores->configuration.synchronous);
        message->buffered = true;
        peer->held_bytes += message->bytes;
        struct pim_core_message **last = &peer->unmet;
        while (*last)
            last = &(*last)->next;
        *last = message;
    }
    read_packet(core, slot, now);
}

void pim_core_packet_read(struct pim_core *core, struct pim_core_slot *slot, uint64_t bytes, uint64_t now)
{
    struct pim_cores *cores = core->cores;
    const struct pim_cores_configuration *configuration = &cores->configuration;
    struct pim_core_message *message = slot->message;
    struct pim_core_packet *packet = take(&cores->packets, sizeof *packet);
    *packet = (struct pim_core_packet){.cores = cores, .message = message, .bytes = bytes};
    struct pim_core_request request = {.core = core->unit.id, .kind = PIM_REQUEST_MOVE, .packet = packet};
    if (pim_core_at(cores, message->destination)->chip != core->chip) {
        pim_core_leave_chip(core, packet);
    } else if (configuration->interconnect != PIM_INTERCONNECT_MESH) {
        request.cycles = pim_beats_of(bytes, configuration->interconnect_bytes);
        PIM_ADD_ACTION(core, interconnect_bits, 8 * bytes);
        pim_core_server_ask(&core->chip->interconnect, &request);
    } else {
        pim_noc_send(cores->units.noc, message->source, message->destination,
                     pim_beats_of(8 * bytes, configuration->zero_load.flit_bits),
                     (uint64_t)(uintptr_t)packet);
    }
    if (message->read < message->bytes)
        read_packet(core, slot, now);
}

/* The interconnect has taken `bytes` of a message by `cycle`. */
void pim_core_taken(struct pim_cores *cores, struct pim_core_message *message, uint64_t bytes, uint64_t cycle)
{
    message->injected += bytes;
    if (message->injected < message->bytes)
        return;
    struct pim_core *core = pim_core_at(cores, message->source);
    struct pim_core_slot *slot = message->send;
    pim_core_set_end(slot, cycle);
    core->sending = NULL;
    core->send_free = slot->done;
    pim_core_wake_at(core, slot->done);
}

/* --- receive --- */

uint64_t pim_core_receive_available(const struct pim_core *core)
{
    return core->cores->configuration.synchronous && core->posted_count > 0 ? PIM_CYCLE_UNKNOWN : 0;
}

void pim_core_receive(struct pim_core *core, struct pim_core_slot *slot, uint64_t now)
{
    struct pim_cores *cores = core->cores;
    uint32_t source = slot->instruction.u.network.peer, tag = slot->instruction.u.network.tag;
    core->queue[PIM_ENGINE_RECEIVE].unknown--; /* it works from the meeting on */
    struct pim_core_message **place = &core->unmet;
    while (*place && ((*place)->source != source || (*place)->tag != tag))
        place = &(*place)->next;
    struct pim_core_message *message = *place;
    if (message) {
        *place = message->next;
        if (!pim_core_meet(message, slot, now))
            return;
        uint64_t arrived = message->arrived;
        message->arrived = 0;
        if (arrived > 0)
            pim_core_bytes_arrived(core, slot, arrived, now);
        return;
    }
    struct pim_core *peer = pim_core_at(cores, source);
    struct pim_core_posted *posted = &core->posted[core->posted_count++];
    *posted = (struct pim_core_posted){
        .source = source, .tag = tag, .visible = now + announcement(core, peer), .slot = slot};
    if (peer->waits_for == core->unit.id)
        pim_core_tell(peer, PIM_ENGINE_SEND, posted->visible);
}

/* `bytes` of a message are at its destination at `cycle`. */
static void arrive(struct pim_cores *cores, struct pim_core_packet *packet, uint64_t cycle)
{
    struct pim_core_message *message = packet->message;
    if (message->receive)
        pim_core_enter(pim_core_at(cores, message->destination), cycle, PIM_STEP_ARRIVED, message->receive,
                       packet->bytes);
    else
        message->arrived += packet->bytes;
    pim_pool_give(&cores->packets, packet);
}

void pim_core_bytes_arrived(struct pim_core *core, struct pim_core_slot *slot, uint64_t bytes, uint64_t now)
{
    struct pim_cores *cores = core->cores;
    struct pim_core_message *message = slot->message;
    uint64_t end = pim_core_port(core, now, bytes, true);
    message->written += bytes;
    if (message->buffered) {
        core->held_bytes -= bytes;
        for (uint32_t id = 0; core->senders_waiting > 0 && id < cores->units.count; id++)
            if (pim_core_at(cores, id)->waits_for == core->unit.id)
                pim_core_tell(pim_core_at(cores, id), PIM_ENGINE_SEND, now);
    }
    if (message->written == message->bytes) {
        pim_core_set_end(slot, end);
        give_back_message(cores, message);
    }
}

/* --- interconnects --- */

/* Shared memory: the packet has been written, and is asked for to be read. */
static void read_shared(struct pim_kernel *kernel, void *context)
{
    (void)kernel;
    struct pim_core_packet *packet = context;
    struct pim_cores *cores = packet->cores;
    struct pim_core *core = pim_core_at(cores, packet->message->destination);
    const struct pim_core_request request = {
        .core = core->unit.id,
        .kind = PIM_REQUEST_READ,
        .cycles = pim_beats_of(packet->bytes, cores->configuration.interconnect_bytes),
        .packet = packet};
    PIM_ADD_ACTION(core, interconnect_bits, 8 * packet->bytes);
    pim_core_server_ask(&core->chip->interconnect, &request);
}

/* There is a packet: the receiver takes it, in the engine phase of this tick. */
void pim_core_come(struct pim_kernel *kernel, void *context)
{
    (void)kernel;
    struct pim_core_packet *packet = context;
    arrive(packet->cores, packet, pim_core_now(packet->cores));
}

void pim_core_message_served(struct pim_cores *cores, const struct pim_core_request *request, uint64_t held,
                             uint64_t end)
{
    struct pim_core_packet *packet = request->packet;
    struct pim_core_message *message = packet->message;
    bool shared = cores->configuration.interconnect == PIM_INTERCONNECT_SHARED_MEMORY &&
                  pim_core_at(cores, message->source)->chip == pim_core_at(cores, message->destination)->chip;
    if (!pim_core_in_time(pim_core_at(cores, message->source), end))
        return;
    pim_kernel_schedule_at(cores->units.kernel, end * cores->configuration.logic_period, PIM_PHASE_MEMORY,
                           shared && request->kind == PIM_REQUEST_MOVE ? read_shared : pim_core_come, packet);
    if (request->kind == PIM_REQUEST_MOVE)
        pim_core_taken(cores, message, packet->bytes, held);
}

void pim_core_injected(void *context, uint64_t record, uint32_t source)
{
    struct pim_cores *cores = context;
    struct pim_core_packet *packet = (struct pim_core_packet *)(uintptr_t)record;
    (void)source;
    pim_core_taken(cores, packet->message, packet->bytes, pim_core_now(cores));
}

void pim_core_delivered(void *context, const struct pim_noc_delivery *delivery)
{
    struct pim_cores *cores = context;
    struct pim_core_packet *packet = (struct pim_core_packet *)(uintptr_t)delivery->packet;
    pim_unit_attribute_packet(pim_units_at(&cores->units, delivery->source), packet->message->phase,
                              &cores->configuration.zero_load, delivery);
    arrive(cores, packet, pim_core_now(cores));
}
