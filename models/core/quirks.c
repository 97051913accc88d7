/*
 * core.timing "pimsim_nn": the rules of the simulator pimsim-nn (commit 3e3442b) as its runs of
 * micro-programs show them. Where they differ from those of docs/models/core.md:
 *
 *  1. Scalar instructions that a trace does not hold are put in front: one that sets the widths at the start
 *     of a program, and one for each local or global address of an instruction. Fetch and decode take one
 *     instruction a cycle; the first one may be dispatched in cycle 3. While `window` instructions are in
 *     flight decode stands still.
 *  2. Dispatch is in program order, one a cycle; it waits for conflicts to be committed a cycle before (reads
 *     after writes and writes after reads; writes after writes are missed), and for the unit: one for
 *     vectors, one for all transfers (loads, stores, copies, writes, messages), the array group (which an MVM
 *     reaches a cycle later). A unit is free when its instruction is committed.
 *  3. An instruction is committed a cycle after its end, a store two.
 *  4. An MVM reads eight times its input.
 *  5. A load's request takes `memory_cycles` to the global memory, its data nothing back; those of a store
 *     take `memory_cycles` for each flit.
 *  6. A send asks its receiver for leave (one flit), which the receiver gives when it has reached the receive
 *     (one flit); then it reads, and is done. The data take flits x (flit_cycles + hop_cycles x hops),
 *     without links, routers or contention; the receiver writes them.
 *
 * Not as there: ties between cores are by core number (there: by the order of pointers); an MVM that waits
 * for its group holds up all that follows (there one may wait aside).
 */
#include "models/core/cores_internal.h"

#include <assert.h>

/* Scalar instructions that load the addresses of an instruction into registers. */
static uint64_t scalars(const struct pim_instruction *instruction)
{
    switch (instruction->opcode) {
    case PIM_OP_LOCAL_VECTOR:
        return 1 + pim_local_sources(instruction->detail);
    case PIM_OP_LOCAL_WRITE:
    case PIM_OP_SEND:
    case PIM_OP_RECEIVE:
        return 1;
    default:
        return 2;
    }
}

void pim_core_nn_fetched(struct pim_core *core, struct pim_core_slot *slot, uint64_t now)
{
    enum { FIRST_DISPATCH = 2, SET_WIDTHS = 1 };
    if (core->nn_front == 0)
        core->nn_front = FIRST_DISPATCH + SET_WIDTHS;
    core->nn_front = pim_larger(core->nn_front, now) + scalars(&slot->instruction) + 1;
    slot->nn_ready = core->nn_front;
    if (core->nn_next < slot->sequence && core->unknown == 1)
        core->nn_next = slot->sequence; /* what stands between is no instruction of an engine */
}

uint64_t pim_core_nn_available(const struct pim_core *core, const struct pim_core_slot *slot)
{
    if (core->nn_next != slot->sequence)
        return PIM_CYCLE_UNKNOWN;
    uint64_t at = slot->nn_ready;
    if (core->nn_last > 0)
        at = pim_larger(at, core->nn_last + 1);
    if (slot->ready > 0)
        at = pim_larger(at, slot->ready + 1); /* an earlier one that conflicted was committed then */
    if (slot->engine == PIM_ENGINE_MATRIX)
        return pim_larger(at + 1, core->groups[pim_core_group_of(slot)].free);
    return pim_larger(at, slot->engine == PIM_ENGINE_VECTOR ? core->vector_free : core->nn_transfer);
}

static uint64_t flits_of(const struct pim_core *core, uint64_t bytes)
{
    return pim_beats_of(8 * bytes, core->cores->configuration.zero_load.flit_bits);
}

/* Cycles of `flits` between two cores. */
static uint64_t flight(const struct pim_core *from, const struct pim_core *to, uint64_t flits)
{
    const struct pim_cores_configuration *configuration = &from->cores->configuration;
    return flits * (configuration->nn_flit_cycles + configuration->nn_hop_cycles * pim_core_hops(from, to));
}

/* Send and receive have both been reached: leave is on its way to the sender. */
static void grant(struct pim_core *sender, struct pim_core_slot *send, struct pim_core_posted *posted,
                  uint64_t now)
{
    struct pim_core *receiver = posted->slot->core;
    struct pim_core_slot *receive = posted->slot;
    uint64_t way = flight(sender, receiver, 1);
    pim_core_account_at(receiver, now);
    pim_core_remove_posted(receiver, posted);
    if (!pim_core_meet(send->message, receive, now))
        return;
    uint64_t asked = send->started + way;
    pim_core_enter(sender, pim_larger(asked, receive->started) + way, PIM_STEP_GRANTED, send, 0);
}

