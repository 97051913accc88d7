/* The layers of a network that occupy tiles; see graph.h. */
#include "mappers/conflict/graph.h"

#include <inttypes.h>

/* What a layer of the network hands on: whose pixels they are, and what is known of them. */
struct value {
    uint32_t layer;    /* here, or PIM_TILE_IMAGE */
    uint32_t channels; /* of a pixel */
    uint64_t pixels;   /* or tokens */
    bool tokens;       /* channels last; else channels are dimension 1 */
    bool constant;     /* a parameter: it is there from the beginning */
    bool ordered;      /* pixels are those that the layer here sends, in its order */
};

struct lowering {
    const struct pim_graph *graph;
    struct pim_tile_layer *layers;
    uint32_t count;
    struct value *value; /* of each layer of the network */
};

static enum pim_status refuse(const struct pim_layer *layer, const char *why, struct pim_error *error)
{
    return pim_fail(error, PIM_BAD_INPUT, "layer %s (%s): %s", layer->name,
                    pim_operator_name(layer->operation), why);
}

static const struct pim_shape *shape_of(const struct lowering *lowering, const struct pim_layer *layer,
                                        uint32_t input)
{
    return &lowering->graph->layers[layer->input[input]].output;
}

static const struct value *value_of(const struct lowering *lowering, const struct pim_layer *layer,
                                    uint32_t input)
{
    return &lowering->value[layer->input[input]];
}

static uint32_t last_dimension(const struct pim_shape *shape)
{
    return shape->rank > 0 ? shape->dimension[shape->rank - 1] : 1;
}

/* A map of one image: [1, channels, height, width]. */
static bool is_map(const struct pim_shape *shape)
{
    return shape->rank == 4 && shape->dimension[0] == 1;
}

/* Images that the network works at once: a map with so many is of images, another one is of windows. */
static uint32_t images_of(const struct lowering *lowering)
{
    uint32_t images = 1;
    for (uint32_t i = 0; i < lowering->graph->count; i++) {
        const struct pim_layer *layer = &lowering->graph->layers[i];
        if (layer->operation == PIM_OPERATOR_INPUT && layer->output.rank == 4 &&
            layer->output.dimension[0] > images)
            images = layer->output.dimension[0];
    }
    return images;
}

/* --- inputs --- */

/* A layer here reads an input of the network's: a step waits for the pixel of its number or its window (round
 * 0), or for rounds of so many; for all when they come in another order. */
static enum pim_status read_input(const struct lowering *lowering, const struct pim_layer *layer,
                                  uint32_t input, uint64_t round, struct pim_tile_layer *out,
                                  struct pim_error *error)
{
    const struct value *value = value_of(lowering, layer, input);
    if (value->constant)
        return PIM_OK;
    if (value->layer != PIM_TILE_IMAGE) {
        const struct pim_tile_layer *source = &lowering->layers[value->layer];
        uint64_t sent = (uint64_t)source->window.out_size[0] * source->window.out_size[1];
        if (!value->ordered || value->pixels != sent)
            round = sent;
    }
    for (uint32_t i = 0; i < out->inputs; i++)
        if (out->input[i] == value->layer) {
            out->round[i] = round > out->round[i] ? (uint32_t)round : out->round[i];
            return PIM_OK;
        }
    if (out->inputs == PIM_TILE_INPUTS)
        return refuse(layer, "more than 16 inputs", error);
    out->round[out->inputs] = (uint32_t)round;
    out->input[out->inputs++] = value->layer;
    return PIM_OK;
}

static enum pim_status read_all(const struct lowering *lowering, const struct pim_layer *layer, bool whole,
                                struct pim_tile_layer *out, struct pim_error *error)
{
    enum pim_status status = PIM_OK;
    for (uint32_t i = 0; i < layer->inputs && status == PIM_OK; i++)
        status = read_input(lowering, layer, i, whole ? value_of(lowering, layer, i)->pixels : 0, out, error);
    return status;
}

/* --- layers with windows --- */

