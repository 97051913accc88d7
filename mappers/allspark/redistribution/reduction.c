/*
 * From tokens to the tokens of keys (PVT): a key is made of `reduction` tokens that lie side by side, and the
 * rows of a sub-array have even parts of both, so that a row's keys need some tokens of its neighbours.
 */
#include "mappers/allspark/redistribution/circulation.h"
#include "mappers/allspark/redistribution/transport.h"
#include "mappers/allspark/shapes.h"
#include "sim/integer.h"

/* Tokens that row `has` has, and of which the keys of row `needs` are made. */
static struct pim_range overlap(const struct pim_allspark_partition *part, uint32_t has, uint32_t needs)
{
    uint64_t first = pim_even_begin(part->tokens, part->u, has),
             from = part->reduction * pim_even_begin(part->made_keys, part->u, needs);
    return pim_common_range(
        (struct pim_range){first, first + pim_stage_tokens(part, has)},
        (struct pim_range){from, from + (uint64_t)part->reduction * pim_stage_made(part, needs)});
}

/* Bytes of them in a column of q channels. */
static uint64_t overlap_bytes(const struct pim_allspark_partition *part, uint32_t has, uint32_t needs,
                              uint64_t q)
{
    const struct pim_range tokens = overlap(part, has, needs);
    return q * (tokens.end - tokens.first);
}

/* What goes from row index / u to row index % u: from where its tokens are to where its keys are made. */
static struct pim_transport_message message_of(const struct pim_emitter *emitter, uint32_t index)
{
    const struct pim_allspark_partition *part = emitter->part;
    const uint32_t has = index / part->u, needs = index % part->u;
    uint32_t column = emitter->place.column, top = emitter->place.ring - emitter->place.row;
    uint64_t q = pim_stage_channels(part, column), made = pim_stage_made(part, needs);
    const struct pim_range common = overlap(part, has, needs);
    return (struct pim_transport_message){
        .from_unit = pim_place_unit(emitter, top + has, column),
        .to_unit = pim_place_unit(emitter, top + needs, column),
        .from =
            pim_own_piece(emitter, emitter->workspace.gathered, pim_stage_tokens(part, has), part->channels) +
            (common.first - pim_even_begin(part->tokens, part->u, has)) * q,
        .to = pim_own_piece(emitter, emitter->workspace.reduction_inputs, made,
                            (uint64_t)part->reduction * part->channels) +
              (common.first - part->reduction * pim_even_begin(part->made_keys, part->u, needs)) * q,
        .bytes = (common.end - common.first) * q};
}

/*
 * Tokens and keys are both spread evenly, so most tokens stay. Senders and receivers take the messages in
 * the order of the tokens: the first message that is not done is the next one of both its ends, so the
 * exchange cannot lock.
 */
void pim_exchange_tokens(struct pim_emitter *emitter, uint32_t tag)
{
    pim_transport_emit_plain(emitter, emitter->part->u * emitter->part->u, message_of, tag);
    pim_emit_join(emitter);
}

/* The row that receives most sets the time; its messages come one after another. */
void pim_estimate_exchange(const struct pim_emitter *emitter, struct pim_trace_phase *phase)
{
    const struct pim_allspark_partition *part = emitter->part;
    const struct pim_estimate_hardware *hardware = &emitter->plan->hardware;
    uint64_t q = pim_stage_channels(part, 0), most = 0, copied = 0;
    for (uint32_t row = 0; row < part->u; row++) {
        uint64_t cycles = 0;
        for (uint32_t other = 0; other < part->u; other++)
            if (other != row)
                cycles += pim_estimate_ring(hardware, overlap_bytes(part, other, row, q), 2);
        uint64_t own = overlap_bytes(part, row, row, q);
        most = pim_larger(most, cycles);
        copied = pim_larger(copied, own);
    }
    phase->estimate_parts[PIM_ESTIMATE_TRANSFER] += most;
    phase->estimate_parts[PIM_ESTIMATE_MEMORY] += pim_estimate_copy(hardware, copied, PIM_ANYWHERE);
}
