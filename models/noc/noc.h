/*
 * The network on chip: input-queued virtual-channel wormhole routers with credit flow control. Usually a
 * rectangular mesh with dimension-order (x, then y) routing, one terminal per router; the timing rules, their
 * source and the mapping of BookSim's parameter names to the ones here are in docs/models/noc.md. Other
 * topologies, routings, allocators, arbiters and links of any width: docs/models/noc-general.md.
 *
 * Units: cycles are network cycles; cycle c begins at tick c * period. Flits are counted, never stored. Node
 * = x + width * y; with concentration c, nodes n c to n c + c - 1 share router n.
 *
 * 1. Cycles do not depend on `step_every_cycle` or `portable`, nor on when somebody asks for statistics.
 * 2. Every packet that is sent is injected once and delivered once; flits of a packet arrive in order.
 *    Packets of one (source, destination) pair need not arrive in the order in which they were sent:
 *    they take different virtual channels.
 * 3. Nothing happens, and no kernel event is pending, while the network is idle.
 * 4. There is no global state: several networks can live in one process.
 */
#ifndef PIMSIM_MODELS_NOC_NOC_H
#define PIMSIM_MODELS_NOC_NOC_H

#include "models/noc/routing/routing.h"
#include "sim/kernel/kernel.h"
#include "sim/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum pim_noc_allocator {
    PIM_NOC_ISLIP,
    PIM_NOC_SEPARABLE_INPUT_FIRST,
    PIM_NOC_SEPARABLE_OUTPUT_FIRST,
    PIM_NOC_WAVEFRONT,
    PIM_NOC_ROUND_ROBIN_WAVEFRONT, /* its diagonal moves behind the first one granted */
    PIM_NOC_ALLOCATORS
};

/* How an allocator chooses among candidates; docs/models/noc-general.md. */
enum pim_noc_arbiter {
    PIM_NOC_ROUND_ROBIN,
    PIM_NOC_MATRIX,           /* the one served least recently */
    PIM_NOC_FIXED_PRIORITY,   /* the lowest port and virtual channel */
    PIM_NOC_AGE,              /* the packet sent first */
    PIM_NOC_WORKLOAD_BALANCE, /* the task with the largest total / transferred */
    PIM_NOC_TREE,             /* round robin inside groups of neighbours, and over the groups */
    PIM_NOC_ARBITERS,
    PIM_NOC_SAME_ARBITER = PIM_NOC_ARBITERS /* as `arbiter` */
};

/* What goes before the arbiters, greater first; of the flit at the front of a virtual channel. */
enum pim_noc_priority {
    PIM_NOC_NO_PRIORITY,
    PIM_NOC_PACKET_AGE,   /* cycles since the packet was created */
    PIM_NOC_NETWORK_AGE,  /* since the flit was injected */
    PIM_NOC_LOCAL_AGE,    /* since the flit came into this buffer */
    PIM_NOC_HOP_COUNT,    /* routers passed before this one */
    PIM_NOC_QUEUE_LENGTH, /* flits in the virtual channel */
    PIM_NOC_SEQUENCE,     /* packets that its source sent later */
    PIM_NOC_PRIORITIES
};

/*
 * FLIT is the router, exact to the cycle. IDEAL: zero-load latency, no packet waits for another one but at
 * its source, which sends one after the other. ANALYTIC: zero-load latency, and each link of the path is held
 * for as many cycles as the packet's flits take, in the order in which packets leave their sources.
 * docs/models/noc.md says what the two ignore.
 */
enum pim_noc_fidelity { PIM_NOC_IDEAL, PIM_NOC_ANALYTIC, PIM_NOC_FLIT, PIM_NOC_FIDELITIES };

/* Where a flit leaves a router, or where it comes from. A flit that leaves by d arrives at the neighbour's
 * input d ^ 1. */
enum pim_noc_direction {
    PIM_NOC_EAST,   /* towards x + 1 */
    PIM_NOC_WEST,   /* towards x - 1 */
    PIM_NOC_SOUTH,  /* towards y + 1 */
    PIM_NOC_NORTH,  /* towards y - 1 */
    PIM_NOC_EJECT,  /* router to terminal */
    PIM_NOC_INJECT, /* terminal to router */
    PIM_NOC_EXPRESS /* any other link */
};

