/*
 * What the files of this folder share: packets, the state of routers and terminals, and the functions between
 * the files.
 *
 * 1. A flit is not an object. A virtual channel's buffer is a count of flits and a list of packets; a channel
 *    carries an entry.
 * 2. A channel carries, in every cycle, what follows from the last change that has become visible: the writer
 *    records changes only. A head is followed by body flits, a tail by nothing; anything else by itself.
 * 3. A packet has one `next`: it is in a source's queue, or its tail is in at most one buffer, or it is free.
 * 4. A unit whose change of a channel becomes visible to it is evaluated in that cycle (wheel.h).
 * 5. The writer may declare that a channel repeats a pattern; then what differs from the pattern is a change.
 *    A pattern is not rewritten before the reader has stopped to use it.
 */
#ifndef PIMSIM_MODELS_NOC_INTERNAL_H
#define PIMSIM_MODELS_NOC_INTERNAL_H

#include "models/noc/noc.h"
#include "models/noc/wheel.h"

enum {
    NOC_PORTS = 5,                               /* EAST, WEST, SOUTH, NORTH, and the terminal */
    NOC_TERMINAL = PIM_NOC_EJECT,                /* the terminal's port: inject as input, eject as output */
    NOC_ROWS = NOC_PORTS * PIM_NOC_SPEEDUP_LIMIT /* crossbar inputs */
};
#define NOC_NO_PACKET UINT32_MAX

struct pim_noc_packet {
    uint64_t user, flits;
    uint64_t created, head_injected, tail_injected, head_arrived;
    uint32_t source, destination;
    uint16_t x, y; /* of the destination */
    uint32_t next;
};

/* An entry of a flit channel: packet (heads and tails only), virtual channel, kind. 0 is no flit. */
enum { NOC_FLIT = 1, NOC_HEAD = 2, NOC_TAIL = 4 };

static inline uint64_t pim_noc_entry(uint32_t packet, unsigned virtual_channel, unsigned kind)
{
    return (uint64_t)packet << 16 | virtual_channel << 8 | kind;
}

/* What follows a flit unless a change says otherwise. */
static inline uint64_t pim_noc_flit_successor(uint64_t entry)
{
    if (PIM_LIKELY(!(entry & (NOC_HEAD | NOC_TAIL))))
        return entry;
    return entry & NOC_TAIL ? 0 : (entry & 0xFF00) | NOC_FLIT;
}

/* An entry of a credit channel: a set of virtual channels, and whether it is for this cycle only. */
#define NOC_ONCE (UINT64_C(1) << 32)

static inline uint64_t pim_noc_credit_successor(uint64_t entry)
{
    return entry & NOC_ONCE ? 0 : entry;
}

static inline unsigned pim_noc_entry_vc(uint64_t entry)
{
    return entry >> 8 & 0xFF;
}

/*
 * What a channel carries while it repeats itself: in cycle c of the writer, entries[c % period]. Used by
 * writer and reader alike. In a list of changes, NOC_PATTERN + period says that the pattern begins.
 */
enum { NOC_PERIOD_LIMIT = 16 };
#define NOC_PATTERN (UINT64_C(1) << 63)
#define NOC_CHANGED (UINT64_C(1) << 62) /* in terminal_changes: there is a change */
struct noc_pattern {
    uint64_t entries[NOC_PERIOD_LIMIT];
    uint64_t writable; /* first cycle in which the reader is sure to be done with it */
    uint32_t period;
};

static inline uint64_t pim_noc_pattern_entry(const struct noc_pattern *pattern, uint64_t cycle)
{
    return pattern->entries[cycle % pattern->period];
}

