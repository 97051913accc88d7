/*
 * The low-latency schedule (paper: PIMCOMP, section VII-B, Algorithm 2): layers in a queue, in
 * topological order; a replica runs one window each time its layer is visited, when the inputs are there;
 * messages wait until there are enough of them or the last layer was visited.
 *
 * Local memory. A window runs only when its output pixel finds room on every core that will read it. That
 * alone can end with memories full of pixels that nobody can use yet. Therefore a schedule is rehearsed
 * before it is emitted, first without any other limit, then with closer and closer limits of how far a
 * layer may be ahead of what its consumers need next. With the closest, a layer makes a pixel only when
 * the first unfinished window of a consumer needs it.
 */
#include "mappers/pimcomp/latency/messages.h"
#include "mappers/pimcomp/latency/preparation.h"
#include "mappers/pimcomp/latency/state.h"
#include "mappers/pimcomp/latency/windows.h"
#include "sim/try.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { PHASE_NAME = 64 };

/* Where the last pixel lies that windows 0 to `window` of a layer read of a part: so many pixels of the input
 * come first. */
static uint64_t input_prefix(const struct pim_ll_layer *layer, uint32_t window, uint32_t part)
{
    const struct pim_ll_table *table = &layer->table[layer->part[part].source];
    if (table->pixel)
        return table->prefix[window];
    const struct pim_sliding *sliding = &layer->window;
    int64_t reach[2];
    uint32_t width = layer->core_layer->width;
    assert(width > 0);
    int64_t at[2] = {window / width, window % width};
    int64_t size[2] = {layer->in_height, layer->in_width};
    for (int axis = 0; axis < 2; axis++) {
        reach[axis] = pim_sliding_last(sliding, axis, at[axis]);
        if (reach[axis] >= size[axis])
            reach[axis] = size[axis] - 1;
    }
    int64_t prefix = reach[0] >= 0 && reach[1] >= 0 ? reach[0] * size[1] + reach[1] + 1 : 0;
    if (at[0] > 0) { /* rows of windows before this one read to the end of theirs */
        int64_t above = pim_sliding_last(sliding, 0, at[0] - 1) + 1;
        above = (above < 0 ? 0 : above > size[0] ? size[0] : above) * size[1];
        prefix = above > prefix ? above : prefix;
    }
    return (uint64_t)prefix;
}

/* Windows below this one may run. */
static uint64_t allowed_windows(const struct pim_ll *ll, const struct pim_ll_layer *layer)
{
    uint64_t allowed = 0;
    if (ll->settings.lead == PIM_LL_NO_LIMIT || layer->links == 0)
        return layer->core_layer->windows;
    for (uint32_t i = 0; i < layer->links; i++) {
        const struct pim_ll_layer *to = &ll->layer[layer->link[i].layer];
        uint64_t abreast = to->replicas ? to->replicas : to->workers;
        uint64_t last = to->low + abreast * ll->settings.lead;
        if (last >= to->core_layer->windows)
            last = to->core_layer->windows - 1;
        uint64_t needed = input_prefix(to, (uint32_t)last, layer->link[i].part);
        allowed = needed > allowed ? needed : allowed;
    }
    return allowed;
}

static void transmit_if(struct pim_ll *ll, uint32_t threshold)
{
    if (ll->requests < threshold)
        return;
    pim_ll_transmit(ll);
    if (ll->mapping->architecture->synchronous)
        pim_ll_flush(
            ll); /* what waits for a message waits behind it: there is nothing to gain from staging more */
}

/* One visit: each replica runs a window, each worker all windows that are ready. */
static void visit(struct pim_ll *ll, uint32_t index)
{
    struct pim_ll_layer *layer = &ll->layer[index];
    uint32_t windows = layer->core_layer->windows, low = windows;
    uint64_t allowed = allowed_windows(ll, layer);
    for (uint32_t r = 0; r < layer->replicas && ll->status == PIM_OK; r++) {
        struct pim_ll_replica *replica = &layer->replica[r];
        if (replica->next < windows && replica->next < allowed &&
            (layer->folds.count == 1 ? pim_ll_run_matrix(ll, index, r) : pim_ll_run_folds(ll, index, r)))
            transmit_if(ll, ll->threshold);
        low = replica->next < low ? replica->next : low;
    }
    for (uint32_t w = 0; w < layer->workers && ll->status == PIM_OK; w++) {
        struct pim_ll_worker *worker = &layer->worker[w];
        while (worker->next < worker->end && layer->order[worker->next] < allowed && ll->status == PIM_OK &&
               pim_ll_run_vector(ll, index, w))
            transmit_if(ll, ll->threshold);
        if (worker->next < worker->end && layer->order[worker->next] < low)
            low = layer->order[worker->next];
    }
    layer->low = low;
}

