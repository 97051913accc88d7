/*
 * Routing of the network on chip: where a packet may go next, and on which virtual channels.
 *
 *     pim_noc_routing_create(&configuration, topology, &routing, &error);
 *     pim_noc_dependency_check(routing, &error);                  cannot deadlock (models/noc/dependency)
 *     pim_noc_packet_start(routing, number, source, destination, class, &state);       at injection
 *     count = pim_noc_route(routing, &state, router, input_port, candidates);          in every router
 *     pim_noc_packet_advance(routing, &state, router, candidates[taken].port);         when it leaves it
 *
 * 1. Routing is a function of the topology, the packet's state, the router and, with tables, nothing else; it
 *    keeps no state of its own and looks at no traffic.
 * 2. What is drawn at random is drawn when the packet starts, from a stream that belongs to the packet's
 *    number and the seed: the order in which anything is evaluated has no influence.
 * 3. A packet at its destination's router has one candidate, the destination's terminal, on all virtual
 *    channels of its class.
 * 4. pim_noc_packet_advance follows the head: whoever calls it calls it once per router that is left by a
 *    link, in the order of the path.
 *
 * docs/models/noc-routing.md describes each routing, and the virtual channels it needs.
 */
#ifndef PIMSIM_MODELS_NOC_ROUTING_ROUTING_H
#define PIMSIM_MODELS_NOC_ROUTING_ROUTING_H

#include "models/noc/topology/topology.h"

/* X(name, text) */
#define PIM_NOC_ROUTING_MAP(X)                                                                               \
    X(PIM_NOC_XY, "xy")                                                                                      \
    X(PIM_NOC_YX, "yx")                                                                                      \
    X(PIM_NOC_O1TURN, "o1turn")                                                                              \
    X(PIM_NOC_WEST_FIRST, "west_first")                                                                      \
    X(PIM_NOC_ODD_EVEN, "odd_even")                                                                          \
    X(PIM_NOC_MINIMAL_ADAPTIVE, "minimal_adaptive")                                                          \
    X(PIM_NOC_VALIANT, "valiant")                                                                            \
    X(PIM_NOC_ROMM, "romm")                                                                                  \
    X(PIM_NOC_TABLE, "table")                                                                                \
    X(PIM_NOC_MINIMAL, "minimal")                                                                            \
    X(PIM_NOC_D_MOD_K, "d_mod_k")

enum pim_noc_routing_kind {
#define X(name, text) name,
    PIM_NOC_ROUTING_MAP(X)
#undef X
        PIM_NOC_ROUTINGS
};

enum {
    PIM_NOC_CLASS_LIMIT = 8,     /* classes of traffic */
    PIM_NOC_CANDIDATE_LIMIT = 4, /* of one packet in one router */
    PIM_NOC_TABLE_ROUTERS = 1024 /* most routers of a network that is routed by a table */
};

/* Which half of the virtual channels a packet uses on a ring of a torus, with dimension-order routing. */
enum pim_noc_partition {
    PIM_NOC_DATELINE,   /* the first one before the link that wraps around, else the second */
    PIM_NOC_COORDINATE, /* the second one for the whole ring when the packet enters it behind its goal */
    PIM_NOC_BALANCED,   /* the second when it will wrap, the first when it passes the middle, else drawn */
    PIM_NOC_PARTITIONS
};

/* Virtual channels of a class of traffic: first .. first + count - 1. */
struct pim_noc_vc_range {
    uint32_t first, count;
};

/* Next routers by (router, destination's router). */
struct pim_noc_route_table {
    uint32_t routers;
    uint32_t *next; /* by router * routers + destination; PIM_NOC_NONE: no row */
    uint32_t *line; /* the same: line of the file the row stands in, 0: none */
    char *path;     /* of the file, for messages */
};

struct pim_noc_routing_configuration {
    enum pim_noc_routing_kind kind;
    uint32_t virtual_channels; /* of every link, 1 to 32 */
    /* By class of traffic; none: one class with all virtual channels. Ranges may overlap. */
    struct pim_noc_vc_range class[PIM_NOC_CLASS_LIMIT];
    uint32_t classes;
    uint64_t seed;
    enum pim_noc_partition partition;        /* other than PIM_NOC_DATELINE: xy and yx on a torus */
    bool numbered_draws;                     /* draws are bits of the packet's number */
    const struct pim_noc_route_table *table; /* PIM_NOC_TABLE only; copied */
};

