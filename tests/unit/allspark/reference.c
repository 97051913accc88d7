/* The equations of a block, a branch at a time. */
#include "tests/unit/allspark/reference.h"

#include "tests/unit/allspark/algebra.h"

#include <stdlib.h>
#include <string.h>

struct block {
    const struct pim_allspark_stage *stage;
    uint32_t index, block;
};

static uint64_t *matrix(uint64_t rows, uint64_t columns)
{
    uint64_t *values = calloc(rows * columns + 1, sizeof *values);
    if (!values)
        abort();
    return values;
}

/* output[m][n] += input[m][k] * W[k][n] */
static void multiply(const struct block *block, enum pim_allspark_weight weight, const uint64_t *input,
                     uint64_t *output, uint32_t m, uint32_t k, uint32_t n)
{
    for (uint32_t c = 0; c < k; c++)
        for (uint32_t j = 0; j < n; j++) {
            uint64_t value = weight_value(block->index, block->block, weight, c, j);
            for (uint32_t i = 0; i < m; i++)
                output[(size_t)i * n + j] += input[(size_t)i * k + c] * value;
        }
}

static void normalise(const uint64_t *x, uint64_t *y, uint32_t rows, uint32_t channels)
{
    for (uint32_t i = 0; i < rows; i++, x += channels, y += channels) {
        uint64_t sum = 0, squares = 0;
        for (uint32_t c = 0; c < channels; c++) {
            sum += x[c];
            squares += x[c] * x[c];
        }
        for (uint32_t c = 0; c < channels; c++)
            y[c] = normal_of(x[c], sum, squares);
    }
}

/* One head: q, k, v are N x channels; d channels from `first` on. */
static void attend(const uint64_t *q, const uint64_t *k, const uint64_t *v, uint64_t *z, uint32_t tokens,
                   uint32_t channels, uint32_t first, uint32_t d)
{
    uint64_t *row = matrix(1, tokens);
    for (uint32_t i = 0; i < tokens; i++) {
        uint64_t sum = 0;
        for (uint32_t j = 0; j < tokens; j++) {
            row[j] = 0;
            for (uint32_t c = first; c < first + d; c++)
                row[j] += q[(size_t)i * channels + c] * k[(size_t)j * channels + c];
            sum += exponential_of(row[j]);
        }
        for (uint32_t j = 0; j < tokens; j++)
            for (uint32_t c = first; c < first + d; c++)
                z[(size_t)i * channels + c] += softmax_of(row[j], sum) * v[(size_t)j * channels + c];
    }
    free(row);
}

static void attention(const struct block *block, uint64_t *x)
{
    const struct pim_allspark_stage *s = block->stage;
    uint32_t n = s->tokens, c = s->channels;
    uint64_t *y = matrix(n, c), *q = matrix(n, c), *k = matrix(n, c), *v = matrix(n, c), *z = matrix(n, c);
    normalise(x, y, n, c);
    multiply(block, PIM_ALLSPARK_QUERY, y, q, n, c, c);
    multiply(block, PIM_ALLSPARK_KEY, y, k, n, c, c);
    multiply(block, PIM_ALLSPARK_VALUE, y, v, n, c, c);
    for (uint32_t head = 0; head < s->heads; head++)
        attend(q, k, v, z, n, c, head * s->head_channels, s->head_channels);
    multiply(block, PIM_ALLSPARK_PROJECTION, z, x, n, c, c);
    free(y);
    free(q);
    free(k);
    free(v);
    free(z);
}

static void feed_forward(const struct block *block, uint64_t *x)
{
    const struct pim_allspark_stage *s = block->stage;
    uint64_t *y = matrix(s->tokens, s->channels), *hidden = matrix(s->tokens, s->hidden);
    normalise(x, y, s->tokens, s->channels);
    multiply(block, PIM_ALLSPARK_EXPAND, y, hidden, s->tokens, s->channels, s->hidden);
    for (size_t i = 0; i < (size_t)s->tokens * s->hidden; i++)
        hidden[i] = gelu_of(hidden[i]);
    multiply(block, PIM_ALLSPARK_CONTRACT, hidden, x, s->tokens, s->hidden, s->channels);
    free(y);
    free(hidden);
}

uint64_t *reference_stage(const struct pim_allspark_stage *s, uint32_t index, uint32_t branch)
{
    uint64_t *x = matrix(s->tokens, s->channels), *inputs = matrix(s->tokens, s->merge_inputs);
    for (uint32_t t = s->class_tokens; t < s->tokens; t++)
        for (uint32_t k = 0; k < s->merge_inputs; k++)
            inputs[(size_t)t * s->merge_inputs + k] = input_value(index, branch, t, k);
    struct block block = {s, index, 0};
    multiply(&block, PIM_ALLSPARK_MERGE, inputs, x, s->tokens, s->merge_inputs, s->channels);
    for (uint32_t c = 0; c < s->channels && s->class_tokens; c++)
        x[c] = class_value(c);
    for (; block.block < s->blocks; block.block++) {
        attention(&block, x);
        feed_forward(&block, x);
    }
    free(inputs);
    return x;
}

void reference_head(const struct pim_allspark_stage *stage, uint32_t index, const uint64_t *token,
                    uint32_t classes, uint64_t *logits)
{
    memset(logits, 0, classes * sizeof *logits);
    for (uint32_t c = 0; c < stage->channels; c++)
        for (uint32_t j = 0; j < classes; j++)
            logits[j] += token[c] * weight_value(index, 0, WEIGHT_HEAD, c, j);
}
