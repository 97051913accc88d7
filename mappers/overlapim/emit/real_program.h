/*
 * The instructions of a step of a product layer with real rows (real.h), on one of its channels: all but what
 * comes from producers and goes to consumers. The programs are made of them, and the estimate counts them.
 */
#ifndef PIMSIM_MAPPERS_OVERLAPIM_EMIT_REAL_PROGRAM_H
#define PIMSIM_MAPPERS_OVERLAPIM_EMIT_REAL_PROGRAM_H

#include "mappers/overlapim/emit/real.h"
#include "traces/instruction.h"

struct pim_real_program {
    const struct pim_real *real;
    const struct pim_mapped_layer *layer;
    uint64_t banks;   /* of a channel */
    uint32_t channel; /* of the layer */
    /* Each works on rows, and stands behind the one before it. Of a message between channels of the layer,
     * `peer` is the number that the other has in the layer. */
    void (*put)(void *context, struct pim_instruction *instruction);
    void *context;
};

void pim_real_program_step(const struct pim_real_program *program, uint64_t step);

/* Cycles of such a step on the channel that ends last, which is the first: it takes the sums of the others.
 * `unit`: that channel, counted over all stacks. */
uint64_t pim_real_step_cycles(const struct pim_machine *machine, const struct pim_mapped_layer *layer,
                              const struct pim_real *real, uint64_t banks, uint32_t unit, uint64_t step);

#endif
