/* Layouts without a search: first fit, balanced replication, equal steps; and the check of any layout. */
#include "mappers/pimcomp/layout/layout.h"
#include "mappers/pimcomp/partition/partition.h"
#include "sim/names.h"
#include "sim/try.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { MORE_STEPS = 8, CLOSER = 64 }; /* parts of the steps by which layouts of equal steps differ */

/* A layout under construction. */
struct packer {
    const struct pim_core_architecture *architecture;
    const struct pim_core_network *network;
    const struct pim_core_partition *partition;
    struct pim_arena *arena;
    uint32_t *vacant;  /* arrays of each core that are free */
    uint32_t *ordered; /* equal steps: layers with array groups, in the order of placement, */
    uint32_t layers;   /* and how many they are */
};

static enum pim_status make_packer(const struct pim_core_mapping *mapping, struct pim_arena *arena,
                                   struct packer *p, struct pim_error *error)
{
    *p = (struct packer){.architecture = mapping->architecture,
                         .network = mapping->network,
                         .partition = mapping->partition,
                         .arena = arena,
                         .vacant = PIM_ARENA_ARRAY(arena, uint32_t, mapping->architecture->cores)};
    PIM_NEED_MEMORY(p->vacant, error, "no memory for layouts of %" PRIu32 " cores", p->architecture->cores);
    return PIM_OK;
}

static void clear_cores(struct packer *p)
{
    for (uint32_t core = 0; core < p->architecture->cores; core++)
        p->vacant[core] = p->architecture->arrays;
}

/* A layout without replicas on empty cores. */
static enum pim_status start(struct packer *p, struct pim_core_layout *layout, struct pim_error *error)
{
    layout->layer = PIM_ARENA_ARRAY(p->arena, struct pim_core_layout_layer, p->network->count);
    PIM_NEED_MEMORY(layout->layer, error, "no memory for a layout of %" PRIu32 " layers", p->network->count);
    clear_cores(p);
    return PIM_OK;
}

/* The first core with room for so many arrays, which it then has no longer; PIM_NONE: there is none. */
static uint32_t place(struct packer *p, uint32_t arrays)
{
    for (uint32_t core = 0; core < p->architecture->cores; core++)
        if (p->vacant[core] >= arrays) {
            p->vacant[core] -= arrays;
            return core;
        }
    return PIM_NONE;
}

/* Places one replica of a layer, or nothing. */
static bool place_replica(struct packer *p, uint32_t layer, uint32_t *core)
{
    const struct pim_core_partition_layer *l = &p->partition->layer[layer];
    for (uint32_t g = 0; g < l->groups; g++) {
        core[g] = place(p, l->group[g].arrays);
        if (core[g] != PIM_NONE)
            continue;
        while (g-- > 0)
            p->vacant[core[g]] += l->group[g].arrays;
        return false;
    }
    return true;
}

/* Places all replicas of a layer; *placed: whether they found room. */
static enum pim_status place_layer(struct packer *p, uint32_t index, uint32_t replicas,
                                   struct pim_core_layout_layer *layer, bool *placed, struct pim_error *error)
{
    uint32_t groups = p->partition->layer[index].groups;
    layer->replicas = replicas;
    layer->core = PIM_ARENA_ARRAY(p->arena, uint32_t, (size_t)replicas * groups);
    PIM_NEED_MEMORY(layer->core, error, "no memory for the layout of layer %s",
                    p->network->layer[index].name);
    *placed = true;
    for (uint32_t r = 0; r < replicas && *placed; r++)
        *placed = place_replica(p, index, layer->core + (size_t)r * groups);
    return PIM_OK;
}

struct piece {
    uint32_t layer, group, arrays;
};

/* Falling size, then the order of layers. */
static int compare_pieces(const void *left, const void *right)
{
    const struct piece *a = left, *b = right;
    if (a->arrays != b->arrays)
        return a->arrays > b->arrays ? -1 : 1;
    if (a->layer != b->layer)
        return a->layer < b->layer ? -1 : 1;
    return a->group < b->group ? -1 : a->group > b->group;
}

