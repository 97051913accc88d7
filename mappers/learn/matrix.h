/*
 * Dense and sparse kernels in double precision, every sum in the order of its index. The results are the same
 * bits on every machine, compiler and optimisation level, which no BLAS promises.
 *
 * Matrices are row-major and dense (the row step is the number of columns); vectors are arrays. Source and
 * target never overlap unless a function says so.
 */
#ifndef PIMSIM_MAPPERS_LEARN_MATRIX_H
#define PIMSIM_MAPPERS_LEARN_MATRIX_H

#include "sim/status.h"

#include <stdbool.h>
#include <stddef.h>

/* product (rows x columns) += left (rows x inner) * right (inner x columns). */
void pim_multiply_add(size_t rows, size_t columns, size_t inner, const double *left, const double *right,
                      double *product);

/* product (rows x columns) += transpose of left (inner x rows) * right (inner x columns). */
void pim_multiply_transposed_add(size_t rows, size_t columns, size_t inner, const double *left,
                                 const double *right, double *product);

/* target (columns x rows) = transpose of source (rows x columns). */
void pim_transpose(size_t rows, size_t columns, const double *source, double *target);

/* Replaces the lower triangle of the symmetric matrix (n x n, its lower triangle is read) by its Cholesky
 * factor L, matrix = L L^T; the upper triangle is left alone. False at a pivot that is not positive and
 * finite: the matrix is then partly overwritten. */
bool pim_cholesky(size_t n, double *matrix);

/* Solves L x = b and L^T x = b in place, L the lower triangle of `factor` (n x n). */
void pim_solve_lower(size_t n, const double *factor, double *vector);
void pim_solve_lower_transposed(size_t n, const double *factor, double *vector);

/* inverse (n x n, lower triangle; zeros above) of L. */
void pim_invert_lower(size_t n, const double *factor, double *inverse);

/* A sparse matrix by rows: entries start[i] .. start[i+1] - 1 belong to row i, columns ascending. */
struct pim_sparse {
    size_t rows;
    size_t *start; /* rows + 1 */
    size_t *column;
    double *value;
};

/*
 * The propagation of a graph convolution: P = D^-1/2 (A + I) D^-1/2 of the undirected graph of `vertices`
 * vertices and the `count` edges {edges[2i], edges[2i+1]}; D are the row sums of A + I. An edge from a vertex
 * to itself or to a vertex that does not exist, and an edge that stands twice in either direction, are
 * PIM_BAD_INPUT. The caller terminates it.
 */
enum pim_status pim_sparse_propagation(struct pim_sparse *matrix, size_t vertices, const size_t *edges,
                                       size_t count, struct pim_error *error);
void pim_sparse_terminate(struct pim_sparse *matrix);

/* product (rows x columns) += matrix * right. */
void pim_sparse_multiply_add(const struct pim_sparse *matrix, size_t columns, const double *right,
                             double *product);

#endif
