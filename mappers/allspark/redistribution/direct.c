/* From node to node: moves between two regions are one message, and the messages are timed one by one. */
#include "mappers/allspark/redistribution/direct.h"
#include "mappers/allspark/redistribution/timing.h"
#include "sim/integer.h"

#include <stdlib.h>

enum { PACK, SEND, UNPACK, STEPS };

/* --- the program --- */

/* A move in message `message`: packed, sent and unpacked; or, on one unit, packed and unpacked. */
static bool add_move(struct pim_exchange *exchange, const struct pim_move *move, uint32_t message)
{
    struct pim_region *from = &exchange->region[move->from_region], *to = &exchange->region[move->to_region];
    bool local = from->unit == to->unit;
    const struct pim_transport_copy pack = {from->unit,    PACK,        move->from,
                                            from->leaving, move->bytes, message};
    const struct pim_transport_copy unpack = {to->unit, UNPACK,      local ? from->leaving : to->arriving,
                                              move->to, move->bytes, message};
    const struct pim_transport_message sent = {.step = SEND,
                                               .kind = PIM_MESSAGE_PLAIN,
                                               .from_unit = from->unit,
                                               .to_unit = to->unit,
                                               .tag = message,
                                               .order = message,
                                               .from = from->leaving,
                                               .to = to->arriving,
                                               .bytes = move->bytes};
    return pim_transport_add_copy(&exchange->transport, &pack, false) &&
           (local || pim_transport_add_message(&exchange->transport, &sent)) &&
           pim_transport_add_copy(&exchange->transport, &unpack, false);
}

bool pim_direct_make(struct pim_exchange *exchange)
{
    struct pim_transport *transport = &exchange->transport;
    uint32_t message = 0; /* also those of a unit to itself have a number, hence a tag */
    *transport = (struct pim_transport){.units = exchange->units, .steps = STEPS, .joins_always = true};
    for (uint32_t i = 0; i < exchange->move_count; i++) {
        const struct pim_move *move = &exchange->moves[i];
        struct pim_region *from = &exchange->region[move->from_region],
                          *to = &exchange->region[move->to_region];
        if (i > 0 && (move[-1].from_region != move->from_region || move[-1].to_region != move->to_region))
            message++;
        /* Where nothing is overwritten, a unit copies once what it has for itself, each piece alone. */
        const struct pim_transport_copy once = {to->unit, UNPACK,      move->from,
                                                move->to, move->bytes, exchange->move_count + i};
        bool copied = exchange->apart && from->unit == to->unit;
        if (copied ? !pim_transport_add_copy(transport, &once, false) : !add_move(exchange, move, message))
            return false;
        from->leaving += move->bytes;
        to->arriving += move->bytes;
        transport->tags = message + 1;
    }
    return pim_transport_end(transport);
}

/* --- estimate --- */

/* Copies of each unit on one side of the network, with the access that begins them. Loads and stores take
   turns at the port, so each opens its row anew, and the port turns meanwhile. */
static uint64_t *list_copies(const struct pim_estimate_hardware *hardware,
                             const struct pim_exchange *exchange, uint32_t step)
{
    uint64_t *cycles = calloc((size_t)exchange->units + 1, sizeof *cycles);
    for (uint32_t unit = 0; cycles && unit < exchange->units; unit++) {
        const struct pim_transport_cost cost =
            pim_transport_copies(hardware, &exchange->transport, unit, step);
        cycles[unit] = cost.cycles + (cost.cycles > 0 ? pim_estimate_access(hardware) : 0);
    }
    return cycles;
}

static struct pim_transfer *list_transfers(const struct pim_exchange *exchange)
{
    const struct pim_transport *transport = &exchange->transport;
    struct pim_transfer *transfers = calloc((size_t)transport->message_count + 1, sizeof *transfers);
    for (uint32_t i = 0; transfers && i < transport->message_count; i++) {
        const struct pim_transport_message *message = &transport->messages[i];
        transfers[i] = (struct pim_transfer){message->from_unit, message->to_unit, message->bytes};
    }
    return transfers;
}

bool pim_direct_estimate_from(const struct pim_estimate_hardware *hardware, struct pim_exchange *exchange,
                              uint64_t *time)
{
    struct pim_transfer *transfers = list_transfers(exchange);
    uint64_t *start = calloc((size_t)exchange->units + 1, sizeof *start), begin = 0, end = 0, copies = 0;
    bool made = transfers && start;
    for (uint32_t unit = 0; made && unit < exchange->units; unit++) {
        begin = pim_larger(begin, time[unit]);
        start[unit] = time[unit] + exchange->packing[unit];
    }
    made = made && pim_exchange_time(hardware, transfers, exchange->transport.message_count, start, time);
    for (uint32_t unit = 0; made && unit < exchange->units; unit++) {
        time[unit] += exchange->unpacking[unit];
        if (time[unit] <= end)
            continue;
        end = time[unit];
        copies = exchange->packing[unit] + exchange->unpacking[unit];
    }
    exchange->estimate[PIM_ESTIMATE_MEMORY] = pim_smaller(copies, end - begin);
    exchange->estimate[PIM_ESTIMATE_TRANSFER] = end - begin - exchange->estimate[PIM_ESTIMATE_MEMORY];
    free(transfers);
    free(start);
    return made;
}

bool pim_direct_estimate(const struct pim_estimate_hardware *hardware, struct pim_exchange *exchange)
{
    uint64_t *time = calloc((size_t)exchange->units + 1, sizeof *time);
    exchange->packing = list_copies(hardware, exchange, PACK);
    exchange->unpacking = list_copies(hardware, exchange, UNPACK);
    bool made = time && exchange->packing && exchange->unpacking &&
                pim_direct_estimate_from(hardware, exchange, time);
    free(time);
    return made;
}
