/* Pixels in local memories: who needs one, where it lies, when its place is given back. */
#include "mappers/pimcomp/latency/blocks.h"
#include "mappers/pimcomp/latency/messages.h"
#include "mappers/pimcomp/latency/state.h"
#include "mappers/pimcomp/latency/windows.h"

#include <assert.h>

void *pim_ll_grow(struct pim_ll *ll, void *items, size_t *room, size_t needed, size_t item_bytes)
{
    void *grown = pim_array_grow(items, room, needed, item_bytes);
    if (grown)
        return grown;
    ll->status = pim_fail(ll->error, PIM_NO_MEMORY, "no memory for the low-latency schedule");
    return items;
}

/* --- dependencies --- */

/* The first place from `place` on of a kernel's axis at which a task may have pixel `at` (padding counted);
 * `kernel`: none has. */
static uint32_t skip_axis(const struct pim_sliding *sliding, int axis, uint32_t tasks, int64_t at,
                          uint32_t place)
{
    int64_t dilation = sliding->dilation[axis], stride = sliding->stride[axis],
            kernel = sliding->kernel[axis];
    int64_t beyond = at - stride * tasks, next = place;
    if (beyond >= next * dilation)
        next = beyond / dilation + 1;
    if (dilation == 1 && at > next)
        next += (at - next) % stride;
    return next < kernel && next * dilation <= at ? (uint32_t)next : (uint32_t)kernel;
}

/* The same for coordinate `at` of a pixel, and the task's coordinate; false: no place has one. */
static bool next_on_axis(const struct pim_sliding *sliding, int axis, uint32_t tasks, uint32_t at,
                         uint32_t *place, uint32_t *task)
{
    int64_t padded = (int64_t)at + sliding->pad_before[axis];
    while ((*place = skip_axis(sliding, axis, tasks, padded, *place)) < sliding->kernel[axis]) {
        if (pim_sliding_window(sliding, axis, at, *place, tasks, task))
            return true;
        ++*place;
    }
    return false;
}

/* The tasks of a consumer that have a pixel in the slots of one part: one after the other. */
struct readers {
    const struct pim_ll_layer *to;
    uint32_t part, pixel;
    uint32_t next;           /* in a table */
    uint32_t row, column, y; /* else: of the kernel, and the tasks that have the pixel in that row */
};

static bool next_reader(struct readers *r, uint32_t *task, uint32_t *slot)
{
    const struct pim_ll_layer *to = r->to;
    const struct pim_ll_table *table = &to->table[to->part[r->part].source];
    if (table->pixel) {
        uint32_t at = table->first[r->pixel] + r->next++;
        if (at >= table->first[r->pixel + 1])
            return false;
        *task = table->place[at] / to->positions;
        *slot = table->place[at] % to->positions * to->parts + r->part;
        return true;
    }
    for (uint32_t x;; r->row++, r->column = 0) {
        if (r->column == 0 &&
            !next_on_axis(&to->task, 0, to->task_height, r->pixel / to->in_width, &r->row, &r->y))
            return false;
        if (next_on_axis(&to->task, 1, to->task_width, r->pixel % to->in_width, &r->column, &x)) {
            *task = r->y * to->task_width + x;
            *slot = (r->row * to->task.kernel[1] + r->column++) * to->parts + r->part;
            return true;
        }
    }
}

/* Replicas [first, last] may run a task; with folds, those that it serves. */
static void replicas_of(const struct pim_ll_layer *layer, uint32_t task, uint32_t *first, uint32_t *last)
{
    *first = layer->folds.count == 1 ? task % layer->replicas : 0;
    *last = layer->folds.count == 1 ? *first : layer->replicas - 1;
}

static void add_use(struct pim_ll_uses *uses, uint32_t core)
{
    if (uses->uses[core]++ == 0)
        uses->core[uses->cores++] = core;
}

/* Counts the uses of a pixel that a layer makes; there are none in `uses` before. */
static void find_uses(const struct pim_ll *ll, uint32_t index, uint32_t pixel, struct pim_ll_uses *uses)
{
    const struct pim_ll_layer *from = &ll->layer[index];
    for (uint32_t i = 0; i < from->links; i++) {
        const struct pim_ll_layer *to = &ll->layer[from->link[i].layer];
        struct readers readers = {.to = to, .part = from->link[i].part, .pixel = pixel};
        for (uint32_t task = 0, slot = 0, r, last; next_reader(&readers, &task, &slot);) {
            if (to->home) {
                add_use(uses, to->home[task]);
                continue;
            }
            for (replicas_of(to, task, &r, &last); r <= last; r++) {
                const struct pim_ll_replica *replica = &to->replica[r];
                if (to->folds.count > 1 && !pim_ll_vector_serves(to, r, task))
                    continue;
                for (uint32_t m = 0; m < replica->members; m++)
                    if (replica->member[m].needs[slot])
                        add_use(uses, replica->member[m].core);
            }
        }
    }
}

