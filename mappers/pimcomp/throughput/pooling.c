/*
 * Pooling on the VFU: some neighbouring output pixels of one row, or several whole rows, of some channels.
 *
 * First the rows of the kernel are combined, whole stretches of a row at a time (maximum or sum): of one
 * output row each input row is loaded and combined with those before; of several all input rows are loaded
 * at once. Then the columns of the kernel: with stride 1 the stretch shifted by a column is combined at
 * once, otherwise its pixels are brought together by a copy first. Positions outside the map take no part;
 * a mean divides by the number of those inside.
 */
#include "mappers/pimcomp/kernels/folds.h"
#include "mappers/pimcomp/throughput/elements.h"
#include "mappers/pimcomp/throughput/maps.h"
#include "mappers/pimcomp/throughput/state.h"

static uint64_t columns_of(const struct pim_core_layer *layer, uint32_t pixels)
{
    const struct pim_sliding *s = &layer->sliding;
    return (uint64_t)(pixels - 1) * s->stride[1] + (uint64_t)(s->kernel[1] - 1) * s->dilation[1] + 1;
}

/* Input rows of `rows` output rows. */
static uint64_t rows_of(const struct pim_core_layer *layer, uint32_t rows)
{
    const struct pim_sliding *s = &layer->sliding;
    uint64_t input = (uint64_t)(rows - 1) * s->stride[0] + (uint64_t)(s->kernel[0] - 1) * s->dilation[0] + 1;
    return input < layer->source[0].height ? input : layer->source[0].height;
}

uint64_t pim_round_pooling_bytes(const struct pim_core_layer *layer, uint32_t pixels, uint32_t rows,
                                 uint32_t channels)
{
    uint64_t columns = columns_of(layer, pixels), width = layer->source[0].width;
    columns = columns < width ? columns : width;
    uint64_t pixel = (uint64_t)channels * PIM_CORE_ELEMENT_BYTES;
    if (rows > 1) /* input rows, a combined one; output, pixels brought together */
        return (rows_of(layer, rows) * width + width + ((uint64_t)rows + 1) * pixels) * pixel;
    return (2 * columns + 2 * (uint64_t)pixels) * pixel; /* combined rows, the one that is loaded; the same */
}

/* One piece of work: addresses of the four buffers, what of the map they hold. */
struct pooling {
    const struct pim_round_work *work;
    const struct pim_core_layer *layer;
    const struct pim_round_source *source;
    const struct pim_round_piece_of_map *piece;
    uint64_t rows, loaded, output, together;
    struct pim_core_vector operation;
    uint64_t pixel;     /* bytes */
    int64_t left;       /* first column of the map that is held */
    uint32_t columns;   /* held */
    uint32_t row_count; /* kernel rows inside the map */
};

static const struct pim_round_run *run_of(const struct pooling *p)
{
    const struct pim_round_run *run = p->source->run;
    while (p->piece->channel >= run->at + run->channels)
        run++;
    return run;
}

/* Row `tap` of the kernel at output row `row`; false: outside the map. */
static bool input_row(const struct pooling *p, uint64_t row, uint32_t tap, uint64_t *y)
{
    int64_t at = pim_sliding_input(&p->layer->sliding, 0, (int64_t)row, tap);
    *y = (uint64_t)at;
    return at >= 0 && at < p->source->height;
}

static void load(const struct pooling *p, uint64_t local, uint64_t y, uint64_t columns)
{
    const struct pim_round_run *run = run_of(p);
    pim_round_fetch(p->work->schedule, p->work->core, local, run, p->work->sample,
                    y * p->source->width + (uint64_t)p->left, p->piece->channel, p->pixel, columns, 1);
}

