/* The table of operators, and the conversions that are a few lines. docs/networks.md has the same table. */
#include "mappers/network/onnx/importer.h"
#include "onnx.pb-c.h"

#include <string.h>

static void convert_activation(struct pim_onnx_importer *i, unsigned kind)
{
    const union pim_attributes a = {.activation = (enum pim_activation)kind};
    uint32_t layer = pim_onnx_layer_of(i, pim_onnx_input(i, 0));
    pim_onnx_bind_layer(i, 0, pim_onnx_add(i, PIM_OPERATOR_ACTIVATION, "", &a, 1, &layer));
}

/* Numbers are part of the operation; tensors of constants become PARAMETER layers. Three inputs and more are
 * taken two at a time, as hardware does. */
static void convert_elementwise(struct pim_onnx_importer *i, unsigned kind)
{
    const union pim_attributes a = {.elementwise = (enum pim_elementwise)kind};
    uint32_t layers[2] = {0, 0}, count = 0;
    struct pim_onnx_value *single = NULL; /* an input that was left out for being a number */
    uint32_t most = 0;
    for (size_t n = 0; n < i->node->n_input && i->status == PIM_OK; n++) {
        const struct pim_onnx_value *value = pim_onnx_input(i, n);
        most = value->kind == PIM_ONNX_ACTIVATION && value->shape.rank > most ? value->shape.rank : most;
    }
    for (size_t n = 0; n < i->node->n_input && i->status == PIM_OK; n++) {
        struct pim_onnx_value *value = pim_onnx_input(i, n);
        if (value->kind == PIM_ONNX_CONSTANT && pim_onnx_elements(&value->shape) == 1 &&
            value->shape.rank <= most) {
            single = value;
            continue;
        }
        layers[count++] = pim_onnx_layer_of(i, value);
        if (count == 2) {
            layers[0] = pim_onnx_add(i, PIM_OPERATOR_ELEMENTWISE, "", &a, 2, layers);
            count = 1;
            single = NULL;
        }
    }
    if (count == 0)
        pim_onnx_fail(i, "it has no input that is a tensor");
    else if (single)
        layers[0] = pim_onnx_add(i, PIM_OPERATOR_ELEMENTWISE, "", &a, 1, layers);
    if (i->status == PIM_OK)
        pim_onnx_bind_layer(i, 0, layers[0]);
}

static void convert_same(struct pim_onnx_importer *i, unsigned unused)
{
    (void)unused;
    pim_onnx_bind_same(i, 0, pim_onnx_input(i, 0));
}

static void convert_reduction(struct pim_onnx_importer *i, unsigned kind)
{
    struct pim_onnx_value *input = pim_onnx_input(i, 0);
    int64_t axes[PIM_SHAPE_RANK];
    bool given, single = pim_onnx_has(i, "axis"); /* ArgMax and ArgMin have one */
    uint32_t count = pim_onnx_list(i, "axes", i->opset >= 13 ? 1 : SIZE_MAX, axes, PIM_SHAPE_RANK, &given);
    union pim_attributes a = {
        .reduction = {.keep = pim_onnx_integer(i, "keepdims", 1) != 0, .kind = (enum pim_reduction)kind}};
    if (!given && strncmp(i->node->op_type, "Arg", 3) == 0) {
        axes[0] = single ? pim_onnx_integer(i, "axis", 0) : 0;
        count = 1;
    }
    if (count == 0 && pim_onnx_integer(i, "noop_with_empty_axes", 0) != 0) {
        convert_same(i, 0);
        return;
    }
    for (uint32_t n = 0; n < count; n++)
        a.reduction.axes |= 1u << pim_onnx_axis(i, axes[n], input->shape.rank);
    if (count == 0)
        a.reduction.axes = (1u << input->shape.rank) - 1;
    uint32_t layer = pim_onnx_layer_of(i, input);
    pim_onnx_bind_layer(i, 0, pim_onnx_add(i, PIM_OPERATOR_REDUCTION, "", &a, 1, &layer));
}

