/*
 * Tiles of a matrix product.
 *
 * Order of work (the emitter in mappers/allspark follows it): for each block of m rows; for each block of n
 * columns; for each tile of k: load input (unless resident) and weights, multiply; then one pass through the
 * ACU and a store of the output tile. Both operands are double-buffered: a tile takes at most half of its
 * buffer, except that a resident input that is the only row block may take all of it. An output tile takes
 * half of its buffer, or all of it when there is no other way.
 *
 * Where the ACU works on whole rows (softmax), either an output tile holds whole rows, and the right operand
 * comes in parts of its columns: for each part, for each tile of k. Or the product is stored in tiles of any
 * width, and a second pass takes whole rows from memory through the output buffer to the ACU and back.
 */
#include "mappers/estimate/estimate.h"
#include "sim/integer.h"

#include <assert.h>

static uint32_t minimum(uint64_t a, uint64_t b)
{
    return (uint32_t)(a < b ? a : b);
}

/* The largest multiple of `grain` that is <= value, or value itself when it is smaller than a grain. */
static uint32_t round_down(uint32_t value, uint32_t grain)
{
    return value < grain ? value : value - value % grain;
}

/* Blocks of one size that an extent is cut into. */
struct cut {
    uint64_t blocks, size;
};

struct product {
    const struct pim_estimate_hardware *hardware;
    const struct pim_matrix_shape *shape;
    struct cut segments[2];      /* of k: the widest, and the others */
    uint64_t among, right_among; /* as of the shape, or PIM_ANYWHERE */
};

/* Sum over the blocks of `extent` cut in `tile`s of ceil(block / grain). */
static uint64_t folded(uint64_t extent, uint64_t tile, uint64_t grain)
{
    uint64_t whole = extent / tile;
    return whole * pim_divide_up(tile, grain) + pim_divide_up(extent % tile, grain);
}

/* The same of all segments. */
static uint64_t folded_depth(const struct product *product, uint64_t tile, uint64_t grain)
{
    const struct cut *segments = product->segments;
    return segments[0].blocks * folded(segments[0].size, tile, grain) +
           segments[1].blocks * folded(segments[1].size, tile, grain);
}

static uint64_t blocks(uint64_t extent, uint64_t tile)
{
    return pim_divide_up(extent, tile);
}

/* Loads of one k x n tile of the right operand. */
static uint64_t right_cycles(const struct product *product, uint64_t n, uint64_t k, uint64_t tiles)
{
    const struct pim_matrix_shape *shape = product->shape;
    const uint64_t bytes = shape->right_pitch == 0 ? k * n
                           : shape->right_columns  ? k
                                                   : n,
                   pieces = shape->right_pitch == 0 ? 1
                            : shape->right_columns  ? n
                                                    : k;
    return pim_estimate_bursts(product->hardware, bytes, shape->right_pitch, pieces * tiles, tiles,
                               product->right_among, false);
}

static uint64_t input_cycles(const struct product *product, uint64_t m, uint64_t k, uint64_t tiles)
{
    return pim_estimate_bursts(product->hardware, k, product->shape->input_pitch, m * tiles, tiles,
                               product->among, false);
}

/* The first of them, which finds open what was stored last before the product: the input. */
static uint64_t first_input_cycles(const struct product *product, uint64_t m, uint64_t k)
{
    const struct pim_matrix_shape *shape = product->shape;
    const uint64_t input = (uint64_t)shape->count * shape->m * shape->k;
    return pim_estimate_bursts(product->hardware, k, shape->input_pitch, m, 1, input, true);
}

static uint64_t store_cycles(const struct product *product, uint64_t m, uint64_t n, uint64_t tiles)
{
    return pim_estimate_bursts(product->hardware, n, product->shape->output_pitch, m * tiles, tiles,
                               product->right_among, true);
}

/* What is added to a tile is loaded behind the store of the tile before, which lies beside it; that of the
   first tile alone has to open its row. */
