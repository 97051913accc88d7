/*
 * The state of the flit-level mesh: routers, terminals, and the channels
 * between them.
 *
 * A row is a virtual channel of an input port or of an output port of a router:
 * row = port << shift | virtual channel, 2^shift being the first power of two
 * from 8 on that is not less than the number of virtual channels. Sets of rows
 * are bit masks of one word (shift 3) to three words.
 *
 * 1. A flit is not an object. A virtual channel's buffer is a count of flits
 * and a list of packets.
 * 2. A channel carries, in every cycle, what follows from the last change that
 * has become visible: the writer records changes only. A head and a body flit
 * are followed by body flits, a tail by nothing; credits repeat themselves,
 * unless they are for one cycle only.
 * 3. A unit whose change of a channel becomes visible to it is evaluated in
 * that cycle (wheel.h).
 * 4. The writer may declare that a channel repeats a pattern; then what differs
 * from the pattern is a change. A pattern is not rewritten before the reader
 * has stopped to use it.
 */
#ifndef PIMSIM_MODELS_NOC_MESH_MESH_H
#define PIMSIM_MODELS_NOC_MESH_MESH_H

#include "models/noc/noc.h"
#include "models/noc/wheel.h"
#include "sim/arena.h"

#include <string.h>

enum {
    NOC_PORTS = 5,                /* EAST, WEST, SOUTH, NORTH, and the terminal */
    NOC_TERMINAL = PIM_NOC_EJECT, /* the terminal's port: inject as input, eject as output */
    NOC_EJECTED = NOC_PORTS,      /* credits going out: those of the consuming terminal */
    NOC_CROSSBAR = NOC_PORTS * PIM_NOC_SPEEDUP_LIMIT, /* crossbar inputs */
    NOC_ROWS_LIMIT = NOC_PORTS * PIM_NOC_VC_LIMIT,    /* rows of inputs, or of outputs */
    NOC_WORDS_LIMIT = (NOC_ROWS_LIMIT + 63) / 64,     /* words of a set of rows */
    NOC_SINGLE_SHIFT = 3,                             /* the least `shift`: a set of rows is one word */
    NOC_NEAR_BYTES = 1 << 20 /* bytes of routers that a processor's second cache has room for */
};
#define NOC_NO_PACKET UINT32_MAX

/* What a flit channel carries in a cycle is 0 for nothing, or virtual channel
 * << 8 | one or more of: */
enum {
    NOC_FLIT = 1,
    NOC_HEAD = 2,
    NOC_TAIL = 4,
    NOC_REPEATS = 8, /* as a change: from this cycle on the channel repeats its pattern */
    NOC_SHORT = 16   /* of a packet sent by flit: nothing follows by itself */
};
enum { NOC_SHORT_FLITS = 8 };             /* packets of so many flits are always sent by flit */
enum { NOC_LONE = NOC_TAIL | NOC_SHORT }; /* nothing follows */

/* What a channel carries while it repeats itself: in cycle c of the writer,
 * entries[c % period]. Used by writer and reader alike. A credit channel
 * carries a set of virtual channels. */
enum { NOC_PERIOD_LIMIT = 16 };
struct noc_pattern {
    uint32_t entries[NOC_PERIOD_LIMIT];
    uint64_t writable; /* first cycle in which the reader is sure to be done with it */
    uint32_t period;
};

static inline uint32_t pim_noc_pattern_entry(const struct noc_pattern *pattern, uint64_t cycle)
{
    return pattern->entries[cycle % pattern->period];
}

/* The changes that become visible to a router in one cycle. */
struct noc_slot {
    _Alignas(PIM_LINE) uint32_t packets[NOC_PORTS]; /* by input port, of heads and tails */
    uint32_t credits[NOC_PORTS];                    /* by output port */
    uint16_t flits[NOC_PORTS];                      /* by input port, as above */
    uint8_t x[NOC_PORTS], y[NOC_PORTS];             /* by input port, of heads: the destination */
    uint8_t flit_ports;                             /* input ports with a change */
    uint8_t head_ports;                             /* those whose change is a head */
    uint8_t credit_ports;                           /* output ports with a change */
    uint8_t credit_once;                            /* those whose credits are for this cycle only; without
                                                       credits, that repeat a pattern from this cycle on */
};