/* Softmax works the last dimension: before version 13 all from `axis` on together, afterwards that axis
 * alone. */
static void convert_softmax(struct pim_onnx_importer *i, unsigned unused)
{
    (void)unused;
    struct pim_onnx_value *input = pim_onnx_input(i, 0);
    uint32_t rank = input->shape.rank, layer = pim_onnx_layer_of(i, input), order[PIM_SHAPE_RANK];
    uint32_t axis = pim_onnx_axis(i, pim_onnx_integer(i, "axis", i->opset >= 13 ? -1 : 1), rank);
    const struct pim_shape shape = input->shape;
    if (i->status != PIM_OK)
        return;
    if (i->opset < 13) {
        struct pim_shape flat = {.rank = 2, .dimension = {1, 1}};
        uint64_t size[2] = {1, 1};
        for (uint32_t d = 0; d < rank; d++)
            size[d < axis ? 0 : 1] *= shape.dimension[d];
        flat.dimension[0] = pim_onnx_size(i, "a dimension", (int64_t)size[0], 1);
        flat.dimension[1] = pim_onnx_size(i, "a dimension", (int64_t)size[1], 1);
        if (axis + 1 != rank)
            layer = pim_onnx_reshape(i, "flat", layer, &flat);
        layer = pim_onnx_add(i, PIM_OPERATOR_SOFTMAX, "", NULL, 1, &layer);
        pim_onnx_bind_layer(i, 0, pim_onnx_reshape(i, "shape", layer, &shape));
        return;
    }
    for (uint32_t d = 0; d < rank; d++)
        order[d] = d;
    order[axis] = rank - 1;
    order[rank - 1] = axis;
    layer = pim_onnx_transpose(i, "last", layer, order);
    layer = pim_onnx_add(i, PIM_OPERATOR_SOFTMAX, "", NULL, 1, &layer);
    pim_onnx_bind_layer(i, 0, pim_onnx_transpose(i, "back", layer, order));
}

static void convert_layer_normalization(struct pim_onnx_importer *i, unsigned unused)
{
    (void)unused;
    struct pim_onnx_value *input = pim_onnx_input(i, 0);
    const struct pim_onnx_value *scale = pim_onnx_optional_input(i, 1);
    const struct pim_shape shape = input->shape;
    uint32_t layer = pim_onnx_layer_of(i, input),
             axis = pim_onnx_axis(i, pim_onnx_integer(i, "axis", -1), shape.rank);
    const union pim_attributes a = {
        .normalization = {.kind = PIM_NORMALIZATION_LAYER, .affine = scale != NULL}};
    if (i->status != PIM_OK)
        return;
    struct pim_shape flat = {.rank = axis + 1};
    uint64_t channels = 1;
    for (uint32_t d = 0; d < shape.rank; d++) {
        if (d < axis)
            flat.dimension[d] = shape.dimension[d];
        else
            channels *= shape.dimension[d];
    }
    flat.dimension[axis] = pim_onnx_size(i, "the normalised part", (int64_t)channels, 1);
    layer = pim_onnx_reshape(i, "flat", layer, &flat);
    layer = pim_onnx_add(i, PIM_OPERATOR_NORMALIZATION, "", &a, 1, &layer);
    pim_onnx_bind_layer(i, 0, pim_onnx_reshape(i, "shape", layer, &shape));
}

/* Per channel of [batch, channels, ...]: batch, instance and group normalisation; `kind` as in the graph. */
static void convert_channel_normalization(struct pim_onnx_importer *i, unsigned kind)
{
    const union pim_attributes a = {
        .normalization = {.kind = (enum pim_normalization)kind, .affine = kind == PIM_NORMALIZATION_BATCH}};
    uint32_t layer = pim_onnx_layer_of(i, pim_onnx_input(i, 0)), value;
    struct pim_shape shape = pim_onnx_shape_of(i, layer);
    bool ignored = false;
    if (i->status != PIM_OK)
        return;
    if (shape.rank < 2) {
        pim_onnx_fail(i, "its input has %u dimensions: at least 2 are needed", shape.rank);
        return;
    }
    value = kind == PIM_NORMALIZATION_BATCH ? pim_onnx_absorb_affine(i, &shape, 1, &ignored)
                                            : pim_onnx_names_find(&i->value_names, i->node->output[0]);
    pim_onnx_bind_value(i, value, pim_onnx_add(i, PIM_OPERATOR_NORMALIZATION, "", &a, 1, &layer));
}

