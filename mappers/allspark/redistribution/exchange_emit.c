/* The programs of an exchange, and what it takes. */
#include "mappers/allspark/redistribution/exchange.h"
#include "mappers/allspark/redistribution/exchange_timing.h"
#include "mappers/allspark/redistribution/relay.h"
#include "sim/integer.h"

#include <stdlib.h>

/* Moves of a message that one instruction can take on the side of the features: as many bytes each, evenly
   apart. */
struct group {
    uint32_t count;
    uint64_t stride;
};

static uint64_t address_of(const struct pim_exchange_move *move, bool pack)
{
    return pack ? move->from : move->to;
}

static struct group group_of(const struct pim_exchange_move *moves, uint32_t left, bool pack)
{
    struct group group = {.count = 1};
    for (; group.count < left; group.count++) {
        const struct pim_exchange_move *before = &moves[group.count - 1], *next = before + 1;
        uint64_t here = address_of(before, pack), there = address_of(next, pack);
        if (next->bytes != before->bytes || there < here + before->bytes ||
            (group.count > 1 && there - here != group.stride))
            break;
        group.stride = there - here;
    }
    return group;
}

/* Features to a message, or a message to features. A store follows one load later, so that loads do not wait
   for it. */
static void emit_copies(struct pim_emitter *emitter, const struct pim_exchange *exchange,
                        const struct pim_exchange_message *message, bool pack, bool local)
{
    const struct pim_exchange_move *moves = &exchange->moves[message->first_move];
    uint64_t staged = pack || local ? message->packed : message->arrived;
    for (uint32_t i = 0; i < message->moves;) {
        struct group group = group_of(moves + i, message->moves - i, pack);
        uint64_t features = address_of(&moves[i], pack), bytes = moves[i].bytes;
        uint64_t loaded = pack ? pim_emit_memory(emitter, PIM_OP_LOAD, PIM_BUFFER_NONE, features, bytes,
                                                 group.stride, group.count, PIM_NOTHING)
                               : pim_emit_memory(emitter, PIM_OP_LOAD, PIM_BUFFER_NONE, staged,
                                                 bytes * group.count, 0, 1, PIM_NOTHING);
        pim_emit_flush(emitter);
        emitter->store = pack
                             ? (struct pim_pending_store){staged, bytes * group.count, 0, 1, loaded}
                             : (struct pim_pending_store){features, bytes, group.stride, group.count, loaded};
        staged += bytes * group.count;
        i += group.count;
    }
}

/* From a unit to itself, where what arrives lies apart from what leaves. */
static void emit_local(struct pim_emitter *emitter, const struct pim_exchange *exchange,
                       const struct pim_exchange_message *message)
{
    for (uint32_t i = message->first_move; i < message->first_move + message->moves; i++) {
        const struct pim_exchange_move *move = &exchange->moves[i];
        uint64_t loaded = pim_emit_memory(emitter, PIM_OP_LOAD, PIM_BUFFER_NONE, move->from, move->bytes, 0,
                                          1, PIM_NOTHING);
        pim_emit_flush(emitter);
        emitter->store = (struct pim_pending_store){move->to, move->bytes, 0, 1, loaded};
    }
}

static void emit_message(struct pim_emitter *emitter, const struct pim_exchange *exchange, uint32_t index,
                         bool send, uint32_t tag)
{
    const struct pim_exchange_message *message = &exchange->messages[index];
    struct pim_instruction instruction = {.opcode = send ? PIM_OP_SEND : PIM_OP_RECEIVE};
    instruction.u.network.peer = exchange->seat[send ? message->to_seat : message->from_seat].unit;
    instruction.u.network.tag = tag + index;
    instruction.u.network.address = send ? message->packed : message->arrived;
    instruction.u.network.bytes = message->bytes;
    (void)pim_emit(emitter, instruction, PIM_NOTHING, PIM_NOTHING, PIM_NOTHING);
}