/* Algorithm 2. False: a whole round of the queue did nothing, or failed. */
static bool run(struct pim_ll *ll)
{
    uint32_t *queue = ll->queue, length = 0;
    for (uint32_t i = 0; i < ll->layers; i++)
        if (ll->layer[i].replicas || ll->layer[i].workers)
            queue[length++] = i;
    while (length > 0 && ll->status == PIM_OK) {
        uint64_t steps = ll->steps;
        uint32_t left = 0;
        for (uint32_t i = 0; i < length && ll->status == PIM_OK; i++) {
            visit(ll, queue[i]);
            if (ll->layer[queue[i]].done < ll->layer[queue[i]].core_layer->windows)
                queue[left++] = queue[i];
        }
        pim_ll_transmit(ll);
        pim_ll_flush(ll);
        length = left;
        if (ll->steps == steps)
            return false;
    }
    return ll->status == PIM_OK;
}

/* The end of an attempt that came through: everything is given back but the fixed buffers. */
static void check_end(struct pim_ll *ll)
{
    if (ll->status == PIM_OK && !ll->options->keep_pixels &&
        (ll->pixels.used + ll->sums.used > 0 || ll->requests > 0))
        ll->status = pim_fail(ll->error, PIM_INTERNAL,
                              "low-latency schedule: %zu pixels were never given back", ll->pixels.used);
}

/* One attempt; true when all windows ran. */
static bool attempt(struct pim_ll *ll, struct pim_ll_settings settings, struct pim_core_emitter *emitter)
{
    ll->settings = settings;
    ll->emitter = emitter;
    bool through = pim_ll_begin(ll) && run(ll);
    if (through)
        check_end(ll);
    for (uint32_t core = 0; core < ll->cores; core++)
        if (ll->heap[core].high_water > ll->most_local)
            ll->most_local = ll->heap[core].high_water;
    if (!through) {
        ll->short_free = ll->heap[ll->short_core].capacity - ll->heap[ll->short_core].used;
        ll->short_largest = pim_local_heap_largest(&ll->heap[ll->short_core]);
    }
    pim_ll_end(ll);
    return through;
}

/* Nothing worked: says what the last attempt lacked, and what would be enough. */
static enum pim_status refuse(struct pim_ll *ll, struct pim_ll_settings closest)
{
    uint32_t layer = ll->short_layer, core = ll->short_core, bytes = ll->short_bytes, room = ll->short_free;
    uint32_t largest = ll->short_largest, capacity = closest.capacity;
    closest.capacity = UINT32_MAX;
    ll->most_local = 0;
    bool through = attempt(ll, closest, NULL);
    if (!through && ll->status == PIM_OK) { /* the limit on how far layers run ahead was what held them */
        closest.lead = PIM_LL_NO_LIMIT;
        ll->most_local = 0;
        through = attempt(ll, closest, NULL);
    }
    if (ll->status != PIM_OK)
        return ll->status;
    const char *name = ll->layer[layer].core_layer->name;
    if (bytes > largest)
        ll->status = pim_fail(ll->error, PIM_BAD_INPUT,
                              "%s: its next window needs %" PRIu32
                              " bytes in the local memory of core %" PRIu32 ", where %" PRIu32 " of %" PRIu32
                              " are free, at most %" PRIu32 " in one piece: %" PRIu32 " bytes are missing",
                              name, bytes, core, room, capacity, largest, bytes - largest);
    else
        ll->status = pim_fail(ll->error, PIM_BAD_INPUT,
                              "%s: local memories of %" PRIu32
                              " bytes are too small: layers that may run ahead find no room on core %" PRIu32
                              ", and those that may not wait for their pixels",
                              name, capacity, core);
    if (through) {
        struct pim_error reason = *ll->error;
        return pim_fail(ll->error, PIM_BAD_INPUT,
                        "%s (core.local_memory_bytes of %" PRIu32 " would be enough)", reason.text,
                        ll->most_local);
    }
    return ll->status;
}

