/*
 * A network as NicePIM's mapper works it: one operation for each layer of the graph, on tensors of batches,
 * channels, rows and columns. Data are 16 bits wide, partial sums 32.
 */
#ifndef PIMSIM_MAPPERS_NICEPIM_MAP_FLOW_H
#define PIMSIM_MAPPERS_NICEPIM_MAP_FLOW_H

#include "mappers/network/descriptor.h"
#include "mappers/nicepim/space/partition.h"
#include "mappers/nicepim/space/segments.h"
#include "traces/instruction.h"

enum { FLOW_BYTES = 2, FLOW_SUM_BYTES = 4 };

enum flow_kind {
    FLOW_INPUT,   /* of the network: it lies where it is needed */
    FLOW_PRODUCT, /* convolution or matrix product */
    FLOW_FUSED,   /* done with the requantisation of the product before it */
    FLOW_VECTOR,  /* on the vector unit */
    FLOW_CONCAT,  /* along channels: nothing moves */
    FLOW_FLATTEN  /* rows and columns into channels */
};

/* What of an input an output box needs. */
enum flow_reach {
    FLOW_SAME,     /* the same box; a dimension of 1 is broadcast */
    FLOW_WINDOW,   /* rows and columns of a sliding window */
    FLOW_PLANE,    /* all rows and columns */
    FLOW_CHANNELS, /* all channels */
    FLOW_NEAR      /* two channels to each side: local response normalisation */
};

struct flow_operation {
    enum flow_kind kind;
    enum flow_reach reach;
    uint32_t dimension[4]; /* of the output */
    struct pim_conv conv;  /* PRODUCT: the loops; WINDOW: kernel, strides, pads, input size */
    uint32_t groups;       /* PRODUCT: C is of one group, and is not cut if there are more */
    uint64_t weight_bytes; /* of all */
    enum pim_vector vector;
    uint32_t taps; /* VECTOR: elements read for each output */
};

struct flow {
    const struct pim_graph *graph;
    uint32_t batch, count;
    struct flow_operation *operation; /* of each layer */
    struct pim_segments segments;     /* of products */
    uint64_t macs;                    /* of all images */
};

/* PIM_BAD_INPUT names an operator that cannot be cut, and its layer. */
enum pim_status flow_build(const struct pim_network *network, uint32_t batch, struct flow *flow,
                           struct pim_error *error);
void flow_terminate(struct flow *flow);

/* The box of input `index` of operation `layer` that the box of its output needs (not of products). */
void flow_needs(const struct flow *flow, uint32_t layer, uint32_t index, const struct pim_span output[4],
                struct pim_span input[4]);

/* The box of the input of a product that a part of it reads, groups considered. */
void flow_product_box(const struct flow_operation *operation, const struct pim_part *part,
                      struct pim_span input[4]);

static inline uint64_t flow_box_elements(const struct pim_span box[4])
{
    return (uint64_t)(box[0].to - box[0].from) * (box[1].to - box[1].from) * (box[2].to - box[2].from) *
           (box[3].to - box[3].from);
}

#endif
