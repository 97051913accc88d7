/*
 * Traffic for the network alone: packet lists that are replayed exactly, and synthetic traffic that is
 * measured.
 *
 * Synthetic traffic is a set of flows: each has a source, a process that makes packets (Bernoulli trials in
 * every cycle, or the same in bursts), a distribution of sizes and a rule for destinations. Every flow has a
 * random stream of its own, so a flow's packets do not depend on what the network does, nor on other flows.
 * Nothing is done in cycles without a packet.
 *
 * A measurement has three parts: warm-up; measuring, in samples, until the mean latency is known to the asked
 * precision (95 % confidence, by batch means) or the samples run out; draining, while traffic goes on, until
 * every packet created while measuring has arrived.
 */
#ifndef PIMSIM_MODELS_TRAFFIC_TRAFFIC_H
#define PIMSIM_MODELS_TRAFFIC_TRAFFIC_H

#include "models/noc/noc.h"
#include "sim/output/histogram.h"
#include "sim/random.h"

/* --- packet lists --- */

struct pim_listed_packet {
    uint64_t cycle;
    uint32_t source, destination;
    uint64_t flits;
    struct pim_noc_tag tag;
};

struct pim_packet_list {
    struct pim_listed_packet *packets;
    uint64_t count;
};

/*
 * Reads "cycle,source,destination,flits" with a header. Two more columns may follow, each by its name:
 * "class", of traffic, 0 without it; "task", which a packet belongs to, for the arbiter workload_balance,
 * where an empty field is none. PIM_BAD_INPUT names the row: nodes, classes or tasks that do not exist,
 * cycles that go back, sizes of 0 or beyond 2^32 flits. The caller terminates the list.
 */
enum pim_status pim_packet_list_read(const char *path, const struct pim_noc_configuration *noc,
                                     struct pim_packet_list *list, struct pim_error *error);
void pim_packet_list_terminate(struct pim_packet_list *list);

/* --- results --- */

/* What one class of the traffic got. */
struct pim_traffic_share {
    uint32_t network_class;       /* whose virtual channels it used */
    uint64_t packets;             /* that count for latency */
    struct pim_histogram latency; /* created to tail arrived */
    uint64_t offered_flits;       /* created while measuring */
    uint64_t accepted_flits;      /* of packets whose tails arrived while measuring */
};

struct pim_traffic_result {
    uint64_t cycles;                /* simulated: to the last arrival of what counts */
    uint64_t measured_cycles;       /* over which offered and accepted are counted */
    uint64_t packets;               /* that count for latency */
    struct pim_histogram latency;   /* created to tail arrived */
    struct pim_sum network_latency; /* head injected to tail arrived */
    uint64_t hops;
    uint64_t offered_flits, accepted_flits; /* created, delivered while measuring */
    double confidence; /* half width of the 95 % interval of the mean latency; NaN: not estimated */
    uint64_t samples;
    bool saturated;
    struct pim_noc_statistics noc;
    struct pim_noc_link_use *links;
    uint32_t link_count;
    uint64_t *batch_cycles; /* of each of several batches (requests.h), or NULL */
    uint32_t batch_count;
    struct pim_traffic_share
        *shares; /* by class of synthetic traffic, and of the matrix's flows behind them */
    uint32_t share_count;
};

void pim_traffic_result_terminate(struct pim_traffic_result *result);

/* What one packet of a list does; its number in the list from 0 on. The network is that of the routers which
 * can tell; the cycles are the same. */
struct pim_traffic_watch {
    uint64_t packet;
    void (*stage)(void *context, const struct pim_noc_stage *stage);
    void *context;
};

/*
 * Replays a list in an empty network until everything has arrived. `deliveries` receives count records in the
 * order of the list (their `packet` is the index). With `check` the network's invariants are verified every
 * 1024 steps and at the end. `watch` may be NULL. PIM_DEADLOCK when packets are left that nothing can move;
 * PIM_INTERNAL when an
 * invariant does not hold; PIM_NO_MEMORY.
 */
enum pim_status pim_traffic_replay(const struct pim_noc_configuration *noc,
                                   const struct pim_packet_list *list, bool check,
                                   const struct pim_traffic_watch *watch, struct pim_noc_delivery *deliveries,
                                   struct pim_traffic_result *result, struct pim_error *error);

/* --- synthetic traffic --- */

