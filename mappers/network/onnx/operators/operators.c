/* Conversions that are a few lines: activations, elementwise work, reductions. */
#include "mappers/network/onnx/operators/operators.h"
#include "onnx.pb-c.h"

#include <string.h>

/* The activation behind a fused node: com.microsoft writes its name as an attribute. */
uint32_t pim_onnx_fused_activation(struct pim_onnx_importer *i, uint32_t layer)
{
    static const struct {
        const char *name;
        enum pim_activation kind;
    } names[] = {
        {"Relu", PIM_ACTIVATION_RELU},
        {"Clip", PIM_ACTIVATION_CLIP},
        {"Sigmoid", PIM_ACTIVATION_SIGMOID},
        {"Tanh", PIM_ACTIVATION_TANH},
        {"LeakyRelu", PIM_ACTIVATION_LEAKY_RELU},
        {"HardSigmoid", PIM_ACTIVATION_HARD_SIGMOID},
        {"HardSwish", PIM_ACTIVATION_HARD_SWISH},
        {"Gelu", PIM_ACTIVATION_GELU},
    };
    union pim_attributes a = {.activation = PIM_ACTIVATION_OTHER};
    if (!pim_onnx_has(i, "activation") || pim_onnx_text_is(i, "activation", ""))
        return layer;
    for (size_t n = 0; n < sizeof names / sizeof *names; n++)
        if (pim_onnx_text_is(i, "activation", names[n].name))
            a.activation = names[n].kind;
    return pim_onnx_add(i, PIM_OPERATOR_ACTIVATION, "activation", &a, 1, &layer);
}

void pim_onnx_convert_activation(struct pim_onnx_importer *i, unsigned kind)
{
    const union pim_attributes a = {.activation = (enum pim_activation)kind};
    uint32_t layer = pim_onnx_layer_of(i, pim_onnx_input(i, 0));
    pim_onnx_bind_layer(i, 0, pim_onnx_add(i, PIM_OPERATOR_ACTIVATION, "", &a, 1, &layer));
}

/* Before version 7: dimension 0 of the second input is dimension `axis` of the first. */
static void convert_aligned(struct pim_onnx_importer *i, unsigned kind)
{
    struct pim_onnx_value *first = pim_onnx_input(i, 0), *second = pim_onnx_input(i, 1);
    const union pim_attributes a = {.elementwise = (enum pim_elementwise)kind};
    uint32_t axis = pim_onnx_axis(i, pim_onnx_integer(i, "axis", 0), first->shape.rank);
    struct pim_shape aligned = {.rank = first->shape.rank - axis};
    if (i->status == PIM_OK && aligned.rank < second->shape.rank)
        pim_onnx_fail(i, "input 1 has %u dimensions: from axis %u on there are %u", second->shape.rank, axis,
                      aligned.rank);
    if (i->status != PIM_OK)
        return;
    for (uint32_t d = 0; d < aligned.rank; d++)
        aligned.dimension[d] = d < second->shape.rank ? second->shape.dimension[d] : 1;
    const uint32_t layers[2] = {pim_onnx_layer_of(i, first),
                                pim_onnx_reshape(i, "aligned", pim_onnx_layer_of(i, second), &aligned)};
    pim_onnx_bind_layer(i, 0, pim_onnx_add(i, PIM_OPERATOR_ELEMENTWISE, "", &a, 2, layers));
}

/* Numbers are part of the operation; tensors of constants become PARAMETER layers. Three inputs and more are
 * taken two at a time, as hardware does. */
