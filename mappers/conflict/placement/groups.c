/*
 * Node groups. The edges are walked by traffic descending: if neither end is in a group, both make a new one;
 * if one is, the other joins it unless it is full; if both are, nothing happens. Without a limit this is
 * Algorithm 1 of the paper, lines 1 to 8.
 */
#include "mappers/conflict/mapping.h"

#include <inttypes.h>
#include <stdlib.h>

#define NONE UINT32_MAX

enum pim_status pim_tile_group(const struct pim_tile_graph *graph, uint32_t most, uint32_t *group,
                               uint32_t *groups, struct pim_error *error)
{
    uint32_t *order = pim_tile_heavy_edges(graph);
    uint32_t *size = calloc((size_t)graph->nodes + 1, sizeof *size);
    uint32_t room = most == 0 ? UINT32_MAX : most;
    *groups = 0;
    if (!order || !size) {
        free(order);
        free(size);
        return pim_fail(error, PIM_NO_MEMORY, "no memory for %" PRIu32 " groups", graph->nodes);
    }
    for (uint32_t n = 0; n < graph->nodes; n++)
        group[n] = NONE;
    for (uint32_t i = 0; i < graph->edges; i++) {
        const struct pim_tile_edge *edge = &graph->edge[order[i]];
        uint32_t a = group[edge->source], b = group[edge->destination];
        if (a == NONE && b == NONE && room >= 2) {
            group[edge->source] = group[edge->destination] = *groups;
            size[(*groups)++] = 2;
        } else if (a == NONE && b != NONE && size[b] < room) {
            group[edge->source] = b;
            size[b]++;
        } else if (b == NONE && a != NONE && size[a] < room) {
            group[edge->destination] = a;
            size[a]++;
        }
    }
    for (uint32_t n = 0; n < graph->nodes; n++)
        if (group[n] == NONE)
            group[n] = (*groups)++;
    free(order);
    free(size);
    return PIM_OK;
}
