/*
 * In which order the programs multiply the elements of their weights, which is the order in which weights lie
 * in the memories: for each piece of columns, for each block of columns, for each tile of rows, row by row
 * (docs/mappers/allspark.md). Read off the shapes of the MATRIX instructions of one node, on which all others
 * must agree: else their numbers come out wrong.
 */
#ifndef PIMSIM_MAPPERS_ALLSPARK_CHECK_WEIGHT_ORDER_H
#define PIMSIM_MAPPERS_ALLSPARK_CHECK_WEIGHT_ORDER_H

#include "traces/instruction.h"

#include <stdbool.h>
#include <stddef.h>

/* k x n weights, of which `width` columns come at a time and are multiplied with `rows` rows in all: their
   numbers, in order. */
struct weight_order {
    uint32_t k, n, width;
    uint64_t rows;
    uint64_t matrix;  /* weight_matrix() */
    uint32_t first_n; /* of the column of nodes: number of column 0 */
    /* The input that row k multiplies; NULL: input k. */
    uint32_t (*input)(const void *context, uint32_t k);
    const void *context;
    uint16_t *values; /* k x n, filled in */
    uint64_t count;   /* that are */
    /* the walk: the piece of columns, rows of it that are done, the output tile */
    uint64_t piece, columns, done, n0, tile, k0;
};

void weight_order_begin(struct weight_order *order);
/* The next MATRIX of the phase; false: it goes beyond the weights. */
bool weight_order_take(struct weight_order *order, const struct pim_instruction *instruction);
bool weight_order_is_complete(const struct weight_order *order);

#endif
