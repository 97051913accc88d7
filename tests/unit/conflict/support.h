/* What the tests of the replay share: golden graphs, rows of golden results, graphs from text. */
#ifndef PIMSIM_TESTS_UNIT_CONFLICT_SUPPORT_H
#define PIMSIM_TESTS_UNIT_CONFLICT_SUPPORT_H

#include "models/conflict/conflict.h"

/* A row of results_replay_matrix.csv or saf_hop_by_hop.csv. */
struct golden_row {
    char net[32], mapping[32], schedule[40];
    uint32_t images;
    double end_ns;
    bool detailed; /* the columns below are there (results_replay_matrix.csv) */
    double first_latency_ns, average_latency_ns, interval_ns, utilization_all, utilization_used,
        utilization_maximum;
    uint32_t links_used, links_below_tenth;
    uint64_t bit_hops, distance_bit_hops, time_points;
};

/* Reads all rows; the caller frees them. Ends the test when the file is damaged. */
struct golden_row *read_golden(const char *file, size_t *count);

/* A golden net with its placement. */
struct golden_net {
    struct pim_task_graph *graph;
    uint32_t *placement;
};
void load_net(struct golden_net *net, const char *name, const char *mapping,
              const struct pim_conflict_mesh *mesh);
void unload_net(struct golden_net *net);

/* Options for a schedule of the golden files: xy_fixed, table_balance, ideal, saf_halfdup_balance ... */
struct pim_conflict_options golden_options(const struct golden_row *row);

/* Replays a row and compares every column of it; bit for bit where the file has all digits. */
void check_golden_row(const struct golden_row *row);

/* A graph from CSV texts; `deps` or `layers` may be NULL. */
enum pim_status graph_from_text(const char *nodes, const char *edges, const char *deps, const char *layers,
                                struct pim_task_graph **graph, struct pim_error *error);

/* A graph of a few nodes that is built step by step. */
struct small_edge {
    uint32_t source, destination;
    uint64_t bits;
    const uint32_t *need, *drop; /* by step of the destination; NULL: step s needs s + 1 and frees 1 */
};
struct pim_task_graph *small_graph(uint32_t nodes, const uint32_t *steps, const double *const *latency_ns,
                                   uint32_t edges, const struct small_edge *edge);

#endif