static void convert_concat(struct pim_onnx_importer *i, unsigned unused)
{
    (void)unused;
    uint32_t layers[PIM_LAYER_INPUTS], count = (uint32_t)i->node->n_input;
    if (i->node->n_input > PIM_LAYER_INPUTS || count == 0) {
        pim_onnx_fail(i, "it has %zu inputs: 1 to %d are possible", i->node->n_input, PIM_LAYER_INPUTS);
        return;
    }
    for (uint32_t n = 0; n < count; n++)
        layers[n] = pim_onnx_layer_of(i, pim_onnx_input(i, n));
    const union pim_attributes a = {.concat = {.axis = pim_onnx_axis(i, pim_onnx_integer(i, "axis", 1),
                                                                     pim_onnx_shape_of(i, layers[0]).rank)}};
    pim_onnx_bind_layer(i, 0, pim_onnx_add(i, PIM_OPERATOR_CONCAT, "", &a, count, layers));
}

#define PLAIN(name)                                                                                          \
    static void plain_##name(struct pim_onnx_importer *i, unsigned unused)                                   \
    {                                                                                                        \
        (void)unused;                                                                                        \
        pim_onnx_convert_##name(i);                                                                          \
    }
PLAIN(convolution)
PLAIN(pooling)
PLAIN(global_pooling)
PLAIN(gemm)
PLAIN(matmul)
PLAIN(reshape)
PLAIN(transpose)
PLAIN(slice)
PLAIN(split)
PLAIN(gather)
PLAIN(pad)
PLAIN(expand)
PLAIN(resize)
PLAIN(depth_to_space)
PLAIN(space_to_depth)
#undef PLAIN

