/*
 * The memory of a node: weights of all stages (they are there before the first input), the classifier's, and
 * one workspace that all stages use in turn. Every part begins on a column of 64 bytes.
 */
#include "mappers/allspark/memory.h"
#include "mappers/allspark/layers/layers.h"
#include "mappers/allspark/planning.h"
#include "mappers/allspark/shapes.h"
#include "sim/integer.h"

struct pim_weight_shape pim_weight_shape(const struct pim_allspark_partition *part,
                                         enum pim_allspark_weight weight, uint32_t column)
{
    uint32_t q = pim_stage_channels(part, column);
    switch (weight) {
    case PIM_ALLSPARK_MERGE:
        return (struct pim_weight_shape){.k = part->merge_inputs, .n = q};
    case PIM_ALLSPARK_EXPAND:
        return (struct pim_weight_shape){.k = part->channels,
                                         .n = pim_stage_spread(part, part->hidden, column)};
    case PIM_ALLSPARK_CONTRACT:
        return (struct pim_weight_shape){.k = part->hidden, .n = q};
    case PIM_ALLSPARK_REDUCTION:
        return (struct pim_weight_shape){.k = part->reduction * part->channels, .n = q};
    case PIM_ALLSPARK_POOL:
        return (struct pim_weight_shape){.k = pim_stage_tokens(part, 0), .n = 1};
    case PIM_ALLSPARK_QUERY:
    case PIM_ALLSPARK_KEY:
    case PIM_ALLSPARK_VALUE:
    case PIM_ALLSPARK_PROJECTION:
    case PIM_ALLSPARK_POSITION: /* in no order of tiles: position.c */
    case PIM_ALLSPARK_WEIGHTS:
        break;
    }
    return (struct pim_weight_shape){.k = part->channels, .n = q};
}

/* Columns of a chunk: a multiple of the columns of a PE array; the same on all nodes. */
static uint32_t chunk_width(const struct pim_allspark_partition *part, enum pim_allspark_weight weight)
{
    enum { GRAIN = 8 };
    if (part->chunks <= 1)
        return UINT32_MAX;
    uint32_t n = pim_weight_shape(part, weight, 0).n, width = n / part->chunks + (n % part->chunks != 0);
    return (width + GRAIN - 1) / GRAIN * GRAIN;
}

uint32_t pim_chunk_count(const struct pim_allspark_partition *part, enum pim_allspark_weight weight,
                         uint32_t column)
{
    uint32_t n = pim_weight_shape(part, weight, column).n, width = chunk_width(part, weight);
    return n / width + (n % width != 0);
}

/* Without `home`. */
static struct pim_chunk chunk_of(const struct pim_allspark_partition *part, enum pim_allspark_weight weight,
                                 uint32_t column, uint32_t index)
{
    struct pim_weight_shape shape = pim_weight_shape(part, weight, column);
    uint32_t width = chunk_width(part, weight);
    uint32_t first = index == 0 ? 0 : index * width;
    uint32_t columns = shape.n - first < width ? shape.n - first : width;
    return (struct pim_chunk){.first = first, .columns = columns, .bytes = (uint64_t)shape.k * columns};
}

/* Of chunk `index` on column 0, the widest. */
static uint64_t largest_part(const struct pim_allspark_partition *part, enum pim_allspark_weight weight,
                             uint32_t index)
{
    return pim_even_part(chunk_of(part, weight, 0, index).bytes, part->ring, 0);
}

/* Bytes of a product's weights on each node: the largest parts of the widest column, so that addresses are
   the same on all nodes. */
static uint64_t node_bytes(const struct pim_allspark_partition *part, enum pim_allspark_weight weight)
{
    if (weight == PIM_ALLSPARK_POOL)
        return pim_memory_align(pim_stage_tokens(part, 0)); /* those of its row: not shared */
    if (weight == PIM_ALLSPARK_POSITION)
        return pim_memory_align(pim_position_weights(part) * pim_stage_channels(part, 0));
    uint32_t last = pim_chunk_count(part, weight, 0) - 1;
    return pim_memory_align(last * largest_part(part, weight, 0) + largest_part(part, weight, last));
}

