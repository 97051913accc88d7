/* The order of moves, which program an exchange has, and its phase. */
#include "mappers/allspark/redistribution/redistribute.h"
#include "sim/try.h"

#include <stdlib.h>

/*
 * The order of moves: by how far the consumer is behind the producer in the list of regions, then by the
 * producer. Windows that are shifted are few distances apart, and of one distance every region sends and gets
 * one message: all of them go at the same time. Pieces of a message are in the order of the sender's
 * addresses.
 */
struct rank {
    uint64_t key, from, to;
    uint32_t move;
};

static int compare_ranks(const void *left, const void *right)
{
    const struct rank *a = left, *b = right;
    if (a->key != b->key)
        return a->key < b->key ? -1 : 1;
    if (a->from != b->from)
        return a->from < b->from ? -1 : 1;
    return a->to < b->to ? -1 : a->to > b->to;
}

static bool sort_moves(struct pim_exchange *exchange)
{
    uint32_t count = exchange->move_count, regions = exchange->regions;
    struct rank *ranks = calloc((size_t)count + 1, sizeof *ranks);
    struct pim_move *sorted = calloc((size_t)count + 1, sizeof *sorted);
    bool made = ranks && sorted;
    for (uint32_t i = 0; made && i < count; i++) {
        const struct pim_move *move = &exchange->moves[i];
        uint64_t behind = ((uint64_t)move->to_region + regions - move->from_region) % regions;
        ranks[i] = (struct rank){behind << 32 | move->from_region, move->from, move->to, i};
    }
    if (made && count > 0)
        qsort(ranks, count, sizeof *ranks, compare_ranks);
    for (uint32_t i = 0; made && i < count; i++)
        sorted[i] = exchange->moves[ranks[i].move];
    free(ranks);
    if (!made) {
        free(sorted);
        return false;
    }
    free(exchange->moves);
    exchange->moves = sorted;
    exchange->move_capacity = count;
    return true;
}

/* --- from node to node: moves between two regions are one message --- */

enum { PACK, SEND, UNPACK, STEPS };

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

/* The program from node to node, for moves in their order: packs, sends and unpacks; the staging of the
   regions is advanced behind what it takes. False when memory is out. */
static bool make_direct(struct pim_exchange *exchange)
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

enum pim_status pim_exchange_direct(const struct pim_allspark_plan *plan, struct pim_exchange *exchange,
                                    struct pim_error *error)
{
    bool made =
        sort_moves(exchange) && make_direct(exchange) && pim_exchange_estimate(&plan->hardware, exchange);
    return made ? PIM_OK : pim_exchange_no_memory(error);
}

enum pim_status pim_exchange_program(const struct pim_allspark_plan *plan, struct pim_exchange *exchange,
                                     uint64_t room, struct pim_error *error)
{
    if (plan->exchange != PIM_ALLSPARK_GATHER)
        return pim_exchange_direct(plan, exchange, error);
    if (!sort_moves(exchange))
        return pim_exchange_no_memory(error);
    PIM_TRY(pim_relay_make(plan, exchange, room, error));
    return pim_exchange_estimate(&plan->hardware, exchange) ? PIM_OK : pim_exchange_no_memory(error);
}

void pim_exchange_add_estimate(struct pim_emitter *emitter, const struct pim_exchange *exchange,
                               uint64_t times)
{
    for (unsigned part = 0; part < PIM_ESTIMATE_PARTS; part++) {
        emitter->estimate_parts[part] += times * exchange->estimate[part];
        emitter->estimate_cycles += times * exchange->estimate[part];
    }
}

static void exchange_body(struct pim_emitter *emitter, const void *context, uint32_t tag)
{
    const struct pim_exchange *exchange = context;
    pim_transport_emit(emitter, &exchange->transport, tag);
}

void pim_exchange_phase(struct pim_emitter *emitter, const struct pim_exchange *exchange, const char *name,
                        pim_emit_function *body, const void *context)
{
    struct pim_trace_phase phase = {.name = name};
    for (unsigned part = 0; part < PIM_ESTIMATE_PARTS; part++)
        phase.estimate_parts[part] = exchange->estimate[part];
    pim_add_up(emitter, &phase);
    if (!emitter->writer)
        return;
    uint32_t id = pim_trace_writer_phase(emitter->writer, &phase),
             tag = pim_program_tags(emitter->program, exchange->transport.tags);
    for (uint32_t unit = 0; unit < exchange->units && emitter->status == PIM_OK; unit++)
        if (pim_transport_has_unit(&exchange->transport, unit))
            pim_emit_node(emitter, (struct pim_place){.unit = unit}, id, body ? body : exchange_body,
                          body ? context : exchange, tag);
}
