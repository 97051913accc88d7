/* The two forms of the integer programme, and the way back to layers. */
#ifndef PIMSIM_MAPPERS_ALLSPARK_SCHEDULE_ILP_H
#define PIMSIM_MAPPERS_ALLSPARK_SCHEDULE_ILP_H

#include "mappers/allspark/schedule/schedule.h"
#include "mappers/search/integer/mps.h"

struct pim_ilp_model {
    enum pim_schedule_form form;
    struct pim_mps mps;
    uint32_t first[PIM_SCHEDULE_STAGES]; /* column of each stage */
};

/* False when memory is out; the model's mps is to be terminated in any case. */
bool pim_ilp_counts(const struct pim_schedule_problem *problem, struct pim_ilp_model *model);
bool pim_ilp_literal(const struct pim_schedule_problem *problem, struct pim_ilp_model *model);

/* Adds the layers that the values of the columns stand for. */
void pim_ilp_layers(const struct pim_schedule_problem *problem, const struct pim_ilp_model *model,
                    const int64_t *values, struct pim_schedule_solution *solution);

#endif
