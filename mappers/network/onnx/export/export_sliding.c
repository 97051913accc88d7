/* Convolutions, poolings and recurrent layers as ONNX nodes. */
#include "mappers/network/onnx/export/exporter.h"

static const struct pim_layer *input_of(const struct pim_onnx_exporter *e)
{
    return &e->graph->layers[e->layer->input[0]];
}

/* Dimensions to slide over, and the entry of pim_sliding for each. */
static uint32_t dimensions_of(const struct pim_onnx_exporter *e)
{
    return input_of(e)->output.rank == 5 ? 3 : 2;
}

static unsigned axis_of(uint32_t dimensions, uint32_t d)
{
    return dimensions == 2 ? d : d == 0 ? 2 : d - 1;
}

static void put_entries(struct pim_onnx_exporter *e, const char *name, const uint32_t *first,
                        const uint32_t *second)
{
    int64_t list[6];
    uint32_t dimensions = dimensions_of(e);
    for (uint32_t d = 0; d < dimensions; d++) {
        list[d] = first[axis_of(dimensions, d)];
        if (second)
            list[dimensions + d] = second[axis_of(dimensions, d)];
    }
    pim_onnx_put_integers(e, name, list, second ? 2 * (size_t)dimensions : dimensions);
}

static void put_sliding(struct pim_onnx_exporter *e, const struct pim_sliding *s, bool dilation)
{
    bool dilated = false;
    for (uint32_t d = 0; d < dimensions_of(e); d++)
        dilated |= s->dilation[axis_of(dimensions_of(e), d)] != 1;
    put_entries(e, "kernel_shape", s->kernel, NULL);
    put_entries(e, "strides", s->stride, NULL);
    put_entries(e, "pads", s->pad_before, s->pad_after);
    if (dilation && dilated)
        put_entries(e, "dilations", s->dilation, NULL);
}

/* Weights [rows, columns, kernel]. */
static void put_convolution_node(struct pim_onnx_exporter *e, const char *operation, uint32_t rows,
                                 uint32_t columns)
{
    const union pim_attributes *a = &e->layer->attributes;
    uint32_t dimensions = dimensions_of(e);
    struct pim_shape weights = {.rank = 2 + dimensions, .dimension = {rows, columns}};
    const struct pim_shape bias = {.rank = 1, .dimension = {a->convolution.outputs}};
    for (uint32_t d = 0; d < dimensions; d++)
        weights.dimension[2 + d] = a->convolution.sliding.kernel[axis_of(dimensions, d)];
    const char *inputs[3] = {input_of(e)->name,
                             pim_onnx_put_weights(e, pim_onnx_inner_name(e, e->layer, "weight"), &weights),
                             NULL};
    if (a->convolution.bias)
        inputs[2] = pim_onnx_put_weights(e, pim_onnx_inner_name(e, e->layer, "bias"), &bias);
    (void)pim_onnx_put(e, operation, true, a->convolution.bias ? 3 : 2, inputs);
    put_sliding(e, &a->convolution.sliding, true);
    pim_onnx_put_integer(e, "group", a->convolution.groups);
}

void pim_onnx_put_convolution(struct pim_onnx_exporter *e)
{
    const union pim_attributes *a = &e->layer->attributes;
    put_convolution_node(e, "Conv", a->convolution.outputs,
                         input_of(e)->output.dimension[1] / a->convolution.groups);
}

void pim_onnx_put_transposed_convolution(struct pim_onnx_exporter *e)
{
    const union pim_attributes *a = &e->layer->attributes;
    bool more = false;
    put_convolution_node(e, "ConvTranspose", input_of(e)->output.dimension[1],
                         a->convolution.outputs / a->convolution.groups);
    for (unsigned axis = 0; axis < 3; axis++)
        more |= a->convolution.output_padding[axis] != 0;
    if (more)
        put_entries(e, "output_padding", a->convolution.output_padding, NULL);
}

