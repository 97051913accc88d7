/*
 * Focal: a window attends to its own tokens, to those around it, and to pooled windows.
 *
 * Every branch works query, key and value of its own tokens, pools them to one token, and works key and value
 * of that: it is one more row of the products on the last row of the sub-array, which has fewest tokens. What
 * others need of them goes to them before the scores (neighbours.c): first fine, then coarse keys, then zeros
 * for the pooled windows beyond the border.
 */
#include "mappers/allspark/layers/layers.h"
#include "mappers/allspark/memory.h"
#include "mappers/allspark/redistribution/circulation.h"
#include "mappers/allspark/redistribution/transport.h"
#include "mappers/allspark/shapes.h"
#include "sim/integer.h"

/* --- how much --- */

/* Integers from 0 to end - 1 whose remainder by `window` is below `bound`. */
static uint64_t below(uint64_t end, uint64_t window, uint64_t bound)
{
    return end / window * bound + pim_smaller(end % window, bound);
}

/* Positions of a region along one axis that are one of the first `bound` of some window. */
static uint64_t positions(const struct pim_allspark_focal *focal, uint64_t bound)
{
    uint64_t w = focal->window, e = focal->expand, from = (w - e % w) % w; /* where the region begins */
    return below(from + w + 2 * e, w, bound) - below(from, w, bound);
}

/* The same for tokens on the map: how often the first `tokens` of a window are in a region of any window. */
static uint64_t uses_before(const struct pim_allspark_focal *focal, uint64_t tokens)
{
    uint64_t w = focal->window, line = tokens / w;
    uint64_t on_line = positions(focal, line + 1) - positions(focal, line);
    return positions(focal, line) * (w + 2 * (uint64_t)focal->expand) +
           (tokens % w == 0 ? 0 : on_line * positions(focal, tokens % w));
}

uint64_t pim_focal_leaving(const struct pim_allspark_partition *part)
{
    const struct pim_allspark_focal *focal = &part->focal;
    uint64_t most = 0, coarse = pim_smaller((uint64_t)focal->side * focal->side, part->branches);
    for (uint32_t row = 0; row < part->u; row++) {
        uint64_t first = pim_even_begin(part->tokens, part->u, row);
        uint64_t uses = uses_before(focal, first + pim_stage_tokens(part, row)) - uses_before(focal, first);
        uses += row + 1 == part->u ? coarse : 0;
        most = uses > most ? uses : most;
    }
    return 2 * most * pim_stage_channels(part, 0);
}

/* Pooled windows along one axis that the window in a corner sees, which has fewest. */
static uint64_t seen_from_corner(uint32_t side, uint32_t windows)
{
    uint32_t before = side / 2, after = side - 1 - before;
    return 1 + pim_smaller(before < after ? before : after, windows - 1);
}

uint64_t pim_focal_zeros(const struct pim_allspark_partition *part)
{
    const struct pim_allspark_focal *focal = &part->focal;
    if (!pim_stage_focuses(part))
        return 0;
    uint64_t missing =
        (uint64_t)focal->side * focal->side -
        seen_from_corner(focal->side, focal->rows) * seen_from_corner(focal->side, focal->columns);
    return pim_smaller(missing, pim_stage_keys(part, 0)) * pim_stage_channels(part, 0);
}

/* --- pooling --- */

/* This node's piece of the normalised tokens, its own piece of what is gathered. */
static uint64_t own_piece(const struct pim_emitter *emitter)
{
    return pim_own_piece(emitter, emitter->workspace.gathered,
                         pim_stage_rows(emitter->part, emitter->place.row), emitter->part->channels);
}

static struct pim_product pooling(const struct pim_emitter *emitter, uint32_t block)
{
    const struct pim_allspark_partition *part = emitter->part;
    uint32_t row = emitter->place.row, p = pim_stage_tokens(part, row),
             q = pim_stage_channels(part, emitter->place.column);
    /* The whole copy has the weights of all rows. */
    uint64_t weights = part->reuses ? pim_weight_address(emitter->whole, block, PIM_ALLSPARK_POOL) +
                                          pim_even_begin(part->tokens, part->u, row)
                                    : pim_weight_address(part, block, PIM_ALLSPARK_POOL);
    return (struct pim_product){.m = 1,
                                .count = 1,
                                .n = q,
                                .k = p,
                                .input = weights,
                                .segments = 1,
                                .own_segment = 1,
                                .input_stride = p,
                                .operand = PIM_OPERAND_ROWS,
                                .right = own_piece(emitter),
                                .right_stride = q,
                                .output = part->u == 1 ? own_piece(emitter) + (uint64_t)p * q
                                                       : emitter->workspace.pool_parts + (uint64_t)row * q,
                                .output_stride = q,
                                .operation = PIM_VECTOR_COPY};
}

