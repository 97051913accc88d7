/*
 * Tiles of crossbars: units that work in steps and send a packet on each of their edges with every step (the
 * hardware of Sun et al., ASP-DAC 2023). docs/models/tile.md is the page.
 *
 * Rules:
 *  1. Fetch, phase marks, joins: models/unit/unit.h. A unit fetches up to its next step, not beyond; what it
 *     takes is complete at once, the step when it has ended.
 *  2. The first phase of a program begins with its edges: tile_output, tile_input. Numbers of edges are 0
 *     to their number less one, and the two ends of one say the same.
 *  3. A step starts when, of each input, the packets that its takes ask for have come, beside all that
 *     earlier steps asked for, and each output has room in the output buffer. When it ends, what its takes
 *     free leaves the input buffers, and every output has one packet more.
 *  4. Packets go over the network of models/conflict, in its time points; with switching "wormhole" they are
 *     worms of models/noc, and only buffers and the order at a source are those of the conflict network.
 *  5. Ticks are femtoseconds. The end of a run is that of `pimsim tasks --arithmetic exact` for the same
 *     graph, mapping and options, to the tick.
 */
#ifndef PIMSIM_MODELS_TILE_TILE_H
#define PIMSIM_MODELS_TILE_TILE_H

#include "models/conflict/network.h"
#include "models/unit/unit.h"

#define PIM_TILE_TICKS_PER_SECOND UINT64_C(1000000000000000)

struct pim_tiles_configuration {
    struct pim_conflict_options options; /* one image, exact; tables are those of the trace */
    uint32_t window;                     /* instructions in flight, a power of two */
    struct pim_zero_load zero_load;      /* wormhole */
};

struct pim_tiles_edge;

/* What all tiles share. Times are ticks. */
struct pim_tiles {
    struct pim_units units; /* first */
    struct pim_tiles_configuration configuration;
    struct pim_behaviour table; /* of the trace, for routing by table */
    struct pim_task_graph *graph;
    uint32_t *placement; /* unit u at router u */
    struct pim_conflict_network *network;
    struct pim_tiles_edge *edge;
};

/* Makes a tile for each unit of `trace`, reads the edges of all programs, and makes the network. As
 * pim_channels_initialize(). */
enum pim_status pim_tile_array_initialize(struct pim_tiles *tiles, struct pim_kernel *kernel,
                                          const struct pim_tiles_configuration *configuration,
                                          const struct pim_trace *trace, struct pim_error *error);

extern const struct pim_unit_family pim_tile_family;

#endif