/* Pixels in a row, one after the other. */
static enum pim_status take_row(const struct pim_layer *layer, uint64_t pixels, struct pim_tile_layer *out,
                                struct pim_error *error)
{
    if (pixels == 0 || pixels > PIM_TILE_STEPS)
        return refuse(layer, "more pixels or tokens than a tile can count", error);
    out->window = (struct pim_window){{1, (uint32_t)pixels}, {1, (uint32_t)pixels}, {1, 1}, {1, 1}, {0, 0}};
    out->rows = 1;
    return PIM_OK;
}

/* Takes size and channels of a layer between two maps. */
static enum pim_status take_maps(const struct lowering *lowering, const struct pim_layer *layer,
                                 struct pim_tile_layer *out, struct pim_error *error)
{
    const struct pim_shape *from = shape_of(lowering, layer, 0), *to = &layer->output;
    if (!is_map(from) || !is_map(to))
        return refuse(
            layer,
            "only maps of one image have pixels to send (export with a batch of 1, --batch repeats it)",
            error);
    out->in_channels = from->dimension[1];
    out->out_channels = to->dimension[1];
    for (unsigned axis = 0; axis < 2; axis++) {
        out->window.in_size[axis] = from->dimension[2 + axis];
        out->window.out_size[axis] = to->dimension[2 + axis];
        out->window.kernel[axis] = out->window.stride[axis] = 1;
        out->window.pad[axis] = 0;
    }
    return PIM_OK;
}

/* Rows of a crossbar for an input channel; what no crossbar has is all the same. */
static uint32_t rows_of(const struct pim_sliding *sliding)
{
    uint64_t rows = (uint64_t)sliding->kernel[0] * sliding->kernel[1];
    return rows < UINT32_MAX ? (uint32_t)rows : UINT32_MAX;
}

static void take_window(const struct pim_sliding *sliding, struct pim_tile_layer *out)
{
    for (unsigned axis = 0; axis < 2; axis++) {
        out->window.kernel[axis] = (sliding->kernel[axis] - 1) * sliding->dilation[axis] + 1;
        out->window.stride[axis] = sliding->stride[axis];
        out->window.pad[axis] = sliding->pad_before[axis];
    }
    out->rows = rows_of(sliding);
}

static enum pim_status lower_convolution(const struct lowering *lowering, const struct pim_layer *layer,
                                         struct pim_tile_layer *out, struct pim_error *error)
{
    out->kind = PIM_TILE_CONVOLUTION;
    out->groups = layer->attributes.convolution.groups;
    if (layer->output.rank == 4 && layer->output.dimension[0] > 1 &&
        layer->output.dimension[0] != images_of(lowering)) { /* windows side by side */
        const struct pim_sliding *sliding = &layer->attributes.convolution.sliding;
        out->in_channels = shape_of(lowering, layer, 0)->dimension[1];
        out->out_channels = layer->output.dimension[1];
        if (take_row(layer, pim_shape_elements(&layer->output) / out->out_channels, out, error) != PIM_OK)
            return error->status;
        out->rows = rows_of(sliding);
        return read_all(lowering, layer, true, out, error);
    }
    if (take_maps(lowering, layer, out, error) != PIM_OK)
        return error->status;
    take_window(&layer->attributes.convolution.sliding, out);
    return read_all(lowering, layer, false, out, error);
}

/* Of tokens, or of a whole map: everything is waited for. */
static enum pim_status lower_reduction(const struct lowering *lowering, const struct pim_layer *layer,
                                       struct pim_tile_layer *out, struct pim_error *error)
{
    out->in_channels = value_of(lowering, layer, 0)->channels;
    out->out_channels = last_dimension(&layer->output);
    if (take_row(layer, pim_shape_elements(&layer->output) / out->out_channels, out, error) != PIM_OK)
        return error->status;
    return read_all(lowering, layer, true, out, error);
}

