#include "mappers/learn/deep_kernel.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum { PREDICTED_AT_ONCE = 128 };

bool pim_deep_kernel_initialize(struct pim_deep_kernel *kernel, const struct pim_neural_layer *layers,
                                size_t count, size_t capacity)
{
    assert(count > 0);
    size_t features = layers[count - 1].outputs;
    *kernel = (struct pim_deep_kernel){.layers = layers,
                                       .layer_count = count,
                                       .layer_parameters = pim_layers_parameters(layers, count),
                                       .features = features,
                                       .capacity = capacity};
    bool process = pim_gaussian_initialize(&kernel->gaussian, capacity, features);
    kernel->pass = pim_pass_create(layers, count, capacity);
    kernel->predictor = pim_pass_create(layers, count, PREDICTED_AT_ONCE);
    kernel->points = calloc(capacity * features + 1, sizeof(double));
    kernel->gradient = calloc(capacity * features + 1, sizeof(double));
    if (process && kernel->pass && kernel->predictor && kernel->points && kernel->gradient)
        return true;
    pim_deep_kernel_terminate(kernel);
    return false;
}

void pim_deep_kernel_terminate(struct pim_deep_kernel *kernel)
{
    pim_gaussian_terminate(&kernel->gaussian);
    pim_pass_destroy(kernel->pass);
    pim_pass_destroy(kernel->predictor);
    free(kernel->points);
    free(kernel->gradient);
    *kernel = (struct pim_deep_kernel){0};
}

size_t pim_deep_kernel_parameters(const struct pim_deep_kernel *kernel)
{
    return kernel->layer_parameters + kernel->features + 3;
}

enum pim_status pim_deep_kernel_fit(struct pim_deep_kernel *kernel, size_t points, const double *x,
                                    const double *y, const double *parameters, double *nll,
                                    struct pim_error *error)
{
    assert(points <= kernel->capacity);
    const double *output = pim_forward(kernel->pass, parameters, points, x, NULL, NULL);
    memcpy(kernel->points, output, points * kernel->features * sizeof *output);
    if (pim_gaussian_fit(&kernel->gaussian, points, kernel->points, y, parameters + kernel->layer_parameters,
                         0, error) != PIM_OK)
        return error->status;
    *nll = kernel->gaussian.nll;
    return PIM_OK;
}

void pim_deep_kernel_gradient(struct pim_deep_kernel *kernel, const double *parameters, double *gradient)
{
    memset(gradient, 0, kernel->layer_parameters * sizeof *gradient);
    pim_gaussian_gradient(&kernel->gaussian, gradient + kernel->layer_parameters, kernel->gradient);
    pim_backward(kernel->pass, parameters, kernel->gradient, gradient, NULL);
}

void pim_deep_kernel_predict(struct pim_deep_kernel *kernel, const double *parameters, size_t rows,
                             const double *x, double *mean, double *variance)
{
    size_t inputs = kernel->layers[0].inputs;
    for (size_t row = 0; row < rows; row += PREDICTED_AT_ONCE) {
        size_t part = rows - row < PREDICTED_AT_ONCE ? rows - row : PREDICTED_AT_ONCE;
        const double *features =
            pim_forward(kernel->predictor, parameters, part, x + row * inputs, NULL, NULL);
        pim_gaussian_predict(&kernel->gaussian, part, features, mean + row, variance ? variance + row : NULL);
    }
}
