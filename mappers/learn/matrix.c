#include "mappers/learn/matrix.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* target += the four products in this order; a loop that vectorises without changing the order of any sum. */
static void add_four(size_t columns, const double factor[4], const double *right, double *target)
{
    const double *r0 = right, *r1 = r0 + columns, *r2 = r1 + columns, *r3 = r2 + columns;
    for (size_t j = 0; j < columns; j++)
        target[j] =
            (((target[j] + factor[0] * r0[j]) + factor[1] * r1[j]) + factor[2] * r2[j]) + factor[3] * r3[j];
}

/* `left` is read at i * row_step + k * inner_step. */
static void multiply_add(size_t rows, size_t columns, size_t inner, const double *left, size_t row_step,
                         size_t inner_step, const double *right, double *product)
{
    for (size_t i = 0; i < rows; i++) {
        const double *from = left + i * row_step;
        double *target = product + i * columns;
        size_t k = 0;
        for (; k + 4 <= inner; k += 4) {
            double factor[4];
            for (size_t l = 0; l < 4; l++)
                factor[l] = from[(k + l) * inner_step];
            add_four(columns, factor, right + k * columns, target);
        }
        for (; k < inner; k++) {
            double factor = from[k * inner_step];
            for (size_t j = 0; j < columns; j++)
                target[j] += factor * right[k * columns + j];
        }
    }
}

void pim_multiply_add(size_t rows, size_t columns, size_t inner, const double *left, const double *right,
                      double *product)
{
    multiply_add(rows, columns, inner, left, inner, 1, right, product);
}

void pim_multiply_transposed_add(size_t rows, size_t columns, size_t inner, const double *left,
                                 const double *right, double *product)
{
    multiply_add(rows, columns, inner, left, 1, rows, right, product);
}

void pim_transpose(size_t rows, size_t columns, const double *source, double *target)
{
    for (size_t i = 0; i < rows; i++) {
        for (size_t j = 0; j < columns; j++)
            target[j * rows + i] = source[i * columns + j];
    }
}

/* --- triangles --- */

/* start - sum of a[k] b[k], k ascending. */
static double subtract_product(double start, const double *a, const double *b, size_t count)
{
    for (size_t k = 0; k < count; k++)
        start -= a[k] * b[k];
    return start;
}

bool pim_cholesky(size_t n, double *matrix)
{
    for (size_t i = 0; i < n; i++) {
        double *row = matrix + i * n;
        for (size_t j = 0; j < i; j++)
            row[j] = subtract_product(row[j], row, matrix + j * n, j) / matrix[j * n + j];
        double pivot = subtract_product(row[i], row, row, i);
        if (!(pivot > 0) || !isfinite(pivot))
            return false;
        row[i] = sqrt(pivot);
    }
    return true;
}

void pim_solve_lower(size_t n, const double *factor, double *vector)
{
    for (size_t i = 0; i < n; i++)
        vector[i] = subtract_product(vector[i], factor + i * n, vector, i) / factor[i * n + i];
}

void pim_solve_lower_transposed(size_t n, const double *factor, double *vector)
{
    for (size_t i = n; i-- > 0;) {
        vector[i] /= factor[i * n + i];
        for (size_t j = 0; j < i; j++)
            vector[j] -= factor[i * n + j] * vector[i];
    }
}

void pim_invert_lower(size_t n, const double *factor, double *inverse)
{
    memset(inverse, 0, n * n * sizeof *inverse);
    for (size_t i = 0; i < n; i++) {
        double *row = inverse + i * n, pivot = factor[i * n + i];
        for (size_t k = 0; k < i; k++) {
            double weight = factor[i * n + k];
            const double *above = inverse + k * n;
            for (size_t j = 0; j <= k; j++)
                row[j] -= weight * above[j];
        }
        for (size_t j = 0; j < i; j++)
            row[j] /= pivot;
        row[i] = 1 / pivot;
    }
}

/* --- sparse --- */

