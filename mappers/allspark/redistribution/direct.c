/* From node to node: moves between two regions are one message. */
#include "mappers/allspark/redistribution/redistribute.h"

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
