/*
 * Loop nests: how the work of a layer is laid out over levels of memory, in space and in time.
 *
 * A layer is seven loops, N K C P Q R S: batch, output channels, input channels, output rows and columns,
 * kernel rows and columns. Its output is [N, K, P, Q]; C, R and S are reduced. A matrix product of M x C by
 * C x K is N = M with P = Q = R = S = 1. A mapping splits these loops into a nest, outermost first; each loop
 * is temporal (one iteration after the other) or spatial (iterations side by side in instances of a level).
 * Loops before `cut` choose what a bank works on in a step: a data space. Loops behind it run inside a bank.
 *
 * Imperfect factors: the counts of a dimension may multiply to more than its size. Indices grow by the size
 * of the tile below, so the last tile is smaller, and data spaces that would begin behind the end do not
 * exist. A step in which no bank has a data space takes no time.
 *
 * Source: reference algorithm of overlap analysis, strides of time and space by the position of a loop; the
 * separation of workload, mapping and mapping space is Timeloop's.
 */
#ifndef PIMSIM_MAPPERS_NEST_NEST_H
#define PIMSIM_MAPPERS_NEST_NEST_H

#include "sim/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum pim_dimension { PIM_N, PIM_K, PIM_C, PIM_P, PIM_Q, PIM_R, PIM_S, PIM_DIMENSIONS };

enum {
    PIM_NEST_LOOPS = 48,       /* loops of a nest */
    PIM_NEST_EXTENT = 1 << 24, /* largest size of a dimension, count, stride, padding or dilation */
    PIM_NEST_NAME = 64
};
#define PIM_NEST_STEPS (UINT64_C(1) << 40) /* steps x banks of a nest stay at or below this */

/* The workload: sizes of the seven dimensions and how output positions meet input positions. */
struct pim_workload {
    uint32_t size[PIM_DIMENSIONS];
    uint32_t stride[2], padding[2], dilation[2]; /* rows, columns */
    uint32_t groups;                             /* divides size[K]; C counts the channels of one group */
};

struct pim_nest_loop {
    uint8_t dimension; /* enum pim_dimension */
    bool spatial;
    uint8_t level; /* of a machine, for the reader; the analysis looks at `cut` alone */
    uint32_t count;
};

struct pim_nest {
    uint32_t loops, cut;
    struct pim_nest_loop loop[PIM_NEST_LOOPS];
};

/* What follows from a nest and its layer. */
struct pim_strides {
    uint64_t time[PIM_NEST_LOOPS];   /* steps between iterations of a temporal loop before the cut, else 0 */
    uint64_t space[PIM_NEST_LOOPS];  /* banks between iterations of a spatial loop before the cut, else 0 */
    uint64_t tile[PIM_NEST_LOOPS];   /* elements of the dimension between iterations */
    uint32_t extent[PIM_DIMENSIONS]; /* of a data space: product of the counts behind the cut */
    uint64_t steps, banks;
    uint64_t tail; /* steps from the first to the last contribution to an output */
};

/* "N", "K", ...; PIM_DIMENSIONS for anything else. */
const char *pim_dimension_name(unsigned dimension);
unsigned pim_dimension_find(const char *name);

/* A workload of ones: size 1, stride 1, no padding, dilation 1, one group. */
void pim_workload_initialize(struct pim_workload *workload);

/* PIM_BAD_INPUT names the field that is out of range. */
enum pim_status pim_workload_check(const struct pim_workload *workload, struct pim_error *error);

/* Multiplications of the layer (all seven loops). */
uint64_t pim_workload_products(const struct pim_workload *workload);

/* Checks a nest against its layer (counts cover every dimension, no loop has iterations that never exist,
 * steps x banks within the limit) and derives its strides. PIM_BAD_INPUT names the loop or the dimension. */
enum pim_status pim_nest_derive(const struct pim_workload *workload, const struct pim_nest *nest,
                                struct pim_strides *strides, struct pim_error *error);

/* An interval of elements, both ends included; empty when last < first. */
struct pim_interval {
    int64_t first, last;
};

static inline bool pim_range_empty(struct pim_interval range)
{
    return range.last < range.first;
}

/* The elements of every dimension that bank `bank` works on in step `step`; false when there are none. */
bool pim_nest_data_space(const struct pim_workload *workload, const struct pim_nest *nest,
                         const struct pim_strides *strides, uint64_t bank, uint64_t step,
                         struct pim_interval box[PIM_DIMENSIONS]);

/* Elements that a tile of the given extents occupies: of the weights, of the output, and of the input hull of
 * its windows (padding counts; UINT64_MAX when it does not fit). Extents are at most the sizes. */
struct pim_footprint {
    uint64_t weights, inputs, outputs;
};
struct pim_footprint pim_nest_footprint(const struct pim_workload *workload,
                                        const uint32_t extent[PIM_DIMENSIONS]);

#endif
