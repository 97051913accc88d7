/* Which stage is of which family. */
#include "mappers/allspark/check/network/reference.h"

#include "mappers/allspark/check/network/parts.h"
#include "mappers/allspark/check/numbers.h"

#include <stdlib.h>

static uint32_t side_of(uint32_t tokens)
{
    uint32_t side = 0;
    while (side * side < tokens)
        side++;
    return side;
}

static uint16_t **compute(struct space *space, const struct pim_allspark_plan *plan, uint32_t index,
                          uint32_t image)
{
    const struct pim_allspark_stage *stage = &plan->stage[index];
    const struct pim_allspark_partition *shape = &stage->partition[0];
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
    const struct reference_kind own = {shape, index},
                                partner = {&plan->stage[stage->partner].partition[0], stage->partner};
    bool global = stage->first_block == 1;
    return reference_twins(space, global ? &partner : &own, global ? &own : &partner, &map, image);
}

enum pim_status reference_stage(const struct pim_allspark_plan *plan, uint32_t index, uint32_t image,
                                struct reference *reference, struct pim_error *error)
{
    const struct pim_allspark_partition *shape = &plan->stage[index].partition[0];
    struct space *space = calloc(1, sizeof *space);
    *reference = (struct reference){
        .branches = shape->branches, .tokens = shape->tokens, .channels = shape->channels, .memory = space};
    if (space) {
        pim_arena_initialize(&space->arena, 0);
        reference->token = space_matrix(space, 1, shape->channels);
        reference->branch = compute(space, plan, index, image);
    }
    if (!space || space->failed)
        return pim_fail(error, PIM_NO_MEMORY, "out of memory for the values of the network");
    for (uint32_t branch = 0; branch < shape->branches; branch++)
        for (uint32_t t = 0; t < (shape->class_tokens ? 1 : shape->tokens); t++)
            for (uint32_t c = 0; c < shape->channels; c++)
                reference->token[c] =
                    plus(reference->token[c], reference->branch[branch][(size_t)t * shape->channels + c]);
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