/* The changes of credits that announce a pattern. */
static inline unsigned pim_noc_credit_repeats(const struct noc_slot *slot, unsigned port)
{
    return (slot->credit_once >> port & 1) & (unsigned)(slot->credits[port] == 0);
}

/* Where the changes written in the present cycle go: slots by node, and the
 * readers' agenda. */
struct noc_outbox {
    struct noc_slot *slots;
    struct pim_noc_spoke spoke;
};

/* The same for a terminal: credits, and what they are; `changed` is 0 when
 * there is no change. */
struct noc_terminal_slot {
    uint32_t credits;
    uint8_t changed, once, repeats;
};

/* One word of all sets of rows of a router. */
struct noc_sets {
    /* rows of inputs */
    uint64_t filled;        /* the buffer is not empty */
    uint64_t queued;        /* it came to the front behind the tail that left in this cycle */
    uint64_t routing;       /* the route is being computed */
    uint64_t bidding;       /* the head asks for a virtual channel downstream */
    uint64_t active;        /* it has one */
    uint64_t allocated;     /* it has one, and may use it later (allocation longer
                         than a cycle) */
    uint64_t credited;      /* it has one, with a credit */
    uint64_t to[NOC_PORTS]; /* by output port: the packet at the front leaves by it */
    /* rows of outputs */
    uint64_t free;      /* no owner */
    uint64_t nonfull;   /* with a credit */
    uint64_t tail_sent; /* owned until all credits are back (wait_for_tail_credit) */
};

/* A virtual channel of an input. */
struct noc_input {
    uint32_t front; /* packet, NOC_NO_PACKET when none */
    uint32_t left;  /* flits of `front` that have not been sent on, modulo 2^32:
                     pim_noc_left() */
    uint16_t count; /* flits in its buffer */
    uint8_t x, y;   /* destination of `front` */
    uint8_t more;   /* whether packets follow in the buffer */
    uint8_t output; /* row of the outputs: the route, and the virtual channel when
                     it has one */
    uint8_t accept; /* VC allocator: pointer, a row of the outputs */
    uint8_t next;   /* of its next flit: NOC_FLIT, NOC_HEAD if it is one, NOC_SHORT
                   if its packet is sent by flit */
};

/* A virtual channel of an output: what this router knows of the buffer
 * downstream. */
struct noc_output {
    uint16_t credits;
    uint8_t grant; /* VC allocator: pointer, a row of the inputs */
    uint8_t owner; /* row of the inputs that has it, when it is neither free nor
                    in tail_sent */
};

/* The state of the switch and its allocator. */
struct noc_crossbar {
    uint8_t accept; /* pointer: an output */
    uint8_t vc;     /* first virtual channel to be considered */
};

struct noc_switch {
    uint8_t grant[NOC_PORTS]; /* by output: pointer, a crossbar input */
    struct noc_crossbar crossbar[NOC_CROSSBAR];
    uint8_t held_vc[NOC_CROSSBAR]; /* by crossbar input: who keeps the switch, for
                                    members of `held` */
    uint8_t unused[3];
    uint32_t held; /* crossbar inputs that keep the switch (hold_switch_for_packet) */
};
enum { NOC_PLAIN_SWITCH = 16 }; /* bytes of it that are used with one crossbar input a port */

/* What the channels of a router carry by themselves: sets of ports. A stream
 * repeats what it carried last; the others follow their pattern. */
struct noc_activity {
    uint8_t flit_streams, credit_streams, flit_repeats, credit_repeats;                 /* in */
    uint8_t flit_out_streams, credit_out_streams, flit_out_repeats, credit_out_repeats; /* out */
};

/* What is used in every evaluation comes first, in as few cache lines as
 * possible; the inputs come last (pim_noc_inputs()). */