void pim_onnx_put_pooling(struct pim_onnx_exporter *e)
{
    static const char *const names[PIM_POOLINGS][2] = {
        [PIM_POOLING_MAXIMUM] = {"MaxPool", "GlobalMaxPool"},
        [PIM_POOLING_AVERAGE] = {"AveragePool", "GlobalAveragePool"},
        [PIM_POOLING_NORM] = {"LpPool", "GlobalLpPool"}};
    const union pim_attributes *a = &e->layer->attributes;
    const struct pim_sliding *s = &a->pooling.sliding;
    const char *input = input_of(e)->name;
    bool maximum = a->pooling.kind == PIM_POOLING_MAXIMUM, dilated = false;
    for (uint32_t d = 0; d < dimensions_of(e) && !a->pooling.global; d++)
        dilated |= s->dilation[axis_of(dimensions_of(e), d)] != 1;
    if (dilated && !maximum) {
        pim_onnx_refuse_layer(e, a->pooling.kind == PIM_POOLING_NORM
                                     ? "a norm over a dilated window in version 17"
                                     : "an average over a dilated window in version 17");
        return;
    }
    (void)pim_onnx_put(e, names[a->pooling.kind][a->pooling.global ? 1 : 0], true, 1, &input);
    if (a->pooling.global)
        return;
    put_sliding(e, s, maximum);
    if (a->pooling.kind != PIM_POOLING_NORM)
        pim_onnx_put_integer(e, "ceil_mode", s->ceil_mode);
    else if (s->ceil_mode)
        pim_onnx_refuse_layer(e, "a norm over partial windows in version 17");
}

void pim_onnx_put_recurrent(struct pim_onnx_exporter *e)
{
    static const char *const names[PIM_RECURRENTS] = {
        [PIM_RECURRENT_PLAIN] = "RNN", [PIM_RECURRENT_GRU] = "GRU", [PIM_RECURRENT_LSTM] = "LSTM"};
    static const uint32_t gates[PIM_RECURRENTS] = {
        [PIM_RECURRENT_PLAIN] = 1, [PIM_RECURRENT_GRU] = 3, [PIM_RECURRENT_LSTM] = 4};
    const union pim_attributes *a = &e->layer->attributes;
    uint32_t directions = a->recurrent.directions, hidden = a->recurrent.hidden,
             rows = gates[a->recurrent.kind] * hidden;
    const struct pim_shape w = {.rank = 3, .dimension = {directions, rows, input_of(e)->output.dimension[2]}},
                           r = {.rank = 3, .dimension = {directions, rows, hidden}},
                           b = {.rank = 2, .dimension = {directions, 2 * rows}},
                           p = {.rank = 2, .dimension = {directions, 3 * hidden}};
    const char *inputs[8] = {input_of(e)->name, NULL, NULL, "", "", "", "", ""};
    inputs[1] = pim_onnx_put_weights(e, pim_onnx_inner_name(e, e->layer, "weight"), &w);
    inputs[2] = pim_onnx_put_weights(e, pim_onnx_inner_name(e, e->layer, "recurrence"), &r);
    if (a->recurrent.bias)
        inputs[3] = pim_onnx_put_weights(e, pim_onnx_inner_name(e, e->layer, "bias"), &b);
    for (uint32_t n = 1; n < e->layer->inputs && n < 3; n++)
        inputs[4 + n] = e->graph->layers[e->layer->input[n]].name;
    if (a->recurrent.peepholes)
        inputs[7] = pim_onnx_put_weights(e, pim_onnx_inner_name(e, e->layer, "peepholes"), &p);
    uint32_t count = 8;
    while (inputs[count - 1][0] == '\0')
        count--;
    (void)pim_onnx_put(e, names[a->recurrent.kind], true, count, inputs);
    pim_onnx_put_integer(e, "hidden_size", hidden);
    if (directions == 2)
        pim_onnx_put_text(e, "direction", "bidirectional");
}
