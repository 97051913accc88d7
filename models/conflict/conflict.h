/*
 * The network of the communication-conflict paper (Sun et al., ASP-DAC 2023): replay of a task graph on a
 * mesh, packet by packet, in one of two switching modes. docs/models/conflict.md has the timing rules and
 * what of paper and authors' code each mode is.
 *
 *     pim_task_graph_read("vgg8", &graph, &error);
 *     struct pim_conflict_options options = PIM_CONFLICT_DEFAULTS;
 *     pim_conflict_place_named("vgg8.mappings.json", "snake", graph, &options.mesh, &placement, &error);
 *     pim_conflict_run(graph, placement, &options, &result, &error);
 *
 * A run uses no state but its arguments; several may go on in one process.
 */
#ifndef PIMSIM_MODELS_CONFLICT_CONFLICT_H
#define PIMSIM_MODELS_CONFLICT_CONFLICT_H

#include "models/conflict/graph/graph.h"
#include "models/conflict/mesh.h"
#include "models/conflict/replay/instant.h"
#include "models/conflict/table.h"

struct pim_json;

/* X(name, text) */
#define PIM_SWITCHING_MAP(X)                                                                                 \
    X(PIM_SWITCHING_PATH_HOLD, "path_hold")                                                                  \
    X(PIM_SWITCHING_SAF, "saf")                                                                              \
    X(PIM_SWITCHING_WORMHOLE, "wormhole") /* another network carries the packets: network.h */
#define PIM_CONFLICT_ROUTING_MAP(X)                                                                          \
    X(PIM_CONFLICT_XY, "xy")                                                                                 \
    X(PIM_CONFLICT_YX, "yx")                                                                                 \
    X(PIM_CONFLICT_ADAPTIVE, "adaptive")                                                                     \
    X(PIM_CONFLICT_TABLE, "table")
#define PIM_CONFLICT_ARBITER_MAP(X)                                                                          \
    X(PIM_CONFLICT_FIXED, "fixed")                                                                           \
    X(PIM_CONFLICT_BALANCE, "balance")                                                                       \
    X(PIM_CONFLICT_FIFO, "fifo")                                                                             \
    X(PIM_CONFLICT_ROUND_ROBIN, "round-robin")
/* The order in which adaptive routing looks at the neighbours of a router. */
#define PIM_TIE_BREAK_MAP(X)                                                                                 \
    X(PIM_TIE_RELEASE_FORWARD, "release") /* a released link goes to the end; a path from its source */      \
    X(PIM_TIE_RELEASE_BACKWARD, "release-backward") /* the same, a path from its destination */              \
    X(PIM_TIE_STATELESS, "stateless")               /* always west, east, north, south */

#define X(name, text) name,
enum pim_switching { PIM_SWITCHING_MAP(X) PIM_SWITCHINGS };
enum pim_conflict_routing { PIM_CONFLICT_ROUTING_MAP(X) PIM_CONFLICT_ROUTINGS };
enum pim_conflict_arbiter { PIM_CONFLICT_ARBITER_MAP(X) PIM_CONFLICT_ARBITERS };
enum pim_tie_break { PIM_TIE_BREAK_MAP(X) PIM_TIE_BREAKS };
#undef X

/* How long a path adaptive routing accepts: at most max(floor(detour_milli x n / 1000), n + slack), where n
 * is the length of a shortest path, in routers when count_routers is set, else in hops. */
struct pim_detour {
    uint32_t detour_milli; /* 1000 to 1000000 */
    uint32_t slack;
    bool count_routers;
    enum pim_tie_break tie_break;
};

/* An event of the replay that takes time, told when it starts. */
struct pim_conflict_interval {
    enum { PIM_INTERVAL_STEP, PIM_INTERVAL_TRANSFER, PIM_INTERVAL_HOP } kind;
    uint32_t task; /* node of a step; edge of a transfer (path_hold, ideal) or of a hop over one link (saf) */
    uint32_t image, index; /* step or packet in the image */
    pim_time start, end;
    const uint32_t
        *links; /* directed links of a transfer or hop; NULL for steps. Valid during the call only */
    uint32_t hops;
};

