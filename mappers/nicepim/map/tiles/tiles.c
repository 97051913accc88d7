#include "mappers/nicepim/map/tiles/tiles.h"
#include "sim/integer.h"

uint32_t tile_window(const struct tile_product *product, size_t dimension, uint32_t outputs, uint32_t *step)
{
    uint32_t kernel = product->kernel[dimension], stride = product->stride[dimension];
    *step = kernel == 1 ? stride : 1;
    return kernel == 1 ? outputs : (outputs - 1) * stride + kernel;
}

/* Rows or columns of the input that are loaded for so many of the output: what is beside the map is not. */
static uint32_t loaded_window(const struct tile_product *product, size_t dimension, uint32_t outputs,
                              uint32_t *step)
{
    uint32_t window = tile_window(product, dimension, outputs, step);
    return (uint32_t)pim_smaller(window, pim_divide_up(product->map[dimension], *step));
}

/* Elements of the box under a tile, and how they lie; what padding covers is not there. */
static uint64_t input_box(const struct tile_product *product, const struct tiling *tiling,
                          uint32_t extent[PLACE_DIMENSIONS], uint32_t step[PLACE_DIMENSIONS])
{
    const uint32_t outputs[] = {tiling->rows, tiling->columns};
    extent[0] = tiling->batches;
    extent[1] = tiling->channels;
    step[0] = step[1] = 1;
    for (size_t d = 0; d < 2; d++)
        extent[2 + d] = loaded_window(product, d, outputs[d], &step[2 + d]);
    return (uint64_t)extent[0] * extent[1] * extent[2] * extent[3];
}

/* Tiles of a product along each dimension, and the part of a whole tile that one has on average. */
struct pieces {
    uint64_t m, n, k;
    double m_share, n_share, k_share;
};

static struct pieces count_pieces(const struct tile_product *product, const struct tiling *tiling)
{
    uint64_t b = pim_divide_up(product->batches, tiling->batches),
             p = pim_divide_up(product->rows, tiling->rows),
             q = pim_divide_up(product->columns, tiling->columns);
    struct pieces pieces = {.m = b * p * q,
                            .n = pim_divide_up(product->n, tiling->n),
                            .k = pim_divide_up(product->channels, tiling->channels)};
    pieces.m_share = (double)product->batches / (double)(b * tiling->batches) * (double)product->rows /
                     (double)(p * tiling->rows) * (double)product->columns / (double)(q * tiling->columns);
    pieces.n_share = (double)product->n / (double)(pieces.n * tiling->n);
    pieces.k_share = (double)product->channels / (double)(pieces.k * tiling->channels);
    return pieces;
}

/* Cycles of all matrix instructions of a product: tiles of n and k at the edges are smaller, and fill the
 * array as they are. */
static uint64_t matrix_cycles(const struct pim_estimate_hardware *hardware,
                              const struct tile_product *product, const struct tiling *tiling,
                              const struct pieces *pieces)
{
    uint64_t m = (uint64_t)tiling->batches * tiling->rows * tiling->columns, cycles = 0;
    const uint64_t ns[] = {tiling->n, product->n - (pieces->n - 1) * tiling->n};
    const uint64_t cs[] = {tiling->channels, product->channels - (pieces->k - 1) * tiling->channels};
    for (size_t i = 0; i < 2; i++) {
        for (size_t j = 0; j < 2; j++) {
            uint64_t count = (i == 0 ? pieces->n - 1 : 1) * (j == 0 ? pieces->k - 1 : 1);
            /* as the node counts them: its ports move operands of FLOW_BYTES */
            if (count > 0)
                cycles += count * pim_pe_matrix_cycles(&hardware->pe, (uint32_t)m, (uint32_t)ns[i],
                                                       (uint32_t)tile_k(product, cs[j]), 8 * FLOW_BYTES,
                                                       8 * FLOW_BYTES);
        }
    }
    return (uint64_t)((double)(cycles * pieces->m) * pieces->m_share);
}

/* How often what of a tiling goes through the port, in whole tiles, and the columns of one. */
struct traffic {
    double inputs, weights, results;
    uint64_t input_columns, input_bytes, result_columns, weight_columns;
};

