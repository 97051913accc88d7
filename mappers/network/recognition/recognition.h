/*
 * Vision transformers in network graphs that came from elsewhere: which family of descriptors a graph is,
 * and with which sizes.
 *
 * A mapper of transformers needs more than layers: branches, heads, stages (mappers/network/transformer.h).
 * A descriptor says them, a graph does not. So the sizes are read off the graph for each family, the network
 * of that descriptor is built, and both graphs are held against each other: every product, convolution,
 * normalisation, softmax, activation, pooling and residual addition with its sizes and its depth, and for
 * every attention which tokens meet which (signature.h). Only a graph that has no difference is taken.
 */
#ifndef PIMSIM_MAPPERS_NETWORK_RECOGNITION_RECOGNITION_H
#define PIMSIM_MAPPERS_NETWORK_RECOGNITION_RECOGNITION_H

#include "mappers/network/descriptor/descriptor.h"
#include "sim/status.h"

/*
 * Makes the network of the descriptor that `network`, which pim_onnx_read() made, is the graph of. It has the
 * same name, and layers of the descriptor's; it belongs to the caller. PIM_BAD_INPUT says where the graph
 * differs from the nearest family; PIM_NO_MEMORY. On failure *recognised is NULL.
 */
enum pim_status pim_transformer_recognise(const struct pim_network *network, struct pim_network **recognised,
                                          struct pim_error *error);

#endif
