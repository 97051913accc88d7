/*
 * Features that a convolution over the map needs of other nodes: rows of the same window, and the windows
 * around it. When all temporal layers have worked the first block of a stage, every node gets a field of its
 * own (position.h): a copy of its features, and the tokens around them. It is an exchange as for shifted
 * windows, but that a token goes to several nodes.
 *
 * Invariants:
 *  1. Fields lie apart from all features, one for each layer and image, so that results may be written to the
 *     features of one layer while others still have their fields to read.
 *  2. Staging and fields lie behind what the stage keeps. Nothing else is live then.
 *  3. What a node convolves, and all that it needs, is on the map: windows that reach beyond it have tokens
 *     there that stay as they are.
 */
#include "mappers/allspark/redistribution/border.h"
#include "mappers/allspark/layers/position.h"

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
    int64_t window = part->position.window, first = (int64_t)pim_share_begin(part->tokens, part->u, row),
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
    return stage->partition[0].position.convolution == PIM_ALLSPARK_OVER_MAP;
}

uint64_t pim_border_workspace(const struct pim_allspark_plan *plan, uint32_t index)
{
    const struct pim_allspark_stage *stage = &plan->stage[index];
    return has_border(stage) ? plan->batch * (pim_stage_kept(stage) + rooms_before(stage, stage->partitions))
                             : 0;
}

