/*
 * What the low-latency schedule knows before it runs a window: parts and links (the dependencies of Fig. 9 as
 * arithmetic), the core of each window of a vector layer (Fig. 8d), places in global memory.
 */
#include "mappers/pimcomp/latency/preparation.h"
#include "mappers/pimcomp/latency/state.h"
#include "sim/try.h"

#include <assert.h>
#include <inttypes.h>

static enum pim_status no_memory(struct pim_ll *ll, uint32_t layer)
{
    return pim_fail(ll->error, PIM_NO_MEMORY, "no memory for the low-latency schedule of %s",
                    ll->layer[layer].core_layer->name);
}

/* What a task reads. With folds (I, O K^2, 1) it is a pixel of the input; with (I K, O K, 1) a row of the
 * kernel at a column of windows. */
static enum pim_status plan_tasks(struct pim_ll *ll, struct pim_ll_layer *layer)
{
    layer->task = layer->window;
    layer->task_height = layer->core_layer->height;
    layer->task_width = layer->core_layer->width;
    layer->folds = pim_core_folds_of(layer->core_layer, layer->partition);
    if (layer->folds.count == 1)
        return PIM_OK;
    const struct pim_sliding *window = &layer->window;
    assert(layer->folds.count == window->kernel[0] * layer->folds.taps);
    for (int axis = 0; axis < 2; axis++)
        if (window->pad_before[axis] > (window->kernel[axis] - 1) * window->dilation[axis])
            return pim_fail(ll->error, PIM_BAD_INPUT,
                            "%s: windows of padding alone have no place in its unfolding",
                            layer->core_layer->name);
    layer->task_height = layer->in_height;
    layer->task.kernel[0] = layer->task.stride[0] = layer->task.dilation[0] = 1;
    layer->task.pad_before[0] = layer->task.pad_after[0] = 0;
    if (!layer->folds.pixels)
        return PIM_OK;
    layer->task_width = layer->in_width;
    layer->task.kernel[1] = layer->task.stride[1] = layer->task.dilation[1] = 1;
    layer->task.pad_before[1] = layer->task.pad_after[1] = 0;
    return PIM_OK;
}

/* Parts of all sources, one after the other, and the geometry of the window. */
static enum pim_status plan_sources(struct pim_ll *ll, uint32_t index)
{
    struct pim_ll_layer *layer = &ll->layer[index];
    const struct pim_core_layer *from = layer->core_layer;
    for (uint32_t s = 0; s < from->sources; s++)
        layer->parts += from->source[s].parts;
    layer->part = PIM_ARENA_ARRAY(ll->arena, struct pim_ll_part, layer->parts);
    if (!layer->part)
        return no_memory(ll, index);
    uint32_t count = 0;
    for (uint32_t s = 0; s < from->sources; s++) {
        uint32_t offset = 0;
        for (uint32_t p = 0; p < from->source[s].parts; p++) {
            const struct pim_core_part *part = &from->source[s].part[p];
            layer->part[count++] = (struct pim_ll_part){.layer = part->layer,
                                                        .channel = part->channel,
                                                        .channels = part->channels,
                                                        .source = s,
                                                        .offset = offset};
            ll->layer[part->layer].links++; /* counted here, entered by plan_links */
            offset += part->channels;
        }
    }
    bool slides = from->kind == PIM_CORE_MATRIX || from->kind == PIM_CORE_POOLING;
    layer->window =
        slides ? from->sliding : (struct pim_sliding){.kernel = {1, 1}, .stride = {1, 1}, .dilation = {1, 1}};
    for (int axis = 0; axis < 2; axis++)
        if (layer->window.dilation[axis] == 0)
            layer->window.dilation[axis] = 1;
    layer->in_height = from->sources ? from->source[0].height : 0;
    layer->in_width = from->sources ? from->source[0].width : 0;
    bool tabled;
    PIM_TRY(pim_ll_plan_tables(ll, index, &tabled));
    if (tabled)
        return PIM_OK;
    PIM_TRY(plan_tasks(ll, layer));
    uint64_t positions = (uint64_t)layer->task.kernel[0] * layer->task.kernel[1];
    if (positions * (layer->parts ? layer->parts : 1) > UINT32_MAX / 2)
        return pim_fail(ll->error, PIM_BAD_INPUT, "%s: a window of %" PRIu64 " positions is too large",
                        from->name, positions);
    layer->positions = (uint32_t)positions;
    layer->slots = layer->positions * layer->parts;
    return PIM_OK;
}

