/*
 * The authors' search: the edges are walked by traffic descending, and each puts its ends near each other. A
 * mutation takes a sixth of the nodes up and walks the edges again.
 */
#include "mappers/conflict/mapping.h"

#include <string.h>

#define NOWHERE UINT32_MAX

/* A thread's room: the node in each cell, and the nodes in a random order. */
struct room {
    uint32_t *node_in, *nodes;
};

static struct room room_of(const struct pim_tile_problem *problem, void *scratch)
{
    return (struct room){scratch, (uint32_t *)scratch + problem->cells};
}

static const uint32_t *places(const struct pim_tile_problem *problem, const void *data)
{
    (void)problem;
    return data;
}

static void put(struct room *room, uint32_t *place, uint32_t node, uint32_t cell)
{
    place[node] = cell;
    room->node_in[cell] = node;
}

/* A free cell of those nearest to `to`, any of them alike. */
static uint32_t nearest(const struct pim_tile_problem *problem, const struct room *room, uint32_t to,
                        struct pim_random *random)
{
    const struct pim_grid *grid = &problem->options->grid;
    int32_t row = (int32_t)(to / grid->width), column = (int32_t)(to % grid->width);
    int32_t height = (int32_t)grid->height, width = (int32_t)grid->width;
    for (int32_t ring = 1; ring < height + width; ring++) {
        uint32_t found = NOWHERE, count = 0;
        for (int32_t dy = -ring; dy <= ring; dy++) {
            int32_t dx = ring - (dy < 0 ? -dy : dy);
            for (int side = 0; side < (dx ? 2 : 1); side++) {
                int32_t y = row + dy, x = column + (side ? -dx : dx);
                if (y < 0 || y >= height || x < 0 || x >= width)
                    continue;
                uint32_t cell = (uint32_t)(y * width + x);
                if (room->node_in[cell] == NOWHERE && pim_random_below(random, ++count) == 0)
                    found = cell;
            }
        }
        if (count > 0)
            return found;
    }
    return NOWHERE;
}

/* A free cell beside an occupied one, with a weight of 1 / difference of the numbers of `node` and the node
   there; the middle of an empty mesh. */
static uint32_t beside(const struct pim_tile_problem *problem, const struct room *room, uint32_t node,
                       struct pim_random *random)
{
    const struct pim_grid *grid = &problem->options->grid;
    uint64_t all = 0;
    uint32_t found = NOWHERE;
    for (uint32_t cell = 0; cell < problem->cells; cell++) {
        uint32_t other = room->node_in[cell];
        if (other == NOWHERE)
            continue;
        uint32_t apart = other > node ? other - node : node - other;
        uint64_t weight = (UINT64_C(1) << 32) / (apart > 0 ? apart : 1);
        uint32_t x = cell % grid->width;
        const struct {
            bool there;
            uint32_t cell;
        } sides[] = {{x > 0, cell - 1},
                     {x + 1 < grid->width, cell + 1},
                     {cell >= grid->width, cell - grid->width},
                     {cell + grid->width < problem->cells, cell + grid->width}};
        for (unsigned i = 0; i < 4; i++)
            if (sides[i].there && room->node_in[sides[i].cell] == NOWHERE) {
                all += weight;
                if (pim_random_below(random, all) < weight)
                    found = sides[i].cell;
            }
    }
    return found != NOWHERE ? found : grid->height / 2 * grid->width + grid->width / 2;
}

/* Places what has no place. */
static void walk(const struct pim_tile_problem *problem, struct room *room, uint32_t *place,
                 struct pim_random *random)
{
    for (uint32_t i = 0; i < problem->graph->edges; i++) {
        const struct pim_tile_edge *edge = &problem->graph->edge[problem->order[i]];
        uint32_t a = edge->source, b = edge->destination;
        if (place[a] == NOWHERE && place[b] == NOWHERE)
            put(room, place, a, beside(problem, room, a, random));
        if (place[a] == NOWHERE)
            put(room, place, a, nearest(problem, room, place[b], random));
        if (place[b] == NOWHERE)
            put(room, place, b, nearest(problem, room, place[a], random));
    }
    for (uint32_t n = 0; n < problem->graph->nodes; n++)
        if (place[n] == NOWHERE)
            put(room, place, n, beside(problem, room, n, random));
}

static void start(void *context, void *scratch, void *data, uint64_t index, struct pim_random *random)
{
    const struct pim_tile_problem *problem = context;
    struct room room = room_of(problem, scratch);
    uint32_t *place = data;
    (void)index;
    memset(room.node_in, 0xff, problem->cells * sizeof *room.node_in);
    memset(place, 0xff, problem->graph->nodes * sizeof *place);
    walk(problem, &room, place, random);
}

static bool mutate(void *context, void *scratch, void *data, struct pim_random *random)
{
    const struct pim_tile_problem *problem = context;
    struct room room = room_of(problem, scratch);
    uint32_t *place = data, nodes = problem->graph->nodes;
    memset(room.node_in, 0xff, problem->cells * sizeof *room.node_in);
    for (uint32_t n = 0; n < nodes; n++)
        room.nodes[n] = n;
    uint32_t lifted = nodes / 6 > 0 ? nodes / 6 : 1;
    for (uint32_t i = 0; i < lifted; i++) {
        uint32_t other = i + (uint32_t)pim_random_below(random, nodes - i), kept = room.nodes[i];
        room.nodes[i] = room.nodes[other];
        room.nodes[other] = kept;
        place[room.nodes[i]] = NOWHERE;
    }
    for (uint32_t n = 0; n < nodes; n++)
        if (place[n] != NOWHERE)
            room.node_in[place[n]] = n;
    walk(problem, &room, place, random);
    return true;
}

void pim_tile_node_group_problem(struct pim_tile_problem *problem)
{
    problem->search.size = ((size_t)problem->graph->nodes + 1) * sizeof(uint32_t);
    problem->search.scratch_size = ((size_t)problem->cells + problem->graph->nodes) * sizeof(uint32_t);
    problem->search.start = start;
    problem->search.mutate = mutate;
    problem->places = places;
}
