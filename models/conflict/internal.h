/*
 * The replay from inside: what nodes (nodes.h) and networks share.
 *
 * At every instant at which something ends there is one time point, in the last phase of that tick, in which
 * everything happens in a fixed order: the network finishes its transfers, nodes finish and start steps, the
 * network starts transfers (docs/models/conflict.md).
 *
 * Invariants, of every edge: arrived <= sent <= produced, dropped <= arrived, sent - dropped <= capacity_in,
 * produced - sent <= capacity_out; packets of an edge arrive in order.
 */
#ifndef PIMSIM_MODELS_CONFLICT_INTERNAL_H
#define PIMSIM_MODELS_CONFLICT_INTERNAL_H

#include "models/conflict/conflict.h"
#include "models/conflict/nodes.h"
#include "models/conflict/replay/agenda.h"
#include "models/conflict/replay/marks.h"
#include "sim/kernel/kernel.h"

#define CONFLICT_NONE UINT32_MAX

struct conflict_replay;

/* Whom an event of the kernel is for. */
struct conflict_owner {
    struct conflict_replay *replay;
    uint32_t index;
};

/* Packets of an edge, counted over all images. */
struct conflict_edge {
    uint32_t produced, sent, arrived, dropped;
    uint32_t total;
    uint32_t capacity_in;  /* packets in its part of the destination's input buffer */
    uint32_t capacity_out; /* packets in the source's output buffer */
    pim_time hop;          /* bits / bandwidth (+ router delay) */
};

/* A way of switching. */
struct conflict_network {
    enum pim_status (*create)(struct conflict_replay *replay, struct pim_error *error);
    void (*destroy)(struct conflict_replay *replay);
    void (*finish)(struct conflict_replay *replay); /* all transfers that have ended by now */
    bool (*arbitrate)(struct conflict_replay
                          *replay); /* starts transfers; true: nodes have to be looked at again at once */
    void (*explain)(const struct conflict_replay *replay, uint32_t edge, char *text,
                    size_t size); /* what holds a packet up */
};

extern const struct conflict_network conflict_path_hold, conflict_saf, conflict_saf_table, conflict_carried;

struct conflict_replay {
    const struct pim_task_graph *graph;
    const struct pim_conflict_options *options;
    const uint32_t *placement;
    struct pim_conflict_result *result;
    /* Who keeps the time: the kernel, or the replay itself where it has none (nodes.c). */
    struct pim_kernel *kernel;
    struct conflict_agenda agenda; /* transfers by their numbers, then nodes by theirs */
    pim_time now;
    uint64_t ends; /* taken from the agenda */
    struct pim_conflict_nodes nodes;
    enum pim_conflict_arithmetic arithmetic;
    enum pim_status status;  /* of a handler that failed: the run has been stopped */
    struct pim_error *error; /* for nodes that do not take failures themselves */

    struct conflict_edge *edge;
    struct conflict_owner *owner_of_transfer;
    struct conflict_marks marked; /* nodes to look at in the next time point */
    struct conflict_marks asking; /* edges of which something has changed that a transfer waits for */
    struct conflict_marks ended;  /* transfers that have ended, by the network's number */
    uint32_t *asked;              /* edges that were taken from `asking` */
    uint32_t *landed;             /* by transfer: ends that its network has not taken yet */
    uint32_t transfers;           /* numbers in `ended` */
    bool point_due;
    pim_time over;        /* when the last step ended; PIM_TIME_NEVER until then */
    uint32_t *link_index; /* by undirected or directed number of a link, its place in result->link */

    const struct conflict_network *network;
    void *state; /* of the network */
};

static inline void conflict_set(uint64_t *bits, uint32_t index)
{
    bits[index / 64] |= UINT64_C(1) << (index % 64);
}

static inline pim_time conflict_now(const struct conflict_replay *replay)
{
    return replay->kernel ? pim_kernel_now(replay->kernel) : replay->now;
}

/* The number under which a directed link is busy. */
static inline uint32_t conflict_resource(const struct conflict_replay *replay, uint32_t link)
{
    bool both = replay->options->switching == PIM_SWITCHING_PATH_HOLD || replay->options->half_duplex;
    return both ? pim_conflict_undirected(&replay->options->mesh, link) : link;
}