static uint64_t residual_cycles(const struct product *product, uint64_t m, uint64_t n, uint64_t tiles)
{
    const uint64_t pitch = product->shape->output_pitch;
    return product->shape->residual
               ? pim_estimate_bursts(product->hardware, n, pitch, m * tiles, tiles, m * pitch, false)
               : 0;
}

static uint64_t first_residual_cycles(const struct product *product, uint64_t m, uint64_t n)
{
    return product->shape->residual ? pim_estimate_bursts(product->hardware, n, product->shape->output_pitch,
                                                          m, 1, product->right_among, false)
                                    : 0;
}

/* The store of the last of them: no access of the product waits until its row is closed. */
static uint64_t last_store_cycles(const struct product *product, uint64_t m, uint64_t n)
{
    const uint64_t pitch = product->shape->output_pitch;
    const bool loaded = product->shape->residual; /* what is added was loaded before, from the same place */
    return pim_estimate_bursts(product->hardware, n, pitch, m, 1, loaded ? m * pitch : product->right_among,
                               false);
}

/* The ACU on a tile; adding to it is an operation of its own. */
static uint64_t tile_vector(const struct product *product, uint64_t m, uint64_t n)
{
    const uint64_t cycles = pim_estimate_vector(product->hardware, m, n, product->shape->vector_passes);
    return product->shape->residual ? cycles + pim_estimate_vector(product->hardware, m, n, 1) : cycles;
}

/* The first operation, which gives the accumulators back, on all tiles: as on the whole, but that each is an
   operation of its own. */
static uint64_t vectors(const struct product *product, const struct pim_tiling *tiling)
{
    const struct pim_estimate_hardware *hardware = product->hardware;
    const struct pim_matrix_shape *shape = product->shape;
    const uint64_t rows = blocks(shape->m, tiling->m), columns = blocks(shape->n, tiling->n),
                   tiles = rows * columns;
    return pim_larger(
        pim_estimate_vector(hardware, shape->m, shape->n, shape->vector_passes) +
            (tiles - 1) * hardware->acu_depth,
        tiles * pim_estimate_vector(hardware, shape->m / rows, shape->n / columns, shape->vector_passes));
}

/* The addition of the residual, on all tiles. */
static uint64_t additions(const struct product *product, uint64_t tiles)
{
    const struct pim_matrix_shape *shape = product->shape;
    return shape->residual ? pim_estimate_vector(product->hardware, shape->m, shape->n, 1) +
                                 (tiles - 1) * product->hardware->acu_depth
                           : 0;
}

static uint64_t above(uint64_t value, uint64_t part)
{
    return value > part ? value - part : 0;
}

/*
 * The memory engine works in order, and the store of an output tile stands between the loads of the next one
 * and of the one after that. So the loads of a tile wait until the one two before is loaded, multiplied,
 * worked by the ACU and stored: two tiles are under way at a time. `parts`: loads of an output tile, of which
 * multiplication waits for the first, or the loads' last for its own. `turns`: of the port, which turns while
 * the array and the ACU work. `store`: of a tile, and the load of what is added to the next one.
 */
static uint64_t round_trips(const struct product *product, const struct pim_matrix_estimate *all,
                            uint64_t tiles, uint64_t parts, uint64_t turns, uint64_t store)
{
    uint64_t load = above((all->memory - turns) / tiles, store), compute = all->compute / tiles,
             vector = all->vector / tiles;
    uint64_t loaded_first = load + compute / parts, computed_last = load / parts + compute;
    uint64_t trip = (loaded_first > computed_last ? loaded_first : computed_last) + vector + store +
                    2 * pim_estimate_latency(product->hardware);
    return pim_divide_up(tiles, 2) * trip + (tiles % 2 == 0 ? load : 0);
}

/* The whole ones, and the rest. */
static void cut(uint64_t extent, uint64_t tile, struct cut cuts[2])
{
    cuts[0] = (struct cut){extent / tile, tile};
    cuts[1] = (struct cut){extent % tile != 0, extent % tile};
}

