/* One window of a pooling or an elementwise layer, on the core that holds most of its input (Fig. 8d). */
#include "mappers/pimcomp/latency/blocks.h"
#include "mappers/pimcomp/latency/messages.h"
#include "mappers/pimcomp/latency/state.h"
#include "mappers/pimcomp/latency/windows.h"

#include <assert.h>

struct window {
    struct pim_ll *ll;
    const struct pim_ll_layer *layer;
    const struct pim_core_layer *from;
    uint32_t index, core;
    uint32_t pixel; /* address of the output */
};

static struct pim_core_emitter *emitter_of(const struct window *window)
{
    return pim_ll_emitter_at(window->ll, PIM_LL_POST);
}

static void copy(const struct window *window, uint32_t to, uint32_t from, uint32_t elements)
{
    pim_core_emit_copy(emitter_of(window), window->core, to, from, elements * PIM_CORE_ELEMENT_BYTES, 1, 0,
                       0);
}

/* Address of the first channel of a slot's part. */
static uint32_t part_at(const struct window *window, uint32_t slot)
{
    return pim_ll_element(window->ll, window->layer, slot,
                          window->layer->part[slot % window->layer->parts].offset);
}

/* One part of a pooling window: the first two positions together, then one after the other. */
static uint32_t pool_part(const struct window *window, uint32_t p)
{
    const struct pim_ll_layer *layer = window->layer;
    const struct pim_ll_part *part = &layer->part[p];
    uint32_t to = window->pixel + part->offset * PIM_CORE_ELEMENT_BYTES, count = 0, first = 0;
    for (uint32_t position = 0; position < layer->positions; position++) {
        uint32_t slot = position * layer->parts + p;
        if (window->ll->found[slot] == PIM_LL_PADDING)
            continue;
        uint32_t from = part_at(window, slot);
        if (count == 0)
            first = from;
        else
            pim_core_emit_vector(emitter_of(window), window->core, pim_core_pooling_of(window->from), to,
                                 count == 1 ? first : to, from, part->channels);
        count++;
    }
    if (count == 1)
        copy(window, to, first, part->channels);
    if (count == 0)
        pim_core_emit_zeros(emitter_of(window), window->core, to, part->channels * PIM_CORE_ELEMENT_BYTES, 1,
                            0);
    return count;
}

static void divide(const struct window *window, uint32_t positions)
{
    pim_core_emit_mean(emitter_of(window), window->core, window->from, window->pixel, positions,
                       window->from->channels);
}

static void emit_afters(const struct window *window)
{
    pim_core_emit_afters(emitter_of(window), window->core, window->from, window->pixel,
                         window->from->channels, 1);
}

static void pool(const struct window *window)
{
    uint32_t positions = 0;
    for (uint32_t p = 0; p < window->layer->parts; p++)
        positions = pool_part(window, p);
    divide(window, positions);
}

/* One source: where it lies in one part, else put together in the output pixel first. */
static void element_of_one(const struct window *window)
{
    uint32_t from = window->pixel;
    if (window->layer->parts == 1) {
        from = part_at(window, 0);
    } else {
        for (uint32_t p = 0; p < window->layer->parts; p++)
            copy(window, window->pixel + window->layer->part[p].offset * PIM_CORE_ELEMENT_BYTES,
                 part_at(window, p), window->layer->part[p].channels);
    }
    uint32_t block = window->from->block ? window->from->block : window->from->channels;
    pim_core_emit_vectors(emitter_of(window), window->core, window->from->element, window->pixel, from, block,
                          window->from->channels / block);
}

/* Two sources: channel ranges that lie in one part of both. */
static void element_of_two(const struct window *window)
{
    const struct pim_ll_part *part = window->layer->part;
    uint32_t b = 0;
    while (part[b].source == 0)
        b++;
    for (uint32_t a = 0, channel = 0; channel < window->from->channels;) {
        uint32_t end = part[a].offset + part[a].channels, end_b = part[b].offset + part[b].channels;
        uint32_t elements = (end < end_b ? end : end_b) - channel;
        pim_core_emit_vector(emitter_of(window), window->core, window->from->element,
                             window->pixel + channel * PIM_CORE_ELEMENT_BYTES,
                             pim_ll_element(window->ll, window->layer, a, channel),
                             pim_ll_element(window->ll, window->layer, b, channel), elements);
        channel += elements;
        a += channel == end;
        b += channel == end_b;
    }
}

/* --- moves --- */

