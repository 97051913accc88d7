/*
 * Focal Transformer (Yang et al., NeurIPS 2021): the queries of a window attend to fine keys near it and
 * coarse ones farther away.
 *
 *  1. Patch embedding and, between stages, 2 x 2 convolutions with stride 2 (odd maps lose their last row and
 *     column); each with layer norm.
 *  2. Block: norm1, pad to whole windows; query, key, value with bias on the whole padded map.
 *  3. Fine keys: those of the window and of `expand` tokens around it, (window + 2 expand)^2, cyclic at the
 *     border of the map. A map that is a single window has nothing around it. The reference implementation
 *     collects the surrounding keys by four overlapping rolls and so holds some of them twice (181 keys
 *     instead of 169 for window 7, expand 3); the distinct ones are counted, as in its own count of
 *     operations.
 *  4. Coarse keys: every window is pooled to one token by a linear layer over its window^2 positions (weights
 *     shared by all channels); key and value of the pooled tokens with the weights of rule 2; every window
 *     sees the focal_window^2 pooled tokens around it, zero beyond the border (padding).
 *  5. Position biases, parameters: (2 window - 1)^2 entries per head within the window; window^2 entries for
 *     each of the 4 window^2 - 4 (window - expand)^2 surrounding keys per head; (window + focal_window - 1)^2
 *     per head for coarse keys.
 *  6. Projection inside the windows; reverse; residual; feed-forward. No shift.
 *  7. Final norm, mean over the tokens, classifier.
 */
#include "mappers/network/builder.h"

/* Rule 4, first half: [1, H, W, C] -> [1, H / window, W / window, C]. */
static uint32_t build_pooled(struct pim_builder *b, const struct pim_windows *windows, uint32_t map)
{
    static const uint32_t order[3] = {0, 2, 1};
    struct pim_shape shape = pim_build_shape(b, map);
    shape.dimension[1] = windows->padded[0] / windows->window[0];
    shape.dimension[2] = windows->padded[1] / windows->window[1];
    /* A padded position costs one multiplication in each channel. */
    uint64_t padding = pim_windows_padding(windows) * shape.dimension[3];
    const union pim_attributes linear = {.linear = {.outputs = 1, .bias = true}};
    uint32_t x = pim_build_split(b, windows, "pool.partition", map);
    x = pim_build_transpose(b, PIM_ROLE_REDUCTION, "pool.transpose", x, 3, order);
    x = pim_build(b, PIM_OPERATOR_LINEAR, PIM_ROLE_REDUCTION, "pool", &linear, padding, 1, &x);
    return pim_build_reshape(b, PIM_ROLE_REDUCTION, "pool.map", x, &shape);
}

static uint32_t build_gather(struct pim_builder *b, enum pim_role role, const char *name, uint32_t map,
                             uint32_t stride, uint32_t side, bool cyclic)
{
    const union pim_attributes attributes = {.gather = {.stride = stride, .side = side, .cyclic = cyclic}};
    return pim_build(b, PIM_OPERATOR_WINDOW_GATHER, role, name, &attributes, 0, 1, &map);
}

/* Along one axis: sum over the windows of (real queries) * (coarse keys inside the grid of windows). */
static uint64_t coarse_pairs_along(const struct pim_windows *w, int axis, uint32_t side)
{
    uint64_t windows = w->padded[axis] / w->window[axis], before = side / 2, after = side - 1 - before,
             sum = 0;
    for (uint64_t i = 0; i < windows; i++) {
        uint64_t rest = w->map[axis] - i * w->window[axis];
        uint64_t queries = rest < w->window[axis] ? rest : w->window[axis];
        uint64_t first = i < before ? 0 : i - before;
        uint64_t last = windows - 1 - i < after ? windows - 1 : i + after;
        sum += queries * (last - first + 1);
    }
    return sum;
}

/* Rule 5 */
static uint64_t position_parameters(const struct pim_transformer_stage *stage, uint32_t window,
                                    uint32_t expand, uint32_t focal_window)
{
    uint64_t inside = (uint64_t)(2 * window - 1) * (2 * window - 1);
    uint64_t rolled = 4 * (uint64_t)window * window - 4 * (uint64_t)(window - expand) * (window - expand);
    uint64_t coarse = (uint64_t)(window + focal_window - 1) * (window + focal_window - 1);
    return stage->heads * (inside + (uint64_t)window * window * rolled + coarse);
}

