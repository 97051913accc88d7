#include "tests/unit/network/networks.h"

#include "tests/unit/test_main.h"

#include <stdio.h>
#include <string.h>

const char *const network_names[NETWORKS] = {
    "vit-t",     "vit-s",       "vit-b",       "vit-l",       "vit-h",     "swin-t",
    "swin-s",    "swin-b",      "swin-l",      "pvt-tiny",    "pvt-small", "pvt-medium",
    "pvt-large", "twins-svt-s", "twins-svt-b", "twins-svt-l", "focal-t",   "focal-s",
    "focal-b",   "cswin-t",     "cswin-s",     "cswin-b",     "cswin-l",
};

struct pim_network *read_network(const char *name, const char *override)
{
    char relative[128], path[1024];
    struct pim_error error = {0};
    struct pim_network *network = NULL;
    (void)snprintf(relative, sizeof relative, "configs/networks/%s.cfg", name);
    enum pim_status status = pim_network_read(pimsim_source_path(path, sizeof path, relative), &override,
                                              override ? 1 : 0, &network, &error);
    ck_assert_msg(status == PIM_OK, "%s: %s", name, error.text);
    return network;
}

struct pim_network *read_text(const char *text, struct pim_error *error)
{
    struct pim_configuration *configuration = NULL;
    struct pim_network *network = NULL;
    enum pim_status status = pim_configuration_create(&pim_network_schema, &configuration, error);
    ck_assert_msg(status == PIM_OK, "%s", error->text);
    status = pim_configuration_read_text(configuration, "test.cfg", text, strlen(text), error);
    if (status == PIM_OK)
        status = pim_configuration_complete(configuration, error);
    if (status == PIM_OK)
        status = pim_network_build(configuration, &network, error);
    ck_assert((status == PIM_OK) == (network != NULL));
    pim_configuration_destroy(configuration);
    return network;
}

const struct pim_layer *find_layer(const struct pim_network *network, const char *name)
{
    uint32_t index = pim_graph_find(&network->graph, name);
    ck_assert_msg(index != PIM_NONE, "%s has no layer %s", network->name, name);
    return &network->graph.layers[index];
}

static void check_attentions(const struct pim_network *network, const struct pim_transformer_block *block)
{
    uint32_t channels = 0;
    for (uint32_t i = 0; i < block->attentions; i++) {
        const struct pim_attention *a = &block->attention[i];
        const struct pim_layer *scores = &network->graph.layers[a->scores_layer];
        uint32_t keys = 0;
        for (uint32_t j = 0; j < a->granularities; j++)
            keys += a->granularity_keys[j];
        channels += a->heads * a->head_channels;
        ck_assert_uint_eq(a->branches, a->branches_x * a->branches_y);
        ck_assert_uint_ge((uint64_t)a->branches * a->query_tokens, block->tokens);
        ck_assert_uint_eq(a->key_tokens, keys);
        ck_assert(!a->global || a->branches == 1);
        ck_assert_int_eq(scores->operation, PIM_OPERATOR_ATTENTION_SCORES);
        ck_assert_uint_eq(scores->output.dimension[0], a->branches);
        ck_assert_uint_eq(scores->output.dimension[1], a->heads);
        ck_assert_uint_eq(scores->output.dimension[2], a->query_tokens);
        ck_assert_uint_eq(scores->output.dimension[3], a->key_tokens);
    }
    ck_assert_uint_eq(channels, block->channels);
}

