/* Placing the weights of a stage where docs/mappers/allspark.md says they are, for the data-flow tests. */
#ifndef PIMSIM_TESTS_UNIT_ALLSPARK_PLACING_H
#define PIMSIM_TESTS_UNIT_ALLSPARK_PLACING_H

#include "tests/unit/allspark/machine/machine.h"

struct stage_run {
    struct machine *machine;
    const struct pim_allspark_plan *plan;
    const struct pim_allspark_stage *whole;
    const struct pim_allspark_partition *stage; /* its shape: that of every partition */
    uint32_t index, image;
    uint64_t **expected; /* of each branch of the image */
    uint64_t *token;     /* sums over all tokens, or the class token */
};

/* First channel of a column, of `total` that are spread like the channels of the stage; `column` may be v. */
uint32_t spread_before(const struct pim_allspark_partition *stage, uint64_t total, uint32_t column);
/* Classes of a column. */
uint32_t classes_of(const struct stage_run *run, uint32_t column);

/* For each_standing: the weights of all blocks, and those of the classifier. */
void place_weights(void *context, const struct standing *standing);
void place_head(void *context, const struct standing *standing);

#endif
