/*
 * Where the nodes of a graph stand on the mesh: patterns, the searches of H. Sun et al. and of J. Liu et al.
 * ("A Novel Scheme to Map Convolutional Networks to Network-on-Chip with Computing-In-Memory Nodes", ISOCC
 * 2020), node groups, and what a mapping is judged by.
 */
#ifndef PIMSIM_MAPPERS_CONFLICT_MAPPING_H
#define PIMSIM_MAPPERS_CONFLICT_MAPPING_H

#include "mappers/conflict/graph.h"
#include "mappers/mapper.h"
#include "mappers/place/place.h"
#include "mappers/search/population.h"

/* X(name, text, what it is) */
#define PIM_TILE_MAPPING_MAP(X)                                                                              \
    X(PIM_TILE_ROW_MAJOR, "row-major", "row by row, as MNSIM 2.0 describes it")                              \
    X(PIM_TILE_SNAKE, "snake", "a square that grows in turns, as the authors run MNSIM 2.0")                 \
    X(PIM_TILE_BOUSTROPHEDON, "boustrophedon", "rows in turns, as the authors run Krishnan and others")      \
    X(PIM_TILE_HEURISTIC, "heuristic", "the evolution of Liu and others: cells sorted by real numbers")      \
    X(PIM_TILE_NODE_GROUP, "node-group", "the authors' search: heavy edges first, a sixth placed anew")      \
    X(PIM_TILE_GROUPS, "groups", "groups by the published rule, anchors searched")                           \
    X(PIM_TILE_CAPPED_GROUPS, "capped-groups", "groups of limited size, anchors searched")                   \
    X(PIM_TILE_NSGA2, "nsga2", "capped groups, latency and time for an image, by NSGA-II")

enum pim_tile_mapping {
#define X(name, text, what) name,
    PIM_TILE_MAPPING_MAP(X)
#undef X
        PIM_TILE_MAPPINGS
};

/* X(name, text) */
#define PIM_TILE_FITNESS_MAP(X)                                                                              \
    X(PIM_TILE_BY_COST, "cost")             /* total communication cost: bits x distance */                  \
    X(PIM_TILE_BY_BOTTLENECK, "bottleneck") /* largest sum of holding times of a link */                     \
    X(PIM_TILE_BY_SIMULATION, "simulation") /* the latency itself */                                         \
    X(PIM_TILE_BY_MLP, "mlp")               /* learned: estimators/estimator.h, in its order */              \
    X(PIM_TILE_BY_MLP_CONFLICTS, "mlp-conflicts")                                                            \
    X(PIM_TILE_BY_GCN, "gcn")

enum pim_tile_fitness {
#define X(name, text) name,
    PIM_TILE_FITNESS_MAP(X)
#undef X
        PIM_TILE_FITNESSES
};

const char *pim_tile_mapping_name(unsigned mapping);
const char *pim_tile_mapping_text(unsigned mapping);
const char *pim_tile_fitness_name(unsigned fitness);

/*
 * Simulates a mapping as the `run` of pim_mapper_tiles does (mappers/mapper.h), with INFINITY in both for one
 * that cannot run (a deadlock). Given by whoever has a simulator, as mappers include none.
 */
typedef enum pim_status pim_tile_simulate(void *context, const uint32_t *place,
                                          const struct pim_tile_limits *limits, double *latency_ns,
                                          double *interval_ns, struct pim_error *error);

/* A mapping of the last population that was simulated. */
struct pim_tile_finalist {
    uint32_t rank;             /* by fitness, from 0; those of the start come behind the others */
    uint64_t cost, bottleneck; /* as in the result */
    double latency_ns, interval_ns;
    const uint32_t *place; /* of each node */
};

struct pim_tile_estimator;
struct pim_tile_setting;

struct pim_tile_mapping_options {
    enum pim_tile_mapping mapping;
    enum pim_tile_fitness fitness; /* other than cost: the search starts from one by cost */
    struct pim_grid grid;
    uint32_t population;  /* 200 */
    uint32_t generations; /* 300 */
    uint32_t group_most;  /* nodes of a capped group; 0: a sixteenth of the nodes, rounded up */
    /* Of the last population that are simulated in the end, and as many of the search by cost that one by
       neither cost nor simulation starts from; 0: none. */
    uint32_t finalists;
    uint32_t refinement; /* simulations of local moves on the fastest of them; 0: none */
    uint32_t searches;   /* with seeds of their own, where finalists are simulated; 0: one */
    uint32_t images;     /* of which the time for an image is found, on the mapping that is taken; 0: one */
    uint64_t seed;
    unsigned threads;
    double seconds;              /* of wall clock, for all of it; 0: without limit */
    bool (*stop)(void *context); /* by several threads at once; true for good */
    void *stop_context;
    void (*progress)(void *context, uint64_t steps, double best);
    void *progress_context;
    void (*finalist)(void *context, const struct pim_tile_finalist *finalist); /* told of each; or NULL */
    void *finalist_context;
    pim_tile_simulate *simulate; /* NULL: there is no simulator */
    void *simulate_context;
    /* Replays all images on the mapping that is taken, once, with or without a simulator; their end / images,
       as `simulate` has it. NULL: only `simulate` is asked. */
    enum pim_status (*judge)(void *context, const uint32_t *place, const struct pim_tile_limits *limits,
                             double *interval_ns, struct pim_error *error);
    void *judge_context;
    /* Of a learned fitness: of its kind, and made for this graph and mesh; else NULL. */
    const struct pim_tile_estimator *estimator;
    const struct pim_tile_setting *setting;
};

