/* Which stage is of which family, and its shape. */
#include "mappers/allspark/check/network/reference.h"

#include "mappers/allspark/check/network/parts.h"
#include "mappers/allspark/check/numbers.h"

#include <stdlib.h>
#include <string.h>

static uint32_t side_of(uint32_t tokens)
{
    uint32_t side = 0;
    while (side * side < tokens)
        side++;
    return side;
}

/* The shape of the blocks of a stage of the plan, read from the network. */
static struct pim_allspark_partition shape_of(const struct pim_allspark_plan *plan, uint32_t index)
{
    const struct pim_allspark_stage *stage = &plan->stage[index];
    const struct pim_transformer *transformer = plan->network->transformer;
    const struct pim_transformer_stage *view = &transformer->stage[stage->of];
    bool twins = transformer->family == PIM_FAMILY_TWINS, alternate = twins && view->blocks > 1,
         global = alternate && stage->first_block == 1;
    const struct pim_transformer_block *block = &transformer->block[view->first_block + global];
    const struct pim_attention *attention = block->attention;
    struct pim_allspark_partition shape = {
        .branches = attention->branches,
        .tokens = attention->query_tokens,
        .key_tokens = attention->key_tokens,
        .reduction = block->reduction * block->reduction,
        .heads = attention->heads,
        .head_channels = attention->head_channels,
        .channels = block->channels,
        .hidden = block->hidden_channels,
        .merge_inputs = global ? 0 : view->merge_inputs,
        .blocks = alternate ? (view->blocks + !global) / 2 : view->blocks,
        .class_tokens = view->class_tokens,
        .position = {.convolution = twins && !global                          ? PIM_CONVOLUTION_OVER_MAP
                                    : transformer->family == PIM_FAMILY_CSWIN ? PIM_CONVOLUTION_OVER_VALUES
                                                                              : PIM_NO_CONVOLUTION,
                     .height = view->height,
                     .width = view->width}};
    if (block->attentions == 2) { /* a branch is a row of the map; half of the heads attend either way */
        shape.work = PIM_ALLSPARK_PROJECTIONS;
        shape.branches = view->height;
        shape.tokens = shape.key_tokens = view->width;
        shape.heads += attention[1].heads;
    }
    return shape;
}

static uint16_t **compute(struct space *space, const struct pim_allspark_plan *plan, uint32_t index,
                          uint32_t image, const struct pim_allspark_partition *shape)
{
    const struct pim_allspark_stage *stage = &plan->stage[index];
    const struct pim_transformer *transformer = plan->network->transformer;
    const struct pim_transformer_stage *view = &transformer->stage[stage->of];
    const struct pim_attention *attention = &transformer->block[view->first_block].attention[0];
    struct reference_map map = {attention->branches_y,
                                attention->branches_x,
                                view->window,
                                view->height,
                                view->width,
                                view->reduction,
                                0};
    if (shape->work == PIM_ALLSPARK_PROJECTIONS)
        return reference_cswin(space, shape, index, view->window, image);
    if (transformer->family == PIM_FAMILY_FOCAL) {
        map.side = side_of(attention->granularity_keys[1]);
        map.expand = (side_of(attention->granularity_keys[0]) - view->window) / 2;
        return reference_focal(space, shape, index, &map, image);
    }
    if (stage->partner == index)
        return reference_plain(space, shape, index, &map, image);
    const struct pim_allspark_partition other = shape_of(plan, stage->partner);
    const struct reference_kind own = {shape, index}, partner = {&other, stage->partner};
    bool global = stage->first_block == 1;
    return reference_twins(space, global ? &partner : &own, global ? &own : &partner, &map, image);
}

/* The one branch of a global block in the branches that the plan cuts it into, one after another. */
static bool cut(struct space *space, struct reference *reference, uint32_t branches)
{
    const uint16_t *whole = reference->branch[0];
    if (branches == 1 || reference->branches != 1 || reference->tokens % branches != 0)
        return true;
    reference->branches = branches;
    reference->tokens /= branches;
    size_t each = (size_t)reference->tokens * reference->channels;
    reference->branch = space_matrices(space, branches, reference->tokens, reference->channels);
    for (uint32_t b = 0; b < branches && reference->branch; b++)
        memcpy(reference->branch[b], whole + b * each, each * sizeof *whole);
    return reference->branch != NULL;
}

enum pim_status reference_stage(const struct pim_allspark_plan *plan, uint32_t index, uint32_t image,
                                struct reference *reference, struct pim_error *error)
{
    const struct pim_allspark_partition shape = shape_of(plan, index);
    struct space *space = calloc(1, sizeof *space);
    *reference = (struct reference){
        .branches = shape.branches, .tokens = shape.tokens, .channels = shape.channels, .memory = space};
    if (space) {
        pim_arena_initialize(&space->arena, 0);
        reference->token = space_matrix(space, 1, shape.channels);
        reference->branch = compute(space, plan, index, image, &shape);
    }
    if (!space || space->failed || !cut(space, reference, plan->stage[index].partition[0].branches))
        return pim_fail(error, PIM_NO_MEMORY, "out of memory for the values of the network");
    for (uint32_t branch = 0; branch < reference->branches; branch++)
        for (uint32_t t = 0; t < (shape.class_tokens ? 1 : reference->tokens); t++)
            for (uint32_t c = 0; c < shape.channels; c++)
                reference->token[c] =
                    plus(reference->token[c], reference->branch[branch][(size_t)t * shape.channels + c]);
    return PIM_OK;
}

void reference_terminate(struct reference *reference)
{
    struct space *space = reference->memory;
    if (space)
        pim_arena_terminate(&space->arena);
    free(space);
    *reference = (struct reference){.branches = 0};
}

void reference_head(const struct pim_allspark_plan *plan, uint32_t index, const struct reference *reference,
                    uint16_t *logits)
{
    uint32_t classes = plan->network->transformer->classes;
    uint64_t matrix = weight_matrix(index, 0, WEIGHT_HEAD);
    for (uint32_t c = 0; c < reference->channels; c++) {
        uint64_t row = weight_row(matrix, c);
        for (uint32_t j = 0; j < classes; j++)
            logits[j] = plus_product(logits[j], reference->token[c], weight_number(row, j));
    }
}