/* Elements of a run that lie in one part of the source go together; one by one where it goes backwards. */
static void put_run(struct pim_ll *ll, const struct pim_ll_layer *layer, uint32_t number, uint32_t core,
                    uint32_t pixel)
{
    const struct pim_core_run *run = &layer->runs.run[number];
    bool backwards = run->to_step < 0 || run->from_channel_step < 0;
    for (uint32_t i = 0, next; i < run->count; i = next) {
        int64_t channel = run->from_channel + (int64_t)i * run->from_channel_step;
        uint32_t p = 0;
        while (layer->part[p].source != run->source ||
               channel >= (int64_t)layer->part[p].offset + layer->part[p].channels)
            p++;
        const struct pim_ll_part *part = &layer->part[p];
        for (next = i + 1; next < run->count && !backwards; next++)
            if (run->from_channel + (int64_t)next * run->from_channel_step >=
                (int64_t)part->offset + part->channels)
                break;
        uint32_t from =
            pim_ll_element(ll, layer, layer->run_position[number] * layer->parts + p, (uint32_t)channel);
        int64_t to = run->to_channel + (int64_t)i * run->to_step;
        pim_core_emit_run(pim_ll_emitter_at(ll, PIM_LL_POST), core, run,
                          pixel + (uint32_t)to * PIM_CORE_ELEMENT_BYTES, from, next - i);
    }
}

/* The copies of a window of a MOVE layer, its output at `pixel` of `core`. */
static void move_window(struct pim_ll *ll, uint32_t index, uint32_t window, uint32_t core, uint32_t pixel)
{
    const struct pim_ll_layer *layer = &ll->layer[index];
    if (layer->runs.zeros)
        pim_core_emit_zeros(pim_ll_emitter_at(ll, PIM_LL_POST), core, pixel, pim_ll_pixel_bytes(ll, index), 1,
                            0);
    for (uint32_t r = layer->runs.first[window]; r < layer->runs.first[window + 1]; r++)
        put_run(ll, layer, r, core, pixel);
}

/*
 * --- products (kernels/kernels.h) ---
 *
 * A window needs a pixel of the first operand and all
 * pixels of its branch of the second; it brings tiles of the second together, multiplies and adds.
 */

struct multiplication {
    struct pim_ll *ll;
    const struct pim_ll_layer *layer;
    uint32_t core;
};

/* Rows of the second operand in a tile: at most an eighth of the local memory for it and what it is
 * multiplied in; a sixty-fourth when the schedule is tried again with small buffers. */
static uint32_t tile_rows(const struct pim_ll *ll, const struct pim_core_product *p)
{
    uint64_t row = (2 * (uint64_t)p->columns + 1) * PIM_CORE_ELEMENT_BYTES;
    uint64_t rows = ll->settings.capacity / (ll->settings.scratch ? 8 : 64) / row;
    rows = rows < p->inner ? rows : p->inner;
    return rows ? (uint32_t)rows : 1;
}

/* Bytes that a window works in beside its output. */
static uint32_t product_bytes(const struct pim_ll *ll, uint32_t index)
{
    const struct pim_core_product *p = &ll->layer[index].core_layer->product;
    uint64_t bytes = tile_rows(ll, p) * (2 * (uint64_t)p->columns + 1) * PIM_CORE_ELEMENT_BYTES;
    return bytes < UINT32_MAX ? (uint32_t)bytes : UINT32_MAX;
}

/* Channels [channel, channel + count) of the pixel at a position of a source go to `to`, elements `step`
 * apart. */
static void bring(struct multiplication *w, uint32_t source, uint32_t position, uint32_t channel,
                  uint32_t count, uint32_t to, uint32_t step)
{
    const struct pim_ll_layer *layer = w->layer;
    for (uint32_t p = 0; p < layer->parts; p++) {
        const struct pim_ll_part *part = &layer->part[p];
        uint32_t end = part->offset + part->channels;
        uint32_t from = channel > part->offset ? channel : part->offset;
        uint32_t last = channel + count < end ? channel + count : end;
        if (part->source != source || from >= last)
            continue;
        pim_core_emit_copy(pim_ll_emitter_at(w->ll, PIM_LL_POST), w->core,
                           to + (uint64_t)(from - channel) * step * PIM_CORE_ELEMENT_BYTES,
                           pim_ll_element(w->ll, layer, position * layer->parts + p, from),
                           PIM_CORE_ELEMENT_BYTES, last - from, (uint64_t)step * PIM_CORE_ELEMENT_BYTES,
                           PIM_CORE_ELEMENT_BYTES);
    }
}