enum {
    PIM_NOC_SIDE_LIMIT = 256,     /* width, height */
    PIM_NOC_VC_LIMIT = 32,        /* virtual_channels */
    PIM_NOC_BUFFER_LIMIT = 65535, /* buffer_flits */
    PIM_NOC_DELAY_LIMIT = 64,     /* every delay */
    PIM_NOC_ITERATION_LIMIT = 32, /* allocator_iterations */
    PIM_NOC_SPEEDUP_LIMIT = 4,    /* input_speedup, output_speedup */
    PIM_NOC_NODE_LIMIT = 65536,   /* routers x concentration */
    PIM_NOC_PATH_LIMIT = 256,     /* bytes of a file's name, the final 0 included */
    PIM_NOC_TASK_LIMIT = 1 << 24  /* tasks are numbered below this */
};
#define PIM_NOC_FLITS_LIMIT (UINT64_C(1) << 40) /* flits of one packet */

struct pim_noc_configuration {
    uint32_t width, height;       /* 1 to 256 each; any rectangle */
    uint32_t virtual_channels;    /* of each link, 1 to 32 */
    uint32_t buffer_flits;        /* of each virtual channel, 1 to 65535 */
    uint32_t routing_delay;       /* 0 (the output port travels with the flit) to 64 */
    uint32_t vc_allocation_delay; /* 1 to 64, like the next three; stages longer than a cycle are pipelined */
    uint32_t switch_allocation_delay;
    uint32_t switch_traversal_delay;
    uint32_t link_latency;       /* of flits and credits between routers; terminals sit at latency 1 */
    uint32_t credit_delay;       /* 0 to 64 extra cycles before a router uses a credit */
    bool speculative;            /* a head bids for the switch while it waits for its virtual channel */
    bool hold_switch_for_packet; /* a packet keeps the switch while its flits follow without a gap */
    bool wait_for_tail_credit; /* a virtual channel is free again only when its buffer is known to be empty */
    enum pim_noc_allocator vc_allocator, switch_allocator;
    uint32_t allocator_iterations; /* of islip, 1 to 32 */
    uint32_t input_speedup;        /* 1 to 4: crossbar inputs of one port; must divide virtual_channels */
    uint32_t flit_bits;            /* 1 to 65536; for users, the network itself counts flits */
    enum pim_noc_fidelity fidelity;
    bool step_every_cycle; /* never sleep while flits move: slow, the same cycles; for comparison */
    bool portable; /* no instructions that only newer processors have: the same cycles; for comparison */

    /* All that follows, and other allocators than the first two: docs/models/noc-general.md. */
    enum pim_noc_topology_kind topology;
    uint32_t concentration;  /* terminals of a router, 1 to PIM_NOC_CONCENTRATION_LIMIT */
    uint32_t depth;          /* layers of a mesh or torus; must divide the height */
    uint32_t radix, levels;  /* of topologies that are no grids: topology.h */
    uint32_t global_latency; /* dragonfly: of links between groups, 1 to 1024 */
    bool latency_by_length;  /* flattened_butterfly, concentrated_mesh: link_latency for every node passed */
    bool may_deadlock;       /* a routing that can is not refused */
    enum pim_noc_routing_kind routing;
    uint64_t seed;                    /* of routings that draw */
    enum pim_noc_partition partition; /* of the virtual channels on a torus; xy and yx */
    bool numbered_draws;          /* what is drawn is taken from the bits of the packet's number instead */
    enum pim_noc_arbiter arbiter; /* not round_robin: not with wavefront */
    /* Inside the separable allocators alone, instead of `arbiter`; PIM_NOC_SAME_ARBITER: as it. */
    enum pim_noc_arbiter vc_arbiter, switch_arbiter;
    uint32_t vc_groups, switch_groups;         /* of the arbiter tree; must divide the number of candidates */
    uint32_t vc_iterations, switch_iterations; /* of islip; 0: allocator_iterations */
    enum pim_noc_priority priority;
    uint32_t output_speedup;       /* 1 to 4: crossbar outputs of one port */
    uint32_t output_buffer_flits;  /* behind the crossbar, with output_speedup > 1; 0: without limit */
    struct pim_noc_bits link_bits; /* per cycle, of links between routers; numerator 0: a flit per cycle */
    struct pim_noc_bits terminal_bits; /* the same for the links to and from terminals */
    uint32_t classes;                  /* of traffic; 0: one with all virtual channels */
    uint32_t
        class_channels[PIM_NOC_CLASS_LIMIT]; /* virtual channels of each; their sum is virtual_channels */
    /* Classes are kinds of messages: each has the virtual channels from class_first on, which may
     * overlap, and a terminal sends all of them in one queue. */
    bool message_classes;
    uint32_t class_first[PIM_NOC_CLASS_LIMIT];
    bool urgent_classes; /* a lower class goes before a higher one */
    bool general;        /* use the general routers where the fast mesh would do: slower, the same cycles */
    /* files; empty: none */
    char link_list[PIM_NOC_PATH_LIMIT];    /* links that differ: "from,to,latency,bits_per_cycle" */
    char express_list[PIM_NOC_PATH_LIMIT]; /* further links: the same columns */
    char route_table[PIM_NOC_PATH_LIMIT];  /* "router,destination,next" (routers) */
    char network_file[PIM_NOC_PATH_LIMIT]; /* PIM_NOC_FILE: topology/file.c */
};

