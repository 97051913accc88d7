/*
 * The network as its equations say, stage by stage, on the numbers of check/numbers.h. Knows nothing of
 * nodes. A stage begins with the inputs of its merging, as the mapping does (docs/mappers/allspark.md, "What
 * is left out").
 */
#ifndef PIMSIM_MAPPERS_ALLSPARK_CHECK_NETWORK_REFERENCE_H
#define PIMSIM_MAPPERS_ALLSPARK_CHECK_NETWORK_REFERENCE_H

#include "mappers/allspark/allspark.h"

/* What an image is at the end of a stage. */
struct reference {
    uint32_t branches, tokens, channels;
    uint16_t **branch; /* the residual streams of all branches: tokens x channels */
    uint16_t *token;   /* that is classified: sums over all tokens, or the class token */
    void *memory;      /* of both */
};

/*
 * Stage `index` of the plan behind all of its blocks. Where two stages of the plan work the same blocks,
 * `index` is the second one, and of CSWin the first, which has the features. PIM_NO_MEMORY. To be given back
 * in any case.
 */
enum pim_status reference_stage(const struct pim_allspark_plan *plan, uint32_t index, uint32_t image,
                                struct reference *reference, struct pim_error *error);
void reference_terminate(struct reference *reference);

/* The number of the classifier's weights in weight_matrix(). */
enum { WEIGHT_HEAD = PIM_ALLSPARK_WEIGHTS };

/* Adds the classes that the token of the last stage has to `logits`, which are 0. */
void reference_head(const struct pim_allspark_plan *plan, uint32_t index, const struct reference *reference,
                    uint16_t *logits);

#endif
