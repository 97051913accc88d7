/* What estimators see of a mapping; see view.h. */
#include "mappers/conflict/estimators/view.h"

#include "mappers/conflict/mapping.h"
#include "mappers/learn/elementary.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { WORD_BITS = 64, CROWD = 16 };

enum pim_status pim_tile_setting_make(struct pim_tile_setting *setting, const struct pim_tile_graph *graph,
                                      const struct pim_grid *grid, bool directed, struct pim_error *error)
{
    *setting = (struct pim_tile_setting){.graph = graph, .grid = *grid, .directed = directed, .heaviest = 1};
    if (graph->edges == 0 || graph->edges > PIM_TILE_VIEW_EDGES)
        return pim_fail(error, PIM_BAD_INPUT,
                        "the task graph of %s has %" PRIu32
                        " edges: estimators learn on 1 to %d; search by cost, bottleneck or simulation",
                        graph->name, graph->edges, PIM_TILE_VIEW_EDGES);
    setting->flows = pim_tile_flows(graph);
    setting->row_sine = calloc(grid->height, sizeof *setting->row_sine);
    setting->column_sine = calloc(grid->width, sizeof *setting->column_sine);
    if (!setting->flows || !setting->row_sine || !setting->column_sine)
        return pim_fail(error, PIM_NO_MEMORY, "no memory for %" PRIu32 " edges", graph->edges);
    for (uint32_t e = 0; e < graph->edges; e++)
        if (setting->flows[e].weight > setting->heaviest)
            setting->heaviest = setting->flows[e].weight;
    for (uint32_t row = 0; row < grid->height; row++)
        setting->row_sine[row] = pim_sine_of_turn(row, grid->height);
    for (uint32_t column = 0; column < grid->width; column++)
        setting->column_sine[column] = pim_sine_of_turn(column, grid->width);
    return PIM_OK;
}

void pim_tile_setting_terminate(struct pim_tile_setting *setting)
{
    free(setting->flows);
    free(setting->row_sine);
    free(setting->column_sine);
    *setting = (struct pim_tile_setting){0};
}

static bool allocate(struct pim_tile_view *view)
{
    const struct pim_tile_setting *setting = view->setting;
    size_t edges = setting->graph->edges, longest = (size_t)setting->grid.width + setting->grid.height;
    size_t links = (size_t)pim_grid_cells(&setting->grid) * PIM_PLACE_DIRECTIONS;
    view->words = (edges + WORD_BITS - 1) / WORD_BITS;
    view->edge = calloc(edges * PIM_TILE_EDGE_NUMBERS, sizeof *view->edge);
    view->crowd = calloc(edges * PIM_TILE_CONFLICT_NUMBERS, sizeof *view->crowd);
    view->conflicts = (struct pim_sparse){.rows = edges,
                                          .start = calloc(edges + 1, sizeof *view->conflicts.start),
                                          .column = calloc(edges * edges, sizeof *view->conflicts.column),
                                          .value = calloc(edges * edges, sizeof *view->conflicts.value)};
    view->users = calloc(links * view->words, sizeof *view->users);
    view->rivals = calloc(edges * view->words, sizeof *view->rivals);
    view->route = calloc(edges * longest, sizeof *view->route);
    view->route_from = calloc(edges + 1, sizeof *view->route_from);
    view->root = calloc(edges, sizeof *view->root);
    return view->edge && view->crowd && view->conflicts.start && view->conflicts.column &&
           view->conflicts.value && view->users && view->rivals && view->route && view->route_from &&
           view->root;
}

struct pim_tile_view *pim_tile_view_create(const struct pim_tile_setting *setting)
{
    struct pim_tile_view *view = calloc(1, sizeof *view);
    if (!view)
        return NULL;
    view->setting = setting;
    if (allocate(view))
        return view;
    pim_tile_view_destroy(view);
    return NULL;
}

void pim_tile_view_destroy(struct pim_tile_view *view)
{
    if (!view)
        return;
    free(view->edge);
    free(view->crowd);
    pim_sparse_terminate(&view->conflicts);
    free(view->users);
    free(view->rivals);
    free(view->route);
    free(view->route_from);
    free(view->root);
    free(view);
}

