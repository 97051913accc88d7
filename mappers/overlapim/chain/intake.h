/*
 * How a layer takes what several producers send it: decided here once. The programs are written by it, and
 * the estimate reads it.
 *
 * A step moves the words of its inputs to their rows producer by producer, in the order of its links, and
 * waits for each just before: what comes from those before is moved while it waits. A layer whose program on
 * a channel is longer than the window of the unit takes row by row only from the producer that ends last; the
 * others have ended, and sent all, before its first step. Where programs would wait for each other (ends),
 * layers of several producers, and those of a later turn, begin when all of their producers have ended.
 */
#ifndef PIMSIM_MAPPERS_OVERLAPIM_CHAIN_INTAKE_H
#define PIMSIM_MAPPERS_OVERLAPIM_CHAIN_INTAKE_H

#include "mappers/overlapim/search_inputs.h"

struct pim_intake {
    uint32_t latest;  /* the link whose producer ends last, of those the last of the network */
    bool each_row;    /* from all producers row by row */
    bool ends;        /* layers hand over at their ends where pim_intake_at_end() */
    uint64_t vacated; /* cycles from the end of the layer that had its channels until that has sent all */
};

/* How layer `index` takes from its producers: `schedules` of all of them, `rows` of its own. */
struct pim_intake pim_intake_decide(const struct pim_search_inputs *inputs,
                                    const struct pim_layer_mapping *mappings, uint32_t index, uint64_t rows,
                                    const struct pim_schedule *schedules, bool ends);

/* Whether all that comes from the producer of a link comes in one message, when that has ended. */
bool pim_intake_whole(const struct pim_search_inputs *inputs, struct pim_intake intake, uint32_t index,
                      uint32_t link);

/* Where layers hand over at their ends: whether this one takes from a producer when that has ended, before
 * anything is moved. */
bool pim_intake_at_end(const struct pim_search_inputs *inputs, uint32_t index, uint32_t producer);

/* The link whose producer ends last, of those the last of the network: none of the others waits for it. */
uint32_t pim_intake_latest(const struct pim_mapped_layer *layer, const struct pim_schedule *schedules);

/* Of `moved` rows, or their cycles, those that come from the first `links` producers. */
uint64_t pim_intake_share(const struct pim_mapped_layer *layer, uint64_t moved, uint32_t links);

/* Cycles of a step of the layer before it waits for the producer of a link, which it takes row by row. */
uint64_t pim_intake_head(const struct pim_search_inputs *inputs, uint32_t index,
                         const struct pim_step_cost *cost, uint32_t link);

/* How many layers have channels of their own at the same time; those behind take them over in turn. */
uint32_t pim_intake_places(const struct pim_search_inputs *inputs);

#endif
