/*
 * Which operator becomes what, and why those that are refused are. docs/networks.md has the same table.
 *
 * Operators of com.microsoft are those that onnxruntime's optimisation of graphs makes.
 */
#include "mappers/network/onnx/operators/operators.h"
#include "onnx.pb-c.h"

#include <string.h>

enum { STANDARD = 1, MICROSOFT = 2, BOTH = STANDARD | MICROSOFT };

static const struct {
    const char *operation;
    unsigned domains;
    void (*convert)(struct pim_onnx_importer *i, unsigned kind);
    unsigned kind;
} table[] = {
    {"Conv", STANDARD, pim_onnx_convert_convolution, 0},
    {"ConvInteger", STANDARD, pim_onnx_convert_convolution, 0},
    {"QLinearConv", STANDARD, pim_onnx_convert_convolution, 0},
    {"FusedConv", MICROSOFT, pim_onnx_convert_convolution, 0},
    {"ConvTranspose", STANDARD, pim_onnx_convert_transposed_convolution, 0},
    {"DeformConv", STANDARD, pim_onnx_convert_deformable_convolution, 0},
    {"Gemm", STANDARD, pim_onnx_convert_gemm, 0},
    {"FusedGemm", MICROSOFT, pim_onnx_convert_gemm, 0},
    {"QGemm", MICROSOFT, pim_onnx_convert_gemm, 0},
    {"MatMul", STANDARD, pim_onnx_convert_matmul, 0},
    {"MatMulInteger", STANDARD, pim_onnx_convert_matmul, 0},
    {"QLinearMatMul", STANDARD, pim_onnx_convert_matmul, 0},
    {"MatMulIntegerToFloat", MICROSOFT, pim_onnx_convert_matmul, 0},
    {"DynamicQuantizeMatMul", MICROSOFT, pim_onnx_convert_matmul, 0},
    {"FusedMatMul", MICROSOFT, pim_onnx_convert_fused_matmul, 0},
    {"TransposeMatMul", MICROSOFT, pim_onnx_convert_fused_matmul, 0},
    {"MatMulNBits", MICROSOFT, pim_onnx_convert_packed_matmul, 0},
    {"Einsum", STANDARD, pim_onnx_convert_einsum, 0},
    {"MaxPool", STANDARD, pim_onnx_convert_pooling, 0},
    {"AveragePool", STANDARD, pim_onnx_convert_pooling, 0},
    {"LpPool", STANDARD, pim_onnx_convert_pooling, 0},
    {"GlobalMaxPool", STANDARD, pim_onnx_convert_global_pooling, 0},
    {"GlobalAveragePool", STANDARD, pim_onnx_convert_global_pooling, 0},
    {"GlobalLpPool", STANDARD, pim_onnx_convert_global_pooling, 0},
    {"QLinearAveragePool", MICROSOFT, pim_onnx_convert_pooling, 0},
    {"QLinearGlobalAveragePool", MICROSOFT, pim_onnx_convert_global_pooling, 0},
    {"MaxUnpool", STANDARD, pim_onnx_convert_unpooling, 0},
    {"BatchNormalization", STANDARD, pim_onnx_convert_channel_normalization, PIM_NORMALIZATION_BATCH},
    {"InstanceNormalization", STANDARD, pim_onnx_convert_channel_normalization, PIM_NORMALIZATION_BATCH},
    {"GroupNormalization", STANDARD, pim_onnx_convert_channel_normalization, PIM_NORMALIZATION_BATCH},
    {"LRN", STANDARD, pim_onnx_convert_channel_normalization, PIM_NORMALIZATION_LOCAL_RESPONSE},
    {"LayerNormalization", BOTH, pim_onnx_convert_layer_normalization, 0},
    {"RMSNormalization", STANDARD, pim_onnx_convert_layer_normalization, 1},
    {"SimplifiedLayerNormalization", BOTH, pim_onnx_convert_layer_normalization, 1},
    {"SkipLayerNormalization", MICROSOFT, pim_onnx_convert_skip_normalization, 0},
    {"SkipSimplifiedLayerNormalization", MICROSOFT, pim_onnx_convert_skip_normalization, 1},
    {"EmbedLayerNormalization", MICROSOFT, pim_onnx_convert_embedding, 0},
    {"LpNormalization", STANDARD, pim_onnx_convert_norm_division, 0},
    {"MeanVarianceNormalization", STANDARD, pim_onnx_convert_standardization, 0},
    {"Softmax", STANDARD, pim_onnx_convert_softmax, 0},
    {"LogSoftmax", STANDARD, pim_onnx_convert_softmax, 0},
    {"QLinearSoftmax", MICROSOFT, pim_onnx_convert_softmax, 0},
    {"NegativeLogLikelihoodLoss", STANDARD, pim_onnx_convert_loss, 0},
    {"SoftmaxCrossEntropyLoss", STANDARD, pim_onnx_convert_loss, 1},
    {"Relu", STANDARD, pim_onnx_convert_activation, PIM_ACTIVATION_RELU},
    {"Clip", STANDARD, pim_onnx_convert_activation, PIM_ACTIVATION_CLIP},
    {"Sigmoid", STANDARD, pim_onnx_convert_activation, PIM_ACTIVATION_SIGMOID},
    {"Tanh", STANDARD, pim_onnx_convert_activation, PIM_ACTIVATION_TANH},
    {"Gelu", BOTH, pim_onnx_convert_activation, PIM_ACTIVATION_GELU},
    {"Swish", STANDARD, pim_onnx_convert_activation, PIM_ACTIVATION_SILU},
    {"LeakyRelu", STANDARD, pim_onnx_convert_activation, PIM_ACTIVATION_LEAKY_RELU},
    {"PRelu", STANDARD, pim_onnx_convert_activation, PIM_ACTIVATION_LEAKY_RELU},
    {"ThresholdedRelu", BOTH, pim_onnx_convert_activation, PIM_ACTIVATION_RELU},
    {"HardSigmoid", STANDARD, pim_onnx_convert_activation, PIM_ACTIVATION_HARD_SIGMOID},
    {"HardSwish", STANDARD, pim_onnx_convert_activation, PIM_ACTIVATION_HARD_SWISH},
    {"Elu", STANDARD, pim_onnx_convert_activation, PIM_ACTIVATION_ELU},
    {"Selu", STANDARD, pim_onnx_convert_activation, PIM_ACTIVATION_ELU},
    {"Celu", STANDARD, pim_onnx_convert_activation, PIM_ACTIVATION_ELU},
    {"Softplus", STANDARD, pim_onnx_convert_activation, PIM_ACTIVATION_SOFTPLUS},
    {"Mish", STANDARD, pim_onnx_convert_activation, PIM_ACTIVATION_MISH},
    {"Erf", STANDARD, pim_onnx_convert_activation, PIM_ACTIVATION_ERROR_FUNCTION},
    {"Exp", STANDARD, pim_onnx_convert_activation, PIM_ACTIVATION_EXPONENTIAL},
    {"Log", STANDARD, pim_onnx_convert_activation, PIM_ACTIVATION_LOGARITHM},
    {"Sqrt", STANDARD, pim_onnx_convert_activation, PIM_ACTIVATION_SQUARE_ROOT},
    {"Reciprocal", STANDARD, pim_onnx_convert_activation, PIM_ACTIVATION_RECIPROCAL},
    {"QuickGelu", MICROSOFT, pim_onnx_convert_activation, PIM_ACTIVATION_GELU},
    {"QLinearSigmoid", MICROSOFT, pim_onnx_convert_activation, PIM_ACTIVATION_SIGMOID},
    {"QLinearLeakyRelu", MICROSOFT, pim_onnx_convert_activation, PIM_ACTIVATION_LEAKY_RELU},
    {"Softsign", STANDARD, pim_onnx_convert_activation, PIM_ACTIVATION_OTHER},
    {"Neg", STANDARD, pim_onnx_convert_activation, PIM_ACTIVATION_OTHER},
    {"Abs", STANDARD, pim_onnx_convert_activation, PIM_ACTIVATION_OTHER},
    {"Sign", STANDARD, pim_onnx_convert_activation, PIM_ACTIVATION_OTHER},
    {"Floor", STANDARD, pim_onnx_convert_activation, PIM_ACTIVATION_OTHER},
    {"Ceil", STANDARD, pim_onnx_convert_activation, PIM_ACTIVATION_OTHER},
    {"Round", STANDARD, pim_onnx_convert_activation, PIM_ACTIVATION_OTHER},
    {"Sin", STANDARD, pim_onnx_convert_activation, PIM_ACTIVATION_OTHER},
    {"Cos", STANDARD, pim_onnx_convert_activation, PIM_ACTIVATION_OTHER},
    {"Tan", STANDARD, pim_onnx_convert_activation, PIM_ACTIVATION_OTHER},
    {"Asin", STANDARD, pim_onnx_convert_activation, PIM_ACTIVATION_OTHER},
    {"Acos", STANDARD, pim_onnx_convert_activation, PIM_ACTIVATION_OTHER},
    {"Atan", STANDARD, pim_onnx_convert_activation, PIM_ACTIVATION_OTHER},
    {"Sinh", STANDARD, pim_onnx_convert_activation, PIM_ACTIVATION_OTHER},
    {"Cosh", STANDARD, pim_onnx_convert_activation, PIM_ACTIVATION_OTHER},
    {"Asinh", STANDARD, pim_onnx_convert_activation, PIM_ACTIVATION_OTHER},
    {"Acosh", STANDARD, pim_onnx_convert_activation, PIM_ACTIVATION_OTHER},
    {"Atanh", STANDARD, pim_onnx_convert_activation, PIM_ACTIVATION_OTHER},
    {"Not", STANDARD, pim_onnx_convert_activation, PIM_ACTIVATION_OTHER},
    {"BitwiseNot", STANDARD, pim_onnx_convert_activation, PIM_ACTIVATION_OTHER},
    {"IsNaN", STANDARD, pim_onnx_convert_activation, PIM_ACTIVATION_OTHER},
    {"IsInf", STANDARD, pim_onnx_convert_activation, PIM_ACTIVATION_OTHER},
    {"Shrink", STANDARD, pim_onnx_convert_activation, PIM_ACTIVATION_OTHER},
    {"Hardmax", STANDARD, pim_onnx_convert_activation, PIM_ACTIVATION_OTHER},
    {"CumSum", STANDARD, pim_onnx_convert_activation, PIM_ACTIVATION_OTHER},
    {"CumProd", STANDARD, pim_onnx_convert_activation, PIM_ACTIVATION_OTHER},
    {"Trilu", STANDARD, pim_onnx_convert_activation, PIM_ACTIVATION_OTHER},
    {"Bernoulli", STANDARD, pim_onnx_convert_activation, PIM_ACTIVATION_OTHER},
    {"Affine", STANDARD, pim_onnx_convert_activation, PIM_ACTIVATION_OTHER},
    {"ScaledTanh", STANDARD, pim_onnx_convert_activation, PIM_ACTIVATION_OTHER},
    {"ParametricSoftplus", STANDARD, pim_onnx_convert_activation, PIM_ACTIVATION_OTHER},
    {"ImageScaler", STANDARD, pim_onnx_convert_activation, PIM_ACTIVATION_OTHER},
    {"FastGelu", MICROSOFT, pim_onnx_convert_biased_activation, PIM_ACTIVATION_GELU},
    {"BiasGelu", MICROSOFT, pim_onnx_convert_biased_activation, PIM_ACTIVATION_GELU},
    {"Add", STANDARD, pim_onnx_convert_elementwise, PIM_ELEMENTWISE_ADD},
    {"Sum", STANDARD, pim_onnx_convert_elementwise, PIM_ELEMENTWISE_ADD},
    {"Sub", STANDARD, pim_onnx_convert_elementwise, PIM_ELEMENTWISE_SUBTRACT},
    {"Mul", STANDARD, pim_onnx_convert_elementwise, PIM_ELEMENTWISE_MULTIPLY},
    {"Div", STANDARD, pim_onnx_convert_elementwise, PIM_ELEMENTWISE_DIVIDE},
    {"Mod", STANDARD, pim_onnx_convert_elementwise, PIM_ELEMENTWISE_DIVIDE},
    {"Pow", STANDARD, pim_onnx_convert_elementwise, PIM_ELEMENTWISE_POWER},
    {"Max", STANDARD, pim_onnx_convert_elementwise, PIM_ELEMENTWISE_MAXIMUM},
    {"Min", STANDARD, pim_onnx_convert_elementwise, PIM_ELEMENTWISE_MINIMUM},
    {"Mean", STANDARD, pim_onnx_convert_elementwise, PIM_ELEMENTWISE_ADD},
    {"Where", STANDARD, pim_onnx_convert_elementwise, PIM_ELEMENTWISE_SELECT},
    {"Equal", STANDARD, pim_onnx_convert_elementwise, PIM_ELEMENTWISE_SELECT},
    {"Greater", STANDARD, pim_onnx_convert_elementwise, PIM_ELEMENTWISE_SELECT},
    {"GreaterOrEqual", STANDARD, pim_onnx_convert_elementwise, PIM_ELEMENTWISE_SELECT},
    {"Less", STANDARD, pim_onnx_convert_elementwise, PIM_ELEMENTWISE_SELECT},
    {"LessOrEqual", STANDARD, pim_onnx_convert_elementwise, PIM_ELEMENTWISE_SELECT},
    {"And", STANDARD, pim_onnx_convert_elementwise, PIM_ELEMENTWISE_SELECT},
    {"Or", STANDARD, pim_onnx_convert_elementwise, PIM_ELEMENTWISE_SELECT},
    {"Xor", STANDARD, pim_onnx_convert_elementwise, PIM_ELEMENTWISE_SELECT},
    {"BitwiseAnd", STANDARD, pim_onnx_convert_elementwise, PIM_ELEMENTWISE_SELECT},
    {"BitwiseOr", STANDARD, pim_onnx_convert_elementwise, PIM_ELEMENTWISE_SELECT},
    {"BitwiseXor", STANDARD, pim_onnx_convert_elementwise, PIM_ELEMENTWISE_SELECT},
    {"BitShift", STANDARD, pim_onnx_convert_elementwise, PIM_ELEMENTWISE_MULTIPLY},
    {"QLinearAdd", MICROSOFT, pim_onnx_convert_quantized_pair, PIM_ELEMENTWISE_ADD},
    {"QLinearMul", MICROSOFT, pim_onnx_convert_quantized_pair, PIM_ELEMENTWISE_MULTIPLY},
    {"ReduceMean", STANDARD, pim_onnx_convert_reduction, PIM_REDUCTION_MEAN},
    {"ReduceSum", STANDARD, pim_onnx_convert_reduction, PIM_REDUCTION_SUM},
    {"ReduceMax", STANDARD, pim_onnx_convert_reduction, PIM_REDUCTION_EXTREMUM},
    {"ReduceMin", STANDARD, pim_onnx_convert_reduction, PIM_REDUCTION_EXTREMUM},
    {"ArgMax", STANDARD, pim_onnx_convert_reduction, PIM_REDUCTION_EXTREMUM},
    {"ArgMin", STANDARD, pim_onnx_convert_reduction, PIM_REDUCTION_EXTREMUM},
    {"ReduceProd", STANDARD, pim_onnx_convert_reduction, PIM_REDUCTION_OTHER},
    {"ReduceL1", STANDARD, pim_onnx_convert_reduction, PIM_REDUCTION_OTHER},
    {"ReduceL2", STANDARD, pim_onnx_convert_reduction, PIM_REDUCTION_OTHER},
    {"ReduceSumSquare", STANDARD, pim_onnx_convert_reduction, PIM_REDUCTION_OTHER},
    {"ReduceLogSum", STANDARD, pim_onnx_convert_reduction, PIM_REDUCTION_OTHER},
    {"ReduceLogSumExp", STANDARD, pim_onnx_convert_reduction, PIM_REDUCTION_OTHER},
    {"Det", STANDARD, pim_onnx_convert_determinant, 0},
    {"Reshape", STANDARD, pim_onnx_convert_reshape, 0},
    {"Flatten", STANDARD, pim_onnx_convert_reshape, 0},
    {"Squeeze", STANDARD, pim_onnx_convert_reshape, 0},
    {"Unsqueeze", STANDARD, pim_onnx_convert_reshape, 0},
    {"Transpose", STANDARD, pim_onnx_convert_transpose, 0},
    {"Slice", STANDARD, pim_onnx_convert_slice, 0},
    {"Split", STANDARD, pim_onnx_convert_split, 0},
    {"Gather", STANDARD, pim_onnx_convert_gather, 0},
    {"Concat", STANDARD, pim_onnx_convert_concat, 0},
    {"Pad", STANDARD, pim_onnx_convert_pad, 0},
    {"Expand", STANDARD, pim_onnx_convert_expand, 0},
    {"Tile", STANDARD, pim_onnx_convert_expand, 0},
    {"Resize", STANDARD, pim_onnx_convert_resize, 0},
    {"Upsample", STANDARD, pim_onnx_convert_resize, 0},
    {"DepthToSpace", STANDARD, pim_onnx_convert_depth_to_space, 0},
    {"SpaceToDepth", STANDARD, pim_onnx_convert_space_to_depth, 0},
    {"QLinearConcat", MICROSOFT, pim_onnx_convert_concat, 1},
    {"GatherElements", STANDARD, pim_onnx_convert_gather_elements, 0},
    {"GatherND", STANDARD, pim_onnx_convert_gather_nd, 0},
    {"ReverseSequence", STANDARD, pim_onnx_convert_reverse_sequence, 0},
    {"Scatter", STANDARD, pim_onnx_convert_scatter, 0},
    {"ScatterElements", STANDARD, pim_onnx_convert_scatter, 0},
    {"ScatterND", STANDARD, pim_onnx_convert_scatter, 0},
    {"TensorScatter", STANDARD, pim_onnx_convert_scatter, 0},
    {"TopK", STANDARD, pim_onnx_convert_top, 0},
    {"OneHot", STANDARD, pim_onnx_convert_one_hot, 0},
    {"GridSample", STANDARD, pim_onnx_convert_grid_sample, 0},
    {"AffineGrid", STANDARD, pim_onnx_convert_affine_grid, 0},
    {"Col2Im", STANDARD, pim_onnx_convert_columns, 0},
    {"CenterCropPad", STANDARD, pim_onnx_convert_center, 0},
    {"NonMaxSuppression", STANDARD, pim_onnx_convert_box_selection, 0},
    {"NonZero", STANDARD, pim_onnx_convert_non_zero, 0},
    {"Compress", STANDARD, pim_onnx_convert_compress, 0},
    {"Unique", STANDARD, pim_onnx_convert_unique, 0},
    {"Multinomial", STANDARD, pim_onnx_convert_draw, 0},
    {"RoiAlign", STANDARD, pim_onnx_convert_regions, 1},
    {"MaxRoiPool", STANDARD, pim_onnx_convert_regions, 0},
    {"RandomNormal", STANDARD, pim_onnx_convert_noise, 0},
    {"RandomUniform", STANDARD, pim_onnx_convert_noise, 0},
    {"RandomNormalLike", STANDARD, pim_onnx_convert_noise, 1},
    {"RandomUniformLike", STANDARD, pim_onnx_convert_noise, 1},
    {"If", STANDARD, pim_onnx_convert_choice, 0},
    {"SequenceEmpty", STANDARD, pim_onnx_convert_list, 0},
    {"SequenceConstruct", STANDARD, pim_onnx_convert_list, 0},
    {"SequenceInsert", STANDARD, pim_onnx_convert_list_change, 0},
    {"SequenceErase", STANDARD, pim_onnx_convert_list_change, 1},
    {"SequenceAt", STANDARD, pim_onnx_convert_list_place, 0},
    {"SequenceLength", STANDARD, pim_onnx_convert_list_length, 0},
    {"SplitToSequence", STANDARD, pim_onnx_convert_split_list, 0},
    {"ConcatFromSequence", STANDARD, pim_onnx_convert_join_list, 0},
    {"RNN", STANDARD, pim_onnx_convert_recurrent, PIM_RECURRENT_PLAIN},
    {"GRU", STANDARD, pim_onnx_convert_recurrent, PIM_RECURRENT_GRU},
    {"LSTM", STANDARD, pim_onnx_convert_recurrent, PIM_RECURRENT_LSTM},
    {"Attention", STANDARD, pim_onnx_convert_attention, 0},
    {"Attention", MICROSOFT, pim_onnx_convert_packed_attention, 0},
    {"MultiHeadAttention", MICROSOFT, pim_onnx_convert_multi_head_attention, 0},
    {"GroupQueryAttention", MICROSOFT, pim_onnx_convert_grouped_attention, 0},
    {"RotaryEmbedding", BOTH, pim_onnx_convert_rotation, 0},
    {"Identity", STANDARD, pim_onnx_convert_same, 0},
    {"Dropout", STANDARD, pim_onnx_convert_same, 0},
    {"Cast", STANDARD, pim_onnx_convert_same, 0},
    {"CastLike", STANDARD, pim_onnx_convert_same, 0},
    {"QuantizeLinear", BOTH, pim_onnx_convert_quantization, 0},
    {"DequantizeLinear", BOTH, pim_onnx_convert_quantization, 0},
    {"DynamicQuantizeLinear", STANDARD, pim_onnx_convert_dynamic_quantization, 0},
};