static void check_block(const struct pim_network *network, uint32_t index)
{
    const struct pim_transformer *transformer = network->transformer;
    const struct pim_transformer_block *block = &transformer->block[index];
    const struct pim_transformer_stage *stage = &transformer->stage[block->stage];
    ck_assert_uint_eq(stage->first_block + block->index, index);
    ck_assert_uint_lt(block->index, stage->blocks);
    ck_assert_uint_eq(block->tokens, (uint64_t)stage->height * stage->width + stage->class_tokens);
    ck_assert_uint_eq(block->hidden_channels, stage->channels * stage->mlp_ratio);
    uint64_t macs = 0, padding = 0, parameters = 0, seen[PIM_ROLES] = {0};
    for (uint32_t i = 0; i < network->graph.count; i++) {
        const struct pim_layer *layer = &network->graph.layers[i];
        bool inside = i >= block->first_layer && i <= block->last_layer;
        if (inside != (layer->block == index) ||
            (inside && layer->stage != block->stage)) /* one check: Check's are slow */
            ck_abort_msg("%s: %s is in a wrong block", network->name, layer->name);
        if (!inside)
            continue;
        seen[layer->role]++;
        macs += layer->macs;
        padding += layer->padding_macs;
        parameters += layer->parameters;
    }
    static const enum pim_role needed[] = {
        PIM_ROLE_NORM1,      PIM_ROLE_QUERY,   PIM_ROLE_KEY,          PIM_ROLE_VALUE,     PIM_ROLE_SCORES,
        PIM_ROLE_SOFTMAX,    PIM_ROLE_CONTEXT, PIM_ROLE_PROJECTION,   PIM_ROLE_RESIDUAL1, PIM_ROLE_NORM2,
        PIM_ROLE_FFN_EXPAND, PIM_ROLE_GELU,    PIM_ROLE_FFN_CONTRACT, PIM_ROLE_RESIDUAL2};
    for (size_t i = 0; i < sizeof needed / sizeof needed[0]; i++) {
        if (seen[needed[i]] == 0)
            ck_abort_msg("%s: block %u has no %s", network->name, index, pim_role_name(needed[i]));
    }
    ck_assert_uint_eq(macs, block->macs);
    ck_assert_uint_eq(padding, block->padding_macs);
    ck_assert_uint_eq(parameters, block->parameters);
    check_attentions(network, block);
}

void check_network(const struct pim_network *network)
{
    const struct pim_transformer *transformer = network->transformer;
    struct pim_error error = {0};
    ck_assert_msg(pim_graph_check(&network->graph, &error) == PIM_OK, "%s: %s", network->name, error.text);
    ck_assert_ptr_nonnull(transformer);
    uint32_t blocks = 0;
    for (uint32_t i = 0; i < transformer->stages; i++) {
        const struct pim_transformer_stage *stage = &transformer->stage[i];
        const struct pim_layer *merge = &network->graph.layers[stage->merge_layer];
        ck_assert_uint_eq(stage->first_block, blocks);
        ck_assert_uint_eq(merge->macs, (uint64_t)stage->height * stage->width * stage->merge_inputs *
                                           stage->merge_outputs);
        blocks += stage->blocks;
    }
    ck_assert_uint_eq(blocks, transformer->blocks);
    for (uint32_t i = 0; i < transformer->blocks; i++)
        check_block(network, i);
}

void pimsim_suites(SRunner *runner)
{
    srunner_add_suite(runner, operators_suite());
    srunner_add_suite(runner, graph_suite());
    srunner_add_suite(runner, published_suite());
    srunner_add_suite(runner, view_suite());
    srunner_add_suite(runner, padding_suite());
    srunner_add_suite(runner, descriptor_suite());
    srunner_add_suite(runner, print_suite());
    srunner_add_suite(runner, convolutional_suite());
    srunner_add_suite(runner, sliding_suite());
    srunner_add_suite(runner, layer_table_suite());
}

void check_examples(const struct example *examples, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const struct example *e = &examples[i];
        const struct pim_shape *inputs[2] = {&e->input[0], &e->input[1]};
        struct pim_inference result;
        struct pim_error error = {0};
        enum pim_status status =
            pim_operator_infer(e->operation, &e->attributes, inputs, e->count, &result, &error);
        if (e->message) {
            ck_assert_msg(status == PIM_BAD_INPUT, "example %zu was not refused", i);
            ck_assert_msg(strstr(error.text, e->message) != NULL, "example %zu: %s", i, error.text);
            continue;
        }
        char found[96], expected[96];
        ck_assert_msg(status == PIM_OK, "example %zu: %s", i, error.text);
        ck_assert_msg(pim_shape_equal(&result.output, &e->output), "example %zu: %s instead of %s", i,
                      pim_shape_text(&result.output, found, sizeof found),
                      pim_shape_text(&e->output, expected, sizeof expected));
        ck_assert_msg(result.macs == e->macs, "example %zu: %llu MACs", i, (unsigned long long)result.macs);
        ck_assert_msg(result.parameters == e->parameters, "example %zu: %llu parameters", i,
                      (unsigned long long)result.parameters);
    }
}