static enum pim_status lower_pooling(const struct lowering *lowering, const struct pim_layer *layer,
                                     struct pim_tile_layer *out, struct pim_error *error)
{
    const struct pim_shape *from = shape_of(lowering, layer, 0);
    bool reduces = layer->operation == PIM_OPERATOR_REDUCTION;
    bool global = reduces || layer->attributes.pooling.global;
    out->kind = PIM_TILE_POOLING;
    if (reduces && !(is_map(from) && layer->attributes.reduction.axes == 12))
        return lower_reduction(lowering, layer, out, error);
    if (reduces) {
        out->in_channels = out->out_channels = from->dimension[1];
        for (unsigned axis = 0; axis < 2; axis++) {
            out->window.in_size[axis] = from->dimension[2 + axis];
            out->window.out_size[axis] = 1;
        }
    } else if (take_maps(lowering, layer, out, error) != PIM_OK) {
        return error->status;
    }
    for (unsigned axis = 0; axis < 2 && global; axis++) {
        out->window.kernel[axis] = out->window.stride[axis] = out->window.in_size[axis];
        out->window.pad[axis] = 0;
    }
    if (!global)
        take_window(&layer->attributes.pooling.sliding, out);
    return read_all(lowering, layer, false, out, error);
}

/* --- products --- */

/* A vector is fully connected; tokens are the pixels of a 1 x 1 convolution. */
static enum pim_status lower_linear(const struct lowering *lowering, const struct pim_layer *layer,
                                    struct pim_tile_layer *out, struct pim_error *error)
{
    const struct pim_shape *from = shape_of(lowering, layer, 0);
    uint64_t features = pim_shape_elements(from);
    out->in_channels = last_dimension(from);
    out->out_channels = layer->attributes.linear.outputs;
    out->kind = features == out->in_channels ? PIM_TILE_LINEAR : PIM_TILE_CONVOLUTION;
    if (take_row(layer, features / out->in_channels, out, error) != PIM_OK)
        return error->status;
    return read_input(lowering, layer, 0, 0, out, error);
}

/* `second` elements of the second operand are read in every step: those of a round. */
static enum pim_status take_product(const struct pim_layer *layer, uint64_t steps, uint64_t channels,
                                    uint64_t second, struct pim_tile_layer *out, struct pim_error *error)
{
    if (channels > UINT32_MAX || second > PIM_TILE_PRODUCTS)
        return refuse(layer, "a step of this product is too large", error);
    out->kind = PIM_TILE_PRODUCT;
    out->out_channels = (uint32_t)channels;
    out->products = second;
    return take_row(layer, steps, out, error);
}

/* Scores are [branches, heads, queries, keys], queries and keys [branches, tokens, channels]. */
static enum pim_status lower_attention(const struct lowering *lowering, const struct pim_layer *layer,
                                       struct pim_tile_layer *out, struct pim_error *error)
{
    bool scores = layer->operation == PIM_OPERATOR_ATTENTION_SCORES;
    const struct pim_shape *table = scores ? &layer->output : shape_of(lowering, layer, 0);
    const struct pim_shape *with = shape_of(lowering, layer, 1);
    if (table->rank != 4 || layer->inputs < 2)
        return refuse(layer, "only attention in branches, heads, queries and keys has a rule", error);
    uint64_t steps = (uint64_t)table->dimension[0] * table->dimension[2], keys = table->dimension[3];
    uint64_t channels = scores ? (uint64_t)table->dimension[1] * keys : last_dimension(&layer->output);
    out->in_channels = value_of(lowering, layer, 0)->channels;
    if (take_product(layer, steps, channels, keys * last_dimension(with), out, error) != PIM_OK ||
        read_input(lowering, layer, 0, 0, out, error) != PIM_OK)
        return error->status;
    enum pim_status status = PIM_OK;
    for (uint32_t i = 1; i < layer->inputs && status == PIM_OK; i++)
        status = read_input(lowering, layer, i,
                            i == 1 && value_of(lowering, layer, 1)->pixels == table->dimension[0] * keys
                                ? keys
                                : value_of(lowering, layer, i)->pixels,
                            out, error);
    return status;
}

/* [.., m, k] * [.., k, n]: a step makes a row of n, when all is there. */
static enum pim_status lower_matrix(const struct lowering *lowering, const struct pim_layer *layer,
                                    struct pim_tile_layer *out, struct pim_error *error)
{
    uint64_t columns = last_dimension(&layer->output), inner = last_dimension(shape_of(lowering, layer, 0));
    out->in_channels = (uint32_t)inner;
    if (take_product(layer, pim_shape_elements(&layer->output) / columns, columns, inner * columns, out,
                     error) != PIM_OK)
        return error->status;
    return read_all(lowering, layer, true, out, error);
}

