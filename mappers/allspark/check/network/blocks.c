/* The equations of a block, a branch at a time. */
#include "mappers/allspark/check/network/parts.h"
#include "mappers/allspark/check/numbers.h"

#include <string.h>

enum { TAPS = 9 };

uint16_t *space_matrix(struct space *space, uint64_t rows, uint64_t columns)
{
    uint16_t *matrix = space->failed
                           ? NULL
                           : pim_arena_allocate_array(&space->arena, rows * columns + 1, sizeof *matrix, 64);
    space->failed = space->failed || !matrix;
    return matrix;
}

uint16_t **space_matrices(struct space *space, uint32_t count, uint64_t rows, uint64_t columns)
{
    uint16_t **list = space->failed ? NULL : PIM_ARENA_ARRAY(&space->arena, uint16_t *, count);
    space->failed = space->failed || !list;
    for (uint32_t i = 0; i < count && !space->failed; i++)
        list[i] = space_matrix(space, rows, columns);
    return space->failed ? NULL : list;
}

/* --- weights --- */

static void extent(const struct pim_allspark_partition *s, enum pim_allspark_weight weight, uint32_t *k,
                   uint32_t *n)
{
    *k = *n = s->channels;
    if (weight == PIM_ALLSPARK_MERGE)
        *k = s->merge_inputs;
    else if (weight == PIM_ALLSPARK_REDUCTION)
        *k = s->reduction > 1 ? s->reduction * s->channels : 0;
    else if (weight == PIM_ALLSPARK_EXPAND)
        *n = s->hidden;
    else if (weight == PIM_ALLSPARK_CONTRACT)
        *k = s->hidden;
    else if (weight == PIM_ALLSPARK_POSITION)
        *k = TAPS;
    else if (weight == PIM_ALLSPARK_POOL) {
        *k = s->tokens;
        *n = 1;
    }
}

bool kind_initialize(struct kind *kind, struct space *space, const struct pim_allspark_partition *s,
                     uint32_t index)
{
    *kind = (struct kind){.shape = s, .index = index};
    for (enum pim_allspark_weight weight = 0; weight < PIM_ALLSPARK_WEIGHTS; weight++) {
        uint32_t k, n;
        extent(s, weight, &k, &n);
        kind->weights[weight] = space_matrix(space, k, n);
    }
    kind->inputs = space_matrix(space, s->tokens, s->merge_inputs);
    kind->y = space_matrix(space, s->tokens, s->channels);
    kind->q = space_matrix(space, s->tokens, s->channels);
    kind->k = space_matrix(space, s->key_tokens, s->channels);
    kind->v = space_matrix(space, s->key_tokens, s->channels);
    kind->z = space_matrix(space, s->tokens, s->channels);
    kind->reduced = space_matrix(space, s->key_tokens, s->channels);
    kind->hidden = space_matrix(space, s->tokens, s->hidden);
    kind->row = space_matrix(space, 1, s->key_tokens);
    return !space->failed;
}

void kind_enter(struct kind *kind, uint32_t block)
{
    kind->block = block;
    for (enum pim_allspark_weight weight = 0; weight < PIM_ALLSPARK_WEIGHTS; weight++) {
        uint32_t k, n;
        uint64_t matrix = weight_matrix(kind->index, block, weight);
        extent(kind->shape, weight, &k, &n);
        if (weight == PIM_ALLSPARK_MERGE && block > 0)
            continue;
        for (uint32_t i = 0; i < k; i++) {
            uint64_t row = weight_row(matrix, i);
            for (uint32_t j = 0; j < n; j++)
                kind->weights[weight][(size_t)i * n + j] = weight_number(row, j);
        }
    }
}

void kind_multiply(const struct kind *kind, enum pim_allspark_weight weight, const uint16_t *input,
                   uint16_t *output, uint32_t m)
{
    uint32_t k, n;
    extent(kind->shape, weight, &k, &n);
    allspark_product(input, kind->weights[weight], output, m, n, k, n);
}

void kind_embed(const struct kind *kind, uint32_t image, uint32_t branch, uint16_t *x)
{
    const struct pim_allspark_partition *s = kind->shape;
    size_t inputs = s->merge_inputs, channels = s->channels;
    for (uint32_t t = s->class_tokens; t < s->tokens; t++) {
        uint64_t row = input_row(kind->index, image, branch, t);
        for (uint32_t k = 0; k < inputs; k++)
            kind->inputs[t * inputs + k] = input_number(row, k);
    }
    kind_multiply(kind, PIM_ALLSPARK_MERGE, kind->inputs + s->class_tokens * inputs,
                  x + s->class_tokens * channels, s->tokens - s->class_tokens);
    for (uint32_t c = 0; c < channels && s->class_tokens; c++)
        x[c] = class_number(c);
}

/* --- attention --- */