static inline struct pim_conflict_link *conflict_link(const struct conflict_replay *replay, uint32_t resource)
{
    return &replay->result->link[replay->link_index[resource]];
}

/* Now, for sums of waiting: packets that nobody needs may travel on when the run is over. */
static inline uint64_t conflict_now_fixed(const struct conflict_replay *replay)
{
    pim_time now = conflict_now(replay);
    return pim_conflict_fixed(replay->arithmetic, now < replay->over ? now : replay->over);
}

static inline void conflict_wait(const struct conflict_replay *replay, struct pim_conflict_link *link,
                                 uint64_t waits)
{
    link->waits += replay->over == PIM_TIME_NEVER ? waits : 0;
}

/* A packet holds a link from now to `end`, `bits` long. */
static inline void conflict_hold(const struct conflict_replay *replay, struct pim_conflict_link *link,
                                 uint64_t bits, pim_time end)
{
    if (replay->over != PIM_TIME_NEVER)
        return;
    link->transfers++;
    link->held_bits += bits;
    link->held_until = end > link->held_until ? end : link->held_until;
}

/* Whether the next packet of an edge waits at its source and has room at its destination. */
static inline bool conflict_sendable(const struct conflict_edge *edge)
{
    return edge->produced > edge->sent && edge->sent - edge->dropped < edge->capacity_in;
}

/* --- services (replay.c) --- */

/* The edges, their network and its counters; `graph`, `options`, `placement`, `result`, `kernel` and
 * `nodes` are set. conflict_replay_terminate() in every case. */
enum pim_status conflict_replay_initialize(struct conflict_replay *replay, struct pim_error *error);
void conflict_replay_terminate(struct conflict_replay *replay);

/* There is a time point at the present instant: once for all that ends now. Without a kernel whoever keeps
 * the time looks at `point_due`. */
void conflict_want_point(struct conflict_replay *replay);

/* A step of a node ends `span` from now; that instant. Fails the run when it is beyond the end of time. The
 * replay has no kernel. */
pim_time conflict_schedule_step(struct conflict_replay *replay, uint32_t node, pim_time span);

/* What happens now: everything that ends, and what begins thereby. The replay has no kernel. */
void conflict_next_point(struct conflict_replay *replay);

/* Why the packets of an edge that wait to be sent do; false: none waits. */
bool conflict_explain(const struct conflict_replay *replay, uint32_t edge, char *text, size_t size);

/* Room for `transfers` numbers of transfers, `owner_of_transfer` included. PIM_NO_MEMORY. */
enum pim_status conflict_make_transfers(struct conflict_replay *replay, uint32_t transfers,
                                        struct pim_error *error);

/* `span` from now, sets the bit of a transfer in `ended`; returns that instant. Fails the run when it is
 * beyond the end of time. */
pim_time conflict_schedule_end(struct conflict_replay *replay, uint32_t transfer, pim_time span);

/* The next packet of the edge leaves the output buffer: the source is looked at in the next time point. */
void conflict_leave(struct conflict_replay *replay, uint32_t edge);

/* A packet of the edge has arrived: the destination is looked at. */
void conflict_arrive(struct conflict_replay *replay, uint32_t edge, uint32_t hops);

/* The time over `hops` hops, added up one by one as the authors' code does. */
pim_time conflict_path_span(const struct conflict_replay *replay, uint32_t edge, uint32_t hops);

/* Tells the recorder of a transfer or hop that starts now. `packet` counts over all images. */
void conflict_record(struct conflict_replay *replay, int kind, uint32_t edge, uint32_t packet, pim_time end,
                     const uint32_t *links, uint32_t hops);

/* Ends the run with an error. */
void conflict_abort(struct conflict_replay *replay, enum pim_status status, const char *text);

/* --- who is asked first (replay/asking.c) --- */

/* Whether edge `a` is asked before edge `b`, which is another one. */
typedef bool conflict_order(const struct conflict_replay *replay, uint32_t a, uint32_t b);

