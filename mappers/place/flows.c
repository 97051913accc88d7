/* What a placement costs; see place.h. */
#include "mappers/place/place.h"

#include <inttypes.h>
#include <stdlib.h>

enum { WEST, EAST, NORTH, SOUTH };

#define WEIGHT_MOST (UINT64_C(1) << 40)

uint64_t pim_place_hops(const struct pim_grid *grid, const struct pim_flow *flows, uint32_t count,
                        const uint32_t *place)
{
    uint64_t hops = 0;
    for (uint32_t i = 0; i < count; i++)
        hops += flows[i].weight * pim_grid_distance(grid, place[flows[i].from], place[flows[i].to]);
    return hops;
}

/* One step from `at` in a direction; the number of the link that leads there. */
static uint32_t go(const struct pim_grid *grid, uint32_t *at, unsigned direction, bool undirected)
{
    uint32_t from = *at;
    switch (direction) {
    case WEST:
        *at -= 1;
        break;
    case EAST:
        *at += 1;
        break;
    case NORTH:
        *at -= grid->width;
        break;
    default:
        *at += grid->width;
        break;
    }
    bool back = undirected && (direction == WEST || direction == NORTH);
    return (back ? *at : from) * PIM_PLACE_DIRECTIONS + (back ? direction ^ 1U : direction);
}

uint32_t pim_place_route(const struct pim_grid *grid, uint32_t from, uint32_t to,
                         const struct pim_place_routes *routes, uint32_t *links)
{
    uint32_t count = 0, at = from;
    for (int leg = 0; leg < 2; leg++) {
        if ((leg == 0) == routes->columns_first)
            while (at / grid->width != to / grid->width)
                links[count++] =
                    go(grid, &at, at / grid->width < to / grid->width ? SOUTH : NORTH, routes->undirected);
        else
            while (at % grid->width != to % grid->width)
                links[count++] =
                    go(grid, &at, at % grid->width < to % grid->width ? EAST : WEST, routes->undirected);
    }
    return count;
}

void pim_place_loads(const struct pim_grid *grid, const struct pim_flow *flows, uint32_t count,
                     const uint32_t *place, const struct pim_place_routes *routes, uint64_t *load)
{
    for (uint32_t i = 0; i < count; i++) {
        uint32_t at = place[flows[i].from], to = place[flows[i].to];
        uint64_t weight =
            routes->stretch ? flows[i].weight * pim_grid_distance(grid, at, to) : flows[i].weight;
        for (int leg = 0; leg < 2; leg++) {
            if ((leg == 0) == routes->columns_first)
                while (at / grid->width != to / grid->width)
                    load[go(grid, &at, at / grid->width < to / grid->width ? SOUTH : NORTH,
                            routes->undirected)] += weight;
            else
                while (at % grid->width != to % grid->width)
                    load[go(grid, &at, at % grid->width < to % grid->width ? EAST : WEST,
                            routes->undirected)] += weight;
        }
    }
}

uint64_t pim_place_worst(const struct pim_grid *grid, const uint64_t *load, uint32_t *link)
{
    uint32_t worst = 0;
    for (uint32_t i = 1; i < pim_grid_cells(grid) * PIM_PLACE_DIRECTIONS; i++)
        if (load[i] > load[worst])
            worst = i;
    if (link)
        *link = worst;
    return load[worst];
}

enum pim_status pim_flow_index_make(struct pim_flow_index *index, const struct pim_flow *flows,
                                    uint32_t count, uint32_t things, struct pim_error *error)
{
    index->first = calloc((size_t)things + 3, sizeof *index->first);
    index->adjacent = calloc(2 * (size_t)count + 1, sizeof *index->adjacent);
    if (!index->first || !index->adjacent)
        return pim_fail(error, PIM_NO_MEMORY, "no memory for %" PRIu32 " flows", count);
    for (uint32_t i = 0; i < count; i++) {
        if (flows[i].from >= things || flows[i].to >= things || flows[i].from == flows[i].to)
            return pim_fail(error, PIM_BAD_INPUT,
                            "flow %" PRIu32 " goes from %" PRIu32 " to %" PRIu32
                            ": two different ones of %" PRIu32 " are expected",
                            i, flows[i].from, flows[i].to, things);
        if (flows[i].weight > WEIGHT_MOST)
            return pim_fail(error, PIM_BAD_INPUT, "flow %" PRIu32 ": a weight of %" PRIu64 ": at most 2^40",
                            i, flows[i].weight);
        index->first[flows[i].from + 2]++;
        index->first[flows[i].to + 2]++;
    }
    for (uint32_t i = 2; i <= things + 1; i++)
        index->first[i] += index->first[i - 1];
    for (uint32_t i = 0; i < count; i++) {
        index->adjacent[index->first[flows[i].from + 1]++] = i;
        index->adjacent[index->first[flows[i].to + 1]++] = i;
    }
    return PIM_OK;
}

void pim_flow_index_terminate(struct pim_flow_index *index)
{
    free(index->first);
    free(index->adjacent);
    *index = (struct pim_flow_index){0};
}
