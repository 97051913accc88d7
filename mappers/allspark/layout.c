/*
 * Structured layout (Algorithm 1 of the paper): a grid of equal sub-arrays, and in the strip that is left a
 * grid of turned ones. Both orientations of the main grid are tried and the one with more sub-arrays is
 * taken, the upright one at equality.
 *
 * The paper's line 6 turns only the strip along the side on which the longer edge lies; so does this. (The
 * other strip is narrower than the shorter edge: nothing fits there, however it is turned.)
 */
#include "mappers/allspark/planning.h"

#include <stdlib.h>

/* Main grid and strip for the a-side along the A-side; tiles may be NULL to count only. `turned`: the
   caller has swapped a and b. */
static uint32_t structure(uint32_t A, uint32_t B, uint32_t a, uint32_t b, bool turned,
                          struct pim_allspark_tile *tiles)
{
    if (a == 0 || b == 0 || a > A || b > B)
        return 0;
    uint32_t rows = A / a, columns = B / b, count = 0;
    for (uint32_t i = 0; tiles && i < rows; i++)
        for (uint32_t j = 0; j < columns; j++, count++)
            tiles[count] = (struct pim_allspark_tile){.x = j * b, .y = i * a, .turned = turned};
    uint32_t y = 0, x = 0, height = A, width = B;
    if (a > b) {
        y = rows * a;
        height = A - y;
    } else {
        x = columns * b;
        width = B - x;
    }
    if (!tiles)
        return rows * columns + height / b * (width / a);
    for (uint32_t i = 0; i < height / b; i++)
        for (uint32_t j = 0; j < width / a; j++, count++)
            tiles[count] = (struct pim_allspark_tile){.x = x + j * a, .y = y + i * b, .turned = !turned};
    return count;
}

uint32_t pim_allspark_layout_count(uint32_t array_height, uint32_t array_width, uint32_t height,
                                   uint32_t width)
{
    uint32_t upright = structure(array_height, array_width, height, width, false, NULL);
    uint32_t turned = structure(array_height, array_width, width, height, true, NULL);
    return upright >= turned ? upright : turned;
}

bool pim_allspark_layout(uint32_t array_height, uint32_t array_width, uint32_t height, uint32_t width,
                         struct pim_allspark_layout *layout)
{
    uint32_t upright = structure(array_height, array_width, height, width, false, NULL);
    uint32_t turned = structure(array_height, array_width, width, height, true, NULL);
    layout->count = upright >= turned ? upright : turned;
    layout->tiles = calloc((size_t)layout->count + 1, sizeof *layout->tiles);
    if (!layout->tiles)
        return false;
    if (upright >= turned)
        (void)structure(array_height, array_width, height, width, false, layout->tiles);
    else
        (void)structure(array_height, array_width, width, height, true, layout->tiles);
    return true;
}

uint32_t pim_tile_unit(const struct pim_allspark_plan *plan, const struct pim_allspark_tile *tile,
                       uint32_t ring, uint32_t column)
{
    uint32_t x = tile->x + (tile->turned ? ring : column);
    uint32_t y = tile->y + (tile->turned ? column : ring);
    return y * plan->hardware.width + x;
}
