/*
 * A network as segments, its smallest serial pieces, and their branches, which may run side by side (NicePIM,
 * section III-B).
 *
 * Nodes of the graph are layers and auxiliary operations in topological order. After edges that another path
 * covers are left out, a node that no edge jumps over is a cut: a layer there is a segment by itself. What
 * lies between two cuts falls into components; each that holds a layer is a branch, and a lone one is cut
 * again.
 */
#ifndef PIMSIM_MAPPERS_NICEPIM_SPACE_SEGMENTS_H
#define PIMSIM_MAPPERS_NICEPIM_SPACE_SEGMENTS_H

#include "sim/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pim_flow_graph {
    uint32_t nodes;
    const bool *layer; /* which nodes are layers */
    size_t edge_count;
    const uint32_t (*edge)[2]; /* from, to; from < to */
};

/* Segment s has the branches branch[s] .. branch[s + 1] - 1, branch i the layers first[i] .. first[i + 1] -
 * 1 of `layers`, ascending. Every layer is in one branch. */
struct pim_segments {
    uint32_t segment_count, branch_count;
    uint32_t *branch, *first, *layers;
};

/* PIM_BAD_INPUT for an edge that does not lead forward. */
enum pim_status pim_segments_of(const struct pim_flow_graph *graph, struct pim_segments *segments,
                                struct pim_error *error);
void pim_segments_terminate(struct pim_segments *segments);

#endif
