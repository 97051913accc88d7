#include "mappers/conflict/contention.h"

#include "mappers/place/place.h"

#include <stdlib.h>

/* Routes of an edge: one, or two where routes are looked for among idle links. */
enum { WAYS = 2 };

struct pim_tile_contention {
    const struct pim_machine_tiles *machine;
    bool adaptive;
    unsigned ways;
    uint32_t *first; /* of way w of edge e: link[first[ways e + w]] to link[first[ways e + w + 1] - 1] */
    uint32_t *link;
    uint32_t *first_user; /* of link l: user[first_user[l]] to user[first_user[l + 1] - 1], edges */
    uint32_t *user;
    double *held;   /* by edge: what its packets hold a link, ns */
    uint64_t *seen; /* by edge: number of the question that met it last */
    uint64_t questions;
};

void pim_tile_contention_destroy(struct pim_tile_contention *contention)
{
    if (!contention)
        return;
    free(contention->first);
    free(contention->link);
    free(contention->first_user);
    free(contention->user);
    free(contention->held);
    free(contention->seen);
    free(contention);
}

static void lay_ways(struct pim_tile_contention *contention, const struct pim_tile_graph *graph,
                     const uint32_t *place, const struct pim_grid *grid)
{
    const struct pim_machine_tiles *machine = contention->machine;
    uint32_t *at = contention->first;
    for (uint32_t e = 0; e < graph->edges; e++) {
        const struct pim_tile_edge *edge = &graph->edge[e];
        uint32_t from = place[edge->source], to = place[edge->destination];
        double hops = machine->stores ? 1 : (double)pim_grid_distance(grid, from, to);
        contention->held[e] = edge->packets * hops * (double)edge->bits / machine->link_gbps;
        for (unsigned way = 0; way < contention->ways; way++, at++) {
            const struct pim_place_routes routes = {.columns_first = machine->columns_first != (way == 1),
                                                    .undirected = !machine->stores};
            at[1] = at[0] + pim_place_route(grid, from, to, &routes, contention->link + at[0]);
        }
    }
}

/* Turns the ways about: who uses a link, in the order of edges. */
static void find_users(struct pim_tile_contention *contention, uint32_t edges, size_t links)
{
    uint32_t *first = contention->first_user, uses = contention->first[(size_t)contention->ways * edges];
    for (uint32_t i = 0; i < uses; i++)
        first[contention->link[i] + 2]++;
    for (size_t l = 2; l < links + 2; l++)
        first[l] += first[l - 1];
    for (uint32_t e = 0; e < edges; e++)
        for (uint32_t i = contention->first[contention->ways * e];
             i < contention->first[contention->ways * (e + 1)]; i++)
            contention->user[first[contention->link[i] + 1]++] = e;
}

struct pim_tile_contention *pim_tile_contention_create(const struct pim_tile_graph *graph,
                                                       const uint32_t *place,
                                                       const struct pim_machine_tiles *machine)
{
    const struct pim_grid grid = {machine->width, machine->height};
    struct pim_tile_contention *made = calloc(1, sizeof *made);
    size_t edges = graph->edges, links = (size_t)pim_grid_cells(&grid) * PIM_PLACE_DIRECTIONS, uses = 0;
    if (!made)
        return NULL;
    made->machine = machine;
    /* On a mesh of one row there is no other way. */
    made->adaptive = machine->adaptive && machine->width > 1 && machine->height > 1;
    made->ways = made->adaptive ? WAYS : 1;
    for (size_t e = 0; e < edges; e++)
        uses += made->ways *
                pim_grid_distance(&grid, place[graph->edge[e].source], place[graph->edge[e].destination]);
    made->first = calloc(made->ways * edges + 1, sizeof *made->first);
    made->link = calloc(uses + 1, sizeof *made->link);
    made->first_user = calloc(links + 2, sizeof *made->first_user);
    made->user = calloc(uses + 1, sizeof *made->user);
    made->held = calloc(edges + 1, sizeof *made->held);
    made->seen = calloc(edges + 1, sizeof *made->seen);
    if (uses > UINT32_MAX || !made->first || !made->link || !made->first_user || !made->user || !made->held ||
        !made->seen) {
        pim_tile_contention_destroy(made);
        return NULL;
    }
    lay_ways(made, graph, place, &grid);
    find_users(made, graph->edges, links);
    return made;
}

/* How much of its packets an edge sends within a window. */
static double share_in(const struct pim_tile_window *window, const struct pim_tile_window *other)
{
    double from = window->first > other->first ? window->first : other->first;
    double to = window->last < other->last ? window->last : other->last;
    double span = other->last - other->first;
    if (to < from)
        return 0;
    return span > 0 ? (to - from) / span : 1;
}

/* What lies on a link while an edge travels; `windows` NULL: in all of the time. */
static double load_of(const struct pim_tile_contention *contention, uint32_t link, uint32_t edge,
                      const struct pim_tile_window *windows)
{
    double load = 0;
    for (uint32_t i = contention->first_user[link]; i < contention->first_user[link + 1]; i++) {
        uint32_t other = contention->user[i];
        double share = windows && other != edge ? share_in(&windows[edge], &windows[other]) : 1;
        load += share * contention->held[other] / contention->ways;
    }
    return load;
}

/* The busiest link of the better way. */
static double busiest(const struct pim_tile_contention *contention, uint32_t edge,
                      const struct pim_tile_window *windows)
{
    double best = 0;
    for (unsigned way = 0; way < contention->ways; way++) {
        const uint32_t *first = &contention->first[contention->ways * edge + way];
        double worst = 0;
        for (uint32_t i = first[0]; i < first[1]; i++) {
            double load = load_of(contention, contention->link[i], edge, windows);
            worst = load > worst ? load : worst;
        }
        best = way == 0 || worst < best ? worst : best;
    }
    return best;
}

/* All that excludes a packet of the edge: whoever has a link with its path in common. */
static double all_in_the_way(struct pim_tile_contention *contention, uint32_t edge,
                             const struct pim_tile_window *windows)
{
    double sum = contention->held[edge];
    contention->seen[edge] = ++contention->questions;
    for (uint32_t i = contention->first[edge]; i < contention->first[edge + 1]; i++) {
        uint32_t link = contention->link[i];
        for (uint32_t k = contention->first_user[link]; k < contention->first_user[link + 1]; k++) {
            uint32_t other = contention->user[k];
            if (contention->seen[other] == contention->questions)
                continue;
            contention->seen[other] = contention->questions;
            sum += share_in(&windows[edge], &windows[other]) * contention->held[other];
        }
    }
    return sum;
}

double pim_tile_contention_time(struct pim_tile_contention *contention, uint32_t edge,
                                const struct pim_tile_window *windows)
{
    bool links_alone = contention->machine->stores || contention->adaptive;
    return links_alone ? busiest(contention, edge, windows) : all_in_the_way(contention, edge, windows);
}

double pim_tile_contention_interval(struct pim_tile_contention *contention, uint32_t edge)
{
    return busiest(contention, edge, NULL);
}
