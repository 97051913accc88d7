/*
 * Real rows (--rows real): where every word of a product layer stands in its banks, so that the instructions
 * of its program, executed on real bits, give the layer's outputs.
 *
 * Columns. Groups of columns that reduce together are powers of two, side by side; column g x 2^levels + l is
 * lane l of group g. Banks and channels that reduce together: bank l x others + o is lane l of the banks that
 * hold the same outputs, and so are the channels of the layer.
 *
 * Rows of a bank, from 0: inputs of the step, weights (of all steps when they are kept), a product, the sums
 * of a step, a sum over columns, totals (one for each output that is not final when another begins), totals
 * that come from another bank or channel, final words as they are transposed, and what waits to be
 * distributed: inputs, and weights that are not kept. Everything else of the program works behind `end`.
 *
 * What the rows do not say: how inputs get to the columns that need them. No instruction spreads words over
 * columns, so the inputs of all steps wait in rows of their own, in their columns; the moves of the program
 * take them from there.
 */
#ifndef PIMSIM_MAPPERS_OVERLAPIM_EMIT_REAL_H
#define PIMSIM_MAPPERS_OVERLAPIM_EMIT_REAL_H

#include "mappers/overlapim/model.h"

/* Parts of a nest: loops that choose a step, and, where they are spatial, whether they are over reduced
 * dimensions (lanes) or others. X(name) */
enum pim_real_part {
    PIM_REAL_STEP,
    PIM_REAL_CHANNEL_LANE,
    PIM_REAL_CHANNEL,
    PIM_REAL_BANK_LANE,
    PIM_REAL_BANK,
    PIM_REAL_COLUMN_LANE,
    PIM_REAL_COLUMN,
    PIM_REAL_INSIDE,
    PIM_REAL_PARTS
};

struct pim_real {
    bool used;
    const struct pim_workload *workload;
    const struct pim_nest *nest;
    const struct pim_strides *strides;
    uint32_t word, levels, pitch;         /* rows of a word; log2 of a group; rows of a total */
    uint64_t count[PIM_REAL_PARTS];       /* of instances */
    uint64_t outputs, weights, inputs;    /* words of a column in a step */
    uint64_t input_period, input_loads;   /* steps with the same inputs; times that they are written */
    uint64_t weight_period, weight_loads; /* of weights; kept: no loads */
    uint64_t weight_tiles, tiles,
        stores; /* kept weights; totals that are open at once; words that are final */
    uint32_t input, weight, product, local, sum, total, moved, out, input_landing, weight_landing, end;
};

/* PIM_BAD_INPUT names the layer, and what it needs more of than there is. */
enum pim_status pim_real_place(const struct pim_machine *machine, const struct pim_mapped_layer *layer,
                               bool drop_weights, const struct pim_nest *nest,
                               const struct pim_strides *strides, struct pim_real *real,
                               struct pim_error *error);

/* Adds the elements at which instance `index` of a part begins. */
void pim_real_add(const struct pim_real *real, enum pim_real_part part, uint64_t index,
                  uint64_t at[PIM_DIMENSIONS]);

/* What a step does beside its products. */
struct pim_real_step {
    bool loads_inputs, loads_weights;
    bool first, last; /* contribution to its outputs */
    uint64_t input_load, weight_load, weight_tile, tile, store;
};
struct pim_real_step pim_real_step(const struct pim_real *real, uint64_t step);

/* The operands of a product inside, and its output, as words of the step. */
struct pim_real_product {
    uint64_t input, weight, output;
    bool first; /* of its output */
};
struct pim_real_product pim_real_product(const struct pim_real *real, uint64_t index);

/* The last step that contributes to a store, and the first one that uses a tile of kept weights. */
uint64_t pim_real_store_step(const struct pim_real *real, uint64_t store);
uint64_t pim_real_tile_step(const struct pim_real *real, uint64_t tile);

#endif
