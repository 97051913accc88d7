#include "mappers/nicepim/map/tiles/tiles.h"

#include "sim/integer.h"

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
    return fits(tile_input_box(product, trial, extent, step) * FLOW_BYTES, hardware->input_bytes,
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

/* Tilings are looked at from the last to the first in the order of sizes: mostly the last cost least and show
 * soon that others cost more. One that costs no more than the best takes its place; `limit` is what does. */
struct search {
    const struct pim_estimate_hardware *hardware;
    const struct tile_product *product;
    const struct nice_weights *weights;
    struct tile_volumes volumes;
    uint64_t limit;
    struct tiling *best;
};

static void try_tiling(struct search *search, const struct tile_channels *channels, struct tiling *trial)
{
    uint64_t cost;
    if (!tile_estimate(search->hardware, search->product, &search->volumes, channels, search->weights,
                       search->limit, trial, &cost))
        return;
    *search->best = *trial;
    search->limit = cost < UINT64_MAX ? cost + 1 : cost;
}

/* Tiles of so many channels, as far as the positions of their outputs fit; false: none do. */
static bool try_positions(struct search *search, uint32_t n, uint32_t c)
{
    enum { MOST = 3 * 33 };
    struct tiling trials[MOST];
    struct tiling trial = {.batches = 1, .rows = 1, .columns = 1, .n = n, .channels = c};
    struct tile_channels channels;
    uint32_t count = 0;
    if (!positions_fit(search->hardware, search->product, &trial))
        return false;
    tile_prepare(search->hardware, search->product, &search->volumes, search->weights->energy > 0, n, c,
                 &channels);
    if (nice_cost(search->weights, channels.least_cycles, channels.least_pj) >= search->limit)
        return true;
    do {
        trials[count++] = trial;
    } while (count < MOST && grow(search->product, &trial) &&
             positions_fit(search->hardware, search->product, &trial));
    while (count-- > 0)
        try_tiling(search, &channels, &trials[count]);
    return true;
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

/* Input and output channels of tiles. */
struct sizes {
    uint32_t c, n;
};
enum { SIZES = 32 * 32 };

/* All sizes with at least `columns` output channels that fit. */
static uint32_t list_sizes(const struct search *search, uint32_t columns, struct sizes sizes[SIZES])
{
    const struct tile_product *product = search->product;
    uint32_t count = 0;
    for (uint32_t c = 1; c > 0; c = next_size(c, product->channels)) {
        if (count > 0 && half_empty(search->hardware, product, c))
            continue;
        for (uint32_t n = columns; n > 0 && count < SIZES; n = next_size(n, product->n)) {
            const struct tiling trial = {.batches = 1, .rows = 1, .columns = 1, .n = n, .channels = c};
            if (!weights_fit(search->hardware, product, &trial))
                break;
            if (positions_fit(search->hardware, product, &trial))
                sizes[count++] = (struct sizes){c, n};
        }
    }
    return count;
}

bool tile_choose(const struct pim_estimate_hardware *hardware, const struct tile_product *product,
                 const struct nice_weights *weights, struct tiling *tiling)
{
    struct search search = {
        .hardware = hardware, .product = product, .weights = weights, .limit = UINT64_MAX, .best = tiling};
    struct sizes sizes[SIZES];
    uint32_t count = 0;
    tile_measure(product, &search.volumes);
    /* All columns of the array; where the buffers do not take so much, as many as they do. */
    for (uint32_t n = (uint32_t)pim_smaller(hardware->pe_columns, product->n); n > 0 && count == 0; n /= 2)
        count = list_sizes(&search, n, sizes);
    for (uint32_t i = count; i-- > 0;)
        (void)try_positions(&search, sizes[i].n, sizes[i].c);
    return count > 0;
}

bool tile_choose_positions(const struct pim_estimate_hardware *hardware, const struct tile_product *product,
                           const struct nice_weights *weights, const uint32_t channels[2],
                           struct tiling *tiling)
{
    struct search search = {
        .hardware = hardware, .product = product, .weights = weights, .limit = UINT64_MAX, .best = tiling};
    tile_measure(product, &search.volumes);
    return try_positions(&search, channels[0], channels[1]);
}
