/* lowered.h */
#include "mappers/pimcomp/check/lowered.h"
#include "mappers/verify/evaluate.h"
#include "mappers/verify/numbers.h"

void pim_core_find_folded(const struct pim_core_network *network, bool *folded)
{
    for (uint32_t i = 0; i < network->count; i++)
        for (uint32_t a = 0; a < network->layer[i].affines; a++)
            folded[network->layer[i].affine[a].graph_layer] = true;
}

/* The number in the weight matrix before scales are multiplied in. */
static int32_t plain_weight(const struct pim_graph *graph, const struct pim_core_layer *layer, uint32_t row,
                            uint32_t column)
{
    const struct pim_layer *matrix = &graph->layers[layer->matrix_layer];
    uint32_t channels = layer->source[0].channels, pixel = row / channels;
    if (layer->flat) {
        uint32_t width = layer->sliding.kernel[1];
        uint64_t element = row % channels * layer->flat_stride[0] + pixel / width * layer->flat_stride[1] +
                           pixel % width * layer->flat_stride[2];
        return pim_verify_weight(pim_verify_weights_owner(graph, layer->matrix_layer), (uint32_t)element,
                                 column);
    }
    uint32_t groups = matrix->attributes.convolution.groups;
    if (groups == 1)
        return pim_verify_weight(layer->matrix_layer, row, column);
    /* the layer may have some of the groups alone; `column` is of all of them */
    uint32_t inputs = channels / layer->blocks, outputs = layer->channels / layer->blocks;
    uint32_t channel = layer->first_channel / outputs * inputs + row % channels;
    if (channel / inputs != column / outputs)
        return 0;
    return pim_verify_weight(layer->matrix_layer, pixel * (groups * inputs) + channel, column);
}

int32_t pim_core_weight_of(const struct pim_graph *graph, const struct pim_core_layer *layer, uint32_t row,
                           uint32_t column)
{
    column += layer->first_channel;
    int32_t weight = plain_weight(graph, layer, row, column);
    for (uint32_t i = 0; i < layer->affines; i++)
        weight = pim_verify_affine(graph, layer->affine[i].graph_layer, column * layer->affine[i].stride,
                                   weight, false);
    return weight;
}

int32_t pim_core_bias_of(const struct pim_graph *graph, const struct pim_core_layer *layer, uint32_t column)
{
    column += layer->first_channel;
    const struct pim_layer *matrix = &graph->layers[layer->matrix_layer];
    bool own = matrix->operation == PIM_OPERATOR_LINEAR ? matrix->attributes.linear.bias
                                                        : matrix->attributes.convolution.bias;
    int32_t bias = own ? pim_verify_bias(pim_verify_weights_owner(graph, layer->matrix_layer), column) : 0;
    for (uint32_t i = 0; i < layer->affines; i++)
        bias = pim_verify_affine(graph, layer->affine[i].graph_layer, column * layer->affine[i].stride, bias,
                                 true);
    return bias;
}

uint64_t pim_core_element_of(const struct pim_core_layer *layer, uint32_t channel, uint32_t pixel)
{
    uint64_t first = 0;
    channel += layer->first_channel;
    if (layer->tensor_block) {
        first = channel / layer->tensor_block * layer->tensor_block_stride;
        channel %= layer->tensor_block;
    }
    return first + channel * layer->tensor_stride[0] + pixel / layer->width * layer->tensor_stride[1] +
           pixel % layer->width * layer->tensor_stride[2];
}
