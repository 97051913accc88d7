/* Greedy placement: heavy flows first, each end as near to the other as there is room; see place.h. */
#include "mappers/place/place.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define NOWHERE UINT32_MAX

struct run {
    const struct pim_grid *grid;
    struct pim_random *random;
    uint32_t *place, cells, placed;
    bool *taken;
};

/* The free cell nearest to `to`; of several any, or the first. */
static uint32_t nearest(struct run *run, uint32_t to)
{
    uint32_t best = NOWHERE, least = UINT32_MAX, equals = 0;
    for (uint32_t c = 0; c < run->cells; c++) {
        uint32_t distance = pim_grid_distance(run->grid, c, to);
        if (run->taken[c] || distance > least)
            continue;
        equals = distance < least ? 1 : equals + 1;
        if (distance < least || (run->random && pim_random_below(run->random, equals) == 0))
            best = c;
        least = distance;
    }
    return best;
}

/* A free cell beside an occupied one; the middle of an empty grid. */
static uint32_t beside(struct run *run)
{
    uint32_t best = NOWHERE, count = 0;
    if (run->placed == 0)
        return run->grid->height / 2 * run->grid->width + run->grid->width / 2;
    for (uint32_t c = 0; c < run->cells; c++) {
        uint32_t width = run->grid->width, x = width ? c % width : 0;
        bool touches = (x > 0 && run->taken[c - 1]) || (x + 1 < width && run->taken[c + 1]) ||
                       (c >= width && run->taken[c - width]) ||
                       (c + width < run->cells && run->taken[c + width]);
        if (run->taken[c] || !touches)
            continue;
        count++;
        if (best == NOWHERE || (run->random && pim_random_below(run->random, count) == 0))
            best = c;
    }
    return best;
}

static void put(struct run *run, uint32_t thing, uint32_t cell)
{
    run->place[thing] = cell;
    run->taken[cell] = true;
    run->placed++;
}

static int compare(const void *left, const void *right)
{
    const struct pim_flow *const *a = left, *const *b = right;
    if ((*a)->weight != (*b)->weight)
        return (*a)->weight > (*b)->weight ? -1 : 1;
    return *a < *b ? -1 : *a > *b;
}

enum pim_status pim_place_greedy(const struct pim_grid *grid, const struct pim_flow *flows, uint32_t count,
                                 uint32_t things, struct pim_random *random, uint32_t *place,
                                 struct pim_error *error)
{
    struct run run = {.grid = grid, .random = random, .place = place, .cells = pim_grid_cells(grid)};
    if (run.cells == 0 || things > run.cells)
        return pim_fail(error, PIM_BAD_INPUT, "%" PRIu32 " things on a grid of %" PRIu32 " cells", things,
                        run.cells);
    const struct pim_flow **order = calloc((size_t)count + 1, sizeof(const struct pim_flow *));
    run.taken = calloc((size_t)run.cells + 1, sizeof *run.taken);
    bool enough = order && run.taken;
    memset(place, 0xff, things * sizeof *place);
    for (uint32_t i = 0; enough && i < count; i++)
        order[i] = &flows[i];
    if (enough && count > 0)
        qsort(order, count, sizeof(const struct pim_flow *), compare);
    for (uint32_t i = 0; enough && i < count; i++) {
        uint32_t from = order[i]->from, to = order[i]->to;
        if (place[from] == NOWHERE && place[to] == NOWHERE)
            put(&run, from, beside(&run));
        if (place[from] == NOWHERE)
            put(&run, from, nearest(&run, place[to]));
        if (place[to] == NOWHERE)
            put(&run, to, nearest(&run, place[from]));
    }
    for (uint32_t i = 0; enough && i < things; i++)
        if (place[i] == NOWHERE)
            put(&run, i, nearest(&run, 0));
    free(order);
    free(run.taken);
    return enough ? PIM_OK : pim_fail(error, PIM_NO_MEMORY, "no memory for %" PRIu32 " flows", count);
}