uint64_t pim_zero_address(const struct pim_allspark_partition *part)
{
    return part->weight_base + (part->merge_inputs > 0 ? node_bytes(part, PIM_ALLSPARK_MERGE) : 0);
}

uint64_t pim_zero_bytes(const struct pim_allspark_partition *part)
{
    return pim_stage_focuses(part) ? pim_focal_zeros(part) : pim_position_zeros(part);
}

/* Whether a product is one of a block, not of the whole stage. */
static bool in_every_block(const struct pim_allspark_partition *part, enum pim_allspark_weight weight)
{
    return weight != PIM_ALLSPARK_MERGE &&
           (weight != PIM_ALLSPARK_POSITION || part->position.convolution != PIM_CONVOLUTION_OVER_MAP);
}

uint64_t pim_weight_address(const struct pim_allspark_partition *part, uint32_t block,
                            enum pim_allspark_weight weight)
{
    uint64_t in_block = 0, before = 0;
    for (enum pim_allspark_weight other = PIM_ALLSPARK_QUERY; other < PIM_ALLSPARK_WEIGHTS; other++) {
        if (!pim_weight_exists(part, other, block) || !in_every_block(part, other))
            continue;
        if (other < weight)
            before += node_bytes(part, other);
        in_block += node_bytes(part, other);
    }
    if (weight == PIM_ALLSPARK_MERGE)
        return part->weight_base;
    uint64_t stage = pim_zero_address(part) + pim_memory_align(pim_zero_bytes(part));
    if (weight == PIM_ALLSPARK_POSITION && !in_every_block(part, weight))
        return stage;
    if (part->position.convolution == PIM_CONVOLUTION_OVER_MAP)
        stage += node_bytes(part, PIM_ALLSPARK_POSITION);
    return stage + block * in_block + before;
}

struct pim_chunk pim_chunk(const struct pim_allspark_partition *part, uint32_t block,
                           enum pim_allspark_weight weight, uint32_t column, uint32_t index)
{
    struct pim_chunk chunk = chunk_of(part, weight, column, index);
    /* All chunks but the last are as wide as the first. */
    chunk.home = pim_weight_address(part, block, weight) + index * largest_part(part, weight, 0);
    return chunk;
}

static uint64_t take(uint64_t *cursor, uint64_t bytes)
{
    uint64_t address = *cursor;
    *cursor += pim_memory_align(bytes);
    return address;
}

/* Weights of a chunk that come from other nodes: all but the part of the node itself. */
static uint64_t largest_weights(const struct pim_allspark_partition *part)
{
    uint64_t largest = 0;
    for (enum pim_allspark_weight weight = PIM_ALLSPARK_MERGE;
         weight < PIM_ALLSPARK_WEIGHTS && part->ring > 1 && !part->reuses; weight++) {
        if (weight == PIM_ALLSPARK_POOL || weight == PIM_ALLSPARK_POSITION)
            continue; /* each node has its own */
        uint64_t total = chunk_of(part, weight, 0, 0).bytes;
        if (pim_weight_exists(part, weight, 0))
            largest = pim_larger(largest, total - pim_even_part(total, part->ring, part->ring - 1));
    }
    return pim_memory_align(largest);
}

/* The piece that is multiplied and, where the plan prefetches, the next one. */
static uint64_t room_for_weights(const struct pim_allspark_partition *part)
{
    return (part->prefetch ? 2 : 1) * largest_weights(part);
}

/* Bytes of the workspace that last, for each layer of a partition: features, inputs of the merging, and what
   goes between the two stages of CSWin. */
static uint64_t matrix_bytes(const struct pim_allspark_partition *part)
{
    return pim_memory_align((uint64_t)pim_stage_tokens(part, 0) * pim_stage_channels(part, 0));
}

static uint64_t features_bytes(const struct pim_allspark_partition *part)
{
    return part->work == PIM_ALLSPARK_STRIPES ? 0 : matrix_bytes(part);
}

static uint64_t resident_bytes(const struct pim_allspark_partition *part)
{
    return part->work == PIM_ALLSPARK_BLOCK ? 0 : matrix_bytes(part);
}

