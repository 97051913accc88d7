#include "mappers/conflict/estimate.h"

#include "mappers/conflict/contention.h"
#include "mappers/place/place.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Steps of a node at which it is seen whether it is held up: the last, and so many before it. */
enum { SAMPLES = 32 };

/* Passes: each knows from the one before it when packets travel. */
enum { PASSES = 10 };

struct pipeline {
    const struct pim_tile_graph *graph;
    const struct pim_machine_tiles *machine;
    const uint32_t *place;
    struct pim_grid grid;
    struct pim_tile_contention *contention;
    double *start, *end;
    /* Of each edge: the first and the last packet at their destination, those between come evenly; and the
       same of the pass before. */
    struct pim_tile_window *arrival, *before;
    bool first_pass;
};

static double larger(double a, double b)
{
    return a > b ? a : b;
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
    double leaves = pipeline->start[edge->source] + source->latency_ns;
    struct pim_tile_window *arrival = &pipeline->arrival[e];
    arrival->first = leaves + way;
    arrival->last = larger(pipeline->end[edge->source] + way, arrival->first + (edge->packets - 1) * each);
    if (!pipeline->first_pass) {
        double time = pim_tile_contention_time(pipeline->contention, e, pipeline->before);
        arrival->last = larger(arrival->last, leaves + time + way - each);
    }
}

static double time_of(const struct pipeline *pipeline, uint32_t e, uint32_t packets)
{
    const struct pim_tile_window *arrival = &pipeline->arrival[e];
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
static void run_once(struct pipeline *pipeline)
{
    const struct pim_tile_graph *graph = pipeline->graph;
    uint32_t e = 0;
    memset(pipeline->start, 0, graph->nodes * sizeof *pipeline->start);
    memset(pipeline->end, 0, graph->nodes * sizeof *pipeline->end);
    for (uint32_t n = 0; n < graph->nodes; n++) {
        const struct pim_tile_node *node = &graph->node[n];
        double work = node->steps * node->latency_ns;
        pipeline->end[n] = larger(pipeline->end[n], pipeline->start[n] + work);
        for (; e < graph->edges && graph->edge[e].source == n; e++) {
            carry(pipeline, e);
            hold_up(pipeline, graph->edge[e].destination, e);
        }
    }
}

/* What travels at the same time follows from what is held up, and the other way round. */
static void run(struct pipeline *pipeline)
{
    size_t size = pipeline->graph->edges * sizeof *pipeline->arrival;
    run_once(pipeline);
    pipeline->first_pass = false;
    for (int pass = 1; pass < PASSES && memcmp(pipeline->before, pipeline->arrival, size) != 0; pass++) {
        memcpy(pipeline->before, pipeline->arrival, size);
        run_once(pipeline);
    }
}

/* Nothing makes an image in less time than its own work, or than its busiest link. */
static double find_interval(const struct pipeline *pipeline)
{
    const struct pim_tile_graph *graph = pipeline->graph;
    double interval = 0;
    for (uint32_t n = 0; n < graph->nodes; n++)
        interval = larger(interval, graph->node[n].steps * graph->node[n].latency_ns);
    for (uint32_t e = 0; e < graph->edges; e++)
        interval = larger(interval, pim_tile_contention_interval(pipeline->contention, e));
    return interval;
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
    estimate->interval = find_interval(pipeline);
}

enum pim_status pim_tile_estimate_make(struct pim_tile_estimate *estimate, const struct pim_tile_graph *graph,
                                       const uint32_t *place, const struct pim_machine_tiles *machine,
                                       struct pim_error *error)
{
    struct pipeline pipeline = {.graph = graph,
                                .machine = machine,
                                .place = place,
                                .grid = {machine->width, machine->height},
                                .contention = pim_tile_contention_create(graph, place, machine),
                                .start = calloc((size_t)graph->nodes + 1, sizeof(double)),
                                .end = calloc((size_t)graph->nodes + 1, sizeof(double)),
                                .arrival = calloc((size_t)graph->edges + 1, sizeof(struct pim_tile_window)),
                                .before = calloc((size_t)graph->edges + 1, sizeof(struct pim_tile_window)),
                                .first_pass = true};
    *estimate =
        (struct pim_tile_estimate){.graph = graph,
                                   .cycles_per_ns = (double)machine->logic_khz * 1e-6,
                                   .layer = calloc((size_t)graph->layers + 1, sizeof *estimate->layer)};
    bool complete = pipeline.contention && pipeline.start && pipeline.end && pipeline.arrival &&
                    pipeline.before && estimate->layer;
    if (complete) {
        run(&pipeline);
        collect(estimate, &pipeline);
    }
    pim_tile_contention_destroy(pipeline.contention);
    free(pipeline.start);
    free(pipeline.end);
    free(pipeline.arrival);
    free(pipeline.before);
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
