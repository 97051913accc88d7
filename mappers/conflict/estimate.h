/*
 * When layers end: the mapping replayed packet by packet on the network of the hardware, which whoever calls
 * the mapper brings along (mappers/mapper.h). docs/mappers/conflict.md has what that is worth.
 */
#ifndef PIMSIM_MAPPERS_CONFLICT_ESTIMATE_H
#define PIMSIM_MAPPERS_CONFLICT_ESTIMATE_H

#include "mappers/conflict/graph.h"
#include "mappers/machine/tiles.h"
#include "mappers/mapper.h"
#include "traces/trace.h"

/* Of a layer in an image, ns, without conflicts. */
struct pim_tile_layer_estimate {
    double compute, transfer; /* steps of its slowest node; packets of its slowest edge */
};

struct pim_tile_estimate {
    const struct pim_tile_graph *graph;
    double cycles_per_ns;
    uint32_t images;
    bool known; /* else there is nobody who replays, or it was stopped: all figures are 0 */
    double
        *end; /* of the nodes of layer l in image m: end[m x layers + l], ns from the beginning of the run */
    struct pim_tile_layer_estimate *layer;
};

/* Node n at place[n]; pim_tile_estimate_terminate() frees it in every case. `tiles` has made `replay`, NULL:
 * there is none. PIM_NO_MEMORY; errors of the replay, as PIM_DEADLOCK. */
enum pim_status pim_tile_estimate_make(struct pim_tile_estimate *estimate, const struct pim_tile_graph *graph,
                                       const uint32_t *place, const struct pim_machine_tiles *machine,
                                       uint32_t images, const struct pim_mapper_tiles *tiles, void *replay,
                                       const struct pim_tile_limits *limits, struct pim_error *error);
void pim_tile_estimate_terminate(struct pim_tile_estimate *estimate);

/* Of the first image, ns; NAN: it is not known. */
double pim_tile_estimate_image(const struct pim_tile_estimate *estimate);

/* Of all images, from the beginning of the run to its end, ns; NAN: it is not known. */
double pim_tile_estimate_run(const struct pim_tile_estimate *estimate);

/* End / images of all of them, ns; NAN: it is not known. */
double pim_tile_estimate_interval(const struct pim_tile_estimate *estimate);

/* Cycles of the logic clock, of all images. */
uint64_t pim_tile_estimate_cycles(const struct pim_tile_estimate *estimate);

/* Of a layer in an image, in the order of the phases: by how much it moves the end of the run beyond
 * *frontier, 0 before the first, which moves along; and its parts. */
void pim_tile_estimate_phase(const struct pim_tile_estimate *estimate, uint32_t image, uint32_t layer,
                             uint64_t *frontier, struct pim_trace_phase *phase);

#endif