static uint64_t inputs_bytes(const struct pim_allspark_partition *part)
{
    uint32_t width = part->embeds ? part->merge_inputs : pim_stage_widest(part, part->merge_inputs);
    uint64_t inputs = pim_memory_align((uint64_t)pim_stage_tokens(part, 0) * width);
    /* Once the patches are merged, tokens that leave the branch or come to it are staged there. */
    if (pim_stage_collects(part))
        return pim_larger(inputs, pim_memory_align(pim_neighbours_leaving(part)));
    return part->shift > 0 ? pim_larger(inputs, 2 * features_bytes(part)) : inputs;
}

/* Query, keys and values of a layer, which others need before the layer goes on. */
static uint64_t own_bytes(const struct pim_allspark_partition *part)
{
    uint64_t q = pim_stage_channels(part, 0);
    uint32_t keys = pim_stage_focuses(part) ? pim_stage_most_rows(part) : pim_stage_made(part, 0);
    return pim_stage_collects(part) ? features_bytes(part) + 2 * pim_memory_align(keys * q) : 0;
}

/* Sums of the channels of a column over the tokens of a partition, and as many as any column of the first
   partition may have of them. */
static uint64_t sums_bytes(const struct pim_allspark_partition *part)
{
    return pim_stage_pools(part) ? pim_memory_align(PIM_SUM_BYTES * (uint64_t)pim_stage_channels(part, 0)) +
                                       pim_memory_align(PIM_SUM_BYTES * (uint64_t)part->channels)
                                 : 0;
}

uint64_t pim_scores_bytes(const struct pim_allspark_partition *part)
{
    return pim_even_part(part->heads, part->v, 0) * pim_block_rows(part, 0, 0) * part->key_tokens;
}

/* Parts that follow each other from `cursor` on and that a layer needs while it is worked; `inputs` too when
   the stage has one layer alone, whose merging comes first. */
static uint64_t lay_out_activity(const struct pim_allspark_partition *part, bool alone, uint64_t cursor,
                                 struct pim_workspace *workspace)
{
    uint64_t p = pim_stage_tokens(part, 0), q = pim_stage_channels(part, 0);
    uint64_t keys = part->key_tokens;
    uint64_t reduced = part->reduction > 1 ? pim_stage_made(part, 0) * (uint64_t)part->channels : 0;
    workspace->statistics = take(&cursor, part->v > 1 ? p * PIM_STATISTICS_BYTES * part->v : 0);
    uint64_t merging = cursor, attention = cursor, pooling = cursor;
    if (alone)
        workspace->inputs = take(&merging, workspace->inputs_stride);
    workspace->merged = take(&merging, part->embeds || part->v == 1 ? 0 : p * part->merge_inputs);
    bool stripes = part->work == PIM_ALLSPARK_STRIPES, attends = part->work != PIM_ALLSPARK_PROJECTIONS;
    /* feed-forward uses it too */
    workspace->gathered =
        take(&attention, stripes ? 0 : (uint64_t)pim_stage_most_rows(part) * part->channels);
    uint64_t forward = attention;
    bool queries = part->work == PIM_ALLSPARK_BLOCK && !pim_stage_collects(part);
    workspace->query = take(&attention, queries ? p * q : 0);
    workspace->keys = take(&attention, attends ? keys * q : 0);
    workspace->values = take(&attention, attends ? keys * q : 0);
    workspace->scores = take(&attention, attends ? pim_scores_bytes(part) : 0);
    workspace->reduction_inputs = take(&attention, reduced * part->reduction);
    workspace->reduced = take(&attention, reduced);
    workspace->pool_parts = take(&attention, pim_stage_focuses(part) && part->u > 1 ? part->u * q : 0);
    workspace->arrived = take(&attention, pim_stage_collects(part) ? 2 * pim_stage_keys(part, 0) * q : 0);
    workspace->hidden = take(&forward, p * part->hidden);
    /* the one token that is classified, in `gathered` */
    (void)take(&pooling, part->classes > 0 ? part->channels : 0);
    workspace->pooled = take(
        &pooling,
        pim_stage_pools(part) ? (pim_pooled_parts_at_most(part) + PIM_PARTITIONS) * PIM_SUM_BYTES * q : 0);
    workspace->logits = take(&pooling, pim_even_part(part->classes, part->v, 0));
    return pim_larger(pim_larger(attention, forward), pim_larger(merging, pooling));
}

