/* Where the tokens of a branch come from, when features go between two groupings of a map into branches. */
#include "mappers/allspark/redistribution/exchange.h"

#include <stdlib.h>

uint32_t *pim_shifted_windows(uint32_t rows, uint32_t columns, uint32_t window, uint32_t shift, bool back)
{
    const uint32_t tokens = window * window;
    uint32_t *from = calloc((size_t)rows * columns * tokens + 1, sizeof *from);
    for (uint32_t b = 0; from && b < rows * columns; b++) {
        uint32_t place = 0; /* of the next token that comes: the first that is free from here on */
        for (uint32_t t = 0; t < tokens; t++) {
            uint32_t down = t / window + shift, right = t % window + shift; /* in the old windows */
            uint32_t y = b / columns + down / window, x = b % columns + right / window;
            uint32_t source =
                (y % rows * columns + x % columns) * tokens + down % window * window + right % window;
            uint32_t token = down % window * window + right % window;
            if (down >= window || right >= window) {
                while (place / window >= shift && place % window >= shift)
                    place++;
                token = place++;
            }
            if (back)
                from[source] = b * tokens + token;
            else
                from[b * tokens + token] = source;
        }
    }
    return from;
}

/* Number of the token at (y, x) in the order of global attention. */
static uint32_t place_on_map(uint32_t height, uint32_t width, uint32_t reduction, uint32_t y, uint32_t x)
{
    uint32_t rows = height / reduction, columns = width / reduction, deep = rows * reduction,
             wide = columns * reduction;
    if (y < deep && x < wide)
        return (y / reduction * columns + x / reduction) * reduction * reduction + y % reduction * reduction +
               x % reduction;
    /* beyond the patches, row by row: those on the right of them, then the rows below */
    uint32_t right = width - wide;
    return deep * wide + (y < deep ? y * right + x - wide : deep * right + (y - deep) * width + x);
}

uint32_t *pim_windows_to_map(uint32_t height, uint32_t width, uint32_t window, uint32_t reduction, bool back)
{
    uint32_t rows = (height + window - 1) / window, columns = (width + window - 1) / window;
    uint32_t *from = calloc((size_t)rows * columns * window * window + 1, sizeof *from);
    for (uint32_t y = 0; from && y < rows * window; y++)
        for (uint32_t x = 0; x < columns * window; x++) {
            uint32_t branch = y / window * columns + x / window;
            uint32_t token = branch * window * window + y % window * window + x % window;
            uint32_t place = place_on_map(height, width, reduction, y % height, x % width);
            if (back)
                from[token] = place;
            else if (y < height && x < width)
                from[place] = token;
        }
    return from;
}