/* Why an operator has no place in a network graph; NULL for one that is not known. A name that ends in * is
 * the beginning of several. */
static const char *reason(const char *operation)
{
    static const struct {
        const char *operation, *reason;
    } reasons[] = {
        {"Loop", "how often it runs depends on the data; unroll it before the export"},
        {"Scan", "its body is a network of its own; unroll it before the export"},
        {"SequenceMap", "its body is a network of its own"},
        {"Optional*", "a tensor that may be absent has no shape"},
        {"String*", "it works on text"},
        {"RegexFullMatch", "it works on text"},
        {"TfIdfVectorizer", "it works on text"},
        {"ImageDecoder", "it works on compressed images"},
        {"DFT", "its multiplications depend on the algorithm of the transform"},
        {"STFT", "its multiplications depend on the algorithm of the transform"},
        {"Range", "its length depends on the data"},
        {"ConstantOfShape", "its shape depends on the data"},
    };
    for (size_t r = 0; r < sizeof reasons / sizeof *reasons; r++) {
        size_t length = strlen(reasons[r].operation);
        bool begins = reasons[r].operation[length - 1] == '*';
        if (begins ? strncmp(operation, reasons[r].operation, length - 1) == 0
                   : strcmp(operation, reasons[r].operation) == 0)
            return reasons[r].reason;
    }
    return NULL;
}