/* Columns and what passes the buffers, as the programs will have them. */
static void count_actions(const struct pim_estimate_hardware *hardware, const struct tile_product *product,
                          const struct pieces *pieces, const struct traffic *traffic, struct tiling *tiling)
{
    uint64_t m = (uint64_t)tiling->batches * tiling->rows * tiling->columns, n = tiling->n,
             k = tile_k(product, tiling->channels), weight_bytes = k * n * FLOW_BYTES;
    uint64_t width = product->sums ? FLOW_SUM_BYTES : FLOW_BYTES;
    struct pim_pe_cost pe;
    pim_pe_matrix(&hardware->pe, (uint32_t)m, (uint32_t)n, (uint32_t)k, 8 * FLOW_BYTES, 8 * FLOW_BYTES,
                  pieces->k > 1, &pe);
    double columns = (double)traffic->input_columns * traffic->inputs +
                     (double)traffic->weight_columns * traffic->weights +
                     (double)traffic->result_columns * traffic->results;
    double products =
        (double)(pieces->m * pieces->n * pieces->k) * pieces->m_share * pieces->n_share * pieces->k_share;
    double bytes = (double)traffic->input_bytes * traffic->inputs + (double)weight_bytes * traffic->weights +
                   (double)(m * n * (2 * width + hardware->accumulator_bytes)) * traffic->results +
                   (double)(pe.input_bytes_read + pe.weight_bytes_read + pe.output_bytes_read +
                            pe.output_bytes_written) *
                       products;
    tiling->actions = (struct pim_estimate_actions){
        .sram_bits = (uint64_t)(8 * bytes) * product->count,
        .acu_operations = (uint64_t)((double)(m * n) * traffic->results) * product->count,
        .dram_bits = (uint64_t)(8 * columns) * hardware->port_bytes * product->count,
        .dram_activates = (uint64_t)(columns * hardware->port_bytes / (double)hardware->row_bytes) *
                          hardware->banks * product->count};
}

/* What a step takes on the array, the port and the ACU: a tile of the product, and what is loaded and stored
 * from one to the next. */
struct step {
    double array, port, vector;
};

/*
 * From a step to the next. Tiles fit two by two, and a store stands behind the loads of the tile after its
 * own: loads of a tile begin when the one two before is worked and stored, so that two steps take at least
 * all of array, ACU, port and its latency in turn.
 */
static double step_cycles(const struct step *step, double access)
{
    double turn = (step->array + step->vector + step->port + access) / 2;
    double slowest = step->array > step->port ? step->array : step->port;
    slowest = step->vector > slowest ? step->vector : slowest;
    return turn > slowest ? turn : slowest;
}

/* Means of the tiles of a product. */
struct tile_times {
    double input, weight, store, vector, array;
};

/* Cycles of all tiles from the first load on. Each step is as long as what is slowest in it. */
static double all_steps(const struct pim_estimate_hardware *hardware, const struct tile_product *product,
                        const struct pieces *pieces, const struct tiling *tiling,
                        const struct tile_times *times)
{
    double access = (double)pim_estimate_latency(hardware);
    double stored = times->store + (double)pim_estimate_turns(hardware, 1);
    double products = (double)product->count, tiles = (double)(pieces->m * pieces->n);
    struct step both = {times->array, times->input + times->weight + stored, times->vector};
    if (pieces->k > 1) {
        const struct step inner = {times->array, times->input + times->weight, 0};
        both.vector = 0; /* long over when its store is due */
        return products * tiles * (double)(pieces->k - 1) * step_cycles(&inner, access) +
               (products * tiles - 1) * step_cycles(&both, access);
    }
    double outer = (double)(tiling->stationary ? pieces->n : pieces->m);
    const struct step inner = {times->array, (tiling->stationary ? times->input : times->weight) + stored,
                               times->vector};
    return products * (tiles - outer) * step_cycles(&inner, access) +
           (products * outer - 1) * step_cycles(&both, access);
}

/* A tile of weights: one run, or keys or values as they lie. */
static uint64_t weight_cycles(const struct pim_estimate_hardware *hardware,
                              const struct tile_product *product, uint64_t k, uint32_t n, uint64_t among,
                              uint64_t *columns)
{
    uint32_t extent[] = {1, (uint32_t)k, n, 1}, one[] = {1, 1, 1, 1};
    if (product->right == FLOW_STORED) {
        *columns = pim_divide_up(k * n * FLOW_BYTES, hardware->port_bytes);
        return place_run_cycles(hardware, k * n * FLOW_BYTES, among, false);
    }
    if (product->right == FLOW_VALUES) {
        extent[1] = n;
        extent[2] = (uint32_t)k;
    }
    return spread_cycles(hardware, &product->weights, extent, one, FLOW_BYTES, among, false, columns);
}

/* Bytes of all operands of a product. */
static uint64_t operand_bytes(const struct tile_product *product)
{
    uint32_t step;
    uint64_t input = (uint64_t)product->batches * product->channels *
                     loaded_window(product, 0, product->rows, &step) *
                     loaded_window(product, 1, product->columns, &step);
    uint64_t right = tile_k(product, product->channels) * product->n;
    uint64_t output = (uint64_t)product->batches * product->n * product->rows * product->columns;
    return product->count *
           ((input + right) * FLOW_BYTES + output * (product->sums ? FLOW_SUM_BYTES : FLOW_BYTES));
}

