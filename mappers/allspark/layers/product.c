/*
 * Matrix products in tiles: loads that run one tile ahead of the PE array (the buffers give the pace), a
 * matrix instruction a tile, the ACU on each finished output tile, and its store one output tile later, so
 * that the store never stands in front of the next tile's loads.
 */
#include "mappers/allspark/emitter.h"

#include "mappers/allspark/shapes.h"
#include "sim/integer.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>

enum { BITS = 8 };

static uint32_t segment_width(const struct pim_emitter *emitter, const struct pim_product *product,
                              uint32_t segment)
{
    return product->segments == 1 ? product->k
                                  : product->segment_width(emitter->part, product->segment_total, segment);
}

/* Where the operands of a product lie: those of the workspace beside each other, weights as far away as the
   stage has weights. Beyond a row it does not matter how far. */
static void add_distances(const struct pim_emitter *emitter, const struct pim_product *product,
                          struct pim_matrix_shape *shape)
{
    const uint64_t row = emitter->plan->hardware.row_bytes, m = shape->m, k = shape->k, n = shape->n;
    const bool weights = product->operand == PIM_OPERAND_WEIGHTS || product->operand == PIM_OPERAND_BLOCKS;
    const uint64_t among = shape->count * (m * k + m * n + (weights ? 0 : k * n));
    if (among >= row)
        return;
    shape->among = shape->right_among = among;
    if (!weights)
        return;
    struct pim_allspark_partition whole = *emitter->part;
    whole.ring = whole.u; /* rings of all lengths have the same estimates but for the rounds of the weights */
    shape->right_among = pim_smaller(row, among + pim_stage_weights(&whole) / 2);
}

static struct pim_matrix_shape shape_of(const struct pim_emitter *emitter, const struct pim_product *product)
{
    uint32_t segment = 0, widest = 0, narrower = 0;
    for (uint32_t i = 0; i < product->segments; i++)
        segment = (uint32_t)pim_larger(segment, segment_width(emitter, product, i));
    for (uint32_t i = 0; i < product->segments; i++) {
        const uint32_t width = segment_width(emitter, product, i);
        widest += width == segment;
        narrower += width > 0 && width < segment;
    }
    struct pim_matrix_shape shape = {
        .m = product->tile_rows ? product->tile_rows : product->m,
        .n = product->n,
        .k = product->k,
        .count = product->count,
        .segment = segment,
        .segments = widest,
        .narrower = narrower,
        .full_rows = product->operation == PIM_VECTOR_SOFTMAX,
        .vector_passes = product->operation == PIM_VECTOR_SOFTMAX ? 3 : 1, /* reads its rows three times */
        .residual = product->add_residual,
        .input_pitch = product->segments == 1 ? (uint32_t)product->input_stride : segment,
        .right_pitch =
            product->operand == PIM_OPERAND_BLOCKS ? product->right_block : (uint32_t)product->right_stride,
        .output_pitch = (uint32_t)product->output_stride,
        .right_columns = product->operand == PIM_OPERAND_COLUMNS,
        .right_block = product->right_block,
        .grain = product->grain};
    add_distances(emitter, product, &shape);
    return shape;
}

static bool same_shape(const struct pim_matrix_shape *a, const struct pim_matrix_shape *b)
{
    return a->m == b->m && a->n == b->n && a->k == b->k && a->count == b->count && a->segment == b->segment &&
           a->segments == b->segments && a->narrower == b->narrower && a->full_rows == b->full_rows &&
           a->vector_passes == b->vector_passes && a->residual == b->residual &&
           a->input_pitch == b->input_pitch && a->right_pitch == b->right_pitch &&
           a->output_pitch == b->output_pitch && a->right_columns == b->right_columns &&
           a->right_block == b->right_block && a->grain == b->grain && a->among == b->among &&
           a->right_among == b->right_among;
}

static unsigned place_of(const struct pim_matrix_shape *shape)
{
    uint64_t hash = shape->m;
    hash = hash * 0x9e3779b97f4a7c15u + shape->n;
    hash = hash * 0x9e3779b97f4a7c15u + shape->k;
    hash = hash * 0x9e3779b97f4a7c15u + shape->right_pitch;
    hash = (hash + shape->output_pitch) * 0x9e3779b97f4a7c15u;
    return (unsigned)(hash >> 40) % PIM_TILINGS;
}

