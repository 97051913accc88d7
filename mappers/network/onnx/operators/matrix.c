/* Matrix products: with a constant matrix LINEAR, with two activations MATRIX_MULTIPLICATION. */
#include "mappers/network/onnx/operators/operators.h"
#include "onnx.pb-c.h"

#include <string.h>

/* Swaps the last two dimensions. */
static uint32_t swap_last(struct pim_onnx_importer *i, const char *suffix, uint32_t layer)
{
    struct pim_shape shape = pim_onnx_shape_of(i, layer);
    uint32_t order[PIM_SHAPE_RANK];
    if (shape.rank < 2)
        return layer;
    for (uint32_t d = 0; d < shape.rank; d++)
        order[d] = d;
    order[shape.rank - 2] = shape.rank - 1;
    order[shape.rank - 1] = shape.rank - 2;
    return pim_onnx_transpose(i, suffix, layer, order);
}

/* How a matrix of weights is used. */
struct use {
    struct pim_onnx_value *weights;
    struct pim_onnx_value *bias; /* of the node itself, or NULL */
    uint32_t outputs;
    bool turned;      /* its rows are outputs */
    bool swap_output; /* the outputs become rows */
};

/* What pim_onnx_absorb_affine() says of a product that it did not look behind. */
static void absorb_nothing(struct pim_onnx_importer *i)
{
    i->shift = PIM_NONE;
    i->scale = PIM_NONE;
    i->shifts = i->scales = 0;
}

/* The value whose copy value number `index` is; PIM_NONE of none. */
static uint32_t origin_of(struct pim_onnx_importer *i, uint32_t index)
{
    return index == PIM_NONE ? PIM_NONE : (uint32_t)(pim_onnx_origin(i, &i->value[index]) - i->value);
}

static uint32_t outputs_of(const struct pim_onnx_importer *i, uint32_t linear)
{
    return i->network->graph.layers[linear].attributes.linear.outputs;
}

/* A layer that multiplies by a matrix with the same bias and the same scale of its columns as an earlier one
 * shares its weights; others can share those of this one, unless it has several of either. */
static void share(struct pim_onnx_importer *i, const struct use *use, union pim_attributes *a, uint32_t layer)
{
    struct pim_onnx_value *matrix = pim_onnx_origin(i, use->weights);
    const bool turned = use->turned != use->weights->turned;
    const uint32_t bias = origin_of(i, use->bias ? (uint32_t)(use->bias - i->value) : i->shift),
                   scale = origin_of(i, i->scale);
    if (i->scales > 1 || i->shifts + (use->bias != NULL) > 1)
        return;
    const bool used = matrix->linear != PIM_NONE;
    const bool same = used && matrix->linear_shift == bias && matrix->linear_scale == scale;
    if (same && (bias == PIM_NONE || a->linear.outputs == outputs_of(i, matrix->linear))) {
        a->linear.shared = true;
        a->linear.weights_of = matrix->linear;
        a->linear.transposed = turned != matrix->linear_turned;
    }
    if (!used && !i->folding) {
        matrix->linear = layer;
        matrix->linear_shift = bias;
        matrix->linear_scale = scale;
        matrix->linear_turned = turned;
    }
}

/* A constant matrix as the weights of a product with `layer`; the second use of the same matrix shares them.
 */
static void bind_linear(struct pim_onnx_importer *i, uint32_t layer, const struct use *use)
{
    uint32_t outputs = use->outputs;
    union pim_attributes a = {.linear = {.outputs = outputs, .bias = use->bias != NULL}};
    struct pim_shape shape = pim_onnx_shape_of(i, layer);
    if (i->status != PIM_OK)
        return;
    uint32_t value = pim_onnx_names_find(&i->value_names, i->node->output[0]);
    absorb_nothing(i);
    if (!use->swap_output && !pim_onnx_has(i, "activation")) {
        struct pim_shape scale = {.rank = shape.rank};
        for (uint32_t d = 0; d < shape.rank; d++)
            scale.dimension[d] = d + 1 == shape.rank ? outputs : 1;
        value = pim_onnx_absorb_affine(i, &scale, shape.rank - 1, &a.linear.bias);
    }
    share(i, use, &a, i->network->graph.count);
    layer = pim_onnx_add(i, PIM_OPERATOR_LINEAR, "", &a, 1, &layer);
    layer = pim_onnx_fused_activation(i, layer);
    pim_onnx_bind_value(i, value, use->swap_output ? swap_last(i, "output", layer) : layer);
}

/* A matrix of `rank` 2 whose dimension `along` must be `inner`. */
static bool matrix_fits(struct pim_onnx_importer *i, const struct pim_onnx_value *matrix, uint32_t along,
                        uint32_t inner)
{
    if (i->status == PIM_OK && matrix->shape.dimension[along] != inner)
        pim_onnx_fail(i, "inner dimensions are %u and %u: they must be equal", inner,
                      matrix->shape.dimension[along]);
    return i->status == PIM_OK;
}

