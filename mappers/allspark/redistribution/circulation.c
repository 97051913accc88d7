/*
 * What goes round: features, hidden channels and statistics within a row of a sub-array, keys and values
 * within a column (section V-B of the paper). rings.c has the rounds, sharing.c the weights.
 */
#include "mappers/allspark/redistribution/circulation.h"
#include "mappers/allspark/memory.h"
#include "mappers/allspark/shapes.h"

static uint64_t row_width(const struct pim_emitter *emitter, const struct pim_row_pieces *pieces,
                          uint32_t column)
{
    return pieces->total == 0 ? PIM_STATISTICS_BYTES : pim_stage_spread(emitter->part, pieces->total, column);
}

uint64_t pim_row_bytes(const struct pim_emitter *emitter, const void *context, uint32_t piece)
{
    const struct pim_row_pieces *pieces = context;
    return row_width(emitter, pieces, piece) * pieces->rows;
}

uint64_t pim_row_address(const struct pim_emitter *emitter, const void *context, uint32_t piece)
{
    const struct pim_row_pieces *pieces = context;
    if (piece == emitter->place.column && pieces->own != 0)
        return pieces->own;
    uint64_t address = pieces->base;
    for (uint32_t column = 0; column < piece; column++)
        address += pim_row_bytes(emitter, context, column);
    return address;
}

/* Vertical: piece r is the rows of keys or values of row r of the sub-array. */
uint64_t pim_column_bytes(const struct pim_emitter *emitter, const void *context, uint32_t piece)
{
    (void)context;
    return (uint64_t)pim_stage_keys(emitter->part, piece) *
           pim_stage_channels(emitter->part, emitter->place.column);
}

static uint64_t column_address(const struct pim_emitter *emitter, const void *context, uint32_t piece)
{
    const uint64_t *base = context;
    uint64_t first = pim_even_begin(emitter->part->key_tokens, emitter->part->u, piece);
    return *base + first * pim_stage_channels(emitter->part, emitter->place.column);
}

static void gather(struct pim_emitter *emitter, struct pim_ring *ring, const void *context)
{
    ring->context = context;
    pim_emit_ring(emitter, ring);
    pim_emit_join(emitter);
}

void pim_gather_row(struct pim_emitter *emitter, const struct pim_row_pieces *pieces, uint32_t tag)
{
    struct pim_ring ring = pim_ring_of_row(emitter, tag);
    ring.address = pim_row_address;
    ring.bytes = pim_row_bytes;
    if (ring.nodes > 1)
        gather(emitter, &ring, pieces);
}

void pim_gather_column(struct pim_emitter *emitter, uint64_t base, uint32_t tag)
{
    struct pim_ring ring = pim_ring_of_column(emitter, emitter->part->u, tag);
    ring.address = column_address;
    ring.bytes = pim_column_bytes;
    if (ring.nodes > 1)
        gather(emitter, &ring, &base);
}

uint64_t pim_own_piece(const struct pim_emitter *emitter, uint64_t base, uint64_t rows, uint64_t total)
{
    struct pim_row_pieces pieces = {.base = base, .rows = rows, .total = total};
    return pim_row_address(emitter, &pieces, emitter->place.column);
}
