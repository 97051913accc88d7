/* The schedule of a mapping, by its mode. */
#include "mappers/pimcomp/schedule/schedule.h"

enum pim_status pim_core_schedule(const struct pim_core_mapping *mapping, struct pim_trace_writer *writer,
                                  const struct pim_core_schedule_options *options, struct pim_arena *arena,
                                  struct pim_core_memory_map *map, struct pim_error *error)
{
    map->weights =
        NULL; /* the weights of a network that fits into the chip are in its cells from the start */
    return (mapping->mode == PIM_CORE_HIGH_THROUGHPUT
                ? pim_core_schedule_high_throughput
                : pim_core_schedule_low_latency)(mapping, writer, options, arena, map, error);
}