/* A product with a learned matrix to which something is added that is no bias: a sum of its own follows. */
static uint32_t add_linear(struct pim_onnx_importer *i, uint32_t layer, const struct use *use)
{
    union pim_attributes a = {.linear = {.outputs = use->outputs}};
    absorb_nothing(i);
    share(i, use, &a, i->network->graph.count);
    return pim_onnx_add(i, PIM_OPERATOR_LINEAR, "", &a, 1, &layer);
}

void pim_onnx_convert_gemm(struct pim_onnx_importer *i, unsigned unused)
{
    (void)unused;
    bool quantized = strcmp(i->node->op_type, "QGemm") == 0; /* a scale and a zero point behind each */
    struct pim_onnx_value *a = pim_onnx_input(i, 0), *b = pim_onnx_input(i, quantized ? 3 : 1);
    struct pim_onnx_value *c = pim_onnx_optional_input(i, quantized ? 6 : 2);
    bool swap_a = pim_onnx_integer(i, "transA", 0) != 0, swap_b = pim_onnx_integer(i, "transB", 0) != 0;
    if (i->status == PIM_OK && (a->shape.rank != 2 || b->shape.rank != 2)) {
        pim_onnx_fail(i, "its matrices have %u and %u dimensions: 2 are needed", a->shape.rank,
                      b->shape.rank);
        return;
    }
    uint32_t layer = pim_onnx_layer_of(i, a);
    if (swap_a)
        layer = swap_last(i, "input", layer);
    uint32_t inner = pim_onnx_shape_of(i, layer).dimension[1], outputs = b->shape.dimension[swap_b ? 0 : 1];
    bool row = c && c->kind == PIM_ONNX_CONSTANT && pim_onnx_elements(&c->shape) == outputs &&
               (c->shape.rank == 0 || c->shape.dimension[c->shape.rank - 1] == outputs);
    bool none = !c || (c->kind == PIM_ONNX_CONSTANT && pim_onnx_elements(&c->shape) == 1);
    const struct use use = {.weights = b, .bias = row ? c : NULL, .outputs = outputs, .turned = swap_b};
    const bool learned = b->kind == PIM_ONNX_CONSTANT;
    if (learned && !matrix_fits(i, b, swap_b ? 1 : 0, inner))
        return;
    if (learned && (row || none)) {
        bind_linear(i, layer, &use);
        return;
    }
    if (learned) {
        layer = add_linear(i, layer, &use);
    } else {
        const union pim_attributes product = {.matrix = {.transpose_second = swap_b}};
        const uint32_t inputs[2] = {layer, pim_onnx_layer_of(i, b)};
        layer = pim_onnx_add(i, PIM_OPERATOR_MATRIX_MULTIPLICATION, "", &product, 2, inputs);
    }
    if (c && !none) {
        const union pim_attributes add = {.elementwise = PIM_ELEMENTWISE_ADD};
        const uint32_t sum[2] = {layer, pim_onnx_layer_of(i, c)};
        layer = pim_onnx_add(i, PIM_OPERATOR_ELEMENTWISE, "add", &add, 2, sum);
    }
    pim_onnx_bind_layer(i, 0, pim_onnx_fused_activation(i, layer));
}

/* A vector on one side of a product counts as a matrix of one row (or column), which goes again afterwards.
 */
static uint32_t as_matrix(struct pim_onnx_importer *i, struct pim_onnx_value *value, bool column)
{
    uint32_t layer = pim_onnx_layer_of(i, value);
    if (value->shape.rank != 1)
        return layer;
    struct pim_shape shape = {.rank = 2, .dimension = {1, 1}};
    shape.dimension[column ? 0 : 1] = value->shape.dimension[0];
    return pim_onnx_reshape(i, column ? "column" : "row", layer, &shape);
}

static void multiply_activations(struct pim_onnx_importer *i, struct pim_onnx_value *a,
                                 struct pim_onnx_value *b)
{
    static const union pim_attributes plain;
    const uint32_t inputs[2] = {as_matrix(i, a, false), as_matrix(i, b, true)};
    uint32_t layer = pim_onnx_add(i, PIM_OPERATOR_MATRIX_MULTIPLICATION, "", &plain, 2, inputs);
    struct pim_shape shape = pim_onnx_shape_of(i, layer), out = {.rank = 0};
    for (uint32_t d = 0; d < shape.rank; d++) {
        bool gone =
            (d + 2 == shape.rank && a->shape.rank == 1) || (d + 1 == shape.rank && b->shape.rank == 1);
        if (!gone)
            out.dimension[out.rank++] = shape.dimension[d];
    }
    pim_onnx_bind_layer(i, 0, pim_onnx_reshape(i, "vector", layer, &out));
}