/* Address of what a layer, counted from the partition's first, has in an image. */
static uint64_t room_address(const struct pim_allspark_plan *plan, const struct pim_allspark_stage *stage,
                             uint32_t partition, uint32_t layer, uint32_t image)
{
    return plan->workspace_base + plan->batch * pim_stage_kept(stage) +
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

struct seating {
    const struct pim_allspark_plan *plan;
    const struct pim_allspark_stage *stage;
    struct pim_exchange *exchange;
    uint32_t *source, *to; /* first seats of the branches: with their features, and with their fields */
};

/* Gives the seats of a branch their places: it sends from `source`, and gets in `to`. */
static void place_seats(const struct seating *seating, uint32_t b)
{
    const struct pim_allspark_stage *stage = seating->stage;
    uint32_t branches = stage->partition[0].branches, layer;
    uint32_t index = pim_stage_partition_of(stage, b % branches, &layer),
             count = seating->to[b + 1] - seating->to[b];
    const struct room room = room_of(&stage->partition[index]);
    uint64_t address = room_address(seating->plan, stage, index, layer, b / branches);
    for (uint32_t i = 0; i < count; i++) {
        struct pim_seat *from = &seating->exchange->seat[seating->source[b] + i],
                        *to = &seating->exchange->seat[seating->to[b] + i];
        from->leaving = address;
        to->arriving = address + room.leaving;
        to->features = address + room.leaving + room.arriving;
        to->first_token = 0; /* places of the field */
    }
}

/* Token (y, x) of the map, which branch has it in image b / branches, and its number there. */
static uint32_t owner_of(const struct pim_allspark_partition *part, uint32_t y, uint32_t x, uint32_t *token)
{
    uint32_t window = part->position.window, columns = (part->position.width + window - 1) / window;
    *token = y % window * window + x % window;
    return y / window * columns + x / window;
}

/* All that seat `to` of branch b gets: its tokens on the map and those around them. `needed`: the places of
   its field. */
static bool fill_field(const struct seating *seating, uint32_t b, uint32_t to, uint32_t row, bool *needed)
{
    const struct pim_seat *sender = &seating->exchange->seat[seating->source[b] + (to - seating->to[b])];
    uint32_t branches = seating->stage->partition[0].branches, inside = b % branches, layer;
    const struct pim_allspark_partition *part =
        &seating->stage->partition[pim_stage_partition_of(seating->stage, inside, &layer)];
    const struct pim_position_field field = pim_position_field(part, row);
    uint32_t window = part->position.window, columns = (part->position.width + window - 1) / window;
    uint32_t first_y = inside / columns * window, first_x = inside % columns * window;
    for (uint32_t i = 0; i < field.lines * field.columns; i++)
        needed[i] = false;
    for (uint32_t t = sender->first_token; t < sender->first_token + sender->tokens; t++)
        for (uint32_t tap = 0;
             pim_position_on_map(part, inside, t / window, t % window) && tap < PIM_POSITION_TAPS; tap++)
            needed[(t / window - field.first_line + tap / PIM_POSITION_SIDE) * field.columns + t % window +
                   tap % PIM_POSITION_SIDE] = true;
    for (uint32_t i = 0; i < field.lines * field.columns; i++) {
        uint32_t y = first_y + field.first_line + i / field.columns, x = first_x + i % field.columns, token;
        bool there =
            y >= REACH && x >= REACH && y - REACH < part->position.height && x - REACH < part->position.width;
        if (!needed[i] || !there)
            continue;
        uint32_t source = b - inside + owner_of(part, y - REACH, x - REACH, &token);
        uint32_t first = seating->source[source];
        if (!pim_exchange_token(seating->exchange, to, i, first, seating->source[source + 1] - first, token))
            return false;
    }
    return true;
}

static bool make(const struct seating *seating)
{
    const struct pim_allspark_stage *stage = seating->stage;
    struct pim_exchange *exchange = seating->exchange;
    uint32_t all = seating->plan->batch * stage->partition[0].branches, layer;
    uint64_t most = 0;
    if (!seating->source || !seating->to ||
        !pim_exchange_seats(seating->plan, stage, exchange, seating->source))
        return false;
    exchange->senders = exchange->seats;
    if (!pim_exchange_seats(seating->plan, stage, exchange, seating->to))
        return false;
    for (uint32_t i = 0; i < stage->partitions; i++)
        most = field_tokens(&stage->partition[i]) > most ? field_tokens(&stage->partition[i]) : most;
    bool *needed = calloc(most + 1, sizeof *needed), made = needed != NULL;
    for (uint32_t b = 0; b < all; b++)
        place_seats(seating, b);
    for (uint32_t b = 0; b < all && made; b++) {
        uint32_t v =
            stage->partition[pim_stage_partition_of(stage, b % stage->partition[0].branches, &layer)].v;
        for (uint32_t i = seating->to[b]; i < seating->to[b + 1] && made; i++)
            made = fill_field(seating, b, i, (i - seating->to[b]) / v, needed);
    }
    free(needed);
    return made && pim_exchange_end(exchange);
}

void pim_border_make(struct pim_emitter *emitter, struct pim_border *border)
{
    const struct pim_allspark_stage *stage = emitter->stage;
    const struct pim_estimate_hardware *hardware = &emitter->plan->hardware;
    *border = (struct pim_border){0};
    if (!has_border(stage) || !stage->slot_of || emitter->status != PIM_OK)
        return;
    border->exists = true;
    border->exchange = (struct pim_exchange){.units = hardware->width * hardware->height, .apart = true};
    const struct seating seating = {.plan = emitter->plan,
                                    .stage = stage,
                                    .exchange = &border->exchange,
                                    .source = pim_exchange_first_seats(emitter->plan, stage),
                                    .to = pim_exchange_first_seats(emitter->plan, stage)};
    if (!make(&seating) || !pim_exchange_estimate(hardware, &border->exchange))
        emitter->status =
            pim_fail(emitter->error, PIM_NO_MEMORY, "out of memory for the exchange between branches");
    free(seating.source);
    free(seating.to);
}

void pim_border_terminate(struct pim_border *border)
{
    pim_exchange_terminate(&border->exchange);
}

/* --- the phase --- */

void pim_emit_border(struct pim_emitter *emitter, const struct pim_border *border)
{
    if (!border->exists || emitter->status != PIM_OK)
        return;
    char name[64];
    (void)snprintf(name, sizeof name, "stage%" PRIu32 "/block0/position_border", emitter->stage->of + 1);
    pim_exchange_phase(emitter, &border->exchange, name, 0, NULL);
}

void pim_estimate_border(struct pim_emitter *emitter, const struct pim_border *border)
{
    pim_exchange_add_estimate(emitter, &border->exchange, 1);
}
