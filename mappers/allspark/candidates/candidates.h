/* What a stage may choose from: partitions with their costs, as the scheduler takes them. */
#ifndef PIMSIM_MAPPERS_ALLSPARK_CANDIDATES_CANDIDATES_H
#define PIMSIM_MAPPERS_ALLSPARK_CANDIDATES_CANDIDATES_H

#include "mappers/allspark/emitter.h"

/*
 * A candidate of the schedule is one or more partitions: partition[first] and `count` - 1 after it. One whose
 * `layers` is 0 has as many as the schedule says; an explicit plan has them set, and all of them are one
 * layer of the schedule.
 */
struct pim_candidate {
    uint32_t first, count;
};

struct pim_candidates {
    struct pim_candidate *items; /* in the order of the schedule's candidates */
    uint32_t count, partitions;
    struct pim_allspark_partition *partition;
    size_t capacity, partition_capacity; /* of both lists */
};

/*
 * Fills the candidates of stage `index` of a plan whose stages have their shapes, and the stage of the
 * problem. PIM_BAD_INPUT: there is none; the message says why.
 */
enum pim_status pim_candidates_collect(const struct pim_allspark_plan *plan,
                                       const struct pim_allspark_options *options, uint32_t index,
                                       struct pim_candidates *candidates, struct pim_schedule_stage *problem,
                                       struct pim_error *error);
void pim_candidates_terminate(struct pim_candidates *candidates);

/* --- the candidates of one stage while they are collected (candidates.c, given.c) --- */

struct pim_collection {
    const struct pim_allspark_plan *plan;
    const struct pim_allspark_options *options;
    uint32_t index; /* of the stage */
    struct pim_candidates *candidates;
    struct pim_schedule_stage *problem;
    struct pim_emitter emitter;
    struct pim_allspark_partition whole; /* the copy that others reuse; u is 0: there is none */
    struct pim_error *error;
};

static inline const struct pim_allspark_partition *
pim_collection_shape(const struct pim_collection *collection)
{
    return &collection->plan->stage[collection->index].partition[0];
}

/* Longest side of a sub-array: the longer side of the array, since sub-arrays may be turned. */
uint32_t pim_collection_longest(const struct pim_allspark_plan *plan);

/* u, v, ring, chunks and blocks of rows of a partition; false when a group does not fit the array. */
bool pim_collection_partition(const struct pim_collection *collection, uint32_t u, uint32_t v, uint32_t ring,
                              uint32_t chunks, uint32_t row_blocks, struct pim_allspark_partition *part);

/* Cycles of one layer over all blocks. Fails with the reason, a product without a tile. */
enum pim_status pim_collection_estimate(struct pim_collection *collection,
                                        const struct pim_allspark_partition *part, uint64_t *cycles);

/* What a partition costs; `head`: it has the classifier. `cycles`: those of a layer without pooling. */
enum pim_status pim_collection_cost(struct pim_collection *collection, struct pim_allspark_partition *part,
                                    bool head, uint64_t cycles, struct pim_schedule_candidate *cost);

/* Adds a candidate of `count` partitions. */
enum pim_status pim_collection_append(struct pim_collection *collection,
                                      const struct pim_schedule_candidate *cost,
                                      const struct pim_allspark_partition *partition, uint32_t count);

/* The given partitions, and those of baselines (given.c). PIM_BAD_INPUT where they do not fit. */
enum pim_status pim_collection_add_given(struct pim_collection *collection);

#endif