/*
 * PIM_SWITCHING_WORMHOLE: another network, which carries the packets of a run. It is called in the order of
 * time: step() at each instant of next(), before the steps that end then; send() in the time point behind
 * them, so that what is sent is on its way at the earliest in the next instant.
 */
struct conflict_replay;
struct pim_conflict_carrier {
    void *context;
    void (*send)(void *context, pim_time now, uint32_t edge); /* a packet of the edge goes in */
    pim_time (*next)(void *context);                          /* PIM_TIME_NEVER: nothing happens in it */
    /* Tells `replay` what has left its source and what has come, by the functions below. */
    void (*step)(void *context, pim_time now, struct conflict_replay *replay);
};
/* A packet of the edge has left its source; one is there, over so many links (`hops`). */
void pim_conflict_injected(struct conflict_replay *replay, uint32_t edge);
void pim_conflict_delivered(struct conflict_replay *replay, uint32_t edge, uint32_t hops);

struct pim_conflict_options {
    struct pim_conflict_mesh mesh;
    enum pim_switching switching;
    enum pim_conflict_routing routing;
    enum pim_conflict_arbiter arbiter;
    bool ideal;       /* links are never busy */
    bool half_duplex; /* saf: the two directions of a link exclude each other. path_hold always holds both */
    uint32_t images;  /* 1 to 65535, one after the other through the same nodes */
    double limit_ns;  /* the run is given up behind this time; 0: never */
    bool (*stop)(void *context); /* asked every 1024 time points; true: the run is given up. NULL: never */
    void *stop_context;
    double bandwidth_gbps;   /* of every link: bits per ns; 10^-6 to 10^6 */
    uint64_t input_bits;     /* input buffer of a node, split equally among its incoming edges */
    uint64_t output_bits;    /* output buffer of a node for each of its outgoing edges */
    uint32_t router_packets; /* saf: packets a router stores of each direction; 0: without limit */
    double router_delay_ns;  /* saf: added to every hop; 0 to 10^6 */
    uint32_t perturb_milli;  /* a step takes its time x (1 -+ perturb_milli / 1000), even; 0 to 999 */
    uint64_t seed;           /* of perturb_milli */
    struct pim_detour detour;
    enum pim_conflict_arithmetic arithmetic;
    bool check;                                 /* verify the invariants of all edges at every time point */
    const struct pim_behaviour *table;          /* routing by table; may be replayed by any number of runs */
    struct pim_behaviour *make_table;           /* path_hold: receives the tables of this run; or NULL */
    const struct pim_conflict_carrier *carrier; /* wormhole; or NULL */
    void (*record)(void *context, const struct pim_conflict_interval *interval); /* or NULL */
    void *record_context;
};

/* The authors' experiments: 16 x 16, 8 Gb/s, XY with fixed priorities, one image. */
#define PIM_CONFLICT_DEFAULTS                                                                                \
    {                                                                                                        \
        .mesh = {16, 16}, .images = 1, .bandwidth_gbps = 8, .input_bits = 822400, .output_bits = 822400,     \
        .detour = {.detour_milli = 1800, .slack = 2, .count_routers = true}, .seed = 1                       \
    }

struct pim_conflict_link {
    uint32_t from, to;  /* routers; of an undirected link the western or northern one first */
    uint64_t transfers; /* packets that held it */
    uint64_t
        held_bits; /* sum over them of held time x bandwidth: hops x bits in path_hold, bits in saf; exact */
    pim_time held_until; /* end of the last transfer that began before the run was over */
    uint64_t waits;      /* transfers that found it busy; path_hold: as the first of their path, at first */
    uint64_t wait_fixed; /* what they waited until they started, 2^-20 ns */
};

struct pim_conflict_task {
    uint64_t packets, bits; /* delivered */
    uint64_t hops;          /* sum over its packets */
    uint64_t wait_fixed;    /* from ready to started; saf: from asked to granted, all hops; 2^-20 ns */
    pim_time first_start, last_end;
};