static enum pim_status plan_links(struct pim_ll *ll)
{
    for (uint32_t i = 0; i < ll->layers; i++) {
        ll->layer[i].link = PIM_ARENA_ARRAY(ll->arena, struct pim_ll_link, ll->layer[i].links);
        if (!ll->layer[i].link)
            return no_memory(ll, i);
        ll->layer[i].links = 0;
    }
    for (uint32_t i = 0; i < ll->layers; i++) {
        for (uint32_t p = 0; p < ll->layer[i].parts; p++) {
            struct pim_ll_layer *from = &ll->layer[ll->layer[i].part[p].layer];
            from->link[from->links++] = (struct pim_ll_link){.layer = i, .part = p};
        }
    }
    return PIM_OK;
}

/* The core where the pixel of a layer is made; UINT32_MAX for an input map. */
static uint32_t home_of(const struct pim_ll *ll, uint32_t index, uint32_t pixel)
{
    const struct pim_ll_layer *layer = &ll->layer[index];
    if (layer->replicas)
        return layer->replica[pim_ll_replica_of(layer, pixel)].home;
    return layer->home ? layer->home[pixel] : UINT32_MAX;
}

/*
 * The core that runs a window of a vector layer: the one where most bytes of its input are made; among
 * equals, and when the input comes from global memory, the one with the least vector work so far.
 */
static uint32_t choose_core(struct pim_ll *ll, const struct pim_ll_layer *layer, uint32_t window,
                            uint64_t *weight, const uint64_t *work)
{
    uint32_t best = UINT32_MAX;
    for (int pass = 0; pass < 3; pass++) { /* weigh, choose, clear */
        for (uint32_t slot = 0; slot < layer->slots; slot++) {
            const struct pim_ll_part *part = &layer->part[slot % layer->parts];
            uint32_t pixel;
            if (!pim_ll_input_pixel(layer, window, slot, &pixel))
                continue;
            uint32_t core = home_of(ll, part->layer, pixel);
            if (core == UINT32_MAX)
                continue;
            if (pass == 0)
                weight[core] += part->channels;
            else if (pass == 2)
                weight[core] = 0;
            else if (best == UINT32_MAX || weight[core] > weight[best] ||
                     (weight[core] == weight[best] && work[core] < work[best]))
                best = core;
        }
    }
    if (best != UINT32_MAX)
        return best;
    best = 0;
    for (uint32_t core = 1; core < ll->cores; core++)
        if (work[core] < work[best])
            best = core;
    return best;
}

/* Sorts the windows of a vector layer by core: each core is a worker, in the order of cores. */
static enum pim_status plan_workers(struct pim_ll *ll, uint32_t index, uint32_t *count)
{
    struct pim_ll_layer *layer = &ll->layer[index];
    uint32_t windows = layer->core_layer->windows;
    for (uint32_t w = 0; w < windows; w++)
        count[layer->home[w]]++;
    for (uint32_t core = 0; core < ll->cores; core++)
        layer->workers += count[core] != 0;
    layer->worker = PIM_ARENA_ARRAY(ll->arena, struct pim_ll_worker, layer->workers);
    layer->order = PIM_ARENA_ARRAY(ll->arena, uint32_t, windows);
    if (!layer->worker || !layer->order)
        return no_memory(ll, index);
    uint32_t begin = 0, worker = 0;
    for (uint32_t core = 0; core < ll->cores; core++) {
        if (count[core] == 0)
            continue;
        layer->worker[worker++] =
            (struct pim_ll_worker){.core = core, .begin = begin, .end = begin + count[core]};
        uint32_t next = begin;
        begin += count[core];
        count[core] = next;
    }
    for (uint32_t w = 0; w < windows; w++)
        layer->order[count[layer->home[w]]++] = w;
    for (uint32_t i = 0; i < layer->workers; i++)
        count[layer->worker[i].core] = 0;
    return PIM_OK;
}

