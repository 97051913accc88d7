/* Which bytes go from which region to which. */
#include "mappers/allspark/redistribution/exchange.h"
#include "mappers/allspark/memory.h"
#include "mappers/allspark/planning.h"
#include "mappers/allspark/shapes.h"
#include "sim/arena.h"
#include "sim/integer.h"
#include "sim/try.h"

#include <stdlib.h>

enum pim_status pim_exchange_no_memory(struct pim_error *error)
{
    return pim_fail(error, PIM_NO_MEMORY, "out of memory for the exchange between branches");
}

/* --- regions --- */

/* `offset`: of the first layer of the partition. */
static struct pim_region region_of(const struct pim_allspark_plan *plan,
                                   const struct pim_allspark_partition *part,
                                   const struct pim_workspace *space, uint32_t slot, uint32_t row,
                                   uint32_t column, uint64_t offset)
{
    uint32_t capacity = pim_layer_capacity(part), layer = slot / capacity, place = slot % capacity;
    uint64_t staging = space->inputs + layer * space->inputs_stride;
    return (struct pim_region){.unit = pim_tile_unit(plan, &part->layout.tiles[place / part->slots],
                                                     place % part->slots * part->u + row, column),
                               .first_token = (uint32_t)pim_even_begin(part->tokens, part->u, row),
                               .tokens = pim_stage_tokens(part, row),
                               .first_channel = pim_stage_channels_before(part, column),
                               .channels = pim_stage_channels(part, column),
                               .address = space->features + layer * space->features_stride,
                               .offset = offset + layer * space->features_stride,
                               .resident =
                                   space->resident + layer * PIM_RESIDENT_MATRICES * space->resident_bytes,
                               .resident_bytes = space->resident_bytes,
                               .leaving = staging,
                               .arriving = staging + space->features_stride};
}

uint32_t *pim_exchange_first_regions(const struct pim_allspark_plan *plan,
                                     const struct pim_allspark_stage *stage, uint32_t first)
{
    uint32_t branches = stage->partition[0].branches, all = plan->batch * branches, layer;
    uint32_t *list = calloc((size_t)all + 1, sizeof *list);
    for (uint32_t b = 0; list && b <= all; b++) {
        list[b] = first;
        const struct pim_allspark_partition *part =
            &stage->partition[pim_stage_partition_of(stage, b % branches, &layer)];
        first += part->u * part->v;
    }
    return list;
}

/* The regions of one branch in the workspaces of an image. */
static void fill_regions(const struct pim_allspark_plan *plan, const struct pim_allspark_stage *stage,
                         const struct pim_workspace *space, uint32_t slot, uint32_t image, uint32_t root,
                         struct pim_region *region)
{
    uint32_t index = pim_stage_partition_of_slot(stage, slot);
    const struct pim_allspark_partition *part = &stage->partition[index];
    uint64_t offset = image * pim_stage_features(stage) + pim_stage_features_before(stage, index);
    for (uint32_t i = 0; i < part->u * part->v; i++) {
        region[i] =
            region_of(plan, part, &space[index], slot - part->first_branch, i / part->v, i % part->v, offset);
        region[i].root = root;
    }
}

/* Appends the regions of all branches in their order, image by image; *first: of each branch. */
static bool add_regions(const struct pim_allspark_plan *plan, const struct pim_allspark_stage *stage,
                        struct pim_exchange *exchange, uint32_t **first)
{
    uint32_t branches = stage->partition[0].branches, all = plan->batch * branches;
    *first = pim_exchange_first_regions(plan, stage, exchange->regions);
    if (!*first)
        return false;
    exchange->regions = (*first)[all];
    struct pim_region *grown = realloc(exchange->region, ((size_t)exchange->regions + 1) * sizeof *grown);
    struct pim_workspace *space = calloc(stage->partitions, sizeof *space);
    exchange->region = grown ? grown : exchange->region;
    for (uint32_t b = 0; grown && space && b < all; b++) {
        for (uint32_t i = 0; b % branches == 0 && i < stage->partitions; i++)
            pim_workspace_layout(stage, i, b / branches, plan->workspace_base, &space[i]);
        fill_regions(plan, stage, space, pim_stage_slot(stage, b % branches), b / branches, (*first)[b],
                     &grown[(*first)[b]]);
    }
    free(space);
    return grown && space;
}

enum pim_status pim_exchange_begin(const struct pim_allspark_plan *plan,
                                   const struct pim_allspark_stage *source,
                                   const struct pim_allspark_stage *to, struct pim_exchange *exchange,
                                   struct pim_error *error)
{
    *exchange = (struct pim_exchange){.units = plan->hardware.width * plan->hardware.height};
    bool made = add_regions(plan, source, exchange, &exchange->first_producer);
    exchange->producers = exchange->regions;
    if (!to)
        exchange->first_consumer = exchange->first_producer;
    else
        made = made && add_regions(plan, to, exchange, &exchange->first_consumer);
    return made ? PIM_OK : pim_exchange_no_memory(error);
}

