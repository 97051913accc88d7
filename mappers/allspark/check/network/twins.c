/* Twins: blocks in windows and global blocks in turn. */
#include "mappers/allspark/check/network/parts.h"

#include <string.h>

/* Where token `place` of the order of global attention is on the map: side x side patches one after another,
   then what is beyond them. */
static uint32_t *find_places(struct space *space, const struct reference_map *map)
{
    uint32_t side = map->side, all = map->height * map->width, count = 0;
    uint32_t *places = space->failed ? NULL : PIM_ARENA_ARRAY(&space->arena, uint32_t, all);
    bool *seen = space->failed ? NULL : PIM_ARENA_ARRAY(&space->arena, bool, all);
    space->failed = !places || !seen;
    if (space->failed)
        return NULL;
    for (uint32_t y = 0; y + side <= map->height; y += side)
        for (uint32_t x = 0; x + side <= map->width; x += side)
            for (uint32_t i = 0; i < side * side; i++) {
                places[count] = (y + i / side) * map->width + x + i % side;
                seen[places[count++]] = true;
            }
    for (uint32_t place = 0; place < all; place++)
        if (!seen[place])
            places[count++] = place;
    return places;
}

/* Windows to the one global branch, or back: then windows beyond the map go on at its other end. */
static void carry(const struct reference_map *map, const uint32_t *places, size_t channels,
                  uint16_t **windows, uint16_t *global, bool back)
{
    uint32_t w = map->window;
    for (uint32_t i = 0; i < map->height * map->width; i++)
        for (uint32_t y = places[i] / map->width; y < map->rows * w; y += map->height)
            for (uint32_t x = places[i] % map->width; x < map->columns * w; x += map->width) {
                uint16_t *token =
                    windows[y / w * map->columns + x / w] + (size_t)(y % w * w + x % w) * channels;
                uint16_t *other = global + i * channels;
                if (back)
                    memcpy(token, other, channels * sizeof *token);
                else if (y < map->height && x < map->width)
                    memcpy(other, token, channels * sizeof *token);
            }
}

uint16_t **reference_twins(struct space *space, const struct reference_kind *windows,
                           const struct reference_kind *global, const struct reference_map *map,
                           uint32_t image)
{
    const struct pim_allspark_partition *local = windows->part, *whole = global->part;
    struct kind kinds[2];
    uint16_t **x = space_matrices(space, local->branches, local->tokens, local->channels);
    uint16_t *y = space_matrix(space, whole->tokens, whole->channels);
    const uint32_t *places = find_places(space, map);
    if (!kind_initialize(&kinds[0], space, local, windows->index) ||
        !kind_initialize(&kinds[1], space, whole, global->index))
        return NULL;
    kind_enter(&kinds[0], 0);
    for (uint32_t branch = 0; branch < local->branches; branch++)
        kind_embed(&kinds[0], image, branch, x[branch]);
    for (uint32_t i = 0; i < local->blocks + whole->blocks; i++) {
        struct kind *kind = &kinds[i % 2];
        if (i > 0) {
            kind_enter(kind, i / 2);
            carry(map, places, whole->channels, x, y, i % 2 == 0);
        }
        for (uint32_t branch = 0; branch < kind->shape->branches; branch++) {
            kind_attention(kind, i % 2 ? y : x[branch]);
            kind_feed_forward(kind, i % 2 ? y : x[branch]);
        }
        if (i == 0 && !kind_encode_position(kind, space, map, x))
            return NULL;
    }
    if (local->blocks > whole->blocks) /* ends in windows */
        return x;
    *x = y;
    return x;
}
