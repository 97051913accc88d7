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

#include <stdbool.h>
#include <stdint.h>

/* A local_copy of `copies` pieces of `bytes`, or, with copies 0, a local_vector. Local addresses. */
struct pim_core_product_step {
    uint64_t to, from, second;
    uint64_t bytes, copies, to_stride, from_stride;
    uint8_t operation;
    uint64_t elements;
};
typedef void pim_core_product_sink(void *context, const struct pim_core_product_step *step);

struct pim_core_product_tile {
    uint32_t columns, inner;
    bool first;            /* the result is written, else added to */
    uint64_t row;          /* `inner` elements */
    uint64_t tile;         /* inner x columns */
    uint64_t work, result; /* as large as the tile; `columns` elements */
};

void pim_core_product_row(const struct pim_core_product_tile *tile, pim_core_product_sink *sink,
                          void *context);

/* columns x inner elements at `from` become inner x columns at `to`. */
void pim_core_product_turn(uint32_t columns, uint32_t inner, uint64_t to, uint64_t from,
                           pim_core_product_sink *sink, void *context);

#endif
