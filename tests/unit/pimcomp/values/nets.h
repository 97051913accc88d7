/* Small networks for the tests of the functional check: a builder. */
#ifndef PIMSIM_TESTS_UNIT_PIMCOMP_VALUES_NETS_H
#define PIMSIM_TESTS_UNIT_PIMCOMP_VALUES_NETS_H

#include "mappers/machine/cores.h"
#include "mappers/network/graph.h"

/* A network that is being built; a layer is named by its index in the graph. */
struct net {
    struct pim_arena arena;
    struct pim_graph graph;
};

void net_initialize(struct net *net);
void net_terminate(struct net *net);

uint32_t net_add(struct net *net, enum pim_operator operation, const uint32_t *input, uint32_t inputs,
                 const union pim_attributes *attributes);
uint32_t net_input(struct net *net, uint32_t channels, uint32_t height, uint32_t width);
uint32_t net_convolution(struct net *net, uint32_t from, uint32_t outputs, uint32_t kernel, uint32_t stride,
                         uint32_t pad, uint32_t groups, bool bias);
uint32_t net_sliding_convolution(struct net *net, uint32_t from, uint32_t outputs,
                                 const struct pim_sliding *sliding, uint32_t groups, bool bias);
uint32_t net_pooling(struct net *net, uint32_t from, enum pim_pooling kind, uint32_t kernel, uint32_t stride,
                     uint32_t pad, bool ceil_mode);
uint32_t net_global_average(struct net *net, uint32_t from);
uint32_t net_activation(struct net *net, uint32_t from, enum pim_activation kind);
uint32_t net_elementwise(struct net *net, uint32_t a, uint32_t b, enum pim_elementwise kind);
uint32_t net_concat(struct net *net, const uint32_t *from, uint32_t count);
uint32_t net_slice(struct net *net, uint32_t from, uint32_t begin, uint32_t count);
uint32_t net_flatten(struct net *net, uint32_t from);
uint32_t net_linear(struct net *net, uint32_t from, uint32_t outputs, bool bias);

/* Cores in a row, of arrays of `rows` x `columns`. */
struct pim_core_architecture net_architecture(uint32_t cores, uint32_t arrays, uint32_t rows,
                                              uint32_t columns, uint64_t local_bytes);

#endif