/* The bit of a domain's name; 0 for one whose operators are all unknown. */
static unsigned domain_of(const char *name)
{
    return name[0] == '\0' || strcmp(name, "ai.onnx") == 0 ? STANDARD
           : strcmp(name, "com.microsoft") == 0            ? MICROSOFT
                                                           : 0;
}

bool pim_onnx_is_standard(const struct pim_onnx_importer *i)
{
    return domain_of(i->node->domain) == STANDARD;
}

/* Whether no node of this operator and domain can be taken: neither converted nor folded. */
static bool is_unknown(const Onnx__NodeProto *node)
{
    static const char *const folded[] = {"Constant",      "ConstantOfShape", "Shape",           "Size",
                                         "Range",         "EyeLike",         "NonZero",         "HannWindow",
                                         "HammingWindow", "BlackmanWindow",  "MelWeightMatrix", "If"};
    unsigned domain = domain_of(node->domain);
    for (size_t t = 0; t < sizeof table / sizeof *table; t++)
        if ((table[t].domains & domain) != 0 && strcmp(node->op_type, table[t].operation) == 0)
            return false;
    for (size_t f = 0; f < sizeof folded / sizeof *folded && domain == STANDARD; f++)
        if (strcmp(node->op_type, folded[f]) == 0)
            return false;
    return true;
}