void pim_onnx_convert_elementwise(struct pim_onnx_importer *i, unsigned kind)
{
    if (i->opset < 7 && pim_onnx_integer(i, "broadcast", 0) != 0 && pim_onnx_has(i, "axis")) {
        convert_aligned(i, kind);
        return;
    }
    const union pim_attributes a = {.elementwise = (enum pim_elementwise)kind};
    uint32_t layers[2] = {0, 0}, count = 0;
    struct pim_onnx_value *single = NULL; /* an input that was left out for being a number */
    uint32_t most = 0, all = 0;
    bool made = false;
    for (size_t n = 0; n < i->node->n_input && i->status == PIM_OK; n++) {
        const struct pim_onnx_value *value = pim_onnx_input(i, n);
        most = value->kind == PIM_ONNX_ACTIVATION && value->shape.rank > most ? value->shape.rank : most;
        all = value->shape.rank > all ? value->shape.rank : all;
    }
    most = i->folding ? all : most;
    for (size_t n = 0; n < i->node->n_input && i->status == PIM_OK; n++) {
        struct pim_onnx_value *value = pim_onnx_input(i, n);
        if (value->kind == PIM_ONNX_CONSTANT && pim_onnx_elements(&value->shape) == 1 &&
            value->shape.rank <= most) {
            single = single && single->shape.rank > value->shape.rank ? single : value;
            continue;
        }
        layers[count++] = pim_onnx_layer_of(i, value);
        if (count == 2) {
            layers[0] = pim_onnx_add(i, PIM_OPERATOR_ELEMENTWISE, "", &a, 2, layers);
            count = 1;
            made = true;
        }
    }
    if (count == 0 && single) /* numbers alone, whose contents are not known */
        layers[count++] = pim_onnx_layer_of(i, single);
    if (count == 0)
        pim_onnx_fail(i, "it has no input that is a tensor");
    else if (single && !made)
        layers[0] = pim_onnx_add(i, PIM_OPERATOR_ELEMENTWISE, "", &a, 1, layers);
    if (i->status == PIM_OK)
        pim_onnx_bind_layer(i, 0, layers[0]);
}

/* The same tensor in other numbers, or with some of them dropped; a mask says which. */
void pim_onnx_convert_same(struct pim_onnx_importer *i, unsigned unused)
{
    (void)unused;
    pim_onnx_bind_same(i, 0, pim_onnx_input(i, 0));
    if (pim_onnx_is_read(i, 1))
        pim_onnx_bind_same(i, 1, pim_onnx_input(i, 0));
}

/* Other numbers; a scale that the network computes is read. */
void pim_onnx_convert_quantization(struct pim_onnx_importer *i, unsigned unused)
{
    const union pim_attributes a = {.elementwise = PIM_ELEMENTWISE_MULTIPLY};
    struct pim_onnx_value *input = pim_onnx_input(i, 0), *scale = pim_onnx_optional_input(i, 1);
    if (!scale || scale->kind != PIM_ONNX_ACTIVATION || scale->maker == PIM_NONE ||
        pim_onnx_elements(&scale->shape) != 1) {
        pim_onnx_convert_same(i, unused);
        return;
    }
    uint32_t layers[2] = {pim_onnx_layer_of(i, input), pim_onnx_layer_of(i, scale)};
    layers[0] = pim_onnx_add(i, PIM_OPERATOR_ELEMENTWISE, "", &a, 2, layers);
    struct pim_onnx_value *zero = pim_onnx_optional_input(i, 2);
    if (zero && zero->kind == PIM_ONNX_ACTIVATION) {
        const union pim_attributes add = {.elementwise = PIM_ELEMENTWISE_ADD};
        layers[1] = pim_onnx_layer_of(i, zero);
        layers[0] = pim_onnx_add(i, PIM_OPERATOR_ELEMENTWISE, "zero_point", &add, 2, layers);
    }
    pim_onnx_bind_layer(i, 0, layers[0]);
}

/* Numbers chosen while the network runs: the tensor, then its scale and its zero point. */
void pim_onnx_convert_dynamic_quantization(struct pim_onnx_importer *i, unsigned unused)
{
    (void)unused;
    struct pim_onnx_value *input = pim_onnx_input(i, 0);
    const union pim_attributes a = {
        .reduction = {.axes = (1u << input->shape.rank) - 1, .kind = PIM_REDUCTION_EXTREMUM}};
    uint32_t layer = pim_onnx_layer_of(i, input);
    pim_onnx_bind_same(i, 0, input);
    for (size_t o = 1; o < 3; o++)
        if (pim_onnx_is_read(i, o))
            pim_onnx_bind_layer(
                i, o,
                pim_onnx_add(i, PIM_OPERATOR_REDUCTION, o == 1 ? "scale" : "zero_point", &a, 1, &layer));
}

