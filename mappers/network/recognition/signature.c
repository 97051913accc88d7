#include "mappers/network/recognition/signature.h"

#include "mappers/network/recognition/origin.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Layers passed while tokens are followed back, in all. */
#define STEP_LIMIT (UINT64_C(1) << 29)

static const struct pim_layer *input_of(const struct pim_graph *graph, const struct pim_layer *layer,
                                        uint32_t which)
{
    return &graph->layers[layer->input[which]];
}

static uint64_t columns(const struct pim_shape *shape)
{
    return shape->rank ? shape->dimension[shape->rank - 1] : 1;
}

static uint64_t rows(const struct pim_shape *shape)
{
    return pim_shape_elements(shape) / columns(shape);
}

bool *pim_graph_computed(const struct pim_graph *graph)
{
    bool *computed = calloc(graph->count ? graph->count : 1, sizeof *computed);
    for (uint32_t i = 0; computed && i < graph->count; i++) {
        const struct pim_layer *layer = &graph->layers[i];
        computed[i] = layer->operation == PIM_OPERATOR_INPUT;
        for (uint32_t j = 0; j < layer->inputs; j++)
            computed[i] |= computed[layer->input[j]];
    }
    return computed;
}

bool pim_layer_adds(const struct pim_graph *graph, uint32_t index, const bool *computed)
{
    const struct pim_layer *layer = &graph->layers[index];
    return layer->operation == PIM_OPERATOR_ELEMENTWISE &&
           layer->attributes.elementwise == PIM_ELEMENTWISE_ADD && layer->inputs == 2 &&
           computed[layer->input[0]] && computed[layer->input[1]];
}

uint32_t pim_softmax_scores(const struct pim_graph *graph, uint32_t softmax, const bool *computed)
{
    uint32_t at = graph->layers[softmax].input[0];
    for (;;) {
        const struct pim_layer *layer = &graph->layers[at];
        uint32_t next = PIM_NONE;
        if (layer->operation == PIM_OPERATOR_MATRIX_MULTIPLICATION)
            return at;
        if (layer->operation != PIM_OPERATOR_RESHAPE && layer->operation != PIM_OPERATOR_ELEMENTWISE)
            return PIM_NONE;
        for (uint32_t i = 0; i < layer->inputs; i++) {
            if (computed[layer->input[i]])
                next = layer->input[i];
        }
        if (next == PIM_NONE)
            return PIM_NONE;
        at = next;
    }
}

void pim_product_sizes(const struct pim_graph *graph, uint32_t index, uint64_t size[PIM_ITEM_SIZES])
{
    const struct pim_layer *layer = &graph->layers[index];
    const struct pim_shape *out = &layer->output;
    const uint64_t n = columns(out), m = out->rank > 1 ? out->dimension[out->rank - 2] : 1;
    const uint64_t each = m * n;
    size[0] = pim_shape_elements(out) / each;
    size[1] = m;
    size[2] = columns(&input_of(graph, layer, 0)->output);
    size[3] = n;
}

/* Mixes 64 bits (the finaliser of SplitMix64). */
static uint64_t mix(uint64_t x)
{
    x += UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return x ^ x >> 31;
}

/* The tokens of `count` elements of an operand, `stride` apart; their order does not count. */
static uint64_t digest(const struct pim_graph *graph, const bool *computed, uint32_t layer, uint64_t first,
                       uint64_t count, uint64_t stride, uint64_t *steps)
{
    uint64_t sum = 0;
    for (uint64_t i = 0; i < count && *steps < STEP_LIMIT; i++)
        sum += mix(pim_origin(graph, computed, layer, first + i * stride, steps));
    return mix(sum);
}

