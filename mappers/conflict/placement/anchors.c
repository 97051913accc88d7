/*
 * Groups on the mesh: the nodes of a group stand at fixed places relative to each other, and a mapping is an
 * anchor, one of eight symmetries and a turn for each group. Groups are put down in their turn; a node whose
 * place is taken or outside goes to the nearest free cell.
 */
#include "mappers/conflict/mapping.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define NOWHERE UINT32_MAX

enum { REACH = 2, DESCENTS = 200 };

/* An individual: a gene for each group, then the turns, then the places. */
struct gene {
    uint32_t cell, symmetry;
};

static uint32_t *turns_of(const struct pim_tile_problem *problem, void *data)
{
    return (uint32_t *)(void *)((struct gene *)data + problem->groups);
}

static uint32_t *places_in(const struct pim_tile_problem *problem, void *data)
{
    return turns_of(problem, data) + problem->groups;
}

static const uint32_t *places(const struct pim_tile_problem *problem, const void *data)
{
    return (const uint32_t *)(const void *)((const struct gene *)data + problem->groups) + problem->groups;
}

static uint32_t nearest(const struct pim_grid *grid, const bool *taken, int32_t row, int32_t column)
{
    int32_t height = (int32_t)grid->height, width = (int32_t)grid->width;
    for (int32_t ring = 0; ring < 4 * (height + width); ring++)
        for (int32_t dy = -ring; dy <= ring; dy++) {
            int32_t dx = ring - (dy < 0 ? -dy : dy);
            for (int side = 0; side < 2; side++) {
                int32_t y = row + dy, x = column + (side ? -dx : dx);
                if (y >= 0 && y < height && x >= 0 && x < width && !taken[y * width + x])
                    return (uint32_t)(y * width + x);
            }
        }
    return NOWHERE;
}

static void settle(const struct pim_tile_problem *problem, void *scratch, void *data)
{
    const struct gene *genes = data;
    const uint32_t *turns = turns_of(problem, data);
    const struct pim_grid *grid = &problem->options->grid;
    uint32_t *place = places_in(problem, data);
    bool *taken = scratch;
    memset(taken, 0, problem->cells * sizeof *taken);
    for (uint32_t i = 0; i < problem->groups; i++) {
        uint32_t g = turns[i];
        for (uint32_t m = problem->first[g]; m < problem->first[g + 1]; m++) {
            uint32_t node = problem->member[m];
            int32_t down = problem->offset[2 * node], right = problem->offset[2 * node + 1];
            int32_t y = genes[g].symmetry & 1 ? right : down, x = genes[g].symmetry & 1 ? down : right;
            y = genes[g].symmetry & 2 ? -y : y;
            x = genes[g].symmetry & 4 ? -x : x;
            uint32_t cell = nearest(grid, taken, (int32_t)(genes[g].cell / grid->width) + y,
                                    (int32_t)(genes[g].cell % grid->width) + x);
            place[node] = cell;
            taken[cell] = true;
        }
    }
}

static void start(void *context, void *scratch, void *data, uint64_t index, struct pim_random *random)
{
    const struct pim_tile_problem *problem = context;
    struct gene *genes = data;
    uint32_t *turns = turns_of(problem, data);
    (void)index;
    for (uint32_t g = 0; g < problem->groups; g++) {
        genes[g].cell = (uint32_t)pim_random_below(random, problem->cells);
        genes[g].symmetry = (uint32_t)pim_random_below(random, 8);
        turns[g] = g;
    }
    pim_random_shuffle(random, turns, problem->groups, sizeof *turns);
    settle(problem, scratch, data);
}

/* A cell at most REACH rows and columns away. */
static uint32_t shifted(const struct pim_grid *grid, uint32_t cell, struct pim_random *random)
{
    int64_t y = (int64_t)(cell / grid->width) + (int64_t)pim_random_below(random, 2 * REACH + 1) - REACH;
    int64_t x = (int64_t)(cell % grid->width) + (int64_t)pim_random_below(random, 2 * REACH + 1) - REACH;
    y = y < 0 ? 0 : y >= (int64_t)grid->height ? (int64_t)grid->height - 1 : y;
    x = x < 0 ? 0 : x >= (int64_t)grid->width ? (int64_t)grid->width - 1 : x;
    return (uint32_t)(y * (int64_t)grid->width + x);
}

static bool mutate(void *context, void *scratch, void *data, struct pim_random *random)
{
    const struct pim_tile_problem *problem = context;
    struct gene *genes = data;
    uint32_t *turns = turns_of(problem, data);
    do {
        uint32_t g = (uint32_t)pim_random_below(random, problem->groups),
                 h = (uint32_t)pim_random_below(random, problem->groups), kept = turns[g];
        struct gene gene = genes[g];
        switch (pim_random_below(random, 5)) {
        case 0:
            genes[g].cell = (uint32_t)pim_random_below(random, problem->cells);
            break;
        case 1:
            genes[g].symmetry = (uint32_t)pim_random_below(random, 8);
            break;
        case 2:
            turns[g] = turns[h];
            turns[h] = kept;
            break;
        case 3:
            genes[g] = genes[h];
            genes[h] = gene;
            break;
        default:
            genes[g].cell = shifted(&problem->options->grid, genes[g].cell, random);
            break;
        }
    } while (pim_random_below(random, 2));
    settle(problem, scratch, data);
    return true;
}

