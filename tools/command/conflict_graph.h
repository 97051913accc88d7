/* The graphs of mappers/conflict as models/conflict replays them: neither knows the other. */
#ifndef PIMSIM_TOOLS_COMMAND_CONFLICT_GRAPH_H
#define PIMSIM_TOOLS_COMMAND_CONFLICT_GRAPH_H

#include "mappers/conflict/mapping.h"
#include "models/conflict/conflict.h"

/* The same graph with its dependences written out; the caller destroys it. PIM_BAD_INPUT, PIM_NO_MEMORY. */
enum pim_status conflict_task_graph(const struct pim_tile_graph *tiles, struct pim_task_graph **graph,
                                    struct pim_error *error);

/* Context of conflict_simulate(). */
struct conflict_simulator {
    const struct pim_task_graph *graph;
    struct pim_conflict_options options; /* images: for the time of an image; the latency is that of one */
};

/* A pim_tile_simulate; several threads may share a simulator. A deadlock is INFINITY, not an error. */
enum pim_status conflict_simulate(void *simulator, const uint32_t *place, double *latency_ns,
                                  double *interval_ns, struct pim_error *error);

/* Writes PREFIX.nodes.csv, .edges.csv, and .layers.csv, or .deps.csv where windows are not square. */
enum pim_status conflict_graph_write(const struct pim_tile_graph *tiles, const char *prefix,
                                     struct pim_error *error);

#endif