enum pim_status pim_product_tiling(struct pim_emitter *emitter, const struct pim_product *product,
                                   struct pim_tiling *tiling, struct pim_matrix_estimate *estimate)
{
    const struct pim_estimate_hardware *hardware = &emitter->plan->hardware;
    struct pim_matrix_shape wanted = shape_of(emitter, product);
    unsigned place = place_of(&wanted);
    if (!same_shape(&emitter->tilings->known[place].shape, &wanted)) {
        if (!pim_estimate_tiling(hardware, &wanted, tiling, estimate))
            return pim_fail(
                emitter->error, PIM_BAD_INPUT,
                "a product of %" PRIu32 " x %" PRIu32 " x %" PRIu32
                " (m, n, k) has no tile that fits the buffers of %" PRIu64 ", %" PRIu64 " and %" PRIu64
                " bytes for input, weights and output: enlarge buffers.output_bytes or buffers.weight_bytes",
                product->m, product->n, product->k, hardware->input_bytes, hardware->weight_bytes,
                hardware->output_bytes);
        emitter->tilings->known[place].shape = wanted;
        emitter->tilings->known[place].tiling = *tiling;
        emitter->tilings->known[place].estimate = *estimate;
    }
    *tiling = emitter->tilings->known[place].tiling;
    *estimate = emitter->tilings->known[place].estimate;
    return PIM_OK;
}

/* A tile of the input: rows m0.. of the tile's columns. */
struct input_tile {
    uint64_t address; /* of row 0 */
    uint64_t stride;
    uint32_t k0, k;
};

/* The next tile of k after `tile`; false at the end. Start with k = 0. */
struct k_walk {
    uint32_t segment, offset; /* next position in the segment */
    uint64_t piece;           /* address of the segment */
    uint32_t k0;
};

static bool next_tile(const struct pim_emitter *emitter, const struct pim_product *product, uint32_t depth,
                      struct k_walk *walk, struct input_tile *tile)
{
    uint32_t width = 0;
    for (; walk->segment < product->segments; walk->segment++) {
        width = segment_width(emitter, product, walk->segment);
        if (width > 0)
            break; /* a column may have no part of an input that is narrower than the columns are many */
    }
    if (walk->segment == product->segments)
        return false;
    uint64_t stride = product->segments == 1 ? product->input_stride : width;
    bool own = product->segments > 1 && walk->segment == product->own_segment;
    *tile = (struct input_tile){.address = (own ? product->own : walk->piece) + walk->offset,
                                .stride = stride,
                                .k0 = walk->k0,
                                .k = pim_smaller32(depth, width - walk->offset)};
    walk->offset += tile->k;
    walk->k0 += tile->k;
    if (walk->offset == width) {
        walk->piece += (uint64_t)width * (product->piece_rows ? product->piece_rows : product->m);
        walk->offset = 0;
        walk->segment++;
    }
    return true;
}

static uint64_t load_input(struct pim_emitter *emitter, const struct input_tile *tile, uint32_t m0,
                           uint32_t m)
{
    return pim_emit_memory(emitter, PIM_OP_LOAD, PIM_BUFFER_INPUT, tile->address + m0 * tile->stride, tile->k,
                           tile->stride, m, PIM_NOTHING);
}

/* Bytes [offset, offset + bytes) of a weight matrix of the ring: this node's part is in place, the rest
   in the workspace. */
static uint64_t load_weights(struct pim_emitter *emitter, const struct pim_product *product, uint64_t offset,
                             uint64_t bytes)
{
    const struct pim_allspark_partition *part = emitter->part;
    uint64_t total = (uint64_t)product->k * product->n;
    const uint32_t own = emitter->place.ring % part->ring;
    uint64_t begin = pim_even_begin(total, part->ring, own);
    uint64_t end = begin + pim_even_part(total, part->ring, own);
    uint64_t home = product->right;
    uint64_t last = PIM_NOTHING;
    while (bytes > 0) {
        uint64_t stop, address;
        if (offset >= begin && offset < end) {
            address = home + (offset - begin);
            stop = end;
        } else {
            address =
                emitter->workspace.weights[emitter->weights] + offset - (offset < begin ? 0 : end - begin);
            stop = offset < begin ? begin : total;
        }
        uint64_t piece = stop - offset < bytes ? stop - offset : bytes;
        last = pim_emit_memory(emitter, PIM_OP_LOAD, PIM_BUFFER_WEIGHT, address, piece, 0, 1, PIM_NOTHING);
        offset += piece;
        bytes -= piece;
    }
    return last;
}

/* k rows of n columns of a matrix in blocks of columns; the tile does not reach across blocks. */
static uint64_t load_block(struct pim_emitter *emitter, const struct pim_product *product, uint32_t k0,
                           uint32_t k, uint32_t n0, uint32_t n)
{
    uint32_t column = product->right_first + n0, begin = column - column % product->right_block;
    uint32_t width = pim_smaller32(product->right_block, product->right_total - begin);
    uint64_t address =
        product->right + (uint64_t)product->k * begin + (uint64_t)k0 * width + (column - begin);
    return pim_emit_memory(emitter, PIM_OP_LOAD, PIM_BUFFER_WEIGHT, address, n, width, k, PIM_NOTHING);
}