/* One replica of each layer, the largest groups first: fewer fragments. */
static enum pim_status place_by_size(struct packer *p, struct pim_core_layout *layout,
                                     struct pim_error *error)
{
    uint64_t groups = 0, missing = 0;
    size_t next = 0;
    for (uint32_t i = 0; i < p->network->count; i++)
        groups += p->partition->layer[i].groups;
    struct piece *piece = PIM_ARENA_ARRAY(p->arena, struct piece, groups);
    PIM_NEED_MEMORY(piece, error, "no memory to place %" PRIu64 " array groups", groups);
    for (uint32_t i = 0; i < p->network->count; i++)
        for (uint32_t g = 0; g < p->partition->layer[i].groups; g++)
            piece[next++] = (struct piece){i, g, p->partition->layer[i].group[g].arrays};
    qsort(piece, next, sizeof *piece, compare_pieces);
    clear_cores(p);
    for (size_t i = 0; i < next; i++) {
        uint32_t core = place(p, piece[i].arrays);
        layout->layer[piece[i].layer].core[piece[i].group] = core;
        missing += core == PIM_NONE ? piece[i].arrays : 0;
    }
    if (missing == 0)
        return PIM_OK;
    return pim_fail(error, PIM_BAD_INPUT,
                    "network %s does not fit: its array groups leave gaps in the %" PRIu32
                    " cores of %" PRIu32 " arrays, and %" PRIu64 " arrays of groups find no room%s",
                    p->network->name, p->architecture->cores, p->architecture->arrays, missing,
                    pim_core_partition_remedy(p->network, p->architecture, p->partition, p->arena).text);
}

static enum pim_status place_first(struct packer *p, struct pim_core_layout *layout, struct pim_error *error)
{
    bool all = true;
    PIM_TRY(start(p, layout, error));
    for (uint32_t i = 0; i < p->network->count; i++) {
        bool placed = true;
        if (p->partition->layer[i].groups > 0)
            PIM_TRY(place_layer(p, i, 1, &layout->layer[i], &placed, error));
        all = all && placed;
    }
    return all ? PIM_OK : place_by_size(p, layout, error);
}

enum pim_status pim_core_layout_first(const struct pim_core_mapping *mapping, struct pim_arena *arena,
                                      struct pim_core_layout *layout, struct pim_error *error)
{
    struct packer p;
    PIM_TRY(make_packer(mapping, arena, &p, error));
    return place_first(&p, layout, error);
}

/* The layer with the most windows for each replica of those that can have one more; PIM_NONE: none can. */
static uint32_t most_loaded(const struct pim_core_mapping *mapping, const struct pim_core_layout *layout)
{
    const struct pim_core_network *network = mapping->network;
    uint32_t worst = PIM_NONE;
    for (uint32_t i = 0; i < network->count; i++) {
        const uint32_t windows = network->layer[i].windows, replicas = layout->layer[i].replicas;
        if (replicas == 0 || replicas >= windows)
            continue;
        if (worst == PIM_NONE || (uint64_t)windows * layout->layer[worst].replicas >
                                     (uint64_t)network->layer[worst].windows * replicas)
            worst = i;
    }
    return worst;
}

/* One more replica; the list of cores moves to a larger place when it is full (capacity: a power of two). */
static enum pim_status grow(struct packer *p, struct pim_core_layout_layer *layer, uint32_t index,
                            bool *placed, struct pim_error *error)
{
    uint32_t groups = p->partition->layer[index].groups, replicas = layer->replicas;
    if ((replicas & (replicas - 1)) == 0) {
        uint32_t *larger = PIM_ARENA_ARRAY(p->arena, uint32_t, (size_t)replicas * 2 * groups);
        PIM_NEED_MEMORY(larger, error, "no memory for the replicas of layer %s",
                        p->network->layer[index].name);
        memcpy(larger, layer->core, (size_t)replicas * groups * sizeof *larger);
        layer->core = larger;
    }
    *placed = place_replica(p, index, layer->core + (size_t)replicas * groups);
    layer->replicas += *placed;
    return PIM_OK;
}

