/* See phases.h. */
#include "mappers/pimcomp/phases.h"

#include "mappers/pimcomp/estimate.h"

#include <string.h>

/* The estimate of the layers in groups [first, last]. */
static enum pim_status estimate_groups(const struct pim_core_mapping *mapping,
                                       const struct pim_core_schedule_report *report, uint32_t first,
                                       uint32_t last, struct pim_core_layout_layer *layer,
                                       struct pim_trace_phase *phase, struct pim_error *error)
{
    struct pim_core_layout layout = {.layer = layer};
    struct pim_core_mapping part = *mapping;
    struct pim_core_estimate estimate;
    part.layout = &layout;
    for (uint32_t i = 0; i < mapping->network->count; i++) {
        layer[i] = mapping->layout->layer[i];
        if (report->group[i] < first || report->group[i] > last)
            layer[i].replicas = 0;
    }
    if (pim_core_estimate_layout(&part, report->kept, &estimate, error) != PIM_OK)
        return error->status;
    *phase = (struct pim_trace_phase){.estimate_cycles = estimate.cycles};
    phase->estimate_parts[PIM_ESTIMATE_COMPUTE] = estimate.compute;
    phase->estimate_parts[PIM_ESTIMATE_VECTOR] = estimate.vector;
    phase->estimate_parts[PIM_ESTIMATE_MEMORY] = estimate.memory;
    phase->estimate_parts[PIM_ESTIMATE_TRANSFER] = estimate.transfer;
    return PIM_OK;
}

enum pim_status pim_core_estimate_phases(const struct pim_core_mapping *mapping,
                                         const struct pim_core_schedule_report *report, uint32_t batch,
                                         struct pim_trace_writer *writer, uint64_t *cycles,
                                         uint64_t parts[PIM_ESTIMATE_PARTS], struct pim_error *error)
{
    struct pim_arena arena;
    pim_arena_initialize(&arena, 0);
    struct pim_core_layout_layer *layer =
        PIM_ARENA_ARRAY(&arena, struct pim_core_layout_layer, mapping->network->count);
    enum pim_status status =
        layer ? PIM_OK : pim_fail(error, PIM_NO_MEMORY, "no memory to estimate the phases of a schedule");
    bool whole = mapping->mode == PIM_CORE_LOW_LATENCY || batch == 0;
    struct pim_trace_phase phase = {.estimate_cycles = 0};
    uint32_t first_before = UINT32_MAX, last_before = 0;
    *cycles = 0;
    memset(parts, 0, PIM_ESTIMATE_PARTS * sizeof *parts);
    for (uint32_t round = 0; status == PIM_OK && round < report->phases; round++) {
        uint32_t first = !whole && round >= batch ? round - batch + 1 : 0;
        uint32_t last = whole ? UINT32_MAX : round < report->groups ? round : report->groups - 1;
        if (first != first_before || last != last_before)
            status = estimate_groups(mapping, report, first, last, layer, &phase, error);
        first_before = first;
        last_before = last;
        if (status != PIM_OK)
            break;
        if (writer)
            pim_trace_writer_set_estimate(writer, report->first_phase + round, &phase);
        *cycles += phase.estimate_cycles;
        for (unsigned part = 0; part < PIM_ESTIMATE_PARTS; part++)
            parts[part] += phase.estimate_parts[part];
    }
    pim_arena_terminate(&arena);
    return status;
}
