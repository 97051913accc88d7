/*
 * Needs of a producer that was transformed: its end times are a table over output tiles, without a sum of
 * terms. The latest tile of every combination of cells is found dimension by dimension: the table is reduced
 * along one output dimension after the other to the intervals that the cells of a component ask for.
 */
#ifndef PIMSIM_MAPPERS_OVERLAPIM_ANALYSIS_TILES_H
#define PIMSIM_MAPPERS_OVERLAPIM_ANALYSIS_TILES_H

#include "mappers/overlapim/analysis/overlap.h"

/* Called for every cell that exists, in order; `box` is valid for the component's dimensions. */
struct pim_component_visitor {
    void (*visit)(void *context, uint64_t cell, const struct pim_interval box[PIM_DIMENSIONS]);
    void *context;
};

/* Makes the cells of a component (components.c); nothing to do when they are there. */
enum pim_status pim_component_make(const struct pim_overlap_layer *layer, struct pim_component *component,
                                   struct pim_component_visitor visitor, struct pim_error *error);

struct pim_component_tiles {
    bool active;
    const struct pim_producer *producer;
    const struct pim_link *link;
    const struct pim_schedule *schedule;
    struct pim_interval *range[PIM_NEEDS]; /* by need and cell; NULL: the need is the same for all */
    unsigned component[PIM_NEEDS];
    uint64_t cells[PIM_NEEDS];
};

void pim_tiles_initialize(struct pim_component_tiles *tiles, const struct pim_producer *producer,
                          const struct pim_link *link, const struct pim_schedule *schedule);
void pim_tiles_terminate(struct pim_component_tiles *tiles);

/* Announces that the cells of a component ask along this need; then puts the interval of each. */
enum pim_status pim_tiles_open(struct pim_component_tiles *tiles, enum pim_need_axis need, unsigned component,
                               uint64_t cells, struct pim_error *error);
void pim_tiles_put(struct pim_component_tiles *tiles, enum pim_need_axis need, uint64_t cell,
                   struct pim_interval range);

/* Makes the table of link `link` over combinations of cells, and the terms that index it. */
enum pim_status pim_tiles_finish(struct pim_component_tiles *tiles, struct pim_overlap *overlap,
                                 uint32_t link, struct pim_error *error);

#endif
