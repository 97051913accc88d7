/*
 * The network on chip: a rectangular mesh of input-queued virtual-channel wormhole routers with credit flow
 * control and dimension-order (x, then y) routing, one terminal per router. The timing rules, their source
 * and the mapping of BookSim's parameter names to the ones here are in docs/models/noc.md.
 *
 * Units: cycles are network cycles; cycle c begins at tick c * period. Flits are counted, never stored. Node
 * = x + width * y.
 *
 * 1. Cycles do not depend on `step_every_cycle`, nor on when somebody asks for statistics.
 * 2. Every packet that is sent is injected once and delivered once; flits of a packet arrive in order.
 *    Packets of one (source, destination) pair need not arrive in the order in which they were sent:
 *    they take different virtual channels.
 * 3. Nothing happens, and no kernel event is pending, while the network is idle.
 * 4. There is no global state: several networks can live in one process.
 */
#ifndef PIMSIM_MODELS_NOC_NOC_H
#define PIMSIM_MODELS_NOC_NOC_H

#include "sim/kernel.h"
#include "sim/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum pim_noc_allocator { PIM_NOC_ISLIP, PIM_NOC_SEPARABLE_INPUT_FIRST, PIM_NOC_ALLOCATORS };

/*
 * FLIT is the router, exact to the cycle. IDEAL: zero-load latency, every link with unlimited bandwidth, but
 * a source sends one flit per cycle. ANALYTIC: zero-load latency, and each link of the path is held for as
 * many cycles as the packet has flits, in the order in which packets leave their sources. docs/models/noc.md
 * says what the two ignore.
 */
enum pim_noc_fidelity { PIM_NOC_IDEAL, PIM_NOC_ANALYTIC, PIM_NOC_FLIT, PIM_NOC_FIDELITIES };

/* Where a flit leaves a router, or where it comes from. A flit that leaves by d arrives at the neighbour's
 * input d ^ 1. */
enum pim_noc_direction {
    PIM_NOC_EAST,  /* towards x + 1 */
    PIM_NOC_WEST,  /* towards x - 1 */
    PIM_NOC_SOUTH, /* towards y + 1 */
    PIM_NOC_NORTH, /* towards y - 1 */
    PIM_NOC_EJECT, /* router to terminal */
    PIM_NOC_INJECT /* terminal to router */
};

enum {
    PIM_NOC_SIDE_LIMIT = 256,     /* width, height */
    PIM_NOC_VC_LIMIT = 32,        /* virtual_channels */
    PIM_NOC_BUFFER_LIMIT = 65535, /* buffer_flits */
    PIM_NOC_DELAY_LIMIT = 64,     /* every delay */
    PIM_NOC_ITERATION_LIMIT = 32, /* allocator_iterations */
    PIM_NOC_SPEEDUP_LIMIT = 4     /* input_speedup */
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
};

struct pim_noc;

/* BookSim's defaults on an 8x8 mesh: 16 virtual channels of 8 flits, all stages 1 cycle, credit_delay 0,
 * islip, one iteration. */
void pim_noc_configuration_initialize(struct pim_noc_configuration *configuration);

/* PIM_BAD_INPUT, with a message that names the field, what was found and what is allowed. */
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

/* The next cycle in which something has to be done, UINT64_MAX when idle or blocked for good. */
uint64_t pim_noc_next_cycle(const struct pim_noc *noc);

/* Without a kernel. Does `cycle`, which must be later than the last one done and not after the next one;
 * calls the callbacks. */
void pim_noc_step(struct pim_noc *noc, uint64_t cycle);

/* Cycles from the first flit leaving the source to the last one consumed, in an empty network. */
uint64_t pim_noc_zero_load_latency(const struct pim_noc_configuration *configuration, uint32_t source,
                                   uint32_t destination, uint64_t flits);

/* Routers on the way, both ends included. */
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

/* Node behind the link, the node itself for EJECT and INJECT, UINT32_MAX where there is no link. */
uint32_t pim_noc_neighbour(const struct pim_noc_configuration *configuration, uint32_t node,
                           enum pim_noc_direction direction);

/* Whether every packet sent has been delivered. */
bool pim_noc_idle(const struct pim_noc *noc);

/* Who waits, for a deadlock report: a packet at the front of a source queue or of an input virtual channel.
 */
struct pim_noc_waiting {
    uint32_t node;
    enum pim_noc_direction input; /* the router's input it waits in; PIM_NOC_INJECT: still in its terminal */
    uint32_t virtual_channel;     /* of that input; UINT32_MAX in a terminal that has none yet */
    uint64_t packet;              /* the user's value */
    uint32_t source, destination;
    enum pim_noc_direction output; /* where it wants to go */
    const char *reason;            /* static text */
};

/* Fills at most `capacity` items, by ascending node, and returns how many there are. */
size_t pim_noc_get_waiting(const struct pim_noc *noc, struct pim_noc_waiting *items, size_t capacity);

/*
 * Checks the invariants of the whole network between two cycles: flits sent = flits delivered + flits under
 * way, credits conserved on every virtual channel, no virtual channel with two owners. PIM_INTERNAL with what
 * was found. Slow: for tests and `--check`.
 */
enum pim_status pim_noc_check(struct pim_noc *noc, struct pim_error *error);

#endif