static void clear_uses(struct pim_ll_uses *uses)
{
    for (uint32_t i = 0; i < uses->cores; i++)
        uses->uses[uses->core[i]] = 0;
    uses->cores = 0;
}

/* How often windows of one core read a pixel. */
static uint32_t uses_on(struct pim_ll *ll, uint32_t index, uint32_t pixel, uint32_t core)
{
    find_uses(ll, index, pixel, &ll->loaded);
    uint32_t uses = ll->loaded.uses[core];
    clear_uses(&ll->loaded);
    return uses;
}

/* --- blocks --- */

/* Gives back what a window has reserved so far. */
static void cancel_reservations(struct pim_ll *ll)
{
    for (size_t i = 0; i < ll->reservations; i++)
        if (!ll->reservation[i].held)
            pim_local_heap_release(&ll->heap[ll->reservation[i].core], ll->reservation[i].address,
                                   ll->reservation[i].bytes);
    ll->reservations = ll->loads = 0;
}

bool pim_ll_reserve(struct pim_ll *ll, uint32_t layer, uint32_t core, uint32_t bytes)
{
    if (!PIM_LL_GROW(ll, ll->reservation, ll->reservation_room, ll->reservations + 1))
        return false;
    struct pim_ll_reservation *reservation = &ll->reservation[ll->reservations];
    *reservation = (struct pim_ll_reservation){.core = core, .bytes = bytes};
    bool there = pim_local_heap_allocate(&ll->heap[core], bytes, &reservation->address);
    if (!there && ll->deferrals > 0) {
        pim_ll_flush(ll);
        there = pim_local_heap_allocate(&ll->heap[core], bytes, &reservation->address);
    }
    if (there) {
        ll->reservations++;
        return true;
    }
    ll->short_layer = layer;
    ll->short_core = core;
    ll->short_bytes = bytes;
    cancel_reservations(ll);
    return false;
}

/* A block of `live` pixels at a reserved place; PIM_PIXEL_NONE when memory is out. */
static uint32_t add_block(struct pim_ll *ll, const struct pim_ll_reservation *reservation, uint32_t live)
{
    uint32_t number = ll->free_block;
    if (number != PIM_PIXEL_NONE) {
        ll->free_block = ll->block[number].live;
    } else {
        if (!PIM_LL_GROW(ll, ll->block, ll->block_room, ll->blocks + 1))
            return PIM_PIXEL_NONE;
        number = (uint32_t)ll->blocks++;
    }
    ll->block[number] =
        (struct pim_ll_block){.address = reservation->address, .bytes = reservation->bytes, .live = live};
    return number;
}

/* A record for a pixel at `address` of a block; PIM_PIXEL_NONE when memory is out. */
static uint32_t add_pixel(struct pim_ll *ll, uint64_t key, uint32_t address, uint32_t block, uint32_t uses,
                          bool here)
{
    uint32_t number = pim_pixel_add(&ll->pixels, key);
    if (number == PIM_PIXEL_NONE) {
        if (ll->status == PIM_OK)
            ll->status = pim_fail(ll->error, PIM_NO_MEMORY, "no memory for the low-latency schedule");
        return number;
    }
    struct pim_pixel *pixel = &ll->pixels.record[number];
    pixel->address = address;
    pixel->block = block;
    pixel->uses = uses;
    pixel->here = here;
    pixel->epoch = 0;
    return number;
}

static void drop_pixel(struct pim_ll *ll, uint32_t number)
{
    uint32_t core = pim_pixel_core(ll->pixels.record[number].key), block = ll->pixels.record[number].block;
    pim_pixel_drop(&ll->pixels, number);
    assert(ll->block[block].live > 0);
    if (--ll->block[block].live > 0)
        return;
    pim_ll_release_later(ll, core, ll->block[block].address, ll->block[block].bytes);
    ll->block[block].live = ll->free_block;
    ll->free_block = block;
}

void pim_ll_use(struct pim_ll *ll, uint32_t number)
{
    struct pim_pixel *pixel = &ll->pixels.record[number];
    assert(pixel->uses > 0);
    if (--pixel->uses == 0 && !ll->options->keep_pixels)
        drop_pixel(ll, number);
}

/* --- inputs of a window --- */

/* What was made since the last flush is not there for a gather, nor, if it came by message, for anybody. */
static bool readable(const struct pim_ll *ll, uint32_t layer, const struct pim_pixel *pixel)
{
    bool gathers = ll->layer[layer].core_layer->kind == PIM_CORE_MATRIX;
    return pixel->here && !((gathers || pixel->by_message) && pixel->epoch == ll->epoch);
}

