/*
 * Weights go round piece by piece. Where a plan prefetches, the pieces of a layer take two places by turns,
 * and each but the first goes round behind the products of the one before: first the pieces of a step, then
 * the first piece of the next step with weights. Not across what lies between the steps of a layer, when
 * branches get keys and values of others or stripes attend: that takes the place of the weights.
 */
#include "mappers/allspark/sharing.h"

#include "mappers/allspark/memory.h"
#include "mappers/allspark/shapes.h"
#include "sim/integer.h"

/* A piece of the weights of a step. */
struct piece {
    enum pim_step step;
    uint32_t index;
};

static bool goes_round(const struct pim_allspark_partition *part, enum pim_step step)
{
    return pim_step_weight(step) != PIM_ALLSPARK_WEIGHTS && part->ring > 1 && !part->reuses;
}

uint32_t pim_step_pieces(const struct pim_allspark_partition *part, enum pim_step step, uint32_t column)
{
    return pim_step_weight(step) != PIM_ALLSPARK_WEIGHTS
               ? pim_chunk_count(part, pim_step_weight(step), column)
               : 1;
}

/* Pieces of a step of a block that go round; 0 where it is none or has none. */
static uint32_t pieces_of(const struct pim_allspark_partition *part, enum pim_step step, uint32_t block,
                          uint32_t column)
{
    return goes_round(part, step) && pim_weight_exists(part, pim_step_weight(step), block)
               ? pim_step_pieces(part, step, column)
               : 0;
}

/* Whether other things stand between two steps of a layer. */
static bool pauses_between(const struct pim_allspark_partition *part, enum pim_step step, enum pim_step next)
{
    bool pauses = pim_stage_collects(part) || part->work == PIM_ALLSPARK_PROJECTIONS;
    return pauses && step < STEP_SCORES && next > STEP_SCORES;
}

/* The piece that goes round behind the products of another; false: none does. */
static bool next_piece(const struct pim_allspark_partition *part, struct piece piece, uint32_t block,
                       uint32_t column, struct piece *next)
{
    *next = (struct piece){piece.step, piece.index + 1};
    if (!part->prefetch || !goes_round(part, piece.step))
        return false;
    if (next->index < pieces_of(part, piece.step, block, column))
        return true;
    for (enum pim_step step = piece.step + 1; step < STEPS; step++)
        if (pieces_of(part, step, block, column) > 0) {
            *next = (struct piece){step, 0};
            return !pauses_between(part, piece.step, next->step);
        }
    return false;
}

/* Whether a piece went round behind the products of the one before. */
static bool is_there(const struct pim_allspark_partition *part, struct piece piece, uint32_t block,
                     uint32_t column)
{
    enum pim_step before = piece.step;
    if (!part->prefetch || piece.index > 0)
        return part->prefetch;
    while (before > 0 && pieces_of(part, before - 1, block, column) == 0)
        before--;
    return before > 0 && !pauses_between(part, before - 1, piece.step);
}

/* --- programs --- */

static uint64_t weight_bytes(const struct pim_emitter *emitter, const void *context, uint32_t piece)
{
    const struct pim_weight_pieces *pieces = context;
    return pim_even_part(pieces->total, emitter->part->ring, piece);
}

static uint64_t weight_address(const struct pim_emitter *emitter, const void *context, uint32_t piece)
{
    const struct pim_weight_pieces *pieces = context;
    uint32_t ring = emitter->part->ring, own = emitter->place.ring % ring;
    if (piece == own)
        return pieces->home;
    return pieces->base + pim_even_begin(pieces->total, ring, piece) -
           (piece > own ? pim_even_part(pieces->total, ring, own) : 0);
}

/* Which of the two places a piece takes: by turns. */
static unsigned place_of(const struct pim_allspark_partition *part, struct piece piece, uint32_t block,
                         uint32_t column)
{
    uint32_t before = piece.index;
    for (enum pim_step step = STEP_MERGE; step < piece.step; step++)
        before += pieces_of(part, step, block, column);
    return part->prefetch ? before % 2 : 0;
}

static void make_ring(struct pim_emitter *emitter, struct piece piece, uint32_t block, uint32_t tag,
                      struct pim_weight_pieces *pieces, struct pim_ring *ring)
{
    const struct pim_allspark_partition *part = emitter->part;
    uint32_t column = emitter->place.column;
    struct pim_chunk chunk = pim_chunk(part, block, pim_step_weight(piece.step), column, piece.index);
    *pieces = (struct pim_weight_pieces){.total = chunk.bytes, .home = chunk.home};
    pieces->base = emitter->workspace.weights[place_of(part, piece, block, column)];
    *ring = pim_ring_of_column(emitter, part->ring, tag);
    ring->address = weight_address;
    ring->bytes = weight_bytes;
    ring->context = pieces;
}

uint32_t pim_sharing_tags(const struct pim_allspark_partition *part, enum pim_step step)
{
    return (pim_step_pieces(part, step, 0) + (part->prefetch ? 1 : 0)) * part->ring;
}