void pim_exchange_emit(struct pim_emitter *emitter, const struct pim_exchange *exchange, uint32_t tag)
{
    enum { GATHER, TRANSFER, SCATTER, PARTS };
    const uint32_t unit = emitter->place.unit, *first = exchange->first_of_unit;
    if (exchange->relay) {
        pim_relay_emit(emitter, exchange->relay, tag);
        return;
    }
    for (int part = 0; part < PARTS; part++) {
        for (uint32_t i = first[unit]; i < first[unit + 1]; i++) {
            uint32_t index = exchange->of_unit[i];
            const struct pim_exchange_message *message = &exchange->messages[index];
            bool sends = exchange->seat[message->from_seat].unit == unit,
                 gets = exchange->seat[message->to_seat].unit == unit;
            if (part == SCATTER && sends && gets && exchange->apart) {
                emit_local(emitter, exchange, message);
                continue;
            }
            if (part == GATHER && sends && !(gets && exchange->apart))
                emit_copies(emitter, exchange, message, true, gets);
            if (part == TRANSFER && sends != gets)
                emit_message(emitter, exchange, index, sends, tag);
            if (part == SCATTER && gets)
                emit_copies(emitter, exchange, message, false, sends);
        }
        pim_emit_flush(emitter);
        if (part != SCATTER)
            pim_emit_join(emitter);
    }
}

/* --- estimate --- */

/* Loads and stores of one side of a message. They take turns at the port, so each opens its row anew, and the
   port turns meanwhile. */
static uint64_t copy_cycles(const struct pim_estimate_hardware *hardware, const struct pim_exchange *exchange,
                            const struct pim_exchange_message *message, bool pack)
{
    const struct pim_exchange_move *moves = &exchange->moves[message->first_move];
    uint64_t cycles = 0;
    for (uint32_t i = 0; i < message->moves;) {
        struct group group = group_of(moves + i, message->moves - i, pack);
        uint64_t bytes = moves[i].bytes, whole = bytes * group.count;
        cycles += pim_estimate_pieces(hardware, bytes, group.stride, group.count, 1, !pack) +
                  pim_estimate_pieces(hardware, whole, 0, 1, 1, pack);
        i += group.count;
    }
    return cycles;
}

static uint64_t local_cycles(const struct pim_estimate_hardware *hardware,
                             const struct pim_exchange *exchange, const struct pim_exchange_message *message)
{
    uint64_t cycles = 0;
    for (uint32_t i = message->first_move; i < message->first_move + message->moves; i++)
        cycles += pim_estimate_pieces(hardware, exchange->moves[i].bytes, 0, 1, 1, false) +
                  pim_estimate_pieces(hardware, exchange->moves[i].bytes, 0, 1, 1, true);
    return cycles;
}

uint64_t pim_exchange_flight(const struct pim_estimate_hardware *hardware, uint32_t from, uint32_t to)
{
    uint32_t hops = pim_difference(from % hardware->width, to % hardware->width) +
                    pim_difference(from / hardware->width, to / hardware->width);
    return pim_estimate_ring(hardware, 1, 2) +
           (hops > 1 ? pim_estimate_hops(hardware, 2 * (uint64_t)(hops - 1)) : 0);
}

/* Copies of a unit on one side of the network: what leaves it, or what came and what it has for itself. */
static uint64_t side_cycles(const struct pim_estimate_hardware *hardware, const struct pim_exchange *exchange,
                            uint32_t unit, bool pack)
{
    uint64_t cycles = 0;
    for (uint32_t i = exchange->first_of_unit[unit]; i < exchange->first_of_unit[unit + 1]; i++) {
        const struct pim_exchange_message *message = &exchange->messages[exchange->of_unit[i]];
        uint32_t from = exchange->seat[message->from_seat].unit, to = exchange->seat[message->to_seat].unit;
        if (from == to && exchange->apart)
            cycles += pack ? 0 : local_cycles(hardware, exchange, message);
        else if ((pack ? from : to) == unit)
            cycles += copy_cycles(hardware, exchange, message, pack);
    }
    return cycles > 0 ? cycles + pim_estimate_access(hardware) : 0;
}