/* --- sums and concatenations --- */

static uint32_t real_inputs(const struct lowering *lowering, const struct pim_layer *layer, uint32_t *one)
{
    uint32_t count = 0;
    for (uint32_t i = layer->inputs; i-- > 0;)
        if (!value_of(lowering, layer, i)->constant) {
            *one = i;
            count++;
        }
    return count;
}

/* Pixel by pixel where all inputs have the pixels of the output; else when all is there. */
static enum pim_status lower_several(const struct lowering *lowering, const struct pim_layer *layer,
                                     struct pim_tile_layer *out, struct pim_error *error)
{
    bool concat = layer->operation == PIM_OPERATOR_CONCAT, same = true;
    uint32_t one = 0;
    (void)real_inputs(lowering, layer, &one);
    const struct value *first = value_of(lowering, layer, one);
    const struct pim_shape *to = &layer->output;
    out->kind = concat ? PIM_TILE_CONCAT : PIM_TILE_SUM;
    out->out_channels = first->tokens || to->rank < 2 ? last_dimension(to) : to->dimension[1];
    uint64_t pixels = pim_shape_elements(to) / out->out_channels;
    for (uint32_t i = 0; i < layer->inputs; i++) {
        const struct value *value = value_of(lowering, layer, i);
        same = same && (value->constant || (value->pixels == pixels && value->tokens == first->tokens));
    }
    if (is_map(to) && !first->tokens) {
        if (take_maps(lowering, layer, out, error) != PIM_OK)
            return error->status;
        for (unsigned axis = 0; axis < 2; axis++)
            out->window.in_size[axis] = out->window.out_size[axis];
    } else if (take_row(layer, pixels, out, error) != PIM_OK) {
        return error->status;
    }
    out->in_channels = out->out_channels;
    return read_all(lowering, layer, !same, out, error);
}

/* --- what is no layer here --- */

/* Of `from`, as the network's layer hands it on. */
static struct value pass(const struct lowering *lowering, const struct pim_layer *layer, uint32_t input)
{
    struct value value = *value_of(lowering, layer, input);
    const struct pim_shape *from = shape_of(lowering, layer, input), *to = &layer->output;
    uint64_t elements = pim_shape_elements(to);
    switch ((int)layer->operation) {
    case PIM_OPERATOR_NORMALIZATION:
    case PIM_OPERATOR_ACTIVATION:
    case PIM_OPERATOR_SOFTMAX:
    case PIM_OPERATOR_ELEMENTWISE:
        if (pim_shape_equal(from, to))
            return value;
        break;
    case PIM_OPERATOR_RESHAPE:
        if (value.tokens ? last_dimension(to) == value.channels
                         : to->rank > 2 && to->dimension[1] == value.channels)
            return value;
        break;
    case PIM_OPERATOR_TRANSPOSE: {
        const uint32_t *order = layer->attributes.transpose.order;
        bool back = to->rank > 2 && order[0] == 0 && order[1] == to->rank - 1, out = to->rank > 2;
        for (uint32_t i = 1; i < to->rank; i++) {
            out = out && order[i] == (i + 1 < to->rank ? i + 1 : 1);
            back = back && (i == 1 || order[i] == i - 1);
        }
        if (value.tokens ? back : out) {
            value.tokens = !value.tokens;
            return value;
        }
        break;
    }
    default:
        break;
    }
    value.tokens = value.tokens || to->rank != 4;
    value.channels = value.tokens || to->rank < 2 ? last_dimension(to) : to->dimension[1];
    value.pixels = elements / value.channels;
    value.ordered = false;
    return value;
}

