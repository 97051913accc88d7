/* Which bytes go from which node to which, and in what order. */
#include "mappers/allspark/redistribution/exchange.h"
#include "mappers/allspark/redistribution/relay.h"

#include <stdlib.h>
#include <string.h>

/* --- seats --- */

/* `rank`: of the first layer of the partition. */
static struct pim_seat seat_of(const struct pim_allspark_plan *plan,
                               const struct pim_allspark_partition *part, const struct pim_workspace *space,
                               uint32_t slot, uint32_t row, uint32_t column, uint64_t rank)
{
    uint32_t capacity = part->layout.count * part->slots, layer = slot / capacity, place = slot % capacity;
    const struct pim_allspark_tile *tile = &part->layout.tiles[place / part->slots];
    uint32_t ring = place % part->slots * part->u + row;
    uint32_t x = tile->x + (tile->turned ? ring : column), y = tile->y + (tile->turned ? column : ring);
    uint64_t staging = space->inputs + layer * space->inputs_stride;
    return (struct pim_seat){.unit = y * plan->hardware.width + x,
                             .first_token = (uint32_t)pim_share_begin(part->tokens, part->u, row),
                             .tokens = pim_stage_tokens(part, row),
                             .first_channel = pim_stage_channels_before(part, column),
                             .channels = pim_stage_channels(part, column),
                             .features = space->features + layer * space->features_stride,
                             .rank = rank + layer * space->features_stride,
                             .parked = space->parked + layer * PIM_PARKED * space->parked_bytes,
                             .parked_bytes = space->parked_bytes,
                             .leaving = staging,
                             .arriving = staging + space->features_stride};
}

uint32_t *pim_exchange_first_seats(const struct pim_allspark_plan *plan,
                                   const struct pim_allspark_stage *stage)
{
    return calloc((size_t)plan->batch * stage->partition[0].branches + 1, sizeof(uint32_t));
}

/* The seats of one branch, which has `slot`, in the workspaces of an image. */
static void fill_seats(const struct pim_allspark_plan *plan, const struct pim_allspark_stage *stage,
                       const struct pim_workspace *space, uint32_t slot, uint32_t image,
                       struct pim_seat *seat)
{
    uint32_t index = pim_stage_partition_of_slot(stage, slot);
    const struct pim_allspark_partition *part = &stage->partition[index];
    uint64_t rank = image * pim_stage_features(stage) + pim_stage_features_before(stage, index);
    for (uint32_t row = 0; row < part->u; row++)
        for (uint32_t column = 0; column < part->v; column++)
            *seat++ = seat_of(plan, part, &space[index], slot - part->first_branch, row, column, rank);
}

/* Adds the seats of all branches in their order, image by image; first_seat[image * branches + b] is the
   first of branch b. */
bool pim_exchange_seats(const struct pim_allspark_plan *plan, const struct pim_allspark_stage *stage,
                        struct pim_exchange *exchange, uint32_t *first_seat)
{
    uint32_t branches = stage->partition[0].branches, all = plan->batch * branches;
    first_seat[0] = exchange->seats;
    for (uint32_t b = 0; b < all; b++) {
        uint32_t slot = pim_stage_slot(stage, b % branches);
        const struct pim_allspark_partition *part =
            &stage->partition[pim_stage_partition_of_slot(stage, slot)];
        first_seat[b + 1] = first_seat[b] + part->u * part->v;
    }
    exchange->seats = first_seat[all];
    struct pim_seat *grown = realloc(exchange->seat, ((size_t)exchange->seats + 1) * sizeof *grown);
    struct pim_workspace *space = calloc(stage->partitions, sizeof *space);
    exchange->seat = grown ? grown : exchange->seat;
    for (uint32_t b = 0; grown && space && b < all; b++) {
        for (uint32_t i = 0; b % branches == 0 && i < stage->partitions; i++)
            pim_workspace_layout(stage, i, b / branches, plan->workspace_base, &space[i]);
        fill_seats(plan, stage, space, pim_stage_slot(stage, b % branches), b / branches,
                   &exchange->seat[first_seat[b]]);
        for (uint32_t i = first_seat[b]; i < first_seat[b + 1]; i++)
            exchange->seat[i].root = first_seat[b];
    }
    free(space);
    return grown && space;
}