/* Rows [inner, inner + count) of the second operand, for a block of channels. */
static void multiply_tile(struct multiplication *w, uint32_t block, uint32_t inner, uint32_t count,
                          uint32_t pixel, uint32_t memory)
{
    const struct pim_core_product *p = &w->layer->core_layer->product;
    uint32_t size = count * p->columns * PIM_CORE_ELEMENT_BYTES;
    struct pim_core_product_tile tile = {.columns = p->columns,
                                         .inner = count,
                                         .first = inner == 0,
                                         .row = memory + 2 * size,
                                         .tile = memory,
                                         .work = memory + size,
                                         .result = pixel + block * p->columns * PIM_CORE_ELEMENT_BYTES};
    bring(w, 0, 0, block * p->inner + inner, count, (uint32_t)tile.row, 1);
    for (uint32_t n = 0; n < p->columns && p->transposed; n++)
        bring(w, 1, n, block * p->inner + inner, count, memory + n * PIM_CORE_ELEMENT_BYTES, p->columns);
    for (uint32_t k = 0; k < count && !p->transposed; k++)
        bring(w, 1, inner + k, block * p->columns, p->columns,
              memory + k * p->columns * PIM_CORE_ELEMENT_BYTES, 1);
    pim_core_product_row(pim_ll_emitter_at(w->ll, PIM_LL_POST), w->core, &tile);
}

/* Its instructions, those at `memory` beside. */
static void product_window(struct pim_ll *ll, uint32_t index, uint32_t core, uint32_t pixel, uint32_t memory)
{
    struct multiplication w = {.ll = ll, .layer = &ll->layer[index], .core = core};
    const struct pim_core_product *p = &w.layer->core_layer->product;
    uint32_t rows = tile_rows(ll, p);
    for (uint32_t block = 0; block < p->batches; block++)
        for (uint32_t inner = 0; inner < p->inner; inner += rows)
            multiply_tile(&w, block, inner, rows < p->inner - inner ? rows : p->inner - inner, pixel, memory);
}

/* --- pooling as pixels come --- */

/* Pixels of a map in the global memory that are loaded together. */
enum { STRETCH_PIXELS = 64, STRETCH_BYTES = 4096 };

/* How many slots from the next one on are taken together: pixels of one row that are loaded, else one. */
static uint32_t count_stretch(const struct window *window, const struct pim_ll_worker *worker)
{
    const struct pim_ll_layer *layer = window->layer;
    uint32_t source = layer->part[0].layer, columns = layer->window.kernel[1];
    if (layer->parts > 1 || window->ll->layer[source].core_layer->kind != PIM_CORE_INPUT)
        return 1;
    uint32_t count = STRETCH_BYTES / pim_ll_pixel_bytes(window->ll, source);
    uint32_t row = columns - worker->taken % columns;
    if (columns == layer->in_width && layer->window.pad_before[1] == 0 && layer->window.dilation[0] == 1)
        row = layer->slots - worker->taken; /* its rows are next to each other */
    count = count < STRETCH_PIXELS ? count : STRETCH_PIXELS;
    count = count < row ? count : row;
    return count > 0 ? count : 1;
}

/* Pools one slot, which is there. */
static void take_slot(const struct window *window, struct pim_ll_worker *worker, uint32_t slot)
{
    const struct pim_ll_part *part = &window->layer->part[slot % window->layer->parts];
    if (window->ll->found[slot] == PIM_LL_PADDING)
        return;
    uint32_t to = worker->pixel + part->offset * PIM_CORE_ELEMENT_BYTES;
    uint32_t from = part_at(window, slot);
    if (worker->positions == 0 && window->ll->emitter)
        copy(window, to, from, part->channels);
    else if (window->ll->emitter)
        pim_core_emit_vector(emitter_of(window), window->core, pim_core_pooling_of(window->from), to, to,
                             from, part->channels);
    worker->positions += slot % window->layer->parts == window->layer->parts - 1;
}