void pim_exchange_terminate(struct pim_exchange *exchange)
{
    if (exchange->first_consumer != exchange->first_producer)
        free(exchange->first_consumer);
    free(exchange->first_producer);
    free(exchange->region);
    free(exchange->moves);
    pim_transport_terminate(&exchange->transport);
    *exchange = (struct pim_exchange){0};
}

/* --- moves --- */

static bool add_move(struct pim_exchange *exchange, const struct pim_move *move)
{
    if (exchange->move_count > 0) { /* lengthens the last one where it can */
        struct pim_move *last = &exchange->moves[exchange->move_count - 1];
        if (last->from_region == move->from_region && last->to_region == move->to_region &&
            last->from + last->bytes == move->from && last->to + last->bytes == move->to) {
            last->bytes += move->bytes;
            return true;
        }
    }
    struct pim_move *grown = pim_array_grow(exchange->moves, &exchange->move_capacity,
                                            (size_t)exchange->move_count + 1, sizeof *grown);
    if (!grown || exchange->move_count == INT32_MAX)
        return false;
    exchange->moves = grown;
    exchange->moves[exchange->move_count++] = *move;
    return true;
}

bool pim_exchange_add_channels(struct pim_exchange *exchange, uint32_t from, uint32_t to,
                               uint64_t from_address, uint64_t to_address)
{
    const struct pim_region *source = &exchange->region[from], *target = &exchange->region[to];
    const struct pim_range common =
        pim_common_range((struct pim_range){source->first_channel, source->first_channel + source->channels},
                         (struct pim_range){target->first_channel, target->first_channel + target->channels});
    if (common.first == common.end)
        return true;
    const struct pim_move move = {.from_region = from,
                                  .to_region = to,
                                  .from = from_address + common.first - source->first_channel,
                                  .to = to_address + common.first - target->first_channel,
                                  .bytes = (uint32_t)(common.end - common.first)};
    if (source->unit == target->unit && move.from == move.to)
        return true; /* stays where it is */
    return add_move(exchange, &move);
}

bool pim_exchange_add_token(struct pim_exchange *exchange, uint32_t to, uint32_t token, uint32_t branch,
                            uint32_t source)
{
    const struct pim_region *target = &exchange->region[to];
    uint64_t to_address = target->address + (uint64_t)(token - target->first_token) * target->channels;
    for (uint32_t from = exchange->first_producer[branch]; from < exchange->first_producer[branch + 1];
         from++) {
        const struct pim_region *region = &exchange->region[from];
        uint32_t inside = source - region->first_token;
        if (inside < region->tokens &&
            !pim_exchange_add_channels(exchange, from, to,
                                       region->address + (uint64_t)inside * region->channels, to_address))
            return false;
    }
    return true;
}

/* --- features between two groupings into branches --- */

/* Between two kinds of blocks: staging as large as the features of each, behind what both need later. */
static void stage_behind(const struct pim_allspark_plan *plan, const struct pim_allspark_stage *source,
                         const struct pim_allspark_stage *to, struct pim_exchange *exchange)
{
    uint64_t both = pim_stage_lasting_of_both(plan, source);
    uint64_t copies = pim_stage_padded(plan, to->partner) ? PIM_PADDED_COPIES : 1;
    for (uint32_t i = 0; i < exchange->regions; i++) {
        struct pim_region *region = &exchange->region[i];
        region->leaving = plan->workspace_base + both + copies * region->offset;
        region->arriving = region->leaving + copies * plan->batch * pim_stage_features(source);
    }
}

static bool list_moves(const struct pim_allspark_stage *source, const struct pim_allspark_stage *to,
                       uint32_t images, const uint32_t *from, struct pim_exchange *exchange)
{
    uint32_t theirs = source->partition[0].tokens, tokens = to->partition[0].tokens,
             branches = to->partition[0].branches;
    for (uint32_t b = 0; b < images * branches; b++)
        for (uint32_t i = exchange->first_consumer[b]; i < exchange->first_consumer[b + 1]; i++) {
            const struct pim_region *region = &exchange->region[i];
            for (uint32_t t = region->first_token; t < region->first_token + region->tokens; t++) {
                uint32_t token = from[b % branches * tokens + t];
                uint32_t other = b / branches * source->partition[0].branches + token / theirs;
                if (!pim_exchange_add_token(exchange, i, t, other, token % theirs))
                    return false;
            }
        }
    return true;
}

enum pim_status pim_exchange_make(const struct pim_allspark_plan *plan,
                                  const struct pim_allspark_stage *source,
                                  const struct pim_allspark_stage *to, const uint32_t *from,
                                  struct pim_exchange *exchange, struct pim_error *error)
{
    PIM_TRY(pim_exchange_begin(plan, source, source == to ? NULL : to, exchange, error));
    if (source != to)
        stage_behind(plan, source, to, exchange);
    return list_moves(source, to, plan->batch, from, exchange) ? PIM_OK : pim_exchange_no_memory(error);
}
