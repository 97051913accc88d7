/*
 * Task graphs: the nodes of a network on processing elements, with steps, and the packets they send each
 * other.
 *
 * A node works through its steps in order, image after image. Every step puts one packet on each outgoing
 * edge. A step may start when, of each incoming edge, `need` packets of this image have arrived, and it frees
 * `drop` packets of it when it ends.
 *
 * Invariants of a graph that a reader handed out (pim_task_graph_finish checks them):
 *  1. Edges join different, known nodes; no two edges have the same ends; the graph has no cycle.
 *  2. packets of an edge = steps of its source; need is at most that.
 *  3. What the steps up to any point free has arrived by their own needs.
 *  4. Step times are above 0 and at most PIM_CONFLICT_NS_MAXIMUM, packets have 1 to 2^40 bits.
 */
#ifndef PIMSIM_MODELS_CONFLICT_GRAPH_GRAPH_H
#define PIMSIM_MODELS_CONFLICT_GRAPH_GRAPH_H

#include "sim/integer.h"
#include "sim/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum {
    PIM_TASK_NODES = 1 << 16,      /* nodes of a graph */
    PIM_TASK_EDGES = 1 << 20,      /* edges of a graph */
    PIM_TASK_STEPS = 1 << 24,      /* steps of a node in one image */
    PIM_TASK_DEPENDENCES = 1 << 26 /* sum of the destination's steps over all edges */
};
#define PIM_TASK_BITS (UINT64_C(1) << 40) /* bits of a packet */

struct pim_task_node {
    uint32_t steps;     /* per image */
    uint32_t latencies; /* 1: all steps take latency_ns[first_latency]; else `steps` of them from there on */
    size_t first_latency;
    uint32_t first_in, ins;   /* its incoming edges are graph->in[first_in ...], in ascending order */
    uint32_t first_out, outs; /* likewise */
};

struct pim_task_edge {
    uint32_t source, destination; /* nodes */
    uint32_t packets;             /* per image */
    uint64_t bits;                /* per packet */
    size_t first; /* step s of the destination: graph->need[first + s], graph->drop[first + s] */
};

/* Flits of one of its packets as a worm. */
static inline uint64_t pim_task_flits(const struct pim_task_edge *edge, uint64_t flit_bits)
{
    return pim_divide_up(edge->bits, flit_bits);
}

struct pim_task_graph {
    char *name;
    uint32_t nodes, edges;
    struct pim_task_node *node;
    struct pim_task_edge *edge; /* its index is its fixed priority: the lower the earlier served */
    double *latency_ns;
    size_t latencies;
    uint32_t *need; /* packets of this image that must have arrived; NULL until the dependences are known */
    uint32_t *drop; /* packets freed when the step ends */
    uint32_t *in, *out;
};

/*
 * Reads a graph. `path` is the file of an authors' task list (ends with ".json"), or the prefix P, or any
 * file, of a set of CSV files P.nodes.csv, P.edges.csv and P.deps.csv; without P.deps.csv the dependences
 * follow from P.layers.csv. All formats are described in docs/models/conflict.md. Errors carry file and row.
 * The caller destroys the graph; NULL after a failure.
 */
enum pim_status pim_task_graph_read(const char *path, struct pim_task_graph **graph, struct pim_error *error);

/* The CSV files as open streams, which stay the caller's and must be seekable; exactly one of `deps` and
 * `layers` is not NULL. */
enum pim_status pim_task_graph_read_csv(const char *name, FILE *nodes, FILE *edges, FILE *deps, FILE *layers,
                                        struct pim_task_graph **graph, struct pim_error *error);

/* The authors' task list from memory. */
enum pim_status pim_task_graph_parse_json(const char *name, const char *text, size_t length,
                                          struct pim_task_graph **graph, struct pim_error *error);

/* Destroys a graph; NULL is allowed. */
void pim_task_graph_destroy(struct pim_task_graph *graph);

/* --- for builders of graphs --- */

/* An empty graph with room for the numbers given (within the bounds above, asserted); NULL when memory is
 * out. */
struct pim_task_graph *pim_task_graph_create(const char *name, uint32_t nodes, uint32_t edges);

/* With node[].steps and edge[] (ends, packets, bits) filled: makes the lists in and out, and no
 * dependences: for networks alone (models/conflict/network.h). PIM_BAD_INPUT for invariants 1 (ends) and
 * 2 (packets). */
enum pim_status pim_task_graph_join(struct pim_task_graph *graph, struct pim_error *error);

/* With node[] (steps, latencies) and edge[] (ends, packets, bits) filled: sets edge[].first, allocates need
 * and drop, all zero, and makes the lists in and out. PIM_BAD_INPUT for invariants 1 (ends) and 2 (packets),
 * naming the edge. */
enum pim_status pim_task_graph_connect(struct pim_task_graph *graph, struct pim_error *error);

/* Checks what is left of the invariants; PIM_BAD_INPUT names nodes, edges, steps, or the cycle. */
enum pim_status pim_task_graph_finish(const struct pim_task_graph *graph, struct pim_error *error);

/* The edge from one node to another; UINT32_MAX when there is none. */
uint32_t pim_task_graph_edge(const struct pim_task_graph *graph, uint32_t source, uint32_t destination);

#endif
