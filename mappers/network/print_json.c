/*
 * The JSON of a network; print.h lists its keys.
 */
#include "mappers/network/print.h"

#include "sim/output/json.h"

/* Numbered from 1; null outside. */
static void put_number(struct pim_json *json, const char *key, uint32_t index)
{
    if (index == PIM_NONE)
        pim_json_put_null(json, key);
    else
        pim_json_put_count(json, key, (uint64_t)index + 1);
}

static void put_layer(struct pim_json *json, const struct pim_network *network, const struct pim_layer *layer)
{
    uint32_t block = layer->block;
    if (block != PIM_NONE && network->transformer)
        block = network->transformer->block[block].index;
    pim_json_begin_object(json, NULL);
    pim_json_put_text(json, "name", layer->name);
    pim_json_put_text(json, "operator", pim_operator_name(layer->operation));
    pim_json_put_text(json, "role", pim_role_name(layer->role));
    put_number(json, "stage", layer->stage);
    put_number(json, "block", block);
    pim_json_begin_array(json, "inputs");
    for (uint32_t i = 0; i < layer->inputs; i++)
        pim_json_put_text(json, NULL, network->graph.layers[layer->input[i]].name);
    pim_json_end(json);
    pim_json_begin_array(json, "output_shape");
    for (uint32_t i = 0; i < layer->output.rank; i++)
        pim_json_put_count(json, NULL, layer->output.dimension[i]);
    pim_json_end(json);
    pim_json_put_count(json, "macs", layer->macs);
    pim_json_put_count(json, "padding_macs", layer->padding_macs);
    pim_json_put_count(json, "parameters", layer->parameters);
    pim_json_end(json);
}

static void put_stage(struct pim_json *json, const struct pim_transformer_stage *stage)
{
    pim_json_begin_object(json, NULL);
    pim_json_put_count(json, "height", stage->height);
    pim_json_put_count(json, "width", stage->width);
    pim_json_put_count(json, "class_tokens", stage->class_tokens);
    pim_json_put_count(json, "channels", stage->channels);
    pim_json_put_count(json, "heads", stage->heads);
    pim_json_put_count(json, "blocks", stage->blocks);
    pim_json_put_count(json, "window", stage->window);
    pim_json_put_count(json, "reduction", stage->reduction);
    pim_json_put_count(json, "mlp_ratio", stage->mlp_ratio);
    pim_json_put_count(json, "merge_inputs", stage->merge_inputs);
    pim_json_put_count(json, "merge_outputs", stage->merge_outputs);
    pim_json_end(json);
}

static void put_attention(struct pim_json *json, const struct pim_attention *attention)
{
    pim_json_begin_object(json, NULL);
    pim_json_put_count(json, "heads", attention->heads);
    pim_json_put_count(json, "head_channels", attention->head_channels);
    pim_json_put_count(json, "branches", attention->branches);
    pim_json_put_count(json, "branches_x", attention->branches_x);
    pim_json_put_count(json, "branches_y", attention->branches_y);
    pim_json_put_count(json, "region_width", attention->region_width);
    pim_json_put_count(json, "region_height", attention->region_height);
    pim_json_put_count(json, "query_tokens", attention->query_tokens);
    pim_json_put_count(json, "key_tokens", attention->key_tokens);
    pim_json_begin_array(json, "granularity_keys");
    for (uint32_t i = 0; i < attention->granularities; i++)
        pim_json_put_count(json, NULL, attention->granularity_keys[i]);
    pim_json_end(json);
    pim_json_put_boolean(json, "global", attention->global);
    pim_json_end(json);
}

static void put_block(struct pim_json *json, const struct pim_network *network,
                      const struct pim_transformer_block *block)
{
    pim_json_begin_object(json, NULL);
    put_number(json, "stage", block->stage);
    put_number(json, "block", block->index);
    pim_json_put_count(json, "channels", block->channels);
    pim_json_put_count(json, "hidden_channels", block->hidden_channels);
    pim_json_put_count(json, "tokens", block->tokens);
    pim_json_put_count(json, "key_inputs", block->key_inputs);
    pim_json_put_count(json, "shift", block->shift);
    pim_json_put_count(json, "reduction", block->reduction);
    pim_json_put_text(json, "first_layer", network->graph.layers[block->first_layer].name);
    pim_json_put_text(json, "last_layer", network->graph.layers[block->last_layer].name);
    pim_json_put_count(json, "macs", block->macs);
    pim_json_put_count(json, "padding_macs", block->padding_macs);
    pim_json_put_count(json, "parameters", block->parameters);
    pim_json_begin_array(json, "attentions");
    for (uint32_t i = 0; i < block->attentions; i++)
        put_attention(json, &block->attention[i]);
    pim_json_end(json);
    pim_json_end(json);
}

static void put_transformer(struct pim_json *json, const struct pim_network *network)
{
    const struct pim_transformer *transformer = network->transformer;
    if (!transformer) {
        pim_json_put_null(json, "transformer");
        return;
    }
    pim_json_begin_object(json, "transformer");
    pim_json_put_text(json, "family", pim_family_name(transformer->family));
    pim_json_put_count(json, "image", transformer->image);
    pim_json_put_count(json, "patch", transformer->patch);
    pim_json_put_count(json, "input_channels", transformer->input_channels);
    pim_json_put_count(json, "classes", transformer->classes);
    pim_json_begin_array(json, "stages");
    for (uint32_t i = 0; i < transformer->stages; i++)
        put_stage(json, &transformer->stage[i]);
    pim_json_end(json);
    pim_json_begin_array(json, "blocks");
    for (uint32_t i = 0; i < transformer->blocks; i++)
        put_block(json, network, &transformer->block[i]);
    pim_json_end(json);
    pim_json_end(json);
}

enum pim_status pim_network_print_json(const struct pim_network *network, FILE *file, struct pim_error *error)
{
    struct pim_json *json = pim_json_create();
    if (!json)
        return pim_fail(error, PIM_NO_MEMORY, "out of memory while writing a network");
    pim_json_put_text(json, "name", network->name);
    pim_json_put_count(json, "macs", network->graph.macs);
    pim_json_put_count(json, "padding_macs", network->graph.padding_macs);
    pim_json_put_count(json, "parameters", network->graph.parameters);
    pim_json_begin_array(json, "layers");
    for (uint32_t i = 0; i < network->graph.count; i++)
        put_layer(json, network, &network->graph.layers[i]);
    pim_json_end(json);
    put_transformer(json, network);
    enum pim_status status = pim_json_write(json, file, error);
    pim_json_destroy(json);
    return status;
}