/* Rule 4. Operands with unlike leading dimensions are not followed: 0. */
static uint64_t tokens_of(const struct pim_graph *graph, const bool *computed, uint32_t index, bool scores,
                          const uint64_t size[PIM_ITEM_SIZES], uint64_t *steps)
{
    const struct pim_layer *layer = &graph->layers[index];
    const uint64_t products = size[0], m = size[1], k = size[2], n = size[3];
    const bool turned = layer->attributes.matrix.transpose_second;
    uint64_t sum = 0;
    if (pim_shape_elements(&input_of(graph, layer, 0)->output) != products * m * k ||
        pim_shape_elements(&input_of(graph, layer, 1)->output) != products * k * n)
        return 0;
    for (uint64_t b = 0; b < products && *steps < STEP_LIMIT; b++) {
        const uint64_t first = b * m * k, second = b * k * n;
        uint64_t of = mix(digest(graph, computed, layer->input[0], first, m, k, steps));
        if (scores)
            of += digest(graph, computed, layer->input[1], second, n, turned ? k : 1, steps);
        else
            of += digest(graph, computed, layer->input[1], second, k, turned ? 1 : n, steps);
        sum += mix(of);
    }
    return sum;
}

/* The tensor that a product with weights reads, without views of it. */
static uint32_t source_of(const struct pim_graph *graph, uint32_t layer)
{
    uint32_t at = graph->layers[layer].input[0];
    while (graph->layers[at].operation == PIM_OPERATOR_RESHAPE)
        at = graph->layers[at].input[0];
    return at;
}

/* Means and averages are one kind, extrema and maxima another. */
static uint64_t pooled_kind(const struct pim_layer *layer)
{
    if (layer->operation == PIM_OPERATOR_POOLING)
        return layer->attributes.pooling.kind == PIM_POOLING_AVERAGE   ? 0
               : layer->attributes.pooling.kind == PIM_POOLING_MAXIMUM ? 1
                                                                       : 2;
    return layer->attributes.reduction.kind == PIM_REDUCTION_MEAN       ? 0
           : layer->attributes.reduction.kind == PIM_REDUCTION_EXTREMUM ? 1
                                                                        : 3;
}

static bool is(struct pim_item *item, enum pim_item_kind kind, uint64_t first, uint64_t second,
               uint64_t third)
{
    item->kind = kind;
    item->size[0] = first;
    item->size[1] = second;
    item->size[2] = third;
    return true;
}

static bool is_convolution(struct pim_item *item, const struct pim_layer *layer, uint32_t channels)
{
    const uint32_t outputs = layer->attributes.convolution.outputs;
    const struct pim_sliding *sliding = &layer->attributes.convolution.sliding;
    for (int i = 0; i < 2; i++) {
        item->size[3 + i] = sliding->kernel[i];
        item->size[5 + i] = sliding->stride[i];
        item->size[7 + i] = sliding->dilation[i];
    }
    return is(item, PIM_ITEM_CONVOLUTION, pim_shape_elements(&layer->output) / outputs,
              channels / layer->attributes.convolution.groups, outputs);
}

static uint64_t normalized_kind(const struct pim_layer *layer)
{
    return layer->attributes.normalization.kind +
           (layer->attributes.normalization.root_mean_square ? (uint64_t)PIM_NORMALIZATIONS : 0);
}

