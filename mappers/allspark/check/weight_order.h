/*
 * In which order the elements of weights lie in the memories: for each piece of columns, for each block of
 * columns, for each tile of rows, row by row, by the tiles that the estimate chooses for the node with most
 * rows (docs/mappers/allspark.md, "Order of the bytes"). Found without looking at a program: one that
 * multiplies in another order computes wrong numbers.
 */
#ifndef PIMSIM_MAPPERS_ALLSPARK_CHECK_WEIGHT_ORDER_H
#define PIMSIM_MAPPERS_ALLSPARK_CHECK_WEIGHT_ORDER_H

#include "mappers/allspark/allspark.h"

/* The weights of a column of nodes, k x n. */
struct weight_order {
    const struct pim_allspark_partition *part;
    uint32_t k, n, first_n; /* first_n: number of column 0 */
    uint32_t width;         /* columns of a piece, all but the last */
    uint32_t rows;          /* that a node multiplies at once, at most */
    bool residual;          /* is added to the product */
    bool whole;             /* the inputs are in one piece; else in one for each column of nodes */
    uint32_t grain;         /* of the columns of tiles; 0: any */
    /* The input that row k multiplies; NULL: input k. */
    uint32_t (*input)(const struct pim_allspark_partition *part, uint32_t k);
};

/* The tiles of the piece of columns that begins with column `first`; false: none fit. */
bool weight_order_tiles(const struct weight_order *order, const struct pim_estimate_hardware *hardware,
                        uint32_t first, struct pim_tiling *tiling);
/* The numbers of this piece, in order; `matrix`: weight_matrix(). */
void weight_order_fill(const struct weight_order *order, const struct pim_tiling *tiling, uint32_t first,
                       uint64_t matrix, uint16_t *values);

#endif
