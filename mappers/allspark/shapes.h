/* What the nodes of a partition have each: tokens, channels, keys, rows, and products with weights. */
#ifndef PIMSIM_MAPPERS_ALLSPARK_SHAPES_H
#define PIMSIM_MAPPERS_ALLSPARK_SHAPES_H

#include "mappers/allspark/allspark.h"
#include "sim/integer.h"

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

/* Whether the windows of a stage or its partner have more tokens than the map. Tokens that are none get
   those of the other end of the map, cyclically, when features come back to the windows: a window is not
   larger than the map, so that a token is there at most PIM_PADDED_COPIES times. */
enum { PIM_PADDED_COPIES = 4 };

#endif
