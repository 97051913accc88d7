#include "mappers/nicepim/check/tensors.h"

#include "mappers/verify/evaluate.h"
#include "mappers/verify/numbers.h"
#include "mappers/verify/value.h"

#include <string.h>

enum pim_status tensors_initialize(struct tensors *tensors, const struct flow *flow, uint32_t samples,
                                   struct pim_error *error)
{
    *tensors = (struct tensors){.flow = flow, .samples = samples};
    pim_arena_initialize(&tensors->arena, 0);
    tensors->last = PIM_ARENA_ARRAY(&tensors->arena, uint32_t, flow->count);
    tensors->value = PIM_ARENA_ARRAY(&tensors->arena, const int16_t *const *, samples);
    if (!tensors->last || !tensors->value)
        return pim_fail(error, PIM_NO_MEMORY, "out of memory for the values of the network");
    for (uint32_t i = 0; i < flow->count; i++) {
        uint32_t product = i;
        while (flow->operation[product].kind == FLOW_FUSED)
            product = flow->graph->layers[product].input[0];
        tensors->last[product] = i;
    }
    for (uint32_t s = 0; s < samples; s++) {
        if (pim_verify_evaluate(flow->graph, NULL, s, &tensors->arena, &tensors->value[s], error) != PIM_OK)
            return error->status;
    }
    return PIM_OK;
}

void tensors_terminate(struct tensors *tensors)
{
    pim_arena_terminate(&tensors->arena);
}

/* --- identities --- */

/* The layer that another view is of, and the position in it; false: the layer has elements of its own. */
static bool look_through(const struct flow *flow, uint32_t *layer, uint32_t at[4])
{
    const struct flow_operation *operation = &flow->operation[*layer];
    const struct pim_layer *graph = &flow->graph->layers[*layer];
    if (operation->kind == FLOW_CONCAT) {
        uint32_t input = 0;
        while (at[operation->axis] >= flow->operation[graph->input[input]].dimension[operation->axis])
            at[operation->axis] -= flow->operation[graph->input[input++]].dimension[operation->axis];
        *layer = graph->input[input];
        return true;
    }
    bool plain = operation->kind == FLOW_FLATTEN &&
                 operation->dimension[1] == flow->operation[graph->input[0]].dimension[1];
    if (operation->kind != FLOW_FUSED && operation->kind != FLOW_ALIAS && !plain)
        return false;
    *layer = graph->input[0];
    return true;
}

struct identity tensors_identify(const struct tensors *tensors, uint32_t layer, uint32_t image,
                                 const uint32_t at[4])
{
    const struct flow *flow = tensors->flow;
    uint32_t p[4];
    memcpy(p, at, sizeof p);
    while (look_through(flow, &layer, p)) {
    }
    return (struct identity){.layer = layer,
                             .sample = image + p[0] / flow->graph->layers[layer].output.dimension[0],
                             .element = tensors_element(tensors, layer, p)};
}

uint32_t tensors_element(const struct tensors *tensors, uint32_t layer, const uint32_t p[4])
{
    const struct pim_layer *graph = &tensors->flow->graph->layers[layer];
    const uint32_t *size = graph->output.dimension;
    uint32_t b = p[0] % size[0];
    bool scores = graph->operation == PIM_OPERATOR_ATTENTION_SCORES ||
                  (graph->operation == PIM_OPERATOR_SOFTMAX && graph->output.rank == 4);
    if (graph->output.rank == 2)
        return b * size[1] + p[1];
    if (graph->output.rank == 3)
        return (b * size[1] + p[2]) * size[2] + p[1];
    if (graph->output.rank == 5)
        return ((b * size[1] * size[2] + p[1]) * size[3] + p[2]) * size[4] + p[3];
    if (scores) /* heads, queries, keys */
        return ((b * size[1] + p[1] / size[3]) * size[2] + p[2]) * size[3] + p[1] % size[3];
    if (tensors->flow->operation[layer].channels_last)
        return ((b * size[1] + p[2]) * size[2] + p[3]) * size[3] + p[1];
    return ((b * size[1] + p[1]) * size[2] + p[2]) * size[3] + p[3];
}

