/* All figures of one layer of a case, behind the schedules of the layers before it. */
#ifndef PIMSIM_MAPPERS_OVERLAPIM_ANALYSIS_EVALUATE_H
#define PIMSIM_MAPPERS_OVERLAPIM_ANALYSIS_EVALUATE_H

#include "mappers/overlapim/analysis/case/case.h"

struct pim_overlap_evaluation {
    uint64_t sequential;                      /* of a pair: producer, transfer, consumer */
    uint64_t lockstep, per_bank, transformed; /* end of the layer and of its producers */
    uint64_t data_spaces;
    uint64_t moved;           /* partial sums the transformation moves, in output tiles (with lists) */
    struct pim_ready *list;   /* by step and bank; NULL: not asked for */
    struct pim_ready *sorted; /* in transformed order */
    struct pim_ready *ends;   /* by step and bank, `ready` is the end in the layer's own schedule */
    uint64_t *step_ready, *step_end;
    struct pim_schedule schedule; /* borrowed: a copy of the entry of `schedules` */
};
void pim_evaluation_terminate(struct pim_overlap_evaluation *evaluation);

struct pim_evaluate_options {
    bool lists, exhaustive;
    bool read_later; /* a later layer reads it: the schedule is needed, not its end alone */
};

/*
 * Evaluates layer `index` and puts its schedule into schedules[index], which the caller terminates. With
 * `exhaustive` every ready time is found by comparison as well; PIM_INTERNAL if one differs.
 */
enum pim_status pim_evaluate(const struct pim_case *kase, uint32_t index, struct pim_schedule *schedules,
                             const struct pim_evaluate_options *options,
                             struct pim_overlap_evaluation *evaluation, struct pim_error *error);

/* All layers one after the other, each behind its longest transfer. */
uint64_t pim_evaluation_sequential(const struct pim_case *kase);

#endif