enum pim_status pim_core_layout_balance(const struct pim_core_mapping *mapping, struct pim_arena *arena,
                                        struct pim_core_layout *layout, struct pim_error *error)
{
    const struct pim_core_partition *partition = mapping->partition;
    struct packer p;
    PIM_TRY(make_packer(mapping, arena, &p, error));
    PIM_TRY(place_first(&p, layout, error));
    uint64_t spare = ((uint64_t)p.architecture->cores * p.architecture->arrays - partition->arrays) / 2,
             used = 0;
    for (uint32_t i; (i = most_loaded(mapping, layout)) != PIM_NONE;) {
        bool placed = false;
        if (used + partition->layer[i].arrays > spare)
            break;
        PIM_TRY(grow(&p, &layout->layer[i], i, &placed, error));
        if (!placed)
            break;
        used += partition->layer[i].arrays;
    }
    return PIM_OK;
}

/* --- equal steps --- */

static uint32_t replicas_of(const struct packer *p, uint32_t layer, uint64_t steps)
{
    return (uint32_t)((p->network->layer[layer].windows + steps - 1) / steps);
}

/* Arrays of the layout of so many steps. */
static uint64_t arrays_of(const struct packer *p, uint64_t steps)
{
    uint64_t arrays = 0;
    for (uint32_t i = 0; i < p->layers; i++)
        arrays += (uint64_t)replicas_of(p, p->ordered[i], steps) * p->partition->layer[p->ordered[i]].arrays;
    return arrays;
}

/* The layout of so many steps; *placed: whether it found room. */
static enum pim_status place_steps(struct packer *p, uint64_t steps, struct pim_core_layout *layout,
                                   bool *placed, struct pim_error *error)
{
    *placed = true;
    PIM_TRY(start(p, layout, error));
    for (uint32_t i = 0; i < p->layers && *placed; i++)
        PIM_TRY(place_layer(p, p->ordered[i], replicas_of(p, p->ordered[i], steps),
                            &layout->layer[p->ordered[i]], placed, error));
    return PIM_OK;
}

/* The steps of the slowest layer of this layout: `steps`, or fewer where nobody takes so many. */
static uint64_t taken_steps(const struct packer *p, uint64_t steps)
{
    uint64_t taken = 0;
    for (uint32_t i = 0; i < p->layers; i++) {
        uint64_t replicas = replicas_of(p, p->ordered[i], steps),
                 own = (p->network->layer[p->ordered[i]].windows + replicas - 1) / replicas;
        taken = own > taken ? own : taken;
    }
    return taken;
}

/* The fewest steps whose layout has no more arrays than there are. */
static uint64_t fewest_steps(const struct packer *p, uint64_t most)
{
    const uint64_t arrays = (uint64_t)p->architecture->cores * p->architecture->arrays;
    uint64_t few = 1, many = most; /* those of `many` are enough, or none are */
    while (few < many) {
        uint64_t middle = few + (many - few) / 2;
        if (arrays_of(p, middle) <= arrays)
            many = middle;
        else
            few = middle + 1;
    }
    return few;
}

static enum pim_status fill(struct packer *p, uint32_t most, struct pim_core_layout *layout, uint32_t *count,
                            struct pim_error *error)
{
    uint64_t windows = 1;
    for (uint32_t i = 0; i < p->layers; i++)
        if (p->network->layer[p->ordered[i]].windows > windows)
            windows = p->network->layer[p->ordered[i]].windows;
    for (uint64_t steps = fewest_steps(p, windows); *count < most && steps <= windows;) {
        bool placed;
        if (taken_steps(p, steps) < steps) { /* the layout of those */
            steps++;
            continue;
        }
        PIM_TRY(place_steps(p, steps, &layout[*count], &placed, error));
        *count += placed;
        steps += 1 + steps / (placed ? MORE_STEPS : CLOSER);
    }
    return PIM_OK;
}