static void start_transfer(struct pim_core *core, struct pim_core_slot *slot, uint64_t now)
{
    const struct pim_instruction *instruction = &slot->instruction;
    struct pim_core *peer;
    struct pim_core_posted *posted;
    uint64_t bytes;
    switch (instruction->opcode) {
    case PIM_OP_LOCAL_LOAD:
        PIM_ADD_ACTION(core, interconnect_flits, 1);
        pim_core_enter(core, now + core->cores->configuration.nn_memory_cycles, PIM_STEP_ASK, slot, 0);
        break;
    case PIM_OP_LOCAL_STORE:
        bytes = pim_core_transfer_bytes(instruction);
        PIM_ADD_ACTION(core, interconnect_flits, flits_of(core, bytes));
        pim_core_enter(core,
                       pim_core_port(core, now, bytes, false) +
                           flits_of(core, bytes) * core->cores->configuration.nn_memory_cycles,
                       PIM_STEP_ASK, slot, 0);
        break;
    case PIM_OP_SEND:
        peer = pim_core_at(core->cores, instruction->u.network.peer);
        PIM_ADD_ACTION(core, interconnect_flits, 2 + flits_of(core, instruction->u.network.bytes));
        (void)pim_core_new_message(core, slot);
        posted = pim_core_find_posted(peer, core->unit.id, instruction->u.network.tag);
        core->nn_send = posted ? NULL : slot;
        core->waits_for = posted ? UINT32_MAX : peer->unit.id;
        if (posted)
            grant(core, slot, posted, now);
        break;
    case PIM_OP_RECEIVE:
        peer = pim_core_at(core->cores, instruction->u.network.peer);
        core->queue[PIM_ENGINE_RECEIVE].unknown--; /* it works from the meeting on */
        core->posted[core->posted_count++] = (struct pim_core_posted){
            .source = peer->unit.id, .tag = instruction->u.network.tag, .visible = now, .slot = slot};
        if (peer->nn_send && peer->waits_for == core->unit.id &&
            peer->nn_send->instruction.u.network.tag == instruction->u.network.tag) {
            struct pim_core_slot *send = peer->nn_send;
            peer->nn_send = NULL;
            peer->waits_for = UINT32_MAX;
            grant(peer, send, &core->posted[core->posted_count - 1], now);
        }
        break;
    default:
        pim_core_start_plain(core, slot, now);
        break;
    }
}

void pim_core_nn_start(struct pim_core *core, struct pim_core_slot *slot, uint64_t now)
{
    core->nn_next = slot->sequence + 1;
    core->nn_last = slot->engine == PIM_ENGINE_MATRIX ? now - 1 : now;
    if (slot->engine == PIM_ENGINE_MATRIX || slot->engine == PIM_ENGINE_VECTOR) {
        pim_core_start_plain(core, slot, now);
        return;
    }
    core->nn_transfer = PIM_CYCLE_UNKNOWN;
    start_transfer(core, slot, now);
}

void pim_core_nn_step(struct pim_core *core, const struct pim_core_entry *entry)
{
    struct pim_core_slot *slot = entry->slot;
    if (entry->step == PIM_STEP_ASK) {
        pim_core_ask_global(core, slot, slot->instruction.opcode == PIM_OP_LOCAL_STORE);
        return;
    }
    struct pim_core_message *message = slot->message;
    struct pim_core *receiver = pim_core_at(core->cores, message->destination);
    uint64_t read = pim_core_port(core, entry->cycle, message->bytes, false);
    message->read = message->bytes;
    pim_core_enter(receiver, read + flight(core, receiver, flits_of(core, message->bytes)), PIM_STEP_ARRIVED,
                   message->receive, message->bytes);
    pim_core_taken(core->cores, message, message->bytes, read);
}

void pim_core_nn_ended(struct pim_core *core, struct pim_core_slot *slot)
{
    if (slot->engine != PIM_ENGINE_MATRIX && slot->engine != PIM_ENGINE_VECTOR)
        core->nn_transfer = slot->done;
}