static bool same_operator(const Onnx__NodeProto *a, const Onnx__NodeProto *b)
{
    return strcmp(a->op_type, b->op_type) == 0 && strcmp(a->domain, b->domain) == 0;
}

/* Kinds of unknown operators, each with its nodes. */
struct unknowns {
    const Onnx__NodeProto *kind[32];
    size_t count[32], kinds, nodes;
};

static void count_unknown(const Onnx__GraphProto *graph, struct unknowns *all)
{
    const size_t most = sizeof all->kind / sizeof all->kind[0];
    for (size_t n = 0; n < graph->n_node; n++) {
        const Onnx__NodeProto *node = graph->node[n];
        size_t k = 0;
        if (!is_unknown(node))
            continue;
        all->nodes++;
        while (k < all->kinds && !same_operator(all->kind[k], node))
            k++;
        if (k == most)
            continue;
        if (k == all->kinds) {
            all->kind[all->kinds] = node;
            all->count[all->kinds++] = 0;
        }
        all->count[k]++;
    }
}

/* "; not known are Loop (2 nodes), Scan (1)": all of the graph and of the branches of its If nodes, when
 * there is more than the node at work. */
static void list_unknown(const struct pim_onnx_importer *i, char *text, size_t size)
{
    struct unknowns all = {.kinds = 0};
    size_t length = 0;
    text[0] = '\0';
    count_unknown(i->model, &all);
    for (size_t s = 0; s < i->subgraphs; s++)
        if (i->subgraph[s] != i->model)
            count_unknown(i->subgraph[s], &all);
    for (size_t k = 0; k < all.kinds && all.nodes > 1 && length < size; k++) {
        int put = snprintf(text + length, size - length, "%s%s (%zu)",
                           k ? ", " : "; not known in this file, with their nodes: ", all.kind[k]->op_type,
                           all.count[k]);
        length += put > 0 ? (size_t)put : 0;
    }
}

