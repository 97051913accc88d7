/* Baselines of the evaluation: layout.h. */
#include "mappers/pimcomp/layout/layout.h"
#include "sim/names.h"
#include "sim/try.h"

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

enum pim_status pim_core_baseline_layout(enum pim_core_baseline baseline,
                                         const struct pim_core_mapping *mapping, struct pim_arena *arena,
                                         struct pim_core_layout *layout, struct pim_error *error)
{
    return baseline == PIM_BASELINE_POLYHEDRAL ? pim_core_layout_whole_cores(mapping, arena, layout, error)
                                               : pim_core_layout_first(mapping, arena, layout, error);
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
    for (uint32_t next; (next = pim_core_most_loaded(mapping, layout)) != PIM_NONE;) {
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
