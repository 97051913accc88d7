/*
 * The weights of a step on their way round the ring (sections V-B and VI-C of the paper), piece by piece. A
 * plan that prefetches has room for two pieces: while one is multiplied, the next one goes round.
 */
#ifndef PIMSIM_MAPPERS_ALLSPARK_SHARING_H
#define PIMSIM_MAPPERS_ALLSPARK_SHARING_H

#include "mappers/allspark/steps.h"

/* Pieces of a step's weights on a column; 1 for a step without. */
uint32_t pim_step_pieces(const struct pim_allspark_partition *part, enum pim_step step, uint32_t column);

/* Tags of the messages of a step's weights, and of the piece that goes round behind its products. */
uint32_t pim_sharing_tags(const struct pim_allspark_partition *part, enum pim_step step);

/* Before piece `index` of a step's weights is multiplied: it goes round, unless it did so before. Its place
   is that of the products then. */
void pim_share_piece(struct pim_emitter *emitter, enum pim_step step, uint32_t block, uint32_t index,
                     uint32_t tag);

/* Where the plan prefetches: from now on the piece behind that one goes round, its rounds spread evenly over
   the tiles of the products that follow; at the end, those that are left. `tag`: of the step's weights. */
void pim_prefetch_begin(struct pim_emitter *emitter, enum pim_step step, uint32_t block, uint32_t index,
                        uint32_t tag);
void pim_prefetch_end(struct pim_emitter *emitter);

/* What the weights' rounds add to a step, in cycles: those of pieces that are not there yet, and of the
   others what the products that they go behind do not hide. */
uint64_t pim_estimate_sharing(struct pim_emitter *emitter, enum pim_step step, uint32_t block);

/* The same of all steps and blocks of a layer: all that depends on the ring. */
uint64_t pim_estimate_layer_sharing(struct pim_emitter *emitter);

#endif