/* Between two kinds of blocks: staging as large as the features of each, behind what both keep. */
static void stage_behind(const struct pim_allspark_plan *plan, const struct pim_allspark_stage *source,
                         const struct pim_allspark_stage *to, struct pim_exchange *exchange)
{
    uint64_t here = pim_stage_kept(source), there = pim_stage_kept(to);
    uint64_t both = plan->batch * (here > there ? here : there);
    uint64_t copies = pim_stage_padded(plan, to->partner) ? PIM_PADDED_COPIES : 1;
    for (uint32_t i = 0; i < exchange->seats; i++) {
        struct pim_seat *seat = &exchange->seat[i];
        seat->leaving = plan->workspace_base + both + copies * seat->rank;
        seat->arriving = seat->leaving + copies * plan->batch * pim_stage_features(source);
    }
}

/* --- moves --- */

bool pim_exchange_add_move(struct pim_exchange *exchange, const struct pim_exchange_move *move)
{
    if (exchange->move_count > 0) { /* lengthens the last one where it can */
        struct pim_exchange_move *last = &exchange->moves[exchange->move_count - 1];
        if (last->from_seat == move->from_seat && last->to_seat == move->to_seat &&
            last->from + last->bytes == move->from && last->to + last->bytes == move->to) {
            last->bytes += move->bytes;
            return true;
        }
    }
    if (exchange->move_count == exchange->move_capacity) {
        uint32_t capacity = exchange->move_capacity ? 2 * exchange->move_capacity : 1024;
        struct pim_exchange_move *moves = realloc(exchange->moves, capacity * sizeof *moves);
        if (!moves)
            return false;
        exchange->moves = moves;
        exchange->move_capacity = capacity;
    }
    exchange->moves[exchange->move_count++] = *move;
    return true;
}

/* What seat `to` gets in its token `token`, from token `source` of the seats first .. first + count - 1 of
   one branch. */
bool pim_exchange_token(struct pim_exchange *exchange, uint32_t to, uint32_t token, uint32_t first,
                        uint32_t count, uint32_t source)
{
    const struct pim_seat *target = &exchange->seat[to];
    uint32_t begin = target->first_channel, end = begin + target->channels;
    for (uint32_t from = first; from < first + count; from++) {
        const struct pim_seat *seat = &exchange->seat[from];
        uint32_t low = begin > seat->first_channel ? begin : seat->first_channel;
        uint32_t high = seat->first_channel + seat->channels;
        high = high < end ? high : end;
        if (source - seat->first_token >= seat->tokens || low >= high)
            continue;
        const struct pim_exchange_move move = {
            .from_seat = from,
            .to_seat = to,
            .from = seat->features + (uint64_t)(source - seat->first_token) * seat->channels + low -
                    seat->first_channel,
            .to = target->features + (uint64_t)(token - target->first_token) * target->channels + low - begin,
            .bytes = high - low};
        if (seat->unit == target->unit && move.from == move.to)
            continue; /* stays where it is */
        if (!pim_exchange_add_move(exchange, &move))
            return false;
    }
    return true;
}

static bool list_moves(const struct pim_allspark_stage *source, const struct pim_allspark_stage *to,
                       uint32_t images, const uint32_t *from, struct pim_exchange *exchange,
                       const uint32_t *first_source, const uint32_t *first_seat)
{
    uint32_t theirs = source->partition[0].tokens, tokens = to->partition[0].tokens,
             branches = to->partition[0].branches;
    for (uint32_t b = 0; b < images * branches; b++)
        for (uint32_t i = first_seat[b]; i < first_seat[b + 1]; i++) {
            const struct pim_seat *seat = &exchange->seat[i];
            for (uint32_t t = seat->first_token; t < seat->first_token + seat->tokens; t++) {
                uint32_t token = from[b % branches * tokens + t];
                uint32_t other = b / branches * source->partition[0].branches + token / theirs;
                if (!pim_exchange_token(exchange, i, t, first_source[other],
                                        first_source[other + 1] - first_source[other], token % theirs))
                    return false;
            }
        }
    return true;
}

/* --- messages --- */

/*
 * The order: by how far the receiver is behind the sender in the list of seats, then by the sender. Windows
 * that are shifted are few distances apart, and of one distance every seat sends and gets one message: all of
 * them go at the same time. Pieces of a message are in the order of the sender's addresses.
 */
