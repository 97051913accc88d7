/* See nets.h. */
#include "tests/unit/pimcomp/values/nets.h"

#include "tests/unit/pimcomp/values/forms.h"

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

/* --- networks drawn at random --- */

static uint32_t draw(struct pim_random *random, uint32_t first, uint32_t last)
{
    return (uint32_t)pim_random_between(random, first, last);
}

/* A convolution that keeps the map, with an activation behind it, or none. */
static uint32_t random_convolution(struct net *net, struct pim_random *random, uint32_t from,
                                   uint32_t outputs)
{
    uint32_t kernel = draw(random, 0, 1) ? 3 : 1;
    uint32_t channels = net->graph.layers[from].output.dimension[1];
    uint32_t groups = channels % 2 == 0 && outputs % 2 == 0 && draw(random, 0, 4) == 0 ? 2 : 1;
    uint32_t layer =
        net_convolution(net, from, outputs, kernel, 1, kernel / 2, groups, draw(random, 0, 1) == 0);
    switch (draw(random, 0, 5)) {
    case 0:
        return layer;
    case 1:
        return net_activation(net, layer, PIM_ACTIVATION_CLIP);
    case 2:
        return net_activation(net, layer, PIM_ACTIVATION_TANH);
    default:
        return net_activation(net, layer, PIM_ACTIVATION_RELU);
    }
}

/* A map of half the height and width. */
static uint32_t random_smaller(struct net *net, struct pim_random *random, uint32_t from)
{
    if (draw(random, 0, 1)) {
        uint32_t padding = draw(random, 0, 1);
        return net_convolution(net, from, draw(random, 1, 9), 3, 2, padding, 1, true);
    }
    bool last = draw(random, 0, 1) == 0;
    uint32_t padding = draw(random, 0, 1);
    uint32_t size = draw(random, 2, 3);
    return net_pooling(net, from, draw(random, 0, 1) ? PIM_POOLING_AVERAGE : PIM_POOLING_MAXIMUM, size, 2,
                       padding, last);
}

static uint32_t random_block(struct net *net, struct pim_random *random, uint32_t from)
{
    uint32_t channels = net->graph.layers[from].output.dimension[1];
    const uint32_t *extent = net->graph.layers[from].output.dimension + 2;
    uint32_t size = extent[0] < extent[1] ? extent[0] : extent[1];
    uint32_t branch[3];
    if (draw(random, 0, 2) == 0)
        return form_random(net, random, from);
    switch (draw(random, 0, 4)) {
    case 0: /* residual */
        branch[0] = random_convolution(net, random, from, draw(random, 1, 9));
        branch[1] = random_convolution(net, random, branch[0], channels);
        branch[2] = net_elementwise(net, from, branch[1], PIM_ELEMENTWISE_ADD);
        return draw(random, 0, 1) ? net_activation(net, branch[2], PIM_ACTIVATION_RELU) : branch[2];
    case 1: /* branches */
        for (uint32_t i = 0; i < 3; i++)
            branch[i] = random_convolution(net, random, from, draw(random, 1, 7));
        if (size > 1 && draw(random, 0, 1))
            branch[2] = net_pooling(net, from, PIM_POOLING_MAXIMUM, 3, 1, 1, false);
        return net_concat(net, branch, 3);
    case 2: /* a smaller map */
        if (size < 4)
            return random_convolution(net, random, from, draw(random, 1, 9));
        return random_smaller(net, random, from);
    case 3: /* halves of the channels */
        if (channels < 2)
            return random_convolution(net, random, from, draw(random, 2, 9));
        branch[0] = net_slice(net, from, 0, channels / 2);
        branch[1] = net_slice(net, from, channels / 2, channels - channels / 2);
        branch[0] = random_convolution(net, random, branch[0], draw(random, 1, 6));
        return net_concat(net, branch, 2);
    default:
        return random_convolution(net, random, from, draw(random, 1, 20));
    }
}

/* Arguments of a call may be evaluated in any order, so every draw is a statement of its own here. */
void net_random(struct net *net, struct pim_random *random)
{
    uint32_t columns = draw(random, 5, 9);
    uint32_t rows = draw(random, 5, 9);
    uint32_t layer = net_input(net, draw(random, 1, 5), rows, columns);
    layer = random_convolution(net, random, layer, draw(random, 1, 9));
    uint32_t blocks = draw(random, 1, 4);
    for (uint32_t i = 0; i < blocks; i++)
        layer = random_block(net, random, layer);
    if (draw(random, 0, 3) == 0)
        return;
    if (draw(random, 0, 1))
        layer = net_global_average(net, layer);
    layer = net_linear(net, net_flatten(net, layer), draw(random, 1, 12), true);
    if (draw(random, 0, 1))
        (void)net_linear(net, net_activation(net, layer, PIM_ACTIVATION_RELU), draw(random, 1, 9), false);
}