/* One delivered packet; all times are network cycles. */
struct pim_noc_delivery {
    uint64_t packet; /* the user's value */
    uint32_t source, destination;
    uint64_t flits;
    uint64_t created;                      /* entered the source's queue */
    uint64_t head_injected, tail_injected; /* left the terminal */
    uint64_t head_arrived, tail_arrived;   /* consumed by the destination's terminal */
    uint32_t hops;                         /* routers traversed: 1 for a packet to oneself */
};

/* What a flit of a packet that is watched does in a cycle. */
enum pim_noc_stage_kind {
    PIM_NOC_INJECTED,       /* leaves its terminal; place: node */
    PIM_NOC_BUFFERED,       /* usable in the buffer of an input port of a router */
    PIM_NOC_ROUTED,         /* a head knows its output port */
    PIM_NOC_CHANNEL_TAKEN,  /* a head has a virtual channel of the output port */
    PIM_NOC_SWITCH_WON,     /* leaves its buffer */
    PIM_NOC_CONSUMED,       /* at its terminal; place: node */
    PIM_NOC_CHANNEL_WAITED, /* a head got no virtual channel in this cycle */
    PIM_NOC_CREDIT_WAITED,  /* the buffer downstream is full */
    PIM_NOC_SWITCH_WAITED,  /* another one won the switch, or the link is not free */
    PIM_NOC_STAGE_KINDS
};

struct pim_noc_stage {
    uint64_t cycle;
    enum pim_noc_stage_kind kind;
    uint32_t place; /* router, or node */
    uint32_t port;  /* input port of PIM_NOC_BUFFERED, else output port; 0 at terminals */
    uint32_t vc;    /* virtual channel of that port, of the one taken where there is one */
    uint64_t flit;  /* of the packet, from 0 on */
};

/*
 * Called in PIM_PHASE_NETWORK at the tick of the cycle in which it happens, after the whole network has done
 * that cycle: first `injected` by ascending source, then `delivered` by ascending destination. Either may be
 * NULL. A packet sent from a callback of cycle c is created in c + 1. A callback must not destroy the
 * network.
 */
struct pim_noc_callbacks {
    void *context;
    void (*injected)(void *context, uint64_t packet,
                     uint32_t source); /* the packet's tail left its terminal */
    void (*delivered)(void *context, const struct pim_noc_delivery *delivery);
    /* Or NULL: everything that the flits of the packet `watched` do, not in the order of the cycles. The
     * network then has `general` and `step_every_cycle`. Fidelity flit alone. */
    void (*stage)(void *context, const struct pim_noc_stage *stage);
    uint64_t watched;
};

struct pim_noc;

/* BookSim's defaults on an 8x8 mesh: 16 virtual channels of 8 flits, all stages 1 cycle, credit_delay 0,
 * islip, one iteration. */
void pim_noc_configuration_initialize(struct pim_noc_configuration *configuration);

/* Terminals; and in a row of them (node = column + columns x row). */
uint32_t pim_noc_nodes(const struct pim_noc_configuration *configuration);
uint32_t pim_noc_columns(const struct pim_noc_configuration *configuration);

/* Whether the general routers are used. */
bool pim_noc_configuration_is_general(const struct pim_noc_configuration *configuration);
/* Whether the fast mesh is used with a routing: a torus, or another routing than xy without a choice. */
bool pim_noc_configuration_is_routed(const struct pim_noc_configuration *configuration);

/* PIM_BAD_INPUT, with a message that names the field, what was found and what is allowed. Reads the files,
 * and refuses a routing that can deadlock. */
enum pim_status pim_noc_configuration_check(const struct pim_noc_configuration *configuration,
                                            struct pim_error *error);

/*
 * Creates a network; the caller destroys it before the kernel. `period`: ticks per network cycle, at least 1.
 * `kernel` may be NULL: then the caller steps the network itself (below). Errors: PIM_BAD_INPUT,
 * PIM_NO_MEMORY.
 */
