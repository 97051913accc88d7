/*
 * When an output is final: the step after whose end a producer has finished every element of an interval.
 *
 * Each loop belongs to one dimension, so the step of an element is a sum of terms, one a dimension: its
 * digits in the mixed radix of that dimension's loops, each times the steps between iterations (0 for a
 * spatial loop). The last step of an interval is the largest such sum in it, found by digits, without
 * looking at the elements; it is exact because no weight is negative. Reduction adds the same tail to all
 * elements.
 */
#ifndef PIMSIM_MAPPERS_OVERLAPIM_ANALYSIS_PRODUCER_H
#define PIMSIM_MAPPERS_OVERLAPIM_ANALYSIS_PRODUCER_H

#include "mappers/overlapim/analysis/link.h"

/* The loops of one dimension before the cut, outermost first. */
struct pim_axis {
    uint32_t digits;
    uint32_t count[PIM_NEST_LOOPS];
    uint64_t tile[PIM_NEST_LOOPS];   /* elements an iteration */
    uint64_t weight[PIM_NEST_LOOPS]; /* steps an iteration; 0: spatial */
    uint64_t behind[PIM_NEST_LOOPS]; /* largest sum of the digits behind this one */
};

void pim_axis_initialize(struct pim_axis *axis, const struct pim_nest *nest,
                         const struct pim_strides *strides, unsigned dimension);

/* The step, relative to the other dimensions, in which an element is worked on. */
uint64_t pim_axis_step(const struct pim_axis *axis, int64_t element);

/* The largest pim_axis_step of an interval, which is not empty and inside the dimension. */
uint64_t pim_axis_last(const struct pim_axis *axis, struct pim_interval range);

/* Index of the tile that holds an element: the number of data spaces along the dimension before it. */
static inline uint64_t pim_axis_tile(uint32_t extent, int64_t element)
{
    return (uint64_t)element / extent;
}

/* A layer as its consumers see it. */
struct pim_producer {
    const struct pim_workload *workload;
    const struct pim_nest *nest;
    const struct pim_strides *strides;
    struct pim_axis axis[4]; /* by need N, K, P, Q */
};

void pim_producer_initialize(struct pim_producer *producer, const struct pim_workload *workload,
                             const struct pim_nest *nest, const struct pim_strides *strides);

/* An interval of the flat index as boxes of channel, row and column, all before the pooling; at most 5. */
struct pim_flat_box {
    struct pim_interval channel, row, column;
};
enum { PIM_FLAT_BOXES = 5 };
unsigned pim_producer_unflatten(const struct pim_producer *producer, const struct pim_link *link,
                                struct pim_interval flat, struct pim_flat_box boxes[PIM_FLAT_BOXES]);

/* The part of the last step that an interval (not empty) of one need adds; the sum over all needs of a link,
 * plus the tail, is the step after which all is final. */
uint64_t pim_producer_last(const struct pim_producer *producer, const struct pim_link *link,
                           enum pim_need_axis need, struct pim_interval range);

#endif
