/*
 * Cyclic dataflows: nodes - 1 rounds in which each node sends one piece to its successor and receives one
 * from its predecessor; the last node sends to the first. In round 0 a node sends its own piece, afterwards
 * the piece that came in the round before (section V-B).
 */
#include "mappers/allspark/emitter.h"

struct pim_ring pim_ring_of_row(const struct pim_emitter *emitter, uint32_t tag)
{
    const struct pim_place *place = &emitter->place;
    uint32_t nodes = emitter->part->v;
    return (struct pim_ring){.nodes = nodes,
                             .index = place->column,
                             .next = pim_place_unit(emitter, place->ring, (place->column + 1) % nodes),
                             .previous =
                                 pim_place_unit(emitter, place->ring, (place->column + nodes - 1) % nodes),
                             .tag = tag};
}

struct pim_ring pim_ring_of_column(const struct pim_emitter *emitter, uint32_t nodes, uint32_t tag)
{
    const struct pim_place *place = &emitter->place;
    uint32_t index = place->ring % nodes, top = place->ring - index;
    return (struct pim_ring){.nodes = nodes,
                             .index = index,
                             .next = pim_place_unit(emitter, top + (index + 1) % nodes, place->column),
                             .previous =
                                 pim_place_unit(emitter, top + (index + nodes - 1) % nodes, place->column),
                             .tag = tag};
}

static uint32_t wrap(uint32_t nodes, uint32_t index, uint32_t back)
{
    return (index + nodes - back % nodes) % nodes;
}

static uint64_t emit_message(struct pim_emitter *emitter, const struct pim_ring *ring, bool sends,
                             uint32_t round, uint64_t after)
{
    uint32_t piece = wrap(ring->nodes, ring->index, sends ? round : round + 1);
    const struct pim_message_end end = {.sends = sends,
                                        .peer = sends ? ring->next : ring->previous,
                                        .tag = ring->tag + round,
                                        .address = ring->address(emitter, ring->context, piece),
                                        .bytes = ring->bytes(emitter, ring->context, piece)};
    /* Fewer things than nodes: both sides know that this piece is empty. */
    return end.bytes == 0 ? PIM_NOTHING : pim_emit_message(emitter, end, after);
}

void pim_emit_rounds(struct pim_emitter *emitter, const struct pim_ring *ring, uint32_t until,
                     struct pim_rounds *rounds)
{
    for (; rounds->done < until && rounds->done + 1 < ring->nodes; rounds->done++) {
        /* The receive is posted before the send of its round, so that every node of the ring can go on. */
        uint64_t receive = emit_message(emitter, ring, false, rounds->done, PIM_NOTHING);
        (void)emit_message(emitter, ring, true, rounds->done, rounds->received);
        rounds->received = receive;
    }
}

void pim_emit_ring(struct pim_emitter *emitter, const struct pim_ring *ring)
{
    struct pim_rounds rounds = {.received = PIM_NOTHING};
    pim_emit_rounds(emitter, ring, ring->nodes, &rounds);
}
