/* What the parts of the cycle scheduler share. */
#ifndef PIMSIM_MAPPERS_NICEPIM_CYCLES_INTERNAL_H
#define PIMSIM_MAPPERS_NICEPIM_CYCLES_INTERNAL_H

#include "mappers/nicepim/cycles/cycles.h"

/* Whether to end with the best so far; asked only while something is left to do. */
static inline bool cycles_stopped(const struct pim_cycles_options *options)
{
    return options->stop && options->stop(options->stop_context);
}

/* Links of a node, by the direction they lead to. */
enum { LINK_EAST, LINK_WEST, LINK_SOUTH, LINK_NORTH, LINK_DIRECTIONS };

static inline uint32_t sharing_nodes(const struct pim_sharing *sharing)
{
    return sharing->rows * sharing->columns;
}

static inline uint32_t sharing_distance(const struct pim_sharing *sharing, uint32_t a, uint32_t b)
{
    uint32_t columns = sharing->columns;
    uint32_t ra = a / columns, rb = b / columns, ca = a % columns, cb = b % columns;
    return (ra > rb ? ra - rb : rb - ra) + (ca > cb ? ca - cb : cb - ca);
}

/* The links of the route from a to b into `links` (room for rows + columns); gives their number. A link is
 * node * LINK_DIRECTIONS + direction. */
uint32_t sharing_route(const struct pim_sharing *sharing, uint32_t a, uint32_t b, uint32_t *links);

/* Directed links of the mesh. */
uint64_t sharing_links(const struct pim_sharing *sharing);

/* Whether the members of both sets lie alike, in the order they are listed. */
bool sharing_alike(const struct pim_sharing *sharing, size_t a, size_t b);

/* --- bounds --- */

/* A lower bound of the length of the shortest tour of each set (exact up to 13 members), into `tours`. */
enum pim_status sharing_tours(const struct pim_sharing *sharing, uint64_t *tours, struct pim_error *error);
/* The weighted sum. */
uint64_t sharing_tours_sum(const struct pim_sharing *sharing, const uint64_t *tours);
/* A lower bound of the largest load from the least weighted hops. */
enum pim_status sharing_load_bound(const struct pim_sharing *sharing, uint64_t hops, uint64_t *bound,
                                   enum pim_cycles_proof *proof, struct pim_error *error);

/* --- construction --- */

/* Replaces the order of every set that is a grid by a shortest tour, so that the loads of links are level. */
enum pim_status construct_order(const struct pim_sharing *sharing, uint32_t *order, struct pim_error *error);

/* --- annealing --- */

struct anneal {
    const struct pim_sharing *sharing;
    const struct pim_cycles_options *asked; /* whether to stop */
    uint64_t seed, steps;
    uint64_t load;       /* K: load above it is paid for */
    uint64_t hops_bound; /* stop here */
    double hot, cold;    /* temperatures in units of the mean weight */
};

/*
 * Improves `order` in place: among cycles of load <= K those of least hops, or else those of least load.
 * `*reached` says whether K was. Gives PIM_NO_MEMORY or PIM_OK.
 */
enum pim_status anneal_run(const struct anneal *anneal, uint32_t *order, bool *reached,
                           struct pim_error *error);

/* --- proof --- */

struct sat_solver;

/* The solver by name, or the first installed one for "auto"; NULL in `*solver` when none is to be used. */
enum pim_status sat_find(const char *name, const struct sat_solver **solver, struct pim_error *error);

enum sat_answer { SAT_FOUND, SAT_NONE, SAT_UNKNOWN };

/* Whether cycles of load <= `load` and weighted hops <= `hops` (UINT64_MAX: any) exist; SAT_FOUND fills
 * `order`. `*rounds` falls with every question. */
enum pim_status sat_decide(const struct pim_sharing *sharing, const struct sat_solver *solver,
                           const struct pim_cycles_options *asked, uint32_t *rounds, uint64_t load,
                           uint64_t hops, enum sat_answer *answer, uint32_t *order, struct pim_error *error);

#endif
