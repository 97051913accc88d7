#include "mappers/learn/gaussian.h"

#include "mappers/learn/elementary.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

bool pim_gaussian_initialize(struct pim_gaussian *gaussian, size_t capacity, size_t inputs)
{
    *gaussian = (struct pim_gaussian){.capacity = capacity, .inputs = inputs};
    size_t square = capacity * capacity + 1;
    gaussian->parameters = calloc(inputs + 3, sizeof(double));
    gaussian->scaled = calloc(inputs + 1, sizeof(double));
    gaussian->factor = calloc(square, sizeof(double));
    gaussian->kernel = calloc(square, sizeof(double));
    gaussian->work = calloc(square, sizeof(double));
    gaussian->weight = calloc(capacity + 1, sizeof(double));
    gaussian->column = calloc(capacity + 1, sizeof(double));
    if (gaussian->parameters && gaussian->scaled && gaussian->factor && gaussian->kernel && gaussian->work &&
        gaussian->weight && gaussian->column)
        return true;
    pim_gaussian_terminate(gaussian);
    return false;
}

void pim_gaussian_terminate(struct pim_gaussian *gaussian)
{
    free(gaussian->parameters);
    free(gaussian->scaled);
    free(gaussian->factor);
    free(gaussian->kernel);
    free(gaussian->work);
    free(gaussian->weight);
    free(gaussian->column);
    *gaussian = (struct pim_gaussian){0};
}

/* --- fit --- */

static double kernel(const struct pim_gaussian *gaussian, const double *a, const double *b)
{
    double sum = 0;
    for (size_t d = 0; d < gaussian->inputs; d++) {
        double distance = (a[d] - b[d]) * gaussian->scaled[d];
        sum += distance * distance;
    }
    return gaussian->signal * pim_exponential(-0.5 * sum);
}

static bool factor_with(struct pim_gaussian *gaussian, double noise)
{
    size_t n = gaussian->points;
    memcpy(gaussian->factor, gaussian->kernel, n * n * sizeof(double));
    for (size_t i = 0; i < n; i++)
        gaussian->factor[i * n + i] += noise;
    return pim_cholesky(n, gaussian->factor);
}

static bool factor(struct pim_gaussian *gaussian, double jitter)
{
    size_t n = gaussian->points;
    double noise = pim_exponential(gaussian->parameters[gaussian->inputs + 1]), diagonal = 0;
    gaussian->jitter = jitter;
    if (factor_with(gaussian, noise + jitter))
        return true;
    for (size_t i = 0; i < n; i++)
        diagonal += gaussian->kernel[i * n + i] + noise;
    static const double shares[] = {1e-10, 1e-9, 1e-8, 1e-7, 1e-6, 1e-5, 1e-4};
    for (size_t i = 0; i < sizeof shares / sizeof shares[0]; i++) {
        gaussian->jitter = shares[i] * (diagonal / (double)n);
        if (factor_with(gaussian, noise + gaussian->jitter))
            return true;
    }
    return false;
}

enum pim_status pim_gaussian_fit(struct pim_gaussian *gaussian, size_t points, const double *x,
                                 const double *y, const double *parameters, double jitter,
                                 struct pim_error *error)
{
    static const double log_two_pi = 1.8378770664093454836;
    assert(points > 0 && points <= gaussian->capacity);
    size_t n = points, inputs = gaussian->inputs;
    gaussian->points = n;
    gaussian->x = x;
    memcpy(gaussian->parameters, parameters, (inputs + 3) * sizeof(double));
    gaussian->signal = pim_exponential(parameters[inputs]);
    for (size_t d = 0; d < inputs; d++)
        gaussian->scaled[d] = pim_exponential(-parameters[d]);
    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j <= i; j++)
            gaussian->kernel[i * n + j] = gaussian->kernel[j * n + i] =
                kernel(gaussian, x + i * inputs, x + j * inputs);
    }
    if (!factor(gaussian, jitter))
        return pim_fail(
            error, PIM_BAD_INPUT,
            "the covariance of %zu points has no Cholesky factor even with a jitter of 1e-4 of its "
            "diagonal: its points or parameters are not finite",
            n);
    gaussian->quadratic = gaussian->log_determinant = 0;
    for (size_t i = 0; i < n; i++)
        gaussian->weight[i] = y[i] - parameters[inputs + 2];
    pim_solve_lower(n, gaussian->factor, gaussian->weight);
    for (size_t i = 0; i < n; i++) {
        gaussian->quadratic += 0.5 * gaussian->weight[i] * gaussian->weight[i];
        gaussian->log_determinant += pim_logarithm(gaussian->factor[i * n + i]);
    }
    pim_solve_lower_transposed(n, gaussian->factor, gaussian->weight);
    gaussian->nll = gaussian->quadratic + gaussian->log_determinant + 0.5 * (double)n * log_two_pi;
    return PIM_OK;
}