/* The workload balance arbiter: the edge of which less has arrived, as a share of its total; ties: the lower
 * edge. */
conflict_order conflict_goes_first;

/* Takes all edges out of `asking` into `asked`, in the order of their numbers; how many. */
uint32_t conflict_take_asking(struct conflict_replay *replay);

/* Puts the first `count` of `asked` into the order `before`; NULL: of their numbers, in which they are. */
void conflict_sort_asked(const struct conflict_replay *replay, conflict_order *before, uint32_t count);

/* --- adaptive routing (adaptive.c) --- */

struct conflict_adaptive;

/* All links idle. NULL when memory is out. */
struct conflict_adaptive *conflict_adaptive_create(const struct pim_conflict_mesh *mesh,
                                                   enum pim_tie_break tie_break);
void conflict_adaptive_destroy(struct conflict_adaptive *adaptive);

/* The most hops that the rule accepts between two routers. */
uint32_t conflict_adaptive_limit(const struct pim_conflict_mesh *mesh, const struct pim_detour *detour,
                                 uint32_t from, uint32_t to);

/* Shortest path over idle links of at most `limit` hops: writes its directed links, returns their number, 0
 * for none. */
uint32_t conflict_adaptive_search(struct conflict_adaptive *adaptive, uint32_t from, uint32_t to,
                                  uint32_t limit, uint32_t *links);

/* After a search that found no path: sets the bits of routers; the same search finds none again as long as no
 * link of theirs is freed. */
void conflict_adaptive_reached(const struct conflict_adaptive *adaptive, uint64_t *routers);

/* Takes the links of a path out of the graph of idle links; puts them back. */
void conflict_adaptive_take(struct conflict_adaptive *adaptive, const uint32_t *links, uint32_t hops);
void conflict_adaptive_release(struct conflict_adaptive *adaptive, const uint32_t *links, uint32_t hops);

/* --- behaviour tables made ready for execution (replay/plan.c) --- */

/* Operations are numbered through all routers; that of place p in the list of router r is first[r] + p. */
struct conflict_plan {
    uint32_t *first;  /* by router, and one more for the end */
    uint32_t *next;   /* by operation: the next of the same packet, CONFLICT_NONE behind the last */
    uint32_t *router; /* by operation */
    struct pim_operation *operation;
    uint32_t *packet; /* first operation of packet k of edge e: packet[first_packet[e] + k] */
    size_t *first_packet;
    uint32_t *depth;   /* by operation: operations of the same packet before it, its hops so far */
    uint32_t *number;  /* by operation: the number of its packet in its edge, over all images */
    uint32_t *counter; /* by router: operations done; the executing network's */
};

/* PIM_BAD_INPUT when a table names no link or task, does not deliver a packet at its destination, leads it in
 * a loop, or has operations for other than the packets of this run. */
enum pim_status conflict_plan_create(struct conflict_plan *plan, const struct conflict_replay *replay,
                                     struct pim_error *error);
void conflict_plan_terminate(struct conflict_plan *plan);

/* --- checks (check.c) --- */

/* The options by themselves and with the graph; PIM_BAD_INPUT. */
enum pim_status conflict_check_options(const struct pim_task_graph *graph,
                                       const struct pim_conflict_options *options, struct pim_error *error);

/* Every node has a router of the mesh, and none two nodes; PIM_BAD_INPUT. */
enum pim_status conflict_check_placement(const struct pim_task_graph *graph, const uint32_t *placement,
                                         const struct pim_conflict_mesh *mesh, struct pim_error *error);

/* What a step needs of an edge at once fits its part of the buffer, and a packet fits the output buffer: else
 * that step never starts. PIM_DEADLOCK. */
enum pim_status conflict_check_buffers(const struct conflict_replay *replay, uint32_t edge,
                                       struct pim_error *error);

/* The invariants of all edges, after a time point; PIM_INTERNAL with the edge and its counters. */
enum pim_status conflict_check_edges(const struct conflict_replay *replay, struct pim_error *error);

/* --- results (result.c) --- */

enum pim_status conflict_result_initialize(struct conflict_replay *replay, struct pim_error *error);

#endif