static struct pim_transfer *list_transfers(const struct pim_exchange *exchange)
{
    struct pim_transfer *transfers = calloc((size_t)exchange->message_count + 1, sizeof *transfers);
    for (uint32_t i = 0; transfers && i < exchange->message_count; i++) {
        const struct pim_exchange_message *message = &exchange->messages[i];
        transfers[i] = (struct pim_transfer){exchange->seat[message->from_seat].unit,
                                             exchange->seat[message->to_seat].unit, message->bytes};
    }
    return transfers;
}

bool pim_exchange_estimate_from(const struct pim_estimate_hardware *hardware, struct pim_exchange *exchange,
                                uint64_t *time)
{
    struct pim_transfer *transfers = list_transfers(exchange);
    uint64_t *start = calloc((size_t)exchange->units + 1, sizeof *start), begin = 0, end = 0, copies = 0;
    uint32_t last = 0; /* the unit that is done last */
    bool made = transfers && start;
    for (uint32_t unit = 0; made && unit < exchange->units; unit++) {
        begin = pim_larger(begin, time[unit]);
        start[unit] = time[unit] + side_cycles(hardware, exchange, unit, true);
    }
    made = made && pim_exchange_time(hardware, transfers, exchange->message_count, start, time);
    for (uint32_t unit = 0; made && unit < exchange->units; unit++) {
        time[unit] += side_cycles(hardware, exchange, unit, false);
        if (time[unit] <= end)
            continue;
        end = time[unit];
        last = unit;
    }
    if (made && end > 0)
        copies = side_cycles(hardware, exchange, last, true) + side_cycles(hardware, exchange, last, false);
    exchange->estimate[PIM_ESTIMATE_MEMORY] = pim_smaller(copies, end - begin);
    exchange->estimate[PIM_ESTIMATE_TRANSFER] = end - begin - exchange->estimate[PIM_ESTIMATE_MEMORY];
    free(transfers);
    free(start);
    return made;
}

bool pim_exchange_estimate(const struct pim_estimate_hardware *hardware, struct pim_exchange *exchange)
{
    if (exchange->relay) {
        exchange->estimate[PIM_ESTIMATE_MEMORY] = exchange->relay->memory_cycles;
        exchange->estimate[PIM_ESTIMATE_TRANSFER] = exchange->relay->transfer_cycles;
        return true;
    }
    uint64_t *time = calloc((size_t)exchange->units + 1, sizeof *time);
    bool made = time && pim_exchange_estimate_from(hardware, exchange, time);
    free(time);
    return made;
}

void pim_exchange_add_estimate(struct pim_emitter *emitter, const struct pim_exchange *exchange,
                               uint64_t times)
{
    for (unsigned part = 0; part < PIM_ESTIMATE_PARTS; part++) {
        emitter->estimate_parts[part] += times * exchange->estimate[part];
        emitter->estimate_cycles += times * exchange->estimate[part];
    }
}

/* --- the phase --- */

static void exchange_body(struct pim_emitter *emitter, unsigned step, uint32_t block, uint32_t tag)
{
    (void)step;
    (void)block;
    pim_exchange_emit(emitter, emitter->exchange, tag);
}

void pim_exchange_phase(struct pim_emitter *emitter, const struct pim_exchange *exchange, const char *name,
                        uint32_t block, pim_emit_function *body)
{
    struct pim_trace_phase phase = {.name = name};
    for (unsigned part = 0; part < PIM_ESTIMATE_PARTS; part++)
        phase.estimate_parts[part] = exchange->estimate[part];
    pim_add_up(emitter, &phase);
    if (!emitter->writer)
        return;
    uint32_t id = pim_trace_writer_phase(emitter->writer, &phase),
             tag = pim_program_tags(emitter->program, pim_exchange_tags(exchange));
    emitter->exchange = exchange;
    for (uint32_t unit = 0; unit < exchange->units && emitter->status == PIM_OK; unit++)
        if (pim_exchange_has_unit(exchange, unit))
            pim_emit_node(emitter, (struct pim_place){.unit = unit}, id, body ? body : exchange_body, 0,
                          block, tag);
}