/* Pools the next slots of the window. False: they, or room for them or for the output, are not there. */
static bool take_slots(struct window *window, struct pim_ll_worker *worker,
                       const struct pim_ll_reader *reader)
{
    struct pim_ll *ll = window->ll;
    if (!pim_ll_find_inputs(ll, reader, &worker->waited))
        return false;
    ll->reservations = ll->loads = 0;
    if ((worker->taken == 0 &&
         !pim_ll_reserve(ll, window->index, worker->core, pim_ll_pixel_bytes(ll, window->index))) ||
        !pim_ll_reserve_loads(ll, reader))
        return false;
    if (worker->taken == 0)
        worker->pixel = ll->reservation[0].address;
    pim_ll_perform_loads(ll);
    pim_ll_find_loaded(ll, reader);
    window->pixel = worker->pixel;
    for (uint32_t i = 0; i < reader->needed && ll->status == PIM_OK; i++)
        take_slot(window, worker, reader->need[i]);
    pim_ll_use_inputs(ll, reader);
    worker->taken += reader->needed;
    ll->steps++;
    return true;
}

/* Pools what has come of the worker's next window; true when that completes it. */
static bool run_as_they_come(struct window *window, struct pim_ll_worker *worker)
{
    struct pim_ll *ll = window->ll;
    struct pim_ll_layer *layer = &ll->layer[window->index];
    uint32_t number = layer->order[worker->next], need[STRETCH_PIXELS];
    size_t first = 0;
    while (worker->taken < layer->slots) {
        const struct pim_ll_reader reader = {.layer = window->index,
                                             .task = number,
                                             .core = worker->core,
                                             .need = need,
                                             .needed = count_stretch(window, worker),
                                             .found = ll->found};
        for (uint32_t i = 0; i < reader.needed; i++)
            need[i] = worker->taken + i;
        if (!take_slots(window, worker, &reader) || ll->status != PIM_OK)
            return false;
    }
    ll->reservations = 0;
    if (!pim_ll_reserve_output(ll, window->index, number, worker->core, worker->pixel, &first))
        return false;
    window->pixel = worker->pixel;
    if (ll->emitter) {
        divide(window, worker->positions);
        emit_afters(window);
    }
    pim_ll_deliver(ll, window->index, number, worker->core, first);
    worker->taken = worker->positions = 0;
    worker->next++;
    layer->done++;
    ll->steps++;
    return true;
}

bool pim_ll_run_vector(struct pim_ll *ll, uint32_t index, uint32_t w)
{
    struct pim_ll_layer *layer = &ll->layer[index];
    struct pim_ll_worker *worker = &layer->worker[w];
    struct window window = {
        .ll = ll, .layer = layer, .from = layer->core_layer, .index = index, .core = worker->core};
    struct pim_ll_reader reader = {.layer = index,
                                   .task = layer->order[worker->next],
                                   .core = worker->core,
                                   .needed = layer->slots,
                                   .found = ll->found};
    size_t first = 0;
    if (layer->pools_as_they_come)
        return run_as_they_come(&window, worker);
    if (worker->waits && !pim_ll_is_here(ll, index, worker->waited))
        return false;
    worker->waits = !pim_ll_find_inputs(ll, &reader, &worker->waited);
    if (worker->waits)
        return false;
    ll->reservations = ll->loads = 0;
    struct pim_ll_reservation beside = {.bytes = 0};
    if (layer->core_layer->kind == PIM_CORE_PRODUCT) {
        if (!pim_ll_reserve(ll, index, worker->core, product_bytes(ll, index)))
            return false;
        beside = ll->reservation[0];
    }
    if (!pim_ll_reserve_loads(ll, &reader) ||
        !pim_ll_reserve_output(ll, index, reader.task, worker->core, PIM_PIXEL_NONE, &first))
        return false;
    pim_ll_perform_loads(ll);
    pim_ll_find_loaded(ll, &reader);
    if (ll->emitter && ll->status == PIM_OK) {
        window.pixel = ll->reservation[first].address;
        if (layer->core_layer->kind == PIM_CORE_MOVE)
            move_window(ll, index, reader.task, worker->core, window.pixel);
        else if (layer->core_layer->kind == PIM_CORE_PRODUCT)
            product_window(ll, index, worker->core, window.pixel, beside.address);
        else if (layer->core_layer->kind == PIM_CORE_POOLING)
            pool(&window);
        else if (layer->core_layer->sources == 1)
            element_of_one(&window);
        else
            element_of_two(&window);
        emit_afters(&window);
    }
    if (ll->status == PIM_OK)
        pim_ll_deliver(ll, index, reader.task, worker->core, first);
    if (beside.bytes)
        pim_ll_release_later(ll, beside.core, beside.address, beside.bytes);
    pim_ll_use_inputs(ll, &reader);
    worker->next++;
    layer->done++;
    ll->steps++;
    return true;
}
