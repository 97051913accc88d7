#include "mappers/conflict/estimate.h"

#include "mappers/conflict/mapping.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

/* Steps of a node at which it is seen whether it is held up: the last, and so many before it. */
enum { SAMPLES = 32 };

/* The first and the last packet of an edge at their destination, ns; those between come evenly. */
struct arrival {
    double first, last;
};

struct pipeline {
    const struct pim_tile_graph *graph;
    const struct pim_machine_tiles *machine;
    const uint32_t *place;
    struct pim_grid grid;
    struct pim_flow *flows;
    uint64_t *load;  /* bits that pass a link while it is held, of an image */
    uint32_t *links; /* of a route */
    double *start, *end;
    struct arrival *arrival;
    double interval;
};

static double larger(double a, double b)
{
    return a > b ? a : b;
}

static struct pim_place_routes routes_of(const struct pim_machine_tiles *machine, bool columns_first)
{
    return (struct pim_place_routes){
        .columns_first = columns_first, .undirected = !machine->stores, .stretch = !machine->stores};
}

/* The busiest link of one route of an edge, bits of an image. */
static uint64_t worst_of_route(const struct pipeline *pipeline, uint32_t e, bool columns_first)
{
    const struct pim_tile_edge *edge = &pipeline->graph->edge[e];
    const struct pim_place_routes routes = routes_of(pipeline->machine, columns_first);
    uint32_t count = pim_place_route(&pipeline->grid, pipeline->place[edge->source],
                                     pipeline->place[edge->destination], &routes, pipeline->links);
    uint64_t worst = 0;
    for (uint32_t i = 0; i < count; i++)
        worst = pipeline->load[pipeline->links[i]] > worst ? pipeline->load[pipeline->links[i]] : worst;
    return worst;
}

/* The busiest link on the way of an edge, ns of an image; of the better way where there is a choice. */
static double worst_load(const struct pipeline *pipeline, uint32_t e)
{
    uint64_t worst = worst_of_route(pipeline, e, false);
    if (pipeline->machine->adaptive) {
        uint64_t other = worst_of_route(pipeline, e, true);
        worst = other < worst ? other : worst;
    }
    return (double)worst / pipeline->machine->link_gbps;
}

/* What lies on the links in an image. Routes over idle links share it out between both ways round. */
static void lay_loads(struct pipeline *pipeline)
{
    const struct pim_machine_tiles *machine = pipeline->machine;
    size_t links = (size_t)pim_grid_cells(&pipeline->grid) * PIM_PLACE_DIRECTIONS;
    for (int other = 0; other <= machine->adaptive; other++) {
        const struct pim_place_routes routes = routes_of(machine, other == 1);
        pim_place_loads(&pipeline->grid, pipeline->flows, pipeline->graph->edges, pipeline->place, &routes,
                        pipeline->load);
    }
    for (size_t i = 0; machine->adaptive && i < links; i++)
        pipeline->load[i] /= 2;
}

/* Packets leave their source as it makes them, each behind the one before it. */
static void carry(struct pipeline *pipeline, uint32_t e)
{
    const struct pim_tile_edge *edge = &pipeline->graph->edge[e];
    const struct pim_tile_node *source = &pipeline->graph->node[edge->source];
    double link = (double)edge->bits / pipeline->machine->link_gbps;
    double way = link * (double)pim_grid_distance(&pipeline->grid, pipeline->place[edge->source],
                                                  pipeline->place[edge->destination]);
    double each = pipeline->machine->stores ? link : way;
    struct arrival *arrival = &pipeline->arrival[e];
    arrival->first = pipeline->start[edge->source] + source->latency_ns + way;
    arrival->last = larger(pipeline->end[edge->source] + way, arrival->first + (edge->packets - 1) * each);
    double load = worst_load(pipeline, e);
    arrival->last = larger(arrival->last, arrival->first + load);
    pipeline->interval = larger(pipeline->interval, larger(edge->packets * each, load));
}

static double time_of(const struct pipeline *pipeline, uint32_t e, uint32_t packets)
{
    const struct arrival *arrival = &pipeline->arrival[e];
    uint32_t all = pipeline->graph->edge[e].packets;
    if (packets == 0)
        return 0;
    return all > 1 ? arrival->first + (arrival->last - arrival->first) * (packets - 1) / (all - 1)
                   : arrival->last;
}

/* The end of a node that takes packets of an edge: what step `s` waits for holds up all behind it. */
static void hold_up(struct pipeline *pipeline, uint32_t n, uint32_t e)
{
    const struct pim_tile_node *node = &pipeline->graph->node[n];
    uint32_t need, drop;
    pim_tile_dependence(pipeline->graph, e, 0, &need, &drop);
    pipeline->start[n] = larger(pipeline->start[n], time_of(pipeline, e, need));
    for (uint64_t i = 0; i <= SAMPLES; i++) {
        uint32_t s = (uint32_t)((node->steps - 1) * i / SAMPLES);
        pim_tile_dependence(pipeline->graph, e, s, &need, &drop);
        pipeline->end[n] =
            larger(pipeline->end[n], time_of(pipeline, e, need) + (node->steps - s) * node->latency_ns);
    }
}