/* Tile by tile, each as long as the array takes for it: where the weights of a fold wait, it matters how many
 * vectors come behind them. */
static uint64_t tile_cycles(const struct product *product, const struct pim_tiling *tiling)
{
    const struct pim_matrix_shape *shape = product->shape;
    struct cut m[2], n[2], k[4];
    uint64_t cycles = 0;
    cut(shape->m, tiling->m, m);
    cut(shape->n, tiling->right, n);
    cut(product->segments[0].size, tiling->k, k);
    cut(product->segments[1].size, tiling->k, k + 2);
    for (unsigned i = 0; i < 16; i++) {
        const struct cut a = m[i & 1], b = n[i >> 1 & 1], c = k[i >> 2];
        const uint64_t tiles = a.blocks * b.blocks * c.blocks * product->segments[i >> 3].blocks;
        if (tiles > 0)
            cycles += tiles * pim_estimate_matrix(product->hardware, a.size, b.size, c.size);
    }
    return cycles;
}

static uint64_t array_cycles(const struct product *product, const struct pim_tiling *tiling, uint64_t tiles)
{
    const struct pim_estimate_hardware *hardware = product->hardware;
    if (hardware->systolic)
        return tiles * pim_estimate_matrix(hardware, tiling->m, tiling->right, tiling->k);
    if (hardware->weights_wait)
        return tile_cycles(product, tiling);
    const uint64_t work = product->shape->m * folded_depth(product, tiling->k, hardware->pe_rows) *
                          folded(product->shape->n, tiling->right, hardware->pe_columns);
    return pim_estimate_pace(hardware, work) + tiles * hardware->pe_depth;
}

/*
 * Where instructions start in order: of an output tile, the loads of a part wait until the array works on the
 * part before, and those of the first part until it is done with the tile before, whose store goes under the
 * last part. Other arguments as above.
 */
static uint64_t in_order(const struct product *product, const struct pim_matrix_estimate *all, uint64_t tiles,
                         uint64_t parts, uint64_t turns, uint64_t store)
{
    const uint64_t load = above((all->memory - turns) / tiles, store) / parts +
                          pim_estimate_latency(product->hardware),
                   compute = all->compute / tiles / parts;
    const uint64_t tile = load + (parts - 1) * pim_larger(load, compute) + pim_larger(compute, store);
    return tiles * pim_larger(tile, all->vector / tiles);
}

