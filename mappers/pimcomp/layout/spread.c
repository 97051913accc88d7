/* Layouts whose replicas lie apart: layout.h. */
#include "mappers/pimcomp/layout/layout.h"
#include "sim/integer.h"
#include "sim/try.h"

#include <inttypes.h>
#include <string.h>

struct spreading {
    const struct pim_core_mapping *mapping;
    uint32_t *vacant;  /* arrays of each core that are free */
    uint64_t *windows; /* of each core: that its replicas and parts of replicas go through */
};

static enum pim_status make(const struct pim_core_mapping *mapping, struct pim_arena *arena,
                            struct spreading *s, struct pim_error *error)
{
    const uint32_t cores = mapping->architecture->cores;
    *s = (struct spreading){.mapping = mapping,
                            .vacant = PIM_ARENA_ARRAY(arena, uint32_t, cores),
                            .windows = PIM_ARENA_ARRAY(arena, uint64_t, cores)};
    PIM_NEED_MEMORY(s->vacant && s->windows, error, "no memory to spread a layout over %" PRIu32 " cores",
                    cores);
    for (uint32_t core = 0; core < cores; core++)
        s->vacant[core] = mapping->architecture->arrays;
    return PIM_OK;
}

/* Arrays of the largest group of a layer, or of all. */
static uint64_t size_of(const struct pim_core_partition_layer *layer, enum pim_core_spread by)
{
    uint64_t largest = 0;
    for (uint32_t g = 0; g < layer->groups && by == PIM_CORE_SPREAD_BY_GROUP; g++)
        largest = pim_larger(largest, layer->group[g].arrays);
    return by == PIM_CORE_SPREAD_BY_GROUP ? largest : layer->arrays;
}

enum pim_status pim_core_layers_by_size(const struct pim_core_mapping *mapping, enum pim_core_spread by,
                                        struct pim_arena *arena, uint32_t **ordered, uint32_t *layers,
                                        struct pim_error *error)
{
    const struct pim_core_partition_layer *layer = mapping->partition->layer;
    uint32_t *order = *ordered = PIM_ARENA_ARRAY(arena, uint32_t, mapping->network->count);
    PIM_NEED_MEMORY(order, error, "no memory for layouts of %" PRIu32 " layers", mapping->network->count);
    *layers = 0;
    for (uint32_t i = 0; i < mapping->network->count; i++) {
        uint32_t at = *layers;
        if (layer[i].groups == 0)
            continue;
        for (; at > 0 && size_of(&layer[order[at - 1]], by) < size_of(&layer[i], by); at--)
            order[at] = order[at - 1];
        order[at] = i;
        ++*layers;
    }
    return PIM_OK;
}

/* How many of the next groups, from number `group` on, find room in a core together. */
static uint32_t fitting(const struct spreading *s, const struct pim_core_partition_layer *layer,
                        uint32_t group, uint32_t core)
{
    uint32_t room = s->vacant[core], first = group;
    for (; group < layer->groups && layer->group[group].arrays <= room; group++)
        room -= layer->group[group].arrays;
    return group - first;
}

/* The core that takes most of the next groups, of equals the one with the fewest windows, then with the most
 * room, then the first; *count: how many it takes. PIM_NONE: none takes any. */
static uint32_t choose(const struct spreading *s, const struct pim_core_partition_layer *layer,
                       uint32_t group, uint32_t *count)
{
    uint32_t best = PIM_NONE;
    *count = 0;
    for (uint32_t core = 0; core < s->mapping->architecture->cores; core++) {
        const uint32_t fits = fitting(s, layer, group, core);
        if (fits == 0 || fits < *count)
            continue;
        if (fits == *count && (s->windows[core] > s->windows[best] ||
                               (s->windows[core] == s->windows[best] && s->vacant[core] <= s->vacant[best])))
            continue;
        best = core;
        *count = fits;
    }
    return best;
}

/* Places a replica of a layer, which goes through so many windows; false: there is no room. */
static bool place_replica(struct spreading *s, const struct pim_core_partition_layer *layer, uint64_t windows,
                          uint32_t *core)
{
    for (uint32_t group = 0; group < layer->groups;) {
        uint32_t count, chosen = choose(s, layer, group, &count);
        if (chosen == PIM_NONE)
            return false;
        s->windows[chosen] += windows;
        for (; count > 0; count--, group++) {
            core[group] = chosen;
            s->vacant[chosen] -= layer->group[group].arrays;
        }
    }
    return true;
}

enum pim_status pim_core_layout_spread(const struct pim_core_mapping *mapping,
                                       const struct pim_core_layout *of, enum pim_core_spread by,
                                       struct pim_arena *arena, struct pim_core_layout *layout, bool *placed,
                                       struct pim_error *error)
{
    struct spreading s;
    uint32_t *ordered, layers;
    PIM_TRY(make(mapping, arena, &s, error));
    PIM_TRY(pim_core_layers_by_size(mapping, by, arena, &ordered, &layers, error));
    PIM_TRY(pim_core_layout_copy(mapping, of, arena, layout, error));
    *placed = true;
    for (uint32_t i = 0; i < layers; i++) {
        const struct pim_core_partition_layer *part = &mapping->partition->layer[ordered[i]];
        struct pim_core_layout_layer *own = &layout->layer[ordered[i]];
        const uint64_t windows = pim_divide_up(mapping->network->layer[ordered[i]].windows, own->replicas);
        for (uint32_t r = 0; r < own->replicas && *placed; r++)
            *placed = place_replica(&s, part, windows, own->core + (size_t)r * part->groups);
    }
    return PIM_OK;
}