/* Loads the rows of one output row one by one. */
static void combine_rows(struct pooling *p, uint64_t row)
{
    uint64_t elements = (uint64_t)p->columns * p->piece->channels, y;
    for (uint32_t tap = 0; tap < p->layer->sliding.kernel[0] && p->columns; tap++) {
        if (!input_row(p, row, tap, &y))
            continue;
        uint64_t to = p->row_count++ ? p->loaded : p->rows;
        load(p, to, y, p->columns);
        if (to == p->loaded)
            pim_core_emit_vector(p->work->emitter, p->work->core, p->operation, p->rows, p->rows, p->loaded,
                                 elements);
    }
}

/* The same with input rows from row `top` of the map on at p->loaded; the first one stays where it is until
 * it is combined with a second. */
static void combine_loaded(struct pooling *p, uint64_t row, uint64_t top, uint64_t combined)
{
    uint64_t elements = (uint64_t)p->columns * p->piece->channels, y;
    p->row_count = 0;
    for (uint32_t tap = 0; tap < p->layer->sliding.kernel[0]; tap++) {
        if (!input_row(p, row, tap, &y))
            continue;
        uint64_t address = p->loaded + (y - top) * p->columns * p->pixel;
        if (!p->row_count++) {
            p->rows = address;
            continue;
        }
        pim_core_emit_vector(p->work->emitter, p->work->core, p->operation, combined, p->rows, address,
                             elements);
        p->rows = combined;
    }
}

/* The column of the map that output pixel `x` of the layer reads at kernel column `tap`. */
static int64_t column_at(const struct pooling *p, uint32_t x, uint32_t tap)
{
    return pim_sliding_input(&p->layer->sliding, 1, x, tap);
}

static bool is_inside(const struct pooling *p, uint32_t x, uint32_t tap)
{
    int64_t column = column_at(p, x, tap);
    return column >= 0 && column < p->source->width;
}

/* Is `tap` the first kernel column inside the map for output pixel x? */
static bool is_first(const struct pooling *p, uint32_t x, uint32_t tap)
{
    for (uint32_t i = 0; i < tap; i++) {
        if (is_inside(p, x, i))
            return false;
    }
    return true;
}

/* Output pixels [x, x + count) take kernel column `tap`: they start with it, or combine it. */
static void take_column(const struct pooling *p, uint32_t first, uint32_t x, uint32_t count, uint32_t tap,
                        bool start)
{
    const struct pim_sliding *s = &p->layer->sliding;
    uint64_t from = p->rows + (uint64_t)(column_at(p, x, tap) - p->left) * p->pixel;
    uint64_t to = p->output + (x - first) * p->pixel;
    if (start) {
        pim_core_emit_copy(p->work->emitter, p->work->core, to, from, p->pixel, count, p->pixel,
                           s->stride[1] * p->pixel);
        return;
    }
    if (s->stride[1] > 1 && count > 1) {
        pim_core_emit_copy(p->work->emitter, p->work->core, p->together, from, p->pixel, count, p->pixel,
                           s->stride[1] * p->pixel);
        from = p->together;
    }
    pim_core_emit_vector(p->work->emitter, p->work->core, p->operation, to, to, from,
                         (uint64_t)count * p->piece->channels);
}

static void combine_columns(const struct pooling *p, uint32_t first)
{
    uint32_t end = first + p->piece->pixels;
    for (uint32_t tap = 0; tap < p->layer->sliding.kernel[1]; tap++) {
        for (uint32_t x = first, next; x < end; x = next) {
            bool inside = is_inside(p, x, tap), start = inside && is_first(p, x, tap);
            for (next = x + 1; next < end; next++) {
                bool next_inside = is_inside(p, next, tap);
                if (next_inside != inside || (inside && is_first(p, next, tap) != start))
                    break;
            }
            if (inside)
                take_column(p, first, x, next - x, tap, start);
        }
    }
}

static uint32_t columns_inside(const struct pooling *p, uint32_t x)
{
    uint32_t count = 0;
    for (uint32_t tap = 0; tap < p->layer->sliding.kernel[1]; tap++)
        count += is_inside(p, x, tap);
    return count;
}

