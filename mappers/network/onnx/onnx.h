/*
 * Networks from ONNX files: topology in, the network graph that all mappers share out. Weights are never
 * needed: an initialiser may be absent from the file's data, stored beside it, or be made by a
 * ConstantOfShape node; only its shape counts, and the contents of those few that carry shapes and indices.
 *
 * What happens to a file, in this order:
 *  1. decoded (onnx.proto); functions of the model become the nodes of their bodies;
 *  2. nodes that no output needs are dropped, the others brought into topological order; a cycle is refused;
 *  3. node by node: what depends on constants alone is folded (the arithmetic of shapes, weights), everything
 * else becomes layers of the graph with shapes inferred by mappers/network/shape_*.c;
 *  4. fused on the way: batch normalisation and scale-and-shift behind a convolution or matrix product, zero
 * padding before a convolution, bias additions, and the expanded forms of GELU, SiLU and layer normalisation;
 *  5. layers that no output needs are dropped.
 *
 * docs/networks.md has the table of operators and what each becomes.
 */
#ifndef PIMSIM_MAPPERS_NETWORK_ONNX_ONNX_H
#define PIMSIM_MAPPERS_NETWORK_ONNX_ONNX_H

#include "mappers/network/descriptor/descriptor.h"
#include "sim/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct pim_onnx_options {
    const char *const *dimensions; /* "name=value": sizes of symbolic dimensions and of outputs that the data
                                      decides, contents of inputs ("name=2,3"); `count` of them */
    size_t count;
    bool allow_unknown; /* an unknown operator becomes elementwise work on its first input, of the same shape
                         */
};

/*
 * Reads the file of `path`. The name of the network is that of its graph. A symbolic first dimension of an
 * input (the batch) that no option sets is 1; any other must be set. On success *network belongs to the
 * caller (pim_network_destroy), its `transformer` is NULL. PIM_BAD_INPUT names the node and its operator, the
 * tensor, what was found and what would be right; PIM_IO; PIM_NO_MEMORY. On failure *network is NULL.
 */
enum pim_status pim_onnx_read(const char *path, const struct pim_onnx_options *options,
                              struct pim_network **network, struct pim_error *error);

/* The same from memory; `path` is for messages. */
enum pim_status pim_onnx_parse(const char *path, const uint8_t *bytes, size_t size,
                               const struct pim_onnx_options *options, struct pim_network **network,
                               struct pim_error *error);

/*
 * Writes a network as ONNX (operator set 17): any that pim_network_read() or pim_onnx_read() made. Weights
 * are written as their shapes alone (ConstantOfShape). Read again, it has the same MACs and parameters.
 * PIM_BAD_INPUT names a layer that ONNX has no operator for; PIM_IO, PIM_NO_MEMORY.
 */
enum pim_status pim_onnx_write(const struct pim_network *network, FILE *file, struct pim_error *error);

#endif
