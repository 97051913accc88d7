/* What the readers of task graphs share. */
#ifndef PIMSIM_MODELS_CONFLICT_GRAPH_INTERNAL_H
#define PIMSIM_MODELS_CONFLICT_GRAPH_INTERNAL_H

#include "models/conflict/graph/graph.h"
#include "sim/output/csv.h"

/* Fills need and drop of a connected graph from the rows of a layers file; `layer` and `merge` are by node.
 */
enum pim_status conflict_graph_read_layers(struct pim_task_graph *graph, FILE *layers, const uint32_t *layer,
                                           const bool *merge, struct pim_error *error);

/* Refuses a row whose number in `column` is not the next one. */
enum pim_status conflict_graph_row(const struct pim_csv_reader *reader, size_t column, uint64_t next,
                                   struct pim_error *error);

/* Fills need and drop from the rows of a deps file. */
enum pim_status conflict_graph_read_deps(struct pim_task_graph *graph, FILE *deps, struct pim_error *error);

#endif