struct noc_router {
    _Alignas(PIM_LINE) uint64_t since; /* first cycle that is not accounted for; UINT64_MAX: nothing is */
    uint64_t planned;                  /* next evaluation if no channel changes, UINT64_MAX: none */
    uint64_t calm_since, clean_since;  /* the first of the calm, of the clean steps up to now */
    uint64_t grants;                   /* of the last evaluation: a byte for each, row of the input
                      + 1 */
    struct noc_activity carries;
    uint32_t neighbour[4];
    _Alignas(PIM_LINE) struct noc_sets sets[NOC_WORDS_LIMIT];
    _Alignas(PIM_LINE) uint64_t link_flits[NOC_PORTS];
    uint8_t x, y;
    uint8_t period;                   /* while it sleeps: after how many cycles everything repeats */
    uint8_t blocked;                  /* by output: links that were blocked in the last evaluation */
    struct noc_switch arbiter;        /* (its first NOC_PLAIN_SWITCH bytes are in the same line) */
    uint64_t link_blocked[NOC_PORTS]; /* cycles */
    uint64_t entered;                 /* the cycle for which the plan is in the agenda */
    uint64_t ahead_until;             /* express.h: flits are counted that leave up to this cycle: */
    uint8_t ahead_last,
        ahead_always;           /* sets of outputs: those of one in it; in NOC_EXPRESS cycles before, too */
    uint8_t flit_vc[NOC_PORTS]; /* in: of the body flits, by input port */
    uint8_t flit_out_vc[NOC_TERMINAL];              /* out */
    uint32_t credit_in[NOC_PORTS];                  /* sets of virtual channels, by output port */
    uint32_t credit_out[NOC_EJECTED + 1];           /* by input port; [NOC_EJECTED]: what the
                                      terminal that is sent flits returns */
    uint32_t credits_changed[NOC_EJECTED + 1];      /* by input port: the cycle, modulo 2^32, after
                                  the one of the last change */
    _Alignas(PIM_LINE) struct noc_output outputs[]; /* pim_noc_rows() */
};

/*
 * What a unit remembers to find out that it repeats itself. A step is calm when
 * no packet begins, ends or gets a virtual channel in it, and clean when
 * moreover no channel changes.
 */
enum { NOC_HISTORY = 2 * NOC_PERIOD_LIMIT };
#define NOC_NO_SNAPSHOT (UINT64_C(1) << 63) /* a cycle that never comes */
struct noc_rhythm {
    uint64_t last;                /* last step recorded */
    uint64_t grants[NOC_HISTORY]; /* by cycle % NOC_HISTORY, as in struct noc_router */
    uint8_t blocked[NOC_HISTORY]; /* the same */
    uint64_t snapshot_cycle;      /* the state after this step: */
    uint64_t filled[NOC_WORDS_LIMIT], nonfull[NOC_WORDS_LIMIT];
    struct noc_switch arbiter;
};

struct noc_terminal {
    uint64_t since;
    uint32_t queue_front, queue_back;   /* packets that have not begun */
    uint32_t current;                   /* packet that is being injected */
    uint32_t owned, nonfull, tail_sent; /* sets of virtual channels of the router's input */
    uint64_t left;                      /* flits of `current` that are still to be injected */
    uint32_t credit_in;                 /* credits that come in every cycle */
    uint8_t flit_out_stream, flit_out_repeats, credit_repeats; /* 0 or 1 */
    uint8_t vc, last_vc;
    uint8_t heading; /* the next flit is a head */
    uint8_t brief;   /* NOC_SHORT when `current` is sent by flit, else 0 */
    uint8_t sending; /* a flit went out in the last evaluation */
    uint8_t period;  /* as for routers */
    uint64_t link_flits, link_blocked;
    uint8_t waiting; /* in the last evaluation no flit went out although there was one */
    uint64_t sent;   /* history: bit i says whether a flit went out i steps ago */
    uint64_t calm_since, clean_since, last, snapshot_cycle; /* as for routers */
    uint32_t snapshot_nonfull;
};

