/*
 * Features that a convolution over the map needs of other nodes: rows of the same window, and the windows
 * around it. When all temporal layers have worked the first block of a stage, every node gets a field of its
 * own (layers.h): a copy of its features, and the tokens around them. It is an exchange as for shifted
 * windows, but that a token goes to several nodes.
 *
 * Invariants:
 *  1. Fields lie apart from all features, one for each layer and image, so that results may be written to the
 *     features of one layer while others still have their fields to read.
 *  2. Staging and fields lie behind what lasts of the stage. Nothing else is live then.
 *  3. What a node convolves, and all that it needs, is on the map: windows that reach beyond it have tokens
 *     there that stay as they are.
 */
#include "mappers/allspark/interaction/interaction.h"
#include "mappers/allspark/layers/layers.h"
#include "mappers/allspark/memory.h"
#include "mappers/allspark/planning.h"
#include "mappers/allspark/redistribution/redistribute.h"
#include "mappers/allspark/shapes.h"
#include "sim/integer.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { REACH = PIM_POSITION_SIDE / 2 };

/* --- memory --- */

/* Tokens of a row's field, at most. */
static uint64_t field_tokens(const struct pim_allspark_partition *part)
{
    uint64_t most = 0;
    for (uint32_t row = 0; row < part->u; row++) {
        const struct pim_position_field field = pim_position_field(part, row);
        uint64_t tokens = (uint64_t)field.lines * field.columns;
        most = tokens > most ? tokens : most;
    }
    return most;
}

/* How often the tokens of a row go anywhere, at most: to the field of the node itself, and to that of each
   neighbour it does not have. */
static uint64_t leaving_tokens(const struct pim_allspark_partition *part, uint32_t row)
{
    int64_t window = part->position.window, first = (int64_t)pim_even_begin(part->tokens, part->u, row),
            end = first + pim_stage_tokens(part, row);
    uint64_t count = 0;
    for (int64_t token = first; token < end; token++) {
        count++;
        for (int64_t y = token / window - REACH; y <= token / window + REACH; y++)
            for (int64_t x = token % window - REACH; x <= token % window + REACH; x++) {
                int64_t other = y * window + x;
                count += x < 0 || x >= window || other < first || other >= end;
            }
    }
    return count;
}

/* What a layer takes: leaving, arriving, and the field. */
struct room {
    uint64_t leaving, arriving, field;
};

static struct room room_of(const struct pim_allspark_partition *part)
{
    uint64_t q = pim_stage_channels(part, 0), most = 0, field = pim_memory_align(field_tokens(part) * q);
    for (uint32_t row = 0; row < part->u; row++) {
        uint64_t tokens = leaving_tokens(part, row);
        most = tokens > most ? tokens : most;
    }
    return (struct room){.leaving = pim_memory_align(most * q), .arriving = field, .field = field};
}

static uint64_t room_bytes(const struct pim_allspark_partition *part)
{
    const struct room room = room_of(part);
    return room.leaving + room.arriving + room.field;
}

/* Of an image, in the partitions before `partition`. */
static uint64_t rooms_before(const struct pim_allspark_stage *stage, uint32_t partition)
{
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < partition; i++)
        bytes += stage->partition[i].layers * room_bytes(&stage->partition[i]);
    return bytes;
}

static bool has_border(const struct pim_allspark_stage *stage)
{
    return stage->partition[0].position.convolution == PIM_CONVOLUTION_OVER_MAP;
}

uint64_t pim_border_workspace(const struct pim_allspark_plan *plan, uint32_t index)
{
    const struct pim_allspark_stage *stage = &plan->stage[index];
    return has_border(stage)
               ? plan->batch * (pim_stage_lasting(stage) + rooms_before(stage, stage->partitions))
               : 0;
}

/* Address of what a layer, counted from the partition's first, has in an image. */
static uint64_t room_address(const struct pim_allspark_plan *plan, const struct pim_allspark_stage *stage,
                             uint32_t partition, uint32_t layer, uint32_t image)
{
    return plan->workspace_base + plan->batch * pim_stage_lasting(stage) +
           image * rooms_before(stage, stage->partitions) + rooms_before(stage, partition) +
           layer * room_bytes(&stage->partition[partition]);
}

uint64_t pim_border_field(const struct pim_emitter *emitter)
{
    const struct room room = room_of(emitter->part);
    return room_address(emitter->plan, emitter->stage, emitter->partition, emitter->layer, emitter->image) +
           room.leaving + room.arriving;
}

/* --- the exchange --- */

