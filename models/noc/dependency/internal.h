/*
 * The channel dependency graph.
 *
 * Virtual channels that every rule treats alike form a group; a channel of the graph is a group of virtual
 * channels of a link, number link * groups + group. Behind the channels come, for routings with escape
 * channels, places: (router, destination's router, tie): a packet that has got there through other channels
 * than the escape channel it still holds.
 */
#ifndef PIMSIM_MODELS_NOC_DEPENDENCY_INTERNAL_H
#define PIMSIM_MODELS_NOC_DEPENDENCY_INTERNAL_H

#include "models/noc/dependency/dependency.h"
#include "models/noc/routing/internal.h"

struct noc_dependencies {
    const struct pim_noc_routing *routing;
    const struct pim_noc_topology *topology;
    uint32_t groups;
    uint8_t lowest[32];     /* by group: its lowest virtual channel */
    uint32_t group_vcs[32]; /* by group: its virtual channels */
    uint32_t ties;          /* values of the tie bits that occur: 1, 2, 4 or 8 */
    uint32_t tie[8];
    bool escape; /* the class that is looked at has escape channels: edges are computed, not stored */
    uint8_t class;
    uint32_t channels, nodes; /* nodes: with places */
    uint32_t *edges;          /* by channel * most_ports + output port of the router it leads to: groups */
};

/* The groups that a set of virtual channels consists of. */
static inline uint32_t noc_groups_of(const struct noc_dependencies *graph, uint32_t vcs)
{
    uint32_t set = 0;
    for (uint32_t g = 0; g < graph->groups; g++)
        set |= (uint32_t)((graph->group_vcs[g] & vcs) != 0) << g;
    return set;
}

/* table.c: the edges of a topology with a table of ways. PIM_NO_MEMORY. */
enum pim_status noc_dependency_follow_table(struct noc_dependencies *graph, struct pim_error *error);

/* The next node that `node` waits for, from *place on (0 at first), which moves behind it; PIM_NOC_NONE: no
 * more. */
uint32_t noc_dependency_next(const struct noc_dependencies *graph, uint32_t node, uint64_t *place);

/*
 * Looks for a cycle: *cycle receives its nodes, each waiting for the next and the last for the first, from
 * malloc, the caller's; *count 0 when there is none. PIM_NO_MEMORY.
 */
enum pim_status noc_dependency_search(const struct noc_dependencies *graph, uint32_t **cycle, uint32_t *count,
                                      struct pim_error *error);

#endif
