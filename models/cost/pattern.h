/* Orders in which the cells of a mesh are filled; cell = row * width + column. Pure arithmetic. */
#ifndef PIMSIM_MODELS_COST_PATTERN_H
#define PIMSIM_MODELS_COST_PATTERN_H

#include <stdbool.h>
#include <stdint.h>

/* The first `count` cells row by row; with `turns`, odd rows from the east. */
static inline void pim_pattern_rows(uint32_t width, bool turns, uint32_t count, uint32_t *cells)
{
    for (uint32_t i = 0; i < count; i++) {
        uint32_t row = i / width, column = i % width;
        cells[i] = row * width + (turns && row % 2 ? width - 1 - column : column);
    }
}

/* A square that grows by a row and a column in turns: shell k is the row k and the column k of the square of
 * k + 1; even shells run along their row and up their column, odd ones down their column and back along their
 * row. Cells beyond the mesh are left out. */
static inline void pim_pattern_snake(uint32_t width, uint32_t height, uint32_t count, uint32_t *cells)
{
    uint32_t placed = 0, shells = width > height ? width : height;
    for (uint32_t k = 0; k < shells; k++)
        for (uint32_t i = 0; i < 2 * k + 1 && placed < count; i++) {
            uint32_t along = i <= k ? i : k, back = i <= k ? k : 2 * k - i;
            uint32_t row = k % 2 == 0 ? back : along, column = k % 2 == 0 ? along : back;
            if (row < height && column < width)
                cells[placed++] = row * width + column;
        }
}

#endif
