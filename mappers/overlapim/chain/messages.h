/*
 * What layers hand to each other: the rows of a layer, and the messages of a link. Decided here once: the
 * programs send them, and the times of a chain (times.h) count them.
 *
 * A row is a step of all banks; transformed, a row of the sorted data spaces. A producer sends a message for
 * each row of its consumer that needs more of its rows than the rows before: all that has become final since
 * the message before.
 */
#ifndef PIMSIM_MAPPERS_OVERLAPIM_CHAIN_MESSAGES_H
#define PIMSIM_MAPPERS_OVERLAPIM_CHAIN_MESSAGES_H

#include "mappers/overlapim/chain/intake.h"

struct pim_layer_message {
    uint64_t row;  /* of the consumer, the first that waits for it */
    uint64_t rows; /* of the producer, that must have ended */
    uint64_t data; /* rows of each bank, from a channel of the producer to one of the consumer */
};

/* A link, as its producer sends it. */
struct pim_layer_flow {
    uint32_t producer, consumer, link;
    bool ends;      /* all of it is handed over when the producer has ended (emit/ends.h) */
    uint64_t count; /* of messages; 0: a row needs nothing */
    struct pim_layer_message *message;
};

struct pim_messages {
    uint64_t *rows; /* by layer */
    uint32_t flows;
    struct pim_layer_flow *flow; /* by consumer, then link */
};

/* Of layers with these mappings, in lock step or transformed, linked as in `layers`. The schedules of these
 * decide the order of data spaces that are transformed. `ends`: layers hand over at their ends where
 * pim_intake_at_end(). pim_messages_terminate() frees what there is, after a failure too. */
enum pim_status pim_messages_make(const struct pim_search_inputs *inputs,
                                  const struct pim_layer_mapping *mappings, bool transformed, bool ends,
                                  struct pim_overlap_layer *layers, const struct pim_schedule *schedules,
                                  struct pim_messages *messages, struct pim_error *error);
void pim_messages_terminate(struct pim_messages *messages);

#endif