static void divide(const struct pooling *p, uint32_t first)
{
    uint32_t end = first + p->piece->pixels;
    for (uint32_t x = first, next; x < end; x = next) {
        uint32_t count = columns_inside(p, x);
        for (next = x + 1; next < end && columns_inside(p, next) == count; next++)
            ;
        pim_core_emit_mean(p->work->emitter, p->work->core, p->layer, p->output + (x - first) * p->pixel,
                           count * p->row_count, (uint64_t)(next - x) * p->piece->channels);
    }
}

/* What of a row of output pixels is left once its input rows are combined. */
static void finish_row(const struct pooling *p, uint32_t first)
{
    bool empty = !p->row_count;
    for (uint32_t x = first; x < first + p->piece->pixels; x++)
        empty = empty || !columns_inside(p, x);
    if (empty) /* a window with nothing of the map in it: 0 */
        pim_core_emit_zeros(p->work->emitter, p->work->core, p->output, p->piece->pixels * p->pixel, 1, 0);
    if (!p->row_count)
        return;
    combine_columns(p, first);
    divide(p, first);
}

/* Several output rows: buffers for the input rows, one combined row, output rows, pixels brought together. */
static void pool_rows(struct pooling *p, uint64_t base)
{
    uint64_t row = p->piece->pixel / p->layer->width, top = UINT64_MAX, bottom = 0, y;
    p->left = 0;
    p->columns = p->source->width;
    for (uint32_t i = 0; i < p->piece->rows; i++) {
        for (uint32_t tap = 0; tap < p->layer->sliding.kernel[0]; tap++) {
            if (!input_row(p, row + i, tap, &y))
                continue;
            top = y < top ? y : top;
            bottom = y + 1 > bottom ? y + 1 : bottom;
        }
    }
    uint64_t rows = bottom > top ? bottom - top : 0, width = p->columns * p->pixel;
    uint64_t combined = base + rows * width, output = combined + width;
    p->loaded = base;
    p->together = output + (uint64_t)p->piece->rows * p->piece->pixels * p->pixel;
    if (rows)
        load(p, base, top, rows * p->columns);
    for (uint32_t i = 0; i < p->piece->rows; i++) {
        p->output = output + (uint64_t)i * p->piece->pixels * p->pixel;
        combine_loaded(p, row + i, top, combined);
        finish_row(p, 0);
    }
    p->output = output;
}

/* Pixels of one row: combined rows, the row that is loaded, output, pixels brought together. */
static void pool_pixels(struct pooling *p, uint64_t base)
{
    uint32_t first = (uint32_t)(p->piece->pixel % p->layer->width), last = first + p->piece->pixels - 1;
    int64_t left = column_at(p, first, 0), right = column_at(p, last, p->layer->sliding.kernel[1] - 1) + 1;
    p->left = left < 0 ? 0 : left;
    right = right > p->source->width ? p->source->width : right;
    p->columns = right > p->left ? (uint32_t)(right - p->left) : 0;
    p->rows = base;
    p->loaded = p->rows + p->columns * p->pixel;
    p->output = p->loaded + p->columns * p->pixel;
    p->together = p->output + p->piece->pixels * p->pixel;
    combine_rows(p, p->piece->pixel / p->layer->width);
    finish_row(p, first);
}

void pim_round_pooling_piece(const struct pim_round_work *work, const struct pim_round_piece_of_map *piece,
                             uint64_t base)
{
    const struct pim_core_layer *layer = work->layer;
    struct pooling p = {.work = work,
                        .layer = layer,
                        .source = &work->round->source[0],
                        .piece = piece,
                        .operation = pim_core_pooling_of(layer),
                        .pixel = (uint64_t)piece->channels * PIM_CORE_ELEMENT_BYTES};
    if (piece->rows > 1)
        pool_rows(&p, base);
    else
        pool_pixels(&p, base);
    pim_round_vector_store(work, piece, p.output);
}
