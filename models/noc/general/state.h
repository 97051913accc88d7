/*
 * The state of the general network: input-queued virtual-channel routers on any topology, with any routing,
 * allocator and arbiter. The rules are in docs/models/noc-general.md; on a mesh with the usual options they
 * give the cycles of the fast mesh (mesh.h).
 *
 * A port has an input and an output, with the same index over the whole network: first_port[router] + port. A
 * row is a virtual channel of an input port, a column of the VC allocator one of an output port; both have
 * the index port * virtual channels + virtual channel, inside a router or over the whole network.
 *
 * 1. A flit is not an object while it is buffered: a virtual channel's buffer is a count of flits and a list
 *    of packets. On a link it is an event with the cycle in which it can be used.
 * 2. A router is evaluated in a cycle when a flit arrives or something it waits for can happen. In all other
 *    cycles an evaluation would change nothing but take credits that nobody waits for.
 * 3. What a router does in a cycle depends on its own state and on events that were made in earlier cycles,
 *    so the order of the routers inside a cycle has no influence.
 */
#ifndef PIMSIM_MODELS_NOC_GENERAL_STATE_H
#define PIMSIM_MODELS_NOC_GENERAL_STATE_H

#include "models/noc/internal.h"
#include "models/noc/routing/routing.h"

enum {
    GENERAL_ROW_LIMIT = PIM_NOC_PORT_LIMIT * PIM_NOC_VC_LIMIT,           /* rows, or columns, of a router */
    GENERAL_CROSSBAR_LIMIT = PIM_NOC_PORT_LIMIT * PIM_NOC_SPEEDUP_LIMIT, /* inputs, or outputs */
    GENERAL_HEAD = 1,
    GENERAL_TAIL = 2,
    GENERAL_NOT_HELD = 255
};
#define GENERAL_NONE UINT32_MAX /* no event, no port */

/* Something under way on a link: a flit (virtual channel << 2 | GENERAL_HEAD | GENERAL_TAIL), or credits (set
 * of virtual channels). */
struct general_event {
    uint64_t time; /* first cycle in which it can be used */
    uint32_t next; /* of the same link and kind, later */
    uint32_t packet;
    uint32_t value;
};

/* Events of one link, by time. */
struct general_queue {
    uint32_t first, last; /* GENERAL_NONE: empty */
};

/* Cycles that a flit holds a link, as a mixed number; `denominator` is at least 1. At least one cycle. */
struct general_rate {
    uint64_t cycles;
    uint32_t numerator, denominator;
};

/* When a link is free again: at cycle + numerator / denominator of its rate. */
struct general_clock {
    uint64_t cycle;
    uint32_t numerator;
};

/* Lists of the rows of a router that do something, in the order in which the hardware looks at them. */
enum general_list {
    GENERAL_ROUTE,   /* the route is computed */
    GENERAL_CHANNEL, /* the head asks for a virtual channel */
    GENERAL_SWITCH,  /* a flit asks for the switch */
    GENERAL_HELD,    /* keeps the switch */
    GENERAL_LISTS
};

struct general_input {
    /* sets of virtual channels */
    uint32_t filled;    /* the buffer is not empty */
    uint32_t heading;   /* the next flit to be sent is a head */
    uint32_t routing;   /* the route is being computed */
    uint32_t bidding;   /* the head asks for a virtual channel downstream */
    uint32_t allocated; /* it has one, and may use it later */
    uint32_t active;    /* it has one */
    uint32_t credited;  /* it has one, with a credit */
    uint32_t feeder;    /* output port upstream; node, when a terminal feeds it */
    bool from_terminal;
    uint32_t credit_latency; /* switch allocation here to usable upstream */
    struct general_queue arriving;
};

struct general_output {
    _Alignas(PIM_LINE) uint32_t reader; /* input port downstream; GENERAL_NONE: a terminal, or no link */
    uint32_t router;                    /* downstream */
    uint32_t latency; /* switch allocation to usable downstream, when the flit holds the link for a cycle */
    struct general_rate rate;
    struct general_clock busy;
    uint64_t flits, blocked;
    uint64_t last_win; /* cycle in which a flit won it last, and how many did then */
    uint32_t last_wins;
    uint32_t free;      /* no owner */
    uint32_t nonfull;   /* with a credit */
    uint32_t tail_sent; /* owned until all credits are back (wait_for_tail_credit) */
    struct general_queue credits;
};

