/* Keys and values that go between branches before attention. */
#ifndef PIMSIM_MAPPERS_ALLSPARK_INTERACTION_NEIGHBOURS_H
#define PIMSIM_MAPPERS_ALLSPARK_INTERACTION_NEIGHBOURS_H

#include "mappers/allspark/redistribution/exchange.h"

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
