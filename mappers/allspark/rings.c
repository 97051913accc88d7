/*
 * Cyclic dataflows: nodes - 1 rounds in which each node sends one piece to its successor and receives one
 * from its predecessor; the last node sends to the first. In round 0 a node sends its own piece, afterwards
 * the piece that came in the round before (section V-B).
 */
#include "mappers/allspark/emitter.h"

static uint32_t wrap(uint32_t nodes, uint32_t index, uint32_t back)
{
    return (index + nodes - back % nodes) % nodes;
}

static uint64_t emit_message(struct pim_emitter *emitter, const struct pim_ring *ring, enum pim_opcode opcode,
                             uint32_t round, uint64_t after)
{
    bool send = opcode == PIM_OP_SEND;
    uint32_t piece = wrap(ring->nodes, ring->index, send ? round : round + 1);
    struct pim_instruction instruction = {.opcode = (uint8_t)opcode};
    instruction.u.network.peer = send ? ring->next : ring->previous;
    instruction.u.network.tag = ring->tag + round;
    instruction.u.network.address = ring->address(emitter, ring->context, piece);
    instruction.u.network.bytes = ring->bytes(emitter, ring->context, piece);
    if (instruction.u.network.bytes == 0)
        return PIM_NOTHING; /* fewer things than nodes: both sides know that this piece is empty */
    return pim_emit(emitter, instruction, after, PIM_NOTHING, PIM_NOTHING);
}

void pim_emit_rounds(struct pim_emitter *emitter, const struct pim_ring *ring, uint32_t until,
                     struct pim_rounds *rounds)
{
    for (; rounds->done < until && rounds->done + 1 < ring->nodes; rounds->done++) {
        /* The receive is posted before the send of its round, so that every node of the ring can go on. */
        uint64_t receive = emit_message(emitter, ring, PIM_OP_RECEIVE, rounds->done, PIM_NOTHING);
        (void)emit_message(emitter, ring, PIM_OP_SEND, rounds->done, rounds->received);
        rounds->received = receive;
    }
}

void pim_emit_ring(struct pim_emitter *emitter, const struct pim_ring *ring)
{
    struct pim_rounds rounds = {.received = PIM_NOTHING};
    pim_emit_rounds(emitter, ring, ring->nodes, &rounds);
}
