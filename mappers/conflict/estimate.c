#include "mappers/conflict/estimate.h"

#include "mappers/place/place.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

static double larger(double a, double b)
{
    return a > b ? a : b;
}

static void told(void *context, uint32_t image, uint32_t node, double end_ns)
{
    const struct pim_tile_estimate *estimate = context;
    const struct pim_tile_graph *graph = estimate->graph;
    double *end = &estimate->end[(size_t)image * graph->layers + graph->node[node].layer];
    *end = larger(*end, end_ns);
}

static void find_parts(struct pim_tile_estimate *estimate, const uint32_t *place,
                       const struct pim_machine_tiles *machine)
{
    const struct pim_tile_graph *graph = estimate->graph;
    const struct pim_grid grid = {machine->width, machine->height};
    for (uint32_t n = 0; n < graph->nodes; n++) {
        struct pim_tile_layer_estimate *layer = &estimate->layer[graph->node[n].layer];
        layer->compute = larger(layer->compute, graph->node[n].steps * graph->node[n].latency_ns);
    }
    for (uint32_t e = 0; e < graph->edges; e++) {
        const struct pim_tile_edge *edge = &graph->edge[e];
        struct pim_tile_layer_estimate *layer = &estimate->layer[graph->node[edge->destination].layer];
        double each = (double)edge->bits / machine->link_gbps;
        if (!machine->stores)
            each *= (double)pim_grid_distance(&grid, place[edge->source], place[edge->destination]);
        layer->transfer = larger(layer->transfer, edge->packets * each);
    }
}

enum pim_status pim_tile_estimate_make(struct pim_tile_estimate *estimate, const struct pim_tile_graph *graph,
                                       const uint32_t *place, const struct pim_machine_tiles *machine,
                                       uint32_t images, const struct pim_mapper_tiles *tiles, void *replay,
                                       const struct pim_tile_limits *limits, struct pim_error *error)
{
    *estimate =
        (struct pim_tile_estimate){.graph = graph,
                                   .cycles_per_ns = (double)machine->logic_khz * 1e-6,
                                   .images = images,
                                   .end = calloc((size_t)images * graph->layers + 1, sizeof *estimate->end),
                                   .layer = calloc((size_t)graph->layers + 1, sizeof *estimate->layer)};
    if (!estimate->end || !estimate->layer)
        return pim_fail(error, PIM_NO_MEMORY, "no memory for the estimate of %" PRIu32 " layers",
                        graph->layers);
    find_parts(estimate, place, machine);
    if (!tiles || !replay)
        return PIM_OK;
    return tiles->ends(replay, place, limits, told, estimate, &estimate->known, error);
}

void pim_tile_estimate_terminate(struct pim_tile_estimate *estimate)
{
    free(estimate->end);
    free(estimate->layer);
    estimate->end = NULL;
    estimate->layer = NULL;
}

static double end_of(const struct pim_tile_estimate *estimate, uint32_t images)
{
    double end = 0;
    for (size_t i = 0; i < (size_t)images * estimate->graph->layers; i++)
        end = larger(end, estimate->end[i]);
    return end;
}

double pim_tile_estimate_image(const struct pim_tile_estimate *estimate)
{
    return estimate->known ? end_of(estimate, 1) : (double)NAN;
}

double pim_tile_estimate_run(const struct pim_tile_estimate *estimate)
{
    return estimate->known ? end_of(estimate, estimate->images) : (double)NAN;
}

double pim_tile_estimate_interval(const struct pim_tile_estimate *estimate)
{
    return estimate->known ? end_of(estimate, estimate->images) / estimate->images : (double)NAN;
}

static uint64_t cycles(const struct pim_tile_estimate *estimate, double ns)
{
    return ns > 0 ? (uint64_t)ceil(ns * estimate->cycles_per_ns) : 0;
}

uint64_t pim_tile_estimate_cycles(const struct pim_tile_estimate *estimate)
{
    return estimate->known ? cycles(estimate, end_of(estimate, estimate->images)) : 0;
}

void pim_tile_estimate_phase(const struct pim_tile_estimate *estimate, uint32_t image, uint32_t l,
                             uint64_t *frontier, struct pim_trace_phase *phase)
{
    const struct pim_tile_layer_estimate *layer = &estimate->layer[l];
    double last = estimate->end[(size_t)image * estimate->graph->layers + l];
    uint64_t end = cycles(estimate, last);
    if (!estimate->known)
        return;
    phase->estimate_cycles = end > *frontier ? end - *frontier : 0;
    phase->estimate_parts[PIM_ESTIMATE_COMPUTE] = cycles(estimate, layer->compute);
    phase->estimate_parts[PIM_ESTIMATE_TRANSFER] = cycles(estimate, layer->transfer);
    *frontier += phase->estimate_cycles;
}