static void look_at_edges(struct pim_tile_view *view, const uint32_t *place)
{
    const struct pim_tile_setting *setting = view->setting;
    uint32_t width = setting->grid.width;
    for (uint32_t e = 0; e < setting->graph->edges; e++) {
        const struct pim_flow *flow = &setting->flows[e];
        uint32_t from = place[flow->from], to = place[flow->to];
        double *number = view->edge + (size_t)e * PIM_TILE_EDGE_NUMBERS;
        number[0] = (double)flow->weight / (double)setting->heaviest;
        number[1] = pim_grid_distance(&setting->grid, from, to) / 12.0;
        number[2] = setting->row_sine[from / width];
        number[3] = setting->column_sine[from % width];
        number[4] = setting->row_sine[to / width];
        number[5] = setting->column_sine[to % width];
    }
}

/* The edges on every link, then for each edge those on any of its links. */
static void find_rivals(struct pim_tile_view *view, const uint32_t *place)
{
    const struct pim_tile_setting *setting = view->setting;
    const struct pim_place_routes routes = {.undirected = !setting->directed};
    size_t links = (size_t)pim_grid_cells(&setting->grid) * PIM_PLACE_DIRECTIONS, words = view->words;
    memset(view->users, 0, links * words * sizeof *view->users);
    memset(view->rivals, 0, setting->graph->edges * words * sizeof *view->rivals);
    for (uint32_t e = 0; e < setting->graph->edges; e++) {
        uint32_t *route = view->route + view->route_from[e];
        uint32_t count = pim_place_route(&setting->grid, place[setting->flows[e].from],
                                         place[setting->flows[e].to], &routes, route);
        view->route_from[e + 1] = view->route_from[e] + count;
        for (uint32_t i = 0; i < count; i++)
            view->users[route[i] * words + e / WORD_BITS] |= UINT64_C(1) << e % WORD_BITS;
    }
    for (uint32_t e = 0; e < setting->graph->edges; e++) {
        uint64_t *rivals = view->rivals + e * words;
        for (uint32_t i = view->route_from[e]; i < view->route_from[e + 1]; i++)
            for (size_t w = 0; w < words; w++)
                rivals[w] |= view->users[view->route[i] * words + w];
        rivals[e / WORD_BITS] |= UINT64_C(1) << e % WORD_BITS; /* itself: the self loop */
    }
}

/* Columns of every row, ascending, and what the rivals carry; then the values, which need all degrees. */
static void look_at_conflicts(struct pim_tile_view *view)
{
    const struct pim_tile_setting *setting = view->setting;
    struct pim_sparse *matrix = &view->conflicts;
    size_t at = 0, edges = setting->graph->edges;
    for (size_t e = 0; e < edges; e++) {
        uint64_t carried = 0;
        for (size_t w = 0; w < view->words; w++)
            for (uint64_t rest = view->rivals[e * view->words + w]; rest; rest &= rest - 1) {
                size_t other = w * WORD_BITS + pim_log2_floor(rest & (~rest + 1));
                matrix->column[at++] = other;
                carried += other == e ? 0 : setting->flows[other].weight;
            }
        matrix->start[e + 1] = at;
        double *number = view->crowd + e * PIM_TILE_CONFLICT_NUMBERS;
        number[0] = (double)(at - matrix->start[e] - 1) / CROWD;
        number[1] = (double)carried / (double)setting->heaviest / CROWD;
        view->root[e] = sqrt((double)(at - matrix->start[e]));
    }
    for (size_t e = 0; e < edges; e++)
        for (size_t k = matrix->start[e]; k < matrix->start[e + 1]; k++)
            matrix->value[k] = 1 / (view->root[e] * view->root[matrix->column[k]]);
}

void pim_tile_view_look(struct pim_tile_view *view, const uint32_t *place)
{
    look_at_edges(view, place);
    find_rivals(view, place);
    look_at_conflicts(view);
}
