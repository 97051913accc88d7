/*
 * Pyramid Vision Transformer, first version (Wang et al., ICCV 2021): global attention, keys and values from
 * a smaller map.
 *
 *  1. Every stage starts with a convolution patch x patch (2 x 2 from the second stage on; odd maps lose
 *     their last row and column) and a layer norm.
 *  2. A learned position embedding for every token of every stage. The last stage has a class token in front.
 *  3. Block: norm1; query from all tokens; keys and values from the map behind a convolution reduction x
 *     reduction with that stride and a layer norm (none where the reduction is 1); projection; residual;
 *     feed-forward.
 *  4. Final norm, class token, classifier.
 */
#include "mappers/network/builder.h"

static uint32_t build_embedded(struct pim_builder *b, uint32_t stage, uint32_t input)
{
    const struct pim_transformer_specification *s = b->specification;
    uint32_t side = stage == 0 ? s->patch : 2;
    uint32_t map = stage == 0 ? input : pim_build_to_map(b, PIM_ROLE_PATCH_MERGING, "embedding.map", input);
    uint32_t x = pim_build_embedding(b, map, side, side, 0, true);
    struct pim_shape shape = pim_build_shape(b, x);
    if (b->status != PIM_OK)
        return 0;
    if (stage + 1 == s->stages) {
        x = pim_build_flatten(b, PIM_ROLE_PATCH_MERGING, "embedding.sequence", x);
        uint32_t token = pim_build_parameter(b, PIM_ROLE_POSITION, "class_token", 1, s->channels[stage]);
        x = pim_build_concat(b, PIM_ROLE_POSITION, "tokens", 1, token, x);
        pim_build_stage(b)->class_tokens = 1;
        uint32_t tokens = pim_build_shape(b, x).dimension[1];
        uint32_t position = pim_build_parameter(b, PIM_ROLE_POSITION, "position", tokens, s->channels[stage]);
        return pim_build_add(b, PIM_ROLE_POSITION, "position.add", x, position);
    }
    const union pim_attributes attributes = {.shape = shape};
    uint32_t position =
        pim_build(b, PIM_OPERATOR_PARAMETER, PIM_ROLE_POSITION, "position", &attributes, 0, 0, NULL);
    return pim_build_add(b, PIM_ROLE_POSITION, "position.add", x, position);
}

void pim_build_pvt(struct pim_builder *b)
{
    const struct pim_transformer_specification *s = b->specification;
    uint32_t x = pim_build_image(b);
    for (uint32_t i = 0; i < s->stages && b->status == PIM_OK; i++) {
        pim_build_begin_stage(b, i);
        pim_build_stage(b)->reduction = s->reduction[i];
        x = build_embedded(b, i, x);
        for (uint32_t j = 0; j < s->blocks[i]; j++) {
            struct pim_transformer_block *block = pim_build_begin_block(b, j);
            block->reduction = s->reduction[i];
            x = pim_build_reduced_attention(b, block, x);
            x = pim_build_feed_forward(b, x);
            pim_build_end_block(b, block);
        }
    }
    pim_build_class_head(b, x);
}
