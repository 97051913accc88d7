/* Writes the programs of a plan. */
#ifndef PIMSIM_MAPPERS_NICEPIM_MAP_PROGRAM_EMIT_H
#define PIMSIM_MAPPERS_NICEPIM_MAP_PROGRAM_EMIT_H

#include "mappers/nicepim/map/program/homes.h"

struct nice_result {
    struct nice_energy energy;
    uint64_t cycles, parts[PIM_ESTIMATE_PARTS];
    uint64_t macs;         /* of all matrix instructions */
    uint64_t memory_bytes; /* of the fullest node */
};

/* Without a writer everything is counted and nothing written; the memory needed may then be more than there
 * is, which is PIM_BAD_INPUT with one. */
enum pim_status nice_emit(const struct nice_plan *plan, struct pim_trace_writer *writer,
                          struct nice_result *result, struct pim_error *error);

/* The same; what the instructions are about is handed to the observer (NULL: to nobody). */
enum pim_status nice_emit_observed(const struct nice_plan *plan, struct pim_trace_writer *writer,
                                   const struct nice_observer *observer, struct nice_result *result,
                                   struct pim_error *error);
/* Hands over where all tensors lie. */
void nice_note_results(struct emitter *emitter);

/* The product of a layer with its inputs and weights brought where they are needed, which waits to be
 * emitted; NULL when memory is out. */
struct product *nice_start_product(struct emitter *emitter, uint32_t layer);
/* All of a product, or what is left of one that was started. */
void nice_emit_product(struct emitter *emitter, uint32_t layer);

#endif
