/* The insides of the Allspark front-end: shapes of a stage's nodes, the memory of a node, and the emitter. */
#ifndef PIMSIM_MAPPERS_ALLSPARK_MAPPING_H
#define PIMSIM_MAPPERS_ALLSPARK_MAPPING_H

#include "mappers/allspark/allspark.h"

enum {
    PIM_STATISTICS_BYTES = 4, /* mean and variance of a token, 16 bits each */
    PIM_SUM_BYTES = 2         /* sum of a channel over the tokens of a node */
};

/* `total` things over `parts`: the share of `index`, larger shares first; and where it begins. */
static inline uint64_t pim_share(uint64_t total, uint64_t parts, uint64_t index)
{
    return total / parts + (index < total % parts);
}

static inline uint64_t pim_share_begin(uint64_t total, uint64_t parts, uint64_t index)
{
    uint64_t larger = total % parts;
    return index * (total / parts) + (index < larger ? index : larger);
}

/* Channels and tokens of a node; row and column in the sub-array. */
static inline uint32_t pim_stage_tokens(const struct pim_allspark_stage *stage, uint32_t row)
{
    return (uint32_t)pim_share(stage->tokens, stage->u, row);
}

static inline uint32_t pim_stage_channels(const struct pim_allspark_stage *stage, uint32_t column)
{
    return (uint32_t)pim_share(stage->heads, stage->v, column) * stage->head_channels;
}

/* Shape of a product with weights on column `column`: k x n elements of 8 bits; the input is in v segments
   of inner[column'] channels. */
struct pim_weight_shape {
    uint32_t k, n;
};

struct pim_weight_shape pim_weight_shape(const struct pim_allspark_stage *stage,
                                         enum pim_allspark_weight weight, uint32_t column);

/* Whether a block has that product: only the first of a stage merges patches. */
static inline bool pim_weight_exists(const struct pim_allspark_stage *stage, enum pim_allspark_weight weight,
                                     uint32_t block)
{
    return weight != PIM_ALLSPARK_MERGE || (block == 0 && stage->merge_inputs > 0);
}

/* Address of a product's weight share on every node of the ring. */
uint64_t pim_weight_address(const struct pim_allspark_stage *stage, uint32_t block,
                            enum pim_allspark_weight weight);

/*
 * The workspace of a node in a stage: addresses of its parts. Matrices lie row by row; a matrix that
 * circulates within a row of nodes lies in pieces, one for each column c, of p rows x the channels of c.
 *
 * Invariants:
 *  1. What outlives a temporal layer has a place for each layer: the features, and the inputs of the merging
 *     while the layers before work. Everything else belongs to the layer that is being worked.
 *  2. The parts for attention, feed-forward, merging and pooling lie over one another: no two of them are
 *     live at the same time.
 *  3. Addresses are the same on all nodes: sizes are those of the row with most tokens and the column with
 *     most channels.
 */
struct pim_workspace {
    /* for each layer p x q: the residual stream of the branch that this node has in it */
    uint64_t features;
    uint64_t features_stride; /* from a layer's to the next */
    /* for each layer what this node has before merging: p x merge_inputs of its column; patches: p x
       merge_inputs */
    uint64_t inputs;
    uint64_t inputs_stride;
    /* pieces of p x 4 bytes: mean and variance of the tokens over the channels of a column */
    uint64_t statistics;
    uint64_t gathered;     /* pieces of p x q(c): input of the products with channels inputs */
    uint64_t query;        /* p x q */
    uint64_t keys, values; /* N x q; the rows of this node are its own */
    uint64_t scores;       /* p x N for each head of this node */
    uint64_t hidden;       /* pieces of p x hidden(c) */
    uint64_t merged;       /* pieces of p x merge_inputs(c); this node's own piece stays in `inputs` */
    /* last stage, without class token: sums of the channels of a column, from every node of that column */
    uint64_t pooled;
    uint64_t logits;  /* last stage: the classes of a column */
    uint64_t weights; /* k x n of the phase, when it comes from the ring */
    uint64_t end;
};

/* Branches of a temporal layer: layers are filled one after another. */
uint32_t pim_branches_of_layer(const struct pim_allspark_stage *stage, uint32_t layer);

/* Whether the classifier works on the average of all tokens. */
static inline bool pim_stage_pools(const struct pim_allspark_stage *stage)
{
    return stage->classes > 0 && stage->class_tokens == 0;
}

/* Nodes of a column that have tokens to average, over all branches: those of the first layer, which is the
   fullest. */
static inline uint64_t pim_pooled_parts(const struct pim_allspark_stage *stage)
{
    return (uint64_t)pim_branches_of_layer(stage, 0) * stage->u;
}

void pim_workspace_layout(const struct pim_allspark_stage *stage, uint64_t base,
                          struct pim_workspace *workspace);

/* Channels of the columns before `column`. */
static inline uint32_t pim_stage_channels_before(const struct pim_allspark_stage *stage, uint32_t column)
{
    return (uint32_t)pim_share_begin(stage->heads, stage->v, column) * stage->head_channels;
}

/*
 * `total` channels (hidden, merge inputs) spread over the columns like the channels of the stage: those of
 * the columns before `column`, and its own. The parts of all columns add up to `total` also where it is no
 * multiple of the channels.
 */
static inline uint32_t pim_stage_spread_before(const struct pim_allspark_stage *stage, uint64_t total,
                                               uint32_t column)
{
    return (uint32_t)(total * pim_stage_channels_before(stage, column) / stage->channels);
}

static inline uint32_t pim_stage_spread(const struct pim_allspark_stage *stage, uint64_t total,
                                        uint32_t column)
{
    return pim_stage_spread_before(stage, total, column + 1) - pim_stage_spread_before(stage, total, column);
}

/* The largest of these parts: not always that of column 0, the first to be rounded. */
static inline uint32_t pim_stage_widest(const struct pim_allspark_stage *stage, uint64_t total)
{
    uint32_t most = 0;
    for (uint32_t column = 0; column < stage->v; column++) {
        uint32_t width = pim_stage_spread(stage, total, column);
        most = width > most ? width : most;
    }
    return most;
}

/* Sets scheme, ring and temporal layers of every stage, and the memory of the plan (choose.c).
   PIM_BAD_INPUT: what does not fit. */
enum pim_status pim_plan_choose(struct pim_allspark_plan *plan, const struct pim_allspark_options *options,
                                struct pim_error *error);

/* Fills weight_bytes and workspace_bytes of a stage whose scheme, ring and layers are set. */
void pim_stage_memory(struct pim_allspark_stage *stage);

/* Does so for all stages, and fills the bases and sums of the plan. */
void pim_plan_memory(struct pim_allspark_plan *plan);

/* Bytes of the classifier on each of the nodes that hold a part of it; 0 for a stage without one behind
   it. */
uint64_t pim_head_bytes(const struct pim_allspark_stage *stage);

#endif
