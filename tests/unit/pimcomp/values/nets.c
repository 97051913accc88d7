/* See nets.h. */
#include "tests/unit/pimcomp/values/nets.h"

#include <check.h>
#include <stdio.h>

void net_initialize(struct net *net)
{
    pim_arena_initialize(&net->arena, 0);
    pim_graph_initialize(&net->graph, &net->arena);
}

void net_terminate(struct net *net)
{
    pim_arena_terminate(&net->arena);
}

uint32_t net_add(struct net *net, enum pim_operator operation, const uint32_t *input, uint32_t inputs,
                 const union pim_attributes *attributes)
{
    char name[32];
    struct pim_error error;
    uint32_t index = 0;
    (void)snprintf(name, sizeof name, "%s%u", pim_operator_name(operation), (unsigned)net->graph.count);
    struct pim_layer_description description = {.name = name,
                                                .operation = operation,
                                                .role = PIM_ROLE_OTHER,
                                                .stage = PIM_NONE,
                                                .block = PIM_NONE,
                                                .inputs = inputs,
                                                .input = input,
                                                .attributes = *attributes};
    ck_assert_msg(pim_graph_add(&net->graph, &description, &index, &error) == PIM_OK, "%s", error.text);
    return index;
}

uint32_t net_input(struct net *net, uint32_t channels, uint32_t height, uint32_t width)
{
    union pim_attributes attributes = {.shape = {.rank = 4, .dimension = {1, channels, height, width}}};
    return net_add(net, PIM_OPERATOR_INPUT, NULL, 0, &attributes);
}

uint32_t net_sliding_convolution(struct net *net, uint32_t from, uint32_t outputs,
                                 const struct pim_sliding *sliding, uint32_t groups, bool bias)
{
    union pim_attributes attributes = {
        .convolution = {.sliding = *sliding, .outputs = outputs, .groups = groups, .bias = bias}};
    return net_add(net, PIM_OPERATOR_CONVOLUTION, &from, 1, &attributes);
}

static struct pim_sliding square(uint32_t kernel, uint32_t stride, uint32_t pad)
{
    return (struct pim_sliding){.kernel = {kernel, kernel},
                                .stride = {stride, stride},
                                .dilation = {1, 1},
                                .pad_before = {pad, pad},
                                .pad_after = {pad, pad}};
}

uint32_t net_convolution(struct net *net, uint32_t from, uint32_t outputs, uint32_t kernel, uint32_t stride,
                         uint32_t pad, uint32_t groups, bool bias)
{
    struct pim_sliding sliding = square(kernel, stride, pad);
    return net_sliding_convolution(net, from, outputs, &sliding, groups, bias);
}

uint32_t net_pooling(struct net *net, uint32_t from, enum pim_pooling kind, uint32_t kernel, uint32_t stride,
                     uint32_t pad, bool ceil_mode)
{
    union pim_attributes attributes = {.pooling = {.sliding = square(kernel, stride, pad), .kind = kind}};
    attributes.pooling.sliding.ceil_mode = ceil_mode;
    return net_add(net, PIM_OPERATOR_POOLING, &from, 1, &attributes);
}

uint32_t net_global_average(struct net *net, uint32_t from)
{
    union pim_attributes attributes = {.pooling = {.kind = PIM_POOLING_AVERAGE, .global = true}};
    return net_add(net, PIM_OPERATOR_POOLING, &from, 1, &attributes);
}

uint32_t net_activation(struct net *net, uint32_t from, enum pim_activation kind)
{
    union pim_attributes attributes = {.activation = kind};
    return net_add(net, PIM_OPERATOR_ACTIVATION, &from, 1, &attributes);
}

uint32_t net_elementwise(struct net *net, uint32_t a, uint32_t b, enum pim_elementwise kind)
{
    union pim_attributes attributes = {.elementwise = kind};
    const uint32_t inputs[] = {a, b};
    return net_add(net, PIM_OPERATOR_ELEMENTWISE, inputs, 2, &attributes);
}

uint32_t net_concat(struct net *net, const uint32_t *from, uint32_t count)
{
    union pim_attributes attributes = {.concat = {.axis = 1}};
    return net_add(net, PIM_OPERATOR_CONCAT, from, count, &attributes);
}

uint32_t net_slice(struct net *net, uint32_t from, uint32_t begin, uint32_t count)
{
    union pim_attributes attributes = {.slice = {.axis = 1, .begin = begin, .count = count}};
    return net_add(net, PIM_OPERATOR_SLICE, &from, 1, &attributes);
}

uint32_t net_flatten(struct net *net, uint32_t from)
{
    const uint32_t *d = net->graph.layers[from].output.dimension;
    union pim_attributes attributes = {.shape = {.rank = 2, .dimension = {1, d[1] * d[2] * d[3]}}};
    return net_add(net, PIM_OPERATOR_RESHAPE, &from, 1, &attributes);
}

uint32_t net_linear(struct net *net, uint32_t from, uint32_t outputs, bool bias)
{
    union pim_attributes attributes = {.linear = {.outputs = outputs, .bias = bias}};
    return net_add(net, PIM_OPERATOR_LINEAR, &from, 1, &attributes);
}

struct pim_core_architecture net_architecture(uint32_t cores, uint32_t arrays, uint32_t rows,
                                              uint32_t columns, uint64_t local_bytes)
{
    return (struct pim_core_architecture){.width = cores,
                                          .height = 1,
                                          .cores = cores,
                                          .chip_width = cores,
                                          .chip_height = 1,
                                          .connection = PIM_CORE_MESH,
                                          .element_bytes = 2,
                                          .arrays = arrays,
                                          .array_rows = rows,
                                          .array_columns = columns,
                                          .arrays_per_group_step = 1,
                                          .mvm_cycles = 100,
                                          .local_memory_bytes = local_bytes,
                                          .local_bytes_per_cycle = 32,
                                          .local_read_cycles = 1,
                                          .local_write_cycles = 1,
                                          .vector_lanes = 8,
                                          .vector_cycles = 2,
                                          .global_memory_bytes = 1 << 24,
                                          .global_bytes_per_cycle = 32,
                                          .global_read_cycles = 10,
                                          .global_write_cycles = 10,
                                          .flit_bits = 256,
                                          .buffer_flits = 8,
                                          .packet_bytes = 4096,
                                          .hop_cycles = 2,
                                          .network = {.per_router = 2},
                                          .chip_link_bytes_per_cycle = 8,
                                          .chip_link_cycles = 10};
}