/* Rule 1: whether the layer is an item, and its sizes. */
static bool describe(const struct pim_graph *graph, uint32_t index, const bool *computed,
                     struct pim_item *item)
{
    const struct pim_layer *layer = &graph->layers[index];
    const struct pim_shape *out = &layer->output,
                           *in = layer->inputs ? &input_of(graph, layer, 0)->output : out;
    const uint64_t elements = pim_shape_elements(out);
    *item = (struct pim_item){.layer = index};
    switch ((unsigned)layer->operation) {
    case PIM_OPERATOR_LINEAR:
        return is(item, PIM_ITEM_LINEAR, rows(out), columns(in), columns(out));
    case PIM_OPERATOR_CONVOLUTION:
        return is_convolution(item, layer, in->dimension[1]);
    case PIM_OPERATOR_MATRIX_MULTIPLICATION:
        item->kind = PIM_ITEM_PRODUCT;
        pim_product_sizes(graph, index, item->size);
        return true;
    case PIM_OPERATOR_NORMALIZATION:
        return is(item, PIM_ITEM_NORMALIZATION, normalized_kind(layer), rows(out), columns(out));
    case PIM_OPERATOR_SOFTMAX:
        return is(item, PIM_ITEM_SOFTMAX, rows(out), columns(out), 0);
    case PIM_OPERATOR_ACTIVATION:
        return is(item, PIM_ITEM_ACTIVATION, layer->attributes.activation, elements, 0);
    case PIM_OPERATOR_POOLING:
    case PIM_OPERATOR_REDUCTION:
        return is(item, PIM_ITEM_POOLING, pooled_kind(layer), pim_shape_elements(in), elements);
    case PIM_OPERATOR_ELEMENTWISE:
        (void)is(item, PIM_ITEM_ELEMENTWISE, layer->attributes.elementwise, elements, 0);
        return layer->inputs == 2 && computed[layer->input[0]] && computed[layer->input[1]];
    case PIM_OPERATOR_INPUT:
    case PIM_OPERATOR_CONCAT:
    case PIM_OPERATOR_SLICE:
    case PIM_OPERATOR_PAD:
    case PIM_OPERATOR_RESHAPE:
    case PIM_OPERATOR_TRANSPOSE:
        return false;
    default:
        return is(item, PIM_ITEM_OTHER, layer->operation, elements, 0);
    }
}

/* An item that is being collected: products with weights have a source, by which they are joined. */
struct collected {
    struct pim_item item;
    uint32_t source; /* PIM_NONE: not of this kind */
};

struct collection {
    const struct pim_graph *graph;
    bool *computed, *scores;
    uint32_t *depth;
    struct collected *items;
    size_t count;
    uint64_t steps;
};

static void mark_scores(const struct collection *c)
{
    for (uint32_t i = 0; i < c->graph->count; i++) {
        uint32_t scores = c->graph->layers[i].operation == PIM_OPERATOR_SOFTMAX
                              ? pim_softmax_scores(c->graph, i, c->computed)
                              : PIM_NONE;
        if (scores != PIM_NONE)
            c->scores[scores] = true;
    }
}

static uint32_t nearer(const struct collection *c, const struct pim_layer *layer)
{
    const uint32_t first = c->depth[layer->input[0]], second = c->depth[layer->input[1]];
    return first < second ? first : second;
}

static void collect(struct collection *c)
{
    uint64_t steps = 0;
    for (uint32_t i = 0; i < c->graph->count; i++) {
        const struct pim_layer *layer = &c->graph->layers[i];
        struct collected next;
        for (uint32_t j = 0; j < layer->inputs; j++) {
            if (c->depth[layer->input[j]] > c->depth[i])
                c->depth[i] = c->depth[layer->input[j]];
        }
        if (!c->computed[i] || !describe(c->graph, i, c->computed, &next.item))
            continue;
        next.item.depth = ++c->depth[i];
        if (next.item.kind == PIM_ITEM_ELEMENTWISE)
            next.item.size[2] = nearer(c, layer);
        next.source = next.item.kind == PIM_ITEM_LINEAR ? source_of(c->graph, i) : PIM_NONE;
        if (next.item.kind == PIM_ITEM_PRODUCT)
            next.item.tokens = tokens_of(c->graph, c->computed, i, c->scores[i], next.item.size, &steps);
        c->items[c->count++] = next;
    }
    c->steps = steps;
}

static int by_source(const void *a, const void *b)
{
    const struct collected *x = a, *y = b;
    if (x->source != y->source)
        return x->source < y->source ? -1 : 1;
    return x->item.layer < y->item.layer ? -1 : x->item.layer > y->item.layer;
}