struct pim_tile_mapping_result {
    struct pim_search_result search; /* steps and scores of all searches; of patterns: all 0 */
    bool searched;
    uint32_t searches;       /* that were made */
    uint32_t groups;         /* 0: there are none */
    double space;            /* decimal logarithm of the number of mappings that the search may meet */
    uint64_t cost;           /* bits x distance, of an image */
    uint64_t bottleneck;     /* bits x distance of all packets through the worst link */
    double latency_ns;       /* simulated; NAN: was not */
    double interval_ns;      /* time for an image; NAN: was not simulated */
    const char *ended_early; /* pim_search_end_cause(); NULL: it did not */
    bool stopped;            /* by `stop` or the end of the time, before a simulation of it had ended */
    uint32_t finalists;      /* that were simulated */
    uint64_t refined;        /* simulations of local moves behind them */
    uint32_t front;          /* NSGA-II: mappings that none of the population beats in both objectives */
};

/*
 * Makes a mapping: place[node] is a cell of the grid. PIM_BAD_INPUT when the nodes are more than the cells
 * (the message says how many), options are out of range or ask for a simulator that is not there;
 * PIM_NO_MEMORY; errors of the simulator.
 */
enum pim_status pim_tile_map(const struct pim_tile_graph *graph,
                             const struct pim_tile_mapping_options *options, uint32_t *place,
                             struct pim_tile_mapping_result *result, struct pim_error *error);

/* --- the parts --- */

enum { PIM_TILE_STARTS = 4 };

/* The latency beyond which no child gets among the first `survivors` of a sorted population; INFINITY where
 * twins stand among them, whose places any child takes. */
double pim_tile_limit(const struct pim_population *population, uint32_t survivors);

/* The indices of the lowest latencies, lowest first; returns how many there are. */
uint32_t pim_tile_fastest(const double *latency, uint32_t count, uint32_t first[PIM_TILE_STARTS]);

/* When everything has to end. */
struct pim_tile_deadline {
    const struct pim_tile_mapping_options *options;
    struct pim_search_limit limit;
};

/* Simulates what has been found, latency and time for an image; when time is over, as much as takes the
 * moment that a user waits behind Ctrl-C: NAN beyond. */
enum pim_status pim_tile_simulate_found(struct pim_tile_deadline *deadline, const uint32_t *place,
                                        double *latency_ns, double *interval_ns, struct pim_error *error);

/* The same for `judge`. A single image is replayed to its end also when time is over; `stop` ends it. */
enum pim_status pim_tile_judge_found(struct pim_tile_deadline *deadline, const uint32_t *place,
                                     double *interval_ns, struct pim_error *error);

/* Local moves on `count` mappings, the places of one behind the other, the fastest first (refine.c); `place`
 * and the latency of `result`, which are those of the first, become those of the fastest. */
enum pim_status pim_tile_refine(const struct pim_tile_graph *graph, struct pim_tile_deadline *deadline,
                                const uint32_t *starts, uint32_t count, uint32_t *place,
                                struct pim_tile_mapping_result *result, struct pim_error *error);

uint64_t pim_tile_digest(const uint32_t *place, uint32_t nodes);

/* The traffic of an image, edge by edge. */
struct pim_flow *pim_tile_flows(const struct pim_tile_graph *graph);

/* Patterns (patterns.c); `nodes` at most the cells. */
void pim_tile_pattern(enum pim_tile_mapping pattern, const struct pim_grid *grid, uint32_t nodes,
                      uint32_t *place);

/* Groups of nodes (groups.c): group[n] of each node, and their number. Edges come by traffic descending, then
 * by their ends. A node without edges is a group of its own. `most` 0: without limit. */
enum pim_status pim_tile_group(const struct pim_tile_graph *graph, uint32_t most, uint32_t *group,
                               uint32_t *groups, struct pim_error *error);

/* Decimal logarithm of cells! / (cells - things)!. */
double pim_tile_space(uint32_t cells, uint32_t things);

/* A search as mappers/search knows it, with what it needs; made by the three functions below. */
struct pim_tile_problem {
    const struct pim_tile_graph *graph;
    const struct pim_tile_mapping_options *options;
    struct pim_flow *flows;
    uint32_t cells;
    struct pim_search_problem search;
    /* The places of an individual. */
    const uint32_t *(*places)(const struct pim_tile_problem *problem, const void *data);
    pim_population_breed *breed;      /* or NULL */
    uint32_t *order;                  /* edges by traffic */
    uint32_t *group, groups, *member; /* members of group g: member[first[g]] to member[first[g + 1] - 1] */
    uint32_t *first;
    int32_t *offset; /* of each node in its group: row, column */
};

void pim_tile_heuristic_problem(struct pim_tile_problem *problem);  /* heuristic.c */
void pim_tile_node_group_problem(struct pim_tile_problem *problem); /* node_group.c */
enum pim_status pim_tile_groups_problem(struct pim_tile_problem *problem, uint32_t most,
                                        struct pim_error *error); /* anchors.c */

/* The edges by traffic descending, then by source and destination; from malloc, NULL when memory is out. */
uint32_t *pim_tile_heavy_edges(const struct pim_tile_graph *graph);

#endif