enum { LARGE_WINDOW = 16 }; /* positions */

/* Large windows that have no pixel in common: holding all their pixels would take much memory, and gain
 * nothing. */
static bool pools_as_they_come(const struct pim_ll_layer *layer)
{
    const struct pim_sliding *sliding = &layer->window;
    bool apart = layer->core_layer->kind == PIM_CORE_POOLING && layer->positions >= LARGE_WINDOW;
    for (int axis = 0; axis < 2; axis++) {
        bool one = axis == 0 ? layer->core_layer->height == 1 : layer->core_layer->width == 1;
        apart = apart &&
                (one || (sliding->dilation[axis] == 1 && sliding->stride[axis] >= sliding->kernel[axis]));
    }
    return apart;
}

/* Every core with windows needs the whole second operand of their branches, so windows go in contiguous
 * ranges to about as many cores as each of them gets windows. */
static void choose_product_cores(const struct pim_ll *ll, uint32_t index, const uint64_t *work,
                                 uint32_t *home)
{
    uint32_t windows = ll->layer[index].core_layer->windows, wanted = 1, taken = 0, core = 0;
    while (wanted < ll->cores && (uint64_t)wanted * wanted < windows)
        wanted++;
    uint64_t least = 0;
    for (uint32_t w = 0; w < windows; w++) {
        uint32_t range = (uint32_t)((uint64_t)w * wanted / windows);
        if (w > 0 && range < taken) {
            home[w] = core;
            continue;
        }
        /* the next core by (work, number), behind the last one taken */
        uint32_t best = UINT32_MAX;
        for (uint32_t c = 0; c < ll->cores; c++) {
            bool behind = taken == 0 || work[c] > least || (work[c] == least && c > core);
            if (behind && (best == UINT32_MAX || work[c] < work[best]))
                best = c;
        }
        assert(best != UINT32_MAX);
        core = best;
        least = work[best];
        taken++;
        home[w] = core;
    }
}

/* Cores of all vector windows, layers in topological order. */
static enum pim_status plan_vectors(struct pim_ll *ll)
{
    uint64_t *weight = PIM_ARENA_ARRAY(ll->arena, uint64_t, ll->cores);
    uint64_t *work = PIM_ARENA_ARRAY(ll->arena, uint64_t, ll->cores);
    uint32_t *count = PIM_ARENA_ARRAY(ll->arena, uint32_t, ll->cores);
    if (!weight || !work || !count)
        return no_memory(ll, 0);
    for (uint32_t i = 0; i < ll->layers; i++) {
        struct pim_ll_layer *layer = &ll->layer[i];
        const struct pim_core_layer *from = layer->core_layer;
        if (from->kind == PIM_CORE_INPUT || from->kind == PIM_CORE_MATRIX)
            continue;
        uint32_t *home = PIM_ARENA_ARRAY(ll->arena, uint32_t, from->windows);
        if (!home)
            return no_memory(ll, i);
        if (from->kind == PIM_CORE_PRODUCT)
            choose_product_cores(ll, i, work, home);
        for (uint32_t w = 0; w < from->windows; w++) {
            if (from->kind != PIM_CORE_PRODUCT)
                home[w] = choose_core(ll, layer, w, weight, work);
            work[home[w]] += (uint64_t)from->channels * layer->slots;
        }
        layer->home = home;
        layer->pools_as_they_come = pools_as_they_come(layer);
        PIM_TRY(plan_workers(ll, i, count));
    }
    return PIM_OK;
}

