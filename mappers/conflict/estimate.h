/*
 * When layers end, in closed form: a pipeline of steps and of packets that go one behind the other over each
 * edge, held up by what is in their way meanwhile (contention.h). docs/mappers/conflict.md has the rules.
 */
#ifndef PIMSIM_MAPPERS_CONFLICT_ESTIMATE_H
#define PIMSIM_MAPPERS_CONFLICT_ESTIMATE_H

#include "mappers/conflict/graph.h"
#include "mappers/machine/tiles.h"
#include "traces/trace.h"

/* Of a layer in the first image, ns from the beginning of the run. */
struct pim_tile_layer_estimate {
    double last_end;          /* of its nodes */
    double compute, transfer; /* steps of its slowest node; packets of its slowest edge, without conflicts */
};

struct pim_tile_estimate {
    const struct pim_tile_graph *graph;
    double cycles_per_ns;
    double end;      /* of the first image */
    double interval; /* between two images */
    struct pim_tile_layer_estimate *layer;
};

/* Node n at place[n]; pim_tile_estimate_terminate() frees it. PIM_NO_MEMORY. */
enum pim_status pim_tile_estimate_make(struct pim_tile_estimate *estimate, const struct pim_tile_graph *graph,
                                       const uint32_t *place, const struct pim_machine_tiles *machine,
                                       struct pim_error *error);
void pim_tile_estimate_terminate(struct pim_tile_estimate *estimate);

/* Cycles of the logic clock, of `images` images. */
uint64_t pim_tile_estimate_cycles(const struct pim_tile_estimate *estimate, uint32_t images);

/* Of a layer in an image, in the order of the phases: by how much it moves the end of the run beyond
 * *frontier, 0 before the first, which moves along; and its parts. */
void pim_tile_estimate_phase(const struct pim_tile_estimate *estimate, uint32_t image, uint32_t layer,
                             uint64_t *frontier, struct pim_trace_phase *phase);

#endif