/* --- gradient --- */

/* K^-1 = L^-T L^-1, its lower triangle, in `work`. */
static void invert(struct pim_gaussian *gaussian)
{
    size_t n = gaussian->points;
    double *work = gaussian->work;
    pim_invert_lower(n, gaussian->factor, work);
    /* Row i up to its diagonal is the sum over k >= i of L^-1[k][i] * L^-1[k][0 .. i]: no later row needs
     * row i of L^-1 again, so that the product takes its place. */
    for (size_t i = 0; i < n; i++) {
        double *column = gaussian->column;
        memset(column, 0, (i + 1) * sizeof *column);
        for (size_t k = i; k < n; k++) {
            double weight = work[k * n + i];
            for (size_t j = 0; j <= i; j++)
                column[j] += weight * work[k * n + j];
        }
        memcpy(work + i * n, column, (i + 1) * sizeof *column);
    }
}

void pim_gaussian_gradient(struct pim_gaussian *gaussian, double *gradient, double *x_gradient)
{
    size_t n = gaussian->points, inputs = gaussian->inputs;
    const double *weight = gaussian->weight;
    invert(gaussian);
    memset(gradient, 0, (inputs + 3) * sizeof *gradient);
    if (x_gradient)
        memset(x_gradient, 0, n * inputs * sizeof *x_gradient);
    double noise = pim_exponential(gaussian->parameters[inputs + 1]), trace = 0;
    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j < i; j++) {
            /* twice 1/2 (K^-1 - alpha alpha^T), as (i, j) and (j, i) are one entry here */
            double slope = (gaussian->work[i * n + j] - weight[i] * weight[j]) * gaussian->kernel[i * n + j];
            gradient[inputs] += slope;
            for (size_t d = 0; d < inputs; d++) {
                double distance =
                    (gaussian->x[i * inputs + d] - gaussian->x[j * inputs + d]) * gaussian->scaled[d];
                gradient[d] += slope * distance * distance;
                if (x_gradient) {
                    x_gradient[i * inputs + d] -= slope * distance * gaussian->scaled[d];
                    x_gradient[j * inputs + d] += slope * distance * gaussian->scaled[d];
                }
            }
        }
        double diagonal = 0.5 * (gaussian->work[i * n + i] - weight[i] * weight[i]);
        gradient[inputs] += diagonal * gaussian->kernel[i * n + i];
        trace += diagonal;
        gradient[inputs + 2] -= weight[i];
    }
    gradient[inputs + 1] = noise * trace;
}

/* --- prediction --- */

void pim_gaussian_predict(struct pim_gaussian *gaussian, size_t rows, const double *x, double *mean,
                          double *variance)
{
    size_t n = gaussian->points, inputs = gaussian->inputs;
    double *column = gaussian->column;
    for (size_t row = 0; row < rows; row++) {
        double sum = 0;
        for (size_t i = 0; i < n; i++) {
            column[i] = kernel(gaussian, x + row * inputs, gaussian->x + i * inputs);
            sum += column[i] * gaussian->weight[i];
        }
        mean[row] = gaussian->parameters[inputs + 2] + sum;
        if (!variance)
            continue;
        pim_solve_lower(n, gaussian->factor, column);
        double left = gaussian->signal;
        for (size_t i = 0; i < n; i++)
            left -= column[i] * column[i];
        variance[row] = left > 0 ? left : 0;
    }
}
