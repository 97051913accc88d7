/*
 * What the files of the folding share: a constant under construction, and its contents.
 */
#ifndef PIMSIM_MAPPERS_NETWORK_ONNX_FOLD_H
#define PIMSIM_MAPPERS_NETWORK_ONNX_FOLD_H

#include "mappers/network/onnx/importer.h"

/* A result under construction. */
struct pim_fold {
    struct pim_shape shape;
    int64_t *integers;
    double *reals;
};

/* Checks the shape and makes room for contents: of whole numbers, or not; none when `known` is false. Says
 * whether there is room. */
bool pim_fold_make_room(struct pim_onnx_importer *i, struct pim_fold *r, bool known, bool whole);

/* Output `output` of the node at work is that constant. */
void pim_fold_bind(struct pim_onnx_importer *i, size_t output, const struct pim_fold *r);

bool pim_fold_known(const struct pim_onnx_value *value);
double pim_fold_real(const struct pim_onnx_value *value, uint64_t at);

/* NumPy's rule: dimensions are aligned at the end, and 1 meets any size. */
struct pim_shape pim_fold_broadcast(struct pim_onnx_importer *i, const struct pim_shape *a,
                                    const struct pim_shape *b);

/* Output element (c0, c1, ..) is input element offset + sum of c * stride. */
void pim_fold_move(struct pim_onnx_importer *i, struct pim_fold *r, const struct pim_onnx_value *from,
                   int64_t offset, const int64_t *stride);

/* Distances between neighbours of each dimension; 0 along those of size 1 when `broadcast`. */
void pim_fold_strides(const struct pim_shape *shape, bool broadcast, int64_t *stride);

/* Folding of numbers (fold_numbers.c). */
void pim_fold_range(struct pim_onnx_importer *i);
void pim_fold_binary(struct pim_onnx_importer *i);
void pim_fold_unary(struct pim_onnx_importer *i);
void pim_fold_reduction(struct pim_onnx_importer *i);
void pim_fold_non_zero(struct pim_onnx_importer *i);
void pim_fold_where(struct pim_onnx_importer *i);

#endif
