/* Focal: the pooled token of a window, and keys and values that go to other windows. */
#ifndef PIMSIM_MAPPERS_ALLSPARK_FOCAL_H
#define PIMSIM_MAPPERS_ALLSPARK_FOCAL_H

#include "mappers/allspark/exchange.h"

/*
 * The product of the pooling on a node, a 1 x p row of weights times its normalised tokens; then the last row
 * of the sub-array adds up what the rows have, and puts it behind its own tokens. The message of row r has
 * tag `tag` + r.
 */
void pim_emit_pool(struct pim_emitter *emitter, uint32_t block, uint32_t tag);
void pim_estimate_pool(struct pim_emitter *emitter, uint32_t block, struct pim_trace_phase *phase);

/* Keys and values beyond the border on a unit: `bytes` zeros to be copied to both, in each image; 0: it has
   none. */
struct pim_focal_fill {
    uint64_t from, keys, values, bytes;
    uint64_t image_stride; /* from those of an image to those of the next */
};

/* What brings keys and values to the branches of a temporal layer. */
struct pim_neighbour_layer {
    struct pim_exchange exchange;
    struct pim_focal_fill *fills; /* of each unit */
    uint64_t estimate[PIM_ESTIMATE_PARTS];
};

struct pim_neighbours {
    uint32_t layers; /* 0: the stage has no such exchanges */
    struct pim_neighbour_layer *layer;
};

/* The exchanges of emitter->stage; none for other families, or while nothing is placed. A failure is in
   emitter->status. Free with pim_neighbours_terminate. */
void pim_neighbours_make(struct pim_emitter *emitter, struct pim_neighbours *neighbours);
void pim_neighbours_terminate(struct pim_neighbours *neighbours);

/* The phase stageS/blockB/layerL/neighbours of emitter->layer of emitter->part. */
void pim_emit_neighbours(struct pim_emitter *emitter, const struct pim_neighbours *neighbours,
                         uint32_t block);
/* Adds what all of them take, in all blocks, to the estimate. */
void pim_estimate_neighbours(struct pim_emitter *emitter, const struct pim_neighbours *neighbours);

#endif