static int by_item(const void *a, const void *b)
{
    const struct pim_item *x = a, *y = b;
    const int order = pim_item_compare(x, y);
    return order ? order : x->layer < y->layer ? -1 : x->layer > y->layer;
}

/* Rules 2 and 5. */
static void finish(struct collection *c, struct pim_signature *signature)
{
    if (c->count)
        qsort(c->items, c->count, sizeof c->items[0], by_source);
    for (size_t i = 0; i < c->count; i++) {
        const struct collected *next = &c->items[i];
        struct pim_item *last = signature->count ? &signature->item[signature->count - 1] : NULL;
        if (last && next->source != PIM_NONE && c->items[i - 1].source == next->source &&
            last->size[0] == next->item.size[0] && last->size[1] == next->item.size[1])
            last->size[2] += next->item.size[2];
        else
            signature->item[signature->count++] = next->item;
    }
    if (signature->count)
        qsort(signature->item, signature->count, sizeof signature->item[0], by_item);
}

enum pim_status pim_signature_make(const struct pim_graph *graph, struct pim_signature *signature,
                                   struct pim_error *error)
{
    const size_t room = graph->count ? graph->count : 1;
    struct collection c = {
        .graph = graph,
        .computed = pim_graph_computed(graph),
        .scores = calloc(room, sizeof *c.scores),
        .depth = calloc(room, sizeof *c.depth),
        .items = calloc(room, sizeof *c.items),
    };
    *signature = (struct pim_signature){.item = calloc(room, sizeof *signature->item)};
    enum pim_status status = PIM_OK;
    if (!c.computed || !c.scores || !c.depth || !c.items || !signature->item) {
        status = pim_fail(error, PIM_NO_MEMORY, "out of memory while recognising a network");
    } else {
        mark_scores(&c);
        collect(&c);
        finish(&c, signature);
        if (c.steps >= STEP_LIMIT)
            status = pim_fail(error, PIM_BAD_INPUT,
                              "the attention is too large to be recognised: take a smaller image");
    }
    free(c.computed);
    free(c.scores);
    free(c.depth);
    free(c.items);
    if (status != PIM_OK)
        pim_signature_terminate(signature);
    return status;
}

void pim_signature_terminate(struct pim_signature *signature)
{
    free(signature->item);
    *signature = (struct pim_signature){0};
}

int pim_item_compare(const struct pim_item *a, const struct pim_item *b)
{
    if (a->depth != b->depth)
        return a->depth < b->depth ? -1 : 1;
    if (a->kind != b->kind)
        return a->kind < b->kind ? -1 : 1;
    for (int i = 0; i < PIM_ITEM_SIZES; i++) {
        if (a->size[i] != b->size[i])
            return a->size[i] < b->size[i] ? -1 : 1;
    }
    return a->tokens < b->tokens ? -1 : a->tokens > b->tokens;
}

size_t pim_signature_common(const struct pim_signature *a, const struct pim_signature *b)
{
    size_t i = 0;
    while (i < a->count && i < b->count && pim_item_compare(&a->item[i], &b->item[i]) == 0)
        i++;
    return i;
}

const char *pim_item_text(const struct pim_item *item, char *text, size_t size)
{
    static const struct {
        const char *text, *sizes;
    } words[] = {
#define X(name, text, sizes) {text, sizes},
        PIM_ITEM_MAP(X)
#undef X
    };
    int length = snprintf(text, size, "%s (%s:", words[item->kind].text, words[item->kind].sizes);
    size_t count = 1;
    for (const char *c = words[item->kind].sizes; *c; c++)
        count += *c == ',';
    for (size_t i = 0; i < count && length >= 0 && (size_t)length < size; i++) {
        const int more = snprintf(text + length, size - (size_t)length, " %" PRIu64 "%s", item->size[i],
                                  i + 1 < count ? "," : ")");
        length = more < 0 ? more : length + more;
    }
    return text;
}
