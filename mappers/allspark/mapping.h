/* The insides of the Allspark front-end: shapes of a stage's nodes, the memory of a node, and the emitter. */
#ifndef PIMSIM_MAPPERS_ALLSPARK_MAPPING_H
#define PIMSIM_MAPPERS_ALLSPARK_MAPPING_H

#include "mappers/allspark/allspark.h"
#include "sim/integer.h"

enum {
    PIM_STATISTICS_BYTES = 4,  /* mean and variance of a token, 16 bits each */
    PIM_SUM_BYTES = 2,         /* sum of a channel over the tokens of a node */
    PIM_RESIDENT_MATRICES = 3, /* query, keys and values of a layer, while another stage attends */
};

/* `total` things over `parts`: the part with number `index`, larger parts first; and where it begins. */
static inline uint64_t pim_even_part(uint64_t total, uint64_t parts, uint64_t index)
{
    return total / parts + (index < total % parts);
}

static inline uint64_t pim_even_begin(uint64_t total, uint64_t parts, uint64_t index)
{
    uint64_t larger = total % parts;
    return index * (total / parts) + (index < larger ? index : larger);
}

/* Branches of a full temporal layer. */
static inline uint32_t pim_layer_capacity(const struct pim_allspark_partition *part)
{
    return part->layout.count * part->slots;
}

/* Channels and tokens of a node; row and column in the sub-array. */
static inline uint32_t pim_stage_tokens(const struct pim_allspark_partition *part, uint32_t row)
{
    return (uint32_t)pim_even_part(part->tokens, part->u, row);
}

static inline uint32_t pim_stage_channels(const struct pim_allspark_partition *part, uint32_t column)
{
    return (uint32_t)pim_even_part(part->heads, part->v, column) * part->head_channels;
}

/* Blocks of a node's rows that have scores, softmax and context one after another, so that the scores of one
   block alone are stored; the rows of a block, and those before it. */
static inline uint32_t pim_row_blocks(const struct pim_allspark_partition *part)
{
    return part->row_blocks > 1 ? part->row_blocks : 1;
}

static inline uint32_t pim_block_rows(const struct pim_allspark_partition *part, uint32_t row, uint32_t block)
{
    return (uint32_t)pim_even_part(pim_stage_tokens(part, row), pim_row_blocks(part), block);
}

static inline uint32_t pim_rows_before(const struct pim_allspark_partition *part, uint32_t row,
                                       uint32_t block)
{
    return (uint32_t)pim_even_begin(pim_stage_tokens(part, row), pim_row_blocks(part), block);
}

/* Keys and values of a node. */
static inline uint32_t pim_stage_keys(const struct pim_allspark_partition *part, uint32_t row)
{
    return (uint32_t)pim_even_part(part->key_tokens, part->u, row);
}

/* Those that a node makes of the tokens of its branch. */
static inline uint32_t pim_stage_made(const struct pim_allspark_partition *part, uint32_t row)
{
    return (uint32_t)pim_even_part(part->made_keys, part->u, row);
}

/*
 * Focal: the last row, which has fewest tokens, has the pooled token of its branch behind its own ones. Keys
 * and values are worked from these rows.
 */
static inline bool pim_stage_focuses(const struct pim_allspark_partition *part)
{
    return part->focal.side > 0;
}

/* Whether a branch needs keys and values of others, which all layers make before the first attends
   (neighbours.c). */
static inline bool pim_stage_collects(const struct pim_allspark_partition *part)
{
    return pim_stage_focuses(part) || part->made_keys < part->key_tokens;
}

static inline uint32_t pim_stage_rows(const struct pim_allspark_partition *part, uint32_t row)
{
    return pim_stage_tokens(part, row) + (pim_stage_focuses(part) && row + 1 == part->u ? 1u : 0u);
}

/* Of the row that has most of them. */
static inline uint32_t pim_stage_most_rows(const struct pim_allspark_partition *part)
{
    uint32_t first = pim_stage_rows(part, 0), last = pim_stage_rows(part, part->u - 1);
    return first > last ? first : last;
}

/* Shape of a product with weights on column `column`: k x n elements of 8 bits; the input is in v segments
   of inner[column'] channels. */
struct pim_weight_shape {
    uint32_t k, n;
};

struct pim_weight_shape pim_weight_shape(const struct pim_allspark_partition *part,
                                         enum pim_allspark_weight weight, uint32_t column);