enum pim_status pim_noc_create(const struct pim_noc_configuration *configuration, struct pim_kernel *kernel,
                               pim_time period, const struct pim_noc_callbacks *callbacks,
                               struct pim_noc **noc, struct pim_error *error);

/* `noc` may be NULL. A kernel event that is still pending is cancelled. */
void pim_noc_destroy(struct pim_noc *noc);

const struct pim_noc_configuration *pim_noc_configuration(const struct pim_noc *noc);

/*
 * Puts a packet of `flits` (1 to PIM_NOC_FLITS_LIMIT) flits at the end of the source's queue, in the first
 * network cycle at or after now that the network has not done yet. `packet` comes back in the callbacks.
 * Nodes and flits are asserted: check input before. Never fails: memory that runs out aborts with a message.
 * Needs a kernel.
 */
void pim_noc_send(struct pim_noc *noc, uint32_t source, uint32_t destination, uint64_t flits,
                  uint64_t packet);

/* Without a kernel. The same for a given cycle, which must be later than the last one stepped and not after
 * the next cycle. */
void pim_noc_send_at(struct pim_noc *noc, uint64_t cycle, uint32_t source, uint32_t destination,
                     uint64_t flits, uint64_t packet);

/* What a packet belongs to, for networks with classes and arbiters that ask. */
#define PIM_NOC_NO_TASK UINT32_MAX
struct pim_noc_tag {
    uint32_t task;   /* communication task, below PIM_NOC_TASK_LIMIT, or PIM_NOC_NO_TASK */
    uint32_t class;  /* of traffic, below `classes` */
    uint64_t waited; /* cycles since the packet was created: what latencies count from, and its age */
};

/* Declares how many flits (1 or more) a task transfers in all; before its first packet. For the arbiter
 * workload_balance, which prefers the task with the largest total / transferred: a task that is not declared
 * has a total of 1. Transferred are the flits of packets that have been delivered. */
void pim_noc_declare_task(struct pim_noc *noc, uint32_t task, uint64_t flits);

/* pim_noc_send() and pim_noc_send_at() are these with no task and class 0. */
void pim_noc_send_tagged(struct pim_noc *noc, uint32_t source, uint32_t destination, uint64_t flits,
                         uint64_t packet, struct pim_noc_tag tag);
void pim_noc_send_tagged_at(struct pim_noc *noc, uint64_t cycle, uint32_t source, uint32_t destination,
                            uint64_t flits, uint64_t packet, struct pim_noc_tag tag);

/* The next cycle in which something has to be done, UINT64_MAX when idle or blocked for good. */
uint64_t pim_noc_next_cycle(const struct pim_noc *noc);

/* Without a kernel. Does `cycle`, which must be later than the last one done and not after the next one;
 * calls the callbacks. */
void pim_noc_step(struct pim_noc *noc, uint64_t cycle);

/* Cycles from the first flit leaving the source to the last one consumed, in an empty network of equal links
 * and buffers that do not hold a worm up. Where a flit takes a broken number of cycles on a link, a worm of
 * several flits may take up to one more cycle for every link but the first. */
uint64_t pim_noc_zero_load_latency(const struct pim_noc_configuration *configuration, uint32_t source,
                                   uint32_t destination, uint64_t flits);

/* Cycles from a flit's allocation of the switch to the use of the credit that it gives back, between routers
 * (docs/models/noc.md, rule 10): a packet passes by no more flits in them than a buffer has. */
uint64_t pim_noc_credit_loop(const struct pim_noc_configuration *configuration);

/* The tail of a packet behind its head at the destination, in an empty network. */
uint64_t pim_noc_tail_distance(const struct pim_noc_configuration *configuration, uint32_t hops,
                               uint64_t flits);

/* Routers on the shortest way along the grid, both ends included. */
uint32_t pim_noc_hops(const struct pim_noc_configuration *configuration, uint32_t source,
                      uint32_t destination);

/* Sums over the packets delivered so far, and the work done. */
struct pim_noc_statistics {
    uint64_t packets_sent, packets_injected, packets_delivered;
    uint64_t flits_sent, flits_delivered;
    uint64_t hops;               /* routers traversed */
    uint64_t flit_hops;          /* flits x routers traversed */
    uint64_t packet_latency;     /* tail_arrived - created */
    uint64_t network_latency;    /* tail_arrived - head_injected */
    uint64_t cycles_stepped;     /* network cycles in which something was evaluated */
    uint64_t router_evaluations; /* how often a router was evaluated (flit fidelity) */
};
void pim_noc_get_statistics(const struct pim_noc *noc, struct pim_noc_statistics *statistics);

