/*
 * Vision Transformer (Dosovitskiy et al., ICLR 2021; DeiT, Touvron et al., ICML 2021, has the same layers):
 * global attention.
 *
 *  1. Patch embedding: convolution patch x patch, stride patch, without norm; the map becomes a sequence.
 *  2. A class token in front (optional), then a learned position embedding for every token of the sequence.
 *  3. Block: norm1; query, key, value with bias; attention of every token to every token; projection;
 *     residual; feed-forward.
 *  4. Final norm, class token (or the mean over the tokens where there is none), classifier.
 */
#include "mappers/network/builder.h"

static uint32_t build_sequence(struct pim_builder *b)
{
    const struct pim_transformer_specification *s = b->specification;
    struct pim_transformer_stage *stage = pim_build_stage(b);
    uint32_t x = pim_build_embedding(b, pim_build_image(b), s->patch, s->patch, 0, false);
    x = pim_build_flatten(b, PIM_ROLE_PATCH_EMBEDDING, "embedding.sequence", x);
    if (s->class_token) {
        uint32_t token = pim_build_parameter(b, PIM_ROLE_POSITION, "class_token", 1, stage->channels);
        x = pim_build_concat(b, PIM_ROLE_POSITION, "tokens", 1, token, x);
        stage->class_tokens = 1;
    }
    uint32_t tokens = pim_build_shape(b, x).dimension[1];
    uint32_t position = pim_build_parameter(b, PIM_ROLE_POSITION, "position", tokens, stage->channels);
    return pim_build_add(b, PIM_ROLE_POSITION, "position.add", x, position);
}

void pim_build_vit(struct pim_builder *b)
{
    const struct pim_transformer_specification *s = b->specification;
    pim_build_begin_stage(b, 0);
    uint32_t x = build_sequence(b);
    for (uint32_t j = 0; j < s->blocks[0]; j++) {
        struct pim_transformer_block *block = pim_build_begin_block(b, j);
        x = pim_build_reduced_attention(b, block, x);
        x = pim_build_feed_forward(b, x);
        pim_build_end_block(b, block);
    }
    if (s->class_token) {
        pim_build_class_head(b, x);
        return;
    }
    const union pim_attributes mean = {.reduction = {.axes = 1u << 1}};
    b->stage = b->block = PIM_NONE;
    x = pim_build_norm(b, PIM_ROLE_FINAL_NORM, "norm", x);
    x = pim_build(b, PIM_OPERATOR_REDUCTION, PIM_ROLE_HEAD, "mean", &mean, 0, 1, &x);
    pim_build_classifier(b, x);
}
