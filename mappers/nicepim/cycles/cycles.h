/*
 * Hamilton cycles of all sharing sets at once (NicePIM, section VII, corrected as
 * docs/mappers/nicepim-cycles.md says).
 *
 * The nodes of a sharing set hold a piece of some data each, and every node needs all of them: each sends
 * what it received last to the next node on a cycle through the set, n - 1 times. An arc from a to b loads
 * every link of its route with the weight of its set (bytes of a piece, in any unit). Routes are
 * dimension-ordered: along the row to the column of the target, then along the column. Links are directed;
 * those between router and node are not counted.
 *
 * The schedule minimises the largest load of a link, and among those the weighted hops. A cycle never holds
 * an arc from a node to itself, except that of a set of one node, which has no arcs.
 */
#ifndef PIMSIM_MAPPERS_NICEPIM_CYCLES_CYCLES_H
#define PIMSIM_MAPPERS_NICEPIM_CYCLES_CYCLES_H

#include "sim/output/json.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    PIM_SHARING_SIDE = 32,       /* rows and columns of the largest mesh */
    PIM_SHARING_MEMBERS = 65536, /* members of all sets together */
    PIM_SHARING_WEIGHT = 1 << 24
};

/* Members of set s are node[start[s]] .. node[start[s + 1] - 1]; a node is row * columns + column. */
struct pim_sharing {
    uint32_t rows, columns;
    size_t set_count;
    size_t *start;
    uint32_t *node;
    uint64_t *weight; /* of each set, 1 to PIM_SHARING_WEIGHT */
};

/*
 * Reads {"rows", "cols", "sets": [[[row, column], ...], ...], "weights": [...]}; weights may be missing (all
 * 1), other keys are ignored. Every set has a node at least and no node twice. Errors name the set.
 */
enum pim_status pim_sharing_read(const json_t *root, struct pim_sharing *sharing, struct pim_error *error);
void pim_sharing_terminate(struct pim_sharing *sharing);

/* What a load or a number of hops is known to be a bound by. */
enum pim_cycles_proof {
    PIM_CYCLES_TRIVIAL,   /* load: the largest weight */
    PIM_CYCLES_COUNT,     /* load: least weighted hops over the number of links */
    PIM_CYCLES_RECTANGLE, /* load: what must leave a rectangle over the links that leave it */
    PIM_CYCLES_TOURS,     /* hops: shortest tours of every set (a lower bound of them for large sets) */
    PIM_CYCLES_UNSAT      /* a solver found that nothing less exists */
};
const char *pim_cycles_proof_name(enum pim_cycles_proof proof);

struct pim_cycles {
    uint32_t *order; /* members of set s in cycle order at order[start[s]] .., as indices into the set */
    uint64_t max_load, hops;
    uint64_t load_bound, hops_bound; /* never above the best; hops_bound is for the load that was found */
    enum pim_cycles_proof load_proof, hops_proof;
};
void pim_cycles_terminate(struct pim_cycles *cycles);

/* Largest load and weighted hops of the orders given. */
void pim_cycles_evaluate(const struct pim_sharing *sharing, const uint32_t *order, uint64_t *max_load,
                         uint64_t *hops);

/* PIM_BAD_INPUT when an order is not a permutation of the members of its set. */
enum pim_status pim_cycles_check(const struct pim_sharing *sharing, const uint32_t *order,
                                 struct pim_error *error);

struct pim_cycles_options {
    uint64_t seed;
    uint64_t steps;          /* moves of the annealing altogether */
    const char *solver;      /* "auto": the first installed; "none"; or a name of pim_cycles_solvers */
    uint64_t conflict_limit; /* of each question to the solver */
    uint32_t rounds;         /* questions to the solver at most */
    /* Asked now and then while something is left to do; true, and then for good: the best so far is taken.
       NULL: never. */
    bool (*stop)(void *context);
    void *stop_context;
};
struct pim_cycles_options pim_cycles_defaults(void);

/*
 * The best cycles found, with what is known of them. The same on every machine for the same options
 * (without a stop), and with a solver for the same solver. PIM_BAD_INPUT: a solver that is named is not
 * installed or is not known.
 */
enum pim_status pim_cycles_solve(const struct pim_sharing *sharing, const struct pim_cycles_options *options,
                                 struct pim_cycles *cycles, struct pim_error *error);

/*
 * The schedule of DDAM that the paper holds its own against: each set alone on a shortest tour, whatever
 * links others load, and the same tour in all sets that lie alike. Of the options seed and stop count. Bounds
 * are not filled.
 */
enum pim_status pim_cycles_shortest_tours(const struct pim_sharing *sharing,
                                          const struct pim_cycles_options *options, struct pim_cycles *cycles,
                                          struct pim_error *error);

#endif
