/* Direct evaluation of products of two activations. */
#include "mappers/verify/evaluate_internal.h"
#include "mappers/verify/value.h"

/* Sum over `count` pairs of elements, which lie step_a and step_b apart. */
static int16_t inner_product(const int16_t *a, uint64_t step_a, const int16_t *b, uint64_t step_b,
                             uint32_t count)
{
    int64_t sum = 0;
    for (uint32_t i = 0; i < count; i++)
        sum = pim_value_cut(sum + (int32_t)a[i * step_a] * b[i * step_b]);
    return pim_value_cut(sum);
}

/* queries [branches, rows, heads * inner] x keys [branches, columns, heads * inner]
 * -> [branches, heads, rows, columns]; a relative position bias is a function of its own. */
static void evaluate_scores(struct pim_evaluation *e)
{
    const struct pim_shape *query = pim_evaluation_shape(e, 0);
    const uint32_t *d = e->layer->output.dimension;
    uint32_t channels = query->dimension[2], inner = channels / d[1];
    bool biased = e->layer->attributes.attention.bias_parameters > 0;
    for (uint64_t i = 0; i < e->elements; i++) {
        uint64_t column = i % d[3], row = i / d[3] % d[2], head = i / d[3] / d[2] % d[1];
        uint64_t branch = i / d[3] / d[2] / d[1];
        int16_t value = inner_product(
            pim_evaluation_input(e, 0) + (branch * d[2] + row) * channels + head * inner, 1,
            pim_evaluation_input(e, 1) + (branch * d[3] + column) * channels + head * inner, 1, inner);
        e->output[i] =
            biased ? pim_value_function(PIM_VALUE_FUNCTION_ELEMENTWISE + PIM_ELEMENTWISE_ADD, value) : value;
    }
}

/* probabilities [branches, heads, rows, inner] x values [branches, inner, heads * columns]
 * -> [branches, rows, heads * columns] */
static void evaluate_context(struct pim_evaluation *e)
{
    const uint32_t *p = pim_evaluation_shape(e, 0)->dimension, *d = e->layer->output.dimension;
    uint32_t columns = d[2] / p[1];
    for (uint64_t i = 0; i < e->elements; i++) {
        uint64_t channel = i % d[2], row = i / d[2] % d[1], branch = i / d[2] / d[1];
        uint64_t head = channel / columns;
        e->output[i] =
            inner_product(pim_evaluation_input(e, 0) + ((branch * p[1] + head) * p[2] + row) * p[3], 1,
                          pim_evaluation_input(e, 1) + branch * p[3] * d[2] + channel, d[2], p[3]);
    }
}

/* Which matrix of input `input` meets matrix `index` of the output: leading dimensions are repeated. */
static uint64_t matrix_of(const struct pim_evaluation *e, uint32_t input, uint64_t index)
{
    const struct pim_shape *in = pim_evaluation_shape(e, input), *out = &e->layer->output;
    uint64_t matrix = 0, inner = 1;
    for (uint32_t d = out->rank - 2; d-- > 0; index /= out->dimension[d]) {
        uint32_t missing = out->rank - in->rank;
        if (d < missing)
            continue;
        uint32_t size = in->dimension[d - missing];
        matrix += (size == 1 ? 0 : index % out->dimension[d]) * inner;
        inner *= size;
    }
    return matrix;
}

static void evaluate_matrices(struct pim_evaluation *e)
{
    const struct pim_shape *a = pim_evaluation_shape(e, 0), *out = &e->layer->output;
    uint64_t rows = out->dimension[out->rank - 2], columns = out->dimension[out->rank - 1];
    uint32_t inner = a->dimension[a->rank - 1];
    bool turned = e->layer->attributes.matrix.transpose_second;
    for (uint64_t i = 0; i < e->elements; i++) {
        uint64_t column = i % columns, row = i / columns % rows, matrix = i / columns / rows;
        const int16_t *left = pim_evaluation_input(e, 0) + (matrix_of(e, 0, matrix) * rows + row) * inner;
        const int16_t *right = pim_evaluation_input(e, 1) + matrix_of(e, 1, matrix) * inner * columns;
        e->output[i] = turned ? inner_product(left, 1, right + column * inner, 1, inner)
                              : inner_product(left, 1, right + column, columns, inner);
    }
}

void pim_evaluate_product(struct pim_evaluation *e)
{
    if (e->layer->operation == PIM_OPERATOR_ATTENTION_SCORES)
        evaluate_scores(e);
    else if (e->layer->operation == PIM_OPERATOR_ATTENTION_CONTEXT)
        evaluate_context(e);
    else
        evaluate_matrices(e);
}