/* Constants of the timing, from the configuration. */
struct noc_timing {
    uint32_t ejection;                  /* switch allocation to consumed by the terminal */
    uint32_t flit_latency[NOC_PORTS];   /* by the reader's input: sent (switch
                                         allocation, injection) to usable */
    uint32_t credit_latency[NOC_PORTS]; /* by the reader's output: switch
                                         allocation downstream to usable */
};
enum { NOC_INJECTION = 2, NOC_INJECTION_CREDIT = 2 }; /* terminal to router; router to terminal */

enum { NOC_EXPRESS = 2 }; /* express.h: cycles that are done in advance */

struct noc_due {
    uint64_t time;
    uint32_t packet;
};

/*
 * Whether worms pay as runs. Where they disturb each other, a run costs more than its flits one by one:
 * routers look for patterns that do not last. Runs pay while a router is evaluated at most once for
 * NOC_RUN_GAIN flit-hops; that is counted over windows. Once they have not paid in NOC_LOSSES windows in a
 * row (one alone is what the short messages between two phases of a program make), worms are sent by flit for
 * a number of windows, and tried again for one.
 */
struct noc_crowd {
    uint64_t window;      /* evaluations of routers in one */
    uint64_t evaluations; /* of routers, when it began */
    uint64_t flit_hops;   /* of the packets begun in it */
    uint32_t left;        /* windows by flit that are left; 0: runs */
    uint32_t patience;    /* the next time that many */
    uint32_t losses;      /* windows in a row in which runs did not pay */
};
enum {
    NOC_RUN_GAIN = 3,
    NOC_WINDOW = 128 /* evaluations for each router */,
    NOC_LOSSES = 4,
    NOC_PATIENCE_LEAST = 8,
    NOC_PATIENCE_MOST = 16
};
#define NOC_BY_FLIT_MOST (UINT64_C(1) << 16) /* packets of more flits are always runs */

/* Of a packet, beside struct pim_noc_packet: same index. */
struct noc_routed {
    struct pim_noc_packet_state state;
    uint32_t hops; /* routers that its head has left */
};

struct noc_mesh {
    uint64_t origin; /* first cycle that has not been done */
    uint32_t nodes, vcs, ring;
    unsigned shift, words;            /* of rows; see above */
    uint32_t all;                     /* virtual channels of a port */
    uint8_t next_row[NOC_ROWS_LIMIT]; /* the row behind each, cyclically over all
                                       ports */
    bool plain;                       /* the configuration needs none of the rarer rules (evaluation.h)
               */
    bool early_credits;               /* channels.h */
    bool routed;                      /* see below */
    bool two_phases;                  /* the state of a packet changes on its way */
    bool brief; /* no packet under way is a run, no channel carries anything by itself */
    bool large; /* the routers do not fit into the caches that are near */
    void (*run)(struct pim_noc *noc, uint64_t cycle);       /* router.c: evaluates the routers of a cycle */
    void (*run_brief)(struct pim_noc *noc, uint64_t cycle); /* the same, while `brief` */
    struct noc_timing timing;
    struct noc_crowd crowd;
    uint64_t runs;       /* packets under way that are runs */
    uint64_t quiet_from; /* while there are none: no channel begins to carry something from this cycle on */
    char *routers;       /* [node] struct noc_router with its rows: pim_noc_router() */
    size_t router_size;  /* bytes of each */
    struct noc_terminal *terminals;
    uint16_t *left_high;        /* [node][row]: pim_noc_left() */
    uint64_t *ready;            /* [node][row]: first cycle of the next stage, while in
                          `routing` or `allocated` */
    uint16_t *terminal_credits; /* [node][vc] */

    /* `routed`: another routing than xy, a torus, or kinds of messages. A head takes only virtual channels of
   * its part. */
    struct pim_noc_topology *topology;
    struct pim_noc_routing *routing;
    struct noc_routed *packets; /* by packet */
    size_t packet_capacity;
    uint32_t *allowed; /* [node][row]: virtual channels that the packet at the front may take */