/* Whether a block has that product: only the first of a stage merges patches, and not all reduce keys. */
static inline bool pim_weight_exists(const struct pim_allspark_partition *part,
                                     enum pim_allspark_weight weight, uint32_t block)
{
    if (weight == PIM_ALLSPARK_POSITION)
        return part->position.convolution == PIM_CONVOLUTION_OVER_VALUES ||
               (part->position.convolution == PIM_CONVOLUTION_OVER_MAP && block == 0);
    if (part->work == PIM_ALLSPARK_STRIPES)
        return false;
    if (weight == PIM_ALLSPARK_REDUCTION)
        return part->reduction > 1;
    if (weight == PIM_ALLSPARK_POOL)
        return pim_stage_focuses(part);
    return weight != PIM_ALLSPARK_MERGE || (block == 0 && part->merge_inputs > 0);
}

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

/* Branches of the temporal layer `layer` of a partition (0: its first). Layers are filled one after
   another. */
uint32_t pim_branches_of_layer(const struct pim_allspark_partition *part, uint32_t layer);

/* Whether the classifier works on the average of all tokens. */
static inline bool pim_stage_pools(const struct pim_allspark_partition *part)
{
    return part->classes > 0 && part->class_tokens == 0;
}

/* Nodes of a column of this partition that have tokens to average, over all branches: those of its first
   layer, which is the fullest. */
static inline uint64_t pim_pooled_parts(const struct pim_allspark_partition *part)
{
    return (uint64_t)pim_branches_of_layer(part, 0) * part->u;
}

/* As many as these are at most, whatever layers there are: what the workspace has room for and the estimate
   counts, so that a partition costs the same in every company. */
static inline uint64_t pim_pooled_parts_at_most(const struct pim_allspark_partition *part)
{
    uint64_t capacity = pim_layer_capacity(part);
    return (capacity < part->branches ? capacity : part->branches) * part->u;
}

/* Whether every node has all weights of the stage, so that other partitions may reuse them (Term 1). */
static inline bool pim_partition_is_whole(const struct pim_allspark_partition *part)
{
    return part->v == 1 && part->ring == 1;
}

/* Bytes of the scores of an image that a node stores at a time. */
uint64_t pim_scores_bytes(const struct pim_allspark_partition *part);

/* The workspace of image `image` in partition `index` of a stage, from address `base` on. */
void pim_workspace_layout(const struct pim_allspark_stage *stage, uint32_t index, uint32_t image,
                          uint64_t base, struct pim_workspace *workspace);

/* Channels of the columns before `column`. */
static inline uint32_t pim_stage_channels_before(const struct pim_allspark_partition *part, uint32_t column)
{
    return (uint32_t)pim_even_begin(part->heads, part->v, column) * part->head_channels;
}

/* Things first to end - 1; none where these meet. What two ranges have in common. */
struct pim_range {
    uint64_t first, end;
};

static inline struct pim_range pim_common_range(struct pim_range a, struct pim_range b)
{
    uint64_t first = pim_larger(a.first, b.first);
    return (struct pim_range){first, pim_larger(first, pim_smaller(a.end, b.end))};
}

static inline struct pim_range pim_stage_channel_range(const struct pim_allspark_partition *part,
                                                       uint32_t column)
{
    uint32_t first = pim_stage_channels_before(part, column);
    return (struct pim_range){first, first + pim_stage_channels(part, column)};
}

/*
 * `total` channels (hidden, merge inputs) spread over the columns like the channels of the stage: those of
 * the columns before `column`, and its own. The parts of all columns add up to `total` also where it is no
 * multiple of the channels.
 */
static inline uint32_t pim_stage_spread_before(const struct pim_allspark_partition *part, uint64_t total,
                                               uint32_t column)
{
    return (uint32_t)(total * pim_stage_channels_before(part, column) / part->channels);
}

static inline uint32_t pim_stage_spread(const struct pim_allspark_partition *part, uint64_t total,
                                        uint32_t column)
{
    return pim_stage_spread_before(part, total, column + 1) - pim_stage_spread_before(part, total, column);
}

/* The largest of these parts: not always that of column 0, the first to be rounded. */
static inline uint32_t pim_stage_widest(const struct pim_allspark_partition *part, uint64_t total)
{
    uint32_t most = 0;
    for (uint32_t column = 0; column < part->v; column++) {
        uint32_t width = pim_stage_spread(part, total, column);
        most = width > most ? width : most;
    }
    return most;
}

/* Sets partitions, rings and temporal layers of every stage, and the memory of the plan (choose.c).
   PIM_BAD_INPUT: what does not fit. */
enum pim_status pim_plan_choose(struct pim_allspark_plan *plan, const struct pim_allspark_options *options,
                                struct pim_error *error);

