/* The schedule of a mapping, by its mode. */
#include "mappers/pimcomp/schedule/schedule.h"
#include "sim/try.h"

#include <inttypes.h>

enum pim_status pim_core_schedule(const struct pim_core_mapping *mapping, struct pim_trace_writer *writer,
                                  const struct pim_core_schedule_options *options, struct pim_arena *arena,
                                  struct pim_core_memory_map *map, struct pim_error *error)
{
    uint32_t layers = mapping->network->count;
    map->weights = NULL; /* those of a network that fits into the chip are in its cells from the start */
    map->map = PIM_ARENA_ARRAY(arena, struct pim_core_place, layers);
    map->bias = PIM_ARENA_ARRAY(arena, uint64_t, layers);
    PIM_NEED_MEMORY(map->map && map->bias, error, "no memory for the maps of %" PRIu32 " layers", layers);
    return (mapping->mode == PIM_CORE_HIGH_THROUGHPUT
                ? pim_core_schedule_high_throughput
                : pim_core_schedule_low_latency)(mapping, writer, options, arena, map, error);
}

enum pim_status pim_core_schedule_begin(const struct pim_core_schedule_options *options,
                                        struct pim_core_emitter *emitter,
                                        const struct pim_core_mapping *mapping,
                                        struct pim_trace_writer *writer, struct pim_arena *arena,
                                        struct pim_error *error)
{
    PIM_TRY(pim_core_emitter_initialize(emitter, mapping, writer, arena, error));
    emitter->program.observe = options->observe;
    emitter->program.observer = options->observer;
    if (options->prologue)
        options->prologue(options->prologue_context, emitter);
    return PIM_OK;
}

enum pim_status pim_core_schedule_report(const struct pim_core_emitter *emitter, struct pim_arena *arena,
                                         struct pim_core_schedule_report *report, struct pim_error *error)
{
    report->group = PIM_ARENA_ARRAY(arena, uint32_t, emitter->mapping->network->count);
    report->local_bytes = emitter->local_bytes;
    report->counts = emitter->counts;
    report->counts.instructions = emitter->program.all_instructions;
    report->layer_mvms = emitter->layer_mvms;
    return report->group ? PIM_OK : pim_fail(error, PIM_NO_MEMORY, "no memory for the report of a schedule");
}
