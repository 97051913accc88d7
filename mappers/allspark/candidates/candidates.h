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

#endif
