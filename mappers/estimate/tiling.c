/*
 * Tiles of a matrix product.
 *
 * Order of work (the emitter in mappers/allspark follows it): for each block of m rows; for each block of n columns; for each tile
 * of k: load input (unless resident) and weights, multiply; then one pass through the ACU and a store of the output tile.
 * Both operands are double-buffered: a tile takes at most half of its buffer, except that a resident input that is the only row
 * block may take all of it. An output tile takes half of its buffer, or all of it when there is no other way.
 */
#include "mappers/estimate/estimate.h"

static uint64_t ceil_divide(uint64_t a, uint64_t b)
{
    return a / b + (a % b != 0);
}

static uint32_t minimum(uint64_t a, uint64_t b)
{
    return (uint32_t)(a < b ? a : b);
}

/* The largest multiple of `grain` that is <= value, or value itself when it is smaller than a grain. */
static uint32_t round_down(uint32_t value, uint32_t grain)
{
    return value < grain ? value : value - value % grain;
}

struct product {
    const struct pim_estimate_hardware *hardware;
    uint32_t m, n, k, segment;
    bool full_rows;
    unsigned vector_passes;
};

/* Sum over the blocks of `extent` cut in `tile`s of ceil(block / grain). */
static uint64_t folded(uint64_t extent, uint64_t tile, uint64_t grain)
{
    uint64_t whole = extent / tile;
    return whole * ceil_divide(tile, grain) + ceil_divide(extent % tile, grain);
}

static uint64_t blocks(uint64_t extent, uint64_t tile)
{
    return ceil_divide(extent, tile);
}

static void evaluate(const struct product *product, const struct pim_tiling *tiling, struct pim_matrix_estimate *estimate)
{
    const struct pim_estimate_hardware *hardware = product->hardware;
    uint64_t m = product->m, n = product->n, k = product->k;
    uint64_t row_blocks = blocks(m, tiling->m), column_blocks = blocks(n, tiling->n);
    uint64_t segments = ceil_divide(k, product->segment);
    uint64_t k_blocks = segments * blocks(product->segment < k ? product->segment : k, tiling->k);
    uint64_t tiles = row_blocks * column_blocks * k_blocks;
    uint64_t k_folds = segments * folded(product->segment < k ? product->segment : k, tiling->k, hardware->pe_rows);
    estimate->compute = m * k_folds * folded(n, tiling->n, hardware->pe_columns) + tiles * hardware->pe_depth;
    if (hardware->systolic)
        estimate->compute = tiles * pim_estimate_matrix(hardware, tiling->m, tiling->n, tiling->k);
    uint64_t input = m * k * (tiling->resident ? 1 : column_blocks);
    uint64_t weights = k * n * row_blocks;
    estimate->memory = pim_estimate_stream(hardware, input, false) + pim_estimate_stream(hardware, weights, false) +
                       pim_estimate_stream(hardware, m * n, true) + row_blocks * column_blocks * hardware->turn_cycles;
    uint64_t outputs = row_blocks * column_blocks;
    estimate->vector = pim_estimate_vector(hardware, m, n, product->vector_passes) + (outputs - 1) * hardware->acu_depth;
    uint64_t slowest = estimate->compute > estimate->memory ? estimate->compute : estimate->memory;
    if (estimate->vector > slowest)
        slowest = estimate->vector;
    /* The first operands come before anything, the last output tile leaves after everything. */
    uint64_t first = pim_estimate_access(hardware) +
                     pim_estimate_stream(hardware, (uint64_t)tiling->m * (tiling->resident ? k : tiling->k) +
                                                       (uint64_t)tiling->k * tiling->n, false);
    uint64_t last = pim_estimate_vector(hardware, tiling->m, tiling->n, product->vector_passes) + pim_estimate_access(hardware) +
                    pim_estimate_stream(hardware, (uint64_t)tiling->m * tiling->n, true);
    estimate->total = slowest + first + last;
}

/* Fills n and k of a tiling whose m and residence are given; false when nothing fits. */
static bool complete(const struct product *product, uint64_t output_space, struct pim_tiling *tiling)
{
    const struct pim_estimate_hardware *hardware = product->hardware;
    uint64_t row = output_space / ((uint64_t)tiling->m * hardware->accumulator_bytes);
    if (row == 0 || (product->full_rows && row < product->n))
        return false;
    uint64_t widest = product->full_rows ? product->n : row;
    if (widest > hardware->weight_bytes / 2)
        widest = product->full_rows ? widest : hardware->weight_bytes / 2;
    tiling->n = minimum(product->n, widest);
    uint64_t deepest = hardware->weight_bytes / 2 / tiling->n;
    if (!tiling->resident && deepest > hardware->input_bytes / 2 / tiling->m)
        deepest = hardware->input_bytes / 2 / tiling->m;
    if (deepest == 0)
        return false;
    uint32_t span = product->segment < product->k ? product->segment : product->k;
    tiling->k = span <= deepest ? span : round_down(minimum(deepest, span), hardware->pe_rows);
    return true;
}

bool pim_estimate_tiling(const struct pim_estimate_hardware *hardware, uint32_t m, uint32_t n, uint32_t k, uint32_t segment,
                         bool full_rows, unsigned vector_passes, struct pim_tiling *tiling, struct pim_matrix_estimate *estimate)
{
    const struct product product = {hardware, m, n, k, segment, full_rows, vector_passes};
    bool found = false;
    for (uint32_t parts = 1; parts <= m; parts = parts < 64 ? parts + 1 : parts * 2) {
        uint32_t rows = (uint32_t)ceil_divide(m, parts);
        for (unsigned variant = 0; variant < 16; variant++) {
            struct pim_tiling candidate = {.m = rows, .resident = (variant & 1) != 0};
            uint64_t limit = parts == 1 ? hardware->input_bytes : hardware->input_bytes / 2;
            if (candidate.resident && (uint64_t)rows * k > limit)
                continue;
            uint64_t output_space = hardware->output_bytes / ((variant & 2) ? 1 : 2);
            if (!complete(&product, output_space, &candidate))
                continue;
            /* Narrower output tiles give deeper weight tiles. */
            if (!full_rows && variant >> 2) {
                uint32_t narrow = round_down(candidate.n >> (variant >> 2), hardware->pe_columns);
                if (narrow == 0 || narrow == candidate.n)
                    continue;
                uint64_t space = (uint64_t)narrow * rows * hardware->accumulator_bytes;
                if (!complete(&product, space, &candidate))
                    continue;
            } else if (!full_rows && candidate.n < n) {
                candidate.n = round_down(candidate.n, hardware->pe_columns);
            } else if (full_rows && variant >> 2) {
                continue;
            }
            struct pim_matrix_estimate cost;
            evaluate(&product, &candidate, &cost);
            if (!found || cost.total < estimate->total) {
                *tiling = candidate;
                *estimate = cost;
                found = true;
            }
        }
        if (parts == m)
            break;
    }
    return found;
}
