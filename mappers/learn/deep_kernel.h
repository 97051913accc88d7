/*
 * A deep kernel (A. Wilson, Z. Hu, R. Salakhutdinov, E. Xing, "Deep Kernel Learning", AISTATS 2016): a dense
 * network makes features of the inputs, and a Gaussian process regresses on the features. Network and process
 * are trained together on the exact marginal likelihood.
 *
 * Parameters: those of the layers, then those of the process on the outputs of the last layer.
 */
#ifndef PIMSIM_MAPPERS_LEARN_DEEP_KERNEL_H
#define PIMSIM_MAPPERS_LEARN_DEEP_KERNEL_H

#include "mappers/learn/gaussian.h"
#include "mappers/learn/layers.h"

struct pim_deep_kernel {
    const struct pim_neural_layer *layers; /* borrowed; without graph convolutions */
    size_t layer_count, layer_parameters, features, capacity;
    struct pim_pass *pass, *predictor;
    struct pim_gaussian gaussian;
    double *points;   /* features of the fitted points */
    double *gradient; /* of them */
};

/* Space for up to `capacity` points; false when memory is out. */
bool pim_deep_kernel_initialize(struct pim_deep_kernel *kernel, const struct pim_neural_layer *layers,
                                size_t count, size_t capacity);
void pim_deep_kernel_terminate(struct pim_deep_kernel *kernel);
size_t pim_deep_kernel_parameters(const struct pim_deep_kernel *kernel);

/* Fits the points x (points x inputs of the first layer) with the targets y, both borrowed until the gradient
 * is taken: `*nll` is the negative logarithm of the marginal likelihood. Fails as pim_gaussian_fit does. */
enum pim_status pim_deep_kernel_fit(struct pim_deep_kernel *kernel, size_t points, const double *x,
                                    const double *y, const double *parameters, double *nll,
                                    struct pim_error *error);

/* The gradient of nll with respect to all parameters (overwritten), which are those of the last fit. */
void pim_deep_kernel_gradient(struct pim_deep_kernel *kernel, const double *parameters, double *gradient);

/* As pim_gaussian_predict, at `rows` inputs, with the parameters of the last fit. */
void pim_deep_kernel_predict(struct pim_deep_kernel *kernel, const double *parameters, size_t rows,
                             const double *x, double *mean, double *variance);

#endif