/*
 * Flits that have been put on the link which leaves `node` in `direction` (PIM_NOC_INJECT: from the node's
 * terminal into its router) up to the last cycle done; with a kernel, up to now. A packet's flits count when
 * they win the switch. Analytic and ideal: a packet counts on all its links when its head is injected. 0
 * where there is no link (the rim).
 */
uint64_t pim_noc_link_flits(const struct pim_noc *noc, uint32_t node, enum pim_noc_direction direction);

/*
 * Cycles, up to the same one, in which the link carried no flit although one asked for it in vain: at an
 * input of its router a head that asked for a virtual channel of the link and got none, or a flit with a
 * virtual channel there that lacked a credit or did not win the switch; for PIM_NOC_INJECT: the terminal had
 * a packet and injected nothing. As for flits, a cycle of the link is the one in which its flit wins the
 * switch. Counted by the fast mesh of the flit fidelity alone: UINT64_MAX in all other networks, 0 where
 * there is no link.
 */
uint64_t pim_noc_link_blocked_cycles(const struct pim_noc *noc, uint32_t node,
                                     enum pim_noc_direction direction);

/* A link between two routers, in any network. */
struct pim_noc_link_use {
    uint32_t from, to; /* routers; of a network without concentration the nodes */
    uint32_t from_port;
    uint64_t flits;       /* as for pim_noc_link_flits() */
    uint64_t busy_cycles; /* that these flits took: the same number on a link of one flit per cycle */
    /* Cycles in which it passed nothing although a flit in the router wanted it: one that had a virtual
     * channel downstream but no credit or lost the switch, or a head that got no virtual channel.
     * UINT64_MAX: not counted. */
    uint64_t blocked_cycles;
};

/* The links between routers, by ascending router and port. */
size_t pim_noc_link_count(const struct pim_noc *noc);
void pim_noc_get_link(const struct pim_noc *noc, size_t index, struct pim_noc_link_use *link);

/* All of them, for the caller to free. Errors: PIM_NO_MEMORY. */
enum pim_status pim_noc_collect_links(const struct pim_noc *noc, struct pim_noc_link_use **links,
                                      uint32_t *count, struct pim_error *error);

/* Node behind the link of a mesh or torus, the node itself for EJECT and INJECT, UINT32_MAX where there is no
 * link. Not for networks with concentration. */
uint32_t pim_noc_neighbour(const struct pim_noc_configuration *configuration, uint32_t node,
                           enum pim_noc_direction direction);

/* Whether every packet sent has been delivered. */
bool pim_noc_idle(const struct pim_noc *noc);

/* What a packet cannot go on without. */
enum pim_noc_lack {
    PIM_NOC_LACKS_NOTHING, /* it takes its time, or lost an arbitration */
    PIM_NOC_LACKS_FLIT,    /* its next flit has not arrived */
    PIM_NOC_LACKS_CHANNEL, /* no virtual channel of the output is free */
    PIM_NOC_LACKS_CREDIT   /* the buffer downstream is full */
};

/* Who waits, for a deadlock report: a packet at the front of a source queue or of an input virtual channel.
 */
struct pim_noc_waiting {
    uint32_t node;                /* the router */
    enum pim_noc_direction input; /* the router's input it waits in; PIM_NOC_INJECT: still in its terminal */
    uint32_t virtual_channel;     /* of that input; UINT32_MAX in a terminal that has none yet */
    uint64_t packet;              /* the user's value */
    uint32_t source, destination;
    enum pim_noc_direction output; /* where it wants to go */
    const char *reason;            /* static text */
    enum pim_noc_lack lack;
    uint32_t place;         /* the input, numbered over the whole network; UINT32_MAX: a terminal */
    uint32_t ahead;         /* the input behind the wanted output; UINT32_MAX: a terminal */
    uint32_t ahead_channel; /* the virtual channel that it has there, UINT32_MAX: none yet */
};

/* Fills at most `capacity` items, by ascending router, and returns how many there are. */
size_t pim_noc_get_waiting(const struct pim_noc *noc, struct pim_noc_waiting *items, size_t capacity);

/*
 * Checks the invariants of the whole network between two cycles: flits sent = flits delivered + flits under
 * way, credits conserved on every virtual channel, no virtual channel with two owners. PIM_INTERNAL with what
 * was found. Slow: for tests and `--check`.
 */
enum pim_status pim_noc_check(struct pim_noc *noc, struct pim_error *error);

#endif
