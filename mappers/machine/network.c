/* Ways through a mesh or torus. */
#include "mappers/machine/network.h"

#include "sim/random.h"

static bool ring(const struct pim_machine_grid *grid, uint32_t count)
{
    return grid->wraps && count > 2;
}

static uint32_t along(const struct pim_machine_grid *grid, uint32_t count, uint32_t from, uint32_t to)
{
    const uint32_t direct = pim_difference(from, to);
    return ring(grid, count) && count - direct < direct ? count - direct : direct;
}

uint32_t pim_machine_distance(const struct pim_machine_grid *grid, uint32_t from, uint32_t to)
{
    return along(grid, grid->columns, from % grid->columns, to % grid->columns) +
           along(grid, grid->rows, from / grid->columns, to / grid->columns);
}

/* Distances from a place of a line to all of its places. */
static uint64_t to_all(const struct pim_machine_grid *grid, uint32_t count, uint32_t at)
{
    const uint64_t below = at, above = count - 1 - at;
    return ring(grid, count) ? (uint64_t)count * count / 4
                             : below * (below + 1) / 2 + above * (above + 1) / 2;
}

/* x / columns + y / rows, rounded. */
static uint32_t mean(const struct pim_machine_grid *grid, uint64_t x, uint64_t y)
{
    const uint64_t routers = (uint64_t)grid->columns * grid->rows;
    return (uint32_t)((x * grid->rows + y * grid->columns + routers / 2) / routers);
}

uint32_t pim_machine_routers(const struct pim_machine_network *network, const struct pim_machine_grid *grid,
                             uint32_t from, uint32_t to)
{
    if (!network->detours)
        return 1 + pim_machine_distance(grid, from, to);
    return 1 + mean(grid,
                    to_all(grid, grid->columns, from % grid->columns) +
                        to_all(grid, grid->columns, to % grid->columns),
                    to_all(grid, grid->rows, from / grid->columns) +
                        to_all(grid, grid->rows, to / grid->columns));
}

/* Twice the distance of two places of a line, times the places, in the mean: (n^2 - 1) / 3 of a line. */
static uint64_t twice(const struct pim_machine_grid *grid, uint32_t count)
{
    const uint64_t square = (uint64_t)count * count;
    return ring(grid, count) ? square / 4 * 2 : (2 * (square - 1) + 1) / 3;
}

uint32_t pim_machine_detour(const struct pim_machine_grid *grid)
{
    return 1 + mean(grid, twice(grid, grid->columns), twice(grid, grid->rows));
}

/*
 * Half of what a line of n routers sends goes to its other half, in each of both legs, and all of it over the
 * link in the middle. Links of rings are alike: each of the two of a router carries half of the mean
 * distance.
 */
static uint64_t busiest(const struct pim_machine_grid *grid, uint32_t count, uint64_t flits)
{
    const uint64_t sent = flits * grid->units, half = count / 2, crossed = sent * half * (count - half);
    return pim_divide_up(ring(grid, count) ? crossed : 2 * crossed, count);
}

uint64_t pim_machine_detour_flits(const struct pim_machine_grid *grid, uint64_t flits)
{
    return pim_larger(flits,
                      pim_larger(busiest(grid, grid->columns, flits), busiest(grid, grid->rows, flits)));
}

uint32_t pim_machine_via(const struct pim_machine_grid *grid, uint64_t number)
{
    return (uint32_t)(pim_splitmix64(&number) % ((uint64_t)grid->columns * grid->rows));
}