static const struct {
    const char *operation;
    void (*convert)(struct pim_onnx_importer *i, unsigned kind);
    unsigned kind;
} table[] = {
    {"Conv", plain_convolution, 0},
    {"ConvInteger", plain_convolution, 0},
    {"QLinearConv", plain_convolution, 0},
    {"Gemm", plain_gemm, 0},
    {"MatMul", plain_matmul, 0},
    {"MatMulInteger", plain_matmul, 0},
    {"QLinearMatMul", plain_matmul, 0},
    {"MaxPool", plain_pooling, 0},
    {"AveragePool", plain_pooling, 0},
    {"GlobalMaxPool", plain_global_pooling, 0},
    {"GlobalAveragePool", plain_global_pooling, 0},
    {"BatchNormalization", convert_channel_normalization, PIM_NORMALIZATION_BATCH},
    {"InstanceNormalization", convert_channel_normalization, PIM_NORMALIZATION_BATCH},
    {"GroupNormalization", convert_channel_normalization, PIM_NORMALIZATION_BATCH},
    {"LRN", convert_channel_normalization, PIM_NORMALIZATION_LOCAL_RESPONSE},
    {"LayerNormalization", convert_layer_normalization, 0},
    {"RMSNormalization", convert_layer_normalization, 0},
    {"Softmax", convert_softmax, 0},
    {"LogSoftmax", convert_softmax, 0},
    {"Relu", convert_activation, PIM_ACTIVATION_RELU},
    {"Clip", convert_activation, PIM_ACTIVATION_CLIP},
    {"Sigmoid", convert_activation, PIM_ACTIVATION_SIGMOID},
    {"Tanh", convert_activation, PIM_ACTIVATION_TANH},
    {"Gelu", convert_activation, PIM_ACTIVATION_GELU},
    {"Swish", convert_activation, PIM_ACTIVATION_SILU},
    {"LeakyRelu", convert_activation, PIM_ACTIVATION_LEAKY_RELU},
    {"PRelu", convert_activation, PIM_ACTIVATION_LEAKY_RELU},
    {"ThresholdedRelu", convert_activation, PIM_ACTIVATION_RELU},
    {"HardSigmoid", convert_activation, PIM_ACTIVATION_HARD_SIGMOID},
    {"HardSwish", convert_activation, PIM_ACTIVATION_HARD_SWISH},
    {"Elu", convert_activation, PIM_ACTIVATION_ELU},
    {"Selu", convert_activation, PIM_ACTIVATION_ELU},
    {"Celu", convert_activation, PIM_ACTIVATION_ELU},
    {"Softplus", convert_activation, PIM_ACTIVATION_SOFTPLUS},
    {"Softsign", convert_activation, PIM_ACTIVATION_OTHER},
    {"Mish", convert_activation, PIM_ACTIVATION_MISH},
    {"Erf", convert_activation, PIM_ACTIVATION_ERROR_FUNCTION},
    {"Exp", convert_activation, PIM_ACTIVATION_EXPONENTIAL},
    {"Log", convert_activation, PIM_ACTIVATION_LOGARITHM},
    {"Sqrt", convert_activation, PIM_ACTIVATION_SQUARE_ROOT},
    {"Reciprocal", convert_activation, PIM_ACTIVATION_RECIPROCAL},
    {"Neg", convert_activation, PIM_ACTIVATION_OTHER},
    {"Abs", convert_activation, PIM_ACTIVATION_OTHER},
    {"Sign", convert_activation, PIM_ACTIVATION_OTHER},
    {"Floor", convert_activation, PIM_ACTIVATION_OTHER},
    {"Ceil", convert_activation, PIM_ACTIVATION_OTHER},
    {"Round", convert_activation, PIM_ACTIVATION_OTHER},
    {"Sin", convert_activation, PIM_ACTIVATION_OTHER},
    {"Cos", convert_activation, PIM_ACTIVATION_OTHER},
    {"Not", convert_activation, PIM_ACTIVATION_OTHER},
    {"Tan", convert_activation, PIM_ACTIVATION_OTHER},
    {"Asin", convert_activation, PIM_ACTIVATION_OTHER},
    {"Acos", convert_activation, PIM_ACTIVATION_OTHER},
    {"Atan", convert_activation, PIM_ACTIVATION_OTHER},
    {"Sinh", convert_activation, PIM_ACTIVATION_OTHER},
    {"Cosh", convert_activation, PIM_ACTIVATION_OTHER},
    {"Asinh", convert_activation, PIM_ACTIVATION_OTHER},
    {"Acosh", convert_activation, PIM_ACTIVATION_OTHER},
    {"Atanh", convert_activation, PIM_ACTIVATION_OTHER},
    {"IsNaN", convert_activation, PIM_ACTIVATION_OTHER},
    {"IsInf", convert_activation, PIM_ACTIVATION_OTHER},
    {"Shrink", convert_activation, PIM_ACTIVATION_OTHER},
    {"CumSum", convert_activation, PIM_ACTIVATION_OTHER},
    {"Trilu", convert_activation, PIM_ACTIVATION_OTHER},
    {"Add", convert_elementwise, PIM_ELEMENTWISE_ADD},
    {"Sum", convert_elementwise, PIM_ELEMENTWISE_ADD},
    {"Sub", convert_elementwise, PIM_ELEMENTWISE_SUBTRACT},
    {"Mul", convert_elementwise, PIM_ELEMENTWISE_MULTIPLY},
    {"Div", convert_elementwise, PIM_ELEMENTWISE_DIVIDE},
    {"Mod", convert_elementwise, PIM_ELEMENTWISE_DIVIDE},
    {"Pow", convert_elementwise, PIM_ELEMENTWISE_POWER},
    {"Max", convert_elementwise, PIM_ELEMENTWISE_MAXIMUM},
    {"Min", convert_elementwise, PIM_ELEMENTWISE_MINIMUM},
    {"Mean", convert_elementwise, PIM_ELEMENTWISE_ADD},
    {"Where", convert_elementwise, PIM_ELEMENTWISE_SELECT},
    {"Equal", convert_elementwise, PIM_ELEMENTWISE_SELECT},
    {"Greater", convert_elementwise, PIM_ELEMENTWISE_SELECT},
    {"GreaterOrEqual", convert_elementwise, PIM_ELEMENTWISE_SELECT},
    {"Less", convert_elementwise, PIM_ELEMENTWISE_SELECT},
    {"LessOrEqual", convert_elementwise, PIM_ELEMENTWISE_SELECT},
    {"And", convert_elementwise, PIM_ELEMENTWISE_SELECT},
    {"Or", convert_elementwise, PIM_ELEMENTWISE_SELECT},
    {"Xor", convert_elementwise, PIM_ELEMENTWISE_SELECT},
    {"ReduceMean", convert_reduction, PIM_REDUCTION_MEAN},
    {"ReduceSum", convert_reduction, PIM_REDUCTION_SUM},
    {"ReduceMax", convert_reduction, PIM_REDUCTION_EXTREMUM},
    {"ReduceMin", convert_reduction, PIM_REDUCTION_EXTREMUM},
    {"ArgMax", convert_reduction, PIM_REDUCTION_EXTREMUM},
    {"ArgMin", convert_reduction, PIM_REDUCTION_EXTREMUM},
    {"ReduceProd", convert_reduction, PIM_REDUCTION_OTHER},
    {"ReduceL1", convert_reduction, PIM_REDUCTION_OTHER},
    {"ReduceL2", convert_reduction, PIM_REDUCTION_OTHER},
    {"ReduceSumSquare", convert_reduction, PIM_REDUCTION_OTHER},
    {"ReduceLogSumExp", convert_reduction, PIM_REDUCTION_OTHER},
    {"Reshape", plain_reshape, 0},
    {"Flatten", plain_reshape, 0},
    {"Squeeze", plain_reshape, 0},
    {"Unsqueeze", plain_reshape, 0},
    {"Transpose", plain_transpose, 0},
    {"Slice", plain_slice, 0},
    {"Split", plain_split, 0},
    {"Gather", plain_gather, 0},
    {"Concat", convert_concat, 0},
    {"Pad", plain_pad, 0},
    {"Expand", plain_expand, 0},
    {"Tile", plain_expand, 0},
    {"Resize", plain_resize, 0},
    {"Upsample", plain_resize, 0},
    {"DepthToSpace", plain_depth_to_space, 0},
    {"SpaceToDepth", plain_space_to_depth, 0},
    {"Identity", convert_same, 0},
    {"Dropout", convert_same, 0},
    {"Cast", convert_same, 0},
    {"CastLike", convert_same, 0},
    {"QuantizeLinear", convert_same, 0},
    {"DequantizeLinear", convert_same, 0},
};

void pim_onnx_convert(struct pim_onnx_importer *i)
{
    const char *operation = i->node->op_type;
    bool standard = i->node->domain[0] == '\0' || strcmp(i->node->domain, "ai.onnx") == 0;
    if (i->node->n_output == 0 || i->node->output[0][0] == '\0')
        pim_onnx_fail(i, "its first output has no name");
    for (size_t t = 0; t < sizeof table / sizeof *table && standard; t++) {
        if (strcmp(operation, table[t].operation) == 0) {
            if (i->status == PIM_OK)
                table[t].convert(i, table[t].kind);
            return;
        }
    }
    if (!i->options->allow_unknown) {
        pim_onnx_fail(i,
                      "pimsim does not know this operator%s%s; --allow-unknown takes it for elementwise work "
                      "of the same "
                      "shape",
                      standard ? "" : " of domain ", standard ? "" : i->node->domain);
        return;
    }
    const union pim_attributes a = {.elementwise = PIM_ELEMENTWISE_OTHER};
    uint32_t layer = pim_onnx_layer_of(i, pim_onnx_input(i, 0));
    pim_onnx_bind_layer(i, 0, pim_onnx_add(i, PIM_OPERATOR_ELEMENTWISE, "", &a, 1, &layer));
}