bool pim_ll_is_here(const struct pim_ll *ll, uint32_t layer, uint64_t key)
{
    uint32_t number = pim_pixel_find(&ll->pixels, key);
    return number != PIM_PIXEL_NONE && readable(ll, layer, &ll->pixels.record[number]);
}

static inline uint32_t slot_of(const struct pim_ll_reader *reader, uint32_t i)
{
    return reader->need ? reader->need[i] : i;
}

/* The record of a slot, PIM_LL_PADDING, or PIM_LL_MISSING for a pixel that the window has to load. */
static bool find_input(struct pim_ll *ll, const struct pim_ll_reader *reader, uint32_t slot, uint64_t *waited)
{
    const struct pim_ll_layer *layer = &ll->layer[reader->layer];
    uint32_t pixel, *found = &reader->found[slot];
    if (!pim_ll_input_pixel(layer, reader->task, slot, &pixel)) {
        *found = PIM_LL_PADDING;
        return true;
    }
    uint32_t source = layer->part[slot % layer->parts].layer;
    uint64_t key = pim_pixel_key(source, pixel, reader->core);
    uint32_t number = pim_pixel_find(&ll->pixels, key);
    if (number != PIM_PIXEL_NONE && readable(ll, reader->layer, &ll->pixels.record[number])) {
        *found = number;
        return true;
    }
    if (ll->layer[source].core_layer->kind == PIM_CORE_INPUT) {
        *found = PIM_LL_MISSING;
        return true;
    }
    *waited = key;
    return false;
}

bool pim_ll_find_inputs(struct pim_ll *ll, const struct pim_ll_reader *reader, uint64_t *waited)
{
    for (uint32_t i = reader->needed; i-- > 0;) /* what comes last is most likely not there yet */
        if (!find_input(ll, reader, slot_of(reader, i), waited))
            return false;
    return true;
}

void pim_ll_use_inputs(struct pim_ll *ll, const struct pim_ll_reader *reader)
{
    for (uint32_t i = 0; i < reader->needed && ll->status == PIM_OK; i++)
        if (reader->found[slot_of(reader, i)] != PIM_LL_PADDING)
            pim_ll_use(ll, reader->found[slot_of(reader, i)]);
}

/* The pixel is in a load that is reserved; or it extends the last one. */
static bool join_load(struct pim_ll *ll, uint32_t layer, uint32_t core, uint32_t pixel)
{
    for (size_t i = 0; i < ll->loads; i++) {
        struct pim_ll_load *load = &ll->load[i];
        if (load->layer != layer || load->core != core)
            continue;
        if (pixel >= load->pixel && pixel - load->pixel < load->count)
            return true;
        if (i + 1 == ll->loads && pixel == load->pixel + load->count) {
            load->count++;
            return true;
        }
    }
    return false;
}

bool pim_ll_reserve_loads(struct pim_ll *ll, const struct pim_ll_reader *reader)
{
    const struct pim_ll_layer *layer = &ll->layer[reader->layer];
    size_t first = ll->loads;
    for (uint32_t i = 0; i < reader->needed; i++) {
        uint32_t slot = slot_of(reader, i), pixel, source = layer->part[slot % layer->parts].layer;
        if (reader->found[slot] != PIM_LL_MISSING || !pim_ll_input_pixel(layer, reader->task, slot, &pixel) ||
            join_load(ll, source, reader->core, pixel))
            continue;
        if (!PIM_LL_GROW(ll, ll->load, ll->load_room, ll->loads + 1))
            return false;
        ll->load[ll->loads++] =
            (struct pim_ll_load){.layer = source, .core = reader->core, .pixel = pixel, .count = 1};
    }
    for (size_t i = first; i < ll->loads; i++) {
        struct pim_ll_load *load = &ll->load[i];
        uint64_t bytes = (uint64_t)load->count * pim_ll_pixel_bytes(ll, load->layer);
        load->reservation = (uint32_t)ll->reservations;
        if (!pim_ll_reserve(ll, reader->layer, reader->core,
                            bytes <= UINT32_MAX ? (uint32_t)bytes : UINT32_MAX))
            return false;
    }
    return true;
}

