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

#include "models/noc/mesh/units.h"

/* Constants of the timing, from the configuration. */
struct noc_timing {
    uint32_t ejection;                  /* switch allocation to consumed by the terminal */
    uint32_t flit_latency[NOC_PORTS];   /* by the reader's input: sent (switch
                                         allocation, injection) to usable */
    uint32_t credit_latency[NOC_PORTS]; /* by the reader's output: switch
                                         allocation downstream to usable */
};

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

/* mesh.c: the tail of a packet will be consumed by its terminal. */
void pim_noc_mesh_deliver_at(struct pim_noc *noc, uint64_t time, uint32_t packet);

/* router.c: which functions evaluate the routers; with or without the instructions for bit manipulation
 * (sim/bits.h). The results are the same. */
void pim_noc_choose_run(struct noc_mesh *mesh, bool bit_manipulation);

/* router.c: one cycle of all routers that are in the agenda. `repeat`: of one that slept through it;
 * nothing is sent. */
void pim_noc_run_routers(struct pim_noc *noc, uint64_t cycle);
void pim_noc_router_repeat(struct pim_noc *noc, uint32_t node, uint64_t cycle);

/* terminal.c */
void pim_noc_terminal_evaluate(struct pim_noc *noc, uint32_t node, uint64_t cycle);

/* sleep.c and terminal.c. `settle` accounts for all cycles before `cycle`, during which the unit was asleep;
 * `slept_flits` and `slept_blocked` are what happened in the cycles before `end` that are not accounted for
 * yet. */
void pim_noc_router_settle(struct pim_noc *noc, uint32_t node, uint64_t cycle);
uint64_t pim_noc_router_slept_flits(const struct noc_mesh *mesh, uint32_t node, unsigned output,
                                    uint64_t end);
uint64_t pim_noc_router_slept_blocked(const struct noc_mesh *mesh, uint32_t node, unsigned output,
                                      uint64_t end);
void pim_noc_terminal_settle(struct pim_noc *noc, uint32_t node, uint64_t cycle);
uint64_t pim_noc_terminal_slept_flits(const struct noc_terminal *terminal, uint64_t end);
uint64_t pim_noc_terminal_slept_blocked(const struct noc_terminal *terminal, uint64_t end);

#endif
