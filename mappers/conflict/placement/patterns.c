/* Mappings without a search, and the names of all. */
#include "mappers/conflict/mapping.h"

#include "models/cost/pattern.h"
#include "sim/names.h"

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

PIM_NAMES(pim_tile_fitness_name, PIM_TILE_FITNESS_MAP)

void pim_tile_pattern(enum pim_tile_mapping pattern, const struct pim_grid *grid, uint32_t nodes,
                      uint32_t *place)
{
    if (pattern == PIM_TILE_SNAKE)
        pim_pattern_snake(grid->width, grid->height, nodes, place);
    else
        pim_pattern_rows(grid->width, pattern == PIM_TILE_BOUSTROPHEDON, nodes, place);
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