static void cross(void *context, void *scratch, struct pim_individual *child, const struct pim_individual *a,
                  const struct pim_individual *b, struct pim_random *random)
{
    const struct pim_tile_problem *problem = context;
    struct gene *genes = child->data;
    const struct gene *other = b->data;
    (void)a;
    for (uint32_t g = 0; g < problem->groups; g++)
        if (pim_random_below(random, 2))
            genes[g] = other[g];
    settle(problem, scratch, child->data);
}

/* --- relative places --- */

static uint32_t root_above(uint32_t value)
{
    uint32_t root = 1;
    while (root * root < value)
        root++;
    return root;
}

/* The members of a group on a square of their own, near each other: greedy, then exchanges. */
static enum pim_status shape_group(struct pim_tile_problem *problem, uint32_t g, uint32_t *index,
                                   struct pim_flow *flows, uint32_t *place, struct pim_error *error)
{
    uint32_t first = problem->first[g], size = problem->first[g + 1] - first, count = 0;
    uint32_t side = 2 * root_above(size);
    const struct pim_grid square = {side, side};
    uint64_t hops;
    for (uint32_t i = 0; i < size; i++)
        index[problem->member[first + i]] = i;
    for (uint32_t e = 0; e < problem->graph->edges; e++) {
        const struct pim_flow *flow = &problem->flows[e];
        if (problem->group[flow->from] == g && problem->group[flow->to] == g)
            flows[count++] = (struct pim_flow){index[flow->from], index[flow->to], flow->weight};
    }
    enum pim_status status = pim_place_greedy(&square, flows, count, size, NULL, place, error);
    if (status == PIM_OK)
        status = pim_place_descend(&square, flows, count, size, DESCENTS, place, &hops, error);
    for (uint32_t i = 0; i < size && status == PIM_OK; i++) {
        uint32_t node = problem->member[first + i];
        problem->offset[2 * node] = (int32_t)(place[i] / side) - (int32_t)(side / 2);
        problem->offset[2 * node + 1] = (int32_t)(place[i] % side) - (int32_t)(side / 2);
    }
    return status;
}

/* Members by group. */
static void list_members(struct pim_tile_problem *problem)
{
    uint32_t nodes = problem->graph->nodes;
    for (uint32_t n = 0; n < nodes; n++)
        problem->first[problem->group[n] + 2]++;
    for (uint32_t g = 2; g <= problem->groups + 1; g++)
        problem->first[g] += problem->first[g - 1];
    for (uint32_t n = 0; n < nodes; n++)
        problem->member[problem->first[problem->group[n] + 1]++] = n;
}

enum pim_status pim_tile_groups_problem(struct pim_tile_problem *problem, uint32_t most,
                                        struct pim_error *error)
{
    uint32_t nodes = problem->graph->nodes;
    problem->group = calloc((size_t)nodes + 1, sizeof *problem->group);
    problem->member = calloc((size_t)nodes + 1, sizeof *problem->member);
    problem->first = calloc((size_t)nodes + 3, sizeof *problem->first);
    problem->offset = calloc(2 * ((size_t)nodes + 1), sizeof *problem->offset);
    uint32_t *index = calloc((size_t)nodes + 1, sizeof *index),
             *place = calloc((size_t)nodes + 1, sizeof *place);
    struct pim_flow *flows = calloc((size_t)problem->graph->edges + 1, sizeof *flows);
    bool enough =
        problem->group && problem->member && problem->first && problem->offset && index && place && flows;
    enum pim_status status =
        enough ? pim_tile_group(problem->graph, most, problem->group, &problem->groups, error)
               : pim_fail(error, PIM_NO_MEMORY, "no memory for the groups of %" PRIu32 " nodes", nodes);
    if (status == PIM_OK)
        list_members(problem);
    for (uint32_t g = 0; status == PIM_OK && g < problem->groups; g++)
        status = shape_group(problem, g, index, flows, place, error);
    free(index);
    free(place);
    free(flows);
    problem->search.size =
        problem->groups * (sizeof(struct gene) + sizeof(uint32_t)) + ((size_t)nodes + 1) * sizeof(uint32_t);
    problem->search.scratch_size = problem->cells * sizeof(bool);
    problem->search.start = start;
    problem->search.mutate = mutate;
    problem->search.cross = cross;
    problem->places = places;
    return status;
}
