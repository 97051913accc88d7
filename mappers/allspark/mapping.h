/* The insides of the Allspark front-end: shapes of a stage's nodes, the memory of a node, and the emitter. */
#ifndef PIMSIM_MAPPERS_ALLSPARK_MAPPING_H
#define PIMSIM_MAPPERS_ALLSPARK_MAPPING_H

#include "mappers/allspark/allspark.h"

enum { PIM_STATISTICS_BYTES = 4 }; /* mean and variance of a token, 16 bits each */

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

/* Shape of a product with weights on column `column`: k x n elements of 8 bits; the input is in v segments of inner[column'] channels. */
struct pim_weight_shape {
    uint32_t k, n;
};

struct pim_weight_shape pim_weight_shape(const struct pim_allspark_stage *stage, enum pim_allspark_weight weight, uint32_t column);

/* Whether a block has that product: only the first of a stage merges patches. */
static inline bool pim_weight_exists(const struct pim_allspark_stage *stage, enum pim_allspark_weight weight, uint32_t block)
{
    return weight != PIM_ALLSPARK_MERGE || (block == 0 && stage->merge_inputs > 0);
}

/* Address of a product's weight share on every node of the ring. */
uint64_t pim_weight_address(const struct pim_allspark_stage *stage, uint32_t block, enum pim_allspark_weight weight);

/*
 * The workspace of a node in a stage: addresses of its parts. Matrices lie row by row; a matrix that circulates within a row of nodes
 * lies in pieces, one for each column c, of p rows x the channels of c. The parts for attention, feed-forward and merging lie over
 * one another, since they are not used at the same time.
 */
struct pim_workspace {
    uint64_t features;   /* p x q: the residual stream of this node */
    uint64_t statistics; /* pieces of p x 4 bytes: mean and variance of the tokens over the channels of a column */
    uint64_t gathered;   /* pieces of p x q(c): input of the products with channels inputs */
    uint64_t query;      /* p x q */
    uint64_t keys, values; /* N x q; the rows of this node are its own */
    uint64_t scores;     /* p x N for each head of this node */
    uint64_t hidden;     /* pieces of p x hidden(c) */
    uint64_t merged;     /* pieces of p x merge_inputs(c) */
    uint64_t weights;    /* k x n of the phase, when it comes from the ring */
    uint64_t end;
};

void pim_workspace_layout(const struct pim_allspark_stage *stage, uint64_t base, struct pim_workspace *workspace);

/* Channels of column `column` when `total` channels (hidden, merge inputs) are spread like the channels of the stage. */
static inline uint32_t pim_stage_spread(const struct pim_allspark_stage *stage, uint64_t total, uint32_t column)
{
    return (uint32_t)(total * pim_stage_channels(stage, column) / stage->channels);
}

/* Channels of the columns before `column`. */
static inline uint32_t pim_stage_channels_before(const struct pim_allspark_stage *stage, uint32_t column)
{
    return (uint32_t)pim_share_begin(stage->heads, stage->v, column) * stage->head_channels;
}

/* Fills weight_bytes, workspace_bytes and the bases of a plan whose schemes and rings are set. */
void pim_plan_memory(struct pim_allspark_plan *plan);

/* Bytes of the classifier on each of the nodes that hold a part of it. */
uint64_t pim_head_bytes(const struct pim_allspark_plan *plan);

#endif
