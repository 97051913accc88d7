#include "mappers/nicepim/map/tiles/tile_cost.h"

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

uint64_t tile_input_box(const struct tile_product *product, const struct tiling *tiling,
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

static void count_positions(const struct tile_product *product, const struct tiling *tiling,
                            struct tile_pieces *pieces)
{
    uint64_t b = pim_divide_up32(product->batches, tiling->batches),
             p = pim_divide_up32(product->rows, tiling->rows),
             q = pim_divide_up32(product->columns, tiling->columns);
    pieces->m = b * p * q;
    pieces->m_share = (double)product->batches / (double)(b * tiling->batches) * (double)product->rows /
                      (double)(p * tiling->rows) * (double)product->columns / (double)(q * tiling->columns);
}

static void add_shape(const struct tile_product *product, uint32_t n, uint32_t channels, uint64_t times,
                      struct tile_channels *of)
{
    uint32_t k = (uint32_t)tile_k(product, channels), i = 0;
    while (i < of->shapes && (of->shape_n[i] != n || of->shape_k[i] != k))
        i++;
    if (i == of->shapes && times > 0) {
        of->shape_n[i] = n;
        of->shape_k[i] = k;
        of->times[i] = 0;
        of->shapes++;
    }
    if (times > 0)
        of->times[i] += times;
}

/* Cycles of all matrix instructions of a product. */
static uint64_t matrix_cycles(const struct pim_estimate_hardware *hardware,
                              const struct tile_channels *channels, const struct tiling *tiling,
                              const struct tile_pieces *pieces)
{
    uint32_t m = tiling->batches * tiling->rows * tiling->columns;
    uint64_t cycles = 0;
    /* as the node counts them: its ports move operands of FLOW_BYTES */
    for (uint32_t i = 0; i < channels->shapes; i++)
        cycles +=
            channels->times[i] * pim_pe_matrix_cycles(&hardware->pe, m, channels->shape_n[i],
                                                      channels->shape_k[i], 8 * FLOW_BYTES, 8 * FLOW_BYTES);
    return (uint64_t)((double)(cycles * pieces->m) * pieces->m_share);
}

/* How often what of a tiling goes through the port, in whole tiles, and the columns of one. */
struct traffic {
    double inputs, weights, results;
    uint64_t input_columns, input_bytes, result_columns, weight_columns;
};

/* Energy of columns and of what passes the buffers, as the programs will have them. */
static double energy_of(const struct pim_estimate_hardware *hardware, const struct tile_product *product,
                        const struct tile_pieces *pieces, const struct traffic *traffic,
                        const struct tiling *tiling)
{
    uint64_t m = (uint64_t)tiling->batches * tiling->rows * tiling->columns, n = tiling->n,
             k = tile_k(product, tiling->channels), weight_bytes = k * n * FLOW_BYTES;
    uint64_t width = product->sums ? FLOW_SUM_BYTES : FLOW_BYTES;
    struct pim_pe_cost pe;
    pim_pe_matrix_traffic(&hardware->pe, (uint32_t)m, (uint32_t)n, (uint32_t)k, 8 * FLOW_BYTES,
                          8 * FLOW_BYTES, pieces->k > 1, &pe);
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
    const struct pim_estimate_actions actions = {
        .sram_bits = (uint64_t)(8 * bytes) * product->count,
        .acu_operations = (uint64_t)((double)(m * n) * traffic->results) * product->count,
        .dram_bits = (uint64_t)(8 * columns) * hardware->port_bytes * product->count,
        .dram_activates = (uint64_t)(columns * hardware->port_bytes / (double)hardware->row_bytes) *
                          hardware->banks * product->count};
    return nice_actions_pj(hardware, &actions);
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
                        const struct tile_pieces *pieces, const struct tiling *tiling,
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

/* Of all operands of all products. */
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

static uint64_t result_bytes(const struct tile_product *product)
{
    return (uint64_t)product->batches * product->rows * product->columns * product->n *
           (product->sums ? FLOW_SUM_BYTES : FLOW_BYTES);
}

/* Windows without gaps, and not in padding alone: tiles together load all that lies under them. */
static bool reads_all(const struct tile_product *product)
{
    bool reads = true;
    for (size_t d = 0; d < PLACE_DIMENSIONS; d++)
        reads &= product->input.layout.group == 0 || product->input.size[d] > 0;
    for (size_t d = 0; d < 2; d++)
        reads &= product->kernel[d] == 1 || product->kernel[d] >= product->stride[d];
    return reads;
}

/* Stored weights, results, and what windows without gaps cover pass the port once at least. */
void tile_measure(const struct tile_product *product, struct tile_volumes *volumes)
{
    uint32_t step;
    *volumes = (struct tile_volumes){.among = operand_bytes(product),
                                     .results = result_bytes(product),
                                     .least = result_bytes(product),
                                     .reads = reads_all(product)};
    if (product->right == FLOW_STORED)
        volumes->least += tile_k(product, product->channels) * product->n * FLOW_BYTES;
    if (volumes->reads)
        volumes->least += (uint64_t)product->batches * product->channels *
                          loaded_window(product, 0, product->rows, &step) *
                          loaded_window(product, 1, product->columns, &step) * FLOW_BYTES;
}

/* Means of tiles are rounded. */
static uint64_t less(uint64_t cycles)
{
    return cycles - pim_smaller(cycles, (cycles >> 20) + 4);
}

/* The array or the port, whatever takes longer. */
static uint64_t slower(const struct pim_estimate_hardware *hardware, const struct tile_product *product,
                       const struct tile_volumes *volumes, double array)
{
    const double port = (double)volumes->least / hardware->port_bytes * (double)hardware->column_cycles *
                        (double)hardware->logic_khz / (double)hardware->memory_khz;
    return less((uint64_t)((array > port ? array : port) * product->count));
}

uint64_t tile_least_cycles(const struct pim_estimate_hardware *hardware, const struct tile_product *product)
{
    const uint64_t positions = (uint64_t)product->batches * product->rows * product->columns;
    struct tile_volumes volumes;
    tile_measure(product, &volumes);
    return slower(
        hardware, product, &volumes,
        pim_pe_least_cycles(&hardware->pe, positions, product->n, tile_k(product, product->channels)));
}

/* Cycles and energy that tiles of these channels take at least, whatever positions they have. */
static void bound_channels(const struct pim_estimate_hardware *hardware, const struct tile_product *product,
                           const struct tile_volumes *volumes, bool energy, struct tile_channels *channels)
{
    const uint64_t positions = (uint64_t)product->batches * product->rows * product->columns;
    const struct tile_pieces *pieces = &channels->pieces;
    double array = 0;
    for (uint32_t i = 0; i < channels->shapes; i++)
        array += (double)channels->times[i] *
                 pim_pe_least_cycles(&hardware->pe, positions, channels->shape_n[i], channels->shape_k[i]);
    channels->least_cycles = slower(hardware, product, volumes, array);
    channels->least_pj = 0;
    if (!energy || positions > UINT32_MAX)
        return;
    /* Inputs and sums pass the buffers of the array in proportion to positions. */
    struct pim_pe_cost pe;
    pim_pe_matrix_traffic(&hardware->pe, (uint32_t)positions, channels->shape_n[0], channels->shape_k[0],
                          8 * FLOW_BYTES, 8 * FLOW_BYTES, pieces->k > 1, &pe);
    const struct pim_energy_configuration *unit = &hardware->energy;
    const double count = product->count, port = (double)volumes->least,
                 results = (double)positions * product->n,
                 array_bytes =
                     (double)(pe.input_bytes_read + pe.output_bytes_read + pe.output_bytes_written) *
                     (double)(pieces->n * pieces->k) * pieces->n_share * pieces->k_share,
                 sram = port + array_bytes + results * hardware->accumulator_bytes;
    channels->least_pj = (8 * (port * unit->dram_pj_per_bit + sram * unit->sram_pj_per_bit) +
                          results * unit->acu_pj_per_operation) *
                             count * (1 - 1e-6) -
                         16 * count *
                             (unit->dram_pj_per_bit * hardware->port_bytes + unit->sram_pj_per_bit +
                              unit->acu_pj_per_operation); /* counts are rounded down */
    channels->least_pj = channels->least_pj > 0 ? channels->least_pj : 0;
}

void tile_prepare(const struct pim_estimate_hardware *hardware, const struct tile_product *product,
                  const struct tile_volumes *volumes, bool energy, uint32_t n, uint32_t c,
                  struct tile_channels *channels)
{
    struct tile_pieces *pieces = &channels->pieces;
    pieces->n = pim_divide_up32(product->n, n);
    pieces->k = pim_divide_up32(product->channels, c);
    pieces->n_share = (double)product->n / (double)(pieces->n * n);
    pieces->k_share = (double)product->channels / (double)(pieces->k * c);
    channels->shapes = 0;
    channels->weight_bytes =
        product->right == FLOW_STORED ? (double)(tile_k(product, c) * n * FLOW_BYTES) : 0;
    const uint32_t last_n = (uint32_t)(product->n - (pieces->n - 1) * n),
                   last_c = (uint32_t)(product->channels - (pieces->k - 1) * c);
    add_shape(product, n, c, (pieces->n - 1) * (pieces->k - 1), channels);
    add_shape(product, n, last_c, pieces->n - 1, channels);
    add_shape(product, last_n, c, pieces->k - 1, channels);
    add_shape(product, last_n, last_c, 1, channels);
    bound_channels(hardware, product, volumes, energy, channels);
}

/* What a tiling costs at least, before it is known how its operands lie: the total is the matrix instructions
 * and more, and all columns of the port and more. */
static uint64_t least_cost(const struct pim_estimate_hardware *hardware, const struct tile_product *product,
                           const struct tile_volumes *volumes, const struct tile_channels *channels,
                           const struct tile_pieces *pieces, uint64_t input_bytes,
                           const struct nice_weights *weights, const struct tiling *tiling)
{
    const double few = (double)pieces->m, once = (double)pieces->n, all = few * once * (double)pieces->k,
                 input = volumes->reads ? (double)input_bytes * pieces->m_share * pieces->k_share : 0,
                 right = channels->weight_bytes * pieces->n_share * pieces->k_share;
    double loads = (input + right) * all;
    if (pieces->k == 1) /* the inputs of a tile stay, or its weights */
        loads = input * all + right * once < input * few + right * all ? input * all + right * once
                                                                       : input * few + right * all;
    const double count = product->count, bytes = (loads + (double)volumes->results) * count,
                 columns = bytes / hardware->port_bytes,
                 port = columns * (double)hardware->column_cycles * (double)hardware->logic_khz /
                        (double)hardware->memory_khz;
    const uint64_t array = tiling->compute - pim_smaller(tiling->compute, (tiling->compute >> 32) + 2);
    const uint64_t cycles = pim_larger(pim_larger(array, channels->least_cycles), less((uint64_t)port));
    if (weights->energy == 0)
        return weights->cycles * cycles;
    const struct pim_energy_configuration *unit = &hardware->energy;
    const double more = bytes - (double)volumes->least * count,
                 pj =
                     channels->least_pj +
                     (more > 0 ? 8 * more * (unit->dram_pj_per_bit + unit->sram_pj_per_bit) * (1 - 1e-6) : 0);
    return nice_cost(weights, cycles, pj);
}

bool tile_estimate(const struct pim_estimate_hardware *hardware, const struct tile_product *product,
                   const struct tile_volumes *volumes, const struct tile_channels *channels,
                   const struct nice_weights *weights, uint64_t limit, struct tiling *tiling, uint64_t *cost)
{
    struct tile_pieces pieces = channels->pieces;
    count_positions(product, tiling, &pieces);
    tiling->compute = matrix_cycles(hardware, channels, tiling, &pieces) * product->count;
    uint32_t extent[PLACE_DIMENSIONS], step[PLACE_DIMENSIONS];
    const uint32_t results[] = {tiling->batches, tiling->n, tiling->rows, tiling->columns},
                   one[] = {1, 1, 1, 1};
    const uint64_t m = (uint64_t)tiling->batches * tiling->rows * tiling->columns,
                   tiles = pieces.m * pieces.n, among = volumes->among;
    struct traffic traffic = {.input_bytes = tile_input_box(product, tiling, extent, step) * FLOW_BYTES};
    if (least_cost(hardware, product, volumes, channels, &pieces, traffic.input_bytes, weights, tiling) >=
        limit)
        return false;
    uint64_t weight = weight_cycles(hardware, product, tile_k(product, tiling->channels), tiling->n, among,
                                    &traffic.weight_columns);
    uint64_t input = spread_cycles(hardware, &product->input, extent, step, FLOW_BYTES, among, false,
                                   &traffic.input_columns);
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
    tiling->pj = 0;
    if (weights->energy > 0) {
        traffic.inputs = (double)input_tiles * pieces.m_share * pieces.k_share;
        traffic.weights = (double)weight_tiles * pieces.n_share * pieces.k_share;
        traffic.results = (double)tiles * pieces.m_share * pieces.n_share;
        tiling->pj = energy_of(hardware, product, &pieces, &traffic, tiling);
    }
    *cost = nice_cost(weights, tiling->total, tiling->pj);
    return *cost < limit;
}
