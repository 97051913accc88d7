/* The memory of a node: parts of weights, zeros, and the workspace of a stage. */
#ifndef PIMSIM_MAPPERS_ALLSPARK_MEMORY_H
#define PIMSIM_MAPPERS_ALLSPARK_MEMORY_H

#include "mappers/allspark/allspark.h"

enum {
    PIM_STATISTICS_BYTES = 4,  /* mean and variance of a token, 16 bits each */
    PIM_SUM_BYTES = 2,         /* sum of a channel over the tokens of a node */
    PIM_RESIDENT_MATRICES = 3, /* query, keys and values of a layer, while another stage attends */
};

/*
 * A piece of a product's weights on a column of nodes: `columns` of its k x n from `first` on. Each piece
 * goes round the ring by itself and is multiplied before the next one comes, so that a node needs room for
 * one of them alone. `home` is the address of this node's part on every node of the ring.
 */
struct pim_chunk {
    uint32_t first, columns;
    uint64_t bytes;
    uint64_t home;
};

uint32_t pim_chunk_count(const struct pim_allspark_partition *part, enum pim_allspark_weight weight,
                         uint32_t column);
struct pim_chunk pim_chunk(const struct pim_allspark_partition *part, uint32_t block,
                           enum pim_allspark_weight weight, uint32_t column, uint32_t index);

/* Bytes of a partition's weights on every node. */
uint64_t pim_stage_weights(const struct pim_allspark_partition *part);

/* Address of `pim_zero_bytes` bytes of zeros on every node of the partition: keys and values beyond the
   border of Focal (focal.c says how many), neighbours beyond the border of a convolution (position.c). */
uint64_t pim_zero_address(const struct pim_allspark_partition *part);
uint64_t pim_zero_bytes(const struct pim_allspark_partition *part);
uint64_t pim_focal_zeros(const struct pim_allspark_partition *part);

/* At most so many bytes leave a node of a branch, when all branches get their keys and values: of Focal, and
   of all that collect. */
uint64_t pim_focal_leaving(const struct pim_allspark_partition *part);
uint64_t pim_neighbours_leaving(const struct pim_allspark_partition *part);

/* Address of the parts of a product's weights on every node of the ring: that of its first chunk. */
uint64_t pim_weight_address(const struct pim_allspark_partition *part, uint32_t block,
                            enum pim_allspark_weight weight);

/*
 * The workspace of a node in a stage: addresses of its parts, as the layers of one partition see them.
 * Matrices lie row by row; a matrix that circulates within a row of nodes lies in pieces, one for each column
 * c, of p rows x the channels of c.
 *
 * Invariants:
 *  1. What outlives a temporal layer has a place for each layer of the stage, whatever its partition: the
 *     features, and the inputs of the merging while the layers before work. Everything else belongs to the
 *     layer that is being worked, and lies behind.
 *  2. The parts for attention, feed-forward, merging and pooling lie over one another: no two of them are
 *     live at the same time.
 *  3. Each image of a batch has all parts of its own, but for the weights.
 *  4. Addresses are the same on all nodes: sizes are those of the row with most tokens and the column with
 *     most channels.
 */
struct pim_workspace {
    /* for each layer of the partition p x q: the residual stream of the branch that this node has in it */
    uint64_t features;
    uint64_t features_stride; /* from a layer's to the next */
    /* for each layer what this node has before merging: p x merge_inputs of its column; patches: p x
       merge_inputs */
    uint64_t inputs;
    uint64_t inputs_stride;
    /* Of branches that collect: for each layer query, p x q, and keys and values that this node makes, rows x
       q each (in Focal also those of the pooled token, in the last row) */
    uint64_t own, own_stride;
    uint64_t own_keys, own_values; /* from `own` of the layer */
    /* pieces of p x 4 bytes: mean and variance of the tokens over the channels of a column */
    uint64_t statistics;
    uint64_t gathered; /* pieces of p x q(c): input of the products with channels inputs */
    uint64_t query;    /* p x q */
    /* for each layer of the two stages of CSWin: query (later the context), keys and values of this node,
       each p x q and `resident_bytes` long */
    uint64_t resident, resident_bytes;
    uint64_t keys, values; /* M x q, M the keys of the branch; the rows of this node are its own */
    uint64_t scores;       /* rows of a block x M for each head of this node */
    /* pieces of the tokens that make this node's keys x q(c), and of the keys' tokens that they make */
    uint64_t reduction_inputs, reduced;
    /* Focal: sums of the pooling, q of each row. Of branches that collect: keys and values that come from
       other nodes */
    uint64_t pool_parts, arrived;
    uint64_t hidden; /* pieces of p x hidden(c) */
    uint64_t merged; /* pieces of p x merge_inputs(c); this node's own piece stays in `inputs` */
    /* last stage, without class token: the sums of this node; and, where they are collected, the sums of all
       nodes that have channels of this column */
    uint64_t sums, pooled;
    /* where the first partition collects what this one summed up */
    uint64_t collected;
    uint64_t logits; /* last stage: the classes of a column */
    /* k x n of the phase, when it comes from the ring; where the plan prefetches, two places that pieces of
       weights take by turns, else the same one twice */
    uint64_t weights[2];
    uint64_t end;
};

/* Bytes of the scores of an image that a node stores at a time. */
uint64_t pim_scores_bytes(const struct pim_allspark_partition *part);

/* The workspace of image `image` in partition `index` of a stage, from address `base` on. */
void pim_workspace_layout(const struct pim_allspark_stage *stage, uint32_t index, uint32_t image,
                          uint64_t base, struct pim_workspace *workspace);

/* Where a part of a node's memory may begin that lies behind `bytes` others. */
static inline uint64_t pim_memory_align(uint64_t bytes)
{
    enum { ALIGNMENT = 64 };
    return (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

/* Bytes of a stage's workspace that outlive a temporal layer, for an image; and what of them are features of
   the partitions before `partition`, or of all. */
uint64_t pim_stage_lasting(const struct pim_allspark_stage *stage);
/* Of a stage and its partner, whose workspaces lie upon each other, for all images. */
uint64_t pim_stage_lasting_of_both(const struct pim_allspark_plan *plan,
                                   const struct pim_allspark_stage *stage);
uint64_t pim_stage_features_before(const struct pim_allspark_stage *stage, uint32_t partition);
static inline uint64_t pim_stage_features(const struct pim_allspark_stage *stage)
{
    return pim_stage_features_before(stage, stage->partitions);
}

/* The workspace of a stage whose features the convolution over the map takes: what lasts of the stage, and
   behind it what tokens need on their way to their neighbours (border.c); 0: it has none. */
uint64_t pim_border_workspace(const struct pim_allspark_plan *plan, uint32_t index);

/* What stage `index` and its partner need of the workspace together, when they are those two. */
uint64_t pim_stripes_workspace(const struct pim_allspark_plan *plan, uint32_t index);

/* Fills the bytes of a partition; `alone`: its stage has a single layer. */
void pim_partition_memory(struct pim_allspark_partition *part, bool alone);

/* Fills the bytes of all stages and of their partitions, which are numbered, and the bases and sums of the
   plan. */
void pim_plan_memory(struct pim_allspark_plan *plan);

/* Bytes of the classifier on each of the nodes that hold a part of it; 0 for a stage without one behind
   it. */
uint64_t pim_head_bytes(const struct pim_allspark_partition *part);

#endif
