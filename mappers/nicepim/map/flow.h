/*
 * A network as NicePIM's mapper works it: one operation for each layer of the graph, on tensors of batches,
 * channels, rows and columns. Data are 16 bits wide, partial sums 32.
 *
 * A sequence of tokens has a row for each token, and one column; branches (windows) are batches. Attention is
 * a product in as many groups as there are heads, whose weights are activations: scores have heads x keys
 * channels.
 */
#ifndef PIMSIM_MAPPERS_NICEPIM_MAP_FLOW_H
#define PIMSIM_MAPPERS_NICEPIM_MAP_FLOW_H

#include "mappers/network/descriptor/descriptor.h"
#include "mappers/nicepim/space/partition.h"
#include "mappers/nicepim/space/segments.h"
#include "traces/instruction.h"

enum { FLOW_BYTES = 2, FLOW_SUM_BYTES = 4 };

enum flow_kind {
    FLOW_INPUT,   /* of the network: it lies where it is needed */
    FLOW_PRODUCT, /* convolution or matrix product */
    FLOW_FUSED,   /* done with the requantisation of the product before it */
    FLOW_VECTOR,  /* on the vector unit */
    FLOW_CONCAT,  /* nothing moves */
    FLOW_ALIAS,   /* another view of the same elements: nothing moves */
    FLOW_FLATTEN  /* rows and columns into channels */
};

/* What of an input an output box needs. */
enum flow_reach {
    FLOW_SAME,     /* the same box; a dimension of 1 is broadcast */
    FLOW_WINDOW,   /* rows and columns of a sliding window */
    FLOW_PLANE,    /* all rows and columns */
    FLOW_CHANNELS, /* all channels of a group */
    FLOW_NEAR,     /* two channels to each side: local response normalisation */
    FLOW_SLICE,    /* the same box, further on in a dimension */
    FLOW_MERGE,    /* rows and columns of a map into rows */
    FLOW_SPLIT,    /* and back */
    FLOW_SHIFT,    /* rows and columns of a map, rolled */
    FLOW_WINDOWS,  /* windows of a map into batches */
    FLOW_REVERSE,  /* and back */
    FLOW_GATHER,   /* squares of positions into channels */
    FLOW_SWAP,     /* channels and rows change places */
    FLOW_POOLED,  /* one token of each window into a map: batches into rows and columns, rows into channels */
    FLOW_SHUFFLE, /* channels of groups by turns */
    FLOW_PAD,     /* rows and columns of zeros around a map */
    FLOW_AROUND   /* windows of a map, each with what is around it, into batches */
};

/* What a product has for weights. */
enum flow_right { FLOW_STORED, FLOW_KEYS, FLOW_VALUES };

struct flow_operation {
    enum flow_kind kind;
    enum flow_reach reach;
    enum flow_right right;  /* PRODUCT: beyond stored weights the second input */
    bool channels_last;     /* of a tensor of four dimensions in the graph */
    uint32_t dimension[4];  /* of the output */
    struct pim_conv conv;   /* PRODUCT: the loops; WINDOW: kernel, strides, pads, input size */
    uint32_t groups;        /* PRODUCT: C is of one group, and is not cut if there are more */
    uint64_t weight_bytes;  /* of all */
    enum pim_vector vector; /* PRODUCT: with its requantisation */
    uint32_t taps;          /* VECTOR: elements read for each output */
    uint32_t group;         /* CHANNELS: of a group */
    uint32_t axis, begin;   /* SLICE, CONCAT: the dimension here, and where the slice begins */
    uint32_t window[2];     /* WINDOWS, REVERSE, GATHER: rows and columns; AROUND: stride and side;
                               SHUFFLE: groups of the input and channels of each */
    bool cyclic;            /* AROUND: beyond the border the map begins anew; otherwise 0 is there */
    int32_t shift[2];       /* SHIFT, PAD: output row r is input row r + shift[0] */
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

/* True when output channels in `parts` parts give each part of one group, or whole ones. */
bool flow_groups_are_whole(const struct flow_operation *operation, uint32_t parts);

/* How many parts like this one make up the whole. */
static inline double flow_parts_like(const struct pim_conv *conv, const struct pim_part *part)
{
    double parts = 1;
    for (size_t loop = 0; loop < PIM_LOOPS; loop++)
        parts *= (double)conv->length[loop] / (double)(part->loop[loop].to - part->loop[loop].from);
    return parts;
}

/* The same of the second input of a product whose weights are activations. */
void flow_right_box(const struct flow_operation *operation, const struct pim_part *part,
                    struct pim_span input[4]);

/* Batches, channels, rows and columns of a layer, and the operations of transformers. */
enum pim_status tokens_shape(const struct flow *flow, uint32_t layer, struct flow_operation *operation,
                             struct pim_error *error);
enum pim_status tokens_build(const struct flow *flow, uint32_t layer, struct flow_operation *operation,
                             struct pim_error *error);
void tokens_needs(const struct flow_operation *operation, const uint32_t input_size[4],
                  const struct pim_span output[4], struct pim_span input[4]);
enum pim_status flow_refuse(const struct flow *flow, uint32_t layer, const char *why,
                            struct pim_error *error);

/* Positions from `from` to before `to` that a dimension of `size` has. */
struct pim_span flow_clip(int64_t from, int64_t to, uint32_t size);

static inline uint64_t flow_box_elements(const struct pim_span box[4])
{
    return (uint64_t)(box[0].to - box[0].from) * (box[1].to - box[1].from) * (box[2].to - box[2].from) *
           (box[3].to - box[3].from);
}

#endif
