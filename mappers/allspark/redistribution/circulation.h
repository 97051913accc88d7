/* What circulates, and what rows hand to each other: for the phases. */
#ifndef PIMSIM_MAPPERS_ALLSPARK_REDISTRIBUTION_CIRCULATION_H
#define PIMSIM_MAPPERS_ALLSPARK_REDISTRIBUTION_CIRCULATION_H

#include "mappers/allspark/emitter.h"
#include "mappers/allspark/memory.h"
#include "mappers/allspark/shapes.h"

/* Horizontal: piece c has `width(c)` bytes for each of `rows` tokens, as many on all nodes of the row. */
struct pim_row_pieces {
    uint64_t base;
    uint64_t rows;
    uint64_t total; /* channels of all columns; 0: the fixed bytes of statistics */
    uint64_t own;   /* address of this node's piece, when it does not lie among the others; 0: it does */
};

/* Bytes and address of a piece on the node that is being written; `context` is a struct pim_row_pieces. */
uint64_t pim_row_bytes(const struct pim_emitter *emitter, const void *context, uint32_t piece);
uint64_t pim_row_address(const struct pim_emitter *emitter, const void *context, uint32_t piece);

/* This node's piece of a matrix of `rows` rows that circulates within the row. */
uint64_t pim_own_piece(const struct pim_emitter *emitter, uint64_t base, uint64_t rows, uint64_t total);

/* Bytes of the keys or values of row `piece` in the column of the node; `context` is not used. */
uint64_t pim_column_bytes(const struct pim_emitter *emitter, const void *context, uint32_t piece);

/* The rounds, and a join behind them; nothing on a ring of one. */
void pim_gather_row(struct pim_emitter *emitter, const struct pim_row_pieces *pieces, uint32_t tag);
void pim_gather_column(struct pim_emitter *emitter, uint64_t base, uint32_t tag);

/*
 * Brings the normalised tokens of which this row's keys are made from the rows that have them, and copies its
 * own: from `gathered` to `reduction_inputs`. A message between two rows has tag `tag`.
 */
void pim_exchange_tokens(struct pim_emitter *emitter, uint32_t tag);
void pim_estimate_exchange(const struct pim_emitter *emitter, struct pim_trace_phase *phase);

/* --- stripes.c: where attention is a stage of its own --- */

/* One of the resident matrices of the layer: 0 is the query, later the context; 1 the keys, 2 the values. */
static inline uint64_t pim_resident_matrix(const struct pim_emitter *emitter, uint32_t which)
{
    return emitter->workspace.resident +
           (emitter->layer * PIM_RESIDENT_MATRICES + which) * emitter->workspace.resident_bytes;
}

/* Copies this node's keys (or values) to their place among those of the branch. */
void pim_stripes_place_keys(struct pim_emitter *emitter, bool values);
void pim_stripes_estimate_place_keys(const struct pim_emitter *emitter, struct pim_trace_phase *phase);

#endif
