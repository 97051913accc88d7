/*
 * Keys and values that branches need of one another: Focal, and the global attention of Twins in branches.
 *
 *  1. Every branch works query, key and value of its own tokens. They stay, layer by layer, until all layers
 *     have them.
 *  2. Then, before the scores of a layer, keys and values go to the nodes of its branches: an exchange as for
 *     shifted windows, but that a token goes to several branches. Row r of the sub-array gets its even part
 *     of the keys of the branch; the rows circulate in `scores` and `context` as in all families.
 *  3. Attention does not depend on the order of keys. The part of a row begins with those that it makes,
 *     which need not go anywhere; the others follow branch by branch.
 */
#include "mappers/allspark/interaction/interaction.h"
#include "mappers/allspark/layers/layers.h"
#include "mappers/allspark/memory.h"
#include "mappers/allspark/planning.h"
#include "mappers/allspark/redistribution/redistribute.h"
#include "mappers/allspark/shapes.h"
#include "sim/integer.h"
#include "sim/try.h"

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

/* A node of a branch: where it has keys and values of its own, and where it wants those of its part. */
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
struct gathering {
    struct pim_emitter *emitter;
    const struct pim_allspark_stage *stage;
    const struct pim_allspark_partition *shape;
    uint32_t columns;  /* most of any partition */
    uint32_t *first;   /* region of each branch */
    struct side *side; /* of each region */
    uint32_t *keys, *others;
};

/* Key k that branch b makes has the number b * made_keys + k; branches go on from image to image. Lists the
   keys that branch b needs and does not have: in Twins all others, beginning behind it. */
static void list_others(const struct gathering *all, uint32_t b)
{
    const struct pim_allspark_partition *part = all->shape;
    uint32_t inside = b % part->branches, image = b - inside, made = part->made_keys, count = 0;
    if (pim_stage_focuses(part)) {
        pim_focal_others(part, b, all->others);
        return;
    }
    for (uint32_t i = 1; i < part->branches; i++)
        for (uint32_t key = 0; key < made; key++)
            all->others[count++] = (image + (inside + i) % part->branches) * made + key;
}