static bool vanishes(const struct lowering *lowering, const struct pim_layer *layer, uint32_t *input)
{
    *input = 0;
    switch ((int)layer->operation) {
    case PIM_OPERATOR_NORMALIZATION:
    case PIM_OPERATOR_ACTIVATION:
    case PIM_OPERATOR_SOFTMAX:
    case PIM_OPERATOR_RESHAPE:
    case PIM_OPERATOR_TRANSPOSE:
    case PIM_OPERATOR_SHIFT:
    case PIM_OPERATOR_WINDOW_PARTITION:
    case PIM_OPERATOR_WINDOW_REVERSE:
    case PIM_OPERATOR_WINDOW_GATHER:
    case PIM_OPERATOR_PATCH_MERGING:
    case PIM_OPERATOR_SLICE:
    case PIM_OPERATOR_GATHER:
    case PIM_OPERATOR_EXPAND:
    case PIM_OPERATOR_PAD:
        return true;
    case PIM_OPERATOR_ELEMENTWISE:
    case PIM_OPERATOR_CONCAT:
        return real_inputs(lowering, layer, input) < 2;
    default:
        return false;
    }
}

static enum pim_status lower_operator(const struct lowering *lowering, const struct pim_layer *layer,
                                      struct pim_tile_layer *out, struct pim_error *error)
{
    switch ((int)layer->operation) {
    case PIM_OPERATOR_CONVOLUTION:
        return lower_convolution(lowering, layer, out, error);
    case PIM_OPERATOR_POOLING:
    case PIM_OPERATOR_REDUCTION:
        return lower_pooling(lowering, layer, out, error);
    case PIM_OPERATOR_LINEAR:
        return lower_linear(lowering, layer, out, error);
    case PIM_OPERATOR_ATTENTION_SCORES:
    case PIM_OPERATOR_ATTENTION_CONTEXT:
        return lower_attention(lowering, layer, out, error);
    case PIM_OPERATOR_MATRIX_MULTIPLICATION:
        return lower_matrix(lowering, layer, out, error);
    case PIM_OPERATOR_CONCAT:
    case PIM_OPERATOR_ELEMENTWISE:
        return lower_several(lowering, layer, out, error);
    default:
        return refuse(layer, "the conflict system has no rule for it", error);
    }
}

static enum pim_status lower_one(struct lowering *lowering, uint32_t index, struct pim_error *error)
{
    const struct pim_layer *layer = &lowering->graph->layers[index];
    struct pim_tile_layer *out = &lowering->layers[lowering->count];
    struct value *value = &lowering->value[index];
    uint32_t input;
    if (layer->inputs == 0) {
        bool map = layer->output.rank == 4;
        value->layer = PIM_TILE_IMAGE;
        value->constant = layer->operation != PIM_OPERATOR_INPUT;
        value->tokens = !map;
        value->ordered = true;
        value->channels = map ? layer->output.dimension[1] : last_dimension(&layer->output);
        value->pixels = pim_shape_elements(&layer->output) / value->channels;
        return PIM_OK;
    }
    if (vanishes(lowering, layer, &input)) {
        *value = pass(lowering, layer, input);
        return PIM_OK;
    }
    *out = (struct pim_tile_layer){.name = layer->name};
    if (lower_operator(lowering, layer, out, error) != PIM_OK)
        return error->status;
    bool map = is_map(&layer->output) && out->out_channels == layer->output.dimension[1] &&
               layer->operation != PIM_OPERATOR_LINEAR && out->kind != PIM_TILE_PRODUCT;
    *value = (struct value){.layer = lowering->count++,
                            .channels = out->out_channels,
                            .pixels = (uint64_t)out->window.out_size[0] * out->window.out_size[1],
                            .tokens = !map,
                            .ordered = true};
    return PIM_OK;
}

enum pim_status pim_tile_layers_of(const struct pim_graph *graph, struct pim_arena *arena,
                                   struct pim_tile_layer **layers, uint32_t *count, struct pim_error *error)
{
    struct lowering lowering = {.graph = graph,
                                .layers = PIM_ARENA_ARRAY(arena, struct pim_tile_layer, graph->count + 1),
                                .value = PIM_ARENA_ARRAY(arena, struct value, graph->count + 1)};
    if (!lowering.layers || !lowering.value)
        return pim_fail(error, PIM_NO_MEMORY, "no memory for %" PRIu32 " layers", graph->count);
    for (uint32_t i = 0; i < graph->count; i++)
        if (lower_one(&lowering, i, error) != PIM_OK)
            return error->status;
    if (lowering.count == 0)
        return pim_fail(error, PIM_BAD_INPUT, "the network has no layer that needs a tile");
    *layers = lowering.layers;
    *count = lowering.count;
    return PIM_OK;
}
