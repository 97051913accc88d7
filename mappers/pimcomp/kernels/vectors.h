/* What both schedules do with the channels of pixels in local memories. */
#ifndef PIMSIM_MAPPERS_PIMCOMP_KERNELS_VECTORS_H
#define PIMSIM_MAPPERS_PIMCOMP_KERNELS_VECTORS_H

#include "mappers/pimcomp/kernels/emitter.h"

/* to[i] += from[i] */
void pim_core_emit_addition(struct pim_core_emitter *emitter, uint32_t core, uint64_t to, uint64_t from,
                            uint64_t elements);

/* An operation of one source on `count` vectors of `elements`, back to back: one instruction, unless it looks
 * at a vector as a whole. */
void pim_core_emit_vectors(struct pim_core_emitter *emitter, uint32_t core, struct pim_core_vector operation,
                           uint64_t to, uint64_t from, uint64_t elements, uint64_t count);

/* The activations fused behind a layer, in place, on `channels` channels of `pixels` pixels. */
void pim_core_emit_afters(struct pim_core_emitter *emitter, uint32_t core, const struct pim_core_layer *layer,
                          uint64_t address, uint64_t channels, uint64_t pixels);

/* How a pooling puts positions together, and, where it is a mean, their sum becomes that. */
struct pim_core_vector pim_core_pooling_of(const struct pim_core_layer *layer);
void pim_core_emit_mean(struct pim_core_emitter *emitter, uint32_t core, const struct pim_core_layer *layer,
                        uint64_t address, uint32_t positions, uint64_t elements);

#endif
