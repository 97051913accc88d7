/* The network as its equations say, a branch at a time, on the numbers of algebra.h. Knows nothing of
   nodes. */
#ifndef PIMSIM_TESTS_ALLSPARK_REFERENCE_H
#define PIMSIM_TESTS_ALLSPARK_REFERENCE_H

#include "mappers/allspark/allspark.h"

/* The number of the classifier's weights in weight_value(). */
enum { WEIGHT_HEAD = PIM_ALLSPARK_WEIGHTS };

/* The residual stream of a branch after all blocks of a stage: tokens x channels, to be freed. */
uint64_t *reference_stage(const struct pim_allspark_stage *stage, uint32_t index, uint32_t branch);

/* The classes from the one token that is classified. */
void reference_head(const struct pim_allspark_stage *stage, uint32_t index, const uint64_t *token,
                    uint32_t classes, uint64_t *logits);

#endif
