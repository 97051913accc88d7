/*
 * The depthwise 3 x 3 convolutions of position encodings, and the additions around them.
 *
 *  - Twins, behind the first block of a stage: features of the whole map. What a node needs of its neighbours
 *    comes before (border.c) and lies with its own features in a field of its own, so that the results can go
 *    to where the features are.
 *  - CSWin, in every block behind the context: values of the branch, a stripe or the whole map. They went
 *    round for the context: every node of the branch has all of them for its channels.
 *
 * Who computes it. The PE array: these are multiply-accumulates, and it alone has sums that are wider than 8
 * bits. A product has one channel: 1 x 9 weights times 9 x n neighbours of n tokens. Nine of the array's rows
 * in two folds are in use; a product with several channels would multiply zeros.
 *
 * Invariants:
 *  1. A tile has n tokens and c channels. Its loads follow each other tap by tap, in each token by token, c
 *     bytes each; neighbours beyond the border come from a row of zeros. The weights lie channel by channel,
 *     nine each, and so they are loaded.
 *  2. Product i of a tile is that of its channel i, and gives back what it alone reads.
 *  3. The tokens of a tile follow each other line by line, or are those of one column: all at a border have
 *     their zeros at the same tap then, while from line to line zeros and values take turns, and come from
 *     different rows of the DRAM. The closed form says which is quicker.
 */
#include "mappers/allspark/interaction/interaction.h"
#include "mappers/allspark/layers/layers.h"
#include "mappers/allspark/memory.h"
#include "mappers/allspark/redistribution/circulation.h"
#include "mappers/allspark/shapes.h"

#include <inttypes.h>

enum { ZEROS = 1024 };

uint64_t pim_position_zeros(const struct pim_allspark_partition *part)
{
    uint64_t all = (uint64_t)pim_stage_tokens(part, 0) * pim_stage_channels(part, 0);
    if (part->position.convolution == PIM_NO_CONVOLUTION)
        return 0;
    return all < ZEROS ? all : ZEROS;
}

/* Branch of the stage in place `slot` of its layers. */
static uint32_t branch_of_slot(const struct pim_allspark_stage *stage, uint32_t slot)
{
    uint32_t branch = stage->slot_of ? 0 : slot;
    while (stage->slot_of && stage->slot_of[branch] != slot)
        branch++;
    return branch;
}

/* --- where tokens are --- */

struct pim_position_field pim_position_field(const struct pim_allspark_partition *part, uint32_t row)
{
    uint32_t first = (uint32_t)pim_even_begin(part->tokens, part->u, row), window = part->position.window;
    uint32_t last = first + pim_stage_tokens(part, row) - 1;
    return (struct pim_position_field){
        .first_line = first / window, .lines = last / window - first / window + 3, .columns = window + 2};
}

bool pim_position_on_map(const struct pim_allspark_partition *part, uint32_t branch, uint32_t y, uint32_t x)
{
    const struct pim_allspark_position *position = &part->position;
    uint32_t columns = pim_position_windows(part);
    return branch / columns * position->window + y < position->height &&
           branch % columns * position->window + x < position->width;
}

/*
 * What a node convolves: tokens `first` .. `first` + `count` - 1 of a rectangle that is `columns` wide, at
 * (y, x) of a map of height x width tokens, beyond which there are zeros. `source` has their neighbours:
 * lines of `pitch` tokens of q channels, the first is line `top`, column `left` of the rectangle.
 */
struct convolution {
    int64_t columns, y, x, height, width;
    uint32_t first, count, channels;
    uint64_t source;
    int64_t top, left, pitch;
    uint64_t weights, zeros, zero_bytes;
    uint64_t output; /* of the first token; and what is added */
};

static void take_values(const struct pim_emitter *emitter, bool vertical, struct convolution *c)
{
    const struct pim_allspark_partition *part = emitter->part;
    const struct pim_allspark_position *position = &part->position;
    bool stripes = part->work == PIM_ALLSPARK_STRIPES;
    c->columns = stripes && vertical ? position->window : position->width;
    c->width = c->pitch = c->columns;
    c->height = part->tokens / c->columns;
    c->source = emitter->workspace.values;
    c->output = stripes ? pim_resident_matrix(emitter, 0)
                        : pim_own_piece(emitter, emitter->workspace.gathered, c->count, part->channels);
}

static void take_map(const struct pim_emitter *emitter, uint32_t branch, struct convolution *c)
{
    const struct pim_allspark_partition *part = emitter->part;
    const struct pim_allspark_position *position = &part->position;
    const struct pim_position_field field = pim_position_field(part, emitter->place.row);
    uint32_t columns = pim_position_windows(part);
    c->columns = position->window;
    c->y = branch / columns * position->window;
    c->x = branch % columns * position->window;
    c->height = position->height;
    c->width = position->width;
    c->source = pim_border_field(emitter);
    c->pitch = field.columns;
    c->top = (int64_t)field.first_line - 1;
    c->left = -1;
    c->output = emitter->workspace.features + emitter->layer * emitter->workspace.features_stride;
}