void kind_attend(const struct kind *kind, const uint16_t *q, const uint16_t *k, const uint16_t *v,
                 uint16_t *z, uint32_t first)
{
    const struct pim_allspark_partition *s = kind->shape;
    size_t channels = s->channels, d = s->head_channels;
    uint16_t *row = kind->row;
    for (uint32_t i = 0; i < s->tokens; i++) {
        const uint16_t *query = q + i * channels + first;
        uint16_t *context = z + i * channels + first;
        uint64_t sum = 0;
        for (uint32_t j = 0; j < s->key_tokens; j++) {
            const uint16_t *key = k + j * channels + first;
            uint16_t score = 0;
            for (size_t c = 0; c < d; c++)
                score = plus_product(score, query[c], key[c]);
            row[j] = score;
            sum += exponential_of(score);
        }
        for (uint32_t j = 0; j < s->key_tokens; j++) {
            const uint16_t *value = v + j * channels + first;
            uint16_t share = softmax_of(row[j], sum);
            for (size_t c = 0; c < d; c++)
                context[c] = plus_product(context[c], share, value[c]);
        }
    }
}

/* z += the depthwise 3 x 3 convolution of v, a map of height x width; zeros beyond it. */
static void convolve(const struct kind *kind, const uint16_t *v, uint16_t *z, uint32_t height, uint32_t width)
{
    size_t channels = kind->shape->channels;
    for (uint32_t y = 0; y < height; y++)
        for (uint32_t x = 0; x < width; x++)
            for (uint32_t tap = 0; tap < TAPS; tap++) {
                uint32_t row = y + tap / 3 - 1, column = x + tap % 3 - 1; /* before the map: wraps */
                const uint16_t *weights = kind->weights[PIM_ALLSPARK_POSITION] + tap * channels;
                uint16_t *sum = z + ((size_t)y * width + x) * channels;
                for (size_t c = 0; c < channels && row < height && column < width; c++)
                    sum[c] =
                        plus_product(sum[c], weights[c], v[((size_t)row * width + column) * channels + c]);
            }
}

void kind_attention(const struct kind *kind, uint16_t *x)
{
    const struct pim_allspark_partition *s = kind->shape;
    size_t n = s->tokens, c = s->channels, keys = s->key_tokens;
    const uint16_t *source = kind->y;
    memset(kind->q, 0, n * c * sizeof *kind->q);
    memset(kind->z, 0, n * c * sizeof *kind->z);
    memset(kind->k, 0, keys * c * sizeof *kind->k);
    memset(kind->v, 0, keys * c * sizeof *kind->v);
    allspark_normalise(x, kind->y, n, c);
    kind_multiply(kind, PIM_ALLSPARK_QUERY, kind->y, kind->q, s->tokens);
    if (s->reduction > 1) { /* `reduction` tokens side by side are one row */
        memset(kind->reduced, 0, keys * c * sizeof *kind->reduced);
        kind_multiply(kind, PIM_ALLSPARK_REDUCTION, kind->y, kind->reduced, s->key_tokens);
        allspark_normalise(kind->reduced, kind->reduced, keys, c);
        source = kind->reduced;
    }
    kind_multiply(kind, PIM_ALLSPARK_KEY, source, kind->k, s->key_tokens);
    kind_multiply(kind, PIM_ALLSPARK_VALUE, source, kind->v, s->key_tokens);
    for (uint32_t head = 0; head < s->heads; head++)
        kind_attend(kind, kind->q, kind->k, kind->v, kind->z, head * s->head_channels);
    if (s->position.convolution == PIM_CONVOLUTION_OVER_VALUES)
        convolve(kind, kind->v, kind->z, s->position.height, s->position.width);
    kind_multiply(kind, PIM_ALLSPARK_PROJECTION, kind->z, x, s->tokens);
}

void kind_feed_forward(const struct kind *kind, uint16_t *x)
{
    const struct pim_allspark_partition *s = kind->shape;
    size_t all = (size_t)s->tokens * s->hidden;
    allspark_normalise(x, kind->y, s->tokens, s->channels);
    memset(kind->hidden, 0, all * sizeof *kind->hidden);
    kind_multiply(kind, PIM_ALLSPARK_EXPAND, kind->y, kind->hidden, s->tokens);
    for (size_t i = 0; i < all; i++)
        kind->hidden[i] = gelu_of(kind->hidden[i]);
    kind_multiply(kind, PIM_ALLSPARK_CONTRACT, kind->hidden, x, s->tokens);
}

bool kind_encode_position(const struct kind *kind, struct space *space, const struct reference_map *map,
                          uint16_t **x)
{
    size_t c = kind->shape->channels, w = map->window, all = (size_t)map->height * map->width;
    uint16_t *whole = space_matrix(space, all, c), *sum = space_matrix(space, all, c);
    for (unsigned back = 0; back < 2 && !space->failed; back++) {
        for (size_t i = 0; i < all; i++) {
            size_t y = i / map->width, column = i % map->width;
            uint16_t *token = x[y / w * map->columns + column / w] + (y % w * w + column % w) * c;
            for (size_t j = 0; j < c; j++) {
                if (back)
                    token[j] = plus(token[j], sum[i * c + j]);
                else
                    whole[i * c + j] = token[j];
            }
        }
        if (!back)
            convolve(kind, whole, sum, map->height, map->width);
    }
    return !space->failed;
}