/* Of the partitions before `partition`, for an image. */
static uint64_t lasting_before(const struct pim_allspark_stage *stage, uint32_t partition)
{
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < partition; i++)
        bytes += stage->partition[i].layers * stage->partition[i].layer_bytes + stage->partition[i].sum_bytes;
    return bytes;
}

uint64_t pim_stage_lasting(const struct pim_allspark_stage *stage)
{
    return lasting_before(stage, stage->partitions);
}

void pim_workspace_layout(const struct pim_allspark_stage *stage, uint32_t index, uint32_t image,
                          uint64_t base, struct pim_workspace *workspace)
{
    const struct pim_allspark_partition *part = &stage->partition[index];
    bool alone = stage->layers == 1 && !pim_stage_collects(part);
    base += stage->workspace_offset;
    uint64_t lasting = pim_stage_lasting(stage),
             cursor = base + image * lasting + lasting_before(stage, index);
    workspace->features_stride = features_bytes(part);
    workspace->inputs_stride = inputs_bytes(part);
    workspace->features = take(&cursor, part->layers * features_bytes(part));
    workspace->inputs = take(&cursor, alone ? 0 : part->layers * inputs_bytes(part));
    workspace->own_stride = own_bytes(part);
    workspace->own = take(&cursor, part->layers * own_bytes(part));
    workspace->own_keys = features_bytes(part);
    workspace->own_values = (own_bytes(part) + features_bytes(part)) / 2;
    workspace->resident_bytes = resident_bytes(part);
    workspace->resident = take(&cursor, part->layers * PIM_RESIDENT_MATRICES * resident_bytes(part));
    workspace->sums = cursor;
    workspace->collected = cursor + pim_memory_align(PIM_SUM_BYTES * (uint64_t)pim_stage_channels(part, 0));
    cursor = base + part->batch * lasting;
    (void)lay_out_activity(part, alone, cursor + image * part->activity_bytes, workspace);
    workspace->weights[0] = cursor + part->batch * part->activity_bytes;
    workspace->end = workspace->weights[0] + room_for_weights(part);
    workspace->weights[1] = workspace->end - largest_weights(part);
}

uint64_t pim_head_bytes(const struct pim_allspark_partition *part)
{
    return pim_memory_align(pim_even_part(part->classes, part->v, 0) * part->channels);
}

uint64_t pim_allspark_block_bytes(const struct pim_allspark_partition *part)
{
    uint64_t bytes = 0;
    for (enum pim_allspark_weight weight = PIM_ALLSPARK_QUERY; weight < PIM_ALLSPARK_WEIGHTS; weight++)
        if (pim_weight_exists(part, weight, 0))
            bytes += (in_every_block(part, weight) ? part->blocks : 1) * node_bytes(part, weight);
    return bytes;
}

uint64_t pim_stage_weights(const struct pim_allspark_partition *part)
{
    return pim_zero_address(part) - part->weight_base + pim_memory_align(pim_zero_bytes(part)) +
           pim_allspark_block_bytes(part);
}

void pim_partition_memory(struct pim_allspark_partition *part, bool alone)
{
    part->weight_bytes = part->reuses ? 0 : pim_stage_weights(part);
    alone = alone && !pim_stage_collects(part); /* what leaves is staged there while attention is live */
    struct pim_workspace workspace = {.inputs_stride = inputs_bytes(part)};
    part->layer_bytes = features_bytes(part) + own_bytes(part) + (alone ? 0 : inputs_bytes(part)) +
                        PIM_RESIDENT_MATRICES * resident_bytes(part);
    part->sum_bytes = sums_bytes(part);
    part->activity_bytes = lay_out_activity(part, alone, 0, &workspace);
    part->scratch_bytes = part->batch * part->activity_bytes + room_for_weights(part);
}

