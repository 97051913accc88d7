/*
 * What the parts of one mapping share: its problem and scores (scoring.c), the end of a search (finalists.c),
 * and the searches one after the other (map.c).
 */
#ifndef PIMSIM_MAPPERS_CONFLICT_SEARCH_RUN_H
#define PIMSIM_MAPPERS_CONFLICT_SEARCH_RUN_H

#include "mappers/conflict/mapping.h"

/* Link loads of a thread stand behind the room of the mapping. */
struct pim_tile_run {
    struct pim_tile_problem problem;
    const struct pim_tile_mapping_options *options;
    size_t load_at, estimation_at; /* in a thread's scratch */
    uint32_t *place;
    struct pim_tile_mapping_result *result;
    struct pim_tile_deadline deadline;
    bool chosen; /* time was over before the search itself */
    /* of the finalists */
    uint32_t finalists; /* of the last population; the others are seeds */
    double *latency, *interval;
    enum pim_status *status;
    struct pim_error *errors;
    struct pim_population *population;
    uint32_t *first; /* places of the fastest of all searches, one mapping behind the other */
    uint32_t firsts;
    double first_latency[PIM_TILE_STARTS];
    double limit; /* no child that is slower survives */
    /* A search by anything but cost starts from the survivors of a search by cost, one by simulation from the
     * fastest finalists of several. */
    enum pim_tile_fitness fitness; /* of the search that goes on */
    uint32_t share;                /* of the seeds that each search gives; 0: it is no search for seeds */
    uint32_t seeds;
    unsigned char *seed;
};

/* Makes the problem, whose context is the run; graph, flows and cells are there. PIM_BAD_INPUT,
 * PIM_NO_MEMORY. */
enum pim_status pim_tile_run_problem(struct pim_tile_run *run, struct pim_error *error);

/* What a mapping costs, whatever it was searched by: bits x distance, of all edges and through the worst
 * link. PIM_NO_MEMORY. */
enum pim_status pim_tile_run_judge(const struct pim_tile_run *run, const uint32_t *place, uint64_t *cost,
                                   uint64_t *bottleneck, struct pim_error *error);

static inline bool pim_tile_run_is_over(struct pim_tile_run *run)
{
    return pim_search_limit_over(&run->deadline.limit);
}

/* The best of the last population by fitness, or by simulation of the first `finalists`; `context` is the
 * run. What is faster than all before becomes its places. PIM_NO_MEMORY; errors of the simulator. */
enum pim_status pim_tile_run_choose(void *context, struct pim_population *population,
                                    struct pim_error *error);

#endif
