/*
 * A product of two activations with the instructions of cores: vector operations and copies. Vectors are
 * added and multiplied element by element alone, so a row of results
 *     result[n] = sum over k of row[k] * tile[k][n]
 * takes: each row[k] written out n times; one multiplication with the tile; additions of the two halves of
 * what is left, until one row is. With K x N elements that is K N multiplications, (K - 1) N additions and a
 * copy of K N elements.
 */
#ifndef PIMSIM_MAPPERS_PIMCOMP_KERNELS_PRODUCTS_H
#define PIMSIM_MAPPERS_PIMCOMP_KERNELS_PRODUCTS_H

#include "mappers/pimcomp/kernels/emitter.h"

/* Local addresses. */
struct pim_core_product_tile {
    uint32_t columns, inner;
    bool first;            /* the result is written, else added to */
    uint64_t row;          /* `inner` elements */
    uint64_t tile;         /* inner x columns */
    uint64_t work, result; /* as large as the tile; `columns` elements */
};

void pim_core_product_row(struct pim_core_emitter *emitter, uint32_t core,
                          const struct pim_core_product_tile *tile);

/* columns x inner elements at `from` become inner x columns at `to`. */
void pim_core_product_turn(struct pim_core_emitter *emitter, uint32_t core, uint32_t columns, uint32_t inner,
                           uint64_t to, uint64_t from);

#endif
