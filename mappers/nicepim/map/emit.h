/* Writes the programs of a plan. */
#ifndef PIMSIM_MAPPERS_NICEPIM_MAP_EMIT_H
#define PIMSIM_MAPPERS_NICEPIM_MAP_EMIT_H

#include "mappers/nicepim/map/program.h"

struct nice_result {
    uint64_t cycles, parts[PIM_ESTIMATE_PARTS];
    uint64_t macs;         /* of all matrix instructions */
    uint64_t memory_bytes; /* of the fullest node */
};

/* Without a writer everything is counted and nothing written; the memory needed may then be more than there
 * is, which is PIM_BAD_INPUT with one. */
enum pim_status nice_emit(const struct nice_plan *plan, struct pim_trace_writer *writer,
                          struct nice_result *result, struct pim_error *error);

#endif