/* Fills the view: the keys of both granularities. */
static void describe(struct pim_attention *attention, const struct pim_transformer_stage *stage,
                     const struct pim_windows *windows, uint32_t expand, uint32_t focal_window)
{
    uint32_t side = stage->window + 2 * expand;
    pim_attention_windows(attention, stage->heads, stage->channels, windows);
    attention->granularities = 2;
    attention->granularity_keys[0] = side * side;
    attention->granularity_keys[1] = focal_window * focal_window;
    attention->key_tokens = side * side + focal_window * focal_window;
}

/* Rules 2 to 6, from norm1 to residual1. */
static uint32_t build_attention(struct pim_builder *b, struct pim_transformer_block *block, uint32_t input)
{
    const struct pim_transformer_specification *s = b->specification;
    const struct pim_transformer_stage *stage = pim_build_stage(b);
    struct pim_attention *attention = &block->attention[0];
    uint32_t window = stage->window, channels = stage->channels, side = s->focal_window[b->stage];
    uint32_t expand = stage->height <= window && stage->width <= window ? 0 : s->expand;
    struct pim_windows windows = pim_windows_make(stage->height, stage->width, window, window, 0, false);
    uint64_t padding = pim_windows_padding(&windows);
    describe(attention, stage, &windows, expand, side);
    block->key_inputs += padding + attention->branches;

    uint32_t map = pim_build_norm(b, PIM_ROLE_NORM1, "norm1", input);
    map = pim_build_pad(b, &windows, "window.pad", map);
    uint32_t query = pim_build_linear(b, PIM_ROLE_QUERY, "query", map, channels, true, padding);
    uint32_t key = pim_build_linear(b, PIM_ROLE_KEY, "key", map, channels, true, padding);
    uint32_t value = pim_build_linear(b, PIM_ROLE_VALUE, "value", map, channels, true, padding);
    uint32_t pooled = build_pooled(b, &windows, map);
    uint32_t coarse_key = pim_build_linear_shared(b, PIM_ROLE_KEY, "key.coarse", pooled, channels, key);
    uint32_t coarse_value =
        pim_build_linear_shared(b, PIM_ROLE_VALUE, "value.coarse", pooled, channels, value);

    query = pim_build_split(b, &windows, "query.partition", query);
    key = build_gather(b, PIM_ROLE_WINDOW, "key.fine", key, window, window + 2 * expand, true);
    value = build_gather(b, PIM_ROLE_WINDOW, "value.fine", value, window, window + 2 * expand, true);
    coarse_key = build_gather(b, PIM_ROLE_WINDOW, "key.coarse.gather", coarse_key, 1, side, false);
    coarse_value = build_gather(b, PIM_ROLE_WINDOW, "value.coarse.gather", coarse_value, 1, side, false);
    key = pim_build_concat(b, PIM_ROLE_WINDOW, "key.all", 1, key, coarse_key);
    value = pim_build_concat(b, PIM_ROLE_WINDOW, "value.all", 1, value, coarse_value);

    uint64_t real = pim_windows_real_pairs(&windows, expand) +
                    coarse_pairs_along(&windows, 0, side) * coarse_pairs_along(&windows, 1, side);
    uint32_t x = pim_build_attention(b, attention, "", query, key, value,
                                     position_parameters(stage, window, expand, side), real);
    x = pim_build_linear(b, PIM_ROLE_PROJECTION, "projection", x, channels, true, padding);
    x = pim_build_reverse(b, &windows, "window", x);
    return pim_build_add(b, PIM_ROLE_RESIDUAL1, "residual1", input, x);
}

void pim_build_focal(struct pim_builder *b)
{
    const struct pim_transformer_specification *s = b->specification;
    uint32_t x = pim_build_image(b);
    for (uint32_t i = 0; i < s->stages && b->status == PIM_OK; i++) {
        uint32_t side = i == 0 ? s->patch : 2;
        pim_build_begin_stage(b, i);
        pim_build_stage(b)->window = s->window;
        if (i > 0)
            x = pim_build_to_map(b, PIM_ROLE_PATCH_MERGING, "embedding.map", x);
        x = pim_build_embedding(b, x, side, side, 0, true);
        for (uint32_t j = 0; j < s->blocks[i]; j++) {
            struct pim_transformer_block *block = pim_build_begin_block(b, j);
            x = build_attention(b, block, x);
            x = pim_build_feed_forward(b, x);
            pim_build_end_block(b, block);
        }
    }
    pim_build_mean_head(b, x);
}
