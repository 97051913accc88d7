/*
 * The memory of a node: weights of all stages (they are there before the first input), the classifier's, and
 * one workspace that all stages use in turn. Every part begins on a column of 64 bytes.
 */
#include "mappers/allspark/mapping.h"

enum { ALIGNMENT = 64 };

static uint64_t align(uint64_t bytes)
{
    return (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

struct pim_weight_shape pim_weight_shape(const struct pim_allspark_stage *stage,
                                         enum pim_allspark_weight weight, uint32_t column)
{
    uint32_t q = pim_stage_channels(stage, column);
    switch (weight) {
    case PIM_ALLSPARK_MERGE:
        return (struct pim_weight_shape){.k = stage->merge_inputs, .n = q};
    case PIM_ALLSPARK_EXPAND:
        return (struct pim_weight_shape){.k = stage->channels,
                                         .n = pim_stage_spread(stage, stage->hidden, column)};
    case PIM_ALLSPARK_CONTRACT:
        return (struct pim_weight_shape){.k = stage->hidden, .n = q};
    case PIM_ALLSPARK_QUERY:
    case PIM_ALLSPARK_KEY:
    case PIM_ALLSPARK_VALUE:
    case PIM_ALLSPARK_PROJECTION:
    case PIM_ALLSPARK_WEIGHTS:
        break;
    }
    return (struct pim_weight_shape){.k = stage->channels, .n = q};
}

/* Bytes that each node keeps of a product: the largest share of the widest column, so that addresses are
   the same on all nodes. */
static uint64_t kept(const struct pim_allspark_stage *stage, enum pim_allspark_weight weight)
{
    struct pim_weight_shape shape = pim_weight_shape(stage, weight, 0);
    return align(pim_share((uint64_t)shape.k * shape.n, stage->ring, 0));
}

uint64_t pim_weight_address(const struct pim_allspark_stage *stage, uint32_t block,
                            enum pim_allspark_weight weight)
{
    uint64_t in_block = 0, before = 0;
    for (unsigned other = PIM_ALLSPARK_QUERY; other < PIM_ALLSPARK_WEIGHTS; other++) {
        if (other < (unsigned)weight)
            before += kept(stage, (enum pim_allspark_weight)other);
        in_block += kept(stage, (enum pim_allspark_weight)other);
    }
    uint64_t merge = pim_weight_exists(stage, PIM_ALLSPARK_MERGE, 0) ? kept(stage, PIM_ALLSPARK_MERGE) : 0;
    if (weight == PIM_ALLSPARK_MERGE)
        return stage->weight_base;
    return stage->weight_base + merge + block * in_block + before;
}

static uint64_t take(uint64_t *cursor, uint64_t bytes)
{
    uint64_t address = *cursor;
    *cursor += align(bytes);
    return address;
}

/* Weights of a phase, when some of them come from other nodes. */
static uint64_t largest_weights(const struct pim_allspark_stage *stage)
{
    uint64_t largest = 0;
    for (unsigned weight = 0; weight < PIM_ALLSPARK_WEIGHTS && stage->ring > 1; weight++) {
        struct pim_weight_shape shape = pim_weight_shape(stage, (enum pim_allspark_weight)weight, 0);
        if ((uint64_t)shape.k * shape.n > largest)
            largest = (uint64_t)shape.k * shape.n;
    }
    return largest;
}

static uint64_t latest(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

/* Parts that follow each other in `cursor`; `inputs` too when there is one layer alone, whose merging
   comes first. */
static uint64_t lay_out_layer(const struct pim_allspark_stage *stage, uint64_t cursor,
                              struct pim_workspace *workspace)
{
    uint64_t p = pim_stage_tokens(stage, 0), q = pim_stage_channels(stage, 0);
    uint64_t heads = pim_share(stage->heads, stage->v, 0);
    uint64_t merging = cursor, attention = cursor, pooling = cursor;
    if (stage->layers <= 1)
        workspace->inputs = take(&merging, workspace->inputs_stride);
    workspace->merged = take(&merging, stage->embeds || stage->v == 1 ? 0 : p * stage->merge_inputs);
    workspace->gathered = take(&attention, p * stage->channels); /* feed-forward uses it too */
    uint64_t forward = attention;
    workspace->query = take(&attention, p * q);
    workspace->keys = take(&attention, stage->tokens * q);
    workspace->values = take(&attention, stage->tokens * q);
    workspace->scores = take(&attention, heads * p * stage->tokens);
    workspace->hidden = take(&forward, p * stage->hidden);
    /* the one token that is classified, in `gathered` */
    (void)take(&pooling, stage->classes > 0 ? stage->channels : 0);
    workspace->pooled =
        take(&pooling, pim_stage_pools(stage) ? pim_pooled_parts(stage) * PIM_SUM_BYTES * q : 0);
    workspace->logits = take(&pooling, pim_share(stage->classes, stage->v, 0));
    return latest(latest(attention, forward), latest(merging, pooling));
}

void pim_workspace_layout(const struct pim_allspark_stage *stage, uint64_t base,
                          struct pim_workspace *workspace)
{
    uint64_t p = pim_stage_tokens(stage, 0), q = pim_stage_channels(stage, 0), layers = stage->layers;
    uint32_t width = stage->embeds ? stage->merge_inputs : pim_stage_widest(stage, stage->merge_inputs);
    uint64_t cursor = base;
    workspace->features_stride = align(p * q);
    workspace->inputs_stride = align(p * width);
    workspace->features = take(&cursor, layers * workspace->features_stride);
    workspace->statistics = take(&cursor, stage->v > 1 ? p * PIM_STATISTICS_BYTES * stage->v : 0);
    if (layers > 1)
        workspace->inputs = take(&cursor, layers * workspace->inputs_stride);
    cursor = lay_out_layer(stage, cursor, workspace);
    workspace->weights = take(&cursor, largest_weights(stage));
    workspace->end = cursor;
}

uint64_t pim_head_bytes(const struct pim_allspark_stage *stage)
{
    return align(pim_share(stage->classes, stage->v, 0) * stage->channels);
}

void pim_stage_memory(struct pim_allspark_stage *stage)
{
    stage->weight_bytes = 0;
    for (unsigned weight = 0; weight < PIM_ALLSPARK_WEIGHTS; weight++)
        if (pim_weight_exists(stage, (enum pim_allspark_weight)weight, 0))
            stage->weight_bytes += kept(stage, (enum pim_allspark_weight)weight) *
                                   (weight == PIM_ALLSPARK_MERGE ? 1 : stage->blocks);
    struct pim_workspace workspace;
    pim_workspace_layout(stage, 0, &workspace);
    stage->workspace_bytes = workspace.end;
}

void pim_plan_memory(struct pim_allspark_plan *plan)
{
    uint64_t cursor = 0;
    plan->workspace_bytes = 0;
    for (uint32_t s = 0; s < plan->stages; s++) {
        struct pim_allspark_stage *stage = &plan->stage[s];
        pim_stage_memory(stage);
        stage->weight_base = cursor;
        cursor += stage->weight_bytes;
        plan->workspace_bytes = latest(plan->workspace_bytes, stage->workspace_bytes);
    }
    plan->head_base = cursor;
    plan->head_bytes = pim_head_bytes(&plan->stage[plan->stages - 1]);
    plan->weight_bytes = cursor + plan->head_bytes;
    plan->workspace_base = plan->weight_bytes;
}