static void evaluate(const struct product *product, const struct pim_tiling *tiling,
                     struct pim_matrix_estimate *estimate)
{
    const struct pim_estimate_hardware *hardware = product->hardware;
    const struct pim_matrix_shape *shape = product->shape;
    uint64_t m = shape->m, n = shape->n, k = shape->k, count = shape->count;
    uint64_t row_blocks = blocks(m, tiling->m), column_blocks = blocks(n, tiling->n);
    uint64_t k_blocks = folded_depth(product, tiling->k, tiling->k);
    uint64_t outputs = row_blocks * column_blocks;
    uint64_t right_blocks = blocks(n, tiling->right);
    uint64_t tiles = row_blocks * right_blocks * k_blocks;
    /* Whole operands in average tiles: m / row_blocks and so on are exact in the sums. */
    uint64_t input_tiles = row_blocks * k_blocks * (tiling->resident ? 1 : right_blocks);
    uint64_t tile_m = pim_divide_up(m, row_blocks), tile_n = pim_divide_up(n, column_blocks),
             tile_right = pim_divide_up(n, right_blocks), tile_k = pim_divide_up(k, k_blocks);
    uint64_t turns = pim_estimate_turns(hardware, outputs);
    uint64_t memory = input_cycles(product, tile_m, tile_k, input_tiles) +
                      right_cycles(product, tile_right, tile_k, tiles) +
                      store_cycles(product, tile_m, tile_n, outputs) +
                      residual_cycles(product, tile_m, tile_n, outputs) + turns;
    const uint64_t last_vector = tile_vector(product, tile_m, tile_n), given_back = vectors(product, tiling),
                   vector = given_back + additions(product, outputs);
    const uint64_t first_input = first_input_cycles(product, tile_m, tile_k),
                   store = last_store_cycles(product, tile_m, tile_n),
                   residual = residual_cycles(product, tile_m, tile_n, 1);
    /* What is added to the only tile is loaded while that is multiplied, else behind the store before. */
    const uint64_t last_store = store + (count * outputs > 1 ? residual : 0);
    estimate->compute = count * array_cycles(product, tiling, tiles);
    estimate->memory = count * memory + first_input + store + first_residual_cycles(product, tile_m, tile_n) -
                       input_cycles(product, tile_m, tile_k, 1) - store_cycles(product, tile_m, tile_n, 1) -
                       residual;
    estimate->vector = count * vector;
    estimate->instructions = count * (2 * tiles + input_tiles + outputs * (shape->residual ? 4 : 2));
    /*
     * The first operands come before anything, the last output tile leaves after everything; in between the
     * slowest sets the pace.
     */
    uint64_t first = first_input + right_cycles(product, tile_right, tile_k, 1);
    uint64_t middle = above(estimate->memory, first + last_store);
    if (estimate->compute > middle)
        middle = estimate->compute;
    /*
     * Output tiles of more than half the buffer are not double-buffered: the array waits for the ACU to give
     * the tile back.
     */
    bool serial = 2 * tile_m * tile_n * hardware->accumulator_bytes > hardware->output_bytes;
    const uint64_t rest = above(estimate->vector, last_vector),
                   waits = above(count * given_back, last_vector);
    if (serial && estimate->compute + waits > middle)
        middle = estimate->compute + waits;
    if (rest > middle)
        middle = rest;
    estimate->total = 2 * pim_estimate_latency(hardware) + first + middle + last_vector + last_store;
    const uint64_t parts = k_blocks * right_blocks / column_blocks,
                   behind = store_cycles(product, tile_m, tile_n, 1) + residual;
    estimate->total = pim_larger(
        estimate->total, round_trips(product, estimate, count * outputs, parts, count * turns, behind));
    if (hardware->in_order)
        estimate->total = pim_larger(
            estimate->total, in_order(product, estimate, count * outputs, parts, count * turns, behind) +
                                 last_vector + last_store + pim_estimate_latency(hardware));
}

/*
 * Depth of the tiles of `span`: as few as the buffers allow, and those equally deep (in whole folds). A short
 * last tile would leave the double buffer without work for the loads of the deep one behind it.
 */
static uint32_t even_depth(uint32_t span, uint64_t deepest, uint32_t grain)
{
    if (span <= deepest)
        return span;
    uint32_t depth = round_down(minimum(deepest, span), grain);
    uint64_t even = pim_divide_up(pim_divide_up(span, pim_divide_up(span, depth)), grain) * grain;
    return even < depth ? (uint32_t)even : depth;
}

/* The largest width up to `n` that is a multiple of `grain` or divides it. */
static uint32_t on_grain(uint32_t n, uint32_t grain)
{
    if (n >= grain)
        return n - n % grain;
    while (grain % n != 0)
        n--;
    return n;
}

/*
 * Fills n, right and k of a tiling whose m and residence are given; `right` at most `widest` columns. False
 * when nothing fits.
 */
