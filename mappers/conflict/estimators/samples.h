/*
 * Mappings with their simulated latencies, population by population: what estimators are trained on and
 * judged by. There are three sorts of populations: the converged ones of the two evolutions that search by
 * cost, and the random start of the authors' own.
 *
 * Population p of a sort is drawn with a seed of its own that comes from the set's seed, p and the sort, so
 * that a set with another seed shares nothing with it.
 */
#ifndef PIMSIM_MAPPERS_CONFLICT_ESTIMATORS_SAMPLES_H
#define PIMSIM_MAPPERS_CONFLICT_ESTIMATORS_SAMPLES_H

#include "mappers/conflict/mapping.h"

/* X(name, text, mapping, converged) */
#define PIM_TILE_SORT_MAP(X)                                                                                 \
    X(PIM_TILE_CONVERGED_HEURISTIC, "heuristic, converged", PIM_TILE_HEURISTIC, true)                        \
    X(PIM_TILE_CONVERGED_NODE_GROUP, "node-group, converged", PIM_TILE_NODE_GROUP, true)                     \
    X(PIM_TILE_RANDOM_NODE_GROUP, "node-group, random", PIM_TILE_NODE_GROUP, false)

enum pim_tile_sort {
#define X(name, text, mapping, converged) name,
    PIM_TILE_SORT_MAP(X)
#undef X
        PIM_TILE_SORTS
};

const char *pim_tile_sort_name(unsigned sort);

enum { PIM_TILE_POPULATIONS = 1000 }; /* of a sort, at most */

/* Mappings first to first + count - 1 of the set; those on which the graph stands still are left out. */
struct pim_tile_population {
    enum pim_tile_sort sort;
    uint64_t seed;
    uint64_t generations;
    uint32_t first, count, still; /* still: left out */
};

struct pim_tile_samples {
    uint32_t nodes;
    uint32_t populations; /* those of number 0 of all sorts first, then those of number 1, .. */
    struct pim_tile_population *population;
    uint32_t count, room;
    uint32_t *place; /* count x nodes */
    double *latency_ns;
    uint64_t *cost, *bottleneck;
};

/*
 * Draws populations `first` to `last` - 1 of every sort. Of `options` the mesh, the size of a population, the
 * generations of the converged ones, the seed, threads, stop and simulator are looked at. PIM_BAD_INPUT when
 * it was stopped, or without a simulator; errors of the mapping. pim_tile_samples_terminate() in every case.
 */
enum pim_status pim_tile_samples_draw(struct pim_tile_samples *samples, const struct pim_tile_graph *graph,
                                      const struct pim_tile_mapping_options *options, uint32_t first,
                                      uint32_t last, struct pim_error *error);
void pim_tile_samples_terminate(struct pim_tile_samples *samples);

#endif
