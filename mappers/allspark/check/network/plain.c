/* Branches that are alike: ViT, Swin with its shifted windows, PVT, and the global stages of others. */
#include "mappers/allspark/check/network/parts.h"

#include <string.h>

/* Windows whose tokens are those `by` tokens farther down and right on the map of the old ones,
   cyclically. */
static void shift(const struct pim_allspark_partition *s, const struct reference_map *map, uint16_t **x,
                  uint16_t *whole, uint32_t by)
{
    uint32_t w = map->window, height = map->rows * w, width = map->columns * w;
    size_t c = s->channels;
    for (uint32_t branch = 0; branch < s->branches; branch++)
        for (uint32_t t = 0; t < s->tokens; t++) {
            uint32_t y = branch / map->columns * w + t / w, column = branch % map->columns * w + t % w;
            memcpy(whole + ((size_t)y * width + column) * c, x[branch] + t * c, c * sizeof *whole);
        }
    for (uint32_t branch = 0; branch < s->branches; branch++)
        for (uint32_t t = 0; t < s->tokens; t++) {
            uint32_t y = (branch / map->columns * w + t / w + by) % height,
                     column = (branch % map->columns * w + t % w + by) % width;
            memcpy(x[branch] + t * c, whole + ((size_t)y * width + column) * c, c * sizeof *whole);
        }
}

uint16_t **reference_plain(struct space *space, const struct pim_allspark_partition *s, uint32_t index,
                           const struct reference_map *map, uint32_t image)
{
    struct kind kind;
    uint16_t **x = space_matrices(space, s->branches, s->tokens, s->channels);
    uint64_t all = (uint64_t)map->rows * map->columns * map->window * map->window;
    uint16_t *whole = space_matrix(space, all, s->channels);
    if (!kind_initialize(&kind, space, s, index))
        return NULL;
    kind_enter(&kind, 0);
    for (uint32_t branch = 0; branch < s->branches; branch++)
        kind_embed(&kind, image, branch, x[branch]);
    for (uint32_t block = 0; block < s->blocks; block++) {
        bool shifted = map->window > 0 && s->branches > 1 && block % 2 == 1;
        if (block > 0)
            kind_enter(&kind, block);
        if (shifted)
            shift(s, map, x, whole, map->window / 2);
        for (uint32_t branch = 0; branch < s->branches; branch++) {
            kind_attention(&kind, x[branch]);
            kind_feed_forward(&kind, x[branch]);
        }
        if (block == 0 && s->position.convolution == PIM_CONVOLUTION_OVER_MAP &&
            !kind_encode_position(&kind, space, map, x))
            return NULL;
        if (shifted) /* the map is a whole number of windows */
            shift(s, map, x, whole, map->rows * map->columns * map->window - map->window / 2);
    }
    return x;
}