/* Edges stand by their sources, and lead to nodes behind them. */
static void run(struct pipeline *pipeline)
{
    const struct pim_tile_graph *graph = pipeline->graph;
    uint32_t e = 0;
    for (uint32_t n = 0; n < graph->nodes; n++) {
        const struct pim_tile_node *node = &graph->node[n];
        double work = node->steps * node->latency_ns;
        pipeline->end[n] = larger(pipeline->end[n], pipeline->start[n] + work);
        pipeline->interval = larger(pipeline->interval, work);
        for (; e < graph->edges && graph->edge[e].source == n; e++) {
            carry(pipeline, e);
            hold_up(pipeline, graph->edge[e].destination, e);
        }
    }
}

static void collect(struct pim_tile_estimate *estimate, const struct pipeline *pipeline)
{
    const struct pim_tile_graph *graph = pipeline->graph;
    for (uint32_t n = 0; n < graph->nodes; n++) {
        struct pim_tile_layer_estimate *layer = &estimate->layer[graph->node[n].layer];
        layer->last_end = larger(layer->last_end, pipeline->end[n]);
        layer->compute = larger(layer->compute, graph->node[n].steps * graph->node[n].latency_ns);
        estimate->end = larger(estimate->end, pipeline->end[n]);
    }
    for (uint32_t e = 0; e < graph->edges; e++) {
        const struct pim_tile_edge *edge = &graph->edge[e];
        struct pim_tile_layer_estimate *layer = &estimate->layer[graph->node[edge->destination].layer];
        double each = (double)edge->bits / pipeline->machine->link_gbps;
        if (!pipeline->machine->stores)
            each *= (double)pim_grid_distance(&pipeline->grid, pipeline->place[edge->source],
                                              pipeline->place[edge->destination]);
        layer->transfer = larger(layer->transfer, edge->packets * each);
    }
    estimate->interval = pipeline->interval;
}

enum pim_status pim_tile_estimate_make(struct pim_tile_estimate *estimate, const struct pim_tile_graph *graph,
                                       const uint32_t *place, const struct pim_machine_tiles *machine,
                                       struct pim_error *error)
{
    struct pipeline pipeline = {.graph = graph,
                                .machine = machine,
                                .place = place,
                                .grid = {machine->width, machine->height},
                                .flows = pim_tile_flows(graph),
                                .start = calloc((size_t)graph->nodes + 1, sizeof(double)),
                                .end = calloc((size_t)graph->nodes + 1, sizeof(double)),
                                .arrival = calloc((size_t)graph->edges + 1, sizeof(struct arrival))};
    size_t links = (size_t)pim_grid_cells(&pipeline.grid) * PIM_PLACE_DIRECTIONS;
    pipeline.load = calloc(links + 1, sizeof *pipeline.load);
    pipeline.links = calloc((size_t)machine->width + machine->height, sizeof *pipeline.links);
    *estimate =
        (struct pim_tile_estimate){.graph = graph,
                                   .cycles_per_ns = (double)machine->logic_khz * 1e-6,
                                   .layer = calloc((size_t)graph->layers + 1, sizeof *estimate->layer)};
    bool complete = pipeline.flows && pipeline.load && pipeline.links && pipeline.start && pipeline.end &&
                    pipeline.arrival && estimate->layer;
    if (complete) {
        lay_loads(&pipeline);
        run(&pipeline);
        collect(estimate, &pipeline);
    }
    free(pipeline.flows);
    free(pipeline.load);
    free(pipeline.links);
    free(pipeline.start);
    free(pipeline.end);
    free(pipeline.arrival);
    if (complete)
        return PIM_OK;
    pim_tile_estimate_terminate(estimate);
    return pim_fail(error, PIM_NO_MEMORY, "no memory for the estimate of %" PRIu32 " nodes", graph->nodes);
}

void pim_tile_estimate_terminate(struct pim_tile_estimate *estimate)
{
    free(estimate->layer);
    estimate->layer = NULL;
}

static uint64_t cycles(const struct pim_tile_estimate *estimate, double ns)
{
    return ns > 0 ? (uint64_t)ceil(ns * estimate->cycles_per_ns) : 0;
}

uint64_t pim_tile_estimate_cycles(const struct pim_tile_estimate *estimate, uint32_t images)
{
    return cycles(estimate, estimate->end + (images - 1) * estimate->interval);
}

void pim_tile_estimate_phase(const struct pim_tile_estimate *estimate, uint32_t image, uint32_t l,
                             uint64_t *frontier, struct pim_trace_phase *phase)
{
    const struct pim_tile_layer_estimate *layer = &estimate->layer[l];
    uint64_t end = cycles(estimate, layer->last_end + image * estimate->interval);
    phase->estimate_cycles = end > *frontier ? end - *frontier : 0;
    phase->estimate_parts[PIM_ESTIMATE_COMPUTE] = cycles(estimate, layer->compute);
    phase->estimate_parts[PIM_ESTIMATE_TRANSFER] = cycles(estimate, layer->transfer);
    *frontier += phase->estimate_cycles;
}
