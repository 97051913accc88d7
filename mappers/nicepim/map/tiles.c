#include "mappers/nicepim/map/tiles.h"

static uint64_t smaller(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static uint64_t divide_up(uint64_t a, uint64_t b)
{
    return a / b + (a % b != 0);
}

uint64_t tile_input_piece(const struct tile_product *product, uint64_t m, uint64_t k)
{
    uint64_t g = product->input.group, elements = m * k;
    if (g == 0)
        return elements * FLOW_BYTES;
    if (product->input.order == PIM_LAYOUT_BHWC)
        elements = product->point && k == product->k
                       ? m * k
                       : smaller(k, (uint64_t)product->kernel_width * product->channels);
    else
        elements = product->point ? m * smaller(g, k) : product->kernel_width * smaller(g, product->channels);
    return smaller(elements, m * k) * FLOW_BYTES;
}

uint64_t tile_output_piece(const struct tile_product *product, uint64_t m, uint64_t n)
{
    uint64_t g = product->output.group, width = product->sums ? FLOW_SUM_BYTES : FLOW_BYTES;
    if (g == 0 || product->sums) /* partial sums lie as they are made */
        return m * n * width;
    uint64_t elements =
        product->output.order == PIM_LAYOUT_BHWC ? (n == product->n ? m * n : n) : m * smaller(g, n);
    return smaller(elements, m * n) * width;
}

static uint64_t pieces_cost(const struct pim_estimate_hardware *hardware, uint64_t bytes, uint64_t piece,
                            bool write)
{
    uint64_t port = hardware->port_bytes, pitch = divide_up(piece, port) * port;
    return pim_estimate_pieces(hardware, piece, pitch, divide_up(bytes, piece), 1, write);
}

static uint64_t tile_count(uint64_t length, uint64_t tile)
{
    return divide_up(length, tile);
}

static void estimate(const struct pim_estimate_hardware *hardware, const struct tile_product *product,
                     struct tiling *tiling)
{
    uint64_t ms = tile_count(product->m, tiling->m), ns = tile_count(product->n, tiling->n);
    uint64_t ks = tile_count(product->k, tiling->k), output = FLOW_BYTES;
    tiling->resident = ks == 1;
    uint64_t inputs = tiling->resident ? ms : ms * ns * ks;
    uint64_t input = pieces_cost(hardware, (uint64_t)tiling->m * tiling->k * FLOW_BYTES,
                                 tile_input_piece(product, tiling->m, tiling->k), false);
    uint64_t weight = pim_estimate_stream(hardware, (uint64_t)tiling->k * tiling->n * FLOW_BYTES, false);
    output = product->sums ? FLOW_SUM_BYTES : FLOW_BYTES;
    uint64_t store = pieces_cost(hardware, (uint64_t)tiling->m * tiling->n * output,
                                 tile_output_piece(product, tiling->m, tiling->n), true);
    uint64_t matrix = pim_estimate_matrix(hardware, tiling->m, tiling->n, tiling->k);
    uint64_t vector = pim_estimate_vector(hardware, tiling->m, tiling->n, 1);
    /* Tiles at the edges are smaller: shares of a whole tile. */
    double share = (double)product->m / (double)(ms * tiling->m) * (double)product->n /
                   (double)(ns * tiling->n) * (double)product->k / (double)(ks * tiling->k);
    double in = (double)product->m / (double)(ms * tiling->m) * (double)product->k / (double)(ks * tiling->k);
    double right =
        (double)product->n / (double)(ns * tiling->n) * (double)product->k / (double)(ks * tiling->k);
    double out =
        (double)product->m / (double)(ms * tiling->m) * (double)product->n / (double)(ns * tiling->n);
    uint64_t turns = pim_estimate_turns(hardware, ms * ns * product->count);
    tiling->compute = (uint64_t)((double)(matrix * ms * ns * ks) * share) * product->count;
    tiling->memory = (uint64_t)((double)(input * inputs) * in + (double)(weight * ms * ns * ks) * right +
                                (double)(store * ms * ns) * out) *
                         product->count +
                     turns;
    tiling->vector = (uint64_t)((double)(vector * ms * ns) * out) * product->count;
    uint64_t slowest = tiling->compute > tiling->memory ? tiling->compute : tiling->memory;
    slowest = tiling->vector > slowest ? tiling->vector : slowest;
    tiling->total = slowest + input + weight + pim_estimate_access(hardware) + vector + store;
}

/* Sizes of a tile along a dimension: the whole, and multiples of the array's side by powers of two. */
static uint64_t next_size(uint64_t size, uint64_t length)
{
    return size >= length ? 0 : smaller(2 * size, length);
}

static bool fits(uint64_t bytes, uint64_t buffer, bool one)
{
    return one ? bytes <= buffer : 2 * bytes <= buffer;
}

bool tile_choose(const struct pim_estimate_hardware *hardware, const struct tile_product *product,
                 struct tiling *tiling)
{
    bool found = false;
    uint64_t sum = hardware->accumulator_bytes;
    for (uint64_t k = smaller(hardware->pe_rows, product->k); k > 0; k = next_size(k, product->k)) {
        for (uint64_t n = smaller(hardware->pe_columns, product->n); n > 0; n = next_size(n, product->n)) {
            bool weights = k == product->k && n == product->n;
            if (!fits(k * n * FLOW_BYTES, hardware->weight_bytes, weights))
                break;
            for (uint64_t m = 1; m > 0; m = next_size(m, product->m)) {
                bool inputs = k == product->k && m == product->m,
                     outputs = m == product->m && n == product->n;
                if (!fits(m * k * FLOW_BYTES, hardware->input_bytes, inputs && product->count == 1) ||
                    !fits(m * n * sum, hardware->output_bytes, outputs && product->count == 1))
                    break;
                struct tiling trial = {.m = (uint32_t)m, .n = (uint32_t)n, .k = (uint32_t)k};
                estimate(hardware, product, &trial);
                if (!found || trial.total < tiling->total)
                    *tiling = trial;
                found = true;
            }
        }
    }
    return found;
}