/* X(name, text) */
#define PIM_PATTERN_MAP(X)                                                                                   \
    X(PIM_PATTERN_UNIFORM, "uniform")                                                                        \
    X(PIM_PATTERN_TRANSPOSE, "transpose")                                                                    \
    X(PIM_PATTERN_BIT_COMPLEMENT, "bit-complement")                                                          \
    X(PIM_PATTERN_BIT_REVERSE, "bit-reverse")                                                                \
    X(PIM_PATTERN_SHUFFLE, "shuffle")                                                                        \
    X(PIM_PATTERN_TORNADO, "tornado")                                                                        \
    X(PIM_PATTERN_NEIGHBOR, "neighbor")                                                                      \
    X(PIM_PATTERN_HOTSPOT, "hotspot")                                                                        \
    X(PIM_PATTERN_ASYMMETRIC, "asymmetric")

enum pim_pattern {
#define X(name, text) name,
    PIM_PATTERN_MAP(X)
#undef X
        PIM_PATTERNS
};

enum { PIM_TRAFFIC_SIZES = 16, PIM_TRAFFIC_HOTSPOTS = 64, PIM_TRAFFIC_CLASSES = PIM_NOC_CLASS_LIMIT };

/* One class of traffic, run by every node. */
struct pim_traffic_class {
    enum pim_pattern pattern;
    double rate; /* flits (or packets) per node and cycle, 0 < packets per cycle <= 1 */
    bool rate_in_packets;
    uint32_t sizes;                   /* number of sizes */
    uint64_t size[PIM_TRAFFIC_SIZES]; /* flits */
    double weight[PIM_TRAFFIC_SIZES]; /* relative frequency */
    uint32_t hotspots;
    uint32_t hotspot[PIM_TRAFFIC_HOTSPOTS];
    double on, off;         /* probability to turn on, and off, in a cycle; 0, 0: always on (Bernoulli) */
    uint32_t network_class; /* class of the network whose virtual channels it uses */
};

/* An entry of a rate matrix: one flow. */
struct pim_traffic_flow {
    uint32_t source, destination;
    double rate; /* flits per cycle */
};

struct pim_traffic_configuration {
    const struct pim_traffic_class *classes;
    uint32_t class_count;
    const struct pim_traffic_flow *flows; /* of a matrix, beside the classes */
    uint32_t flow_count;
    const struct pim_traffic_class *flow_class; /* their sizes, bursts, network class; NULL: one flit */
    uint64_t seed;
    uint64_t warm_up, sample; /* cycles */
    uint32_t least_samples, most_samples;
    double precision;     /* relative half width to stop at */
    double latency_limit; /* mean latency beyond which the network counts as saturated */
    bool check;           /* verify the network's invariants after each sample and at the end */
};

/* PIM_BAD_INPUT: rates or patterns that do not fit the network; says what would. */
enum pim_status pim_traffic_measure(const struct pim_noc_configuration *noc,
                                    const struct pim_traffic_configuration *configuration,
                                    struct pim_traffic_result *result, struct pim_error *error);

/* Reads a matrix "source,destination,rate" (flits per cycle): a flow for each row whose rate is not 0,
 * rows of the same pair beside each other. PIM_BAD_INPUT names the row; PIM_NO_MEMORY. The caller frees
 * *flows. */
enum pim_status pim_traffic_matrix_read(const char *path, const struct pim_noc_configuration *noc,
                                        struct pim_traffic_flow **flows, uint32_t *count,
                                        struct pim_error *error);

const char *pim_pattern_name(unsigned pattern);

/* --- inside --- */

/*
 * Checks that a pattern is defined on the network (transpose: square; bit patterns: a power of two of nodes).
 */
enum pim_status pim_pattern_check(const struct pim_noc_configuration *noc,
                                  const struct pim_traffic_class *class, struct pim_error *error);
/* The divisor of a node's number into two halves of its bits, which transpose exchanges; 0: the nodes are no
 * even power of two. */
uint32_t pim_pattern_halves(uint32_t nodes);
/* Destination of a packet of `source`; draws from `random` where the pattern is random. */
uint32_t pim_pattern_destination(const struct pim_noc_configuration *noc,
                                 const struct pim_traffic_class *class, uint32_t source,
                                 struct pim_random *random);

struct pim_sources;
/* All flows of a configuration, and the cycle of the next packet. */
enum pim_status pim_sources_create(const struct pim_noc_configuration *noc,
                                   const struct pim_traffic_configuration *configuration,
                                   struct pim_sources **sources, struct pim_error *error);
void pim_sources_destroy(struct pim_sources *sources);
uint64_t pim_sources_next(const struct pim_sources *sources);
/* Takes the next packet: in order of cycle, then of source and flow. Returns the number of its class;
 * flows of a matrix count as one class behind the others. */
uint32_t pim_sources_take(struct pim_sources *sources, struct pim_listed_packet *packet);

/* Fills the links of a result. */
enum pim_status pim_traffic_links(const struct pim_noc *network, struct pim_traffic_result *result,
                                  struct pim_error *error);

#endif
