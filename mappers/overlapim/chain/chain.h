/*
 * A mapped network from its start to its end: the exact schedule of every layer behind the exact schedules of
 * all its producers (skip connections included), and of the layer that had its channels before.
 */
#ifndef PIMSIM_MAPPERS_OVERLAPIM_CHAIN_CHAIN_H
#define PIMSIM_MAPPERS_OVERLAPIM_CHAIN_CHAIN_H

#include "mappers/overlapim/chain/intake.h"

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

/* `ends`: layers hand over at their ends where programs would wait for each other (emit/ends.h). */
enum pim_status pim_chain_run(const struct pim_search_inputs *inputs,
                              const struct pim_layer_mapping *mappings, bool transformed, bool ends,
                              struct pim_chain *chain, struct pim_error *error);
void pim_chain_terminate(struct pim_chain *chain);

#endif