enum pim_status pim_core_layouts_even(const struct pim_core_mapping *mapping, uint32_t most,
                                      struct pim_arena *arena, struct pim_core_layout *layout,
                                      uint32_t *count, struct pim_error *error)
{
    struct packer p;
    *count = 0;
    PIM_TRY(make_packer(mapping, arena, &p, error));
    PIM_TRY(pim_core_layers_by_size(mapping, PIM_CORE_SPREAD_BY_GROUP, arena, &p.ordered, &p.layers, error));
    if (p.layers == 0)
        return PIM_OK;
    return fill(&p, most, layout, count, error);
}

/* --- baselines of the evaluation --- */

PIM_NAMES(pim_core_baseline_name, PIM_CORE_BASELINE_MAP)

enum pim_status pim_core_baseline_schedule(enum pim_core_baseline baseline, enum pim_core_mode *mode,
                                           struct pim_core_schedule_options *options, struct pim_error *error)
{
    switch (baseline) {
    case PIM_BASELINE_SONGC:
        *mode = PIM_CORE_HIGH_THROUGHPUT;
        options->batch = 1;
        options->no_grouping = true;
        return PIM_OK;
    case PIM_BASELINE_PUMA:
        if (*mode == PIM_CORE_LOW_LATENCY)
            return PIM_OK;
        return pim_fail(error, PIM_USAGE, "baseline puma is a pipeline of windows: it needs --mode ll");
    case PIM_BASELINE_POLYHEDRAL:
        if (*mode == PIM_CORE_LOW_LATENCY)
            options->batch = 1;
        *mode = PIM_CORE_HIGH_THROUGHPUT;
        return PIM_OK;
    case PIM_BASELINE_NONE:
    case PIM_CORE_BASELINES:
        break;
    }
    return PIM_OK;
}

/* Cores that one replica of a layer takes, its groups in their order; the place of each group, from core
 * `first` on, goes to `core` (may be NULL). */
static uint32_t pack(const struct pim_core_architecture *architecture,
                     const struct pim_core_partition_layer *part, uint32_t first, uint32_t *core)
{
    uint32_t cores = 0, room = 0;
    for (uint32_t i = 0; i < part->groups; i++) {
        if (part->group[i].arrays > room) {
            cores++;
            room = architecture->arrays;
        }
        room -= part->group[i].arrays < room ? part->group[i].arrays : room;
        if (core)
            core[i] = first + cores - 1;
    }
    return cores;
}

enum pim_status pim_core_layout_whole_cores(const struct pim_core_mapping *mapping, struct pim_arena *arena,
                                            struct pim_core_layout *layout, struct pim_error *error)
{
    const struct pim_core_architecture *architecture = mapping->architecture;
    const struct pim_core_network *network = mapping->network;
    const struct pim_core_partition *partition = mapping->partition;
    layout->layer = PIM_ARENA_ARRAY(arena, struct pim_core_layout_layer, network->count);
    PIM_NEED_MEMORY(layout->layer, error, "no memory for a layout of %u layers", (unsigned)network->count);
    uint64_t needed = 0;
    for (uint32_t i = 0; i < network->count; i++) {
        layout->layer[i].replicas = partition->layer[i].groups ? 1 : 0;
        needed += pack(architecture, &partition->layer[i], 0, NULL);
    }
    if (needed > architecture->cores)
        return pim_core_layout_first(mapping, arena, layout, error);
    uint64_t left = architecture->cores - needed;
    for (uint32_t next; (next = most_loaded(mapping, layout)) != PIM_NONE;) {
        uint32_t cores = pack(architecture, &partition->layer[next], 0, NULL);
        if (cores > left)
            break;
        layout->layer[next].replicas++;
        left -= cores;
    }
    uint32_t first = 0;
    for (uint32_t i = 0; i < network->count; i++) {
        const struct pim_core_partition_layer *part = &partition->layer[i];
        struct pim_core_layout_layer *layer = &layout->layer[i];
        layer->core = PIM_ARENA_ARRAY(arena, uint32_t, (size_t)layer->replicas * part->groups);
        PIM_NEED_MEMORY(layer->core, error, "no memory for the layout of layer %s", network->layer[i].name);
        for (uint32_t r = 0; r < layer->replicas; r++)
            first += pack(architecture, part, first, layer->core + (size_t)r * part->groups);
    }
    return PIM_OK;
}

