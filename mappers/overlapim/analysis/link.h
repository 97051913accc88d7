/*
 * What a consumer's data space needs of a producer's output.
 *
 * A link says how the consumer reads: as the input of its windows (the usual case), or as the second operand
 * of a matrix product. Between them may stand a pooling and a flattening of (channel, row, column) to one
 * index. The need is a hull: an interval of every output dimension N, K, P, Q of the producer (a flattened
 * one is an interval of N and one of the flat index), conservative where stride or dilation leave gaps.
 *
 * Every interval depends on some dimensions of the consumer only; that is what makes the analysis separable.
 */
#ifndef PIMSIM_MAPPERS_OVERLAPIM_ANALYSIS_LINK_H
#define PIMSIM_MAPPERS_OVERLAPIM_ANALYSIS_LINK_H

#include "mappers/nest/nest.h"

/* X(name, text) */
#define PIM_LINK_ROLE_MAP(X)                                                                                 \
    X(PIM_LINK_INPUT, "input")     /* windows over rows and columns, channels by group */                    \
    X(PIM_LINK_ROWS, "rows")       /* second operand, transposed: K counts its rows N, C its channels */     \
    X(PIM_LINK_COLUMNS, "columns") /* second operand: C counts its rows N, K its channels */                 \
    X(PIM_LINK_WHOLE, "whole")     /* all of it, always: an arrangement that the analysis does not follow */

enum pim_link_role {
#define X(name, text) name,
    PIM_LINK_ROLE_MAP(X)
#undef X
        PIM_LINK_ROLES
};

struct pim_link {
    uint32_t producer; /* index of a layer before the consumer */
    enum pim_link_role role;
    bool flatten;                                    /* c = (k * P + p) * Q + q of the (pooled) output */
    uint32_t pool_kernel, pool_stride, pool_padding; /* kernel 0: no pooling */
    uint32_t first_channel; /* of the consumer's input that this producer's channel 0 is (concatenation) */
    uint64_t transfer;      /* ticks from the end of a producer's step until its output is in place */
    uint64_t head;          /* ticks of a step of the consumer before it waits for this producer */
};

/* The dimensions of a producer's output in which needs are intervals. PIM_NEED_FLAT takes the place of K, P
 * and Q when the link flattens. */
enum pim_need_axis { PIM_NEED_N, PIM_NEED_K, PIM_NEED_P, PIM_NEED_Q, PIM_NEED_FLAT, PIM_NEEDS };

/* The dimension of the producer behind a need that is not flat. */
unsigned pim_need_dimension(enum pim_need_axis need);

const char *pim_link_role_name(unsigned role);

/* PIM_BAD_INPUT when producer and consumer do not fit: batch, channels, pooling, flattening. */
enum pim_status pim_link_check(const struct pim_link *link, const struct pim_workload *producer,
                               const struct pim_workload *consumer, struct pim_error *error);

/* Rows (axis 0) or columns (axis 1) of the producer's output behind the pooling. */
uint32_t pim_link_pooled(const struct pim_link *link, const struct pim_workload *producer, unsigned axis);

/* Whether the need exists for this link: NEED_FLAT and NEED_K, P, Q exclude each other. */
bool pim_link_has(const struct pim_link *link, enum pim_need_axis need);

/* The dimensions of the consumer on which the interval depends, bit d for dimension d. */
unsigned pim_link_depends(const struct pim_link *link, const struct pim_workload *consumer,
                          enum pim_need_axis need);

/*
 * The interval that a box of the consumer needs; only the dimensions of pim_link_depends are read. Clipped to
 * the producer's output. An empty interval means that the box lies in padding: nothing is needed.
 */
struct pim_interval pim_link_range(const struct pim_link *link, const struct pim_workload *producer,
                                   const struct pim_workload *consumer,
                                   const struct pim_interval box[PIM_DIMENSIONS], enum pim_need_axis need);

/*
 * The same without the hull: calls `visit` for intervals whose union are exactly the elements needed, none of
 * them when it is empty. Costs one call for every pair of window position and kernel element of the box.
 */
void pim_link_points(const struct pim_link *link, const struct pim_workload *producer,
                     const struct pim_workload *consumer, const struct pim_interval box[PIM_DIMENSIONS],
                     enum pim_need_axis need, void (*visit)(void *context, struct pim_interval range),
                     void *context);

#endif
