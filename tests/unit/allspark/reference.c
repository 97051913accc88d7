/* The equations of a block, a branch at a time, and the windows of every second block, shifted. */
#include "tests/unit/allspark/reference.h"

#include "tests/unit/allspark/algebra.h"

#include <stdlib.h>
#include <string.h>

struct block {
    const struct pim_allspark_partition *stage;
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

/* One head: q is N x channels, k and v are M x channels; its channels from `first` on. */
static void attend(const uint64_t *q, const uint64_t *k, const uint64_t *v, uint64_t *z,
                   const struct pim_allspark_partition *s, uint32_t first)
{
    uint32_t tokens = s->tokens, keys = s->key_tokens, channels = s->channels, d = s->head_channels;
    uint64_t *row = matrix(1, keys);
    for (uint32_t i = 0; i < tokens; i++) {
        uint64_t sum = 0;
        for (uint32_t j = 0; j < keys; j++) {
            row[j] = 0;
            for (uint32_t c = first; c < first + d; c++)
                row[j] += q[(size_t)i * channels + c] * k[(size_t)j * channels + c];
            sum += exponential_of(row[j]);
        }
        for (uint32_t j = 0; j < keys; j++)
            for (uint32_t c = first; c < first + d; c++)
                z[(size_t)i * channels + c] += softmax_of(row[j], sum) * v[(size_t)j * channels + c];
    }
    free(row);
}

/* z += the depthwise 3 x 3 convolution of v, a map of height x width, in channels `first` to `end` - 1; zeros
   beyond it. */
static void convolve(const struct block *block, const uint64_t *v, uint64_t *z, uint32_t height,
                     uint32_t width, uint32_t channels, uint32_t first, uint32_t end)
{
    for (uint32_t y = 0; y < height; y++)
        for (uint32_t x = 0; x < width; x++)
            for (uint32_t tap = 0; tap < 9; tap++) {
                uint32_t row = y + tap / 3 - 1, column = x + tap % 3 - 1; /* before the map: wraps */
                for (uint32_t c = first; c < end && row < height && column < width; c++)
                    z[((size_t)y * width + x) * channels + c] +=
                        weight_value(block->index, block->block, WEIGHT_POSITION, tap, c) *
                        v[((size_t)row * width + column) * channels + c];
            }
}

static void attention(const struct block *block, uint64_t *x)
{
    const struct pim_allspark_partition *s = block->stage;
    uint32_t n = s->tokens, c = s->channels, keys = s->key_tokens;
    uint64_t *y = matrix(n, c), *q = matrix(n, c), *k = matrix(keys, c), *v = matrix(keys, c),
             *z = matrix(n, c);
    uint64_t *reduced = matrix(keys, c), *source = y;
    normalise(x, y, n, c);
    multiply(block, PIM_ALLSPARK_QUERY, y, q, n, c, c);
    if (s->reduction > 1) { /* `reduction` tokens side by side are one row */
        multiply(block, PIM_ALLSPARK_REDUCTION, y, reduced, keys, s->reduction * c, c);
        normalise(reduced, reduced, keys, c);
        source = reduced;
    }
    multiply(block, PIM_ALLSPARK_KEY, source, k, keys, c, c);
    multiply(block, PIM_ALLSPARK_VALUE, source, v, keys, c, c);
    for (uint32_t head = 0; head < s->heads; head++)
        attend(q, k, v, z, s, head * s->head_channels);
    if (s->position.convolution == PIM_CONVOLUTION_OVER_VALUES)
        convolve(block, v, z, s->position.height, s->position.width, c, 0, c);
    multiply(block, PIM_ALLSPARK_PROJECTION, z, x, n, c, c);
    free(y);
    free(q);
    free(k);
    free(v);
    free(z);
    free(reduced);
}

static void feed_forward(const struct block *block, uint64_t *x)
{
    const struct pim_allspark_partition *s = block->stage;
    uint64_t *y = matrix(s->tokens, s->channels), *hidden = matrix(s->tokens, s->hidden);
    normalise(x, y, s->tokens, s->channels);
    multiply(block, PIM_ALLSPARK_EXPAND, y, hidden, s->tokens, s->channels, s->hidden);
    for (size_t i = 0; i < (size_t)s->tokens * s->hidden; i++)
        hidden[i] = gelu_of(hidden[i]);
    multiply(block, PIM_ALLSPARK_CONTRACT, hidden, x, s->tokens, s->hidden, s->channels);
    free(y);
    free(hidden);
}

/* Windows whose tokens are those `by` tokens farther down and right on the map of the old ones,
   cyclically. */
static void shift(const struct pim_allspark_partition *s, const struct reference_map *map, uint64_t **x,
                  uint32_t by)
{
    uint32_t w = map->window, height = map->rows * w, width = map->columns * w, c = s->channels;
    uint64_t *whole = matrix((uint64_t)height * width, c);
    for (uint32_t branch = 0; branch < s->branches; branch++)
        for (uint32_t t = 0; t < s->tokens; t++) {
            uint32_t y = branch / map->columns * w + t / w, column = branch % map->columns * w + t % w;
            memcpy(whole + ((size_t)y * width + column) * c, x[branch] + (size_t)t * c, c * sizeof *whole);
        }
    for (uint32_t branch = 0; branch < s->branches; branch++)
        for (uint32_t t = 0; t < s->tokens; t++) {
            uint32_t y = (branch / map->columns * w + t / w + by) % height,
                     column = (branch % map->columns * w + t % w + by) % width;
            memcpy(x[branch] + (size_t)t * c, whole + ((size_t)y * width + column) * c, c * sizeof *whole);
        }
    free(whole);
}

static uint64_t *embed(const struct pim_allspark_partition *s, uint32_t index, uint32_t image,
                       uint32_t branch)
{
    uint64_t *x = matrix(s->tokens, s->channels), *inputs = matrix(s->tokens, s->merge_inputs);
    for (uint32_t t = s->class_tokens; t < s->tokens; t++)
        for (uint32_t k = 0; k < s->merge_inputs; k++)
            inputs[(size_t)t * s->merge_inputs + k] = input_value(index, image, branch, t, k);
    const struct block block = {s, index, 0};
    multiply(&block, PIM_ALLSPARK_MERGE, inputs, x, s->tokens, s->merge_inputs, s->channels);
    for (uint32_t c = 0; c < s->channels && s->class_tokens; c++)
        x[c] = class_value(c);
    free(inputs);
    return x;
}

/* Behind the first block: x += convolution of x, where windows are on the map. */
static void encode_position(const struct block *block, const struct reference_map *map, uint64_t **x)
{
    uint32_t c = block->stage->channels, w = map->window, all = map->height * map->width;
    uint64_t *whole = matrix(all, c), *sum = matrix(all, c);
    for (unsigned back = 0; back < 2; back++) {
        for (uint32_t i = 0; i < all; i++) {
            uint32_t y = i / map->width, column = i % map->width;
            uint64_t *token = x[y / w * map->columns + column / w] + (size_t)(y % w * w + column % w) * c;
            for (uint32_t j = 0; j < c; j++) {
                if (back)
                    token[j] += sum[(size_t)i * c + j];
                else
                    whole[(size_t)i * c + j] = token[j];
            }
        }
        if (!back)
            convolve(block, whole, sum, map->height, map->width, c, 0, c);
    }
    free(whole);
    free(sum);
}

uint64_t **reference_stage(const struct pim_allspark_partition *s, uint32_t index,
                           const struct reference_map *map, uint32_t image)
{
    uint64_t **x = calloc(s->branches, sizeof *x);
    if (!x)
        abort();
    for (uint32_t branch = 0; branch < s->branches; branch++)
        x[branch] = embed(s, index, image, branch);
    for (struct block block = {s, index, 0}; block.block < s->blocks; block.block++) {
        bool shifted = map->window > 0 && s->branches > 1 && block.block % 2 == 1;
        if (shifted)
            shift(s, map, x, map->window / 2);
        for (uint32_t branch = 0; branch < s->branches; branch++) {
            attention(&block, x[branch]);
            feed_forward(&block, x[branch]);
        }
        if (block.block == 0 && s->position.convolution == PIM_CONVOLUTION_OVER_MAP)
            encode_position(&block, map, x);
        if (shifted) /* the map is a whole number of windows */
            shift(s, map, x, map->rows * map->columns * map->window - map->window / 2);
    }
    return x;
}

/* --- Focal --- */

/* Query, key and value of all branches; keys and values of the pooled windows. */
struct focal {
    const struct pim_allspark_partition *part;
    const struct reference_map *map;
    uint32_t expand;
    uint64_t **q, **k, **v, **pooled_k, **pooled_v;
};

static uint64_t **matrices(uint32_t count, uint64_t rows, uint64_t columns)
{
    uint64_t **list = calloc(count, sizeof *list);
    if (!list)
        abort();
    for (uint32_t i = 0; i < count; i++)
        list[i] = matrix(rows, columns);
    return list;
}

static void free_matrices(uint64_t **list, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        free(list[i]);
    free(list);
}

static void project(const struct block *block, const struct focal *f, uint32_t branch, const uint64_t *x)
{
    uint32_t n = f->part->tokens, c = f->part->channels;
    uint64_t *y = matrix(n, c), *pooled = matrix(1, c);
    normalise(x, y, n, c);
    for (uint32_t t = 0; t < n; t++)
        for (uint32_t i = 0; i < c; i++)
            pooled[i] +=
                weight_value(block->index, block->block, PIM_ALLSPARK_POOL, t, 0) * y[(size_t)t * c + i];
    multiply(block, PIM_ALLSPARK_QUERY, y, f->q[branch], n, c, c);
    multiply(block, PIM_ALLSPARK_KEY, y, f->k[branch], n, c, c);
    multiply(block, PIM_ALLSPARK_VALUE, y, f->v[branch], n, c, c);
    multiply(block, PIM_ALLSPARK_KEY, pooled, f->pooled_k[branch], 1, c, c);
    multiply(block, PIM_ALLSPARK_VALUE, pooled, f->pooled_v[branch], 1, c, c);
    free(y);
    free(pooled);
}

/* All keys (or values) that a branch sees, as they come: the region line by line on the whole map, then the
   pooled windows around it. */
static void collect(const struct focal *f, uint32_t branch, uint64_t **fine, uint64_t **pooled, uint64_t *all)
{
    int w = (int)f->map->window, rows = (int)f->map->rows, columns = (int)f->map->columns;
    int e = (int)f->expand, side = (int)f->map->side, row = (int)branch / columns,
        column = (int)branch % columns;
    size_t c = f->part->channels;
    for (int y = row * w - e; y < row * w + w + e; y++)
        for (int x = column * w - e; x < column * w + w + e; x++, all += c) {
            int down = (y + 1000 * rows * w) % (rows * w), right = (x + 1000 * columns * w) % (columns * w);
            const uint64_t *window = fine[down / w * columns + right / w];
            memcpy(all, window + (size_t)(down % w * w + right % w) * c, c * sizeof *all);
        }
    for (int y = row - side / 2; y <= row + side / 2; y++)
        for (int x = column - side / 2; x <= column + side / 2; x++, all += c)
            if (y >= 0 && y < rows && x >= 0 && x < columns)
                memcpy(all, pooled[y * columns + x], c * sizeof *all);
}

static void attend_region(const struct block *block, const struct focal *f, uint32_t branch, uint64_t *x)
{
    const struct pim_allspark_partition *s = f->part;
    uint64_t *k = matrix(s->key_tokens, s->channels), *v = matrix(s->key_tokens, s->channels),
             *z = matrix(s->tokens, s->channels);
    collect(f, branch, f->k, f->pooled_k, k);
    collect(f, branch, f->v, f->pooled_v, v);
    for (uint32_t head = 0; head < s->heads; head++)
        attend(f->q[branch], k, v, z, s, head * s->head_channels);
    multiply(block, PIM_ALLSPARK_PROJECTION, z, x, s->tokens, s->channels, s->channels);
    free(k);
    free(v);
    free(z);
}

uint64_t **reference_focal(const struct pim_allspark_partition *s, uint32_t index,
                           const struct reference_map *map, uint32_t expand, uint32_t image)
{
    uint64_t **x = calloc(s->branches, sizeof *x);
    if (!x)
        abort();
    for (uint32_t branch = 0; branch < s->branches; branch++)
        x[branch] = embed(s, index, image, branch);
    for (struct block block = {s, index, 0}; block.block < s->blocks; block.block++) {
        uint32_t n = s->tokens, c = s->channels, count = s->branches;
        struct focal f = {.part = s, .map = map, .expand = expand};
        f.q = matrices(count, n, c);
        f.k = matrices(count, n, c);
        f.v = matrices(count, n, c);
        f.pooled_k = matrices(count, 1, c);
        f.pooled_v = matrices(count, 1, c);
        for (uint32_t branch = 0; branch < count; branch++)
            project(&block, &f, branch, x[branch]);
        for (uint32_t branch = 0; branch < count; branch++) {
            attend_region(&block, &f, branch, x[branch]);
            feed_forward(&block, x[branch]);
        }
        free_matrices(f.q, count);
        free_matrices(f.k, count);
        free_matrices(f.v, count);
        free_matrices(f.pooled_k, count);
        free_matrices(f.pooled_v, count);
    }
    return x;
}

/* --- Twins --- */

/* Where token `place` of the order of global attention is on the map: side x side patches one after another,
   then what is beyond them. */
static void find_places(const struct reference_map *map, uint32_t *places)
{
    uint32_t side = map->side, count = 0;
    bool *seen = calloc((size_t)map->height * map->width, sizeof *seen);
    if (!seen)
        abort();
    for (uint32_t y = 0; y + side <= map->height; y += side)
        for (uint32_t x = 0; x + side <= map->width; x += side)
            for (uint32_t i = 0; i < side * side; i++) {
                places[count] = (y + i / side) * map->width + x + i % side;
                seen[places[count++]] = true;
            }
    for (uint32_t place = 0; place < map->height * map->width; place++)
        if (!seen[place])
            places[count++] = place;
    free(seen);
}

/* Windows to the one global branch, or back: then windows beyond the map go on at its other end. */
static void carry(const struct reference_map *map, const uint32_t *places, uint32_t channels,
                  uint64_t **windows, uint64_t *global, bool back)
{
    uint32_t w = map->window;
    for (uint32_t i = 0; i < map->height * map->width; i++)
        for (uint32_t y = places[i] / map->width; y < map->rows * w; y += map->height)
            for (uint32_t x = places[i] % map->width; x < map->columns * w; x += map->width) {
                uint64_t *token =
                    windows[y / w * map->columns + x / w] + (size_t)(y % w * w + x % w) * channels;
                uint64_t *other = global + (size_t)i * channels;
                if (back)
                    memcpy(token, other, channels * sizeof *token);
                else if (y < map->height && x < map->width)
                    memcpy(other, token, channels * sizeof *token);
            }
}

static struct pim_allspark_partition whole_of(const struct pim_allspark_partition *part)
{
    struct pim_allspark_partition whole = *part;
    whole.tokens *= part->branches;
    whole.branches = 1;
    return whole;
}

/* The branches of a map, one after another. */
static uint64_t **cut(const struct pim_allspark_partition *part, uint64_t **map)
{
    size_t each = (size_t)part->tokens * part->channels;
    uint64_t **branches = matrices(part->branches, part->tokens, part->channels);
    for (uint32_t b = 0; b < part->branches; b++)
        memcpy(branches[b], map[0] + b * each, each * sizeof *map[0]);
    free(map[0]);
    free(map);
    return branches;
}

uint64_t **reference_twins(const struct reference_kind *windows, const struct reference_kind *global,
                           const struct reference_map *map, uint32_t image)
{
    /* The map as one branch, however it is cut. */
    const struct pim_allspark_partition *local = windows->part, whole_map = whole_of(global->part),
                                        *whole = &whole_map;
    uint64_t **x = calloc(local->branches, sizeof *x), **y = calloc(1, sizeof *y);
    uint32_t *places = calloc(whole->tokens, sizeof *places);
    if (!x || !y || !places)
        abort();
    y[0] = matrix(whole->tokens, whole->channels);
    find_places(map, places);
    for (uint32_t branch = 0; branch < local->branches; branch++)
        x[branch] = embed(local, windows->index, image, branch);
    for (uint32_t i = 0; i < local->blocks + whole->blocks; i++) {
        const struct block block = {i % 2 ? whole : local, i % 2 ? global->index : windows->index, i / 2};
        if (i > 0)
            carry(map, places, whole->channels, x, y[0], i % 2 == 0);
        for (uint32_t branch = 0; branch < block.stage->branches; branch++) {
            attention(&block, i % 2 ? y[branch] : x[branch]);
            feed_forward(&block, i % 2 ? y[branch] : x[branch]);
        }
        if (i == 0)
            encode_position(&block, map, x);
    }
    bool ends = local->blocks > whole->blocks; /* in windows */
    uint64_t **dead = ends ? y : x;
    for (uint32_t branch = 0; branch < (ends ? 1 : local->branches); branch++)
        free(dead[branch]);
    free(dead);
    free(places);
    return ends ? x : cut(global->part, y);
}

/* --- CSWin --- */

/* The values of a stripe, line by line of the map across or along which it goes: z += their convolution. The
   lines of a vertical stripe are columns of the map, so that its taps are turned. */
static void convolve_stripe(const struct block *block, bool vertical, uint32_t stripe, const uint64_t *v,
                            uint64_t *z)
{
    uint32_t side = block->stage->tokens, c = block->stage->channels, half = c / 2;
    for (uint32_t t = 0; t < stripe * side; t++)
        for (uint32_t tap = 0; tap < 9; tap++) {
            uint32_t across = vertical ? tap % 3 : tap / 3, along = vertical ? tap / 3 : tap % 3;
            uint32_t line = t / side + across - 1, place = t % side + along - 1; /* in front: wraps */
            for (uint32_t i = vertical ? 0 : half; i < (vertical ? half : c) && line < stripe && place < side;
                 i++)
                z[(size_t)t * c + i] += weight_value(block->index, block->block, WEIGHT_POSITION, tap, i) *
                                        v[((size_t)line * side + place) * c + i];
        }
}

/* The first half of the channels in stripes of `stripe` columns of the map, or the second in stripes of rows:
   what reaches beyond the map, half of it in front, goes on at its other end. q, k, v, z: the map, row by
   row. */
static void attend_stripes(const struct block *block, uint32_t stripe, bool vertical,
                           uint64_t *const matrices[4])
{
    const struct pim_allspark_partition *rows = block->stage;
    uint32_t side = rows->tokens, channels = rows->channels, lines = (side + stripe - 1) / stripe * stripe;
    uint32_t front = (lines - side) / 2, tokens = stripe * side;
    const struct pim_allspark_partition shape = {
        .tokens = tokens, .key_tokens = tokens, .channels = channels, .head_channels = rows->head_channels};
    size_t width = channels * sizeof(uint64_t);
    for (uint32_t first = 0; first < lines; first += stripe) {
        uint64_t *parts[4];
        for (unsigned i = 0; i < 4; i++)
            parts[i] = matrix(tokens, channels);
        for (uint32_t t = 0; t < 4 * tokens; t++) {
            uint32_t line = (first + t % tokens / side + side * stripe - front) % side, along = t % side;
            size_t place = vertical ? along * side + line : line * side + along;
            memcpy(parts[t / tokens] + (size_t)(t % tokens) * channels,
                   matrices[t / tokens] + place * channels, width);
        }
        for (uint32_t head = vertical ? 0 : rows->heads / 2;
             head < (vertical ? rows->heads / 2 : rows->heads); head++)
            attend(parts[0], parts[1], parts[2], parts[3], &shape, head * rows->head_channels);
        convolve_stripe(block, vertical, stripe, parts[2], parts[3]);
        for (uint32_t t = 0; t < tokens; t++) {
            uint32_t line = first + t / side - front, along = t % side; /* in front: wraps, beyond the map */
            if (line < side)
                memcpy(matrices[3] +
                           (vertical ? along * side + line : line * side + along) * (size_t)channels,
                       parts[3] + (size_t)t * channels, width);
        }
        for (unsigned i = 0; i < 4; i++)
            free(parts[i]);
    }
}

uint64_t **reference_cswin(const struct pim_allspark_partition *rows, uint32_t index, uint32_t stripe,
                           uint32_t image)
{
    uint32_t side = rows->tokens, c = rows->channels, all = side * side;
    struct pim_allspark_partition row = *rows;
    uint64_t **x = calloc(side, sizeof *x), *map = matrix(all, c);
    if (!x)
        abort();
    for (uint32_t y = 0; y < side; y++)
        x[y] = embed(&row, index, image, y);
    for (struct block block = {&row, index, 0}; block.block < rows->blocks; block.block++) {
        uint64_t *matrices[4], *normal = matrix(all, c);
        for (uint32_t y = 0; y < side; y++)
            memcpy(map + (size_t)y * side * c, x[y], (size_t)side * c * sizeof *map);
        normalise(map, normal, all, c);
        for (unsigned i = 0; i < 4; i++) {
            static const enum pim_allspark_weight weights[] = {PIM_ALLSPARK_QUERY, PIM_ALLSPARK_KEY,
                                                               PIM_ALLSPARK_VALUE};
            matrices[i] = matrix(all, c);
            if (i < 3)
                multiply(&block, weights[i], normal, matrices[i], all, c, c);
        }
        attend_stripes(&block, stripe, true, matrices);
        uint64_t *vertical = matrices[3];
        matrices[3] = matrix(all, c);
        attend_stripes(&block, stripe, false, matrices);
        for (size_t i = 0; i < (size_t)all * c; i++)
            if (i % c < c / 2)
                matrices[3][i] = vertical[i];
        free(vertical);
        multiply(&block, PIM_ALLSPARK_PROJECTION, matrices[3], map, all, c, c);
        for (uint32_t y = 0; y < side; y++) {
            memcpy(x[y], map + (size_t)y * side * c, (size_t)side * c * sizeof *map);
            feed_forward(&block, x[y]);
        }
        free(normal);
        for (unsigned i = 0; i < 4; i++)
            free(matrices[i]);
    }
    free(map);
    return x;
}

void reference_head(const struct pim_allspark_partition *stage, uint32_t index, const uint64_t *token,
                    uint32_t classes, uint64_t *logits)
{
    memset(logits, 0, classes * sizeof *logits);
    for (uint32_t c = 0; c < stage->channels; c++)
        for (uint32_t j = 0; j < classes; j++)
            logits[j] += token[c] * weight_value(index, 0, WEIGHT_HEAD, c, j);
}
