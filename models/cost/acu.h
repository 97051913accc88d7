/*
 * Auxiliary compute unit of a node: the vector operations between matrix products, on `rows` vectors of
 * `elements`, in closed form.
 *
 * The unit has lanes that take `elements_per_cycle` elements in each cycle into a pipeline of `depth` cycles.
 * An operation reads its data in one or more passes (softmax: maximum, sum of exponents, normalisation), pass
 * by pass over all rows; a row's pass needs the result of its pass before. The rules are in
 * docs/models/acu.md.
 *
 * Invariant: cycles >= passes * groups + depth, with equality when the rows fill the pipeline or there is one
 * pass.
 */
#ifndef PIMSIM_MODELS_COST_ACU_H
#define PIMSIM_MODELS_COST_ACU_H

#include "sim/status.h"
#include "traces/instruction.h"

#include <stdbool.h>
#include <stdint.h>

enum {
    PIM_ACU_LANES_MAX = 65536,
    PIM_ACU_PASSES_MAX = 16,
    PIM_ACU_OPERANDS_MAX = 4,
    PIM_ACU_DEPTH_MAX = 1 << 20,
    PIM_ACU_EXTENT_MAX = 1 << 24 /* rows and elements of one operation, each */
};

struct pim_acu_operation {
    uint32_t elements_per_cycle;
    uint32_t depth;    /* cycles from an element's entry to its result; 0: the same cycle */
    uint32_t passes;   /* readings of the data */
    uint32_t operands; /* vectors read in each pass: 2 for add and multiply */
    /* Each row is a problem of its own: its passes need one another, and it begins a new group of lanes.
     * Otherwise all rows are one long vector and there is one pass. */
    bool by_row;
};

struct pim_acu_configuration {
    struct pim_acu_operation operation[PIM_VECTORS]; /* by enum pim_vector */
};

struct pim_acu_cost {
    uint64_t cycles;           /* from the first element's entry to the last result */
    uint64_t operations;       /* rows * elements * passes: the unit of the energy account */
    uint64_t elements_read;    /* from SRAM: rows * elements * passes * operands */
    uint64_t elements_written; /* to SRAM: rows * elements */
};

/* SRAM traffic of a vector instruction. Each pass reads its operands and the last writes results, of `bits`
 * each (docs/models/acu.md); where the operation gives back partial sums, its first reading is that of the
 * sums in their full width. */
static inline uint64_t pim_acu_sram_bits(const struct pim_operands_vector *o, const struct pim_acu_cost *cost)
{
    uint64_t narrow = cost->elements_read + cost->elements_written;
    if (o->release > 0)
        narrow -= (uint64_t)o->rows * o->elements;
    return narrow * o->bits + 8 * (uint64_t)o->release;
}

/*
 * Fills the table with the defaults: every operation at `elements_per_cycle`. ASSUMPTION: no published figure
 * exists for Allspark's unit (8-bit integer, in the style of I-BERT and FQ-ViT); passes follow from the
 * algorithms, depths are guesses. docs/models/acu.md lists them.
 */
void pim_acu_configuration_assumed(struct pim_acu_configuration *configuration, uint32_t elements_per_cycle);

/* Refuses sizes of 0 or beyond the bounds, and several passes over what is not by_row. The message names the
 * operation. */
enum pim_status pim_acu_check_configuration(const struct pim_acu_configuration *configuration,
                                            struct pim_error *error);

/* Refuses an unknown operation and extents of 0 or beyond PIM_ACU_EXTENT_MAX. */
enum pim_status pim_acu_check_vector(unsigned operation, uint32_t rows, uint32_t elements,
                                     struct pim_error *error);

/* Cost of `operation` (enum pim_vector) on rows x elements. Arguments must have passed the two checks above.
 * O(1). */
void pim_acu_vector(const struct pim_acu_configuration *configuration, unsigned operation, uint32_t rows,
                    uint32_t elements, struct pim_acu_cost *cost);

#endif