static struct convolution convolution_of(const struct pim_emitter *emitter, uint32_t block)
{
    const struct pim_allspark_partition *part = emitter->part, *owner = part->reuses ? emitter->whole : part;
    uint32_t slot = part->first_branch + emitter->layer * pim_layer_capacity(part) + emitter->place.branch,
             branch = branch_of_slot(emitter->stage, slot);
    bool vertical = part->work == PIM_ALLSPARK_STRIPES && branch < part->branches / 2;
    struct convolution c = {
        .first = (uint32_t)pim_even_begin(part->tokens, part->u, emitter->place.row),
        .count = pim_stage_tokens(part, emitter->place.row),
        .channels = pim_stage_channels(part, emitter->place.column),
        .weights = pim_weight_address(owner, block, PIM_ALLSPARK_POSITION),
        .zeros = pim_zero_address(owner),
        .zero_bytes = pim_zero_bytes(owner),
    };
    if (part->work == PIM_ALLSPARK_STRIPES && !vertical) /* behind those of the vertical ones */
        c.weights += (uint64_t)PIM_POSITION_TAPS * pim_stage_channels(owner, 0);
    if (part->reuses)
        c.weights += (uint64_t)PIM_POSITION_TAPS * pim_stage_channels_before(part, emitter->place.column);
    if (part->position.convolution == PIM_CONVOLUTION_OVER_MAP)
        take_map(emitter, branch, &c);
    else
        take_values(emitter, vertical, &c);
    return c;
}

/* --- a tile --- */

struct tile {
    uint32_t token, tokens, step; /* counted from the node's first; from one to the next */
    uint32_t channel, channels;
};

/* Some pieces of a load, evenly apart. */
struct run {
    uint64_t address, stride, count;
    bool zero;
};

static bool on_map(const struct convolution *c, int64_t token)
{
    int64_t y = c->y + token / c->columns, x = c->x + token % c->columns;
    return y < c->height && x < c->width;
}

static uint64_t emit_run(struct pim_emitter *emitter, const struct run *run, uint32_t channels)
{
    return pim_emit_memory(emitter, PIM_OP_LOAD, PIM_BUFFER_WEIGHT, run->address, channels, run->stride,
                           run->count, PIM_NOTHING);
}

/* The neighbours of all tokens of a tile at one tap. Returns the last load. */
static uint64_t load_tap(struct pim_emitter *emitter, const struct convolution *c, const struct tile *tile,
                         unsigned tap)
{
    struct run run = {0};
    for (uint32_t i = 0; i < tile->tokens; i++) {
        int64_t token = (int64_t)c->first + tile->token + (int64_t)i * tile->step;
        int64_t y = token / c->columns + tap / PIM_POSITION_SIDE - 1,
                x = token % c->columns + tap % PIM_POSITION_SIDE - 1;
        bool zero = c->y + y < 0 || c->y + y >= c->height || c->x + x < 0 || c->x + x >= c->width;
        uint64_t inside = (uint64_t)((y - c->top) * c->pitch + (x - c->left)) * c->channels;
        uint64_t address = zero ? c->zeros + (run.zero ? run.count : 0) * tile->channels
                                : c->source + inside + tile->channel;
        bool joins = run.count > 0 && run.zero == zero;
        if (zero)
            joins = joins && (run.count + 1) * tile->channels <= c->zero_bytes;
        else
            joins = joins && address > run.address &&
                    (run.count == 1 || address == run.address + run.count * run.stride);
        if (joins) {
            run.stride = run.count == 1 ? address - run.address : run.stride;
            run.count++;
            continue;
        }
        if (run.count > 0)
            (void)emit_run(emitter, &run, tile->channels);
        run = (struct run){.address = zero ? c->zeros : address, .count = 1, .zero = zero};
    }
    return emit_run(emitter, &run, tile->channels);
}

static uint64_t emit_products(struct pim_emitter *emitter, const struct tile *tile, uint64_t weights,
                              uint64_t neighbours)
{
    uint64_t done = PIM_NOTHING;
    for (uint32_t i = 0; i < tile->channels; i++)
        done = pim_emit_matrix(emitter, 1, tile->tokens, PIM_POSITION_TAPS,
                               PIM_MATRIX_OPEN_OUTPUT | PIM_MATRIX_RELEASE_INPUT | PIM_MATRIX_RELEASE_WEIGHT,
                               weights, neighbours);
    return done;
}

static void emit_tile(struct pim_emitter *emitter, const struct convolution *c, const struct tile *tile)
{
    uint64_t weights = pim_emit_memory(emitter, PIM_OP_LOAD, PIM_BUFFER_INPUT,
                                       c->weights + (uint64_t)PIM_POSITION_TAPS * tile->channel,
                                       (uint64_t)PIM_POSITION_TAPS * tile->channels, 0, 1, PIM_NOTHING);
    uint64_t neighbours = PIM_NOTHING;
    for (unsigned tap = 0; tap < PIM_POSITION_TAPS; tap++)
        neighbours = load_tap(emitter, c, tile, tap);
    uint64_t done = emit_products(emitter, tile, weights, neighbours);
    pim_emit_flush(emitter);
    uint64_t release = (uint64_t)tile->tokens * tile->channels * emitter->plan->hardware.accumulator_bytes;
    uint64_t address = c->output + (uint64_t)tile->token * c->channels + tile->channel;
    uint64_t stride = (uint64_t)tile->step * c->channels;
    done =
        pim_emit_vector(emitter, PIM_VECTOR_COPY, tile->tokens, tile->channels, release, done, PIM_NOTHING);
    uint64_t residual = pim_emit_memory(emitter, PIM_OP_LOAD, PIM_BUFFER_NONE, address, tile->channels,
                                        stride, tile->tokens, PIM_NOTHING);
    done = pim_emit_vector(emitter, PIM_VECTOR_ADD, tile->tokens, tile->channels, 0, done, residual);
    emitter->store = (struct pim_pending_store){address, tile->channels, stride, tile->tokens, done};
}