/* What routing knows of a packet. Copied freely; the engine keeps it with the packet. */
struct pim_noc_packet_state {
    uint32_t source, destination; /* nodes */
    uint32_t intermediate;        /* valiant, romm: router to pass first; fat tree: the draws of its way up */
    uint8_t class;                /* of traffic */
    uint8_t phase;                /* valiant, romm: 0 on the way to the intermediate router, then 1 */
    uint8_t y_first;              /* o1turn: columns before rows */
    /* Where both ways around dimension d of a torus are equally long, go to lower ones: bit 2 x phase + d of
     * the first two dimensions, bit 4 of the third. */
    uint8_t tie;
    uint32_t injection_vcs; /* at its terminal */
    uint8_t partition;      /* bit d: the packet uses the second part of the channels of dimension d */
    uint8_t moved; /* bit d: has used a link of dimension d (odd-even asks whether it left its column) */
};

/* A way on: any virtual channel of `vcs` at output `port`. */
struct pim_noc_candidate {
    uint32_t vcs;  /* bit v: virtual channel v */
    uint16_t port; /* output port of the router */
    bool escape;   /* minimal_adaptive: the escape channel, for when no other candidate is to be had */
    /* A channel of `vcs` may be taken only when its buffer is empty and all its credits are back, as with
     * wait_for_tail_credit. The adaptive channels beside an escape channel need it: a head that queues behind
     * another packet cannot reach the escape channel, and the network could deadlock. */
    bool empty;
};

struct pim_noc_routing;

/*
 * Creates a routing on a topology, which must outlive it. PIM_BAD_INPUT: virtual channels or classes out of
 * range, a routing that is not defined on the topology (o1turn, west_first, odd_even and romm are defined on
 * meshes), a table with a row that names no link or no router, that leads in a loop, or that does not deliver
 * (file and row are named). Does not ask whether it can deadlock: pim_noc_dependency_check does.
 * PIM_NO_MEMORY.
 */
enum pim_status pim_noc_routing_create(const struct pim_noc_routing_configuration *configuration,
                                       const struct pim_noc_topology *topology,
                                       struct pim_noc_routing **routing, struct pim_error *error);
void pim_noc_routing_destroy(struct pim_noc_routing *routing); /* may be NULL */

const char *pim_noc_routing_name(unsigned kind);

/* Whether packets always take a way of fewest links of the grid (express links shorten it further). */
bool pim_noc_routing_is_minimal(const struct pim_noc_routing *routing);

/* Whether a packet may have a choice in a router (more than one candidate). */
bool pim_noc_routing_is_adaptive(const struct pim_noc_routing *routing);

const struct pim_noc_topology *pim_noc_routing_topology(const struct pim_noc_routing *routing);

/* The state of packet `number` (any number that is its own) at its source; draws what is random. */
void pim_noc_packet_start(const struct pim_noc_routing *routing, uint64_t number, uint32_t source,
                          uint32_t destination, uint32_t class, struct pim_noc_packet_state *state);

/*
 * The candidates of a packet whose head is in `router`; returns how many, at least 1. In order of preference
 * (that of the routing's rules, without knowledge of traffic), the escape channel last.
 * `input_port`: by which it came, its terminal's in the source's router; no routing looks at it at present.
 */
unsigned pim_noc_route(const struct pim_noc_routing *routing, const struct pim_noc_packet_state *state,
                       uint32_t router, uint32_t input_port,
                       struct pim_noc_candidate candidates[PIM_NOC_CANDIDATE_LIMIT]);

/* The packet leaves `router` by `port` (a candidate's): updates its state for the next router. */
void pim_noc_packet_advance(const struct pim_noc_routing *routing, struct pim_noc_packet_state *state,
                            uint32_t router, uint32_t port);

/*
 * Reads a table "router,destination,next" (routers all) with a header. PIM_BAD_INPUT names the row. Rows for
 * a router as its own destination are not needed. `routers`: of the network, at most PIM_NOC_TABLE_ROUTERS.
 */
enum pim_status pim_noc_route_table_read(const char *path, uint32_t routers,
                                         struct pim_noc_route_table *table, struct pim_error *error);
void pim_noc_route_table_terminate(struct pim_noc_route_table *table);

#endif