/* What row `row` gives to the last row. */
static struct pim_transport_message sums_of(const struct pim_emitter *emitter, uint32_t row)
{
    uint32_t column = emitter->place.column, top = emitter->place.ring - emitter->place.row;
    uint64_t q = pim_stage_channels(emitter->part, column), at = emitter->workspace.pool_parts + row * q;
    return (struct pim_transport_message){.from_unit = pim_place_unit(emitter, top + row, column),
                                          .to_unit =
                                              pim_place_unit(emitter, top + emitter->part->u - 1, column),
                                          .tag = row,
                                          .from = at,
                                          .to = at,
                                          .bytes = q};
}

/* The last row collects and adds. */
static void add_rows(struct pim_emitter *emitter, uint32_t tag)
{
    const struct pim_allspark_partition *part = emitter->part;
    const uint32_t row = emitter->place.row;
    uint64_t q = pim_stage_channels(part, emitter->place.column), parts = emitter->workspace.pool_parts;
    pim_emit_join(emitter);
    pim_transport_emit_plain(emitter, part->u - 1, sums_of, tag);
    if (row + 1 != part->u)
        return;
    pim_emit_join(emitter);
    uint64_t loaded =
        pim_emit_memory(emitter, PIM_OP_LOAD, PIM_BUFFER_NONE, parts, part->u * q, 0, 1, PIM_NOTHING);
    uint64_t added = pim_emit_vector(emitter, PIM_VECTOR_AVERAGE, q, part->u, 0, loaded, PIM_NOTHING);
    (void)pim_emit_memory(emitter, PIM_OP_STORE, PIM_BUFFER_NONE,
                          own_piece(emitter) + q * pim_stage_tokens(part, row), q, 0, 1, added);
}

void pim_emit_pool(struct pim_emitter *emitter, uint32_t block, uint32_t tag)
{
    struct pim_product product = pooling(emitter, block);
    pim_emit_tiled(emitter, &product);
    pim_emit_flush(emitter);
    if (emitter->part->u > 1 && emitter->status == PIM_OK)
        add_rows(emitter, tag);
}

void pim_estimate_pool(struct pim_emitter *emitter, uint32_t block, struct pim_trace_phase *phase)
{
    const struct pim_allspark_partition *part = emitter->part;
    const struct pim_estimate_hardware *hardware = &emitter->plan->hardware;
    struct pim_product product = pooling(emitter, block);
    const struct pim_matrix_estimate estimate = pim_product_estimate(emitter, &product);
    uint64_t q = pim_stage_channels(part, 0), *parts = phase->estimate_parts;
    if (emitter->status != PIM_OK)
        return;
    parts[PIM_ESTIMATE_COMPUTE] += estimate.compute;
    parts[PIM_ESTIMATE_MEMORY] += estimate.total - estimate.compute;
    if (part->u == 1)
        return;
    parts[PIM_ESTIMATE_TRANSFER] += pim_transport_collect(hardware, q, part->u - 1);
    parts[PIM_ESTIMATE_VECTOR] += pim_estimate_vector(hardware, q, part->u, 1);
    parts[PIM_ESTIMATE_MEMORY] += 2 * pim_estimate_latency(hardware) +
                                  pim_estimate_stream(hardware, part->u * q, false) +
                                  pim_estimate_stream(hardware, q, true);
}

/* --- which keys --- */

static uint32_t wrapped(int64_t index, uint32_t extent)
{
    int64_t rest = index % (int64_t)extent;
    return (uint32_t)(rest < 0 ? rest + (int64_t)extent : rest);
}

void pim_focal_others(const struct pim_allspark_partition *part, uint32_t b, uint32_t *others)
{
    const struct pim_allspark_focal *f = &part->focal;
    const uint32_t n = part->tokens, all = part->key_tokens - n;
    const uint32_t inside = b % part->branches, image = b - inside;
    const int64_t row = inside / f->columns, column = inside % f->columns, w = f->window, e = f->expand;
    const int64_t reach = (e + w - 1) / w, before = f->side / 2, after = f->side - 1 - before;
    uint32_t count = 0;
    for (int64_t i = -reach; i <= reach; i++)
        for (int64_t j = -reach; j <= reach; j++) {
            uint32_t other = image + wrapped(row + i, f->rows) * f->columns + wrapped(column + j, f->columns);
            int64_t top = i * w < -e ? -e - i * w : 0, bottom = i * w + w > w + e ? w + e - i * w : w;
            int64_t left = j * w < -e ? -e - j * w : 0, right = j * w + w > w + e ? w + e - j * w : w;
            for (int64_t y = top; y < bottom && (i != 0 || j != 0); y++)
                for (int64_t x = left; x < right; x++)
                    others[count++] = other * (n + 1) + (uint32_t)(y * w + x);
        }
    for (int64_t y = row - before; y <= row + after; y++)
        for (int64_t x = column - before; x <= column + after; x++)
            if (y >= 0 && y < f->rows && x >= 0 && x < f->columns)
                others[count++] = (image + (uint32_t)y * f->columns + (uint32_t)x) * (n + 1) + n;
    while (count < all)
        others[count++] = PIM_ZERO_KEY;
}
