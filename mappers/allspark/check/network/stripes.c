/* CSWin: half of the heads attend in vertical stripes, half in horizontal ones. */
#include "mappers/allspark/check/network/parts.h"
#include "mappers/allspark/check/numbers.h"

#include <string.h>

enum { Q, K, V, Z, MATRICES };

struct cswin {
    struct kind rows;                               /* the shape of a row of the map */
    struct kind stripe;                             /* the shape of a stripe, for the attention */
    struct pim_allspark_partition shape;            /* of it */
    uint32_t width;                                 /* of a stripe */
    uint16_t *map, *normal;                         /* the whole map, row by row */
    uint16_t *matrices[MATRICES], *parts[MATRICES]; /* of the map; of a stripe */
};

static bool initialize(struct cswin *c, struct space *space, const struct pim_allspark_partition *rows,
                       uint32_t index, uint32_t stripe)
{
    uint64_t all = (uint64_t)rows->tokens * rows->tokens;
    c->width = stripe;
    c->shape = *rows;
    c->shape.tokens = c->shape.key_tokens = stripe * rows->tokens;
    c->map = space_matrix(space, all, rows->channels);
    c->normal = space_matrix(space, all, rows->channels);
    for (int i = 0; i < MATRICES; i++) {
        c->matrices[i] = space_matrix(space, all, rows->channels);
        c->parts[i] = space_matrix(space, c->shape.tokens, rows->channels);
    }
    c->stripe = (struct kind){.shape = &c->shape, .row = space_matrix(space, 1, c->shape.key_tokens)};
    return kind_initialize(&c->rows, space, rows, index);
}

/* The values of a stripe, line by line of the map across or along which it goes: z += their convolution. The
   lines of a vertical stripe are columns of the map, so that its taps are turned. */
static void convolve(const struct cswin *cswin, bool vertical)
{
    uint32_t side = cswin->rows.shape->tokens, stripe = cswin->width;
    size_t c = cswin->rows.shape->channels, half = c / 2;
    for (uint32_t t = 0; t < stripe * side; t++)
        for (uint32_t tap = 0; tap < 9; tap++) {
            uint32_t across = vertical ? tap % 3 : tap / 3, along = vertical ? tap / 3 : tap % 3;
            uint32_t line = t / side + across - 1, place = t % side + along - 1; /* in front: wraps */
            const uint16_t *weights = cswin->rows.weights[PIM_ALLSPARK_POSITION] + tap * c;
            for (size_t i = vertical ? 0 : half; i < (vertical ? half : c) && line < stripe && place < side;
                 i++) {
                uint16_t *z = &cswin->parts[Z][t * c + i];
                *z = plus_product(*z, weights[i], cswin->parts[V][((size_t)line * side + place) * c + i]);
            }
        }
}

/* The first half of the channels in stripes of columns of the map, or the second in stripes of rows: what
   reaches beyond the map, half of it in front, goes on at its other end. */
static void attend_stripes(struct cswin *cswin, bool vertical)
{
    const struct pim_allspark_partition *rows = cswin->rows.shape;
    uint32_t side = rows->tokens, stripe = cswin->width, lines = (side + stripe - 1) / stripe * stripe;
    uint32_t front = (lines - side) / 2, tokens = stripe * side;
    size_t channels = rows->channels, width = channels * sizeof(uint16_t);
    for (uint32_t first = 0; first < lines; first += stripe) {
        for (uint32_t t = 0; t < MATRICES * tokens; t++) {
            uint32_t line = (first + t % tokens / side + side * stripe - front) % side, along = t % side;
            size_t place = vertical ? (size_t)along * side + line : (size_t)line * side + along;
            memcpy(cswin->parts[t / tokens] + t % tokens * channels,
                   cswin->matrices[t / tokens] + place * channels, width);
        }
        for (uint32_t head = vertical ? 0 : rows->heads / 2;
             head < (vertical ? rows->heads / 2 : rows->heads); head++)
            kind_attend(&cswin->stripe, cswin->parts[Q], cswin->parts[K], cswin->parts[V], cswin->parts[Z],
                        head * rows->head_channels);
        convolve(cswin, vertical);
        for (uint32_t t = 0; t < tokens; t++) {
            uint32_t line = first + t / side - front, along = t % side; /* in front: wraps, beyond the map */
            size_t place = vertical ? (size_t)along * side + line : (size_t)line * side + along;
            if (line < side)
                memcpy(cswin->matrices[Z] + place * channels, cswin->parts[Z] + t * channels, width);
        }
    }
}

/* The context of the whole map. */
static void attend(struct cswin *cswin, uint32_t all)
{
    static const enum pim_allspark_weight weights[] = {PIM_ALLSPARK_QUERY, PIM_ALLSPARK_KEY,
                                                       PIM_ALLSPARK_VALUE};
    size_t c = cswin->rows.shape->channels, bytes = all * c * sizeof(uint16_t);
    allspark_normalise(cswin->map, cswin->normal, all, c);
    for (int i = 0; i < MATRICES; i++)
        memset(cswin->matrices[i], 0, bytes);
    for (int i = Q; i <= V; i++)
        kind_multiply(&cswin->rows, weights[i], cswin->normal, cswin->matrices[i], all);
    attend_stripes(cswin, true);
    attend_stripes(cswin, false);
}

uint16_t **reference_cswin(struct space *space, const struct pim_allspark_partition *rows, uint32_t index,
                           uint32_t stripe, uint32_t image)
{
    struct cswin cswin;
    uint32_t side = rows->tokens, all = side * side;
    size_t line = (size_t)side * rows->channels;
    uint16_t **x = space_matrices(space, side, side, rows->channels);
    if (!initialize(&cswin, space, rows, index, stripe))
        return NULL;
    kind_enter(&cswin.rows, 0);
    for (uint32_t y = 0; y < side; y++)
        kind_embed(&cswin.rows, image, y, x[y]);
    for (uint32_t block = 0; block < rows->blocks; block++) {
        if (block > 0)
            kind_enter(&cswin.rows, block);
        for (uint32_t y = 0; y < side; y++)
            memcpy(cswin.map + y * line, x[y], line * sizeof *cswin.map);
        attend(&cswin, all);
        kind_multiply(&cswin.rows, PIM_ALLSPARK_PROJECTION, cswin.matrices[Z], cswin.map, all);
        for (uint32_t y = 0; y < side; y++) {
            memcpy(x[y], cswin.map + y * line, line * sizeof *cswin.map);
            kind_feed_forward(&cswin.rows, x[y]);
        }
    }
    return x;
}
