/*
 * Keys and values that branches need of one another: Focal, and the global attention of Twins in branches.
 *
 *  1. Every branch works query, key and value of its own tokens. They stay, layer by layer, until all layers
 *     have them.
 *  2. Then, before the scores of a layer, keys and values go to the nodes of its branches: an exchange as for
 *     shifted windows, but that a token goes to several branches. Row r of the sub-array gets its even share
 *     of the keys of the branch; the rows circulate in `scores` and `context` as in all families.
 *  3. Attention does not depend on the order of keys. The share of a row begins with those that it makes,
 *     which need not go anywhere; the others follow branch by branch.
 */
#include "mappers/allspark/redistribution/neighbours.h"
#include "mappers/allspark/layers/focal.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

uint64_t pim_neighbours_leaving(const struct pim_allspark_partition *part)
{
    if (pim_stage_focuses(part))
        return pim_focal_leaving(part);
    /* keys and values to all branches; those of its own are not packed, but have their place */
    return 2 * (uint64_t)part->branches * pim_stage_made(part, 0) * pim_stage_channels(part, 0);
}

/* Keys that a branch makes. */
static uint32_t made_keys(const struct pim_allspark_partition *part)
{
    return pim_stage_focuses(part) ? part->tokens + 1 : part->made_keys;
}

/* --- which keys --- */

/* A node of a branch: where it has keys and values of its own, and where it wants those of its share. */
struct side {
    uint32_t partition, layer; /* of the stage */
    uint64_t own[2];
    uint64_t wanted[2];
    uint64_t arrived, zeros;
    uint64_t image_stride; /* of what is wanted, from an image to the next */
    uint32_t first_made;   /* of the keys of the branch, the first that it makes */
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

/* Key k that branch b makes has the number b * made_keys + k; branches go on from image to image. Lists the
   keys that branch b needs and does not have: in Twins all others, beginning behind it. */
static void list_others(const struct region *region, uint32_t b)
{
    const struct pim_allspark_partition *part = region->shape;
    uint32_t inside = b % part->branches, image = b - inside, made = part->made_keys, count = 0;
    if (pim_stage_focuses(part)) {
        pim_focal_others(part, b, region->others);
        return;
    }
    for (uint32_t i = 1; i < part->branches; i++)
        for (uint32_t key = 0; key < made; key++)
            region->others[count++] = (image + (inside + i) % part->branches) * made + key;
}

/* The keys of branch b in the order of a partition. */
static void list_keys(const struct region *region, uint32_t b, const struct pim_allspark_partition *part)
{
    uint32_t key = 0, own = 0;
    const uint32_t *other = region->others;
    list_others(region, b);
    for (uint32_t row = 0; row < part->u; row++) {
        uint32_t keys = pim_stage_keys(part, row),
                 made = pim_stage_focuses(part) ? pim_stage_tokens(part, row) : pim_stage_made(part, row);
        for (uint32_t i = 0; i < keys; i++)
            region->keys[key++] = i < made ? b * made_keys(part) + own++ : *other++;
    }
}

/* --- from node to node --- */

/* Row of a sub-array that makes a key. */
static uint32_t row_of(const struct pim_allspark_partition *part, uint32_t key)
{
    uint32_t all = pim_stage_focuses(part) ? part->tokens : part->made_keys;
    uint32_t least = all / part->u, larger = all % part->u;
    if (key == all)
        return part->u - 1; /* the pooled one */
    return key < larger * (least + 1) ? key / (least + 1) : larger + (key - larger * (least + 1)) / least;
}

/* Key `key` of seat `to`, the part that column `column` of the source has. `which`: keys or values. */
static bool add_key(const struct region *region, struct pim_exchange *exchange, uint32_t to, uint32_t key,
                    uint32_t column, unsigned which)
{
    uint32_t source = region->keys[key], made = made_keys(region->shape);
    if (source == PIM_ZERO_KEY)
        return true;
    uint32_t first = region->first_seat[source / made], token = source % made;
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
        .from = here->own[which] + (uint64_t)(token - here->first_made) * seat->channels + low -
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
    while (zeros < side->keys && region->keys[end - 1 - zeros] == PIM_ZERO_KEY)
        zeros++;
    uint64_t past = (uint64_t)(side->keys - zeros) * seat->channels;
    layer->fills[seat->unit] = (struct pim_focal_fill){.from = side->zeros,
                                                       .keys = side->wanted[0] + past,
                                                       .values = side->wanted[1] + past,
                                                       .bytes = (uint64_t)zeros * seat->channels,
                                                       .image_stride = side->image_stride};
    return true;
}

static bool estimate_layer(const struct pim_emitter *emitter, struct pim_neighbour_layer *layer)
{
    const struct pim_estimate_hardware *hardware = &emitter->plan->hardware;
    uint64_t most = 0;
    if (!pim_exchange_estimate(hardware, &layer->exchange))
        return false;
    for (uint32_t unit = 0; unit < layer->exchange.units; unit++)
        most = layer->fills[unit].bytes > most ? layer->fills[unit].bytes : most;
    if (most > 0)
        layer->exchange.estimate[PIM_ESTIMATE_MEMORY] +=
            2 * (uint64_t)emitter->plan->batch *
            (pim_estimate_stream(hardware, most, false) + pim_estimate_stream(hardware, most, true));
    return true;
}

/* While keys and values come to a layer, the weights of the ring are dead, and all that lies behind. */
static uint64_t room_of(const struct region *region, uint32_t layer)
{
    const struct pim_allspark_stage *stage = region->stage;
    struct pim_workspace space;
    uint32_t index = 0;
    while (layer >= stage->partition[index].first_layer + stage->partition[index].layers)
        index++;
    pim_workspace_layout(stage, index, 0, region->emitter->plan->workspace_base, &space);
    return space.weights[0];
}

/* False when memory is out; another failure is in the status of the emitter. */
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
    region->emitter->status =
        pim_exchange_relay(plan, exchange, room_of(region, index), region->emitter->error);
    return estimate_layer(region->emitter, layer);
}