static enum pim_status place_map(struct pim_ll *ll, uint32_t index)
{
    const struct pim_core_layer *layer = ll->layer[index].core_layer;
    struct pim_core_place *place = &ll->map->map[index];
    *place = (struct pim_core_place){.address = PIM_CORE_NOWHERE};
    ll->map->bias[index] = PIM_CORE_NOWHERE;
    const struct pim_core_placement *placement = ll->options->placement;
    if (placement && placement->place[index].address != PIM_CORE_NOWHERE) {
        *place = placement->place[index];
    } else if (layer->kind == PIM_CORE_INPUT || layer->output) {
        uint64_t stride = (uint64_t)layer->channels * PIM_CORE_ELEMENT_BYTES;
        *place = (struct pim_core_place){.address = ll->map->bytes,
                                         .pixel_stride = stride,
                                         .sample_stride = stride * layer->windows,
                                         .slots = 1};
        ll->map->bytes += stride * layer->windows;
    }
    if (layer->bias) {
        ll->map->bias[index] = ll->map->bytes;
        ll->map->bytes += (uint64_t)layer->channels * PIM_CORE_ELEMENT_BYTES;
    }
    uint64_t capacity = ll->mapping->architecture->global_memory_bytes;
    if (ll->map->bytes > capacity)
        return pim_fail(ll->error, PIM_BAD_INPUT,
                        "%s: inputs, outputs and biases up to it take %" PRIu64
                        " bytes, the global memory has %" PRIu64,
                        layer->name, ll->map->bytes, capacity);
    return PIM_OK;
}

/* What the keys of pixels and 32-bit addresses can hold. */
static enum pim_status check_sizes(struct pim_ll *ll)
{
    if (ll->layers > UINT32_C(1) << PIM_PIXEL_LAYER_BITS || ll->cores > UINT32_C(1) << PIM_PIXEL_CORE_BITS)
        return pim_fail(
            ll->error, PIM_BAD_INPUT,
            "%" PRIu32 " layers on %" PRIu32 " cores: the low-latency schedule takes up to %" PRIu32
            " layers and %" PRIu32 " cores",
            ll->layers, ll->cores, UINT32_C(1) << PIM_PIXEL_LAYER_BITS, UINT32_C(1) << PIM_PIXEL_CORE_BITS);
    for (uint32_t i = 0; i < ll->layers; i++) {
        const struct pim_core_layer *layer = &ll->mapping->network->layer[i];
        if (layer->windows >= UINT32_C(1) << PIM_PIXEL_BITS || layer->channels > UINT32_C(1) << 24)
            return pim_fail(ll->error, PIM_BAD_INPUT,
                            "%s: %" PRIu32 " windows of %" PRIu32
                            " channels: the low-latency schedule takes below %" PRIu32 " and up to %" PRIu32,
                            layer->name, layer->windows, layer->channels, UINT32_C(1) << PIM_PIXEL_BITS,
                            UINT32_C(1) << 24);
    }
    return PIM_OK;
}

/* The output along an axis that reads most positions within the map. */
static uint32_t fullest_output(const struct pim_sliding *sliding, int axis, uint32_t outputs, uint32_t inputs)
{
    int64_t dilation = sliding->dilation[axis], most = 0;
    uint32_t fullest = 0;
    for (uint32_t output = 0; output < outputs; output++) {
        int64_t before = sliding->pad_before[axis] - (int64_t)output * sliding->stride[axis];
        int64_t first = before > 0 ? (before + dilation - 1) / dilation : 0;
        int64_t last = (int64_t)inputs - 1 + before < 0 ? -1 : ((int64_t)inputs - 1 + before) / dilation;
        last = last < sliding->kernel[axis] ? last : (int64_t)sliding->kernel[axis] - 1;
        if (last - first + 1 > most) {
            most = last - first + 1;
            fullest = output;
        }
    }
    return fullest;
}

/* Pixels that a window of a pooling reads, all of which are on one core at a time. */
static uint64_t bytes_of_window(const struct pim_ll *ll, const struct pim_ll_layer *layer, uint32_t window)
{
    uint64_t bytes = 0;
    for (uint32_t slot = 0; slot < layer->slots; slot++) {
        uint32_t part = slot % layer->parts, same = 0, pixel;
        while (layer->part[same].layer != layer->part[part].layer)
            same++;
        if (same == part && pim_ll_input_pixel(layer, window, slot, &pixel))
            bytes += pim_ll_pixel_bytes(ll, layer->part[part].layer);
    }
    return bytes;
}