void pim_stage_number(struct pim_allspark_stage *stage)
{
    uint32_t layer = 0, branch = 0;
    for (uint32_t i = 0; i < stage->partitions; i++) {
        struct pim_allspark_partition *part = &stage->partition[i];
        uint64_t room = (uint64_t)part->layers * pim_layer_capacity(part);
        part->first_layer = layer;
        part->first_branch = branch;
        part->layer_branches = part->branches - branch < room ? part->branches - branch : (uint32_t)room;
        layer += part->layers;
        branch += part->layer_branches;
    }
    stage->layers = layer;
}

/* The bytes of a stage and of its partitions, which are numbered. */
static void stage_memory(struct pim_allspark_stage *stage)
{
    uint64_t lasting = 0, scratch = 0;
    stage->weight_bytes = 0;
    for (uint32_t i = 0; i < stage->partitions; i++) {
        struct pim_allspark_partition *part = &stage->partition[i];
        pim_partition_memory(part, stage->layers == 1);
        stage->weight_bytes += part->weight_bytes;
        lasting += part->batch * (part->layers * part->layer_bytes + part->sum_bytes);
        scratch = pim_larger(scratch, part->scratch_bytes);
    }
    stage->workspace_bytes = lasting + scratch;
}

uint64_t pim_stage_features_before(const struct pim_allspark_stage *stage, uint32_t partition)
{
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < partition; i++)
        bytes += stage->partition[i].layers * features_bytes(&stage->partition[i]);
    return bytes;
}

uint64_t pim_stage_lasting_of_both(const struct pim_allspark_plan *plan,
                                   const struct pim_allspark_stage *stage)
{
    return plan->batch *
           pim_larger(pim_stage_lasting(stage), pim_stage_lasting(&plan->stage[stage->partner]));
}

/* What a stage and its partner need while features go from one to the other: those of both, staged, behind
   what of both lasts, which lies upon each other. */
static uint64_t hand_over_bytes(const struct pim_allspark_plan *plan, uint32_t index)
{
    const struct pim_allspark_stage *stage = &plan->stage[index], *partner = &plan->stage[stage->partner];
    if (stage == partner)
        return 0;
    if (stage->partition[0].work != PIM_ALLSPARK_BLOCK)
        return pim_stripes_workspace(plan, index);
    /* Windows that are not whole take some tokens again, at most four times each. */
    uint64_t copies = pim_stage_padded(plan, index) ? PIM_PADDED_COPIES : 1;
    return pim_stage_lasting_of_both(plan, stage) +
           copies * plan->batch * (pim_stage_features(stage) + pim_stage_features(partner));
}

void pim_plan_memory(struct pim_allspark_plan *plan)
{
    uint64_t cursor = 0;
    plan->workspace_bytes = 0;
    for (uint32_t s = 0; s < plan->stages; s++) {
        struct pim_allspark_stage *stage = &plan->stage[s];
        uint64_t whole = cursor; /* address of the copy that others reuse */
        stage_memory(stage);
        for (uint32_t i = 0; i < stage->partitions; i++) {
            struct pim_allspark_partition *part = &stage->partition[i];
            part->weight_base = cursor;
            if (pim_partition_is_whole(part))
                whole = cursor;
            cursor += part->weight_bytes;
        }
        for (uint32_t i = 0; i < stage->partitions; i++)
            if (stage->partition[i].reuses)
                stage->partition[i].weight_base = whole;
        plan->workspace_bytes = pim_larger(plan->workspace_bytes, stage->workspace_bytes);
    }
    for (uint32_t s = 0; s < plan->stages; s++)
        plan->workspace_bytes = pim_larger(
            plan->workspace_bytes, pim_larger(hand_over_bytes(plan, s), pim_border_workspace(plan, s)));
    for (uint32_t s = 0; s < plan->stages; s++)
        if (plan->stage[s].partition[0].work == PIM_ALLSPARK_STRIPES)
            plan->stage[s].workspace_offset =
                plan->stage[s].partition[0].batch * pim_stage_lasting(&plan->stage[plan->stage[s].partner]);
    plan->head_base = cursor;
    plan->head_bytes = pim_head_bytes(&plan->stage[plan->stages - 1].partition[0]);
    plan->weight_bytes = cursor + plan->head_bytes;
    plan->workspace_base = plan->weight_bytes;
}