/* Integer forms of two inputs, each followed by its scale and zero point. */
void pim_onnx_convert_quantized_pair(struct pim_onnx_importer *i, unsigned kind)
{
    const union pim_attributes a = {.elementwise = (enum pim_elementwise)kind};
    const uint32_t layers[2] = {pim_onnx_layer_of(i, pim_onnx_input(i, 0)),
                                pim_onnx_layer_of(i, pim_onnx_input(i, 3))};
    pim_onnx_bind_layer(i, 0, pim_onnx_add(i, PIM_OPERATOR_ELEMENTWISE, "", &a, 2, layers));
}

/* x and a bias, then an activation. */
void pim_onnx_convert_biased_activation(struct pim_onnx_importer *i, unsigned kind)
{
    const union pim_attributes add = {.elementwise = PIM_ELEMENTWISE_ADD},
                               a = {.activation = (enum pim_activation)kind};
    uint32_t layers[2] = {pim_onnx_layer_of(i, pim_onnx_input(i, 0)), 0}, layer = layers[0];
    struct pim_onnx_value *bias = pim_onnx_optional_input(i, 1);
    if (bias) {
        layers[1] = pim_onnx_layer_of(i, bias);
        layer = pim_onnx_add(i, PIM_OPERATOR_ELEMENTWISE, "bias", &add, 2, layers);
    }
    pim_onnx_bind_layer(i, 0, pim_onnx_add(i, PIM_OPERATOR_ACTIVATION, "", &a, 1, &layer));
}

void pim_onnx_convert_reduction(struct pim_onnx_importer *i, unsigned kind)
{
    struct pim_onnx_value *input = pim_onnx_input(i, 0);
    int64_t axes[PIM_SHAPE_RANK] = {0};
    bool given, single = pim_onnx_has(i, "axis"); /* ArgMax and ArgMin have one */
    uint32_t count = pim_onnx_list(i, "axes", i->opset >= 13 ? 1 : SIZE_MAX, axes, PIM_SHAPE_RANK, &given);
    union pim_attributes a = {
        .reduction = {.keep = pim_onnx_integer(i, "keepdims", 1) != 0, .kind = (enum pim_reduction)kind}};
    if (!given && strncmp(i->node->op_type, "Arg", 3) == 0) {
        axes[0] = single ? pim_onnx_integer(i, "axis", 0) : 0;
        count = 1;
    }
    if (count == 0 && pim_onnx_integer(i, "noop_with_empty_axes", 0) != 0) {
        pim_onnx_convert_same(i, 0);
        return;
    }
    for (uint32_t n = 0; n < count; n++)
        a.reduction.axes |= 1u << pim_onnx_axis(i, axes[n], input->shape.rank);
    if (count == 0)
        a.reduction.axes = (1u << input->shape.rank) - 1;
    uint32_t layer = pim_onnx_layer_of(i, input);
    pim_onnx_bind_layer(i, 0, pim_onnx_add(i, PIM_OPERATOR_REDUCTION, "", &a, 1, &layer));
}

/* `quantized`: scale and zero point of the output, then each input with its own. Parts of constants that
 * have no entries are left out. */
void pim_onnx_convert_concat(struct pim_onnx_importer *i, unsigned quantized)
{
    uint32_t layers[PIM_LAYER_INPUTS] = {0}, count = 0;
    size_t first = quantized ? 2 : 0, step = quantized ? 3 : 1;
    for (size_t n = first; n < i->node->n_input && i->status == PIM_OK; n += step) {
        struct pim_onnx_value *part = pim_onnx_input(i, n);
        if (part->kind == PIM_ONNX_CONSTANT && pim_onnx_elements(&part->shape) == 0)
            continue;
        if (count == PIM_LAYER_INPUTS) {
            pim_onnx_fail(i, "it has %zu inputs: 1 to %d are possible", i->node->n_input, PIM_LAYER_INPUTS);
            return;
        }
        layers[count++] = pim_onnx_layer_of(i, part);
    }
    if (i->status == PIM_OK && count == 0)
        pim_onnx_fail(i, "it has %zu inputs: 1 to %d are possible", i->node->n_input, PIM_LAYER_INPUTS);
    if (i->status != PIM_OK)
        return;
    const union pim_attributes a = {.concat = {.axis = pim_onnx_axis(i, pim_onnx_integer(i, "axis", 1),
                                                                     pim_onnx_shape_of(i, layers[0]).rank)}};
    pim_onnx_bind_layer(i, 0, pim_onnx_add(i, PIM_OPERATOR_CONCAT, "", &a, count, layers));
}