/* The first settings that come through, rehearsed. */
static enum pim_status find_settings(struct pim_ll *ll, uint32_t capacity, struct pim_ll_settings *settings)
{
    static const struct pim_ll_settings tries[] = {
        {PIM_LL_NO_LIMIT, 2, true, true, 0},
        {8, 2, true, true, 0},
        {8, 1, true, false, 0},
        {2, 1, false, false, 0},
        {PIM_LL_NO_LIMIT, 1, false, false, 0},
        {0, 1, false, false, 0},
    };
    for (size_t i = 0; i < sizeof tries / sizeof *tries && ll->status == PIM_OK; i++) {
        *settings = tries[i];
        settings->buffers = ll->in_order ? 1 : tries[i].buffers;
        settings->capacity = capacity;
        if (attempt(ll, *settings, NULL))
            return ll->status;
    }
    return ll->status == PIM_OK ? refuse(ll, *settings) : ll->status;
}

static enum pim_status emit(struct pim_ll *ll, struct pim_trace_writer *writer)
{
    struct pim_ll_settings settings;
    struct pim_core_emitter emitter;
    uint64_t local = ll->mapping->architecture->local_memory_bytes;
    PIM_TRY(find_settings(ll, local < UINT32_MAX ? (uint32_t)local : UINT32_MAX, &settings));
    PIM_TRY(pim_core_schedule_begin(ll->options, &emitter, ll->mapping, writer, ll->arena, ll->error));
    const char *part = ll->options->part;
    char name[PHASE_NAME];
    (void)snprintf(name, sizeof name, "inference%s%s", part ? " of " : "", part ? part : "");
    uint32_t phase = pim_program_phase_begin(&emitter.program, name);
    bool through = attempt(ll, settings, &emitter);
    if (ll->status == PIM_OK && !through)
        return ll->status =
                   pim_fail(ll->error, PIM_INTERNAL, "low-latency schedule: differs from its rehearsal");
    pim_program_phase_end(&emitter.program);
    if (ll->status == PIM_OK)
        ll->status = emitter.program.status;
    struct pim_core_schedule_report *report = ll->options->report;
    if (ll->status == PIM_OK && report) {
        *report =
            (struct pim_core_schedule_report){.groups = 1, .rounds = 1, .first_phase = phase, .phases = 1};
        ll->status = pim_core_schedule_report(&emitter, ll->arena, report, ll->error);
    }
    return ll->status;
}

enum pim_status pim_core_schedule_low_latency(const struct pim_core_mapping *mapping,
                                              struct pim_trace_writer *writer,
                                              const struct pim_core_schedule_options *options,
                                              struct pim_arena *arena, struct pim_core_memory_map *map,
                                              struct pim_error *error)
{
    struct pim_core_architecture unlimited = *mapping->architecture;
    struct pim_core_mapping without_limit = *mapping;
    if (options->keep_pixels) {
        unlimited.local_memory_bytes = UINT32_MAX;
        without_limit.architecture = &unlimited;
    }
    uint32_t cores = mapping->architecture->cores;
    struct pim_ll ll = {.mapping = &without_limit,
                        .options = options,
                        .arena = arena,
                        .error = error,
                        .status = PIM_OK,
                        .map = map,
                        .layers = mapping->network->count,
                        .cores = cores,
                        .in_order = mapping->architecture->in_order,
                        .queue = PIM_ARENA_ARRAY(arena, uint32_t, mapping->network->count)};
    ll.threshold = options->transmit_threshold;
    if (ll.threshold == 0)
        ll.threshold = mapping->architecture->synchronous ? 64 * cores : 1;
    PIM_NEED_MEMORY(ll.queue, error, "no memory for %" PRIu32 " layers", ll.layers);
    if (!pim_ll_order_create(&ll))
        return pim_fail(error, PIM_NO_MEMORY, "no memory for %" PRIu32 " cores", cores);
    enum pim_status status = pim_ll_plan(&ll);
    if (status == PIM_OK)
        status = emit(&ll, writer);
    for (int stage = 0; stage < PIM_LL_STAGES; stage++)
        free(ll.stage[stage].staged);
    pim_ll_order_destroy(ll.order);
    free(ll.block);
    free(ll.request);
    free(ll.pair);
    free(ll.deferred);
    free(ll.reservation);
    free(ll.load);
    return status;
}