static void fill_side(const struct region *region, uint32_t branch)
{
    const struct pim_allspark_stage *stage = region->stage;
    struct pim_workspace space;
    uint32_t layer, index = pim_stage_partition_of(stage, branch % region->shape->branches, &layer);
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
                          .first_made = (uint32_t)pim_share_begin(
                              pim_stage_focuses(part) ? part->tokens : part->made_keys, part->u, i / part->v),
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
            &stage->partition[pim_stage_partition_of(stage, b % branches, &layer)];
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
    if (!pim_stage_collects(region.shape) || !stage->slot_of || emitter->status != PIM_OK)
        return;
    neighbours->layer = calloc((size_t)stage->layers + 1, sizeof *neighbours->layer);
    neighbours->layers = neighbours->layer ? stage->layers : 0;
    bool made = neighbours->layer && make_region(&region);
    for (uint32_t i = 0; made && i < stage->layers && emitter->status == PIM_OK; i++)
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
    char name[96];
    (void)snprintf(name, sizeof name, "stage%" PRIu32 "/block%" PRIu32 "/layer%" PRIu32 "/neighbours",
                   emitter->stage->of + 1, emitter->stage->first_block + block * emitter->stage->block_step,
                   index);
    emitter->fills = layer->fills;
    pim_exchange_phase(emitter, &layer->exchange, name, block, neighbours_body);
}

void pim_estimate_neighbours(struct pim_emitter *emitter, const struct pim_neighbours *neighbours)
{
    uint64_t blocks = emitter->stage->partition[0].blocks;
    for (uint32_t i = 0; i < neighbours->layers; i++)
        pim_exchange_add_estimate(emitter, &neighbours->layer[i].exchange, blocks);
}
