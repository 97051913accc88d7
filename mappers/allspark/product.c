/*
 * Matrix products in tiles: loads that run one tile ahead of the PE array (the buffers give the pace), a matrix instruction a tile, the ACU on
 * each finished output tile, and its store one output tile later, so that the store never stands in front of the next tile's loads.
 */
#include "mappers/allspark/emitter.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>

enum { BITS = 8 };

static uint32_t minimum(uint64_t a, uint64_t b)
{
    return (uint32_t)(a < b ? a : b);
}

static uint32_t segment_width(const struct pim_emitter *emitter, const struct pim_product *product, uint32_t segment)
{
    return product->segments == 1 ? product->k : product->segment_width(emitter->stage, product->segment_total, segment);
}

/* ACU passes over each output element, for the estimate: softmax reads its rows three times, a residual is added in a second pass. */
static unsigned passes_of(const struct pim_product *product)
{
    return product->operation == PIM_VECTOR_SOFTMAX ? 3 : product->add_residual ? 2 : 1;
}

enum pim_status pim_product_estimate(const struct pim_allspark_plan *plan, const struct pim_product *product,
                                     struct pim_tiling *tiling, struct pim_matrix_estimate *estimate, struct pim_error *error)
{
    uint32_t segment = product->k / product->segments + (product->k % product->segments != 0);
    if (!pim_estimate_tiling(&plan->hardware, product->m, product->n, product->k, segment, product->operation == PIM_VECTOR_SOFTMAX,
                             passes_of(product), tiling, estimate))
        return pim_fail(error, PIM_BAD_INPUT,
                        "a product of %" PRIu32 " x %" PRIu32 " x %" PRIu32 " (m, n, k) has no tile that fits the buffers of %" PRIu64
                        ", %" PRIu64 " and %" PRIu64 " bytes for input, weights and output: enlarge buffers.output_bytes or buffers.weight_bytes",
                        product->m, product->n, product->k, plan->hardware.input_bytes, plan->hardware.weight_bytes,
                        plan->hardware.output_bytes);
    return PIM_OK;
}