/* A pooling whose large window has no room is refused before anything is tried. */
static enum pim_status check_poolings(const struct pim_ll *ll)
{
    uint64_t capacity = ll->mapping->architecture->local_memory_bytes;
    for (uint32_t i = 0; i < ll->layers; i++) {
        const struct pim_ll_layer *layer = &ll->layer[i];
        const struct pim_core_layer *from = layer->core_layer;
        if (from->kind != PIM_CORE_POOLING || layer->positions < LARGE_WINDOW || pools_as_they_come(layer) ||
            layer->table[0].pixel)
            continue;
        uint32_t row = fullest_output(&layer->window, 0, from->height, layer->in_height);
        uint32_t column = fullest_output(&layer->window, 1, from->width, layer->in_width);
        uint64_t needed = bytes_of_window(ll, layer, row * from->width + column) + pim_ll_pixel_bytes(ll, i);
        if (needed > capacity)
            return pim_fail(
                ll->error, PIM_BAD_INPUT,
                "%s: its windows overlap or are dilated, and the pixels of one take %" PRIu64
                " bytes of a core's local memory, which has %" PRIu64
                ": core.local_memory_bytes of so many at least, or --mode ht, which pools row by row",
                from->name, needed, capacity);
    }
    return PIM_OK;
}

static bool create_uses(const struct pim_ll *ll, struct pim_ll_uses *uses)
{
    uses->uses = PIM_ARENA_ARRAY(ll->arena, uint32_t, ll->cores);
    uses->core = PIM_ARENA_ARRAY(ll->arena, uint32_t, ll->cores);
    return uses->uses && uses->core;
}

enum pim_status pim_ll_plan(struct pim_ll *ll)
{
    PIM_TRY(check_sizes(ll));
    ll->layer = PIM_ARENA_ARRAY(ll->arena, struct pim_ll_layer, ll->layers);
    ll->map->bytes = ll->options->placement ? ll->options->placement->base : 0;
    PIM_NEED_MEMORY(ll->layer, ll->error, "no memory for %" PRIu32 " layers", ll->layers);
    size_t found = 1, members = 1;
    for (uint32_t i = 0; i < ll->layers; i++) {
        ll->layer[i].core_layer = &ll->mapping->network->layer[i];
        ll->layer[i].partition = &ll->mapping->partition->layer[i];
    }
    for (uint32_t i = 0; i < ll->layers; i++) {
        struct pim_ll_layer *layer = &ll->layer[i];
        PIM_TRY(plan_sources(ll, i));
        PIM_TRY(place_map(ll, i));
        if (layer->core_layer->kind == PIM_CORE_MATRIX)
            PIM_TRY(pim_ll_plan_matrix(ll, i));
        size_t needed = layer->slots;
        for (uint32_t r = 0; r < layer->replicas; r++) {
            size_t many = layer->replica[r].members;
            members = many > members ? many : members;
            needed = many * layer->slots > needed ? many * layer->slots : needed;
        }
        found = needed > found ? needed : found;
    }
    PIM_TRY(plan_links(ll));
    PIM_TRY(check_poolings(ll));
    PIM_TRY(plan_vectors(ll));
    ll->found = PIM_ARENA_ARRAY(ll->arena, uint32_t, found);
    ll->base = PIM_ARENA_ARRAY(ll->arena, uint32_t, members);
    bool counts = create_uses(ll, &ll->output) && create_uses(ll, &ll->loaded);
    ll->last_bundle = PIM_ARENA_ARRAY(ll->arena, struct pim_ll_bundle, ll->cores);
    ll->heap = PIM_ARENA_ARRAY(ll->arena, struct pim_local_heap, ll->cores);
    if (!ll->found || !ll->base || !counts || !ll->last_bundle || !ll->heap)
        return no_memory(ll, 0);
    return PIM_OK;
}