/* `among`: bytes of all operands. False: it costs as much as `least`, or more; then not all is known of it.
 */
static bool estimate(const struct pim_estimate_hardware *hardware, const struct tile_product *product,
                     const struct nice_weights *weights, uint64_t among, uint64_t least,
                     struct tiling *tiling)
{
    struct pieces pieces = count_pieces(product, tiling);
    uint32_t extent[PLACE_DIMENSIONS], step[PLACE_DIMENSIONS];
    const uint32_t results[] = {tiling->batches, tiling->n, tiling->rows, tiling->columns},
                   one[] = {1, 1, 1, 1};
    uint64_t m = (uint64_t)tiling->batches * tiling->rows * tiling->columns,
             k = tile_k(product, tiling->channels), tiles = pieces.m * pieces.n;
    tiling->compute = matrix_cycles(hardware, product, tiling, &pieces) * product->count;
    /* The total is the matrix instructions and more; means of tiles are rounded. */
    if (weights->cycles * (tiling->compute - (tiling->compute >> 32)) >=
        least + pim_smaller(2 * weights->cycles, UINT64_MAX - least))
        return false;
    struct traffic traffic = {.input_bytes = input_box(product, tiling, extent, step) * FLOW_BYTES};
    uint64_t input = spread_cycles(hardware, &product->input, extent, step, FLOW_BYTES, among, false,
                                   &traffic.input_columns);
    uint64_t weight = weight_cycles(hardware, product, k, tiling->n, among, &traffic.weight_columns);
    uint64_t store =
        spread_cycles(hardware, &product->output, results, one, product->sums ? FLOW_SUM_BYTES : FLOW_BYTES,
                      among, true, &traffic.result_columns);
    uint64_t vector = pim_estimate_vector(hardware, m, tiling->n, 1);
    /* With one tile of k either inputs stay while n advances, or weights while the rest does. */
    uint64_t all = tiles * pieces.k, few = pieces.m, once = pieces.n;
    double inputs = (double)input * pieces.m_share * pieces.k_share,
           right = (double)weight * pieces.n_share * pieces.k_share;
    if (pieces.k == 1) {
        tiling->stationary =
            inputs * (double)all + right * (double)once < inputs * (double)few + right * (double)all ||
            pieces.n == 1;
        tiling->resident = !tiling->stationary;
    }
    uint64_t input_tiles = tiling->resident || (pieces.k == 1 && pieces.n == 1) ? few : all;
    uint64_t weight_tiles = tiling->stationary ? once : all;
    uint64_t turns = pim_estimate_turns(hardware, tiles * product->count);
    tiling->memory = (uint64_t)(inputs * (double)input_tiles + right * (double)weight_tiles +
                                (double)(store * tiles) * pieces.m_share * pieces.n_share) *
                         product->count +
                     turns;
    tiling->vector = (uint64_t)((double)(vector * tiles) * pieces.m_share * pieces.n_share) * product->count;
    const struct tile_times times = {.input = inputs,
                                     .weight = right,
                                     .store = (double)store * pieces.m_share * pieces.n_share,
                                     .vector = (double)vector * pieces.m_share * pieces.n_share,
                                     .array = (double)tiling->compute / (double)(all * product->count)};
    tiling->total = input + weight + pim_estimate_latency(hardware) +
                    (uint64_t)(all_steps(hardware, product, &pieces, tiling, &times) + times.array +
                               times.vector + times.store);
    tiling->cost = weights->cycles * tiling->total;
    if (weights->energy == 0)
        return tiling->cost < least;
    traffic.inputs = (double)input_tiles * pieces.m_share * pieces.k_share;
    traffic.weights = (double)weight_tiles * pieces.n_share * pieces.k_share;
    traffic.results = (double)tiles * pieces.m_share * pieces.n_share;
    count_actions(hardware, product, &pieces, &traffic, tiling);
    tiling->cost = nice_cost(weights, tiling->total, nice_actions_pj(hardware, &tiling->actions));
    return tiling->cost < least;
}

/* Sizes of a tile along a dimension: the whole, and powers of two times the first; 0 after the last. */
static uint32_t next_size(uint32_t size, uint32_t length)
{
    return size >= length ? 0 : (uint32_t)pim_smaller(2 * (uint64_t)size, length);
}

static bool fits(uint64_t bytes, uint64_t buffer, bool one)
{
    return one ? bytes <= buffer : 2 * bytes <= buffer;
}

