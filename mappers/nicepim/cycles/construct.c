/*
 * Cycles by construction for sets that are grids: every row of the set has members in the same columns, as
 * the sets of a partitioned layer have. With an even number of rows (or columns, turned) the comb
 *
 *     0   7 - 6       down the first column, and back through the rows from the last to the first, each in
 *     |       |       the other direction than the one before
 *     1   4 - 5
 *     |   |
 *     2 - 3
 *
 * has only arcs between neighbours of the grid, so that it is a shortest tour. Its mirror images and both
 * directions are as short; they differ in the links they load, and are chosen set after set so that the loads
 * are level.
 */
#include "mappers/nicepim/cycles/internal.h"

#include <stdlib.h>
#include <string.h>

enum { VARIANTS = 16, PASSES = 4 };

struct grid {
    uint32_t rows, columns;
    const uint32_t *sorted; /* members by node, as indices into the set */
};

struct builder {
    const struct pim_sharing *sharing;
    uint32_t *sorted, *variant;
    uint64_t *load;
};

/* --- the comb --- */

static uint32_t member_at(const struct grid *grid, uint32_t row, uint32_t column, uint32_t variant)
{
    bool turned = variant & 4;
    uint32_t r = turned ? column : row, c = turned ? row : column;
    r = variant & 1 ? grid->rows - 1 - r : r;
    c = variant & 2 ? grid->columns - 1 - c : c;
    return grid->sorted[r * grid->columns + c];
}

/* False when the variant does not exist: an odd number of rows. A line goes out and comes back in one arc. */
static bool comb(const struct grid *grid, uint32_t variant, uint32_t *order)
{
    bool turned = variant & 4;
    uint32_t rows = turned ? grid->columns : grid->rows, columns = turned ? grid->rows : grid->columns;
    uint32_t count = 0;
    if (rows % 2 == 1 && !(columns == 1 || (rows == 1 && columns == 1)))
        return false;
    for (uint32_t r = 0; r < rows; r++)
        order[count++] = member_at(grid, r, 0, variant);
    for (uint32_t i = 0; i < rows && columns > 1; i++) {
        for (uint32_t c = 1; c < columns; c++)
            order[count++] = member_at(grid, rows - 1 - i, i % 2 == 0 ? c : columns - c, variant);
    }
    for (uint32_t i = 0; variant & 8 && i < count / 2; i++) {
        uint32_t member = order[i];
        order[i] = order[count - 1 - i];
        order[count - 1 - i] = member;
    }
    return true;
}

/* --- sets --- */

/* Sorts the members by node, for sets of a few hundred members at most. */
static void sort_members(const struct pim_sharing *sharing, size_t set, uint32_t *sorted)
{
    size_t first = sharing->start[set], count = sharing->start[set + 1] - first;
    for (size_t i = 0; i < count; i++) {
        size_t place = i;
        for (; place > 0 && sharing->node[first + sorted[place - 1]] > sharing->node[first + i]; place--)
            sorted[place] = sorted[place - 1];
        sorted[place] = (uint32_t)i;
    }
}

static bool find_grid(const struct pim_sharing *sharing, size_t set, const uint32_t *sorted,
                      struct grid *grid)
{
    size_t first = sharing->start[set], count = sharing->start[set + 1] - first;
    uint32_t columns = sharing->columns;
    const uint32_t *node = sharing->node + first;
    uint32_t width = 1;
    while (width < count && node[sorted[width]] / columns == node[sorted[0]] / columns)
        width++;
    if (count % width != 0)
        return false;
    for (size_t i = width; i < count; i++) {
        if (node[sorted[i]] % columns != node[sorted[i - width]] % columns)
            return false;
        if (node[sorted[i]] / columns != node[sorted[i - i % width]] / columns)
            return false;
    }
    *grid = (struct grid){.rows = (uint32_t)(count / width), .columns = width, .sorted = sorted};
    return true;
}

/* --- choice --- */

static void load_order(struct builder *builder, size_t set, const uint32_t *order, bool take)
{
    const struct pim_sharing *sharing = builder->sharing;
    uint32_t links[2 * PIM_SHARING_SIDE];
    const uint32_t *node = sharing->node + sharing->start[set];
    size_t count = sharing->start[set + 1] - sharing->start[set];
    for (size_t i = 0; count > 1 && i < count; i++) {
        uint32_t length = sharing_route(sharing, node[order[i]], node[order[(i + 1) % count]], links);
        for (uint32_t l = 0; l < length; l++) {
            if (take)
                builder->load[links[l]] -= sharing->weight[set];
            else
                builder->load[links[l]] += sharing->weight[set];
        }
    }
}

/* The sum of the loads that the links of an order have already: level loads have the least. */
static uint64_t price(struct builder *builder, size_t set, const uint32_t *order)
{
    const struct pim_sharing *sharing = builder->sharing;
    uint32_t links[2 * PIM_SHARING_SIDE];
    const uint32_t *node = sharing->node + sharing->start[set];
    size_t count = sharing->start[set + 1] - sharing->start[set];
    uint64_t sum = 0;
    for (size_t i = 0; count > 1 && i < count; i++) {
        uint32_t length = sharing_route(sharing, node[order[i]], node[order[(i + 1) % count]], links);
        for (uint32_t l = 0; l < length; l++)
            sum += builder->load[links[l]];
    }
    return sum;
}

static void choose(struct builder *builder, size_t set, bool again, uint32_t *order)
{
    const struct pim_sharing *sharing = builder->sharing;
    size_t first = sharing->start[set], count = sharing->start[set + 1] - first;
    struct grid grid;
    uint64_t least = UINT64_MAX;
    if (!find_grid(sharing, set, builder->sorted + first, &grid)) {
        if (!again)
            load_order(builder, set, order + first, false);
        return;
    }
    if (again)
        load_order(builder, set, order + first, true);
    for (uint32_t variant = 0; variant < VARIANTS; variant++) {
        if (!comb(&grid, variant, builder->variant))
            continue;
        uint64_t cost = price(builder, set, builder->variant);
        if (cost < least) {
            least = cost;
            memcpy(order + first, builder->variant, count * sizeof *order);
        }
    }
    load_order(builder, set, order + first, false);
}

enum pim_status construct_order(const struct pim_sharing *sharing, uint32_t *order, struct pim_error *error)
{
    size_t members = sharing->start[sharing->set_count];
    struct builder builder = {.sharing = sharing,
                              .sorted = calloc(members, sizeof(uint32_t)),
                              .variant = calloc(members, sizeof(uint32_t)),
                              .load = calloc(sharing_nodes(sharing) * LINK_DIRECTIONS, sizeof(uint64_t))};
    bool allocated = builder.sorted && builder.variant && builder.load;
    for (size_t s = 0; allocated && s < sharing->set_count; s++)
        sort_members(sharing, s, builder.sorted + sharing->start[s]);
    for (int pass = 0; allocated && pass < PASSES; pass++) {
        for (size_t s = 0; s < sharing->set_count; s++)
            choose(&builder, s, pass > 0, order);
    }
    free(builder.sorted);
    free(builder.variant);
    free(builder.load);
    if (!allocated)
        return pim_fail(error, PIM_NO_MEMORY, "out of memory for the cycles of %zu members", members);
    return PIM_OK;
}
