/*
 * Focal: a window attends to its own tokens, to those around it, and to pooled windows.
 *
 *  1. Every branch works query, key and value of its own tokens, pools them to one token, and works key and
 *     value of that: it is one more row of the products on the last row of the sub-array, which has fewest
 *     tokens. They stay, layer by layer, until all layers have them.
 *  2. Then, before the scores of a layer, keys and values go to the nodes of its branches: an exchange as for
 *     shifted windows, but that a token goes to several branches. Row r of the sub-array gets its even share
 *     of the keys of the branch; the rows circulate in `scores` and `context` as in all families.
 *  3. Attention does not depend on the order of keys. The share of a row begins with its own tokens, which
 *     need not go anywhere; the others follow branch by branch, first fine, then coarse, then zeros for the
 *     pooled windows beyond the border.
 */
#include "mappers/allspark/focal.h"
#include "mappers/allspark/circulation.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* --- how much --- */

static uint64_t minimum(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* Integers from 0 to end - 1 whose remainder by `window` is below `bound`. */
static uint64_t below(uint64_t end, uint64_t window, uint64_t bound)
{
    return end / window * bound + minimum(end % window, bound);
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
    uint64_t most = 0, coarse = minimum((uint64_t)focal->side * focal->side, part->branches);
    for (uint32_t row = 0; row < part->u; row++) {
        uint64_t first = pim_share_begin(part->tokens, part->u, row);
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
    return 1 + minimum(before < after ? before : after, windows - 1);
}

uint64_t pim_focal_zeros(const struct pim_allspark_partition *part)
{
    const struct pim_allspark_focal *focal = &part->focal;
    if (!pim_stage_focuses(part))
        return 0;
    uint64_t missing =
        (uint64_t)focal->side * focal->side -
        seen_from_corner(focal->side, focal->rows) * seen_from_corner(focal->side, focal->columns);
    return minimum(missing, pim_stage_keys(part, 0)) * pim_stage_channels(part, 0);
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
                                          pim_share_begin(part->tokens, part->u, row)
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

/* The last row collects and adds. */
static void add_rows(struct pim_emitter *emitter, uint32_t tag)
{
    const struct pim_allspark_partition *part = emitter->part;
    uint32_t row = emitter->place.row, last = part->u - 1, top = emitter->place.ring - row;
    uint64_t q = pim_stage_channels(part, emitter->place.column), parts = emitter->workspace.pool_parts;
    struct pim_instruction message = {.opcode = row == last ? PIM_OP_RECEIVE : PIM_OP_SEND};
    message.u.network.bytes = q;
    pim_emit_join(emitter);
    for (uint32_t other = 0; other < last; other++) {
        if (row != last && row != other)
            continue;
        message.u.network.peer =
            pim_place_unit(emitter, top + (row == last ? other : last), emitter->place.column);
        message.u.network.tag = tag + other;
        message.u.network.address = parts + other * q;
        (void)pim_emit(emitter, message, PIM_NOTHING, PIM_NOTHING, PIM_NOTHING);
    }
    if (row != last)
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
    struct pim_tiling tiling;
    struct pim_matrix_estimate estimate;
    if (emitter->status == PIM_OK)
        emitter->status = pim_product_tiling(emitter, &product, &tiling, &estimate);
    if (emitter->status != PIM_OK)
        return;
    pim_emit_product(emitter, &product, &tiling);
    pim_emit_flush(emitter);
    if (emitter->part->u > 1)
        add_rows(emitter, tag);
}

void pim_estimate_pool(struct pim_emitter *emitter, uint32_t block, struct pim_trace_phase *phase)
{
    const struct pim_allspark_partition *part = emitter->part;
    const struct pim_estimate_hardware *hardware = &emitter->plan->hardware;
    struct pim_product product = pooling(emitter, block);
    struct pim_tiling tiling;
    struct pim_matrix_estimate estimate;
    uint64_t q = pim_stage_channels(part, 0), *parts = phase->estimate_parts;
    if (emitter->status == PIM_OK)
        emitter->status = pim_product_tiling(emitter, &product, &tiling, &estimate);
    if (emitter->status != PIM_OK)
        return;
    parts[PIM_ESTIMATE_COMPUTE] += estimate.compute;
    parts[PIM_ESTIMATE_MEMORY] += estimate.total - estimate.compute;
    if (part->u == 1)
        return;
    /* The last row takes one message after another. */
    parts[PIM_ESTIMATE_TRANSFER] +=
        (part->u - 2) * (q / hardware->flit_bytes + 1) + pim_estimate_ring(hardware, q, 2);
    parts[PIM_ESTIMATE_VECTOR] += pim_estimate_vector(hardware, q, part->u, 1);
    parts[PIM_ESTIMATE_MEMORY] += 2 * pim_estimate_access(hardware) +
                                  pim_estimate_stream(hardware, part->u * q, false) +
                                  pim_estimate_stream(hardware, q, true);
}

/* --- which keys --- */

static const uint32_t zero_key = UINT32_MAX; /* one beyond the border */

/* A node of a branch: where it has keys and values of its own, and where it wants those of its share. */
struct side {
    uint32_t partition, layer; /* of the stage */
    uint64_t own[2];
    uint64_t wanted[2];
    uint64_t arrived, zeros;
    uint64_t image_stride; /* of what is wanted, from an image to the next */
    uint32_t first_key, keys;
};

/* What the exchanges of a stage have in common. */
struct region {
    struct pim_emitter *emitter;
    const struct pim_allspark_stage *stage;
    const struct pim_allspark_partition *shape;
    uint32_t columns; /* most of any partition */
    uint32_t *first_seat;
    struct side *side; /* of each seat */
    uint32_t *keys, *others;
};

static uint32_t wrapped(int64_t index, uint32_t extent)
{
    int64_t rest = index % (int64_t)extent;
    return (uint32_t)(rest < 0 ? rest + (int64_t)extent : rest);
}

/* Tokens of a branch are numbered branch * (N + 1) + token, the pooled one has token N; branches go on from
   image to image. Lists the keys of branch b that are not its own tokens. */
static void list_others(const struct region *region, uint32_t b)
{
    const struct pim_allspark_focal *f = &region->shape->focal;
    const uint32_t n = region->shape->tokens, all = region->shape->key_tokens - n;
    const uint32_t inside = b % region->shape->branches, image = b - inside;
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
                    region->others[count++] = other * (n + 1) + (uint32_t)(y * w + x);
        }
    for (int64_t y = row - before; y <= row + after; y++)
        for (int64_t x = column - before; x <= column + after; x++)
            if (y >= 0 && y < f->rows && x >= 0 && x < f->columns)
                region->others[count++] = (image + (uint32_t)y * f->columns + (uint32_t)x) * (n + 1) + n;
    while (count < all)
        region->others[count++] = zero_key;
}

/* The keys of branch b in the order of a partition. */
static void list_keys(const struct region *region, uint32_t b, const struct pim_allspark_partition *part)
{
    uint32_t key = 0, token = 0;
    const uint32_t *other = region->others;
    list_others(region, b);
    for (uint32_t row = 0; row < part->u; row++) {
        uint32_t tokens = pim_stage_tokens(part, row), keys = pim_stage_keys(part, row);
        for (uint32_t i = 0; i < keys; i++)
            region->keys[key++] = i < tokens ? b * (part->tokens + 1) + token++ : *other++;
    }
}

/* --- from node to node --- */

/* Row of a sub-array that has a token. */
static uint32_t row_of(const struct pim_allspark_partition *part, uint32_t token)
{
    uint32_t least = part->tokens / part->u, larger = part->tokens % part->u;
    if (token == part->tokens)
        return part->u - 1; /* the pooled one */
    return token < larger * (least + 1) ? token / (least + 1)
                                        : larger + (token - larger * (least + 1)) / least;
}

/* Key `key` of seat `to`, the part that column `column` of the source has. `which`: keys or values. */
static bool add_key(const struct region *region, struct pim_exchange *exchange, uint32_t to, uint32_t key,
                    uint32_t column, unsigned which)
{
    uint32_t source = region->keys[key], n = region->shape->tokens;
    if (source == zero_key)
        return true;
    uint32_t first = region->first_seat[source / (n + 1)], token = source % (n + 1);
    const struct pim_allspark_partition *part = &region->stage->partition[region->side[first].partition];
    if (column >= part->v)
        return true;
    uint32_t from = first + row_of(part, token) * part->v + column;
    const struct pim_seat *seat = &exchange->seat[from], *target = &exchange->seat[to];
    uint32_t end = seat->first_channel + seat->channels,
             target_end = target->first_channel + target->channels;
    uint32_t low = seat->first_channel > target->first_channel ? seat->first_channel : target->first_channel;
    uint32_t high = end < target_end ? end : target_end;
    if (low >= high)
        return true;
    const struct side *here = &region->side[from], *there = &region->side[to];
    const struct pim_exchange_move move = {
        .from_seat = from,
        .to_seat = to,
        .from = here->own[which] + (uint64_t)(token - seat->first_token) * seat->channels + low -
                seat->first_channel,
        .to = there->wanted[which] + (uint64_t)(key - there->first_key) * target->channels + low -
              target->first_channel,
        .bytes = high - low};
    return pim_exchange_add_move(exchange, &move);
}

/* All that a seat gets, and its zeros. */
static bool add_seat(const struct region *region, struct pim_neighbour_layer *layer, uint32_t index)
{
    const struct side *side = &region->side[index];
    struct pim_seat *seat = &layer->exchange.seat[index];
    uint32_t end = side->first_key + side->keys, zeros = 0;
    seat->arriving = side->arrived;
    for (unsigned which = 0; which < 2; which++)
        for (uint32_t column = 0; column < region->columns; column++)
            for (uint32_t key = side->first_key; key < end; key++)
                if (!add_key(region, &layer->exchange, index, key, column, which))
                    return false;
    if (index >= region->first_seat[region->shape->branches])
        return true; /* as in the first image */
    while (zeros < side->keys && region->keys[end - 1 - zeros] == zero_key)
        zeros++;
    uint64_t past = (uint64_t)(side->keys - zeros) * seat->channels;
    layer->fills[seat->unit] = (struct pim_focal_fill){.from = side->zeros,
                                                       .keys = side->wanted[0] + past,
                                                       .values = side->wanted[1] + past,
                                                       .bytes = (uint64_t)zeros * seat->channels,
                                                       .image_stride = side->image_stride};
    return true;
}

static void estimate_layer(const struct pim_emitter *emitter, struct pim_neighbour_layer *layer)
{
    const struct pim_estimate_hardware *hardware = &emitter->plan->hardware;
    uint64_t most = 0;
    pim_exchange_estimate(hardware, &layer->exchange, &layer->estimate[PIM_ESTIMATE_MEMORY],
                          &layer->estimate[PIM_ESTIMATE_TRANSFER]);
    for (uint32_t unit = 0; unit < layer->exchange.units; unit++)
        most = layer->fills[unit].bytes > most ? layer->fills[unit].bytes : most;
    if (most > 0)
        layer->estimate[PIM_ESTIMATE_MEMORY] +=
            2 * (uint64_t)emitter->plan->batch *
            (pim_estimate_stream(hardware, most, false) + pim_estimate_stream(hardware, most, true));
}

static bool make_layer(const struct region *region, struct pim_neighbour_layer *layer, uint32_t index)
{
    const struct pim_allspark_plan *plan = region->emitter->plan;
    struct pim_exchange *exchange = &layer->exchange;
    *exchange = (struct pim_exchange){.units = plan->hardware.width * plan->hardware.height, .apart = true};
    layer->fills = calloc((size_t)exchange->units + 1, sizeof *layer->fills);
    if (!layer->fills || !pim_exchange_seats(plan, region->stage, exchange, region->first_seat))
        return false;
    exchange->senders = exchange->seats;
    for (uint32_t b = 0; b < plan->batch * region->shape->branches; b++) {
        uint32_t first = region->first_seat[b];
        if (region->side[first].layer != index)
            continue;
        list_keys(region, b, &region->stage->partition[region->side[first].partition]);
        for (uint32_t i = first; i < region->first_seat[b + 1]; i++)
            if (!add_seat(region, layer, i))
                return false;
    }
    if (!pim_exchange_end(exchange))
        return false;
    estimate_layer(region->emitter, layer);
    return true;
}

/* The partition of a branch, and its layer counted from the partition's first. */
static uint32_t partition_of(const struct pim_allspark_stage *stage, uint32_t branch, uint32_t *layer)
{
    uint32_t index = 0, slot = stage->slot_of[branch];
    while (slot >= stage->partition[index].first_branch + stage->partition[index].layer_branches)
        index++;
    const struct pim_allspark_partition *part = &stage->partition[index];
    *layer = (slot - part->first_branch) / (part->layout.count * part->slots);
    return index;
}

static void fill_side(const struct region *region, uint32_t branch)
{
    const struct pim_allspark_stage *stage = region->stage;
    struct pim_workspace space;
    uint32_t layer, index = partition_of(stage, branch % region->shape->branches, &layer);
    const struct pim_allspark_partition *part = &stage->partition[index], *owner = part;
    for (uint32_t i = 0; i < stage->partitions && part->reuses; i++)
        if (stage->partition[i].reused)
            owner = &stage->partition[i];
    pim_workspace_layout(stage, index, branch / region->shape->branches,
                         region->emitter->plan->workspace_base, &space);
    uint64_t own = space.own + layer * space.own_stride;
    for (uint32_t i = 0; i < part->u * part->v; i++) {
        uint64_t q = pim_stage_channels(part, i % part->v);
        uint32_t first = (uint32_t)pim_share_begin(part->key_tokens, part->u, i / part->v);
        region->side[region->first_seat[branch] + i] =
            (struct side){.partition = index,
                          .layer = part->first_layer + layer,
                          .own = {own + space.own_keys, own + space.own_values},
                          .wanted = {space.keys + first * q, space.values + first * q},
                          .arrived = space.arrived,
                          .image_stride = part->activity_bytes,
                          .zeros = pim_zero_address(owner),
                          .first_key = first,
                          .keys = pim_stage_keys(part, i / part->v)};
    }
}

/* --- all layers --- */

static bool make_region(struct region *region)
{
    const struct pim_allspark_stage *stage = region->stage;
    const struct pim_allspark_plan *plan = region->emitter->plan;
    uint32_t branches = region->shape->branches, nodes = 1, layer;
    for (uint32_t i = 0; i < stage->partitions; i++) {
        const struct pim_allspark_partition *part = &stage->partition[i];
        region->columns = part->v > region->columns ? part->v : region->columns;
        nodes = part->u * part->v > nodes ? part->u * part->v : nodes;
    }
    region->first_seat = pim_exchange_first_seats(plan, stage);
    region->side = calloc((size_t)plan->batch * branches * nodes + 1, sizeof *region->side);
    region->keys = calloc((size_t)region->shape->key_tokens + 1, sizeof *region->keys);
    region->others = calloc((size_t)region->shape->key_tokens + 1, sizeof *region->others);
    if (!region->first_seat || !region->side || !region->keys || !region->others)
        return false;
    for (uint32_t b = 0; b < plan->batch * branches; b++) {
        const struct pim_allspark_partition *part =
            &stage->partition[partition_of(stage, b % branches, &layer)];
        region->first_seat[b + 1] = region->first_seat[b] + part->u * part->v;
        fill_side(region, b);
    }
    return true;
}

void pim_neighbours_make(struct pim_emitter *emitter, struct pim_neighbours *neighbours)
{
    const struct pim_allspark_stage *stage = emitter->stage;
    struct region region = {.emitter = emitter, .stage = stage, .shape = &stage->partition[0]};
    *neighbours = (struct pim_neighbours){0};
    /* While partitions are searched for, nothing is laid out yet. */
    if (!pim_stage_focuses(region.shape) || !stage->slot_of || emitter->status != PIM_OK)
        return;
    neighbours->layer = calloc((size_t)stage->layers + 1, sizeof *neighbours->layer);
    neighbours->layers = neighbours->layer ? stage->layers : 0;
    bool made = neighbours->layer && make_region(&region);
    for (uint32_t i = 0; made && i < stage->layers; i++)
        made = make_layer(&region, &neighbours->layer[i], i);
    if (!made)
        emitter->status =
            pim_fail(emitter->error, PIM_NO_MEMORY, "out of memory for the exchange between branches");
    free(region.first_seat);
    free(region.side);
    free(region.keys);
    free(region.others);
}

void pim_neighbours_terminate(struct pim_neighbours *neighbours)
{
    for (uint32_t i = 0; i < neighbours->layers; i++) {
        pim_exchange_terminate(&neighbours->layer[i].exchange);
        free(neighbours->layer[i].fills);
    }
    free(neighbours->layer);
    *neighbours = (struct pim_neighbours){0};
}

/* --- phases --- */

static void copy_zeros(struct pim_emitter *emitter, uint64_t from, uint64_t to, uint64_t bytes)
{
    uint64_t loaded = pim_emit_memory(emitter, PIM_OP_LOAD, PIM_BUFFER_NONE, from, bytes, 0, 1, PIM_NOTHING);
    (void)pim_emit_memory(emitter, PIM_OP_STORE, PIM_BUFFER_NONE, to, bytes, 0, 1, loaded);
}

static void neighbours_body(struct pim_emitter *emitter, unsigned step, uint32_t block, uint32_t tag)
{
    const struct pim_focal_fill *fill = &emitter->fills[emitter->place.unit];
    (void)step;
    (void)block;
    pim_exchange_emit(emitter, emitter->exchange, tag);
    if (fill->bytes == 0)
        return;
    for (uint32_t image = 0; image < emitter->plan->batch; image++) {
        copy_zeros(emitter, fill->from, fill->keys + image * fill->image_stride, fill->bytes);
        copy_zeros(emitter, fill->from, fill->values + image * fill->image_stride, fill->bytes);
    }
}

void pim_emit_neighbours(struct pim_emitter *emitter, const struct pim_neighbours *neighbours, uint32_t block)
{
    uint32_t index = emitter->part->first_layer + emitter->layer;
    if (index >= neighbours->layers || emitter->status != PIM_OK)
        return;
    const struct pim_neighbour_layer *layer = &neighbours->layer[index];
    const struct pim_exchange *exchange = &layer->exchange;
    char name[96];
    (void)snprintf(name, sizeof name, "stage%" PRIu32 "/block%" PRIu32 "/layer%" PRIu32 "/neighbours",
                   emitter->stage->of + 1, block, index);
    struct pim_trace_phase phase = {.name = name};
    for (unsigned part = 0; part < PIM_ESTIMATE_PARTS; part++)
        phase.estimate_parts[part] = layer->estimate[part];
    pim_add_up(emitter, &phase);
    if (!emitter->writer)
        return;
    uint32_t id = pim_trace_writer_phase(emitter->writer, &phase), tag = emitter->tag;
    emitter->tag += exchange->message_count;
    emitter->exchange = exchange;
    emitter->fills = layer->fills;
    for (uint32_t unit = 0; unit < exchange->units && emitter->status == PIM_OK; unit++)
        if (exchange->first_of_unit[unit] < exchange->first_of_unit[unit + 1])
            pim_emit_node(emitter, (struct pim_place){.unit = unit}, id, neighbours_body, 0, block, tag);
}

void pim_estimate_neighbours(struct pim_emitter *emitter, const struct pim_neighbours *neighbours)
{
    uint64_t blocks = emitter->stage->partition[0].blocks;
    for (uint32_t i = 0; i < neighbours->layers; i++)
        for (unsigned part = 0; part < PIM_ESTIMATE_PARTS; part++) {
            emitter->estimate_parts[part] += blocks * neighbours->layer[i].estimate[part];
            emitter->estimate_cycles += blocks * neighbours->layer[i].estimate[part];
        }
}