static uint64_t load_right(struct pim_emitter *emitter, const struct pim_product *product, uint32_t k0,
                           uint32_t k, uint32_t n0, uint32_t n, uint64_t offset)
{
    switch (product->operand) {
    case PIM_OPERAND_WEIGHTS:
        return load_weights(emitter, product, offset, (uint64_t)k * n);
    case PIM_OPERAND_BLOCKS:
        return load_block(emitter, product, k0, k, n0, n);
    case PIM_OPERAND_PLACED:
        return pim_emit_memory(emitter, PIM_OP_LOAD, PIM_BUFFER_WEIGHT, product->right + offset,
                               (uint64_t)k * n, 0, 1, PIM_NOTHING);
    case PIM_OPERAND_ROWS:
        return pim_emit_memory(emitter, PIM_OP_LOAD, PIM_BUFFER_WEIGHT,
                               product->right + k0 * product->right_stride + n0, n, product->right_stride, k,
                               PIM_NOTHING);
    case PIM_OPERAND_COLUMNS:
        break;
    }
    return pim_emit_memory(emitter, PIM_OP_LOAD, PIM_BUFFER_WEIGHT,
                           product->right + n0 * product->right_stride + k0, k, product->right_stride, n,
                           PIM_NOTHING);
}

void pim_emit_flush(struct pim_emitter *emitter)
{
    const struct pim_pending_store *store = &emitter->store;
    if (store->rows == 0)
        return;
    (void)pim_emit_memory(emitter, PIM_OP_STORE, PIM_BUFFER_NONE, store->address, store->bytes, store->stride,
                          store->rows, store->after);
    emitter->store.rows = 0;
}

/* The ACU on a finished tile, and the residual if there is one. Returns the last instruction. */
static uint64_t finish_tile(struct pim_emitter *emitter, const struct pim_product *product,
                            const struct pim_tiling *tiling, uint32_t m0, uint32_t m, uint32_t n0, uint32_t n,
                            uint64_t after)
{
    uint64_t release = (uint64_t)m * n * emitter->plan->hardware.accumulator_bytes;
    enum pim_vector operation = tiling->pass_rows ? PIM_VECTOR_COPY : product->operation;
    uint64_t done = pim_emit_vector(emitter, operation, m, n, release, after, PIM_NOTHING);
    if (!product->add_residual)
        return done;
    uint64_t residual = pim_emit_memory(emitter, PIM_OP_LOAD, PIM_BUFFER_NONE,
                                        product->residual + m0 * product->output_stride + n0, n,
                                        product->output_stride, m, PIM_NOTHING);
    return pim_emit_vector(emitter, PIM_VECTOR_ADD, m, n, 0, done, residual);
}

uint64_t pim_emit_matrix(struct pim_emitter *emitter, uint32_t m, uint32_t n, uint32_t k, unsigned flags,
                         uint64_t input, uint64_t weight)
{
    struct pim_instruction instruction = {.opcode = PIM_OP_MATRIX, .detail = (uint8_t)flags};
    instruction.u.matrix.m = m;
    instruction.u.matrix.n = n;
    instruction.u.matrix.k = k;
    instruction.u.matrix.input_bits = BITS;
    instruction.u.matrix.weight_bits = BITS;
    instruction.u.matrix.output_bits = BITS;
    return pim_emit(emitter, instruction, input, weight, PIM_NOTHING);
}

/* Columns n0 to n0 + n of an output tile: all tiles of k. `offset` walks through the weights. */
static uint64_t emit_columns(struct pim_emitter *emitter, const struct pim_product *product,
                             const struct pim_tiling *tiling, uint32_t m0, uint32_t m, uint32_t n0,
                             uint32_t n, uint64_t *offset)
{
    struct k_walk walk = {.piece = product->input};
    struct input_tile tile;
    uint64_t done = PIM_NOTHING;
    bool load = !tiling->resident || n0 == 0;
    bool give = !tiling->resident || n0 + n == product->n;
    while (next_tile(emitter, product, tiling->k, &walk, &tile)) {
        pim_prefetch_go_on(emitter);
        /* A resident tile was loaded before the first output tile's weights; the memory engine works in
           order, so it is there. */
        uint64_t input = load ? load_input(emitter, &tile, m0, m) : PIM_NOTHING;
        uint64_t weight = load_right(emitter, product, tile.k0, tile.k, n0, n, *offset);
        *offset += (uint64_t)tile.k * n;
        unsigned flags = PIM_MATRIX_RELEASE_WEIGHT | (give ? PIM_MATRIX_RELEASE_INPUT : 0u) |
                         (tile.k0 == 0 ? PIM_MATRIX_OPEN_OUTPUT : PIM_MATRIX_ACCUMULATE);
        done = pim_emit_matrix(emitter, m, n, tile.k, flags, input, weight);
    }
    return done;
}