void pim_share_piece(struct pim_emitter *emitter, enum pim_step step, uint32_t block, uint32_t index,
                     uint32_t tag)
{
    const struct pim_allspark_partition *part = emitter->part;
    const struct piece piece = {step, index};
    struct pim_weight_pieces pieces;
    struct pim_ring ring;
    emitter->weights = place_of(part, piece, block, emitter->place.column);
    if (!goes_round(part, step) || is_there(part, piece, block, emitter->place.column))
        return;
    make_ring(emitter, piece, block, tag + index * part->ring, &pieces, &ring);
    pim_emit_ring(emitter, &ring);
    pim_emit_join(emitter);
}

void pim_prefetch_begin(struct pim_emitter *emitter, enum pim_step step, uint32_t block, uint32_t index,
                        uint32_t tag)
{
    const struct pim_allspark_partition *part = emitter->part;
    struct pim_prefetch *prefetch = &emitter->prefetch;
    struct piece next;
    if (!next_piece(part, (struct piece){step, index}, block, emitter->place.column, &next))
        return;
    /* The first piece of another step has the tags behind those of this one. */
    uint32_t before = next.step == step ? next.index : pim_step_pieces(part, step, 0);
    *prefetch = (struct pim_prefetch){.under_way = true, .rounds = {.received = PIM_NOTHING}};
    make_ring(emitter, next, block, tag + before * part->ring, &prefetch->pieces, &prefetch->ring);
}

void pim_prefetch_products(struct pim_emitter *emitter, uint64_t tiles)
{
    emitter->prefetch.tiles = tiles;
}

void pim_prefetch_go_on(struct pim_emitter *emitter)
{
    struct pim_prefetch *prefetch = &emitter->prefetch;
    if (!prefetch->under_way || prefetch->written == prefetch->tiles)
        return;
    uint64_t rounds = prefetch->ring.nodes - 1, due = ++prefetch->written * rounds;
    pim_emit_rounds(emitter, &prefetch->ring,
                    (uint32_t)(due / prefetch->tiles + (due % prefetch->tiles != 0)), &prefetch->rounds);
}

void pim_prefetch_end(struct pim_emitter *emitter)
{
    struct pim_prefetch *prefetch = &emitter->prefetch;
    if (prefetch->under_way)
        pim_emit_rounds(emitter, &prefetch->ring, prefetch->ring.nodes, &prefetch->rounds);
    prefetch->under_way = false;
}

/* --- estimates --- */

/* Bytes of a piece that a node has. */
static uint64_t part_of(const struct pim_emitter *emitter, struct piece piece)
{
    const struct pim_allspark_partition *part = emitter->part;
    return pim_even_part(pim_chunk(part, 0, pim_step_weight(piece.step), 0, piece.index).bytes, part->ring,
                         0);
}

static uint64_t ring_of(const struct pim_emitter *emitter, struct piece piece)
{
    return pim_estimate_ring(&emitter->plan->hardware, part_of(emitter, piece), emitter->part->ring);
}

/* What the rounds of a piece that go on behind products add to them: both share the memory port. */
static uint64_t added(struct pim_emitter *emitter, struct piece products, uint32_t block, struct piece next)
{
    struct pim_product product = pim_step_product(emitter, products.step, block, products.index);
    const struct pim_matrix_estimate estimate = pim_product_estimate(emitter, &product);
    uint64_t port = pim_estimate_ring_port(&emitter->plan->hardware, part_of(emitter, next),
                                           emitter->part->ring),
             both = pim_larger(pim_larger(ring_of(emitter, next), estimate.memory + port), estimate.total);
    return both - estimate.total;
}

uint64_t pim_estimate_sharing(struct pim_emitter *emitter, enum pim_step step, uint32_t block)
{
    const struct pim_allspark_partition *part = emitter->part;
    uint32_t pieces = pieces_of(part, step, block, 0);
    uint64_t cycles = 0;
    if (pieces > 0 && !part->prefetch) /* all pieces but the last are as wide as the first */
        return (pieces - 1) * ring_of(emitter, (struct piece){step, 0}) +
               ring_of(emitter, (struct piece){step, pieces - 1});
    for (uint32_t i = 0; i < pieces; i++) {
        const struct piece piece = {step, i};
        struct piece next;
        if (!is_there(part, piece, block, 0))
            cycles += ring_of(emitter, piece);
        if (next_piece(part, piece, block, 0, &next))
            cycles += added(emitter, piece, block, next);
    }
    return cycles;
}

static uint64_t sharing_of_block(struct pim_emitter *emitter, uint32_t block)
{
    uint64_t cycles = 0;
    for (enum pim_step step = STEP_MERGE; step < STEPS; step++) {
        emitter->place = pim_busiest_place(emitter->part, step);
        cycles += pim_estimate_sharing(emitter, step, block);
    }
    return cycles;
}

uint64_t pim_estimate_layer_sharing(struct pim_emitter *emitter)
{
    const uint32_t blocks = emitter->part->blocks;
    uint64_t cycles = sharing_of_block(emitter, 0);
    return blocks > 1 ? cycles + (blocks - 1) * sharing_of_block(emitter, 1) : cycles;
}