/* Virtual channel of an input port. Its state is which of the router's masks it is in. */
struct noc_input {
    uint32_t front, back; /* packets in it, NOC_NO_PACKET when none */
    uint64_t left;        /* flits of `front` that have not been sent on */
    uint64_t ready;       /* first cycle of the next stage, while in `routing` or `allocated` */
    uint32_t count;       /* flits in the buffer */
    uint8_t route;        /* output port of `front` */
    uint8_t output_vc;    /* virtual channel there, when allocated */
    uint8_t pointer;      /* VC allocator: accept pointer of this row */
};

/* Virtual channel of an output port: what this router knows of the buffer downstream. */
struct noc_output {
    uint32_t credits;
    uint8_t pointer;              /* VC allocator: grant pointer of this column */
    uint8_t owner_port, owner_vc; /* input that has it, when it is neither free nor in tail_sent */
};

/* A flit that wins the switch. */
struct noc_grant {
    uint8_t port, vc, output, output_vc;
};

/* Round-robin state of the switch allocator. Rows are crossbar inputs, columns are output ports. */
struct noc_switch {
    uint8_t row[NOC_ROWS], column[NOC_PORTS]; /* accept and grant pointers */
    uint8_t vc[NOC_ROWS];                     /* first virtual channel to be considered */
};

struct noc_router {
    uint64_t since;                   /* cycles before this one are accounted for in all counters */
    uint64_t calm_since, clean_since; /* all steps from then on were calm; clean: see struct noc_rhythm */
    uint64_t planned;                 /* first cycle to be evaluated if no channel changes before */
    uint64_t entered;                 /* cycle of its entry in the agenda: `planned`, or the horizon */

    /* sets of virtual channels, by input port */
    uint32_t routing[NOC_PORTS];   /* front is a head whose output port is being computed */
    uint32_t bidding[NOC_PORTS];   /* front is a head that asks for a virtual channel downstream */
    uint32_t allocated[NOC_PORTS]; /* it has one, and may use it later (allocation longer than a cycle) */
    uint32_t active[NOC_PORTS];    /* it has one */
    uint32_t heading[NOC_PORTS];   /* the next flit to be sent is a head */
    uint32_t filled[NOC_PORTS];    /* the buffer is not empty */
    uint32_t credited[NOC_PORTS];  /* it has one, with a credit */

    /* sets of virtual channels, by output port */
    uint32_t free[NOC_PORTS];      /* no owner */
    uint32_t nonfull[NOC_PORTS];   /* with a credit */
    uint32_t tail_sent[NOC_PORTS]; /* owned until all credits are back (wait_for_tail_credit) */

    /*
     * What the channels carry at present: flits by port; credits (sets of virtual channels) by output port
     * when they come in and by input port when they go out. flit_out[NOC_TERMINAL] is the credit that the
     * terminal returns for the flit it is sent. Then: which of them are not 0, and which repeat a pattern.
     */
    uint64_t flit_in[NOC_PORTS], flit_out[NOC_PORTS], credit_in[NOC_PORTS], credit_out[NOC_PORTS];
    uint8_t flit_in_ports, flit_out_ports, credit_in_ports, credit_out_ports;
    uint8_t flit_in_patterns, flit_out_patterns, credit_in_patterns, credit_out_patterns;
    uint8_t period; /* while it sleeps: after how many cycles everything repeats */

    struct noc_grant grants[NOC_PORTS]; /* of the last evaluation */
    uint32_t grant_count;
    uint32_t held_rows; /* rows that keep the switch (hold_switch_for_packet) */
    uint8_t held_vc[NOC_ROWS];
    uint8_t waiting; /* input ports with a virtual channel in routing, bidding or allocated */
    struct noc_switch arbiter;
    uint16_t x, y;
    uint32_t neighbour[4];
    uint64_t link_flits[NOC_PORTS];
};

/*
 * What a unit remembers to find out that it repeats itself. A step is calm when no packet begins, ends or
 * gets a virtual channel in it, and clean when moreover no channel changes.
 */