/* Columns first, then rows, then batches: whole ones before the next grows. */
static bool grow(const struct tile_product *product, struct tiling *tiling)
{
    uint32_t *sizes[] = {&tiling->columns, &tiling->rows, &tiling->batches};
    const uint32_t lengths[] = {product->columns, product->rows, product->batches};
    for (size_t d = 0; d < 3; d++) {
        /* Kernels with gaps between them are worked one by one: what lies between is not read. */
        if (d < 2 && product->kernel[1 - d] > 1 && product->stride[1 - d] > product->kernel[1 - d])
            continue;
        uint32_t next = next_size(*sizes[d], lengths[d]);
        if (next > 0) {
            *sizes[d] = next;
            return true;
        }
    }
    return false;
}

static bool positions_fit(const struct pim_estimate_hardware *hardware, const struct tile_product *product,
                          const struct tiling *trial)
{
    uint64_t positions = (uint64_t)product->batches * product->rows * product->columns,
             m = (uint64_t)trial->batches * trial->rows * trial->columns;
    uint32_t extent[PLACE_DIMENSIONS], step[PLACE_DIMENSIONS];
    bool whole = m == positions && product->count == 1;
    return fits(input_box(product, trial, extent, step) * FLOW_BYTES, hardware->input_bytes,
                whole && trial->channels == product->channels) &&
           fits(m * trial->n * hardware->accumulator_bytes, hardware->output_bytes,
                whole && trial->n == product->n);
}

static bool weights_fit(const struct pim_estimate_hardware *hardware, const struct tile_product *product,
                        const struct tiling *trial)
{
    bool whole = trial->channels == product->channels && trial->n == product->n && product->count == 1;
    return fits(tile_k(product, trial->channels) * trial->n * FLOW_BYTES, hardware->weight_bytes, whole);
}

/* Tiles of so many channels, as far as the positions of their outputs fit. */
static bool try_positions(const struct pim_estimate_hardware *hardware, const struct tile_product *product,
                          const struct nice_weights *weights, struct tiling *trial, bool found,
                          struct tiling *best)
{
    const uint64_t among = operand_bytes(product);
    while (positions_fit(hardware, product, trial)) {
        trial->resident = trial->stationary = false;
        if (estimate(hardware, product, weights, among, found ? best->cost : UINT64_MAX, trial))
            *best = *trial;
        found = true;
        if (!grow(product, trial))
            break;
    }
    return found;
}

/* Whether tiles of these channels leave the array half empty where larger ones would not, and fit. */
static bool half_empty(const struct pim_estimate_hardware *hardware, const struct tile_product *product,
                       uint32_t channels)
{
    struct tiling larger = {.batches = 1,
                            .rows = 1,
                            .columns = 1,
                            .n = (uint32_t)pim_smaller(hardware->pe_columns, product->n),
                            .channels = next_size(channels, product->channels)};
    return larger.channels > 0 && tile_k(product, channels) * 2 <= hardware->pe_rows &&
           weights_fit(hardware, product, &larger) && positions_fit(hardware, product, &larger);
}

/* Tiles of at least `columns` output channels. */
static bool choose_from(const struct pim_estimate_hardware *hardware, const struct tile_product *product,
                        const struct nice_weights *weights, uint32_t columns, struct tiling *tiling)
{
    bool found = false;
    for (uint32_t c = 1; c > 0; c = next_size(c, product->channels)) {
        if (found && half_empty(hardware, product, c))
            continue;
        for (uint32_t n = columns; n > 0; n = next_size(n, product->n)) {
            struct tiling trial = {.batches = 1, .rows = 1, .columns = 1, .n = n, .channels = c};
            if (!weights_fit(hardware, product, &trial))
                break;
            found |= try_positions(hardware, product, weights, &trial, found, tiling);
        }
    }
    return found;
}

bool tile_choose(const struct pim_estimate_hardware *hardware, const struct tile_product *product,
                 const struct nice_weights *weights, struct tiling *tiling)
{
    bool found = false;
    /* All columns of the array; where the buffers do not take so much, as many as they do. */
    for (uint32_t n = (uint32_t)pim_smaller(hardware->pe_columns, product->n); n > 0 && !found; n /= 2)
        found = choose_from(hardware, product, weights, n, tiling);
    return found;
}

bool tile_choose_positions(const struct pim_estimate_hardware *hardware, const struct tile_product *product,
                           const struct nice_weights *weights, const uint32_t channels[2],
                           struct tiling *tiling)
{
    struct tiling trial = {.batches = 1, .rows = 1, .columns = 1, .n = channels[0], .channels = channels[1]};
    return try_positions(hardware, product, weights, &trial, false, tiling);
}