    /* changes under way, by the cycle (modulo `ring`, a power of two) in which
   * the reader can use them */
    struct noc_slot *slots;                              /* [ring][node] */
    struct noc_terminal_slot *terminal_slots;            /* [ring][node] */
    struct noc_pattern *flit_patterns, *credit_patterns; /* [node][port] of the reader */
    struct noc_pattern *terminal_patterns;               /* [node] */

    /* of the present cycle: the changes that become visible, and those of the
   * next ones; and by what is written: flits and credits to a neighbour,
   * credits of the terminal that consumes, flits of the terminal that injects; and the agenda of the next
   * cycle */
    struct noc_slot *now, *next[NOC_EXPRESS];
    struct noc_outbox flits, credits, ejected, injected, express;
    struct pim_noc_spoke next_routers, next_terminals, terminal_credited;

    struct noc_rhythm *rhythms;   /* [node] */
    uint16_t *terminal_snapshots; /* [node][vc]: credits */
    struct pim_noc_wheel router_wheel, terminal_wheel;

    struct noc_due *due; /* ring of tails on their way to a terminal, by time */
    size_t due_first, due_count, due_capacity;
};

static inline struct noc_slot *pim_noc_slots(const struct noc_mesh *mesh, uint64_t time)
{
    return mesh->slots + (time & (mesh->ring - 1)) * mesh->nodes;
}

static inline struct noc_terminal_slot *pim_noc_terminal_slot(const struct noc_mesh *mesh, uint32_t node,
                                                              uint64_t time)
{
    return mesh->terminal_slots + (time & (mesh->ring - 1)) * mesh->nodes + node;
}

/* Rows of a router's inputs, or of its outputs. */
static inline size_t pim_noc_rows(const struct noc_mesh *mesh)
{
    return (size_t)NOC_PORTS << mesh->shift;
}

/* All of it at once; 0: nothing. */
static inline uint64_t pim_noc_carried(const struct noc_activity *activity)
{
    uint64_t carried;
    memcpy(&carried, activity, sizeof carried);
    return carried;
}

/* From a router to its inputs. */
static inline size_t pim_noc_inputs_offset(unsigned shift)
{
    return sizeof(struct noc_router) + ((size_t)NOC_PORTS << shift) * sizeof(struct noc_output);
}

static inline size_t pim_noc_router_bytes(unsigned shift)
{
    size_t bytes = pim_noc_inputs_offset(shift) + ((size_t)NOC_PORTS << shift) * sizeof(struct noc_input);
    return (bytes + PIM_LINE - 1) / PIM_LINE * PIM_LINE;
}

static inline struct noc_router *pim_noc_router(const struct noc_mesh *mesh, uint32_t node)
{
    return (void *)(mesh->routers + node * mesh->router_size);
}

static inline struct noc_input *pim_noc_inputs(const struct noc_mesh *mesh, const struct noc_router *router)
{
    return (void *)(mesh->routers + ((const char *)router - mesh->routers) +
                    pim_noc_inputs_offset(mesh->shift));
}

/*
 * Flits of the packet at the front of a row that have not been sent on; at
 * least 1. The low half is in the row, (left - 1) / 2^32 in `left_high`, which
 * only the longest packets have.
 */
static inline uint64_t pim_noc_left(const struct noc_mesh *mesh, uint32_t node, unsigned row,
                                    const struct noc_input *input)
{
    return ((uint64_t)mesh->left_high[node * pim_noc_rows(mesh) + row] << 32) + (uint32_t)(input->left - 1) +
           1;
}

static inline void pim_noc_set_left(const struct noc_mesh *mesh, uint32_t node, unsigned row,
                                    struct noc_input *input, uint64_t left)
{
    input->left = (uint32_t)left;
    mesh->left_high[node * pim_noc_rows(mesh) + row] = (uint16_t)((left - 1) >> 32);
}

#endif
