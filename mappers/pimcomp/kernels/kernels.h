/* What both schedules emit: vectors of channels, copies of MOVE layers, products of two activations. */
#ifndef PIMSIM_MAPPERS_PIMCOMP_KERNELS_KERNELS_H
#define PIMSIM_MAPPERS_PIMCOMP_KERNELS_KERNELS_H

#include "mappers/pimcomp/kernels/emitter.h"

/* --- the channels of pixels in local memories --- */

/* to[i] += from[i] */
void pim_core_emit_addition(struct pim_core_emitter *emitter, uint32_t core, uint64_t to, uint64_t from,
                            uint64_t elements);

/* An operation of one source on `count` vectors of `elements`, back to back: one instruction, unless it looks
 * at a vector as a whole. */
void pim_core_emit_vectors(struct pim_core_emitter *emitter, uint32_t core, struct pim_core_vector operation,
                           uint64_t to, uint64_t from, uint64_t elements, uint64_t count);

/* The activations fused behind a layer, in place, on `channels` channels of `pixels` pixels. */
void pim_core_emit_afters(struct pim_core_emitter *emitter, uint32_t core, const struct pim_core_layer *layer,
                          uint64_t address, uint64_t channels, uint64_t pixels);

/* How a pooling puts positions together, and, where it is a mean, their sum becomes that. */
struct pim_core_vector pim_core_pooling_of(const struct pim_core_layer *layer);
void pim_core_emit_mean(struct pim_core_emitter *emitter, uint32_t core, const struct pim_core_layer *layer,
                        uint64_t address, uint32_t positions, uint64_t elements);

/* --- the copies of a MOVE layer, output pixel by output pixel --- */

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

/*
 * A product of two activations with the instructions of cores: vector operations and copies. Vectors are
 * added and multiplied element by element alone, so a row of results
 *     result[n] = sum over k of row[k] * tile[k][n]
 * takes: each row[k] written out n times; one multiplication with the tile; additions of the two halves of
 * what is left, until one row is. With K x N elements that is K N multiplications, (K - 1) N additions and a
 * copy of K N elements.
 */

/* Local addresses. */
struct pim_core_product_tile {
    uint32_t columns, inner;
    bool first;            /* the result is written, else added to */
    uint64_t row;          /* `inner` elements */
    uint64_t tile;         /* inner x columns */
    uint64_t work, result; /* as large as the tile; `columns` elements */
};

void pim_core_product_row(struct pim_core_emitter *emitter, uint32_t core,
                          const struct pim_core_product_tile *tile);

/* columns x inner elements at `from` become inner x columns at `to`. */
void pim_core_product_turn(struct pim_core_emitter *emitter, uint32_t core, uint32_t columns, uint32_t inner,
                           uint64_t to, uint64_t from);

#endif
