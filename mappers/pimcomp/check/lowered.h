/*
 * The lowered layers of a network beside the layers of its graph: where the numbers of the direct evaluation
 * (mappers/verify/evaluate.h) lie in them.
 */
#ifndef PIMSIM_MAPPERS_PIMCOMP_CHECK_LOWERED_H
#define PIMSIM_MAPPERS_PIMCOMP_CHECK_LOWERED_H

#include "mappers/pimcomp/representation/pimcomp.h"

/* Sets folded[i] for each layer i of the graph that went into weights and biases of a matrix. */
void pim_core_find_folded(const struct pim_core_network *network, bool *folded);

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
