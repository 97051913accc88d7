/*
 * The copies of a MOVE layer, output pixel by output pixel: what both schedules make of its loops, and their
 * instructions.
 */
#ifndef PIMSIM_MAPPERS_PIMCOMP_KERNELS_MOVES_H
#define PIMSIM_MAPPERS_PIMCOMP_KERNELS_MOVES_H

#include "mappers/pimcomp/kernels/emitter.h"

/* `count` elements: the first goes from (from_pixel, from_channel) of a source to channel `to_channel` of the
 * output pixel, the next ones the steps further on. */
struct pim_core_run {
    uint32_t source, from_pixel, from_channel, to_channel;
    int32_t from_pixel_step, from_channel_step, to_step;
    uint32_t count;
};

struct pim_core_runs {
    uint32_t *first; /* of each pixel: runs [first[p], first[p + 1]) */
    struct pim_core_run *run;
    bool zeros; /* some elements are 0 */
};

/* The runs of a MOVE layer, in `arena`. `within_pixels`: every run takes elements of one pixel. PIM_BAD_INPUT
 * when there are 2^32 or more. */
enum pim_status pim_core_runs_make(const struct pim_core_layer *layer, bool within_pixels,
                                   struct pim_arena *arena, struct pim_core_runs *runs,
                                   struct pim_error *error);

/* `count` elements of a run that goes forwards, or a single one, from a pixel in a local memory. */
void pim_core_emit_run(struct pim_core_emitter *emitter, uint32_t core, const struct pim_core_run *run,
                       uint64_t to, uint64_t from, uint32_t count);

/* Pixels of a source up to the last one that the first window of a MOVE layer reads; at least 1. */
uint64_t pim_core_moves_reach(const struct pim_core_layer *layer, uint32_t source);

#endif