static bool complete(const struct product *product, uint64_t output_space, uint32_t widest,
                     struct pim_tiling *tiling)
{
    const struct pim_estimate_hardware *hardware = product->hardware;
    const struct pim_matrix_shape *shape = product->shape;
    uint64_t row = output_space / ((uint64_t)tiling->m * hardware->accumulator_bytes);
    if (row == 0 || (shape->full_rows && row < shape->n))
        return false;
    tiling->right = minimum(widest, minimum(hardware->weight_bytes / 2, row));
    if (tiling->right == 0)
        return false;
    if (shape->right_block && tiling->right > shape->right_block)
        tiling->right = shape->right_block;
    if (shape->grain && tiling->right < shape->n)
        tiling->right = on_grain(tiling->right, shape->grain);
    tiling->n = shape->full_rows ? shape->n : tiling->right;
    uint64_t deepest = hardware->weight_bytes / 2 / tiling->right;
    if (!tiling->resident && deepest > hardware->input_bytes / 2 / tiling->m)
        deepest = hardware->input_bytes / 2 / tiling->m;
    if (deepest == 0)
        return false;
    tiling->k = even_depth((uint32_t)product->segments[0].size, deepest, hardware->pe_rows);
    return true;
}

/*
 * One candidate: `variant` says whether the input is resident, the output may take its whole buffer, and how
 * narrow the tiles of the right operand are (and with them those of the output, where they are no whole
 * rows): narrower ones may be deeper.
 */
static bool propose(const struct product *product, uint32_t rows, bool only_block, unsigned variant,
                    struct pim_tiling *candidate)
{
    const struct pim_estimate_hardware *hardware = product->hardware;
    const struct pim_matrix_shape *shape = product->shape;
    *candidate = (struct pim_tiling){.m = rows, .resident = (variant & 1) != 0};
    uint64_t limit = only_block && shape->count == 1 ? hardware->input_bytes : hardware->input_bytes / 2;
    if (candidate->resident && (uint64_t)rows * shape->k > limit)
        return false;
    uint64_t output_space = hardware->output_bytes / ((variant & 2) ? 1 : 2);
    if (!complete(product, output_space, shape->n, candidate))
        return false;
    unsigned narrower = variant >> 2;
    if (narrower == 0) {
        if (candidate->n < shape->n && !shape->grain)
            candidate->n = candidate->right = round_down(candidate->n, hardware->pe_columns);
        return true;
    }
    uint32_t right = round_down(candidate->right >> narrower, hardware->pe_columns);
    if (right == 0 || right == candidate->right)
        return false;
    return complete(product, output_space, right, candidate);
}

static bool same(const struct pim_tiling *a, const struct pim_tiling *b)
{
    return a->m == b->m && a->n == b->n && a->right == b->right && a->k == b->k && a->resident == b->resident;
}

/* The search: the best tiling so far, and those that were evaluated with the same m. */
struct search {
    struct product product;
    struct pim_tiling *best;
    struct pim_matrix_estimate *estimate;
    bool found;
};

/* Tries all tilings whose row blocks are of `rows` rows; of equal ones the first is the best. */
static void try_rows(struct search *search, uint32_t rows, bool only_block)
{
    enum { VARIANTS = 16, VARIANTS_OF_ROWS = 64 };
    struct pim_tiling tried[VARIANTS_OF_ROWS];
    unsigned count = 0, variants = search->product.shape->full_rows ? VARIANTS_OF_ROWS : VARIANTS;
    for (unsigned variant = 0; variant < variants; variant++) {
        struct pim_tiling *candidate = &tried[count];
        struct pim_matrix_estimate cost;
        unsigned before = 0;
        if (!propose(&search->product, rows, only_block, variant, candidate))
            continue;
        while (!same(&tried[before], candidate))
            before++;
        if (before < count)
            continue;
        count++;
        evaluate(&search->product, candidate, &cost);
        if (!search->found || cost.total < search->estimate->total) {
            *search->best = *candidate;
            *search->estimate = cost;
            search->found = true;
        }
    }
}

