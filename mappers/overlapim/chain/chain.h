/*
 * Layers of a mapped network, each behind all its producers (skip connections included) and the layer that
 * had its channels before, as the overlap analysis has them: with messages in the mean, all of a link the
 * same.
 */
#ifndef PIMSIM_MAPPERS_OVERLAPIM_CHAIN_CHAIN_H
#define PIMSIM_MAPPERS_OVERLAPIM_CHAIN_CHAIN_H

#include "mappers/overlapim/chain/messages.h"

struct pim_overlap_chain_layer {
    uint64_t start; /* the first of its inputs is ready, or its channels are free */
    uint64_t end;
    uint64_t left;  /* its last outputs have been sent to all that read them */
    uint64_t moved; /* transformed: partial sums on further banks, in output tiles */
};

struct pim_chain {
    uint64_t sequential;                   /* layer after layer, each behind its transfer */
    uint64_t end;                          /* overlapped */
    struct pim_overlap_chain_layer *layer; /* owned */
    struct pim_intake *intake;             /* owned; by layer */
    struct pim_messages messages;          /* owned */
};

/* The first of a layer's channels, counted over all stacks. */
uint32_t pim_chain_unit(const struct pim_search_inputs *inputs, uint32_t layer);

/* The first layer that reads a layer; PIM_NONE: none. */
uint32_t pim_chain_reader(const struct pim_mapped_layers *layers, uint32_t index);

/* What a message from a layer with that cost takes to the place of the first layer that reads it, whose
 * mapping is still to come: on all channels that it may have, with a message for each step that stores
 * outputs. */
uint64_t pim_chain_message(const struct pim_search_inputs *inputs, uint32_t index,
                           const struct pim_step_cost *cost);

/* Producers of a layer, and the layer that had its channels before, if there is one. */
uint32_t pim_chain_links(const struct pim_search_inputs *inputs, uint32_t index);

/* A layer with mapping `own`, without links, as the overlap analysis has it. */
void pim_chain_alone(const struct pim_mapped_layer *mapped, const struct pim_layer_mapping *own,
                     struct pim_overlap_layer *layer);

/* In the mean, from a producer to a layer with mapping `own`; `whole`: in one message. */
struct pim_handover pim_chain_hand_over(const struct pim_search_inputs *inputs,
                                        const struct pim_layer_mapping *mappings, uint32_t index,
                                        const struct pim_layer_mapping *own, uint32_t link, bool whole);

/* What the last messages of a layer take to a reader that has a mapping; nothing to others. */
struct pim_handover pim_chain_sending(const struct pim_search_inputs *inputs,
                                      const struct pim_layer_mapping *mappings,
                                      const struct pim_intake *intakes, uint32_t index, uint32_t reader);

/* Loads and stores of a layer, where they are not in all of its steps: transformed, those that exist. */
void pim_chain_events(const struct pim_mapped_layer *mapped, const struct pim_layer_mapping *own,
                      bool transformed, struct pim_overlap_layer *layer);

/* When the channels of a reader take what comes from a layer: where layers hand over at their ends, and the
 * reader is of a later turn, with or behind the layer that they work in the turn of the producer; else when
 * the one before the reader has left them. Layers that have not been run yet: 0. */
uint64_t pim_chain_taken_from(const struct pim_search_inputs *inputs,
                              const struct pim_overlap_chain_layer *layer, uint32_t index, uint32_t reader,
                              bool ends);

/* A layer behind its end, which sends its last messages to one reader after the other, each when the channels
 * of that take it. */
struct pim_leaving {
    uint32_t index;
    uint32_t but;  /* what this reader may wait for itself is left out; PIM_NONE: nothing is */
    bool ends;     /* layers hand over at their ends */
    uint64_t now;  /* the next message may begin */
    uint64_t left; /* all so far have been sent */
};

struct pim_leaving pim_chain_leave(const struct pim_overlap_chain_layer *layer, uint32_t index, uint32_t but,
                                   bool ends);

/* One more is sent: its sender's channels are taken for `last.sent`, and it is there after `last.message`. */
void pim_chain_send_last(const struct pim_search_inputs *inputs, const struct pim_overlap_chain_layer *layer,
                         uint32_t reader, struct pim_handover last, struct pim_leaving *leaving);

/* Rows of a layer: its steps; transformed, those that its data spaces fill. */
enum pim_status pim_chain_rows(const struct pim_search_inputs *inputs, uint32_t index,
                               const struct pim_layer_mapping *own, bool transformed, uint64_t *rows,
                               struct pim_error *error);

/* A layer with mapping `own`, linked to producers that have theirs, as `intakes` say (by layer, those of all
 * before it and its own); pim_overlap_layer_derive() comes next. */
enum pim_status pim_chain_layer(const struct pim_search_inputs *inputs,
                                const struct pim_layer_mapping *mappings, uint32_t index,
                                const struct pim_layer_mapping *own, const struct pim_intake *intakes,
                                bool transformed, struct pim_overlap_layer *layer, struct pim_error *error);

/* The layers with these mappings, linked as they are in `chain`, as the overlap analysis and a mapping file
 * have them; the caller frees them with pim_chain_layers_free(). */
enum pim_status pim_chain_layers(const struct pim_search_inputs *inputs,
                                 const struct pim_layer_mapping *mappings, bool transformed,
                                 const struct pim_chain *chain, struct pim_overlap_layer **layers,
                                 struct pim_error *error);
void pim_chain_layers_free(struct pim_overlap_layer *layers, uint32_t count);

void pim_chain_terminate(struct pim_chain *chain);

#endif