enum { NOC_HISTORY = 2 * NOC_PERIOD_LIMIT };
#define NOC_NO_SNAPSHOT (UINT64_C(1) << 63) /* a cycle that never comes */
struct noc_rhythm {
    uint64_t last;                                        /* last step recorded */
    uint64_t signatures[NOC_HISTORY];                     /* of the grants, by cycle % NOC_HISTORY */
    struct noc_grant grants[NOC_PERIOD_LIMIT][NOC_PORTS]; /* by cycle % NOC_PERIOD_LIMIT */
    uint8_t grant_counts[NOC_PERIOD_LIMIT];
    uint64_t snapshot_cycle; /* the state after this step: */
    uint32_t filled[NOC_PORTS], nonfull[NOC_PORTS], held_rows;
    uint8_t held_vc[NOC_ROWS];
    struct noc_switch arbiter;
};

struct noc_terminal {
    uint64_t since;
    uint32_t queue_front, queue_back; /* packets that have not begun */
    uint32_t current;                 /* packet that is being injected */
    uint64_t left;                    /* its flits that are still to be injected */
    uint64_t flit_out, credit_in;
    bool flit_out_pattern, credit_in_pattern;
    uint32_t owned, nonfull, tail_sent; /* sets of the router's input virtual channels */
    uint8_t vc, last_vc;
    uint8_t period; /* as for routers */
    bool sending;   /* a flit went out in the last evaluation */
    uint64_t sent;  /* history: bit i says whether a flit went out i steps ago */
    uint64_t calm_since, clean_since, last, snapshot_cycle; /* as for routers */
    uint32_t snapshot_nonfull;
    uint64_t link_flits;
};

/* Constants of the timing, from the configuration. */
struct noc_timing {
    uint32_t ejection; /* switch allocation to consumed by the terminal */
    uint32_t
        flit_latency[NOC_PORTS]; /* by the reader's input: sent (switch allocation, injection) to usable */
    uint32_t credit_latency[NOC_PORTS]; /* by the reader's output: switch allocation downstream to usable */
};
enum { NOC_INJECTION = 2, NOC_INJECTION_CREDIT = 2 }; /* terminal to router; router to terminal */

struct noc_due {
    uint64_t time;
    uint32_t packet;
};

/* The flit-level mesh. */
struct noc_mesh {
    uint64_t origin; /* first cycle that has not been done */
    uint32_t nodes, vcs, ring;
    struct noc_timing timing;
    struct noc_router *routers;
    struct noc_terminal *terminals;
    struct noc_input *inputs;   /* [node][port][vc] */
    struct noc_output *outputs; /* [node][port][vc] */
    uint32_t *terminal_credits; /* [node][vc] */

    /* changes under way, by the cycle (modulo `ring`, a power of two) in which the reader can use them */
    uint64_t *flit_changes;                              /* [node][ring][port] */
    uint64_t *credit_changes;                            /* [node][ring][port] */
    uint8_t *flit_ports;                                 /* [node][ring]: input ports with a change */
    uint8_t *credit_ports;                               /* [node][ring]: output ports with a change */
    uint64_t *terminal_changes;                          /* [node][ring]: credits, with NOC_CHANGED */
    struct noc_pattern *flit_patterns, *credit_patterns; /* [node][port] of the reader */
    struct noc_pattern *terminal_patterns;               /* [node] */

    struct noc_rhythm *rhythms; /* [node] */
    uint32_t *snapshots;        /* [node][port][vc][2]: flits in the input's buffer, credits of the output */
    uint32_t *terminal_snapshots; /* [node][vc]: credits */
    struct pim_noc_wheel router_wheel, terminal_wheel;

    struct noc_due *due; /* ring of tails on their way to a terminal, by time */
    size_t due_first, due_count, due_capacity;
};

struct noc_estimate;

struct noc_injected {
    uint64_t packet;
    uint32_t source;
};

