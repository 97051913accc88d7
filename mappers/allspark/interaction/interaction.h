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
   keys and values (neighbours.h), and the border of a convolution (border.h). */
void pim_estimate_between(struct pim_emitter *emitter);

/* The same for the two stages of CSWin (stripes.c): their exchanges, and the programs of all blocks. */
void pim_stripes_interaction(struct pim_emitter *emitter, struct pim_interaction *interaction);
void pim_stripes_emit(struct pim_emitter *emitter, const struct pim_interaction *interaction);

#endif
