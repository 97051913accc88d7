/*
 * The direct evaluation of a network graph in 16-bit integers: what the programs of mappers must compute.
 *
 * Written from the definitions of the operators on the tensors of the graph (mappers/network/graph.h), and
 * from nothing of the lowering, the unfolding or the schedules: those are what it is held against. Weights
 * are those of pim_verify_weight and pim_verify_bias; sums, products and results are modulo 2^16 (value.h),
 * so the order of summation does not matter. An average is the sum, cut to 16 bits, divided by the number of
 * positions inside the map, rounded towards 0. A maximum takes positions inside the map alone. Padding is 0.
 * What real hardware computes in tables (sigmoid, softmax, ...) is a stand-in (value.h), and so is an
 * operation with a learned or constant operand.
 *
 * Weights of a linear layer: the row is the position in the last dimension of its input, so behind the
 * flatten of a map [channels, height, width] rows go channel by channel.
 */
#ifndef PIMSIM_MAPPERS_VERIFY_EVALUATE_H
#define PIMSIM_MAPPERS_VERIFY_EVALUATE_H

#include "mappers/network/graph.h"

#include <stdbool.h>
#include <stdint.h>

/* Element `element` (row-major) of input layer `layer` of the graph in `sample`, in [-7, 7]. */
int16_t pim_verify_input(uint32_t layer, uint32_t sample, uint64_t element);

/*
 * Evaluates all layers of `graph` for one sample. (*values)[i] are the elements of the output of layer i, row
 * by row; NULL for parameters, and for what is made of parameters alone. All of it lies in `arena`.
 * Layers of which `folded` (NULL: none) tells that they went into the weights and biases of a matrix scale
 * and shift, by pim_verify_scale and pim_verify_bias. PIM_BAD_INPUT names an operator that is not evaluated.
 */
enum pim_status pim_verify_evaluate(const struct pim_graph *graph, const bool *folded, uint32_t sample,
                                    struct pim_arena *arena, const int16_t *const **values,
                                    struct pim_error *error);

/*
 * One layer for one sample, into `output` (zeros). value[i] are the elements of the output of layer i, as
 * above; of the inputs of `layer` alone.
 */
enum pim_status pim_verify_evaluate_layer(const struct pim_graph *graph, uint32_t layer, uint32_t sample,
                                          const int16_t **value, int16_t *output, struct pim_error *error);
/* What an activation or a batch normalisation that is no part of a matrix makes of any element. */
int16_t pim_verify_point_value(const struct pim_graph *graph, uint32_t layer, int16_t value);

/* What a layer that went into a matrix makes of `value`, element `element` of its input. */
int16_t pim_verify_affine_value(const struct pim_graph *graph, uint32_t layer, uint64_t element,
                                int16_t value);

/* value * scale + shift of a layer that went into a matrix, as far as the layer has them; `shifts`: whether
 * the shift is added. */
int32_t pim_verify_affine(const struct pim_graph *graph, uint32_t layer, uint64_t element, int32_t value,
                          bool shifts);

/* The layer whose weights a layer multiplies with. */
uint32_t pim_verify_weights_owner(const struct pim_graph *graph, uint32_t layer);

/* Entry (row, column) of the matrix that a layer multiplies with, which may be that of another one,
 * transposed. */
int32_t pim_verify_weight_of(const struct pim_graph *graph, uint32_t layer, uint32_t row, uint32_t column);

#endif
