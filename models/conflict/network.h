/*
 * The conflict network alone, for nodes that are not those of a task graph: units of a run (models/tile).
 *
 * The nodes make, take and free packets of the edges of a graph; the network carries them, and calls a node
 * whenever something has changed for it: in its time points, in the order of docs/models/conflict.md. Of the
 * graph it looks at the edges and lists alone (pim_task_graph_join()).
 */
#ifndef PIMSIM_MODELS_CONFLICT_NETWORK_H
#define PIMSIM_MODELS_CONFLICT_NETWORK_H

#include "models/conflict/conflict.h"
#include "models/conflict/nodes.h"

struct pim_conflict_network;

/* Everything but `network` is borrowed until pim_conflict_network_destroy(). The first time point is at the
 * present instant of the kernel. PIM_BAD_INPUT and PIM_DEADLOCK as pim_conflict_run(); on failure *network is
 * NULL. */
enum pim_status pim_conflict_network_create(const struct pim_task_graph *graph, const uint32_t *placement,
                                            const struct pim_conflict_options *options,
                                            const struct pim_conflict_nodes *nodes, struct pim_kernel *kernel,
                                            struct pim_conflict_network **network, struct pim_error *error);
void pim_conflict_network_destroy(struct pim_conflict_network *network);

/* The node is looked at in a time point at the present instant. */
void pim_conflict_network_look(struct pim_conflict_network *network, uint32_t node);

/* From look(): whether a packet of an edge fits the output buffer; packets that have come so far; one is
 * made; some are freed. */
bool pim_conflict_network_has_room(const struct pim_conflict_network *network, uint32_t edge);
uint32_t pim_conflict_network_arrived(const struct pim_conflict_network *network, uint32_t edge);
void pim_conflict_network_make(struct pim_conflict_network *network, uint32_t edge);
void pim_conflict_network_free(struct pim_conflict_network *network, uint32_t edge, uint32_t packets);

/* PIM_SWITCHING_WORMHOLE: what send() was told of has left its source, and is there. */
void pim_conflict_network_injected(struct pim_conflict_network *network, uint32_t edge);
void pim_conflict_network_delivered(struct pim_conflict_network *network, uint32_t edge, uint32_t hops);

/* Why packets of an edge wait to be sent; false: none does. */
bool pim_conflict_network_explain(const struct pim_conflict_network *network, uint32_t edge, char *text,
                                  size_t size);

/* The last step has ended, now: packets that nobody needs go on, and links are no longer accounted. */
void pim_conflict_network_over(struct pim_conflict_network *network);

/* Links and tasks so far; of nodes and images nothing. */
const struct pim_conflict_result *pim_conflict_network_result(const struct pim_conflict_network *network);

#endif
