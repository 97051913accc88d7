/*
 * Twins-SVT (Chu et al., NeurIPS 2021): attention in windows and global sub-sampled attention in turn.
 *
 *  1. Every stage starts with a convolution patch x patch (2 x 2 from the second stage on; odd maps lose
 *     their last row and column) and a layer norm.
 *  2. Even blocks (from 0) are local: norm1, pad to whole windows, partition; query, key, value with bias; no
 *     position bias; reverse and crop; projection (of real tokens alone); residual; feed-forward.
 *  3. Odd blocks are global: as in the Pyramid Vision Transformer, with the stage's reduction.
 *  4. Behind the first block of every stage stands the positional encoding generator: a depthwise 3 x 3
 *     convolution with bias, and a residual around it.
 *  5. Final norm, mean over the tokens, classifier.
 */
#include "mappers/network/builder.h"

static uint32_t build_local_attention(struct pim_builder *b, struct pim_transformer_block *block,
                                      uint32_t input)
{
    const struct pim_transformer_stage *stage = pim_build_stage(b);
    uint32_t channels = stage->channels;
    struct pim_windows windows =
        pim_windows_make(stage->height, stage->width, stage->window, stage->window, 0, false);
    uint64_t padding = pim_windows_padding(&windows);
    block->key_inputs += padding;
    pim_attention_windows(&block->attention[0], stage->heads, channels, &windows);

    uint32_t x = pim_build_norm(b, PIM_ROLE_NORM1, "norm1", input);
    x = pim_build_partition(b, &windows, "window", x);
    uint32_t query = pim_build_linear(b, PIM_ROLE_QUERY, "query", x, channels, true, padding);
    uint32_t key = pim_build_linear(b, PIM_ROLE_KEY, "key", x, channels, true, padding);
    uint32_t value = pim_build_linear(b, PIM_ROLE_VALUE, "value", x, channels, true, padding);
    x = pim_build_attention(b, &block->attention[0], "", query, key, value, 0,
                            pim_windows_real_pairs(&windows, 0));
    x = pim_build_reverse(b, &windows, "window", x);
    x = pim_build_linear(b, PIM_ROLE_PROJECTION, "projection", x, channels, true, 0);
    return pim_build_add(b, PIM_ROLE_RESIDUAL1, "residual1", input, x);
}

/* Rule 4; a part of the stage, not of a block. */
static uint32_t build_position(struct pim_builder *b, uint32_t input)
{
    uint32_t channels = pim_build_stage(b)->channels;
    uint32_t x = pim_build_to_map(b, PIM_ROLE_POSITION, "position.map", input);
    x = pim_build_convolution(b, PIM_ROLE_POSITION, "position", x, channels, channels, 3, 1, 1, 0);
    x = pim_build_to_tokens(b, PIM_ROLE_POSITION, "position.tokens", x);
    return pim_build_add(b, PIM_ROLE_POSITION, "position.add", input, x);
}

void pim_build_twins(struct pim_builder *b)
{
    const struct pim_transformer_specification *s = b->specification;
    uint32_t x = pim_build_image(b);
    for (uint32_t i = 0; i < s->stages && b->status == PIM_OK; i++) {
        uint32_t side = i == 0 ? s->patch : 2;
        pim_build_begin_stage(b, i);
        pim_build_stage(b)->window = s->window;
        pim_build_stage(b)->reduction = s->reduction[i];
        if (i > 0)
            x = pim_build_to_map(b, PIM_ROLE_PATCH_MERGING, "embedding.map", x);
        x = pim_build_embedding(b, x, side, side, 0, true);
        for (uint32_t j = 0; j < s->blocks[i]; j++) {
            struct pim_transformer_block *block = pim_build_begin_block(b, j);
            block->reduction = j % 2 == 0 ? 1 : s->reduction[i];
            x = j % 2 == 0 ? build_local_attention(b, block, x) : pim_build_reduced_attention(b, block, x);
            x = pim_build_feed_forward(b, x);
            pim_build_end_block(b, block);
            if (j == 0)
                x = build_position(b, x);
        }
    }
    pim_build_mean_head(b, x);
}