uint64_t tensors_size(const struct tensors *tensors, uint32_t layer)
{
    return pim_shape_elements(&tensors->flow->graph->layers[layer].output);
}

bool tensors_is_input(const struct tensors *tensors, uint32_t layer)
{
    return tensors->flow->operation[layer].kind == FLOW_INPUT;
}

int16_t tensors_expected(const struct tensors *tensors, const struct identity *identity)
{
    if (tensors_is_input(tensors, identity->layer))
        return pim_verify_input(identity->layer, identity->sample, identity->element);
    uint32_t layer = tensors->last[identity->layer];
    return tensors->value[identity->sample][layer][identity->element];
}

bool tensors_position(const struct place *place, uint64_t address, uint32_t at[4], bool *high)
{
    uint64_t offset = address - place->address, g = place->layout.group ? place->layout.group : 1, size[4];
    *high = offset % place->width != 0;
    offset /= place->width;
    for (size_t d = 0; d < 4; d++)
        size[d] = place->box[d].to - place->box[d].from;
    uint64_t channels = (size[1] + g - 1) / g * g, channel;
    if (place->layout.order == PIM_LAYOUT_BHWC) {
        channel = offset % channels;
        offset /= channels;
    } else {
        channel = offset % g + offset / (g * size[2] * size[3]) % (channels / g) * g;
        offset =
            offset / g % (size[2] * size[3]) + offset / (channels * size[2] * size[3]) * size[2] * size[3];
    }
    at[3] = place->box[3].from + (uint32_t)(offset % size[3]);
    at[2] = place->box[2].from + (uint32_t)(offset / size[3] % size[2]);
    at[0] = place->box[0].from + (uint32_t)(offset / size[3] / size[2]);
    at[1] = place->box[1].from + (uint32_t)channel;
    return channel < size[1];
}

/* --- products --- */

int16_t tensors_finish(const struct tensors *tensors, uint32_t layer, uint32_t channel, int16_t sum)
{
    const struct pim_layer *graph = &tensors->flow->graph->layers[layer];
    int32_t bias = 0;
    if (graph->operation == PIM_OPERATOR_CONVOLUTION && graph->attributes.convolution.bias)
        bias = pim_verify_bias(layer, channel);
    if (graph->operation == PIM_OPERATOR_LINEAR && graph->attributes.linear.bias)
        bias = pim_verify_bias(pim_verify_weights_owner(tensors->flow->graph, layer), channel);
    int16_t value = pim_value_cut((int64_t)sum + bias);
    if (graph->operation == PIM_OPERATOR_ATTENTION_SCORES && graph->attributes.attention.bias_parameters > 0)
        value = pim_value_function(PIM_VALUE_FUNCTION_ELEMENTWISE + PIM_ELEMENTWISE_ADD, value);
    for (uint32_t i = layer; i < tensors->last[layer]; i++) {
        const struct pim_layer *next = &tensors->flow->graph->layers[i + 1];
        uint32_t from = next->inputs > 0 ? next->input[0] : i + 1;
        while (from > layer && tensors->flow->operation[from].kind == FLOW_FUSED)
            from = tensors->flow->graph->layers[from].input[0];
        if (tensors->flow->operation[i + 1].kind == FLOW_FUSED && from == layer)
            value = pim_verify_point_value(tensors->flow->graph, i + 1, value);
    }
    return value;
}

int16_t tensors_weight(const struct tensors *tensors, uint32_t layer, uint32_t output, uint32_t input,
                       uint32_t position)
{
    const struct flow_operation *operation = &tensors->flow->operation[layer];
    uint32_t each = operation->dimension[1] / operation->groups, one = operation->conv.length[PIM_LOOP_C];
    uint32_t row = position * one * operation->groups + output / each * one + input;
    return (int16_t)pim_verify_weight_of(tensors->flow->graph, layer, row, output);
}