void pim_ll_perform_loads(struct pim_ll *ll)
{
    for (size_t i = 0; i < ll->loads; i++) {
        const struct pim_ll_load *load = &ll->load[i];
        const struct pim_ll_reservation *place = &ll->reservation[load->reservation];
        const struct pim_core_place *map = &ll->map->map[load->layer];
        uint32_t bytes = pim_ll_pixel_bytes(ll, load->layer), block = add_block(ll, place, load->count);
        if (block == PIM_PIXEL_NONE)
            return;
        if (ll->emitter)
            pim_core_emit_transfer(pim_ll_emitter_at(ll, PIM_LL_GATHER), PIM_OP_LOCAL_LOAD, load->core,
                                   place->address, map->address + load->pixel * map->pixel_stride,
                                   place->bytes, 1, 0);
        for (uint32_t p = 0; p < load->count; p++) {
            uint32_t pixel = load->pixel + p;
            if (add_pixel(ll, pim_pixel_key(load->layer, pixel, load->core), place->address + p * bytes,
                          block, uses_on(ll, load->layer, pixel, load->core), true) == PIM_PIXEL_NONE)
                return;
        }
    }
    ll->loads = 0;
}

void pim_ll_find_loaded(struct pim_ll *ll, const struct pim_ll_reader *reader)
{
    uint64_t waited;
    for (uint32_t i = 0; i < reader->needed && ll->status == PIM_OK; i++)
        if (reader->found[slot_of(reader, i)] == PIM_LL_MISSING)
            (void)find_input(ll, reader, slot_of(reader, i), &waited);
}

/* --- output of a window --- */

/* Enters what a core has already among the reservations. */
static bool reserve_held(struct pim_ll *ll, uint32_t core, uint32_t address, uint32_t bytes)
{
    if (!PIM_LL_GROW(ll, ll->reservation, ll->reservation_room, ll->reservations + 1))
        return false;
    ll->reservation[ll->reservations++] =
        (struct pim_ll_reservation){.core = core, .address = address, .bytes = bytes, .held = true};
    return true;
}

bool pim_ll_reserve_output(struct pim_ll *ll, uint32_t layer, uint32_t window, uint32_t home, uint32_t held,
                           size_t *first)
{
    uint32_t bytes = pim_ll_pixel_bytes(ll, layer);
    find_uses(ll, layer, window, &ll->output);
    *first = ll->reservations;
    bool there =
        held == PIM_PIXEL_NONE ? pim_ll_reserve(ll, layer, home, bytes) : reserve_held(ll, home, held, bytes);
    for (uint32_t i = 0; i < ll->output.cores && there; i++)
        if (ll->output.core[i] != home)
            there = pim_ll_reserve(ll, layer, ll->output.core[i], bytes);
    if (!there)
        clear_uses(&ll->output);
    return there;
}

/* Enters a record at each destination, and a request for each but home. */
static void enter_output(struct pim_ll *ll, uint32_t layer, uint32_t window, uint32_t home, size_t first,
                         uint32_t requests)
{
    const struct pim_ll_reservation *place = &ll->reservation[first];
    uint32_t block = add_block(ll, place, 1);
    if (block == PIM_PIXEL_NONE)
        return;
    uint32_t made = add_pixel(ll, pim_pixel_key(layer, window, home), place->address, block,
                              ll->output.uses[home] + requests, true);
    if (made == PIM_PIXEL_NONE)
        return;
    ll->pixels.record[made].epoch = ll->epoch;
    for (uint32_t i = 0; i < ll->output.cores; i++) {
        uint32_t core = ll->output.core[i];
        if (core == home)
            continue;
        place++;
        block = add_block(ll, place, 1);
        uint32_t copy = block == PIM_PIXEL_NONE
                            ? PIM_PIXEL_NONE
                            : add_pixel(ll, pim_pixel_key(layer, window, core), place->address, block,
                                        ll->output.uses[core], false);
        if (copy == PIM_PIXEL_NONE || !PIM_LL_GROW(ll, ll->request, ll->request_room, ll->requests + 1))
            return;
        ll->request[ll->requests++] =
            (struct pim_ll_request){.layer = layer, .source = made, .destination = copy, .next = UINT32_MAX};
    }
    if (ll->pixels.record[made].uses == 0 && !ll->options->keep_pixels)
        drop_pixel(ll, made);
}

void pim_ll_deliver(struct pim_ll *ll, uint32_t layer, uint32_t window, uint32_t home, size_t first)
{
    const struct pim_core_place *map = &ll->map->map[layer];
    if (ll->layer[layer].core_layer->output && ll->emitter)
        pim_core_emit_transfer(pim_ll_emitter_at(ll, PIM_LL_POST), PIM_OP_LOCAL_STORE, home,
                               ll->reservation[first].address, map->address + window * map->pixel_stride,
                               pim_ll_pixel_bytes(ll, layer), 1, 0);
    enter_output(ll, layer, window, home, first, ll->output.cores - (ll->output.uses[home] > 0));
    clear_uses(&ll->output);
    ll->reservations = 0;
}
