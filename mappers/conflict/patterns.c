/* Mappings without a search, and the names of all. */
#include "mappers/conflict/mapping.h"

#include <math.h>
#include <stdlib.h>

const char *pim_tile_mapping_name(unsigned mapping)
{
    static const char *const names[] = {
#define X(name, text, what) text,
        PIM_TILE_MAPPING_MAP(X)
#undef X
    };
    return mapping < PIM_TILE_MAPPINGS ? names[mapping] : NULL;
}

const char *pim_tile_mapping_text(unsigned mapping)
{
    static const char *const texts[] = {
#define X(name, text, what) what,
        PIM_TILE_MAPPING_MAP(X)
#undef X
    };
    return mapping < PIM_TILE_MAPPINGS ? texts[mapping] : NULL;
}

const char *pim_tile_fitness_name(unsigned fitness)
{
    static const char *const names[] = {
#define X(name, text) text,
        PIM_TILE_FITNESS_MAP(X)
#undef X
    };
    return fitness < PIM_TILE_FITNESSES ? names[fitness] : NULL;
}

/* A square that grows by a row and a column in turns; cells beyond the grid are left out. */
static void snake(const struct pim_grid *grid, uint32_t nodes, uint32_t *place)
{
    uint32_t placed = 0, shells = grid->width > grid->height ? grid->width : grid->height;
    for (uint32_t k = 0; k < shells; k++)
        for (uint32_t i = 0; i < 2 * k + 1 && placed < nodes; i++) {
            uint32_t along = i <= k ? i : k, back = i <= k ? k : 2 * k - i;
            uint32_t row = k % 2 == 0 ? back : along, column = k % 2 == 0 ? along : back;
            if (row < grid->height && column < grid->width)
                place[placed++] = row * grid->width + column;
        }
}

void pim_tile_pattern(enum pim_tile_mapping pattern, const struct pim_grid *grid, uint32_t nodes,
                      uint32_t *place)
{
    if (pattern == PIM_TILE_SNAKE) {
        snake(grid, nodes, place);
        return;
    }
    for (uint32_t n = 0; n < nodes; n++) {
        uint32_t row = n / grid->width, column = n % grid->width;
        bool back = pattern == PIM_TILE_BOUSTROPHEDON && row % 2 == 1;
        place[n] = row * grid->width + (back ? grid->width - 1 - column : column);
    }
}

struct pim_flow *pim_tile_flows(const struct pim_tile_graph *graph)
{
    struct pim_flow *flows = calloc((size_t)graph->edges + 1, sizeof *flows);
    for (uint32_t e = 0; flows && e < graph->edges; e++) {
        const struct pim_tile_edge *edge = &graph->edge[e];
        flows[e] = (struct pim_flow){edge->source, edge->destination, edge->packets * edge->bits};
    }
    return flows;
}

double pim_tile_space(uint32_t cells, uint32_t things)
{
    double space = 0;
    for (uint32_t i = 0; i < things && i < cells; i++)
        space += log10(cells - i);
    return space;
}

struct weighed {
    uint64_t weight;
    uint32_t edge;
};

static int compare(const void *left, const void *right)
{
    const struct weighed *a = left, *b = right;
    if (a->weight != b->weight)
        return a->weight > b->weight ? -1 : 1;
    return a->edge < b->edge ? -1 : a->edge > b->edge;
}

uint32_t *pim_tile_heavy_edges(const struct pim_tile_graph *graph)
{
    struct weighed *edges = calloc((size_t)graph->edges + 1, sizeof *edges);
    uint32_t *order = calloc((size_t)graph->edges + 1, sizeof *order);
    for (uint32_t e = 0; edges && order && e < graph->edges; e++)
        edges[e] = (struct weighed){graph->edge[e].packets * graph->edge[e].bits, e};
    if (edges && order && graph->edges > 0)
        qsort(edges, graph->edges, sizeof *edges, compare);
    for (uint32_t e = 0; edges && order && e < graph->edges; e++)
        order[e] = edges[e].edge;
    if (!edges) {
        free(order);
        order = NULL;
    }
    free(edges);
    return order;
}
