/* Members of replicas, and the fixed buffers of an attempt: gathered inputs, outputs of groups, partial
 * sums, biases. */
#include "mappers/pimcomp/latency/preparation.h"
#include "mappers/pimcomp/latency/state.h"
#include "mappers/pimcomp/latency/windows.h"
#include "sim/try.h"

#include <assert.h>
#include <inttypes.h>

/* The strips of a layer: groups have the same columns or none in common. */
static bool find_strips(struct pim_ll *ll, struct pim_ll_layer *layer)
{
    const struct pim_core_partition_layer *partition = layer->partition;
    layer->strip = PIM_ARENA_ARRAY(ll->arena, struct pim_ll_strip, partition->groups);
    layer->strip_of = PIM_ARENA_ARRAY(ll->arena, uint32_t, partition->groups);
    if (!layer->strip || !layer->strip_of)
        return false;
    for (uint32_t g = 0; g < partition->groups; g++) {
        const struct pim_trace_array_group *group = &partition->group[g];
        uint32_t s = 0;
        while (s < layer->strips && layer->strip[s].column != group->column)
            s++;
        layer->strip_of[g] = s;
        if (s == layer->strips)
            layer->strip[layer->strips++] =
                (struct pim_ll_strip){.column = group->column, .columns = group->columns};
        assert(layer->strip[s].columns == group->columns);
    }
    return true;
}

/* Marks the slots whose elements are among `rows` canonical rows from `row` on. */
static void mark_rows(const struct pim_ll_layer *layer, uint32_t row, uint32_t rows, uint8_t *needs)
{
    for (uint32_t end = row + rows; row < end;) {
        const struct pim_core_stretch s = pim_core_stretch_at(layer->core_layer, layer->partition, row, end);
        for (uint32_t p = 0; p < layer->parts; p++) {
            uint32_t first = layer->part[p].offset, last = first + layer->part[p].channels;
            if (first < s.channel + s.channels && last > s.channel)
                needs[s.position * layer->parts + p] = 1;
        }
        row += s.channels;
    }
}

static bool plan_member(struct pim_ll *ll, const struct pim_ll_layer *layer, const uint32_t *core_of,
                        struct pim_ll_member *member, bool home)
{
    uint32_t groups = layer->partition->groups;
    for (uint32_t g = 0; g < groups; g++)
        member->groups += core_of[g] == member->core;
    member->group = PIM_ARENA_ARRAY(ll->arena, uint32_t, member->groups);
    member->needs = PIM_ARENA_ARRAY(ll->arena, uint8_t, layer->slots);
    if (!member->group || !member->needs)
        return false;
    uint32_t count = 0;
    for (uint32_t s = 0; s < layer->strips; s++) {
        uint32_t before = count;
        for (uint32_t g = 0; g < groups; g++) {
            if (core_of[g] != member->core || layer->strip_of[g] != s)
                continue;
            member->group[count++] = g;
            const struct pim_trace_array_group *group = &layer->partition->group[g];
            mark_rows(layer, group->row, group->rows, member->needs);
        }
        if (count > before && !home)
            member->partial_bytes += layer->strip[s].columns * PIM_CORE_ELEMENT_BYTES;
    }
    for (uint32_t slot = 0; slot < layer->slots; slot++)
        member->needed += member->needs[slot];
    member->need = PIM_ARENA_ARRAY(ll->arena, uint32_t, member->needed);
    if (!member->need)
        return false;
    count = 0;
    for (uint32_t slot = 0; slot < layer->slots; slot++)
        if (member->needs[slot])
            member->need[count++] = slot;
    return true;
}

/* The first member of each strip, and how many partial sums home has to add. */
static bool plan_sums(struct pim_ll *ll, const struct pim_ll_layer *layer, struct pim_ll_replica *replica)
{
    replica->strip_first = PIM_ARENA_ARRAY(ll->arena, uint32_t, layer->strips);
    if (!replica->strip_first)
        return false;
    for (uint32_t s = 0; s < layer->strips; s++)
        replica->strip_first[s] = UINT32_MAX;
    for (uint32_t m = 0; m < replica->members; m++) {
        const struct pim_ll_member *member = &replica->member[m];
        for (uint32_t i = 0; i < member->groups; i++) {
            uint32_t s = layer->strip_of[member->group[i]];
            if (replica->strip_first[s] == UINT32_MAX)
                replica->strip_first[s] = m;
            else if (m > 0 && replica->strip_first[s] != m && pim_ll_opens_strip(layer, member, i))
                replica->added++;
        }
    }
    for (uint32_t s = 0; s < layer->strips; s++)
        if (layer->strip[s].columns * PIM_CORE_ELEMENT_BYTES > replica->scratch_bytes)
            replica->scratch_bytes = layer->strip[s].columns * PIM_CORE_ELEMENT_BYTES;
    return true;
}

