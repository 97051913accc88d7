/* The exchanges between the branches of a stage. */
#ifndef PIMSIM_MAPPERS_ALLSPARK_INTERACTION_INTERACTION_H
#define PIMSIM_MAPPERS_ALLSPARK_INTERACTION_INTERACTION_H

#include "mappers/allspark/redistribution/exchange.h"

struct pim_interaction {
    bool exists;
    struct pim_exchange exchange[2]; /* before a block, and back after it */
};

/* The exchanges of emitter->stage, with its shifted windows or with its partner: [0] to these, [1] back.
   Free with pim_interaction_terminate. */
void pim_interaction_make(struct pim_emitter *emitter, struct pim_interaction *interaction);
/* Their estimates, when all have their turn again and again: nodes come to an exchange as they left the one
   before, and worked a block since then. */
void pim_interaction_settle(struct pim_emitter *emitter, struct pim_interaction *interaction);
void pim_interaction_terminate(struct pim_interaction *interaction);

/* The phase of one of them, named after block `block` of the network's stage; nothing when there are none. */
void pim_emit_interaction(struct pim_emitter *emitter, const struct pim_interaction *interaction,
                          uint32_t block, bool back);

/* Adds to the estimate what branches of emitter->stage give to each other in all blocks: these exchanges,
   keys and values, and the border of a convolution. */
void pim_estimate_between(struct pim_emitter *emitter);

/* The same for the two stages of CSWin (stripes.c): their exchanges, and the programs of all blocks. */
void pim_stripes_interaction(struct pim_emitter *emitter, struct pim_interaction *interaction);
void pim_stripes_emit(struct pim_emitter *emitter, const struct pim_interaction *interaction);

/* --- keys and values that go between branches before attention (neighbours.c) --- */

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

/* --- what the tokens of a window need of their neighbours in others: the convolution over the map of Twins
 * (border.c) --- */

/* The exchange of emitter->stage; one of no units where no convolution goes over the map, or while nothing is
   placed. A failure is in emitter->status. Free with pim_exchange_terminate. */
void pim_border_make(struct pim_emitter *emitter, struct pim_exchange *exchange);

/* The phase stageS/block0/position_border, of all layers and images; nothing of an exchange of no units. */
void pim_emit_border(struct pim_emitter *emitter, const struct pim_exchange *exchange);

/* Address of the field (layers.h) of the layer and image that are worked. */
uint64_t pim_border_field(const struct pim_emitter *emitter);

#endif
