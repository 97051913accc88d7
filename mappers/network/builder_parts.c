/*
 * The parts that several transformer families have in common: embedding, attention, feed-forward network,
 * heads, and the view.
 */
#include "mappers/network/builder.h"

#include <stdio.h>

uint32_t pim_build_image(struct pim_builder *b)
{
    const struct pim_transformer_specification *s = b->specification;
    const union pim_attributes attributes = {
        .shape = {.rank = 4, .dimension = {1, s->input_channels, s->image, s->image}}};
    return pim_build(b, PIM_OPERATOR_INPUT, PIM_ROLE_OTHER, "image", &attributes, 0, 0, NULL);
}

void pim_build_begin_stage(struct pim_builder *b, uint32_t stage)
{
    const struct pim_transformer_specification *s = b->specification;
    b->stage = stage;
    b->block = PIM_NONE;
    b->transformer->stage[stage] = (struct pim_transformer_stage){
        .channels = s->channels[stage],
        .heads = s->heads[stage],
        .blocks = s->blocks[stage],
        .first_block = stage == 0 ? 0
                                  : b->transformer->stage[stage - 1].first_block +
                                        b->transformer->stage[stage - 1].blocks,
        .merge_outputs = s->channels[stage],
        .merge_layer = PIM_NONE,
        .mlp_ratio = s->mlp_ratio[stage],
        .window = 0,
        .reduction = 1,
    };
}

struct pim_transformer_stage *pim_build_stage(struct pim_builder *b)
{
    return &b->transformer->stage[b->stage];
}

void pim_build_set_map(struct pim_builder *b, uint32_t map)
{
    struct pim_shape shape = pim_build_shape(b, map);
    pim_build_stage(b)->height = shape.dimension[1];
    pim_build_stage(b)->width = shape.dimension[2];
}

uint32_t pim_build_embedding(struct pim_builder *b, uint32_t map, uint32_t kernel, uint32_t stride,
                             uint32_t pad, bool norm)
{
    enum pim_role role = b->stage == 0 ? PIM_ROLE_PATCH_EMBEDDING : PIM_ROLE_PATCH_MERGING;
    struct pim_transformer_stage *stage = pim_build_stage(b);
    stage->merge_inputs = kernel * kernel * pim_build_shape(b, map).dimension[1];
    map = pim_build_convolution(b, role, "embedding", map, stage->channels, 1, kernel, stride, pad, 0);
    stage->merge_layer = map;
    uint32_t tokens = pim_build_to_tokens(b, role, "embedding.tokens", map);
    if (norm)
        tokens = pim_build_norm(b, role, "embedding.norm", tokens);
    pim_build_set_map(b, tokens);
    return tokens;
}

struct pim_transformer_block *pim_build_begin_block(struct pim_builder *b, uint32_t index)
{
    const struct pim_transformer_stage *stage = pim_build_stage(b);
    uint64_t tokens = (uint64_t)stage->height * stage->width + stage->class_tokens;
    b->block = stage->first_block + index;
    struct pim_transformer_block *block = &b->transformer->block[b->block];
    *block = (struct pim_transformer_block){
        .stage = b->stage,
        .index = index,
        .channels = stage->channels,
        .hidden_channels = stage->channels * stage->mlp_ratio,
        .attentions = 1,
        .tokens = tokens,
        .key_inputs = tokens,
        .reduction = 1,
        .first_layer = b->graph->count,
    };
    return block;
}

void pim_build_end_block(struct pim_builder *b, struct pim_transformer_block *block)
{
    b->block = PIM_NONE;
    if (b->status != PIM_OK)
        return;
    block->last_layer = b->graph->count - 1;
    for (uint32_t i = block->first_layer; i <= block->last_layer; i++) {
        block->macs += b->graph->layers[i].macs;
        block->padding_macs += b->graph->layers[i].padding_macs;
        block->parameters += b->graph->layers[i].parameters;
    }
}

static void attention_start(struct pim_attention *attention, uint32_t heads, uint32_t channels,
                            uint32_t queries, uint32_t keys)
{
    attention->heads = heads;
    attention->head_channels = channels / heads;
    attention->query_tokens = queries;
    attention->key_tokens = keys;
    attention->granularities = 1;
    attention->granularity_keys[0] = keys;
}

void pim_attention_windows(struct pim_attention *attention, uint32_t heads, uint32_t channels,
                           const struct pim_windows *windows)
{
    uint32_t tokens = windows->window[0] * windows->window[1];
    attention_start(attention, heads, channels, tokens, tokens);
    attention->branches_y = windows->padded[0] / windows->window[0];
    attention->branches_x = windows->padded[1] / windows->window[1];
    attention->branches = attention->branches_x * attention->branches_y;
    attention->region_height = windows->window[0];
    attention->region_width = windows->window[1];
}

void pim_attention_global(struct pim_attention *attention, uint32_t heads, uint32_t channels, uint32_t height,
                          uint32_t width, uint32_t query_tokens, uint32_t key_tokens)
{
    attention_start(attention, heads, channels, query_tokens, key_tokens);
    attention->branches = attention->branches_x = attention->branches_y = 1;
    attention->region_height = height;
    attention->region_width = width;
    attention->global = true;
}