static bool plan_replica(struct pim_ll *ll, const struct pim_ll_layer *layer, const uint32_t *core_of,
                         struct pim_ll_replica *replica)
{
    uint32_t groups = layer->partition->groups;
    replica->member = PIM_ARENA_ARRAY(ll->arena, struct pim_ll_member, groups);
    replica->input = PIM_ARENA_ARRAY(ll->arena, uint32_t, groups);
    replica->output = PIM_ARENA_ARRAY(ll->arena, uint32_t, groups);
    if (!replica->member || !replica->input || !replica->output)
        return false;
    for (uint32_t g = 0; g < groups; g++) {
        uint32_t m = 0;
        while (m < replica->members && replica->member[m].core != core_of[g])
            m++;
        if (m == replica->members)
            replica->member[replica->members++].core = core_of[g];
    }
    replica->home = replica->member[0].core;
    for (uint32_t m = 0; m < replica->members; m++)
        if (!plan_member(ll, layer, core_of, &replica->member[m], m == 0))
            return false;
    return plan_sums(ll, layer, replica);
}

enum pim_status pim_ll_plan_matrix(struct pim_ll *ll, uint32_t index)
{
    struct pim_ll_layer *layer = &ll->layer[index];
    const struct pim_core_layout_layer *layout = &ll->mapping->layout->layer[index];
    uint32_t groups = layer->partition->groups;
    assert(groups > 0 && layout->replicas > 0);
    /* More replicas than windows, with folds than columns of windows, stay idle. */
    uint32_t most = layer->folds.count == 1 ? layer->core_layer->windows : layer->core_layer->width;
    layer->replicas = layout->replicas < most ? layout->replicas : most;
    layer->replica = PIM_ARENA_ARRAY(ll->arena, struct pim_ll_replica, layer->replicas);
    bool enough = layer->replica && find_strips(ll, layer);
    for (uint32_t r = 0; r < layer->replicas && enough; r++) {
        struct pim_ll_replica *replica = &layer->replica[r];
        enough = plan_replica(ll, layer, &layout->core[(size_t)r * groups], replica);
        replica->bias_owner = r;
        for (uint32_t q = 0; q < r && replica->bias_owner == r; q++)
            if (layer->replica[q].home == replica->home)
                replica->bias_owner = q;
    }
    PIM_NEED_MEMORY(enough, ll->error, "no memory for the replicas of %s", layer->core_layer->name);
    return PIM_OK;
}

/* Some task of the layer reaches beyond the map. */
static bool has_padding(const struct pim_ll_layer *layer)
{
    const struct pim_sliding *sliding = &layer->task;
    uint32_t tasks[2] = {layer->task_height, layer->task_width};
    uint32_t in[2] = {layer->in_height, layer->in_width};
    for (int axis = 0; axis < 2; axis++) {
        if (sliding->pad_before[axis] > 0 || pim_sliding_last(sliding, axis, tasks[axis] - 1) >= in[axis])
            return true;
    }
    return false;
}

/* The elements of the group's input lie in one pixel, so an MVM reads them where they are. */
static bool reads_in_place(const struct pim_ll_layer *layer, const struct pim_trace_array_group *group)
{
    const struct pim_core_stretch s =
        pim_core_stretch_at(layer->core_layer, layer->partition, group->row, group->row + group->rows);
    if (s.channels < group->rows)
        return false;
    for (uint32_t p = 0; p < layer->parts; p++)
        if (s.channel >= layer->part[p].offset &&
            s.channel + s.channels <= layer->part[p].offset + layer->part[p].channels)
            return true;
    return false;
}

