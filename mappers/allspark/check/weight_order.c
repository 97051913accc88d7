#include "mappers/allspark/check/weight_order.h"

#include "mappers/allspark/check/numbers.h"
#include "mappers/allspark/check/standing.h"
#include "sim/integer.h"

static uint32_t columns_of(const struct weight_order *order, uint32_t first)
{
    return pim_smaller32(order->width, order->n - first);
}

/* Of the input, one for each column of nodes. */
struct segments {
    uint32_t widest, wide, narrower; /* width; how many are so wide, and how many are narrower */
};

static struct segments segments_of(const struct weight_order *order)
{
    struct segments segments = {.widest = order->k, .wide = 1};
    if (order->whole)
        return segments;
    segments = (struct segments){.widest = 0};
    for (uint32_t i = 0; i < order->part->v; i++) {
        const uint32_t width =
            spread_before(order->part, order->k, i + 1) - spread_before(order->part, order->k, i);
        if (width > segments.widest) {
            segments.narrower += segments.wide;
            segments.wide = 0;
            segments.widest = width;
        }
        segments.wide += width == segments.widest && width > 0;
        segments.narrower += width > 0 && width < segments.widest;
    }
    return segments;
}

bool weight_order_tiles(const struct weight_order *order, const struct pim_estimate_hardware *hardware,
                        uint32_t first, struct pim_tiling *tiling)
{
    const struct segments segments = segments_of(order);
    const struct pim_matrix_shape shape = {.m = order->rows,
                                           .n = columns_of(order, first),
                                           .k = order->k,
                                           .count = 1,
                                           .segment = segments.widest,
                                           .segments = segments.wide,
                                           .narrower = segments.narrower,
                                           .vector_passes = 1,
                                           .residual = order->residual,
                                           .input_pitch = segments.widest,
                                           .output_pitch = order->n,
                                           .grain = order->grain};
    struct pim_matrix_estimate estimate;
    return pim_estimate_tiling(hardware, &shape, tiling, &estimate);
}

/* Rows k0 to k0 + k of columns n0 to n0 + n. Returns what is behind them. */
static uint16_t *put_tile(const struct weight_order *order, uint64_t matrix, uint32_t k0, uint32_t k,
                          uint32_t n0, uint32_t n, uint16_t *values)
{
    for (uint32_t i = k0; i < k0 + k; i++) {
        uint64_t row = weight_row(matrix, order->input ? order->input(order->part, i) : i);
        for (uint32_t j = n0; j < n0 + n; j++)
            *values++ = weight_number(row, order->first_n + j);
    }
    return values;
}

void weight_order_fill(const struct weight_order *order, const struct pim_tiling *tiling, uint32_t first,
                       uint64_t matrix, uint16_t *values)
{
    uint32_t end = first + columns_of(order, first), pieces = order->whole ? 1 : order->part->v;
    for (uint32_t n0 = first, n; n0 < end; n0 += n) {
        uint32_t block = first + ((n0 - first) / tiling->n + 1) * tiling->n; /* its end */
        n = pim_smaller32(tiling->right, pim_smaller32(block, end) - n0);
        for (uint32_t piece = 0, k0 = 0; piece < pieces; piece++) {
            uint32_t last = pieces == 1 ? order->k : spread_before(order->part, order->k, piece + 1);
            for (uint32_t k; k0 < last; k0 += k) { /* tiles do not reach across pieces of the input */
                k = pim_smaller32(tiling->k, last - k0);
                values = put_tile(order, matrix, k0, k, n0, n, values);
            }
        }
    }
}