/* The keys of branch b in the order of a partition. */
static void list_keys(const struct gathering *all, uint32_t b, const struct pim_allspark_partition *part)
{
    uint32_t key = 0, own = 0;
    const uint32_t *other = all->others;
    list_others(all, b);
    for (uint32_t row = 0; row < part->u; row++) {
        uint32_t keys = pim_stage_keys(part, row),
                 made = pim_stage_focuses(part) ? pim_stage_tokens(part, row) : pim_stage_made(part, row);
        for (uint32_t i = 0; i < keys; i++)
            all->keys[key++] = i < made ? b * made_keys(part) + own++ : *other++;
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

/* Key `key` of region `to`, the part that column `column` of the source has. `which`: keys or values. */
static bool add_key(const struct gathering *all, struct pim_exchange *exchange, uint32_t to, uint32_t key,
                    uint32_t column, unsigned which)
{
    uint32_t source = all->keys[key], made = made_keys(all->shape);
    if (source == PIM_ZERO_KEY)
        return true;
    uint32_t first = all->first[source / made], token = source % made;
    const struct pim_allspark_partition *part = &all->stage->partition[all->side[first].partition];
    if (column >= part->v)
        return true;
    uint32_t from = first + row_of(part, token) * part->v + column;
    const struct side *here = &all->side[from], *there = &all->side[to];
    return pim_exchange_add_channels(
        exchange, from, to,
        here->own[which] + (uint64_t)(token - here->first_made) * exchange->region[from].channels,
        there->wanted[which] + (uint64_t)(key - there->first_key) * exchange->region[to].channels);
}

/* All that a region gets, and its zeros. */
static bool add_region(const struct gathering *all, struct pim_neighbour_layer *layer, uint32_t index)
{
    const struct side *side = &all->side[index];
    struct pim_region *region = &layer->exchange.region[index];
    uint32_t end = side->first_key + side->keys, zeros = 0;
    region->arriving = side->arrived;
    for (unsigned which = 0; which < 2; which++)
        for (uint32_t column = 0; column < all->columns; column++)
            for (uint32_t key = side->first_key; key < end; key++)
                if (!add_key(all, &layer->exchange, index, key, column, which))
                    return false;
    if (index >= all->first[all->shape->branches])
        return true; /* as in the first image */
    while (zeros < side->keys && all->keys[end - 1 - zeros] == PIM_ZERO_KEY)
        zeros++;
    uint64_t past = (uint64_t)(side->keys - zeros) * region->channels;
    layer->fills[region->unit] = (struct pim_focal_fill){.from = side->zeros,
                                                         .keys = side->wanted[0] + past,
                                                         .values = side->wanted[1] + past,
                                                         .bytes = (uint64_t)zeros * region->channels,
                                                         .image_stride = side->image_stride};
    return true;
}

/* Zeros that the busiest unit copies come to the estimate of the exchange. */
static void add_zeros(const struct pim_allspark_plan *plan, struct pim_neighbour_layer *layer)
{
    uint64_t most = 0;
    for (uint32_t unit = 0; unit < layer->exchange.units; unit++)
        most = pim_larger(most, layer->fills[unit].bytes);
    if (most > 0)
        layer->exchange.estimate[PIM_ESTIMATE_MEMORY] += 2 * (uint64_t)plan->batch *
                                                         (pim_estimate_stream(&plan->hardware, most, false) +
                                                          pim_estimate_stream(&plan->hardware, most, true));
}

/* While keys and values come to a layer, the weights of the ring are dead, and all that lies behind. */
static uint64_t room_of(const struct gathering *all, uint32_t layer)
{
    const struct pim_allspark_stage *stage = all->stage;
    struct pim_workspace space;
    uint32_t index = 0;
    while (layer >= stage->partition[index].first_layer + stage->partition[index].layers)
        index++;
    pim_workspace_layout(stage, index, 0, all->emitter->plan->workspace_base, &space);
    return space.weights[0];
}

static enum pim_status make_layer(const struct gathering *all, struct pim_neighbour_layer *layer,
                                  uint32_t index, struct pim_error *error)
{
    const struct pim_allspark_plan *plan = all->emitter->plan;
    struct pim_exchange *exchange = &layer->exchange;
    PIM_TRY(pim_exchange_begin(plan, all->stage, NULL, exchange, error));
    layer->fills = calloc((size_t)exchange->units + 1, sizeof *layer->fills);
    bool made = layer->fills != NULL;
    exchange->apart = true;
    for (uint32_t b = 0; made && b < plan->batch * all->shape->branches; b++) {
        uint32_t first = all->first[b];
        if (all->side[first].layer != index)
            continue;
        list_keys(all, b, &all->stage->partition[all->side[first].partition]);
        for (uint32_t i = first; made && i < all->first[b + 1]; i++)
            made = add_region(all, layer, i);
    }
    if (!made)
        return pim_exchange_no_memory(error);
    PIM_TRY(pim_exchange_program(plan, exchange, room_of(all, index), error));
    add_zeros(plan, layer);
    return PIM_OK;
}

static void fill_side(const struct gathering *all, uint32_t branch)
{
    const struct pim_allspark_stage *stage = all->stage;
    struct pim_workspace space;
    uint32_t layer, index = pim_stage_partition_of(stage, branch % all->shape->branches, &layer);
    const struct pim_allspark_partition *part = &stage->partition[index], *owner = part;
    for (uint32_t i = 0; i < stage->partitions && part->reuses; i++)
        if (stage->partition[i].reused)
            owner = &stage->partition[i];
    pim_workspace_layout(stage, index, branch / all->shape->branches, all->emitter->plan->workspace_base,
                         &space);
    uint64_t own = space.own + layer * space.own_stride;
    for (uint32_t i = 0; i < part->u * part->v; i++) {
        uint64_t q = pim_stage_channels(part, i % part->v);
        uint32_t first = (uint32_t)pim_even_begin(part->key_tokens, part->u, i / part->v);
        all->side[all->first[branch] + i] =
            (struct side){.partition = index,
                          .layer = part->first_layer + layer,
                          .own = {own + space.own_keys, own + space.own_values},
                          .wanted = {space.keys + first * q, space.values + first * q},
                          .arrived = space.arrived,
                          .image_stride = part->activity_bytes,
                          .zeros = pim_zero_address(owner),
                          .first_made = (uint32_t)pim_even_begin(
                              pim_stage_focuses(part) ? part->tokens : part->made_keys, part->u, i / part->v),
                          .first_key = first,
                          .keys = pim_stage_keys(part, i / part->v)};
    }
}

/* --- all layers --- */

static bool make_gathering(struct gathering *all)
{
    const struct pim_allspark_stage *stage = all->stage;
    const struct pim_allspark_plan *plan = all->emitter->plan;
    uint32_t branches = all->shape->branches, nodes = 1;
    for (uint32_t i = 0; i < stage->partitions; i++) {
        const struct pim_allspark_partition *part = &stage->partition[i];
        all->columns = part->v > all->columns ? part->v : all->columns;
        nodes = part->u * part->v > nodes ? part->u * part->v : nodes;
    }
    all->first = pim_exchange_first_regions(plan, stage, 0);
    all->side = calloc((size_t)plan->batch * branches * nodes + 1, sizeof *all->side);
    all->keys = calloc((size_t)all->shape->key_tokens + 1, sizeof *all->keys);
    all->others = calloc((size_t)all->shape->key_tokens + 1, sizeof *all->others);
    if (!all->first || !all->side || !all->keys || !all->others)
        return false;
    for (uint32_t b = 0; b < plan->batch * branches; b++)
        fill_side(all, b);
    return true;
}

void pim_neighbours_make(struct pim_emitter *emitter, struct pim_neighbours *neighbours)
{
    const struct pim_allspark_stage *stage = emitter->stage;
    struct gathering all = {.emitter = emitter, .stage = stage, .shape = &stage->partition[0]};
    *neighbours = (struct pim_neighbours){0};
    /* While partitions are searched for, nothing is laid out yet. */
    if (!pim_stage_collects(all.shape) || !stage->slot_of || emitter->status != PIM_OK)
        return;
    neighbours->layer = calloc((size_t)stage->layers + 1, sizeof *neighbours->layer);
    neighbours->layers = neighbours->layer ? stage->layers : 0;
    if (!neighbours->layer || !make_gathering(&all))
        emitter->status = pim_exchange_no_memory(emitter->error);
    for (uint32_t i = 0; i < neighbours->layers && emitter->status == PIM_OK; i++)
        emitter->status = make_layer(&all, &neighbours->layer[i], i, emitter->error);
    free(all.first);
    free(all.side);
    free(all.keys);
    free(all.others);
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

static void neighbours_body(struct pim_emitter *emitter, const void *context, uint32_t tag)
{
    const struct pim_neighbour_layer *layer = context;
    const struct pim_focal_fill *fill = &layer->fills[emitter->place.unit];
    pim_transport_emit(emitter, &layer->exchange.transport, tag);
    if (fill->bytes == 0)
        return;
    for (uint32_t image = 0; image < emitter->plan->batch; image++) {
        (void)pim_emit_copy(emitter, fill->from, fill->keys + image * fill->image_stride, fill->bytes);
        (void)pim_emit_copy(emitter, fill->from, fill->values + image * fill->image_stride, fill->bytes);
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
    pim_exchange_phase(emitter, &layer->exchange, name, neighbours_body, layer);
}

void pim_estimate_neighbours(struct pim_emitter *emitter, const struct pim_neighbours *neighbours)
{
    uint64_t blocks = emitter->stage->partition[0].blocks;
    for (uint32_t i = 0; i < neighbours->layers; i++)
        pim_exchange_add_estimate(emitter, &neighbours->layer[i].exchange, blocks);
}