static bool place(struct pim_ll *ll, uint32_t layer, uint32_t core, uint64_t bytes, uint32_t *address)
{
    if (bytes <= UINT32_MAX && pim_local_heap_allocate(&ll->heap[core], (uint32_t)bytes, address))
        return true;
    ll->short_layer = layer;
    ll->short_core = core;
    ll->short_bytes = bytes <= UINT32_MAX ? (uint32_t)bytes : UINT32_MAX;
    return false;
}

static bool place_replica(struct pim_ll *ll, uint32_t index, struct pim_ll_replica *replica, bool padding)
{
    const struct pim_ll_layer *layer = &ll->layer[index];
    uint64_t copies = ll->settings.buffers;
    for (uint32_t m = 0; m < replica->members; m++) {
        struct pim_ll_member *member = &replica->member[m];
        for (uint32_t i = 0; i < member->groups; i++) {
            uint32_t g = member->group[i];
            const struct pim_trace_array_group *group = &layer->partition->group[g];
            replica->input[g] = replica->output[g] = PIM_PIXEL_NONE;
            if ((padding || !reads_in_place(layer, group)) &&
                !place(ll, index, member->core, copies * group->rows * PIM_CORE_ELEMENT_BYTES,
                       &replica->input[g]))
                return false;
            uint64_t outputs = copies * group->folds * group->columns;
            if ((layer->folds.count > 1 || !pim_ll_opens_strip(layer, member, i)) &&
                !place(ll, index, member->core, outputs * PIM_CORE_ELEMENT_BYTES, &replica->output[g]))
                return false;
        }
        if (m > 0 && layer->folds.count == 1 &&
            !place(ll, index, member->core, copies * member->partial_bytes, &member->partial))
            return false;
    }
    uint32_t most = !ll->settings.scratch               ? 2
                    : replica->added <= PIM_LL_TOGETHER ? replica->added
                                                        : PIM_LL_SCRATCH;
    replica->scratches = replica->added < most ? replica->added : most;
    if (replica->scratches > 0 &&
        !place(ll, index, replica->home, (uint64_t)replica->scratches * replica->scratch_bytes,
               &replica->scratch))
        return false;
    struct pim_ll_replica *owner = &layer->replica[replica->bias_owner];
    replica->bias_loaded = false;
    if (layer->core_layer->bias && owner == replica &&
        !place(ll, index, replica->home, pim_ll_pixel_bytes(ll, index), &replica->bias))
        return false;
    replica->bias = owner->bias;
    return true;
}

bool pim_ll_begin(struct pim_ll *ll)
{
    for (uint32_t core = 0; core < ll->cores; core++) {
        pim_local_heap_initialize(&ll->heap[core], ll->settings.capacity, PIM_CORE_ELEMENT_BYTES);
        ll->last_bundle[core].transmission = 0;
    }
    pim_pixel_table_initialize(&ll->pixels);
    pim_pixel_table_initialize(&ll->sums);
    ll->blocks = ll->requests = ll->deferrals = ll->reservations = ll->loads = 0;
    ll->free_block = PIM_PIXEL_NONE;
    ll->epoch = 1;
    ll->transmission = 0;
    ll->steps = 0;
    ll->output.cores = 0;
    for (uint32_t i = 0; i < ll->layers; i++) {
        struct pim_ll_layer *layer = &ll->layer[i];
        layer->low = layer->done = 0;
        bool padding = layer->replicas && has_padding(layer);
        for (uint32_t r = 0; r < layer->replicas; r++) {
            struct pim_ll_replica *replica = &layer->replica[r];
            replica->next = layer->folds.count == 1 ? r : pim_ll_first_column(layer, r);
            replica->task = layer->folds.count == 1 ? r : pim_ll_first_vector(layer, r);
            replica->runs = 0;
            replica->collected = 0;
            replica->waits = false;
            if (!place_replica(ll, i, replica, padding))
                return false;
        }
        for (uint32_t w = 0; w < layer->workers; w++) {
            layer->worker[w].next = layer->worker[w].begin;
            layer->worker[w].waits = false;
            layer->worker[w].taken = layer->worker[w].positions = 0;
        }
    }
    return true;
}

void pim_ll_end(struct pim_ll *ll)
{
    for (uint32_t core = 0; core < ll->cores; core++)
        pim_local_heap_terminate(&ll->heap[core]);
    pim_pixel_table_terminate(&ll->pixels);
    pim_pixel_table_terminate(&ll->sums);
}