enum pim_status pim_product_tiling(struct pim_emitter *emitter, const struct pim_product *product, struct pim_tiling *tiling,
                                   struct pim_matrix_estimate *estimate)
{
    struct pim_tiling_memory wanted = {product->m, product->n, product->k, product->segments, passes_of(product), {0}, {0}};
    for (unsigned i = 0; i < PIM_TILINGS; i++) {
        const struct pim_tiling_memory *known = &emitter->tilings[i];
        if (known->m == wanted.m && known->n == wanted.n && known->k == wanted.k && known->segment == wanted.segment &&
            known->passes == wanted.passes) {
            *tiling = known->tiling;
            *estimate = known->estimate;
            return PIM_OK;
        }
    }
    if (pim_product_estimate(emitter->plan, product, &wanted.tiling, &wanted.estimate, emitter->error) != PIM_OK)
        return emitter->error->status;
    emitter->tilings[emitter->next_tiling++ % PIM_TILINGS] = wanted;
    *tiling = wanted.tiling;
    *estimate = wanted.estimate;
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

static bool next_tile(const struct pim_emitter *emitter, const struct pim_product *product, uint32_t depth, struct k_walk *walk,
                      struct input_tile *tile)
{
    if (walk->segment == product->segments)
        return false;
    uint32_t width = segment_width(emitter, product, walk->segment);
    uint64_t stride = product->segments == 1 ? product->input_stride : width;
    *tile = (struct input_tile){.address = walk->piece + walk->offset,
                                .stride = stride,
                                .k0 = walk->k0,
                                .k = minimum(depth, width - walk->offset)};
    walk->offset += tile->k;
    walk->k0 += tile->k;
    if (walk->offset == width) {
        walk->piece += (uint64_t)width * product->m;
        walk->offset = 0;
        walk->segment++;
    }
    return true;
}

static uint64_t load_input(struct pim_emitter *emitter, const struct input_tile *tile, uint32_t m0, uint32_t m)
{
    return pim_emit_memory(emitter, PIM_OP_LOAD, PIM_BUFFER_INPUT, tile->address + m0 * tile->stride, tile->k, tile->stride, m,
                           PIM_NOTHING);
}

/* Bytes [offset, offset + bytes) of a weight matrix of the ring: this node's share is in place, the rest in the workspace. */
static uint64_t load_weights(struct pim_emitter *emitter, const struct pim_product *product, uint64_t offset, uint64_t bytes)
{
    const struct pim_allspark_stage *stage = emitter->stage;
    uint64_t total = (uint64_t)product->k * product->n;
    uint64_t begin = pim_share_begin(total, stage->ring, emitter->place.ring);
    uint64_t end = begin + pim_share(total, stage->ring, emitter->place.ring);
    uint64_t home = pim_weight_address(stage, product->block, product->weight);
    uint64_t last = PIM_NOTHING;
    while (bytes > 0) {
        uint64_t stop, address;
        if (offset >= begin && offset < end) {
            address = home + (offset - begin);
            stop = end;
        } else {
            address = emitter->workspace.weights + offset;
            stop = offset < begin ? begin : total;
        }
        uint64_t part = stop - offset < bytes ? stop - offset : bytes;
        last = pim_emit_memory(emitter, PIM_OP_LOAD, PIM_BUFFER_WEIGHT, address, part, 0, 1, PIM_NOTHING);
        offset += part;
        bytes -= part;
    }
    return last;
}

static uint64_t load_right(struct pim_emitter *emitter, const struct pim_product *product, uint32_t k0, uint32_t k, uint32_t n0,
                           uint32_t n, uint64_t offset)
{
    switch (product->operand) {
    case PIM_OPERAND_WEIGHTS:
        return load_weights(emitter, product, offset, (uint64_t)k * n);
    case PIM_OPERAND_PLACED:
        return pim_emit_memory(emitter, PIM_OP_LOAD, PIM_BUFFER_WEIGHT, product->right + offset, (uint64_t)k * n, 0, 1, PIM_NOTHING);
    case PIM_OPERAND_ROWS:
        return pim_emit_memory(emitter, PIM_OP_LOAD, PIM_BUFFER_WEIGHT, product->right + k0 * product->right_stride + n0, n,
                               product->right_stride, k, PIM_NOTHING);
    case PIM_OPERAND_COLUMNS:
        break;
    }
    return pim_emit_memory(emitter, PIM_OP_LOAD, PIM_BUFFER_WEIGHT, product->right + n0 * product->right_stride + k0, k,
                           product->right_stride, n, PIM_NOTHING);
}

/* An output tile whose store has not been written yet. */
struct pending_store {
    bool valid;
    uint64_t after;
    uint32_t m0, m, n0, n;
};

static void flush(struct pim_emitter *emitter, const struct pim_product *product, struct pending_store *store)
{
    if (!store->valid)
        return;
    store->valid = false;
    (void)pim_emit_memory(emitter, PIM_OP_STORE, PIM_BUFFER_NONE, product->output + store->m0 * product->output_stride + store->n0,
                          store->n, product->output_stride, store->m, store->after);
}

/* The ACU on a finished tile, and the residual if there is one. Returns the last instruction. */
static uint64_t finish_tile(struct pim_emitter *emitter, const struct pim_product *product, uint32_t m0, uint32_t m, uint32_t n0,
                            uint32_t n, uint64_t after)
{
    uint64_t release = (uint64_t)m * n * emitter->plan->hardware.accumulator_bytes;
    uint64_t done = pim_emit_vector(emitter, product->operation, m, n, release, after, PIM_NOTHING);
    if (!product->add_residual)
        return done;
    uint64_t residual = pim_emit_memory(emitter, PIM_OP_LOAD, PIM_BUFFER_NONE,
                                        product->residual + m0 * product->output_stride + n0, n, product->output_stride, m, PIM_NOTHING);
    return pim_emit_vector(emitter, PIM_VECTOR_ADD, m, n, 0, done, residual);
}

static uint64_t emit_matrix(struct pim_emitter *emitter, uint32_t m, uint32_t n, uint32_t k, unsigned flags, uint64_t input,
                            uint64_t weight)
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

/* One output tile: all tiles of k. `offset` walks through the weights. */
static uint64_t emit_output_tile(struct pim_emitter *emitter, const struct pim_product *product, const struct pim_tiling *tiling,
                                 uint32_t m0, uint32_t m, uint32_t n0, uint32_t n, uint64_t *offset)
{
    struct k_walk walk = {.piece = product->input};
    struct input_tile tile;
    uint64_t done = PIM_NOTHING;
    bool load = !tiling->resident || n0 == 0;
    bool give = !tiling->resident || n0 + n == product->n;
    while (next_tile(emitter, product, tiling->k, &walk, &tile)) {
        /* A resident tile was loaded before the first output tile's weights; the memory engine works in order, so it is there. */
        uint64_t input = load ? load_input(emitter, &tile, m0, m) : PIM_NOTHING;
        uint64_t weight = load_right(emitter, product, tile.k0, tile.k, n0, n, *offset);
        *offset += (uint64_t)tile.k * n;
        unsigned flags = PIM_MATRIX_RELEASE_WEIGHT | (give ? PIM_MATRIX_RELEASE_INPUT : 0u) |
                         (tile.k0 == 0 ? PIM_MATRIX_OPEN_OUTPUT : PIM_MATRIX_ACCUMULATE);
        done = emit_matrix(emitter, m, n, tile.k, flags, input, weight);
    }
    return done;
}

void pim_emit_product(struct pim_emitter *emitter, const struct pim_product *product, const struct pim_tiling *tiling)
{
    struct pending_store store = {.valid = false};
    for (uint32_t m0 = 0; m0 < product->m; m0 += tiling->m) {
        uint32_t m = minimum(tiling->m, product->m - m0);
        uint64_t offset = 0;
        for (uint32_t n0 = 0; n0 < product->n; n0 += tiling->n) {
            uint32_t n = minimum(tiling->n, product->n - n0);
            uint64_t done = emit_output_tile(emitter, product, tiling, m0, m, n0, n, &offset);
            flush(emitter, product, &store);
            done = finish_tile(emitter, product, m0, m, n0, n, done);
            store = (struct pending_store){.valid = true, .after = done, .m0 = m0, .m = m, .n0 = n0, .n = n};
        }
    }
    flush(emitter, product, &store);
}