/* One output tile: parts of its columns, as wide as the tiles of the right operand. */
static uint64_t emit_output_tile(struct pim_emitter *emitter, const struct pim_product *product,
                                 const struct pim_tiling *tiling, uint32_t m0, uint32_t m, uint32_t n0,
                                 uint32_t n, uint64_t *offset)
{
    uint64_t done = PIM_NOTHING;
    for (uint32_t part = 0; part < n; part += tiling->right)
        done = emit_columns(emitter, product, tiling, m0, m, n0 + part,
                            pim_smaller32(tiling->right, n - part), offset);
    return done;
}

/*
 * The ACU's operation on whole rows of what the product has stored. The store of a block follows the load of
 * the next one. Joins before and after: the array and the memory engine both take space of the output buffer.
 */
static void emit_second_pass(struct pim_emitter *emitter, const struct pim_product *product, uint32_t block)
{
    pim_emit_flush(emitter);
    pim_emit_join(emitter);
    for (uint32_t m0 = 0; m0 < product->m; m0 += block) {
        uint32_t m = pim_smaller32(block, product->m - m0);
        uint64_t address = product->output + m0 * product->output_stride;
        uint64_t loaded = pim_emit_memory(emitter, PIM_OP_LOAD, PIM_BUFFER_OUTPUT, address, product->n,
                                          product->output_stride, m, PIM_NOTHING);
        pim_emit_flush(emitter);
        uint64_t done = pim_emit_vector(emitter, product->operation, m, product->n, (uint64_t)m * product->n,
                                        loaded, PIM_NOTHING);
        emitter->store = (struct pim_pending_store){.address = address,
                                                    .bytes = product->n,
                                                    .stride = product->output_stride,
                                                    .rows = m,
                                                    .after = done};
    }
    pim_emit_flush(emitter);
    pim_emit_join(emitter);
}

/* Tiles that are multiplied. */
static uint64_t tiles_of(const struct pim_emitter *emitter, const struct pim_product *product,
                         const struct pim_tiling *tiling)
{
    uint64_t depth = 0;
    for (uint32_t segment = 0; segment < product->segments; segment++)
        depth += pim_divide_up(segment_width(emitter, product, segment), tiling->k);
    return pim_divide_up(product->m, tiling->m) * pim_divide_up(product->n, tiling->right) * depth;
}

static void emit_product(struct pim_emitter *emitter, const struct pim_product *product,
                         const struct pim_tiling *tiling)
{
    pim_prefetch_products(emitter, tiles_of(emitter, product, tiling));
    for (uint32_t m0 = 0; m0 < product->m; m0 += tiling->m) {
        uint32_t m = pim_smaller32(tiling->m, product->m - m0);
        uint64_t offset = 0;
        for (uint32_t n0 = 0, n; n0 < product->n; n0 += n) {
            n = pim_smaller32(tiling->n, product->n - n0);
            if (product->operand == PIM_OPERAND_BLOCKS)
                n = pim_smaller32(n,
                                  product->right_block - (product->right_first + n0) % product->right_block);
            uint64_t done = emit_output_tile(emitter, product, tiling, m0, m, n0, n, &offset);
            pim_emit_flush(emitter);
            done = finish_tile(emitter, product, tiling, m0, m, n0, n, done);
            emitter->store =
                (struct pim_pending_store){.address = product->output + m0 * product->output_stride + n0,
                                           .bytes = n,
                                           .stride = product->output_stride,
                                           .rows = m,
                                           .after = done};
        }
    }
    if (tiling->pass_rows)
        emit_second_pass(emitter, product, tiling->pass_rows);
}

void pim_emit_tiled(struct pim_emitter *emitter, const struct pim_product *product)
{
    struct pim_tiling tiling;
    struct pim_matrix_estimate estimate;
    if (product->m == 0 || product->n == 0 || emitter->status != PIM_OK)
        return;
    emitter->status = pim_product_tiling(emitter, product, &tiling, &estimate);
    if (emitter->status == PIM_OK)
        emit_product(emitter, product, &tiling);
}

struct pim_matrix_estimate pim_product_estimate(struct pim_emitter *emitter,
                                                const struct pim_product *product)
{
    struct pim_tiling tiling;
    struct pim_matrix_estimate estimate;
    if (product->m > 0 && emitter->status == PIM_OK)
        emitter->status = pim_product_tiling(emitter, product, &tiling, &estimate);
    return product->m > 0 && emitter->status == PIM_OK ? estimate : (struct pim_matrix_estimate){0};
}
