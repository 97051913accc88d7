/* See even.h. */
#include "mappers/pimcomp/layout/even.h"
#include "mappers/pimcomp/layout/layout.h"
#include "sim/try.h"

#include <inttypes.h>

enum { MORE_STEPS = 8, CLOSER = 64 };

struct packer {
    const struct pim_core_architecture *architecture;
    const struct pim_core_network *network;
    const struct pim_core_partition *partition;
    uint32_t *vacant;  /* arrays of each core that are free */
    uint32_t *ordered; /* layers with array groups, in the order of placement */
    uint32_t layers;
};

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

static uint32_t largest_group(const struct packer *p, uint32_t layer)
{
    const struct pim_core_partition_layer *l = &p->partition->layer[layer];
    uint32_t largest = 0;
    for (uint32_t g = 0; g < l->groups; g++)
        largest = l->group[g].arrays > largest ? l->group[g].arrays : largest;
    return largest;
}

/* By falling size of the largest group, of equals the earlier layer first. */
static void order_by_size(struct packer *p)
{
    for (uint32_t i = 1; i < p->layers; i++)
        for (uint32_t j = i; j > 0 && largest_group(p, p->ordered[j - 1]) < largest_group(p, p->ordered[j]);
             j--) {
            uint32_t layer = p->ordered[j];
            p->ordered[j] = p->ordered[j - 1];
            p->ordered[j - 1] = layer;
        }
}

/* All replicas of a layer, each group into the first core with room; false: there is none. */
static bool place_layer(struct packer *p, uint32_t layer, uint32_t replicas, uint32_t *core)
{
    const struct pim_core_partition_layer *l = &p->partition->layer[layer];
    for (size_t n = 0; n < (size_t)replicas * l->groups; n++) {
        core[n] = pim_core_first_fit(p->vacant, p->architecture->cores, l->group[n % l->groups].arrays);
        if (core[n] == PIM_NONE)
            return false;
    }
    return true;
}

/* The layout of so many steps; *placed: whether it found room. */
static enum pim_status place(struct packer *p, uint64_t steps, struct pim_arena *arena,
                             struct pim_core_layout *layout, bool *placed, struct pim_error *error)
{
    *placed = true;
    layout->layer = PIM_ARENA_ARRAY(arena, struct pim_core_layout_layer, p->network->count);
    PIM_NEED_MEMORY(layout->layer, error, "no memory for a layout of %" PRIu32 " layers", p->layers);
    for (uint32_t core = 0; core < p->architecture->cores; core++)
        p->vacant[core] = p->architecture->arrays;
    for (uint32_t i = 0; i < p->layers && *placed; i++) {
        uint32_t layer = p->ordered[i], replicas = replicas_of(p, layer, steps);
        struct pim_core_layout_layer *result = &layout->layer[layer];
        result->replicas = replicas;
        result->core = PIM_ARENA_ARRAY(arena, uint32_t, (size_t)replicas * p->partition->layer[layer].groups);
        PIM_NEED_MEMORY(result->core, error, "no memory for the replicas of layer %s",
                        p->network->layer[layer].name);
        *placed = place_layer(p, layer, replicas, result->core);
    }
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

static enum pim_status fill(struct packer *p, uint32_t most, struct pim_arena *arena,
                            struct pim_core_layout *layout, uint32_t *count, struct pim_error *error)
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
        PIM_TRY(place(p, steps, arena, &layout[*count], &placed, error));
        *count += placed;
        steps += 1 + steps / (placed ? MORE_STEPS : CLOSER);
    }
    return PIM_OK;
}

enum pim_status pim_core_layouts_even(const struct pim_core_mapping *mapping, uint32_t most,
                                      struct pim_arena *arena, struct pim_core_layout *layout,
                                      uint32_t *count, struct pim_error *error)
{
    struct packer p = {.architecture = mapping->architecture,
                       .network = mapping->network,
                       .partition = mapping->partition,
                       .vacant = PIM_ARENA_ARRAY(arena, uint32_t, mapping->architecture->cores),
                       .ordered = PIM_ARENA_ARRAY(arena, uint32_t, mapping->network->count)};
    *count = 0;
    PIM_NEED_MEMORY(p.vacant && p.ordered, error, "no memory for layouts of %" PRIu32 " cores",
                    p.architecture->cores);
    for (uint32_t i = 0; i < p.network->count; i++)
        if (p.partition->layer[i].groups != 0)
            p.ordered[p.layers++] = i;
    if (p.layers == 0)
        return PIM_OK;
    order_by_size(&p);
    return fill(&p, most, arena, layout, count, error);
}
