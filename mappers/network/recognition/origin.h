/*
 * Where an element of a tensor comes from. Internal to this folder.
 */
#ifndef PIMSIM_MAPPERS_NETWORK_RECOGNITION_ORIGIN_H
#define PIMSIM_MAPPERS_NETWORK_RECOGNITION_ORIGIN_H

#include "mappers/network/graph.h"

#include <stdbool.h>
#include <stdint.h>

/*
 * Follows element `element` (of the flat tensor) of `layer` back through movement, and through work that
 * keeps tokens apart: elementwise work with numbers, activations, softmax, normalisations and products along
 * the last dimension (a row of a product is of the row of its first operand). Ends at a residual addition, a
 * convolution, or anything else, and returns the number of the token there, from 1; 0: padding, or a learned
 * tensor. `steps` counts the layers passed.
 */
uint64_t pim_origin(const struct pim_graph *graph, const bool *computed, uint32_t layer, uint64_t element,
                    uint64_t *steps);

#endif
