/* Operations on the vector unit, where their results lie. */
#ifndef PIMSIM_MAPPERS_NICEPIM_MAP_PROGRAM_VECTORS_H
#define PIMSIM_MAPPERS_NICEPIM_MAP_PROGRAM_VECTORS_H

#include "mappers/nicepim/map/program/homes.h"

/* Brings the inputs of a layer to its results, in the phase that is open: operand k of piece p is number p *
 * inputs + k. The caller releases them; NULL when memory is out. *cycles: an estimate of what is moved. */
struct operand *vector_bring(struct emitter *emitter, uint32_t layer, uint64_t *cycles);
void vector_release(const struct emitter *emitter, uint32_t layer, struct operand *operands);

/* Estimated cycles of the memory port for reading the operands, on the slowest node. */
uint64_t vector_loads(const struct emitter *emitter, uint32_t layer, const struct operand *operands);

/* Both phases of a layer whose results have their places. */
void vector_emit(struct emitter *emitter, uint32_t layer);

#endif