struct general_row {
    uint64_t left;        /* flits of `front` that have not been sent on */
    uint64_t ready;       /* first cycle of the next stage, while in `routing` or `allocated` */
    uint32_t front;       /* packet, NOC_NO_PACKET when none */
    uint32_t vcs;         /* allowed at `output` */
    uint16_t count;       /* flits in its buffer */
    uint16_t accept;      /* VC allocator: pointer, a column */
    uint8_t output;       /* port */
    uint8_t vc;           /* downstream, when it has one */
    uint8_t choices;      /* adaptive: candidates */
    uint16_t first_stamp; /* of the flits in its buffer, where they have stamps */
    uint16_t hops;        /* routers that `front` has passed before this one */
    bool more;            /* packets follow in the buffer */
    bool empty;           /* `vcs` may be taken only when their buffers downstream are empty */
};

/* A virtual channel of an output. */
struct general_column {
    uint16_t credits, owner; /* a row of the router */
    uint16_t grant;          /* VC allocator: pointer, a row */
};

/* An input of the crossbar. */
struct general_crossbar {
    uint16_t accept; /* pointer: a crossbar output */
    uint8_t vc;      /* pointer: a virtual channel */
    uint8_t held_vc; /* who keeps the switch, or GENERAL_NOT_HELD */
};

struct general_router {
    uint64_t since;        /* first cycle whose blocked links are not counted */
    uint64_t arriving;     /* sets of ports: inputs with flits under way */
    uint64_t returning;    /* outputs with credits under way */
    uint64_t staged;       /* inputs with rows in `routing` or `allocated` */
    uint64_t full;         /* inputs with a flit */
    uint64_t wanted;       /* outputs that a flit asks for in vain, or would if it were not in vain */
    uint64_t sent;         /* outputs that took a flit in the last evaluation */
    uint32_t first, ports; /* its ports; in the order of the whole network */
    uint32_t held;         /* crossbar inputs that keep the switch */
    uint16_t listed[GENERAL_LISTS];        /* entries of its lists (order.c) */
    uint16_t vc_diagonal, switch_diagonal; /* wavefront */
    bool starving;                         /* waits for credits, and for nothing before them */
};

/* One queue of a terminal: a class of traffic. */
struct general_source {
    uint64_t left; /* flits of `current` that are still to be injected */
    uint32_t queue_front, queue_back, current;
    uint8_t vc, last_vc;
    bool heading;
};

struct general_terminal {
    uint32_t input, output; /* the router's ports: that it injects into, and is delivered to from */
    uint32_t owned, nonfull, tail_sent;
    struct general_queue credits;
    struct general_clock busy;
    uint32_t due_first, due_last; /* packets whose tails are on their way to it */
    uint8_t next_class;
    bool starving;
    uint64_t flits;
};

/* Of a packet, beside struct pim_noc_packet: same index. */
struct general_packet {
    struct pim_noc_packet_state state;
    uint64_t number;    /* of the packets sent: its age */
    uint64_t of_source; /* of the packets of its source */
    uint64_t due;       /* cycle in which its tail is consumed */
    uint32_t task;
    uint32_t hops;
};

struct general_task {
    uint64_t total, transferred; /* flits */
};

/* Something asked for: of the crossbar, or a virtual channel. */
struct general_request {
    uint16_t input;  /* crossbar input; row */
    uint16_t output; /* crossbar output; column */
    uint16_t row;    /* who sends */
    uint8_t urgency; /* twice the urgency of the class, plus 1 when not speculative */
    bool granted;
    uint32_t packet;
    int64_t priority; /* PIM_NOC_NO_PRIORITY: 0 */
};

/* How one stage of a separable allocator chooses. */
struct general_arbiter {
    enum pim_noc_arbiter kind;
    unsigned groups; /* PIM_NOC_TREE */
};