uint32_t pim_build_attention(struct pim_builder *b, struct pim_attention *attention, const char *suffix,
                             uint32_t query, uint32_t key, uint32_t value, uint64_t bias_parameters,
                             uint64_t real_pairs)
{
    const union pim_attributes attributes = {
        .attention = {.heads = attention->heads, .bias_parameters = bias_parameters}};
    const union pim_attributes plain = {.attention = {.heads = attention->heads}};
    struct pim_shape q = pim_build_shape(b, query), k = pim_build_shape(b, key);
    uint64_t pairs = (uint64_t)q.dimension[0] * q.dimension[1] * k.dimension[1];
    uint64_t padding = (pairs - real_pairs) * q.dimension[2];
    char name[48];
    (void)snprintf(name, sizeof name, "scores%s", suffix);
    uint32_t scores = pim_build(b, PIM_OPERATOR_ATTENTION_SCORES, PIM_ROLE_SCORES, name, &attributes, padding,
                                2, (const uint32_t[]){query, key});
    attention->scores_layer = scores;
    (void)snprintf(name, sizeof name, "softmax%s", suffix);
    uint32_t softmax = pim_build(b, PIM_OPERATOR_SOFTMAX, PIM_ROLE_SOFTMAX, name, NULL, 0, 1, &scores);
    (void)snprintf(name, sizeof name, "context%s", suffix);
    return pim_build(b, PIM_OPERATOR_ATTENTION_CONTEXT, PIM_ROLE_CONTEXT, name, &plain, padding, 2,
                     (const uint32_t[]){softmax, value});
}

uint32_t pim_build_feed_forward(struct pim_builder *b, uint32_t input)
{
    const struct pim_transformer_block *block = &b->transformer->block[b->block];
    const union pim_attributes gelu = {.activation = PIM_ACTIVATION_GELU};
    uint32_t x = pim_build_norm(b, PIM_ROLE_NORM2, "norm2", input);
    x = pim_build_linear(b, PIM_ROLE_FFN_EXPAND, "ffn_expand", x, block->hidden_channels, true, 0);
    x = pim_build(b, PIM_OPERATOR_ACTIVATION, PIM_ROLE_GELU, "gelu", &gelu, 0, 1, &x);
    x = pim_build_linear(b, PIM_ROLE_FFN_CONTRACT, "ffn_contract", x, block->channels, true, 0);
    return pim_build_add(b, PIM_ROLE_RESIDUAL2, "residual2", input, x);
}

/* Keys and values come from a map that a convolution has made smaller by block->reduction per side. */
static uint32_t reduce(struct pim_builder *b, struct pim_transformer_block *block, uint32_t tokens)
{
    uint32_t map = pim_build_to_map(b, PIM_ROLE_REDUCTION, "reduction.map", tokens);
    map = pim_build_convolution(b, PIM_ROLE_REDUCTION, "reduction", map, block->channels, 1, block->reduction,
                                block->reduction, 0, 0);
    tokens = pim_build_to_tokens(b, PIM_ROLE_REDUCTION, "reduction.tokens", map);
    return pim_build_norm(b, PIM_ROLE_REDUCTION, "reduction.norm", tokens);
}

uint32_t pim_build_reduced_attention(struct pim_builder *b, struct pim_transformer_block *block,
                                     uint32_t input)
{
    const struct pim_transformer_stage *stage = pim_build_stage(b);
    struct pim_shape shape = pim_build_shape(b, input);
    struct pim_attention *attention = &block->attention[0];
    uint32_t channels = block->channels;
    uint32_t x = pim_build_norm(b, PIM_ROLE_NORM1, "norm1", input);
    uint32_t source = block->reduction > 1 ? reduce(b, block, x) : x;
    if (shape.rank == 4) {
        bool same = source == x;
        x = pim_build_flatten(b, PIM_ROLE_NORM1, "norm1.sequence", x);
        source = same ? x : pim_build_flatten(b, PIM_ROLE_REDUCTION, "reduction.sequence", source);
    }
    uint32_t query = pim_build_linear(b, PIM_ROLE_QUERY, "query", x, channels, true, 0);
    uint32_t key = pim_build_linear(b, PIM_ROLE_KEY, "key", source, channels, true, 0);
    uint32_t value = pim_build_linear(b, PIM_ROLE_VALUE, "value", source, channels, true, 0);
    uint32_t queries = pim_build_shape(b, query).dimension[1], keys = pim_build_shape(b, key).dimension[1];
    pim_attention_global(attention, stage->heads, channels, stage->height, stage->width, queries, keys);
    block->key_inputs = keys;
    x = pim_build_attention(b, attention, "", query, key, value, 0, (uint64_t)queries * keys);
    x = pim_build_linear(b, PIM_ROLE_PROJECTION, "projection", x, channels, true, 0);
    if (shape.rank == 4)
        x = pim_build_reshape(b, PIM_ROLE_PROJECTION, "projection.map", x, &shape);
    return pim_build_add(b, PIM_ROLE_RESIDUAL1, "residual1", input, x);
}

void pim_build_classifier(struct pim_builder *b, uint32_t input)
{
    uint32_t classes = b->specification->classes;
    b->transformer->head_layer = PIM_NONE;
    if (classes)
        b->transformer->head_layer = pim_build_linear(b, PIM_ROLE_HEAD, "head", input, classes, true, 0);
}

void pim_build_mean_head(struct pim_builder *b, uint32_t input)
{
    const union pim_attributes mean = {.reduction = {.axes = 1u << 1 | 1u << 2}};
    b->stage = b->block = PIM_NONE;
    uint32_t x = pim_build_norm(b, PIM_ROLE_FINAL_NORM, "norm", input);
    x = pim_build(b, PIM_OPERATOR_REDUCTION, PIM_ROLE_HEAD, "mean", &mean, 0, 1, &x);
    pim_build_classifier(b, x);
}

void pim_build_class_head(struct pim_builder *b, uint32_t input)
{
    b->stage = b->block = PIM_NONE;
    uint32_t x = pim_build_norm(b, PIM_ROLE_FINAL_NORM, "norm", input);
    x = pim_build_slice(b, PIM_ROLE_HEAD, "class", x, 1, 0, 1);
    pim_build_classifier(b, x);
}
