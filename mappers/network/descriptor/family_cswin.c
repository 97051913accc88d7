/*
 * CSWin Transformer (Dong et al., CVPR 2022): attention in horizontal and vertical stripes at the same time.
 *
 *  1. Patch embedding: convolution 7 x 7, stride patch, padding 2; between stages convolution 3 x 3, stride
 *     2, padding 1; each with layer norm.
 *  2. Block: norm1; query, key, value with bias on the real tokens.
 *  3. The first half of the channels (and of the heads) attends in vertical stripes (whole height x stripe),
 *     the second half in horizontal ones (stripe x whole width). Maps that a stripe does not divide are
 *     padded on both sides, behind the projections.
 *  4. Where the stripe is the whole map, and in the last stage, there is one global attention over all
 *     channels.
 *  5. Locally enhanced position encoding: a depthwise 3 x 3 convolution with bias over the values inside each
 *     stripe, added to the context.
 *  6. Both halves side by side; projection; residual; feed-forward.
 *  7. Final norm, mean over the tokens, classifier.
 */
#include "mappers/network/builder.h"

#include <stdio.h>

/* Rule 5: values [stripes, tokens, channels] of one attention, added to its context. */
static uint32_t build_local_position(struct pim_builder *b, const struct pim_windows *w, const char *suffix,
                                     uint32_t value, uint32_t context)
{
    struct pim_shape flat = pim_build_shape(b, value);
    uint32_t channels = flat.dimension[2];
    struct pim_shape map = {.rank = 4,
                            .dimension = {flat.dimension[0], w->window[0], w->window[1], channels}};
    char name[48];
    (void)snprintf(name, sizeof name, "local_position.unfold%s", suffix);
    uint32_t x = pim_build_reshape(b, PIM_ROLE_LOCAL_POSITION, name, value, &map);
    (void)snprintf(name, sizeof name, "local_position.map%s", suffix);
    x = pim_build_to_map(b, PIM_ROLE_LOCAL_POSITION, name, x);
    (void)snprintf(name, sizeof name, "local_position%s", suffix);
    x = pim_build_convolution(b, PIM_ROLE_LOCAL_POSITION, name, x, channels, channels ? channels : 1, 3, 1, 1,
                              pim_windows_padding(w) * 9 * channels);
    (void)snprintf(name, sizeof name, "local_position.tokens%s", suffix);
    x = pim_build_to_tokens(b, PIM_ROLE_LOCAL_POSITION, name, x);
    (void)snprintf(name, sizeof name, "local_position.fold%s", suffix);
    x = pim_build_reshape(b, PIM_ROLE_LOCAL_POSITION, name, x, &flat);
    (void)snprintf(name, sizeof name, "local_position.add%s", suffix);
    return pim_build_add(b, PIM_ROLE_LOCAL_POSITION, name, context, x);
}

/* One of the attentions of a block, in the given stripes, over its channels of query, key and value (maps).
 */
static uint32_t build_stripes(struct pim_builder *b, struct pim_attention *attention,
                              const struct pim_windows *w, const char *suffix, uint32_t query, uint32_t key,
                              uint32_t value)
{
    char name[48];
    (void)snprintf(name, sizeof name, "query%s", suffix);
    query = pim_build_partition(b, w, name, query);
    (void)snprintf(name, sizeof name, "key%s", suffix);
    key = pim_build_partition(b, w, name, key);
    (void)snprintf(name, sizeof name, "value%s", suffix);
    value = pim_build_partition(b, w, name, value);
    uint32_t x =
        pim_build_attention(b, attention, suffix, query, key, value, 0, pim_windows_real_pairs(w, 0));
    x = build_local_position(b, w, suffix, value, x);
    (void)snprintf(name, sizeof name, "context%s", suffix);
    return pim_build_reverse(b, w, name, x);
}

/* Rule 3 */
static uint32_t build_cross(struct pim_builder *b, struct pim_transformer_block *block, uint32_t query,
                            uint32_t key, uint32_t value)
{
    static const char *const suffixes[2] = {".vertical", ".horizontal"};
    static const char *const names[2][3] = {{"query.first", "key.first", "value.first"},
                                            {"query.second", "key.second", "value.second"}};
    const struct pim_transformer_stage *stage = pim_build_stage(b);
    uint32_t half = stage->channels / 2, parts[2];
    block->attentions = 2;
    for (uint32_t i = 0; i < 2; i++) {
        struct pim_windows w =
            pim_windows_make(stage->height, stage->width, i == 0 ? stage->height : stage->window,
                             i == 0 ? stage->window : stage->width, 0, true);
        pim_attention_windows(&block->attention[i], stage->heads / 2, half, &w);
        uint32_t q = pim_build_slice(b, PIM_ROLE_WINDOW, names[i][0], query, 3, i * half, half);
        uint32_t k = pim_build_slice(b, PIM_ROLE_WINDOW, names[i][1], key, 3, i * half, half);
        uint32_t v = pim_build_slice(b, PIM_ROLE_WINDOW, names[i][2], value, 3, i * half, half);
        parts[i] = build_stripes(b, &block->attention[i], &w, suffixes[i], q, k, v);
    }
    return pim_build_concat(b, PIM_ROLE_CONTEXT, "context", 3, parts[0], parts[1]);
}

static uint32_t build_block(struct pim_builder *b, uint32_t index, uint32_t input)
{
    struct pim_transformer_block *block = pim_build_begin_block(b, index);
    const struct pim_transformer_stage *stage = pim_build_stage(b);
    uint32_t channels = stage->channels;
    uint32_t x = pim_build_norm(b, PIM_ROLE_NORM1, "norm1", input);
    uint32_t query = pim_build_linear(b, PIM_ROLE_QUERY, "query", x, channels, true, 0);
    uint32_t key = pim_build_linear(b, PIM_ROLE_KEY, "key", x, channels, true, 0);
    uint32_t value = pim_build_linear(b, PIM_ROLE_VALUE, "value", x, channels, true, 0);
    if (stage->window == 0) {
        struct pim_windows whole =
            pim_windows_make(stage->height, stage->width, stage->height, stage->width, 0, false);
        pim_attention_windows(&block->attention[0], stage->heads, channels, &whole);
        block->attention[0].global = true;
        x = build_stripes(b, &block->attention[0], &whole, "", query, key, value);
    } else {
        x = build_cross(b, block, query, key, value);
    }
    x = pim_build_linear(b, PIM_ROLE_PROJECTION, "projection", x, channels, true, 0);
    x = pim_build_add(b, PIM_ROLE_RESIDUAL1, "residual1", input, x);
    x = pim_build_feed_forward(b, x);
    pim_build_end_block(b, block);
    return x;
}

void pim_build_cswin(struct pim_builder *b)
{
    const struct pim_transformer_specification *s = b->specification;
    uint32_t x = pim_build_image(b);
    for (uint32_t i = 0; i < s->stages && b->status == PIM_OK; i++) {
        pim_build_begin_stage(b, i);
        struct pim_transformer_stage *stage = pim_build_stage(b);
        if (i > 0)
            x = pim_build_to_map(b, PIM_ROLE_PATCH_MERGING, "embedding.map", x);
        x = i == 0 ? pim_build_embedding(b, x, 7, s->patch, 2, true)
                   : pim_build_embedding(b, x, 3, 2, 1, true);
        bool global = i + 1 == s->stages || (stage->height == s->stripe[i] && stage->width == s->stripe[i]);
        stage->window = global ? 0 : s->stripe[i];
        for (uint32_t j = 0; j < s->blocks[i]; j++)
            x = build_block(b, j, x);
    }
    pim_build_mean_head(b, x);
}