struct pim_conflict_node_result {
    uint64_t steps;
    pim_time first_start, last_end;
    double busy_ns;
};

/* Everything a run leaves behind; pim_conflict_result_terminate() frees it. */
struct pim_conflict_result {
    bool given_up; /* at limit_ns, or stopped: all else is of the time until then */
    bool stopped;
    pim_time end; /* when the last step ended */
    double end_ns;
    double *image_start_ns, *image_end_ns; /* first step start and last step end of each image */
    uint32_t images;
    uint64_t time_points;
    uint64_t packets, bit_hops; /* delivered; bits x hops over them */
    uint64_t asking; /* saf: packets that wait for a link now; their waiting is not yet in any sum */
    uint64_t distance_bit_hops; /* of one image, on shortest paths: the total communication cost */
    uint64_t events;            /* ends of steps and transfers, and time points */
    struct pim_conflict_link
        *link; /* all links of the mesh: undirected in path_hold and half duplex, else directed */
    uint32_t links;
    struct pim_conflict_task *task; /* by edge */
    struct pim_conflict_node_result *node;
    uint32_t tasks, nodes;
};

/*
 * Replays `graph` with node n at router placement[n]. PIM_BAD_INPUT when options are out of range or do not
 * fit each other, or two nodes share a router. PIM_DEADLOCK, before the run, when a buffer is too small for
 * what a step needs at once, and during it when nothing can go on: the message says who waits for what.
 * `result` needs pim_conflict_result_terminate() in every case.
 */
enum pim_status pim_conflict_run(const struct pim_task_graph *graph, const uint32_t *placement,
                                 const struct pim_conflict_options *options,
                                 struct pim_conflict_result *result, struct pim_error *error);

void pim_conflict_result_terminate(struct pim_conflict_result *result);

/* --- placement: the router of each node, from malloc, the caller's --- */

/* Without a file: "row-major", "snake" (a square that grows in turns) or "boustrophedon" (rows in turns).
 * With one: the name of a list of [row, column] in a JSON object of such lists. PIM_BAD_INPUT names the node
 * that has no place or an occupied one. */
enum pim_status pim_conflict_place_named(const char *file, const char *name,
                                         const struct pim_task_graph *graph,
                                         const struct pim_conflict_mesh *mesh, uint32_t **placement,
                                         struct pim_error *error);

/* --- reports --- */

/* What the figures of a report are derived from. */
struct pim_conflict_summary {
    double first_latency_ns, average_latency_ns; /* an image's last step end - its first step start */
    double interval_ns; /* (end of last image - end of first) / (images - 1); 0 for one image */
    double end_over_images_ns;
    uint32_t links_used, links_below_tenth; /* links that were held at all; of those below 10 % of the time */
    double utilization_all, utilization_used,
        utilization_maximum; /* held time / end: mean over all, over used links; highest; NaN of no link */
};
struct pim_conflict_summary pim_conflict_summarize(const struct pim_conflict_result *result,
                                                   const struct pim_conflict_options *options);

/* What a packet of `bits` takes over one link. */
pim_time pim_conflict_hop(const struct pim_conflict_options *options, uint64_t bits);

/* Held time of a link in ns. */
double pim_conflict_held_ns(const struct pim_conflict_link *link, const struct pim_conflict_options *options,
                            pim_time end);

/* Puts the result into the innermost open object. */
void pim_conflict_report_json(struct pim_json *json, const struct pim_task_graph *graph,
                              const struct pim_conflict_options *options,
                              const struct pim_conflict_result *result);

/* A text of a screen: the run, the busiest links, the tasks that waited most. */
void pim_conflict_report_text(FILE *file, const struct pim_task_graph *graph,
                              const struct pim_conflict_options *options,
                              const struct pim_conflict_result *result);

/* Texts of the enumerations; NULL beyond. */
const char *pim_switching_name(unsigned value);
const char *pim_conflict_routing_name(unsigned value);
const char *pim_conflict_arbiter_name(unsigned value);
const char *pim_tie_break_name(unsigned value);

#endif
