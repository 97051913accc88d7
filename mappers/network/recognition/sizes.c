/*
 * What a graph shows of a vision transformer: its image, its embedding, and block by block the feed-forward
 * network, the attentions in front of it and what reduces their keys.
 */
#include "mappers/network/recognition/sizes.h"

#include "mappers/network/recognition/signature.h"

#include <inttypes.h>
#include <stdlib.h>

static uint64_t columns(const struct pim_shape *shape)
{
    return shape->rank ? shape->dimension[shape->rank - 1] : 1;
}

static enum pim_status read_image(const struct pim_graph *graph, struct pim_sizes *sizes,
                                  struct pim_error *error)
{
    const struct pim_shape *image = NULL;
    char text[96];
    for (uint32_t i = 0; i < graph->count; i++) {
        const struct pim_layer *layer = &graph->layers[i];
        if (layer->operation == PIM_OPERATOR_INPUT && image)
            return pim_fail(error, PIM_BAD_INPUT,
                            "a vision transformer has one input, its image: %s is another", layer->name);
        if (layer->operation == PIM_OPERATOR_INPUT)
            image = &layer->output;
        if (layer->operation != PIM_OPERATOR_CONVOLUTION || sizes->patch)
            continue;
        sizes->patch = layer->attributes.convolution.sliding.stride[0];
    }
    if (!image || image->rank != 4 || image->dimension[0] != 1 || image->dimension[2] != image->dimension[3])
        return pim_fail(
            error, PIM_BAD_INPUT,
            "a vision transformer has one square image of 1 x channels x side x side: the input is %s",
            image ? pim_shape_text(image, text, sizeof text) : "missing");
    if (!sizes->patch)
        return pim_fail(
            error, PIM_BAD_INPUT,
            "a vision transformer has a convolution that makes tokens of its image: there is none");
    sizes->input_channels = image->dimension[1];
    sizes->image = image->dimension[2];
    return PIM_OK;
}

/* The product with weights whose outputs are what layer `index` reads, with biases in between; PIM_NONE. */
static uint32_t product_before(const struct pim_graph *graph, uint32_t index, const bool *computed)
{
    uint32_t at = graph->layers[index].input[0];
    while (computed[at] && (graph->layers[at].operation == PIM_OPERATOR_RESHAPE ||
                            graph->layers[at].operation == PIM_OPERATOR_ELEMENTWISE)) {
        const struct pim_layer *layer = &graph->layers[at];
        at = layer->inputs == 2 && !computed[layer->input[0]] ? layer->input[1] : layer->input[0];
    }
    return graph->layers[at].operation == PIM_OPERATOR_LINEAR ? at : PIM_NONE;
}

static void add_attention(const struct pim_graph *graph, uint32_t softmax, const bool *computed,
                          struct pim_sized_block *block)
{
    uint64_t size[PIM_ITEM_SIZES] = {0};
    const uint32_t scores = pim_softmax_scores(graph, softmax, computed);
    if (scores == PIM_NONE)
        return;
    pim_product_sizes(graph, scores, size);
    if (block->attentions < PIM_ATTENTIONS)
        block->attention[block->attentions] =
            (struct pim_sized_attention){.rows = size[1], .inner = size[2], .columns = size[3]};
    block->attentions++;
}

static void add_convolution(const struct pim_layer *layer, struct pim_sized_block *block)
{
    const struct pim_sliding *sliding = &layer->attributes.convolution.sliding;
    if (sliding->stride[0] > 1 && sliding->kernel[0] == sliding->stride[0])
        block->reduction = sliding->kernel[0];
}

/* An activation behind a product with weights ends a block. */
static bool ends_block(const struct pim_graph *graph, uint32_t activation, const bool *computed,
                       struct pim_sized_block *block)
{
    const uint32_t expand = product_before(graph, activation, computed);
    if (expand == PIM_NONE)
        return false;
    const struct pim_layer *layer = &graph->layers[expand];
    block->hidden = columns(&layer->output);
    block->channels = columns(&graph->layers[layer->input[0]].output);
    block->tokens = pim_shape_elements(&layer->output) / block->hidden;
    return true;
}

static void read_blocks(const struct pim_graph *graph, const bool *computed, struct pim_sizes *sizes)
{
    struct pim_sized_block next = {.reduction = 1};
    for (uint32_t i = 0; i < graph->count; i++) {
        const struct pim_layer *layer = &graph->layers[i];
        if (!computed[i])
            continue;
        if (layer->operation == PIM_OPERATOR_SOFTMAX)
            add_attention(graph, i, computed, &next);
        if (layer->operation == PIM_OPERATOR_CONVOLUTION)
            add_convolution(layer, &next);
        if (layer->operation == PIM_OPERATOR_LINEAR &&
            pim_shape_elements(&layer->output) == columns(&layer->output))
            sizes->classes = (uint32_t)columns(&layer->output);
        if (pim_layer_adds(graph, i, computed)) /* what stood before it was of a block with one token */
            sizes->classes = 0;
        if (layer->operation == PIM_OPERATOR_ACTIVATION && ends_block(graph, i, computed, &next)) {
            sizes->block[sizes->blocks++] = next;
            next = (struct pim_sized_block){.reduction = 1};
        }
    }
}

/* A stage is what has the same tokens and channels. */
static enum pim_status read_stages(struct pim_sizes *sizes, struct pim_error *error)
{
    for (uint32_t i = 0; i < sizes->blocks; i++) {
        const struct pim_sized_block *block = &sizes->block[i];
        if (block->attentions == 0)
            return pim_fail(error, PIM_BAD_INPUT,
                            "feed-forward network %" PRIu32
                            " has no attention in front of it: a block of a vision transformer has both",
                            i + 1);
        const bool same = i > 0 && block->channels == block[-1].channels && block->tokens == block[-1].tokens;
        if (!same && sizes->stages == PIM_STAGES)
            return pim_fail(error, PIM_BAD_INPUT, "more than %d stages: a vision transformer has fewer",
                            PIM_STAGES);
        if (!same)
            sizes->stage[sizes->stages++].first_block = i;
        sizes->stage[sizes->stages - 1].blocks++;
    }
    if (sizes->stages == 0)
        return pim_fail(
            error, PIM_BAD_INPUT,
            "no feed-forward network (a product with weights, an activation, another product) was "
            "found: this is no vision transformer");
    return PIM_OK;
}

enum pim_status pim_sizes_read(const struct pim_graph *graph, struct pim_sizes *sizes,
                               struct pim_error *error)
{
    *sizes = (struct pim_sizes){0};
    enum pim_status status = read_image(graph, sizes, error);
    if (status != PIM_OK)
        return status;
    bool *computed = pim_graph_computed(graph);
    sizes->block = calloc(graph->count, sizeof *sizes->block);
    if (computed && sizes->block)
        read_blocks(graph, computed, sizes);
    else
        status = pim_fail(error, PIM_NO_MEMORY, "out of memory while recognising a network");
    free(computed);
    if (status == PIM_OK)
        status = read_stages(sizes, error);
    if (status != PIM_OK)
        pim_sizes_terminate(sizes);
    return status;
}

void pim_sizes_terminate(struct pim_sizes *sizes)
{
    free(sizes->block);
    sizes->block = NULL;
}
