/* Focal: the pooled token of a window, and which keys of other windows it needs. */
#ifndef PIMSIM_MAPPERS_ALLSPARK_LAYERS_FOCAL_H
#define PIMSIM_MAPPERS_ALLSPARK_LAYERS_FOCAL_H

#include "mappers/allspark/emitter.h"

/*
 * The product of the pooling on a node, a 1 x p row of weights times its normalised tokens; then the last row
 * of the sub-array adds up what the rows have, and puts it behind its own tokens. The message of row r has
 * tag `tag` + r.
 */
void pim_emit_pool(struct pim_emitter *emitter, uint32_t block, uint32_t tag);
void pim_estimate_pool(struct pim_emitter *emitter, uint32_t block, struct pim_trace_phase *phase);

/* One beyond the border. */
#define PIM_ZERO_KEY UINT32_MAX

/* The keys of branch b that are not its own tokens, key_tokens - tokens of them. Tokens of a branch are
   numbered branch * (N + 1) + token, the pooled one has token N; branches go on from image to image. */
void pim_focal_others(const struct pim_allspark_partition *part, uint32_t b, uint32_t *others);

#endif
