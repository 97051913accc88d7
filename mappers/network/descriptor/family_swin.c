/*
 * Swin Transformer (Liu et al., ICCV 2021): attention in windows, shifted by half a window in every second
 * block.
 *
 *  1. Patch embedding: convolution patch x patch, stride patch, then layer norm. No position embedding.
 *  2. Patch merging: 2 x 2 neighbours into the channels (odd maps are padded), layer norm, linear without
 *     bias.
 *  3. Block: norm1, pad to whole windows, shift, partition; query, key, value with bias; scores with a
 *     relative position bias of (2 window - 1)^2 entries per head; projection inside the windows; reverse;
 *     residual; feed-forward. Query, key, value and projection thus work on padded tokens too; norms and
 *     feed-forward on real ones alone.
 *  4. Blocks 1, 3, ... (from 0) shift by window / 2, unless the map is a single window.
 *  5. Final norm, mean over the tokens, classifier.
 */
#include "mappers/network/builder.h"

/* Rule 2: [1, H, W, C] -> [1, ceil(H/2), ceil(W/2), channels of the stage]. */
static uint32_t build_merging(struct pim_builder *b, uint32_t input)
{
    const union pim_attributes factor = {.merging = {.factor = 2}};
    struct pim_transformer_stage *stage = pim_build_stage(b);
    uint32_t x =
        pim_build(b, PIM_OPERATOR_PATCH_MERGING, PIM_ROLE_PATCH_MERGING, "merging", &factor, 0, 1, &input);
    struct pim_shape from = pim_build_shape(b, input), to = pim_build_shape(b, x);
    /* A position of an odd map that does not exist is as many padded inputs of the matrix product as the map
     * has channels. */
    uint64_t padding =
        4 * (uint64_t)to.dimension[1] * to.dimension[2] - (uint64_t)from.dimension[1] * from.dimension[2];
    stage->merge_inputs = to.dimension[3];
    x = pim_build_norm(b, PIM_ROLE_PATCH_MERGING, "merging.norm", x);
    const union pim_attributes linear = {.linear = {.outputs = stage->channels}};
    x = pim_build(b, PIM_OPERATOR_LINEAR, PIM_ROLE_PATCH_MERGING, "merging.linear", &linear,
                  padding * from.dimension[3] * stage->channels, 1, &x);
    stage->merge_layer = x;
    pim_build_set_map(b, x);
    return x;
}

static uint32_t build_block(struct pim_builder *b, uint32_t index, uint32_t input)
{
    struct pim_transformer_block *block = pim_build_begin_block(b, index);
    const struct pim_transformer_stage *stage = pim_build_stage(b);
    uint32_t window = stage->window, channels = stage->channels;
    bool single = stage->height <= window && stage->width <= window;
    block->shifted = index % 2 == 1 && !single;
    block->shift = block->shifted ? window / 2 : 0;
    struct pim_windows windows =
        pim_windows_make(stage->height, stage->width, window, window, block->shift, false);
    uint64_t padding = pim_windows_padding(&windows);
    block->key_inputs += padding;
    pim_attention_windows(&block->attention[0], stage->heads, channels, &windows);

    uint32_t x = pim_build_norm(b, PIM_ROLE_NORM1, "norm1", input);
    x = pim_build_partition(b, &windows, "window", x);
    uint32_t query = pim_build_linear(b, PIM_ROLE_QUERY, "query", x, channels, true, padding);
    uint32_t key = pim_build_linear(b, PIM_ROLE_KEY, "key", x, channels, true, padding);
    uint32_t value = pim_build_linear(b, PIM_ROLE_VALUE, "value", x, channels, true, padding);
    uint64_t bias = (uint64_t)(2 * window - 1) * (2 * window - 1) * stage->heads;
    x = pim_build_attention(b, &block->attention[0], "", query, key, value, bias,
                            pim_windows_real_pairs(&windows, 0));
    x = pim_build_linear(b, PIM_ROLE_PROJECTION, "projection", x, channels, true, padding);
    x = pim_build_reverse(b, &windows, "window", x);
    x = pim_build_add(b, PIM_ROLE_RESIDUAL1, "residual1", input, x);
    x = pim_build_feed_forward(b, x);
    pim_build_end_block(b, block);
    return x;
}

void pim_build_swin(struct pim_builder *b)
{
    const struct pim_transformer_specification *s = b->specification;
    uint32_t x = pim_build_image(b);
    for (uint32_t i = 0; i < s->stages && b->status == PIM_OK; i++) {
        pim_build_begin_stage(b, i);
        pim_build_stage(b)->window = s->window;
        x = i == 0 ? pim_build_embedding(b, x, s->patch, s->patch, 0, true) : build_merging(b, x);
        for (uint32_t j = 0; j < s->blocks[i]; j++)
            x = build_block(b, j, x);
    }
    pim_build_mean_head(b, x);
}