/* --- any layout --- */

enum pim_status pim_core_layout_check(const struct pim_core_mapping *mapping, struct pim_error *error)
{
    const struct pim_core_architecture *a = mapping->architecture;
    enum pim_status status = PIM_OK;
    uint64_t *used = calloc(a->cores, sizeof *used);
    PIM_NEED_MEMORY(used, error, "no memory to check a layout on %" PRIu32 " cores", a->cores);
    for (uint32_t i = 0; i < mapping->network->count && status == PIM_OK; i++) {
        const struct pim_core_partition_layer *p = &mapping->partition->layer[i];
        const struct pim_core_layout_layer *l = &mapping->layout->layer[i];
        if ((p->groups != 0) != (l->replicas != 0))
            status = pim_fail(error, PIM_INTERNAL,
                              "layer %s has %" PRIu32 " array groups and %" PRIu32 " replicas",
                              mapping->network->layer[i].name, p->groups, l->replicas);
        for (size_t n = 0; n < (size_t)l->replicas * p->groups && status == PIM_OK; n++) {
            if (l->core[n] >= a->cores)
                status = pim_fail(error, PIM_INTERNAL,
                                  "layer %s: an array group is on core %" PRIu32 " of %" PRIu32,
                                  mapping->network->layer[i].name, l->core[n], a->cores);
            else
                used[l->core[n]] += p->group[n % p->groups].arrays;
        }
    }
    for (uint32_t core = 0; core < a->cores && status == PIM_OK; core++)
        if (used[core] > a->arrays)
            status =
                pim_fail(error, PIM_INTERNAL, "core %" PRIu32 " holds %" PRIu64 " arrays: it has %" PRIu32,
                         core, used[core], a->arrays);
    free(used);
    return status;
}

bool pim_core_layouts_replicate_equally(const struct pim_core_mapping *mapping,
                                        const struct pim_core_layout *one, const struct pim_core_layout *two)
{
    uint32_t layer = 0;
    while (layer < mapping->network->count && one->layer[layer].replicas == two->layer[layer].replicas)
        layer++;
    return layer == mapping->network->count;
}

bool pim_core_layouts_equal(const struct pim_core_mapping *mapping, const struct pim_core_layout *one,
                            const struct pim_core_layout *two)
{
    if (!pim_core_layouts_replicate_equally(mapping, one, two))
        return false;
    for (uint32_t i = 0; i < mapping->network->count; i++) {
        const size_t groups = mapping->partition->layer[i].groups;
        if (groups > 0 && memcmp(one->layer[i].core, two->layer[i].core,
                                 one->layer[i].replicas * groups * sizeof(uint32_t)) != 0)
            return false;
    }
    return true;
}

enum pim_status pim_core_layout_copy(const struct pim_core_mapping *mapping,
                                     const struct pim_core_layout *from, struct pim_arena *arena,
                                     struct pim_core_layout *to, struct pim_error *error)
{
    to->layer = PIM_ARENA_ARRAY(arena, struct pim_core_layout_layer, mapping->network->count);
    PIM_NEED_MEMORY(to->layer, error, "no memory to copy a layout");
    for (uint32_t i = 0; i < mapping->network->count; i++) {
        const struct pim_core_layout_layer *of = &from->layer[i];
        const size_t count = (size_t)of->replicas * mapping->partition->layer[i].groups;
        to->layer[i] = (struct pim_core_layout_layer){of->replicas, PIM_ARENA_ARRAY(arena, uint32_t, count)};
        PIM_NEED_MEMORY(to->layer[i].core, error, "no memory to copy a layout");
        if (count > 0)
            memcpy(to->layer[i].core, of->core, count * sizeof *of->core);
    }
    return PIM_OK;
}

uint64_t pim_core_layout_arrays(const struct pim_core_mapping *mapping)
{
    uint64_t arrays = 0;
    for (uint32_t i = 0; i < mapping->network->count; i++)
        arrays += (uint64_t)mapping->layout->layer[i].replicas * mapping->partition->layer[i].arrays;
    return arrays;
}