/* Whether the windows of a stage or its partner have more tokens than the map. Tokens that are none get
   those of the other end of the map, cyclically, when features come back to the windows: a window is not
   larger than the map, so that a token is there at most PIM_PADDED_COPIES times. */
enum { PIM_PADDED_COPIES = 4 };
static inline bool pim_stage_padded(const struct pim_allspark_plan *plan, uint32_t index)
{
    const struct pim_allspark_stage *stage = &plan->stage[index], *partner = &plan->stage[stage->partner];
    const struct pim_allspark_partition *a = &stage->partition[0], *b = &partner->partition[0];
    return (uint64_t)a->branches * a->tokens != (uint64_t)b->branches * b->tokens;
}

/* The slot that a branch is bound to; the partition that has a slot; and the partition of a branch, whose
   *layer is counted from its first. */
static inline uint32_t pim_stage_slot(const struct pim_allspark_stage *stage, uint32_t branch)
{
    return stage->slot_of ? stage->slot_of[branch] : branch;
}

static inline uint32_t pim_stage_partition_of_slot(const struct pim_allspark_stage *stage, uint32_t slot)
{
    uint32_t index = 0;
    while (slot >= stage->partition[index].first_branch + stage->partition[index].layer_branches)
        index++;
    return index;
}

static inline uint32_t pim_stage_partition_of(const struct pim_allspark_stage *stage, uint32_t branch,
                                              uint32_t *layer)
{
    uint32_t slot = pim_stage_slot(stage, branch), index = pim_stage_partition_of_slot(stage, slot);
    const struct pim_allspark_partition *part = &stage->partition[index];
    *layer = (slot - part->first_branch) / pim_layer_capacity(part);
    return index;
}

/* Unit of position `ring`, `column` of a tile of a layout. */
uint32_t pim_tile_unit(const struct pim_allspark_plan *plan, const struct pim_allspark_tile *tile,
                       uint32_t ring, uint32_t column);

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

/* Cuts the global attention of Twins into branches (global.c), as many as the options say or, where
   partitions are chosen, as make each stage alone quickest. PIM_BAD_INPUT: so many are not possible.
   PIM_NO_MEMORY. */
enum pim_status pim_plan_divide(struct pim_allspark_plan *plan, const struct pim_allspark_options *options,
                                struct pim_error *error);

/* Whether a stage of the plan has the global blocks of Twins. */
bool pim_stage_is_global(const struct pim_allspark_plan *plan, uint32_t index);

/* Splits the last stage of the plan, a stage of the network whose blocks attend in stripes, and the copy of
   it before into the two stages of stripes.c. */
void pim_stripes_split(struct pim_allspark_plan *plan);

/* How often a token is in stripes of one direction, at most: some are in two that reach beyond the map. */
uint32_t pim_stripes_copies(const struct pim_allspark_plan *plan, uint32_t index);

/* The workspace of a stage whose features the convolution over the map takes: what lasts of the stage, and
   behind it what tokens need on their way to their neighbours (border.c); 0: it has none. */
uint64_t pim_border_workspace(const struct pim_allspark_plan *plan, uint32_t index);

/* What stage `index` and its partner need of the workspace together, when they are those two. */
uint64_t pim_stripes_workspace(const struct pim_allspark_plan *plan, uint32_t index);

/* Binds the branches of every stage (placement/stage.c): fills slot_of. The layouts are there.
   PIM_NO_MEMORY. */
enum pim_status pim_plan_place(struct pim_allspark_plan *plan, struct pim_error *error);

/* Where branches exchange over top-left nodes: counts the staging of these in the workspace (interaction.c).
   Branches have their places. PIM_BAD_INPUT: it has no room. PIM_NO_MEMORY. */
enum pim_status pim_plan_exchange(struct pim_allspark_plan *plan, struct pim_error *error);

/* Numbers the layers of a stage whose partitions have u, v, ring, layout.count, slots and layers: gives each
   partition its first layer and its branches. */
void pim_stage_number(struct pim_allspark_stage *stage);

/* Fills the bytes of a partition; `alone`: its stage has a single layer. */
void pim_partition_memory(struct pim_allspark_partition *part, bool alone);

/* Fills the bytes of all stages and of their partitions, which are numbered, and the bases and sums of the
   plan. */
void pim_plan_memory(struct pim_allspark_plan *plan);

/* Bytes of the classifier on each of the nodes that hold a part of it; 0 for a stage without one behind
   it. */
uint64_t pim_head_bytes(const struct pim_allspark_partition *part);

#endif
