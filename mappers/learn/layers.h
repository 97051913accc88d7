/*
 * Neural networks of layers: dense, or graph convolutions, each with or without ReLU and dropout.
 *
 *     dense:              Z = H W^T + b
 *     graph convolution:  Z = P H W^T + b      P the propagation of the graph (pim_sparse_propagation)
 *
 * then max(Z, 0) where relu, whose derivative at 0 is 0, then dropout by a given mask. W has the shape
 * outputs x inputs. The parameters of all layers are one array: W and b of the first layer, of the second,
 * ...; gradients have the same order, so that an optimiser sees one vector.
 */
#ifndef PIMSIM_MAPPERS_LEARN_LAYERS_H
#define PIMSIM_MAPPERS_LEARN_LAYERS_H

#include "mappers/learn/matrix.h"
#include "sim/random.h"

struct pim_neural_layer {
    size_t inputs, outputs;
    bool convolve; /* over the graph */
    bool relu;
    double dropout; /* share of the outputs that a mask drops, in [0, 1) */
};

/* How many parameters the layers have. */
size_t pim_layers_parameters(const struct pim_neural_layer *layers, size_t count);

/* Uniform weights within +- sqrt(6 / (inputs + outputs)) (Glorot and Bengio, 2010), biases 0. */
void pim_layers_initialize(const struct pim_neural_layer *layers, size_t count, struct pim_random *random,
                           double *parameters);

/* Space for one forward and backward pass over up to `rows` rows. */
struct pim_pass;

/* `layers` is borrowed. Each layer must take what the one before gives; NULL only when memory is out. */
struct pim_pass *pim_pass_create(const struct pim_neural_layer *layers, size_t count, size_t rows);
void pim_pass_destroy(struct pim_pass *pass);

/*
 * The output (rows x outputs of the last layer, owned by the pass, valid until the next forward) for `inputs`
 * (rows x inputs of the first layer, borrowed until the backward pass). `graph` has a row a row of the
 * inputs, and may be NULL without graph convolutions. `masks[l]`, where `masks` and it are not NULL, has an
 * entry for each output of layer l, 1 for keep: kept outputs are divided by 1 - dropout.
 */
const double *pim_forward(struct pim_pass *pass, const double *parameters, size_t rows, const double *inputs,
                          const struct pim_sparse *graph, const unsigned char *const *masks);

/*
 * Adds the gradient of a loss to `gradient` (parameters), from its gradient with respect to the output of the
 * last forward. `input_gradient`, where not NULL, receives the one with respect to the inputs.
 */
void pim_backward(struct pim_pass *pass, const double *parameters, const double *output_gradient,
                  double *gradient, double *input_gradient);

/*
 * Losses of `count` outputs against targets; `gradient`, where not NULL, receives d loss / d output.
 * Squared: mean of (output - target)^2. Logistic: mean of max(z, 0) - z y + ln(1 + e^-|z|), z the output.
 */
double pim_loss_squared(size_t count, const double *output, const double *target, double *gradient);
double pim_loss_logistic(size_t count, const double *output, const double *target, double *gradient);

/*
 * One number of a graph: the score of a vertex is weights . output, its value the largest score or the mean
 * of all. `gradient`, where not NULL, receives d value / d output times `scale`; with the largest score it
 * goes to the first vertex that has it.
 */
enum pim_readout { PIM_READOUT_MAXIMUM, PIM_READOUT_MEAN };
double pim_read_out(enum pim_readout readout, size_t vertices, size_t outputs, const double *weights,
                    const double *output);
void pim_read_out_gradient(enum pim_readout readout, size_t vertices, size_t outputs, const double *weights,
                           const double *output, double scale, double *gradient);

#endif