/* --- a node --- */

/* A node's tokens in lines that follow each other, or (`upright`) in columns. */
static struct pim_depthwise_shape shape_of(const struct convolution *c, bool over_map, bool upright)
{
    uint32_t columns = (uint32_t)c->columns;
    return (struct pim_depthwise_shape){.channels = c->channels,
                                        .taps = PIM_POSITION_TAPS,
                                        .sequences = upright ? columns : 1,
                                        .tokens = upright ? (c->count + columns - 1) / columns : c->count,
                                        .pitch = (upright ? columns : 1) * c->channels,
                                        .line = upright || over_map ? 0 : columns};
}

/* The better of the two, where zeros are many. */
static bool tile_of(struct pim_emitter *emitter, const struct convolution *c,
                    struct pim_depthwise_tiling *tiling, struct pim_matrix_estimate *estimate, bool *upright)
{
    const struct pim_estimate_hardware *hardware = &emitter->plan->hardware;
    const bool over_map = emitter->part->position.convolution == PIM_CONVOLUTION_OVER_MAP;
    const struct pim_depthwise_shape lines = shape_of(c, over_map, false), columns = shape_of(c, false, true);
    struct pim_depthwise_tiling other;
    struct pim_matrix_estimate cost;
    *upright = false;
    if (emitter->status != PIM_OK)
        return false;
    bool fits = pim_estimate_depthwise(hardware, &lines, tiling, estimate);
    if (!over_map && pim_estimate_depthwise(hardware, &columns, &other, &cost) &&
        cost.total < estimate->total) {
        *tiling = other;
        *estimate = cost;
        *upright = true;
    }
    if (fits)
        return true;
    emitter->status = pim_fail(
        emitter->error, PIM_BAD_INPUT,
        "a depthwise convolution of %d weights has no tile that fits the buffers of %" PRIu64 ", %" PRIu64
        " and %" PRIu64 " bytes for input, weights and output: enlarge buffers.input_bytes or "
        "buffers.weight_bytes",
        PIM_POSITION_TAPS, hardware->input_bytes, hardware->weight_bytes, hardware->output_bytes);
    return false;
}

/* Some channels of the tokens first, first + step ... */
static void emit_sequence(struct pim_emitter *emitter, const struct convolution *c,
                          const struct pim_depthwise_tiling *tiling, uint32_t first, uint32_t step,
                          uint32_t channel)
{
    uint32_t channels = c->channels - channel < tiling->channels ? c->channels - channel : tiling->channels;
    for (uint32_t token = first; token < c->count;) {
        struct tile tile = {.token = token, .step = step, .channel = channel, .channels = channels};
        for (uint32_t next = token;
             next < c->count && tile.tokens < tiling->tokens && on_map(c, (int64_t)c->first + next);
             next += step)
            tile.tokens++;
        if (tile.tokens > 0)
            emit_tile(emitter, c, &tile);
        token += (tile.tokens > 0 ? tile.tokens : 1) * step; /* windows have tokens beyond the map */
    }
}

void pim_emit_position(struct pim_emitter *emitter, uint32_t block)
{
    const struct convolution c = convolution_of(emitter, block);
    struct pim_depthwise_tiling tiling;
    struct pim_matrix_estimate estimate;
    bool upright;
    if (!tile_of(emitter, &c, &tiling, &estimate, &upright))
        return;
    uint32_t step = upright ? (uint32_t)c.columns : 1;
    for (uint32_t channel = 0; channel < c.channels; channel += tiling.channels)
        for (uint32_t first = 0; first < step && first < c.count; first++)
            emit_sequence(emitter, &c, &tiling, first, step, channel);
    pim_emit_flush(emitter);
}

/* The busiest node: that of the first row and column. */
void pim_estimate_position(struct pim_emitter *emitter, struct pim_trace_phase *phase)
{
    const struct pim_allspark_partition *part = emitter->part;
    const struct pim_allspark_position *position = &part->position;
    const struct convolution c = {.count = pim_stage_tokens(part, 0),
                                  .channels = pim_stage_channels(part, 0),
                                  .columns = position->window ? position->window : position->width};
    struct pim_depthwise_tiling tiling;
    struct pim_matrix_estimate estimate;
    bool upright;
    if (!tile_of(emitter, &c, &tiling, &estimate, &upright))
        return;
    pim_add_estimate(phase, &estimate);
}
