/*
 * The memory of a node: weights of all stages (they are there before the first input), the classifier's, and one workspace that all stages
 * use in turn. Every part begins on a column of 64 bytes.
 */
#include "mappers/allspark/mapping.h"

enum { ALIGNMENT = 64 };

static uint64_t align(uint64_t bytes)
{
    return (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

struct pim_weight_shape pim_weight_shape(const struct pim_allspark_stage *stage, enum pim_allspark_weight weight, uint32_t column)
{
    uint32_t q = pim_stage_channels(stage, column);
    uint32_t expanded = pim_stage_spread(stage, stage->hidden, column);
    switch (weight) {
    case PIM_ALLSPARK_MERGE:
        return (struct pim_weight_shape){.k = stage->merge_inputs, .n = q};
    case PIM_ALLSPARK_EXPAND:
        return (struct pim_weight_shape){.k = stage->channels, .n = expanded};
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

/* Bytes that each node keeps of a product: the largest share of the widest column, so that addresses are the same on all nodes. */
static uint64_t kept(const struct pim_allspark_stage *stage, enum pim_allspark_weight weight)
{
    struct pim_weight_shape shape = pim_weight_shape(stage, weight, 0);
    return align(pim_share((uint64_t)shape.k * shape.n, stage->ring, 0));
}

uint64_t pim_weight_address(const struct pim_allspark_stage *stage, uint32_t block, enum pim_allspark_weight weight)
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

void pim_workspace_layout(const struct pim_allspark_stage *stage, uint64_t base, struct pim_workspace *workspace)
{
    uint64_t p = pim_stage_tokens(stage, 0), q = pim_stage_channels(stage, 0);
    uint64_t heads = pim_share(stage->heads, stage->v, 0);
    uint64_t cursor = base;
    workspace->features = take(&cursor, p * q);
    workspace->statistics = take(&cursor, p * PIM_STATISTICS_BYTES * stage->v);
    uint64_t attention = cursor;
    workspace->gathered = take(&attention, p * stage->channels); /* feed-forward uses it too */
    uint64_t forward = attention;
    workspace->query = take(&attention, p * q);
    workspace->keys = take(&attention, stage->tokens * q);
    workspace->values = take(&attention, stage->tokens * q);
    workspace->scores = take(&attention, heads * p * stage->tokens);
    workspace->hidden = take(&forward, p * stage->hidden);
    uint64_t merging = cursor;
    workspace->merged = take(&merging, p * stage->merge_inputs);
    cursor = attention > forward ? attention : forward;
    if (merging > cursor)
        cursor = merging;
    /* weights of a phase, when they come from other nodes */
    uint64_t largest = 0;
    for (unsigned weight = 0; weight < PIM_ALLSPARK_WEIGHTS && stage->ring > 1; weight++) {
        struct pim_weight_shape shape = pim_weight_shape(stage, (enum pim_allspark_weight)weight, 0);
        if ((uint64_t)shape.k * shape.n > largest)
            largest = (uint64_t)shape.k * shape.n;
    }
    workspace->weights = take(&cursor, largest);
    workspace->end = cursor;
}

uint64_t pim_head_bytes(const struct pim_allspark_plan *plan)
{
    const struct pim_allspark_stage *last = &plan->stage[plan->stages - 1];
    return align(pim_share(plan->network->transformer->classes, last->v, 0) * last->channels);
}

void pim_plan_memory(struct pim_allspark_plan *plan)
{
    uint64_t cursor = 0;
    plan->workspace_bytes = 0;
    for (uint32_t s = 0; s < plan->stages; s++) {
        struct pim_allspark_stage *stage = &plan->stage[s];
        stage->weight_base = cursor;
        uint64_t bytes = 0;
        for (unsigned weight = 0; weight < PIM_ALLSPARK_WEIGHTS; weight++)
            if (pim_weight_exists(stage, (enum pim_allspark_weight)weight, 0))
                bytes += kept(stage, (enum pim_allspark_weight)weight) * (weight == PIM_ALLSPARK_MERGE ? 1 : stage->blocks);
        stage->weight_bytes = bytes;
        cursor += bytes;
        struct pim_workspace workspace;
        pim_workspace_layout(stage, 0, &workspace);
        stage->workspace_bytes = workspace.end;
        if (workspace.end > plan->workspace_bytes)
            plan->workspace_bytes = workspace.end;
    }
    plan->head_base = cursor;
    plan->head_bytes = pim_head_bytes(plan);
    plan->weight_bytes = cursor + plan->head_bytes;
    plan->workspace_base = plan->weight_bytes;
}