static void refuse(struct pim_onnx_importer *i, unsigned domain)
{
    char all[1024];
    list_unknown(i, all, sizeof all);
    const char *why = domain == STANDARD ? reason(i->node->op_type) : NULL;
    if (strcmp(i->node->domain, "ai.onnx.ml") == 0)
        why = "classical learning is no network of layers";
    if (strncmp(i->node->domain, "ai.onnx.preview.training", 24) == 0)
        why = "it is a step of training";
    pim_onnx_fail(i,
                  "pimsim does not know this operator%s%s%s%s; --allow-unknown takes it for elementwise work "
                  "of the same shape%s",
                  domain == STANDARD ? "" : " of domain ", domain == STANDARD ? "" : i->node->domain,
                  why ? ": " : "", why ? why : "", all);
}

void pim_onnx_convert(struct pim_onnx_importer *i)
{
    unsigned domain = domain_of(i->node->domain);
    if (i->node->n_output == 0)
        pim_onnx_fail(i, "it has no output");
    if (domain == STANDARD && pim_onnx_bind_declared(i))
        return;
    for (size_t t = 0; t < sizeof table / sizeof *table && i->status == PIM_OK; t++) {
        if ((table[t].domains & domain) != 0 && strcmp(i->node->op_type, table[t].operation) == 0) {
            table[t].convert(i, table[t].kind);
            return;
        }
    }
    if (i->status != PIM_OK)
        return;
    if (!i->options->allow_unknown) {
        refuse(i, domain);
        return;
    }
    const union pim_attributes a = {.elementwise = PIM_ELEMENTWISE_OTHER};
    uint32_t layer = pim_onnx_layer_of(i, pim_onnx_input(i, 0));
    pim_onnx_bind_layer(i, 0, pim_onnx_add(i, PIM_OPERATOR_ELEMENTWISE, "", &a, 1, &layer));
}
