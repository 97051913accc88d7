/* Direct evaluation of products of two activations. */
#include "mappers/verify/evaluate_internal.h"

/* Element `i` of the output: `count` products of elements of both inputs, from `a` and `b` on. */
static void add_products(struct pim_evaluation *e, uint64_t i, uint64_t a, uint64_t step_a, uint64_t b,
                         uint64_t step_b, uint64_t count)
{
    e->arithmetic->add_products(pim_evaluation_to(e, e->output, i), pim_evaluation_at(e, e->input[0], a),
                                step_a, pim_evaluation_at(e, e->input[1], b), step_b, count);
}

/* queries [branches, rows, heads * inner] x keys [branches, columns, heads * inner]
 * -> [branches, heads, rows, columns] */
static enum pim_status evaluate_scores(struct pim_evaluation *e)
{
    const struct pim_shape *query = pim_evaluation_shape(e, 0);
    const uint32_t *d = e->layer->output.dimension;
    uint32_t channels = query->dimension[2], inner = channels / d[1];
    for (uint64_t i = 0; i < e->elements; i++) {
        uint64_t column = i % d[3], row = i / d[3] % d[2], head = i / d[3] / d[2] % d[1];
        uint64_t branch = i / d[3] / d[2] / d[1];
        add_products(e, i, (branch * d[2] + row) * channels + head * inner, 1,
                     (branch * d[3] + column) * channels + head * inner, 1, inner);
    }
    return e->arithmetic->finish_scores(e, inner);
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
        add_products(e, i, ((branch * p[1] + head) * p[2] + row) * p[3], 1, branch * p[3] * d[2] + channel,
                     d[2], p[3]);
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
    uint64_t inner = a->dimension[a->rank - 1];
    bool turned = e->layer->attributes.matrix.transpose_second;
    for (uint64_t i = 0; i < e->elements; i++) {
        uint64_t column = i % columns, row = i / columns % rows, matrix = i / columns / rows;
        uint64_t left = (matrix_of(e, 0, matrix) * rows + row) * inner;
        uint64_t right = matrix_of(e, 1, matrix) * inner * columns;
        add_products(e, i, left, 1, right + (turned ? column * inner : column), turned ? 1 : columns, inner);
    }
}

enum pim_status pim_evaluate_product(struct pim_evaluation *e)
{
    if (e->layer->operation == PIM_OPERATOR_ATTENTION_SCORES)
        return evaluate_scores(e);
    if (e->layer->operation == PIM_OPERATOR_ATTENTION_CONTEXT)
        evaluate_context(e);
    else
        evaluate_matrices(e);
    return PIM_OK;
}