/* Tilings of the product alone: row blocks of a 64th of the rows and more, then ever smaller ones. */
static bool find_tiling(const struct pim_estimate_hardware *hardware, const struct pim_matrix_shape *shape,
                        struct pim_tiling *tiling, struct pim_matrix_estimate *estimate)
{
    enum { STEPS = 64 };
    assert(shape->m > 0);
    const uint32_t rest = shape->k - shape->segments * shape->segment;
    struct search search = {
        .product = {hardware,
                    shape,
                    {{shape->segments, shape->segment},
                     {shape->narrower, shape->narrower ? pim_divide_up(rest, shape->narrower) : 0}},
                    PIM_ANYWHERE,
                    PIM_ANYWHERE},
        .best = tiling,
        .estimate = estimate};
    uint32_t before = 0;
    for (uint32_t parts = 1;; parts = parts < STEPS ? parts + 1 : 2 * parts) {
        if (parts > shape->m)
            parts = shape->m; /* single rows are the last resort */
        uint32_t rows = (uint32_t)pim_divide_up(shape->m, parts);
        if (rows != before)
            try_rows(&search, rows, parts == 1);
        before = rows;
        if (parts == shape->m)
            break;
    }
    if (search.found && shape->among > 0) {
        search.product.among = shape->among;
        search.product.right_among = shape->right_among;
        evaluate(&search.product, tiling, estimate);
    }
    return search.found;
}

/*
 * The second pass over whole rows: as many of them as half of the output buffer holds, or the whole buffer
 * where not one row fits the half. A block is loaded while the ACU works on the one before. 0: no row fits.
 */
static uint32_t second_pass(const struct pim_estimate_hardware *hardware,
                            const struct pim_matrix_shape *shape, struct pim_matrix_estimate *cost)
{
    uint64_t rows = hardware->output_bytes / 2 / shape->n;
    if (rows == 0)
        rows = hardware->output_bytes / shape->n;
    if (rows == 0)
        return 0;
    rows = minimum(rows, shape->m);
    uint64_t m = shape->m, n = shape->n, pitch = shape->output_pitch, turns = blocks(m, rows);
    uint64_t load = pim_estimate_pieces(hardware, n, pitch, rows, 1, false),
             store = pim_estimate_pieces(hardware, n, pitch, rows, 1, true),
             vector = pim_estimate_vector(hardware, rows, n, shape->vector_passes);
    uint64_t memory = pim_estimate_pieces(hardware, n, pitch, m, turns, false) +
                      pim_estimate_pieces(hardware, n, pitch, m, turns, true) +
                      pim_estimate_turns(hardware, turns);
    uint64_t vectors =
        pim_estimate_vector(hardware, m, n, shape->vector_passes) + (turns - 1) * hardware->acu_depth;
    uint64_t middle = above(memory, load + store);
    if (above(vectors, vector) > middle)
        middle = above(vectors, vector);
    *cost = (struct pim_matrix_estimate){.memory = memory,
                                         .vector = vectors,
                                         .total = 2 * pim_estimate_latency(hardware) + load + middle +
                                                  vector + store};
    return (uint32_t)rows;
}

bool pim_estimate_tiling(const struct pim_estimate_hardware *hardware, const struct pim_matrix_shape *shape,
                         struct pim_tiling *tiling, struct pim_matrix_estimate *estimate)
{
    bool found = find_tiling(hardware, shape, tiling, estimate);
    if (!shape->full_rows)
        return found;
    struct pim_matrix_shape product = *shape;
    struct pim_tiling other;
    struct pim_matrix_estimate first, second;
    product.full_rows = false;
    product.vector_passes = 1;
    product.count = 1; /* each is complete before its second pass begins, and that before the next one */
    uint32_t rows = second_pass(hardware, shape, &second);
    if (rows == 0 || !find_tiling(hardware, &product, &other, &first) ||
        (found && estimate->total <= shape->count * (first.total + second.total)))
        return found;
    *tiling = other;
    tiling->pass_rows = rows;
    *estimate = (struct pim_matrix_estimate){.compute = shape->count * first.compute,
                                             .memory = shape->count * (first.memory + second.memory),
                                             .vector = shape->count * (first.vector + second.vector),
                                             .total = shape->count * (first.total + second.total)};
    return true;
}