/* Gives the regions of a branch their places: producers have the features, consumers get a field. */
static void place_regions(const struct pim_allspark_plan *plan, const struct pim_allspark_stage *stage,
                          struct pim_exchange *exchange, uint32_t b)
{
    uint32_t branches = stage->partition[0].branches, layer;
    uint32_t index = pim_stage_partition_of(stage, b % branches, &layer);
    const struct room room = room_of(&stage->partition[index]);
    uint64_t address = room_address(plan, stage, index, layer, b / branches);
    for (uint32_t i = exchange->first_producer[b]; i < exchange->first_producer[b + 1]; i++)
        exchange->region[i].leaving = address;
    for (uint32_t i = exchange->first_consumer[b]; i < exchange->first_consumer[b + 1]; i++) {
        struct pim_region *region = &exchange->region[i];
        region->arriving = address + room.leaving;
        region->address = address + room.leaving + room.arriving;
        region->first_token = 0; /* places of the field */
    }
}

/* Token (y, x) of the map, which branch has it in image b / branches, and its number there. */
static uint32_t owner_of(const struct pim_allspark_partition *part, uint32_t y, uint32_t x, uint32_t *token)
{
    uint32_t window = part->position.window, columns = pim_position_windows(part);
    *token = y % window * window + x % window;
    return y / window * columns + x / window;
}

/* The places of the field of a row that are read: its tokens on the map, and those around them. */
static void list_needed(const struct pim_allspark_partition *part, uint32_t branch, uint32_t row,
                        bool *needed)
{
    const struct pim_position_field field = pim_position_field(part, row);
    uint32_t window = part->position.window, first = (uint32_t)pim_even_begin(part->tokens, part->u, row);
    for (uint32_t i = 0; i < field.lines * field.columns; i++)
        needed[i] = false;
    for (uint32_t t = first; t < first + pim_stage_tokens(part, row); t++)
        for (uint32_t tap = 0;
             pim_position_on_map(part, branch, t / window, t % window) && tap < PIM_POSITION_TAPS; tap++)
            needed[(t / window - field.first_line + tap / PIM_POSITION_SIDE) * field.columns + t % window +
                   tap % PIM_POSITION_SIDE] = true;
}

/* All that region `to` of branch b gets, in row `row` of its sub-array. */
static bool fill_field(const struct pim_allspark_partition *part, struct pim_exchange *exchange, uint32_t b,
                       uint32_t to, uint32_t row, bool *needed)
{
    const struct pim_position_field field = pim_position_field(part, row);
    uint32_t inside = b % part->branches, window = part->position.window,
             columns = pim_position_windows(part);
    uint32_t first_y = inside / columns * window, first_x = inside % columns * window;
    list_needed(part, inside, row, needed);
    for (uint32_t i = 0; i < field.lines * field.columns; i++) {
        uint32_t y = first_y + field.first_line + i / field.columns, x = first_x + i % field.columns, token;
        bool there =
            y >= REACH && x >= REACH && y - REACH < part->position.height && x - REACH < part->position.width;
        if (!needed[i] || !there)
            continue;
        uint32_t source = b - inside + owner_of(part, y - REACH, x - REACH, &token);
        if (!pim_exchange_add_token(exchange, to, i, source, token))
            return false;
    }
    return true;
}

static bool list_moves(const struct pim_allspark_plan *plan, const struct pim_allspark_stage *stage,
                       struct pim_exchange *exchange)
{
    uint32_t branches = stage->partition[0].branches, layer;
    uint64_t most = 0;
    for (uint32_t i = 0; i < stage->partitions; i++)
        most = pim_larger(most, field_tokens(&stage->partition[i]));
    bool *needed = calloc(most + 1, sizeof *needed), made = needed != NULL;
    for (uint32_t b = 0; b < plan->batch * branches; b++)
        place_regions(plan, stage, exchange, b);
    for (uint32_t b = 0; b < plan->batch * branches && made; b++) {
        const struct pim_allspark_partition *part =
            &stage->partition[pim_stage_partition_of(stage, b % branches, &layer)];
        uint32_t first = exchange->first_consumer[b];
        for (uint32_t i = 0; i < part->u * part->v && made; i++)
            made = fill_field(part, exchange, b, first + i, i / part->v, needed);
    }
    free(needed);
    return made;
}

void pim_border_make(struct pim_emitter *emitter, struct pim_exchange *exchange)
{
    const struct pim_allspark_stage *stage = emitter->stage;
    *exchange = (struct pim_exchange){0};
    if (!has_border(stage) || !stage->slot_of || emitter->status != PIM_OK)
        return;
    emitter->status = pim_exchange_begin(emitter->plan, stage, stage, exchange, emitter->error);
    exchange->apart = true;
    if (emitter->status != PIM_OK)
        return;
    emitter->status = list_moves(emitter->plan, stage, exchange)
                          ? pim_exchange_direct(emitter->plan, exchange, emitter->error)
                          : pim_exchange_no_memory(emitter->error);
}

/* --- the phase --- */

void pim_emit_border(struct pim_emitter *emitter, const struct pim_exchange *exchange)
{
    if (exchange->units == 0 || emitter->status != PIM_OK)
        return;
    char name[64];
    (void)snprintf(name, sizeof name, "stage%" PRIu32 "/block0/position_border", emitter->stage->of + 1);
    pim_exchange_phase(emitter, exchange, name, NULL, NULL);
}
