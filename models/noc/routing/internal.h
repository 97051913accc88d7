/* Inside of routing: what is precomputed, and the steps that the rules are made of. */
#ifndef PIMSIM_MODELS_NOC_ROUTING_INTERNAL_H
#define PIMSIM_MODELS_NOC_ROUTING_INTERNAL_H

#include "models/noc/routing/routing.h"

enum { NOC_PARTS = 4, NOC_PHASES = 2, NOC_DATELINES = 2 };

/* An express link along a row or column, as dimension-order routing sees it in the router it leaves. */
struct noc_shortcut {
    uint16_t port, span; /* grid links it saves passing */
};

struct pim_noc_routing {
    enum pim_noc_routing_kind kind;
    const struct pim_noc_topology *topology;
    uint64_t seed;
    enum pim_noc_partition partition;
    bool numbered_draws;
    uint32_t virtual_channels, classes;
    struct pim_noc_vc_range class[PIM_NOC_CLASS_LIMIT];
    bool wraps[PIM_NOC_DIMENSION_LIMIT]; /* by dimension: a torus of at least 3 there */
    uint32_t datelines; /* virtual-channel classes against cycles around a ring: 2 on a torus, else 1 */
    bool has_escape[PIM_NOC_CLASS_LIMIT]; /* minimal_adaptive, with enough virtual channels */
    uint32_t all[PIM_NOC_CLASS_LIMIT];    /* masks of virtual channels, by class of traffic */
    /* By class and phase (o1turn: order): before the dateline, behind it, and either. */
    uint32_t part[PIM_NOC_CLASS_LIMIT][NOC_PHASES][NOC_DATELINES + 1];
    uint32_t adaptive[PIM_NOC_CLASS_LIMIT];
    /* Express links by router and grid port, longest first: from first_shortcut[4 r + port] on. NULL:
     * none. */
    struct noc_shortcut *shortcut;
    uint32_t *first_shortcut;
    uint16_t *table; /* output port by router * routers + destination's router */
};

/* One step towards `target` in one dimension. */
struct noc_step {
    uint16_t port;     /* of the grid */
    uint16_t distance; /* grid links to go in this dimension */
    uint8_t dateline;  /* 0: before the dateline, 1: behind it or never across, 2: no ring here */
};

/* Whether there is a way to go in `dimension`, and which. `lower`: at a tie go to lower coordinates. */
bool noc_step_towards(const struct pim_noc_routing *routing, uint32_t router, uint32_t target,
                      unsigned dimension, bool lower, struct noc_step *step);

/* The parts of the channels that a packet between two routers uses, from its ties; `draws`: bit d, for what
 * is drawn in dimension d. */
uint8_t noc_partition(const struct pim_noc_routing *routing, const struct pim_noc_packet_state *state,
                      uint32_t from, uint32_t to, unsigned draws);

/* The table's output ports, from a table whose rows are checked on the way. */
enum pim_status noc_routing_take_table(struct pim_noc_routing *routing,
                                       const struct pim_noc_route_table *table, struct pim_error *error);

#endif