void pim_onnx_convert_matmul(struct pim_onnx_importer *i, unsigned unused)
{
    (void)unused;
    bool quantized = strcmp(i->node->op_type, "QLinearMatMul") == 0;
    struct pim_onnx_value *a = pim_onnx_input(i, 0), *b = pim_onnx_input(i, quantized ? 3 : 1);
    if (i->status == PIM_OK && (a->shape.rank == 0 || b->shape.rank == 0))
        pim_onnx_fail(i, "one of its inputs is a scalar: matrices or vectors are needed");
    if (i->status != PIM_OK)
        return;
    /* A constant matrix with leading dimensions of 1 is the same matrix for the whole batch. */
    bool b_matrix = b->kind == PIM_ONNX_CONSTANT && b->shape.rank >= 2 && b->shape.rank <= a->shape.rank &&
                    pim_onnx_elements(&b->shape) == (uint64_t)b->shape.dimension[b->shape.rank - 1] *
                                                        b->shape.dimension[b->shape.rank - 2];
    if (b_matrix) {
        uint32_t layer = pim_onnx_layer_of(i, a);
        if (matrix_fits(i, b, b->shape.rank - 2, a->shape.dimension[a->shape.rank - 1]))
            bind_linear(i, layer,
                        &(struct use){.weights = b, .outputs = b->shape.dimension[b->shape.rank - 1]});
    } else if (a->kind == PIM_ONNX_CONSTANT && a->shape.rank == 2 && b->shape.rank >= 2) {
        /* W x = (x^T W^T)^T */
        uint32_t layer = swap_last(i, "input", pim_onnx_layer_of(i, b));
        if (matrix_fits(i, a, 1, b->shape.dimension[b->shape.rank - 2]))
            bind_linear(
                i, layer,
                &(struct use){
                    .weights = a, .outputs = a->shape.dimension[0], .turned = true, .swap_output = true});
    } else {
        multiply_activations(i, a, b);
    }
}

/* com.microsoft: a product with either side transposed. */
void pim_onnx_convert_fused_matmul(struct pim_onnx_importer *i, unsigned unused)
{
    struct pim_onnx_value *a = pim_onnx_input(i, 0), *b = pim_onnx_input(i, 1);
    bool swap_a = pim_onnx_integer(i, "transA", 0) != 0, swap_b = pim_onnx_integer(i, "transB", 0) != 0;
    if (pim_onnx_integer(i, "transBatchA", 0) != 0 || pim_onnx_integer(i, "transBatchB", 0) != 0)
        pim_onnx_fail(i, "transposed batches are not supported");
    if (i->status == PIM_OK && !swap_a && !swap_b) {
        pim_onnx_convert_matmul(i, unused);
        return;
    }
    if (i->status == PIM_OK && (a->shape.rank < 2 || b->shape.rank < 2))
        pim_onnx_fail(i, "its matrices have %u and %u dimensions: at least 2 are needed", a->shape.rank,
                      b->shape.rank);
    if (i->status != PIM_OK)
        return;
    uint32_t layer = pim_onnx_layer_of(i, a);
    layer = swap_a ? swap_last(i, "input", layer) : layer;
    const struct pim_shape first = pim_onnx_shape_of(i, layer);
    if (i->status == PIM_OK && b->kind == PIM_ONNX_CONSTANT && b->shape.rank == 2) {
        if (matrix_fits(i, b, swap_b ? 1 : 0, first.dimension[first.rank - 1]))
            bind_linear(
                i, layer,
                &(struct use){.weights = b, .outputs = b->shape.dimension[swap_b ? 0 : 1], .turned = swap_b});
        return;
    }
    const union pim_attributes product = {.matrix = {.transpose_second = swap_b}};
    const uint32_t inputs[2] = {layer, pim_onnx_layer_of(i, b)};
    pim_onnx_bind_layer(i, 0, pim_onnx_add(i, PIM_OPERATOR_MATRIX_MULTIPLICATION, "", &product, 2, inputs));
}

/* com.microsoft: weights of few bits, packed; their sizes are attributes. */
void pim_onnx_convert_packed_matmul(struct pim_onnx_importer *i, unsigned unused)
{
    (void)unused;
    uint32_t layer = pim_onnx_layer_of(i, pim_onnx_input(i, 0));
    const struct pim_shape shape = pim_onnx_shape_of(i, layer);
    int64_t inner = pim_onnx_integer(i, "K", 0);
    const union pim_attributes a = {
        .linear = {.outputs = pim_onnx_size(i, "N", pim_onnx_integer(i, "N", 0), 1),
                   .bias = pim_onnx_optional_input(i, 5) != NULL}};
    if (i->status == PIM_OK && (shape.rank == 0 || shape.dimension[shape.rank - 1] != inner))
        pim_onnx_fail(i, "its input must have K (%lld) channels", (long long)inner);
    pim_onnx_bind_layer(i, 0, pim_onnx_add(i, PIM_OPERATOR_LINEAR, "", &a, 1, &layer));
}
