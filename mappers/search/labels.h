/*
 * Label-setting dynamic programming: the cheapest path through an acyclic graph whose arcs also use up
 * resources.
 *
 * Nodes are numbered so that every arc leads to a higher number. A label of a node is a path to it; it is
 * dropped when another label of the node is nowhere above it in cost and resources, or when a resource is
 * above its limit. What is left at the last node is the set of all paths worth having.
 */
#ifndef PIMSIM_MAPPERS_SEARCH_LABELS_H
#define PIMSIM_MAPPERS_SEARCH_LABELS_H

#include "sim/status.h"

#include <stdbool.h>
#include <stdint.h>

enum { PIM_LABEL_RESOURCES = 3, PIM_LABELS_MOST = 1 << 24 };

struct pim_label_arc {
    uint32_t from, to; /* from < to */
    uint64_t cost;
    uint64_t resource[PIM_LABEL_RESOURCES]; /* of those that are not used: 0 */
};

struct pim_label_path {
    bool found;
    uint64_t cost;
    uint64_t resource[PIM_LABEL_RESOURCES];
    uint32_t *arcs; /* their numbers, first to last; from malloc, the caller's */
    uint32_t count;
    uint64_t labels; /* that were made */
};

/*
 * The cheapest path from node 0 to the last one that keeps within `limit` in all resources; of equally cheap
 * ones the one with the least first, then second, then third resource, and among those the one that was found
 * first, by ascending arcs. PIM_BAD_INPUT for an arc that does not lead upwards or names no node, for sums
 * beyond 2^63, and for more than PIM_LABELS_MOST labels; PIM_NO_MEMORY.
 */
enum pim_status pim_label_path(uint32_t nodes, const struct pim_label_arc *arcs, uint32_t count,
                               const uint64_t limit[PIM_LABEL_RESOURCES], struct pim_label_path *path,
                               struct pim_error *error);

#endif