/* A head that asks for a virtual channel. */
struct general_head {
    uint16_t row, output; /* output port */
    uint32_t vcs;         /* free ones */
};

/* PIM_NOC_MATRIX: when each candidate of an arbiter was served last (cycle + 1), 0: never. PIM_NOC_TREE: the
 * pointer inside each group. By router, then arbiter, then candidate or group. */
struct general_stamps {
    uint64_t *inputs, *outputs;
};

/* Of one evaluation. */
struct general_scratch {
    struct general_request *requests; /* of the switch; then flits that leave */
    struct general_request *channels; /* virtual channels asked for, where several heads compete */
    struct general_head *heads;
    uint16_t *following; /* wavefront: by request, the next one of the same diagonal */
    unsigned request_count, head_count;
};

/* The packet that is watched, at an input port. It passes a port once, but perhaps two of a router. */
struct general_told {
    uint64_t flits; /* that came in */
    uint64_t since; /* the cycle after the one in which it went on last; 0: it has not */
};

struct noc_general {
    uint64_t origin;                                  /* first cycle that has not been done */
    struct general_sets *sets;                        /* sets/sets.h; NULL: the routers of router.c */
    void (*run)(struct pim_noc *noc, uint64_t cycle); /* the routers of a cycle */
    struct pim_noc_topology *topology;
    struct pim_noc_routing *routing;
    uint32_t vcs, all, buffer_flits;
    uint32_t queues; /* of a terminal: one for every class of traffic; kinds of messages share one */
    uint32_t in_speed, out_speed; /* crossbar inputs, outputs of a port */
    bool adaptive, ordered;       /* `ordered`: the order of simultaneous winners counts (output speedup) */
    bool stamped;                 /* flits have stamps: the cycle that their priority follows from */
    struct general_arbiter vc_arbiter, switch_arbiter, row_arbiter; /* the last one among rows of an input */
    /* of the rows of a router: its port, its virtual channel, its crossbar input, and which of the crossbar
     * outputs of an output port it uses */
    uint8_t port_of[GENERAL_ROW_LIMIT], vc_of[GENERAL_ROW_LIMIT], exit_of[GENERAL_ROW_LIMIT];
    uint16_t crossbar_of[GENERAL_ROW_LIMIT];
    struct general_rate terminal_rate;

    struct general_router *routers;
    uint16_t *router_of; /* by port */
    struct general_input *inputs;
    struct general_output *outputs;
    struct general_row *rows;
    struct general_column *columns;
    struct general_crossbar *crossbar;
    uint16_t *crossbar_grant;             /* by crossbar output: pointer, a crossbar input of the router */
    struct pim_noc_candidate *candidates; /* [row][PIM_NOC_CANDIDATE_LIMIT], adaptive only */
    struct general_terminal *terminals;
    struct general_source *sources; /* [node][queue] */
    uint16_t *terminal_credits;     /* [node][vc] */

    struct general_event *events; /* pool */
    uint32_t event_free;
    size_t event_capacity;
    struct general_packet *packets;
    size_t packet_capacity;
    uint64_t sent;
    struct general_task *tasks;
    size_t task_capacity;

    struct pim_noc_wheel router_wheel, terminal_wheel, delivery_wheel;
    struct general_stamps vc_stamps, switch_stamps;
    uint64_t *event_stamps; /* by event, like flit_stamps: NULL unless `stamped` */
    uint64_t *flit_stamps;  /* [row][buffer_flits], a ring from first_stamp on */
    uint64_t *source_sent;  /* packets by source: PIM_NOC_SEQUENCE */
    uint16_t *lists;        /* [router][enum general_list][row]: NULL unless `ordered` */
    struct general_scratch scratch;
    struct general_told *told; /* by port */
};

/* sets/sets.c: the bit-set evaluation, when the configuration needs no more than it has; `show` copies its
 * state into that of the routers of router.c, for the checks. */
enum pim_status pim_noc_sets_create(struct pim_noc *noc, struct pim_error *error);
void pim_noc_sets_destroy(struct general_sets *sets);
void pim_noc_sets_show(struct noc_general *general);

#endif
