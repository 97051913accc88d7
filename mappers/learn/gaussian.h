/*
 * Gaussian process regression with a squared exponential kernel, one length an input:
 *
 *     k(x, x') = s exp(-1/2 sum_d ((x_d - x'_d) / l_d)^2),   K = k(X, X) + (v + jitter) I
 *     nll = 1/2 r^T K^-1 r + sum_i ln L_ii + n/2 ln(2 pi),   r = y - mean,  K = L L^T
 *
 * The parameters of `inputs` dimensions are inputs + 3 numbers: ln l_0 .. , ln s (signal variance), ln v
 * (noise variance; minus infinity: none), mean. C. Rasmussen, C. Williams, "Gaussian Processes for Machine
 * Learning", 2006, sections 2.2 and 5.4.
 */
#ifndef PIMSIM_MAPPERS_LEARN_GAUSSIAN_H
#define PIMSIM_MAPPERS_LEARN_GAUSSIAN_H

#include "mappers/learn/matrix.h"

struct pim_gaussian {
    size_t points, inputs, capacity;
    const double *x;                   /* points x inputs, borrowed */
    double *parameters;                /* inputs + 3, a copy of those of the last fit */
    double *scaled;                    /* inputs: 1 / l_d */
    double signal;                     /* s */
    double *factor;                    /* L */
    double *weight;                    /* K^-1 r */
    double *kernel;                    /* k(X, X) without noise */
    double *work;                      /* capacity x capacity */
    double *column;                    /* capacity */
    double quadratic, log_determinant; /* the first two terms of nll */
    double nll;
    double jitter; /* that was needed, 0 if none was */
};

/* Space for up to `capacity` points; false when memory is out. */
bool pim_gaussian_initialize(struct pim_gaussian *gaussian, size_t capacity, size_t inputs);
void pim_gaussian_terminate(struct pim_gaussian *gaussian);

/*
 * Factors K for the points x (points x inputs, borrowed until the next fit) with the targets y. A matrix that
 * does not factor with `jitter` gets 1e-10, 1e-9, .. 1e-4 times the mean of its diagonal; PIM_BAD_INPUT when
 * none is enough (the points or parameters are then not finite).
 */
enum pim_status pim_gaussian_fit(struct pim_gaussian *gaussian, size_t points, const double *x,
                                 const double *y, const double *parameters, double jitter,
                                 struct pim_error *error);

/* The gradient of nll with respect to the parameters (inputs + 3, overwritten) and, where not NULL, to x
 * (points x inputs, overwritten). */
void pim_gaussian_gradient(struct pim_gaussian *gaussian, double *gradient, double *x_gradient);

/* Mean and variance (of the function, without noise; at least 0; may be NULL) at `rows` points. */
void pim_gaussian_predict(struct pim_gaussian *gaussian, size_t rows, const double *x, double *mean,
                          double *variance);

#endif