void pim_sparse_terminate(struct pim_sparse *matrix)
{
    free(matrix->start);
    free(matrix->column);
    free(matrix->value);
    *matrix = (struct pim_sparse){0};
}

static int compare_columns(const void *a, const void *b)
{
    size_t x = *(const size_t *)a, y = *(const size_t *)b;
    return (x > y) - (x < y);
}

static enum pim_status check_edges(size_t vertices, const size_t *edges, size_t count,
                                   struct pim_error *error)
{
    for (size_t i = 0; i < count; i++) {
        size_t a = edges[2 * i], b = edges[2 * i + 1];
        if (a >= vertices || b >= vertices || a == b)
            return pim_fail(
                error, PIM_BAD_INPUT,
                "edge %zu joins the vertices %zu and %zu: allowed are two different ones below %zu", i, a, b,
                vertices);
    }
    return PIM_OK;
}

/* Puts the neighbours of every vertex, itself among them, into the rows; matrix->start is zero before. */
static void fill_rows(struct pim_sparse *matrix, const size_t *edges, size_t count)
{
    size_t *next = matrix->start + 1; /* next[i] ends as the start of row i + 1 */
    for (size_t i = 0; i < matrix->rows; i++)
        next[i] = 1;
    for (size_t i = 0; i < 2 * count; i++)
        next[edges[i]]++;
    size_t total = 0;
    for (size_t i = 0; i < matrix->rows; i++) {
        size_t entries = next[i];
        next[i] = total;
        total += entries;
    }
    for (size_t i = 0; i < matrix->rows; i++)
        matrix->column[next[i]++] = i;
    for (size_t i = 0; i < count; i++) {
        matrix->column[next[edges[2 * i]]++] = edges[2 * i + 1];
        matrix->column[next[edges[2 * i + 1]]++] = edges[2 * i];
    }
}

enum pim_status pim_sparse_propagation(struct pim_sparse *matrix, size_t vertices, const size_t *edges,
                                       size_t count, struct pim_error *error)
{
    *matrix = (struct pim_sparse){.rows = vertices};
    if (check_edges(vertices, edges, count, error) != PIM_OK)
        return error->status;
    if (vertices >= SIZE_MAX / 32 || count >= SIZE_MAX / 64)
        return pim_fail(error, PIM_NO_MEMORY, "out of memory for a graph of %zu vertices", vertices);
    size_t entries = vertices + 2 * count;
    matrix->start = calloc(vertices + 1, sizeof *matrix->start);
    matrix->column = calloc(entries + 1, sizeof *matrix->column);
    matrix->value = calloc(entries + 1, sizeof *matrix->value);
    if (!matrix->start || !matrix->column || !matrix->value) {
        pim_sparse_terminate(matrix);
        return pim_fail(error, PIM_NO_MEMORY, "out of memory for a graph of %zu vertices", vertices);
    }
    fill_rows(matrix, edges, count);
    for (size_t i = 0; i < vertices; i++) {
        size_t first = matrix->start[i], end = matrix->start[i + 1];
        qsort(matrix->column + first, end - first, sizeof *matrix->column, compare_columns);
        double degree = (double)(end - first);
        for (size_t k = first; k < end; k++) {
            size_t j = matrix->column[k];
            if (k > first && matrix->column[k - 1] == j) {
                pim_sparse_terminate(matrix);
                return pim_fail(error, PIM_BAD_INPUT, "the edge between %zu and %zu stands twice", i, j);
            }
            matrix->value[k] = 1 / sqrt(degree * (double)(matrix->start[j + 1] - matrix->start[j]));
        }
    }
    return PIM_OK;
}

void pim_sparse_multiply_add(const struct pim_sparse *matrix, size_t columns, const double *right,
                             double *product)
{
    for (size_t i = 0; i < matrix->rows; i++) {
        for (size_t k = matrix->start[i]; k < matrix->start[i + 1]; k++) {
            const double *from = right + matrix->column[k] * columns;
            for (size_t j = 0; j < columns; j++)
                product[i * columns + j] += matrix->value[k] * from[j];
        }
    }
}
