/*
 * The direct evaluation of a network graph in 16-bit integers: what a program for cores must compute.
 *
 * Written from the definitions of the operators on the tensors of the graph (mappers/network/graph.h), and
 * from nothing of the lowering, the unfolding or the schedules: those are what it is held against. Weights
 * are those of pim_core_weight and pim_core_bias; sums, products and results are modulo 2^16 (value.h), so
 * the order of summation does not matter. An average is the sum, cut to 16 bits, divided by the number of
 * positions inside the map, rounded towards 0. A maximum takes positions inside the map alone. Padding is 0.
 * What real hardware computes in tables (sigmoid, softmax, ...) is a stand-in (value.h), and so is an
 * operation with a learned or constant operand.
 *
 * Weights of a linear layer: the row is the position in the last dimension of its input, so behind the
 * flatten of a map [channels, height, width] rows go channel by channel; pim_core_weight_of() translates.
 */
#ifndef PIMSIM_MAPPERS_PIMCOMP_CHECK_EVALUATE_H
#define PIMSIM_MAPPERS_PIMCOMP_CHECK_EVALUATE_H

#include "mappers/pimcomp/representation/pimcomp.h"

/* Element `element` (row-major) of input layer `layer` of the graph in `sample`, in [-7, 7]. */
int16_t pim_core_input_value(uint32_t layer, uint32_t sample, uint64_t element);

/*
 * Evaluates all layers of `graph` for one sample. (*values)[i] are the elements of the output of layer i, row
 * by row; NULL for parameters, and for what is made of parameters alone. All of it lies in `arena`.
 * Layers that `network` (NULL: none) has in the weights and biases of a matrix scale and shift; numbers of
 * pim_core_scale and pim_core_bias. PIM_BAD_INPUT names an operator that cores do not have.
 */
enum pim_status pim_core_evaluate(const struct pim_graph *graph, const struct pim_core_network *network,
                                  uint32_t sample, struct pim_arena *arena, const int16_t *const **values,
                                  struct pim_error *error);

/*
 * One layer for one sample, into `output` (zeros). value[i] are the elements of the output of layer i, as
 * above; of the inputs of `layer` alone.
 */
enum pim_status pim_core_evaluate_layer(const struct pim_graph *graph, uint32_t layer, uint32_t sample,
                                        const int16_t **value, int16_t *output, struct pim_error *error);
/* What an activation or a batch normalisation that is no part of a matrix makes of any element. */
int16_t pim_core_point_value(const struct pim_graph *graph, uint32_t layer, int16_t value);

/* What a layer that went into a matrix makes of `value`, element `element` of its input. */
int16_t pim_core_affine_value(const struct pim_graph *graph, uint32_t layer, uint64_t element, int16_t value);

/* The number in (canonical row, column) of the weight matrix of a lowered layer: of the right element of a
 * linear layer behind a flatten, of the layer whose weights are shared, and 0 where a grouped convolution has
 * none. */
int32_t pim_core_weight_of(const struct pim_graph *graph, const struct pim_core_layer *layer, uint32_t row,
                           uint32_t column);

/* Bias of a lowered layer with a matrix. */
int32_t pim_core_bias_of(const struct pim_graph *graph, const struct pim_core_layer *layer, uint32_t column);

/* The place, in the tensor that makes the output of `layer`, of a channel of a pixel (y * width + x). */
uint64_t pim_core_element_of(const struct pim_core_layer *layer, uint32_t channel, uint32_t pixel);

#endif