struct rank {
    uint64_t key, from, to;
    uint32_t move;
};

static int compare_ranks(const void *left, const void *right)
{
    const struct rank *a = left, *b = right;
    if (a->key != b->key)
        return a->key < b->key ? -1 : 1;
    if (a->from != b->from)
        return a->from < b->from ? -1 : 1;
    return a->to < b->to ? -1 : a->to > b->to;
}

static bool sort_moves(struct pim_exchange *exchange)
{
    uint32_t count = exchange->move_count, seats = exchange->seats;
    struct rank *ranks = calloc((size_t)count + 1, sizeof *ranks);
    struct pim_exchange_move *sorted = calloc((size_t)count + 1, sizeof *sorted);
    for (uint32_t i = 0; ranks && sorted && i < count; i++) {
        const struct pim_exchange_move *move = &exchange->moves[i];
        uint64_t behind = ((uint64_t)move->to_seat + seats - move->from_seat) % seats;
        ranks[i] = (struct rank){behind << 32 | move->from_seat, move->from, move->to, i};
    }
    if (ranks && sorted) {
        qsort(ranks, count, sizeof *ranks, compare_ranks);
        for (uint32_t i = 0; i < count; i++)
            sorted[i] = exchange->moves[ranks[i].move];
        free(exchange->moves);
        exchange->moves = sorted;
        exchange->move_capacity = count;
        free(ranks);
        return true;
    }
    free(ranks);
    free(sorted);
    return false;
}

/* Messages from the sorted moves; leaving and arriving of the seats go on behind each. */
static bool list_messages(struct pim_exchange *exchange)
{
    exchange->messages = calloc((size_t)exchange->move_count + 1, sizeof *exchange->messages);
    for (uint32_t i = 0; exchange->messages && i < exchange->move_count; i++) {
        const struct pim_exchange_move *move = &exchange->moves[i];
        struct pim_exchange_message *message = &exchange->messages[exchange->message_count];
        if (i == 0 || message[-1].from_seat != move->from_seat || message[-1].to_seat != move->to_seat) {
            *message = (struct pim_exchange_message){.from_seat = move->from_seat,
                                                     .to_seat = move->to_seat,
                                                     .first_move = i,
                                                     .packed = exchange->seat[move->from_seat].leaving,
                                                     .arrived = exchange->seat[move->to_seat].arriving};
            exchange->message_count++;
        } else {
            message--;
        }
        message->moves++;
        message->bytes += move->bytes;
        exchange->seat[move->from_seat].leaving += move->bytes;
        exchange->seat[move->to_seat].arriving += move->bytes;
    }
    return exchange->messages != NULL;
}

static bool list_units(struct pim_exchange *exchange)
{
    exchange->first_of_unit = calloc((size_t)exchange->units + 2, sizeof *exchange->first_of_unit);
    exchange->of_unit = calloc(2 * (size_t)exchange->message_count + 1, sizeof *exchange->of_unit);
    uint32_t *first = exchange->first_of_unit;
    if (!first || !exchange->of_unit)
        return false;
    for (unsigned pass = 0; pass < 2; pass++) { /* counts, then fills */
        for (uint32_t i = 0; i < exchange->message_count; i++) {
            uint32_t from = exchange->seat[exchange->messages[i].from_seat].unit,
                     to = exchange->seat[exchange->messages[i].to_seat].unit;
            if (pass == 0) {
                first[from + 2]++;
                first[to + 2] += to != from;
                continue;
            }
            exchange->of_unit[first[from + 1]++] = i;
            if (to != from)
                exchange->of_unit[first[to + 1]++] = i;
        }
        for (uint32_t unit = 0; pass == 0 && unit < exchange->units; unit++)
            first[unit + 2] += first[unit + 1];
    }
    return true;
}

bool pim_exchange_end(struct pim_exchange *exchange)
{
    return sort_moves(exchange) && list_messages(exchange) && list_units(exchange);
}

