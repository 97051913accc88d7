/*
 * The inputs of a worker: rows in a ring, tiles, or single windows (paper, section VI-B: overlapping input is
 * loaded once).
 *
 * Index space. Rows and columns of the input are numbered by their position in the map, before and behind it
 * the padding, so from below 0. When the kernel has a single row (column), they are numbered by the output
 * row (column) that needs them: rows that a stride skips have no number and are never loaded.
 *
 * Ring: row i lies in place i mod rows; a row has `columns` columns from `column` on. Padding left and
 * right is written once, since loads leave it alone; rows above and below the map are written where they
 * come.
 *
 * Tile: the kernel rows that `segment` windows of one output row need, each with the columns of them all.
 *
 * Window: a tile of one window is its canonical order.
 */
#include "mappers/pimcomp/throughput/maps.h"
#include "mappers/pimcomp/throughput/state.h"
#include "mappers/pimcomp/throughput/workers.h"

static int64_t larger(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

static int64_t smaller(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* --- index space --- */

/* Numbers from one output row (column) to the next; from the first to behind the last of a window; between
 * neighbours of a kernel. `taps` is how many kernel rows (columns) the worker reads. */
uint32_t pim_round_step(const struct pim_round_window *w, int axis)
{
    return w->kernel[axis] == 1 ? 1 : w->stride[axis];
}

uint32_t pim_round_span(const struct pim_round_window *w, int axis, uint32_t taps)
{
    return w->kernel[axis] == 1 ? 1 : (taps - 1) * w->dilation[axis] + 1;
}

/* The first number that the window at output position `output` needs, from kernel position `tap` on. */
static int64_t first_of(const struct pim_round_window *w, int axis, uint32_t tap, uint32_t output)
{
    if (w->kernel[axis] == 1)
        return output;
    return (int64_t)output * w->stride[axis] - w->pad[axis] + (int64_t)tap * w->dilation[axis];
}

/* The position in the map of a number. */
static int64_t position_of(const struct pim_round_window *w, int axis, int64_t number)
{
    return w->kernel[axis] == 1 ? number * w->stride[axis] - w->pad[axis] : number;
}

/* Columns [*begin, *end) of [first, first + count) that lie in the map. */
static void clip_columns(const struct pim_round_window *w, int64_t first, uint32_t count, int64_t *begin,
                         int64_t *end)
{
    *begin = first;
    *end = first + count;
    while (*begin < *end && position_of(w, 1, *begin) < 0)
        ++*begin;
    while (*end > *begin && position_of(w, 1, *end - 1) >= w->width)
        --*end;
}

bool pim_round_loads_windows(const struct pim_round_worker *worker)
{
    return worker->layer->window.dilation[1] == 1 && !worker->layer->part->bundle;
}

/* --- buffers --- */

/* Columns that windows [begin, end) of the job need, over all rows. */
static void find_columns(const struct pim_round_window *w, const struct pim_round_job *job, int64_t *first,
                         uint32_t *count)
{
    uint32_t from = 0, to = w->output_width;
    if (job->begin / w->output_width == (job->end - 1) / w->output_width) {
        from = job->begin % w->output_width;
        to = (job->end - 1) % w->output_width + 1;
    }
    *first = first_of(w, 1, 0, from);
    *count = (to - from - 1) * pim_round_step(w, 1) + pim_round_span(w, 1, w->kernel[1]);
}

uint64_t pim_round_input_place(struct pim_round_worker *worker, uint64_t base)
{
    const struct pim_round_layer *layer = worker->layer;
    const struct pim_round_window *w = &layer->window;
    const struct pim_round_buffers *buffers = &worker->buffers;
    uint64_t pixel = (uint64_t)worker->channels * PIM_CORE_ELEMENT_BYTES;
    uint32_t copies = buffers->depth * worker->replicas;
    worker->window_bytes = worker->kernel_rows * w->kernel[1] * pixel;
    worker->tile_bytes = 0;
    uint32_t columns;
    if (buffers->mode == PIM_ROUND_RING) {
        find_columns(w, worker->job, &worker->column, &worker->columns);
        columns = worker->columns;
        worker->row_bytes = worker->columns * pixel;
        worker->input = pim_round_take(&base, buffers->rows * worker->row_bytes);
    } else {
        columns = (buffers->segment - 1) * pim_round_step(w, 1) + pim_round_span(w, 1, w->kernel[1]);
        worker->row_bytes = columns * pixel;
        worker->tile_bytes = worker->kernel_rows * worker->row_bytes;
        if (buffers->mode == PIM_ROUND_TILES_OF_WINDOWS)
            worker->input = pim_round_take(&base, buffers->tiles * worker->tile_bytes);
    }
    if (!buffers->direct)
        worker->gather = pim_round_take(&base, copies * worker->window_bytes);
    worker->stage_pixels = 0;
    if (layer->source[0].runs > 1) { /* a run is loaded here and spread over the pixels by a copy */
        worker->stage_pixels = columns < 16 ? columns : 16;
        worker->stage = pim_round_take(&base, worker->stage_pixels * pixel);
    }
    return base;
}

void pim_round_input_reset(struct pim_round_worker *worker)
{
    worker->next_row = INT64_MIN;
    worker->part_from = worker->part_to = worker->column;
    for (uint32_t i = 0; i < PIM_ROUND_TILES; i++)
        worker->tile_first[i] = UINT32_MAX;
    worker->tiles_loaded = 0;
}

/* --- loads --- */

/* Loads columns [first, first + count) of row `y` of the map, all in the map, to `local`. */
static void load_columns(const struct pim_round_worker *worker, uint64_t local, uint64_t y, int64_t first,
                         uint32_t count, uint32_t sample)
{
    const struct pim_round_layer *layer = worker->layer;
    const struct pim_round_source *source = &layer->source[0];
    const struct pim_round_window *w = &layer->window;
    uint64_t pixel = (uint64_t)worker->channels * PIM_CORE_ELEMENT_BYTES;
    uint64_t apart = w->kernel[1] == 1 ? w->stride[1] : 1;
    uint64_t x = (uint64_t)position_of(w, 1, first);
    for (uint32_t i = 0; i < source->runs; i++) {
        const struct pim_round_run *run = &source->run[i];
        uint32_t begin = run->at > worker->channel ? run->at : worker->channel;
        uint32_t end = run->at + run->channels, last = worker->channel + worker->channels;
        end = end < last ? end : last;
        if (begin >= end)
            continue;
        uint64_t bytes = (uint64_t)(end - begin) * PIM_CORE_ELEMENT_BYTES;
        if (bytes == pixel) {
            pim_round_fetch(layer->schedule, worker->core, local, run, sample, y * source->width + x, begin,
                            bytes, count, apart);
            continue;
        }
        uint64_t to = local + (uint64_t)(begin - worker->channel) * PIM_CORE_ELEMENT_BYTES;
        for (uint32_t done = 0; done < count; done += worker->stage_pixels) {
            uint32_t now = count - done < worker->stage_pixels ? count - done : worker->stage_pixels;
            pim_round_fetch(layer->schedule, worker->core, worker->stage, run, sample,
                            y * source->width + x + done * apart, begin, bytes, now, apart);
            pim_core_emit_copy(worker->emitter, worker->core, to + done * pixel, worker->stage, bytes, now,
                               pixel, bytes);
        }
    }
}

/* Loads columns [from, to) of number `row` into its place in the ring. */
static void load_ring_row(struct pim_round_worker *worker, int64_t row, int64_t from, int64_t to,
                          uint32_t sample)
{
    const struct pim_round_window *w = &worker->layer->window;
    uint64_t pixel = (uint64_t)worker->channels * PIM_CORE_ELEMENT_BYTES;
    int64_t place = row % worker->buffers.rows, begin, end;
    place += place < 0 ? worker->buffers.rows : 0;
    uint64_t local = worker->input + (uint64_t)place * worker->row_bytes;
    clip_columns(w, worker->column, worker->columns, &begin, &end);
    if (!worker->padded) {
        uint64_t left = (uint64_t)(begin - worker->column) * pixel, inside = (uint64_t)(end - begin) * pixel;
        worker->padded = true;
        pim_core_emit_zeros(worker->emitter, worker->core, worker->input, left, worker->buffers.rows,
                            worker->row_bytes);
        pim_core_emit_zeros(worker->emitter, worker->core, worker->input + left + inside,
                            worker->row_bytes - left - inside, worker->buffers.rows, worker->row_bytes);
    }
    begin = larger(begin, from);
    end = smaller(end, to);
    if (begin >= end)
        return;
    local += (uint64_t)(begin - worker->column) * pixel;
    int64_t y = position_of(w, 0, row);
    if (y < 0 || y >= w->height)
        pim_core_emit_zeros(worker->emitter, worker->core, local, (uint64_t)(end - begin) * pixel, 1, 0);
    else
        load_columns(worker, local, (uint64_t)y, begin, (uint32_t)(end - begin), sample);
}

static void load_ring_rows(struct pim_round_worker *worker, int64_t first, int64_t from, int64_t to,
                           uint32_t sample)
{
    for (int64_t row = larger(worker->next_row, first); row < worker->part_end && from < to; row++)
        load_ring_row(worker, row, from, to, sample);
}

/* Loads kernel rows of the output row `y`, columns [first, first + columns), to `local`. */
static void load_tile(struct pim_round_worker *worker, uint64_t local, uint32_t y, int64_t first,
                      uint32_t columns, uint32_t sample)
{
    const struct pim_round_layer *layer = worker->layer;
    const struct pim_round_window *w = &layer->window;
    const struct pim_round_source *source = &layer->source[0];
    uint64_t pixel = (uint64_t)worker->channels * PIM_CORE_ELEMENT_BYTES, row_bytes = columns * pixel;
    uint32_t rows = worker->kernel_rows, down = w->kernel[0] == 1 ? 1 : w->dilation[0];
    int64_t row = first_of(w, 0, worker->kernel_row, y), begin, end;
    int64_t top = position_of(w, 0, row), bottom = position_of(w, 0, row + (int64_t)(rows - 1) * down);
    clip_columns(w, first, columns, &begin, &end);
    bool whole = top >= 0 && bottom < w->height && begin == first && end == first + columns;
    uint64_t apart = w->kernel[1] == 1 ? w->stride[1] : 1;
    if (whole && source->runs == 1 && !source->run->resident &&
        (columns == 1 || apart * source->run->pixel_stride == pixel)) {
        uint64_t x = (uint64_t)position_of(w, 1, first);
        pim_round_fetch(layer->schedule, worker->core, local, source->run, sample,
                        (uint64_t)top * source->width + x, worker->channel, row_bytes, rows,
                        (uint64_t)down * source->width);
        return;
    }
    if (!whole)
        pim_core_emit_zeros(worker->emitter, worker->core, local, rows * row_bytes, 1, 0);
    for (uint32_t i = 0; i < rows && begin < end; i++) {
        int64_t position = position_of(w, 0, row + (int64_t)i * down);
        if (position >= 0 && position < w->height)
            load_columns(worker, local + i * row_bytes + (uint64_t)(begin - first) * pixel,
                         (uint64_t)position, begin, (uint32_t)(end - begin), sample);
    }
}

/* --- windows --- */

/* First window of the tile that has `window`; *count becomes its number of windows. */
static uint32_t tile_of(const struct pim_round_window *w, const struct pim_round_worker *worker,
                        uint32_t window, uint32_t *count)
{
    const struct pim_round_job *job = worker->job;
    uint32_t row = window / w->output_width * w->output_width;
    uint32_t start = row > job->begin ? row : job->begin;
    uint32_t first = window - (window - start) % worker->buffers.segment;
    uint32_t end = row + w->output_width < job->end ? row + w->output_width : job->end;
    *count = end - first < worker->buffers.segment ? end - first : worker->buffers.segment;
    return first;
}

static uint64_t tile_place(const struct pim_round_worker *worker, uint32_t first)
{
    for (uint32_t i = 0; i < worker->buffers.tiles; i++) {
        if (worker->tile_first[i] == first)
            return worker->input + i * worker->tile_bytes;
    }
    return UINT64_MAX;
}

static uint64_t need_tile(struct pim_round_worker *worker, uint32_t window, uint32_t sample)
{
    const struct pim_round_window *w = &worker->layer->window;
    uint32_t count, first = tile_of(w, worker, window, &count);
    uint64_t address = tile_place(worker, first);
    if (address != UINT64_MAX)
        return address;
    uint32_t place = worker->tiles_loaded++ % worker->buffers.tiles;
    address = worker->input + place * worker->tile_bytes;
    worker->tile_first[place] = first;
    uint32_t columns = (count - 1) * pim_round_step(w, 1) + pim_round_span(w, 1, w->kernel[1]);
    load_tile(worker, address, first / w->output_width, first_of(w, 1, 0, first % w->output_width), columns,
              sample);
    return address;
}

/* The tile of the window and, with two tiles, the next one ahead of its use. */
static uint64_t use_tile(struct pim_round_worker *worker, uint32_t window, uint32_t sample)
{
    const struct pim_round_window *w = &worker->layer->window;
    uint32_t count, first = tile_of(w, worker, window, &count);
    uint64_t address = need_tile(worker, window, sample);
    if (worker->buffers.tiles > 1 && first + count < worker->job->end)
        need_tile(worker, first + count, sample);
    return address;
}

/*
 * What `window` needs in the ring. The rows that an output row needs for the first time come in stretches
 * as its windows advance, from the first of these windows on; when the next output row needs them too, the
 * rest of them is loaded. Columns that the last output row of the job does not need are not.
 */
static int64_t use_ring(struct pim_round_worker *worker, uint32_t window, uint32_t sample)
{
    const struct pim_round_window *w = &worker->layer->window;
    uint32_t output = window / w->output_width, last = worker->job->end - 1;
    int64_t first = first_of(w, 0, worker->kernel_row, output);
    int64_t end = first + pim_round_span(w, 0, worker->kernel_rows);
    int64_t column = first_of(w, 1, 0, window % w->output_width), limit = worker->column + worker->columns;
    int64_t across = pim_round_span(w, 1, w->kernel[1]);
    if (output == last / w->output_width)
        limit = first_of(w, 1, 0, last % w->output_width) + across;
    if (worker->next_row == INT64_MIN)
        worker->next_row = worker->part_end = first;
    if (end > worker->part_end) {
        load_ring_rows(worker, first, worker->column, smaller(worker->part_from, limit), sample);
        load_ring_rows(worker, first, worker->part_to, limit, sample);
        worker->next_row = larger(worker->part_end, first);
        worker->part_end = end;
        worker->part_from = worker->part_to = column;
    }
    if (column + across > worker->part_to) {
        int64_t stretch = PIM_ROUND_STRETCH_BYTES / ((int64_t)worker->channels * PIM_CORE_ELEMENT_BYTES);
        int64_t to = smaller(larger(worker->part_to + stretch, column + across), limit);
        load_ring_rows(worker, first, worker->part_to, to, sample);
        worker->part_to = to;
    }
    return first;
}

/* Local address of column number `column` in kernel row `tap` (from the worker's first one on). */
static uint64_t row_address(const struct pim_round_worker *worker, const struct pim_round_replica *replica,
                            uint32_t tap)
{
    const struct pim_round_window *w = &worker->layer->window;
    if (worker->buffers.mode != PIM_ROUND_RING)
        return replica->input + tap * worker->row_bytes;
    int64_t place = (replica->row + (int64_t)tap * w->dilation[0]) % worker->buffers.rows;
    place += place < 0 ? worker->buffers.rows : 0;
    return replica->input + (uint64_t)place * worker->row_bytes;
}

/* Copies the window of a replica, whose rows are at hand, to `destination` in canonical order. */
static void gather(const struct pim_round_worker *worker, const struct pim_round_replica *replica,
                   uint64_t destination)
{
    const struct pim_round_window *w = &worker->layer->window;
    uint64_t pixel = (uint64_t)worker->channels * PIM_CORE_ELEMENT_BYTES, row = w->kernel[1] * pixel;
    for (uint32_t tap = 0, next; tap < worker->kernel_rows; tap = next) {
        uint64_t source = row_address(worker, replica, tap), stride = 0;
        next = tap + 1;
        if (w->dilation[1] > 1 && w->kernel[1] > 1) {
            pim_core_emit_copy(worker->emitter, worker->core, destination + tap * row, source, pixel,
                               w->kernel[1], pixel, w->dilation[1] * pixel);
            continue;
        }
        for (; next < worker->kernel_rows; next++) { /* as many rows as lie equally far apart */
            uint64_t address = row_address(worker, replica, next);
            if (address <= source)
                break;
            uint64_t apart = (address - source) / (next - tap);
            if (next == tap + 1)
                stride = apart;
            else if (address - source != stride * (next - tap))
                break;
        }
        pim_core_emit_copy(worker->emitter, worker->core, destination + tap * row, source, row, next - tap,
                           row, stride);
    }
}

/* Copies bundles [first, first + count) of channels, all of `channels`, of a window whose rows are at hand:
 * all of them at each position of the kernel, or, if that is fewer copies, one by one the rows of each. */
static void gather_bundles(const struct pim_round_worker *worker, const struct pim_round_replica *replica,
                           uint64_t destination, uint32_t first, uint32_t count, uint32_t channels)
{
    const struct pim_round_window *w = &worker->layer->window;
    uint32_t bundle = worker->layer->part->bundle;
    uint64_t pixel = (uint64_t)worker->channels * PIM_CORE_ELEMENT_BYTES;
    uint64_t bytes = (uint64_t)channels * PIM_CORE_ELEMENT_BYTES, apart = w->dilation[1] * pixel;
    uint64_t positions = (uint64_t)w->kernel[0] * w->kernel[1], skipped = first * bundle - worker->channel;
    destination += skipped * positions * PIM_CORE_ELEMENT_BYTES;
    for (uint32_t tap = 0; tap < w->kernel[0]; tap++) {
        uint64_t row = row_address(worker, replica, tap) + skipped * PIM_CORE_ELEMENT_BYTES;
        uint64_t to = destination + tap * w->kernel[1] * bytes;
        if (count <= w->kernel[1]) {
            for (uint32_t b = 0; b < count; b++)
                pim_core_emit_copy(worker->emitter, worker->core, to + b * positions * bytes, row + b * bytes,
                                   bytes, w->kernel[1], bytes, apart);
            continue;
        }
        for (uint32_t column = 0; column < w->kernel[1]; column++)
            pim_core_emit_copy(worker->emitter, worker->core, to + column * bytes, row + column * apart,
                               bytes, count, positions * bytes, bytes);
    }
}

/* Copies what the groups of a replica read of a window to `destination`, bundle by bundle; the last bundle
 * of a layer may be narrower. */
static void gather_blocks(const struct pim_round_worker *worker, const struct pim_round_replica *replica,
                          uint64_t destination)
{
    const struct pim_core_partition_layer *part = worker->layer->part;
    const struct pim_round_window *w = &worker->layer->window;
    uint32_t rows = w->kernel[0] * w->kernel[1] * part->bundle, whole = w->channels / part->bundle;
    uint32_t first = 0, count = 0;
    for (uint32_t i = 0; i <= replica->groups; i++) {
        uint32_t bundle = i < replica->groups ? part->group[replica->group[i]].row / rows : UINT32_MAX;
        if (count > 0 && bundle == first + count - 1)
            continue;
        if (count > 0 && bundle == first + count && bundle < whole) {
            count++;
            continue;
        }
        if (count > 0)
            gather_bundles(worker, replica, destination, first, count,
                           first < whole ? part->bundle : w->channels % part->bundle);
        first = bundle;
        count = 1;
    }
}

void pim_round_input_load(struct pim_round_worker *worker, struct pim_round_replica *replica, uint32_t window,
                          uint32_t sample)
{
    const struct pim_round_window *w = &worker->layer->window;
    const struct pim_round_buffers *buffers = &worker->buffers;
    uint32_t turn = buffers->depth > 1 ? worker->job->step % buffers->depth : 0;
    uint64_t index = turn * worker->replicas + (uint64_t)(replica - worker->replica);
    uint64_t gathered = worker->gather + index * worker->window_bytes;
    uint64_t pixel = (uint64_t)worker->channels * PIM_CORE_ELEMENT_BYTES;
    int64_t column = first_of(w, 1, 0, window % w->output_width);
    switch (buffers->mode) {
    case PIM_ROUND_WINDOW:
        load_tile(worker, gathered, window / w->output_width, column, pim_round_span(w, 1, w->kernel[1]),
                  sample);
        replica->input = gathered;
        return;
    case PIM_ROUND_TILES_OF_WINDOWS: {
        uint32_t count, first = tile_of(w, worker, window, &count);
        uint64_t tile = use_tile(worker, window, sample);
        worker->row_bytes = ((count - 1) * pim_round_step(w, 1) + pim_round_span(w, 1, w->kernel[1])) * pixel;
        replica->input = tile + (window - first) * pim_round_step(w, 1) * pixel;
        break;
    }
    case PIM_ROUND_RING:
        replica->row = use_ring(worker, window, sample);
        replica->input = worker->input + (uint64_t)(column - worker->column) * pixel;
        break;
    }
    if (buffers->direct)
        return;
    if (worker->layer->part->bundle)
        gather_blocks(worker, replica, gathered);
    else
        gather(worker, replica, gathered);
    replica->input = gathered;
}

uint64_t pim_round_input_address(const struct pim_round_worker *worker,
                                 const struct pim_round_replica *replica, uint32_t canonical_row)
{
    const struct pim_round_window *w = &worker->layer->window;
    if (!worker->buffers.direct)
        return replica->input + (uint64_t)(canonical_row - worker->canonical) * PIM_CORE_ELEMENT_BYTES;
    if (w->kernel[0] == 1 && w->kernel[1] == 1)
        return row_address(worker, replica, 0) +
               (uint64_t)(canonical_row - worker->channel) * PIM_CORE_ELEMENT_BYTES;
    uint32_t row = w->kernel[1] * w->channels;
    uint32_t tap = canonical_row / row, column = canonical_row % row / w->channels;
    uint64_t across = w->kernel[1] == 1 ? 0 : (uint64_t)column * w->dilation[1] * w->channels;
    return row_address(worker, replica, tap - worker->kernel_row) +
           (across + canonical_row % w->channels) * PIM_CORE_ELEMENT_BYTES;
}
