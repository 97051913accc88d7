/*
 * A look ahead: what a candidate for a layer does to the end of a network whose earlier layers are mapped.
 *
 * The layer is scheduled behind the exact schedules of its producers, and behind it a layer that takes its
 * outputs row by row and as long as it does: a stand-in for the consumer that has no mapping yet. The end of
 * the stand-in is the score: it falls when the layer ends earlier, and when its outputs come in time for a
 * consumer to work beside it.
 */
#ifndef PIMSIM_MAPPERS_OVERLAPIM_AHEAD_H
#define PIMSIM_MAPPERS_OVERLAPIM_AHEAD_H

#include "mappers/overlapim/chain/chain.h"

struct pim_ahead {
    const struct pim_search_inputs *inputs;
    struct pim_overlap_layer *layers; /* those that are mapped, in the order of the network */
    struct pim_schedule *schedules;   /* in lock step */
    struct pim_intake *intakes;       /* by layer */
};

enum pim_status pim_ahead_initialize(struct pim_ahead *ahead, const struct pim_search_inputs *inputs,
                                     struct pim_error *error);
void pim_ahead_terminate(struct pim_ahead *ahead);

/* Layer `index` is searched next. */
void pim_ahead_begin(struct pim_ahead *ahead, uint32_t index);

/* The score of a mapping for layer `index`, all layers before it being fixed. */
enum pim_status pim_ahead_score(const struct pim_ahead *ahead, const struct pim_layer_mapping *mappings,
                                uint32_t index, const struct pim_layer_mapping *candidate, uint64_t *score,
                                struct pim_error *error);

/* Layer `index` has mappings[index] from now on. */
enum pim_status pim_ahead_fix(struct pim_ahead *ahead, const struct pim_layer_mapping *mappings,
                              uint32_t index, struct pim_error *error);

#endif
