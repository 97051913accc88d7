/* Focal: windows of the map attend to the tokens up to `expand` around them, cyclically, and to side x side
   pooled windows, zeros beyond the border. */
#include "mappers/allspark/check/network/parts.h"
#include "mappers/allspark/check/numbers.h"

#include <string.h>

/* Query, key and value of all branches; keys and values of the pooled windows; those that one branch sees. */
struct focal {
    struct kind kind;
    const struct reference_map *map;
    uint16_t **q, **k, **v, **pooled_k, **pooled_v;
    uint16_t *pooled;
};

static bool initialize(struct focal *f, struct space *space, const struct pim_allspark_partition *s,
                       uint32_t index)
{
    f->q = space_matrices(space, s->branches, s->tokens, s->channels);
    f->k = space_matrices(space, s->branches, s->tokens, s->channels);
    f->v = space_matrices(space, s->branches, s->tokens, s->channels);
    f->pooled_k = space_matrices(space, s->branches, 1, s->channels);
    f->pooled_v = space_matrices(space, s->branches, 1, s->channels);
    f->pooled = space_matrix(space, 1, s->channels);
    return kind_initialize(&f->kind, space, s, index);
}

static void multiply(const struct focal *f, enum pim_allspark_weight weight, const uint16_t *input,
                     uint16_t *output, uint32_t rows)
{
    memset(output, 0, (size_t)rows * f->kind.shape->channels * sizeof *output);
    kind_multiply(&f->kind, weight, input, output, rows);
}

static void project(const struct focal *f, uint32_t branch, const uint16_t *x)
{
    uint32_t n = f->kind.shape->tokens;
    size_t c = f->kind.shape->channels;
    uint16_t *y = f->kind.y;
    allspark_normalise(x, y, n, c);
    memset(f->pooled, 0, c * sizeof *f->pooled);
    for (uint32_t t = 0; t < n; t++)
        for (size_t i = 0; i < c; i++)
            f->pooled[i] = plus_product(f->pooled[i], f->kind.weights[PIM_ALLSPARK_POOL][t], y[t * c + i]);
    multiply(f, PIM_ALLSPARK_QUERY, y, f->q[branch], n);
    multiply(f, PIM_ALLSPARK_KEY, y, f->k[branch], n);
    multiply(f, PIM_ALLSPARK_VALUE, y, f->v[branch], n);
    multiply(f, PIM_ALLSPARK_KEY, f->pooled, f->pooled_k[branch], 1);
    multiply(f, PIM_ALLSPARK_VALUE, f->pooled, f->pooled_v[branch], 1);
}

/* All keys (or values) that a branch sees, as they come: the region line by line on the whole map, then the
   pooled windows around it. */
static void collect(const struct focal *f, uint32_t branch, uint16_t **fine, uint16_t **pooled, uint16_t *all)
{
    int w = (int)f->map->window, rows = (int)f->map->rows, columns = (int)f->map->columns;
    int e = (int)f->map->expand, side = (int)f->map->side, row = (int)branch / columns,
        column = (int)branch % columns;
    size_t c = f->kind.shape->channels;
    for (int y = row * w - e; y < row * w + w + e; y++)
        for (int x = column * w - e; x < column * w + w + e; x++, all += c) {
            int down = (y + 1000 * rows * w) % (rows * w), right = (x + 1000 * columns * w) % (columns * w);
            const uint16_t *window = fine[down / w * columns + right / w];
            memcpy(all, window + (size_t)(down % w * w + right % w) * c, c * sizeof *all);
        }
    for (int y = row - side / 2; y <= row + side / 2; y++)
        for (int x = column - side / 2; x <= column + side / 2; x++, all += c) {
            if (y >= 0 && y < rows && x >= 0 && x < columns)
                memcpy(all, pooled[y * columns + x], c * sizeof *all);
            else
                memset(all, 0, c * sizeof *all);
        }
}

static void attend_region(const struct focal *f, uint32_t branch, uint16_t *x)
{
    const struct pim_allspark_partition *s = f->kind.shape;
    uint16_t *z = f->kind.z;
    memset(z, 0, (size_t)s->tokens * s->channels * sizeof *z);
    collect(f, branch, f->k, f->pooled_k, f->kind.k);
    collect(f, branch, f->v, f->pooled_v, f->kind.v);
    for (uint32_t head = 0; head < s->heads; head++)
        kind_attend(&f->kind, f->q[branch], f->kind.k, f->kind.v, z, head * s->head_channels);
    kind_multiply(&f->kind, PIM_ALLSPARK_PROJECTION, z, x, s->tokens);
}

uint16_t **reference_focal(struct space *space, const struct pim_allspark_partition *s, uint32_t index,
                           const struct reference_map *map, uint32_t image)
{
    struct focal f = {.map = map};
    uint16_t **x = space_matrices(space, s->branches, s->tokens, s->channels);
    if (!initialize(&f, space, s, index))
        return NULL;
    kind_enter(&f.kind, 0);
    for (uint32_t branch = 0; branch < s->branches; branch++)
        kind_embed(&f.kind, image, branch, x[branch]);
    for (uint32_t block = 0; block < s->blocks; block++) {
        if (block > 0)
            kind_enter(&f.kind, block);
        for (uint32_t branch = 0; branch < s->branches; branch++)
            project(&f, branch, x[branch]);
        for (uint32_t branch = 0; branch < s->branches; branch++) {
            attend_region(&f, branch, x[branch]);
            kind_feed_forward(&f.kind, x[branch]);
        }
    }
    return x;
}