struct pim_noc {
    struct pim_noc_configuration configuration;
    struct pim_noc_callbacks callbacks;
    struct pim_kernel *kernel;
    pim_time period;
    struct pim_event event;
    struct pim_pending_work work;
    bool stepping;
    struct pim_noc_statistics statistics;

    struct pim_noc_packet *packets; /* pool */
    uint32_t packet_capacity, packet_free;

    struct noc_injected *injected; /* in this cycle */
    size_t injected_count, injected_capacity;
    uint32_t *arrived; /* packets delivered in this cycle */
    size_t arrived_count, arrived_capacity;

    struct noc_mesh *mesh;         /* PIM_NOC_FLIT */
    struct noc_estimate *estimate; /* the other fidelities */
};

/* network.c. Memory that runs out in them aborts with a message. */
uint32_t pim_noc_packet_new(struct pim_noc *noc);
void pim_noc_note_injected(struct pim_noc *noc, uint32_t packet);
void pim_noc_note_arrived(struct pim_noc *noc, uint32_t packet);
void *pim_noc_grow(void *items, size_t *capacity, size_t item_size);

/* configuration.c: cycles a head spends in a router at least, from usable to on the link. */
uint32_t pim_noc_router_delay(const struct pim_noc_configuration *configuration);

/* mesh.c */
enum pim_status pim_noc_mesh_create(struct pim_noc *noc, struct pim_error *error);
void pim_noc_mesh_destroy(struct noc_mesh *mesh);
void pim_noc_mesh_send(struct pim_noc *noc, uint64_t cycle, uint32_t packet);
uint64_t pim_noc_mesh_next(const struct noc_mesh *mesh);
void pim_noc_mesh_step(struct pim_noc *noc, uint64_t cycle);
/* Flits of all cycles before `end`, which must not be after the next cycle. */
uint64_t pim_noc_mesh_link_flits(const struct pim_noc *noc, uint32_t node, enum pim_noc_direction direction,
                                 uint64_t done);
void pim_noc_mesh_deliver_at(struct noc_mesh *mesh, uint64_t time, uint32_t packet);

/* sleep.c: whether no channel of the router changes in `cycle` and it planned to sleep on. */
bool pim_noc_router_sleeps_on(struct noc_mesh *mesh, uint32_t node, uint64_t cycle);

/* sleep.c: flits sent to `output` in the cycles before `end` that are not accounted for yet. */
uint64_t pim_noc_router_slept_flits(const struct noc_mesh *mesh, uint32_t node, unsigned output,
                                    uint64_t end);
uint64_t pim_noc_terminal_slept_flits(const struct noc_terminal *terminal, uint64_t end);

/* sleep.c, router.c and terminal.c: `settle` accounts for all cycles before `cycle`, during which the unit
 * was asleep. */
void pim_noc_router_settle(struct pim_noc *noc, uint32_t node, uint64_t cycle);
void pim_noc_router_repeat(struct pim_noc *noc, uint32_t node, uint64_t cycle);
void pim_noc_router_evaluate(struct pim_noc *noc, uint32_t node, uint64_t cycle);
void pim_noc_terminal_settle(struct pim_noc *noc, uint32_t node, uint64_t cycle);
void pim_noc_terminal_evaluate(struct pim_noc *noc, uint32_t node, uint64_t cycle);

/* estimate.c */
enum pim_status pim_noc_estimate_create(struct pim_noc *noc, struct pim_error *error);
void pim_noc_estimate_destroy(struct noc_estimate *estimate);
void pim_noc_estimate_send(struct pim_noc *noc, uint64_t cycle, uint32_t packet);
uint64_t pim_noc_estimate_next(const struct noc_estimate *estimate);
void pim_noc_estimate_step(struct pim_noc *noc, uint64_t cycle);
uint64_t pim_noc_estimate_link_flits(const struct noc_estimate *estimate, uint32_t node,
                                     enum pim_noc_direction direction);
uint64_t pim_noc_estimate_origin(const struct noc_estimate *estimate);

#endif