enum pim_status pim_exchange_make(const struct pim_allspark_plan *plan,
                                  const struct pim_allspark_stage *source,
                                  const struct pim_allspark_stage *to, const uint32_t *from,
                                  struct pim_exchange *exchange, struct pim_error *error)
{
    *exchange = (struct pim_exchange){.units = plan->hardware.width * plan->hardware.height};
    uint32_t *first_source = pim_exchange_first_seats(plan, source),
             *first_seat = pim_exchange_first_seats(plan, to);
    bool made = first_source && first_seat && pim_exchange_seats(plan, source, exchange, first_source);
    exchange->senders = exchange->seats;
    if (made && source != to) {
        made = pim_exchange_seats(plan, to, exchange, first_seat);
        stage_behind(plan, source, to, exchange);
    }
    made = made &&
           list_moves(source, to, plan->batch, from, exchange, first_source,
                      source == to ? first_source : first_seat) &&
           pim_exchange_end(exchange);
    free(first_source);
    free(first_seat);
    if (made)
        return PIM_OK;
    pim_exchange_terminate(exchange);
    return pim_fail(error, PIM_NO_MEMORY, "out of memory for the exchange between branches");
}

enum pim_status pim_exchange_relay(const struct pim_allspark_plan *plan, struct pim_exchange *exchange,
                                   uint64_t room, struct pim_error *error)
{
    return plan->exchange == PIM_ALLSPARK_GATHER ? pim_relay_make(plan, exchange, room, error) : PIM_OK;
}

uint32_t pim_exchange_tags(const struct pim_exchange *exchange)
{
    return exchange->relay ? exchange->relay->message_count : exchange->message_count;
}

bool pim_exchange_has_unit(const struct pim_exchange *exchange, uint32_t unit)
{
    return exchange->relay ? pim_relay_has_unit(exchange->relay, unit)
                           : exchange->first_of_unit[unit] < exchange->first_of_unit[unit + 1];
}

void pim_exchange_terminate(struct pim_exchange *exchange)
{
    free(exchange->seat);
    free(exchange->moves);
    free(exchange->messages);
    free(exchange->first_of_unit);
    free(exchange->of_unit);
    pim_relay_destroy(exchange->relay);
    *exchange = (struct pim_exchange){0};
}

/* --- shifted windows --- */

uint32_t *pim_shifted_windows(uint32_t rows, uint32_t columns, uint32_t window, uint32_t shift, bool back)
{
    const uint32_t tokens = window * window;
    uint32_t *from = calloc((size_t)rows * columns * tokens + 1, sizeof *from);
    for (uint32_t b = 0; from && b < rows * columns; b++) {
        uint32_t place = 0; /* of the next token that comes: the first that is free from here on */
        for (uint32_t t = 0; t < tokens; t++) {
            uint32_t down = t / window + shift, right = t % window + shift; /* in the old windows */
            uint32_t y = b / columns + down / window, x = b % columns + right / window;
            uint32_t source =
                (y % rows * columns + x % columns) * tokens + down % window * window + right % window;
            uint32_t token = down % window * window + right % window;
            if (down >= window || right >= window) {
                while (place / window >= shift && place % window >= shift)
                    place++;
                token = place++;
            }
            if (back)
                from[source] = b * tokens + token;
            else
                from[b * tokens + token] = source;
        }
    }
    return from;
}

/* Number of the token at (y, x) in the order of global attention. */
static uint32_t place_on_map(uint32_t height, uint32_t width, uint32_t reduction, uint32_t y, uint32_t x)
{
    uint32_t rows = height / reduction, columns = width / reduction, deep = rows * reduction,
             wide = columns * reduction;
    if (y < deep && x < wide)
        return (y / reduction * columns + x / reduction) * reduction * reduction + y % reduction * reduction +
               x % reduction;
    /* beyond the patches, row by row: those on the right of them, then the rows below */
    uint32_t right = width - wide;
    return deep * wide + (y < deep ? y * right + x - wide : deep * right + (y - deep) * width + x);
}

uint32_t *pim_windows_to_map(uint32_t height, uint32_t width, uint32_t window, uint32_t reduction, bool back)
{
    uint32_t rows = (height + window - 1) / window, columns = (width + window - 1) / window;
    uint32_t *from = calloc((size_t)rows * columns * window * window + 1, sizeof *from);
    for (uint32_t y = 0; from && y < rows * window; y++)
        for (uint32_t x = 0; x < columns * window; x++) {
            uint32_t branch = y / window * columns + x / window;
            uint32_t token = branch * window * window + y % window * window + x % window;
            uint32_t place = place_on_map(height, width, reduction, y % height, x % width);
            if (back)
                from[token] = place;
            else if (y < height && x < width)
                from[place] = token;
        }
    return from;
}
