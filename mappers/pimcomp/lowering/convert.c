/*
 * Operators with arithmetic: each becomes a lowered layer, or joins the layer before it.
 *
 * An operation on each element joins the layer before when that layer's whole output goes there and nowhere
 * else. The same holds for scales and shifts behind a matrix: the scale goes into the weights, the shift into
 * the bias.
 */
#include "mappers/pimcomp/lowering/lowering.h"
#include "mappers/verify/value.h"
#include "traces/instruction.h"

#include <inttypes.h>
#include <string.h>

enum { MOST_AFTERS = sizeof((struct pim_core_layer){0}.after) / sizeof(struct pim_core_vector) };

/* The lowered layer whose whole output the view is, when nothing else reads it; NULL: there is none. */
static struct pim_core_layer *sole_layer(const struct pim_lowering *l, const struct pim_core_view *view)
{
    if (!view->sole || view->parts != 1)
        return NULL;
    struct pim_core_layer *layer = &l->network->layer[view->part->layer];
    bool whole = view->part->channels == layer->channels && layer->kind != PIM_CORE_INPUT;
    return whole ? layer : NULL;
}

/* The output of layer `layer` at work is the view `view` that something was fused into. */
static void fused(struct pim_lowering *l, const struct pim_core_view *view, struct pim_core_layer *layer)
{
    layer->graph_layer = l->index;
    pim_view_set_tensor(view, layer);
    l->view[l->index] = *view;
    l->view[l->index].sole = l->readers[l->index] == 1;
}

/* An ELEMENT layer of one source, not joined to anything. */
struct pim_core_layer *pim_lower_element(struct pim_lowering *l, const struct pim_core_view *view,
                                         struct pim_core_vector operation)
{
    struct pim_core_layer *layer =
        pim_lowering_add(l, PIM_CORE_ELEMENT, view->extent[PIM_AXIS_CHANNEL], view->extent[PIM_AXIS_ROW],
                         view->extent[PIM_AXIS_COLUMN]);
    layer->sources = 1;
    layer->source[0] = pim_view_source(view);
    layer->element = operation;
    l->view[l->index] = view->strided ? pim_view_like(l, view, l->network->count - 1)
                                      : pim_view_of_layer(l, l->network->count - 1, view->order);
    return layer;
}

/* A function of each element of input `input`. */
void pim_lower_function(struct pim_lowering *l, uint32_t input, struct pim_core_vector operation)
{
    const struct pim_core_view *view = pim_input_view(l, input);
    uint32_t block = 0;
    if (!pim_view_is_blocked(l, view, &block) && !pim_move_settle(l, l->layer->input[input], PIM_LAYOUT_ANY))
        return;
    struct pim_core_layer *layer = sole_layer(l, view);
    if (layer && layer->afters < MOST_AFTERS) {
        layer->after[layer->afters++] = operation;
        fused(l, view, layer);
    } else {
        (void)pim_lower_element(l, view, operation);
    }
}

/* Scale and shift for each channel of input `input`; false: there is no matrix that takes them in. */
bool pim_lower_affine(struct pim_lowering *l, uint32_t input, bool shift)
{
    const struct pim_core_view *view = pim_input_view(l, input);
    struct pim_core_layer *layer = sole_layer(l, view);
    uint64_t stride[PIM_AXES];
    if (!layer || layer->kind != PIM_CORE_MATRIX || layer->afters != 0 || layer->affines == PIM_CORE_AFFINES)
        return false;
    pim_view_elements(view, stride);
    layer->affine[layer->affines++] =
        (struct pim_core_affine){.graph_layer = l->index, .stride = stride[PIM_AXIS_CHANNEL]};
    layer->bias |= shift;
    fused(l, view, layer);
    return true;
}

static struct pim_core_layer *add_matrix(struct pim_lowering *l, const struct pim_core_source *source,
                                         const struct pim_sliding *sliding, uint32_t outputs, uint32_t height,
                                         uint32_t width, bool bias)
{
    uint64_t rows = (uint64_t)sliding->kernel[0] * sliding->kernel[1];
    struct pim_core_layer *layer = pim_lowering_add(l, PIM_CORE_MATRIX, outputs, height, width);
    layer->matrix_layer = l->index;
    layer->sources = 1;
    layer->source[0] = *source;
    layer->sliding = *sliding;
    layer->bias = bias;
    layer->blocks = 1;
    if (rows > UINT32_MAX / source->channels)
        pim_lowering_fail(l, "its weight matrix has 2^32 rows or more");
    else
        layer->rows = (uint32_t)rows * source->channels;
    return layer;
}

/* A kernel that covers the whole map of a source, at one position. */
static struct pim_sliding whole_map(const struct pim_core_source *source)
{
    return (struct pim_sliding){
        .kernel = {source->height, source->width}, .stride = {1, 1}, .dilation = {1, 1}};
}

static uint64_t view_elements(const struct pim_core_view *view)
{
    return (uint64_t)view->extent[0] * view->extent[1] * view->extent[2];
}

static void lower_convolution(struct pim_lowering *l)
{
    const struct pim_shape *shape = pim_input_shape(l, 0), *output = &l->layer->output;
    const struct pim_core_view *view = pim_input_view(l, 0);
    const uint32_t *d = shape->dimension;
    struct pim_core_source source;
    struct pim_sliding sliding = l->layer->attributes.convolution.sliding;
    if (!pim_move_settle(l, l->layer->input[0], PIM_LAYOUT_MAP))
        return;
    bool flat = d[0] == 1 && d[2] == 1 && d[3] == 1 && d[1] == view_elements(view);
    if (flat && view->extent[PIM_AXIS_CHANNEL] != d[1] && sliding.kernel[0] == 1 && sliding.kernel[1] == 1 &&
        l->layer->attributes.convolution.groups == 1) {
        source = pim_view_source(view); /* a flattened map through a kernel of one pixel: fully connected */
        sliding = whole_map(&source);
    } else if (!pim_view_map(l, &source)) {
        return;
    } else {
        flat = false;
    }
    const struct pim_core_view input = *view;
    struct pim_core_layer *layer =
        add_matrix(l, &source, &sliding, output->dimension[1], output->dimension[2], output->dimension[3],
                   l->layer->attributes.convolution.bias);
    layer->flat = flat;
    layer->blocks = l->layer->attributes.convolution.groups;
    pim_view_elements(&input, layer->flat_stride);
    l->view[l->index] = pim_view_of_layer(l, l->network->count - 1, NULL);
}

/* The last dimension of input 0 becomes the channels of its pixels, by a move if it must. */
static bool channels_last(struct pim_lowering *l)
{
    const struct pim_core_view *view = pim_input_view(l, 0);
    if (!view->strided && pim_view_channels_last(view, pim_input_shape(l, 0)))
        return true;
    return pim_move_remake(l, l->layer->input[0], PIM_LAYOUT_LAST);
}

static void lower_linear(struct pim_lowering *l)
{
    const struct pim_shape *shape = pim_input_shape(l, 0);
    const struct pim_core_view *view = pim_input_view(l, 0);
    uint32_t outputs = l->layer->attributes.linear.outputs, last = shape->dimension[shape->rank - 1];
    bool bias = l->layer->attributes.linear.bias;
    bool whole = last == view_elements(view) && !view->strided;
    if ((!whole || view->strided) && !channels_last(l))
        return;
    const struct pim_core_view input = *view;
    struct pim_core_source source = pim_view_source(view);
    struct pim_core_layer *layer;
    if (pim_view_channels_last(view, shape)) {
        static const struct pim_sliding pixel = {.kernel = {1, 1}, .stride = {1, 1}, .dilation = {1, 1}};
        uint8_t order[PIM_AXES];
        unsigned next = 0;
        for (unsigned i = 0; i < PIM_AXES; i++)
            if (view->order[i] != PIM_AXIS_CHANNEL)
                order[next++] = view->order[i];
        order[next] = PIM_AXIS_CHANNEL;
        layer = add_matrix(l, &source, &pixel, outputs, source.height, source.width, bias);
        l->view[l->index] = pim_view_of_layer(l, l->network->count - 1, order);
    } else {
        const struct pim_sliding sliding = whole_map(&source);
        layer = add_matrix(l, &source, &sliding, outputs, 1, 1, bias);
        l->view[l->index] = pim_view_of_layer(l, l->network->count - 1, NULL);
    }
    layer->flat = true;
    pim_view_elements(&input, layer->flat_stride);
}

static void add_pooling(struct pim_lowering *l, const struct pim_core_source *source,
                        const struct pim_sliding *sliding, uint32_t height, uint32_t width, bool average)
{
    struct pim_core_layer *layer = pim_lowering_add(l, PIM_CORE_POOLING, source->channels, height, width);
    layer->sources = 1;
    layer->source[0] = *source;
    layer->sliding = *sliding;
    layer->average = average;
}

static void lower_pooling(struct pim_lowering *l)
{
    struct pim_core_source source;
    const struct pim_shape *output = &l->layer->output;
    if (!pim_view_map(l, &source))
        return;
    bool average = l->layer->attributes.pooling.kind == PIM_POOLING_AVERAGE;
    if (l->layer->attributes.pooling.kind == PIM_POOLING_NORM) {
        pim_lowering_fail(l, "cores pool by the maximum or the mean, not by a norm");
        return;
    }
    const struct pim_sliding sliding =
        l->layer->attributes.pooling.global ? whole_map(&source) : l->layer->attributes.pooling.sliding;
    add_pooling(l, &source, &sliding, output->dimension[2], output->dimension[3], average);
    l->view[l->index] = pim_view_of_layer(l, l->network->count - 1, NULL);
}

/* The axes that a reduction takes away, when its dimensions are whole axes of pixels; 0: they are not. */
static unsigned reduced_axes(struct pim_lowering *l)
{
    unsigned mask[PIM_SHAPE_RANK], reduced = 0, remaining = 0;
    const struct pim_core_view *view = pim_input_view(l, 0);
    const struct pim_shape *shape = pim_input_shape(l, 0);
    if (view->strided || !pim_view_axes(view, shape, mask))
        return 0;
    for (uint32_t d = 0; d < shape->rank; d++)
        if (l->layer->attributes.reduction.axes >> d & 1)
            reduced |= mask[d];
        else
            remaining |= mask[d];
    return (reduced & remaining) || (reduced & 1u << PIM_AXIS_CHANNEL) ? 0 : reduced;
}

/* Brings the dimensions that are reduced into columns: those before them become channels, those behind rows
 * (channels, if there is nothing before). */
static bool turn_for_reduction(struct pim_lowering *l)
{
    const struct pim_shape *shape = pim_input_shape(l, 0);
    struct pim_layout_axes axes = {.axis = {0}};
    bool behind = false, before = false;
    for (uint32_t d = 0; d < shape->rank; d++) {
        bool reduces = l->layer->attributes.reduction.axes >> d & 1;
        if (shape->dimension[d] == 1)
            continue;
        behind |= reduces;
        before |= !reduces && !behind;
        axes.axis[d] = reduces ? PIM_AXIS_COLUMN : behind && before ? PIM_AXIS_ROW : PIM_AXIS_CHANNEL;
    }
    return pim_move_remake_as(l, l->layer->input[0], &axes);
}

/* Sum, mean or maximum over all pixels, or over rows or columns, is a pooling; over anything else it is one
 * behind a move. */
static void lower_reduction(struct pim_lowering *l)
{
    enum pim_reduction kind = l->layer->attributes.reduction.kind;
    if (kind == PIM_REDUCTION_OTHER) {
        pim_lowering_fail(l, "cores reduce by sum, mean and maximum");
        return;
    }
    if (pim_shape_elements(pim_input_shape(l, 0)) == pim_shape_elements(&l->layer->output)) {
        l->view[l->index] = *pim_input_view(l, 0);
        l->view[l->index].sole &= l->readers[l->index] == 1;
        return;
    }
    unsigned reduced = reduced_axes(l);
    if (!reduced) {
        if (!turn_for_reduction(l))
            return;
        reduced = 1u << PIM_AXIS_COLUMN;
    }
    const struct pim_core_view view = *pim_input_view(l, 0);
    struct pim_core_source source = pim_view_source(&view);
    struct pim_sliding sliding = {.kernel = {1, 1}, .stride = {1, 1}, .dilation = {1, 1}};
    if (reduced >> PIM_AXIS_ROW & 1)
        sliding.kernel[0] = source.height;
    if (reduced >> PIM_AXIS_COLUMN & 1)
        sliding.kernel[1] = source.width;
    add_pooling(l, &source, &sliding, source.height / sliding.kernel[0], source.width / sliding.kernel[1],
                kind != PIM_REDUCTION_EXTREMUM);
    l->network->layer[l->network->count - 1].total = kind == PIM_REDUCTION_SUM;
    l->view[l->index] = pim_view_of_layer(l, l->network->count - 1, view.order);
}

static void lower_activation(struct pim_lowering *l)
{
    enum pim_activation kind = l->layer->attributes.activation;
    struct pim_core_vector operation = {.operation = PIM_LOCAL_FUNCTION, .immediate = (int32_t)kind};
    if (kind == PIM_ACTIVATION_RELU)
        operation = (struct pim_core_vector){.operation = PIM_LOCAL_RELU};
    else if (kind == PIM_ACTIVATION_CLIP)
        operation = (struct pim_core_vector){.operation = PIM_LOCAL_CLIP, .immediate = PIM_VALUE_CLIP_LIMIT};
    pim_lower_function(l, 0, operation);
}

/* Normalisations over the channels of a pixel work on the whole vector: layers of their own. */
static void lower_over_channels(struct pim_lowering *l, bool last, int32_t number)
{
    struct pim_core_source source;
    uint32_t block = 0;
    if (last && pim_view_is_blocked(l, pim_input_view(l, 0), &block) &&
        pim_input_shape(l, 0)->dimension[pim_input_shape(l, 0)->rank - 1] == block) {
        const struct pim_core_view view = *pim_input_view(l, 0);
        struct pim_core_layer *layer = pim_lower_element(
            l, &view, (struct pim_core_vector){.operation = PIM_LOCAL_NORMALIZE, .immediate = number});
        layer->block = block;
        return;
    }
    if (last ? !channels_last(l) : !pim_view_map(l, &source))
        return;
    (void)pim_lower_element(l, pim_input_view(l, 0),
                            (struct pim_core_vector){.operation = PIM_LOCAL_NORMALIZE, .immediate = number});
}

static void lower_normalization(struct pim_lowering *l)
{
    enum pim_normalization kind = l->layer->attributes.normalization.kind;
    struct pim_core_source source;
    if (kind != PIM_NORMALIZATION_BATCH) {
        lower_over_channels(l, kind == PIM_NORMALIZATION_LAYER, (int32_t)kind);
        return;
    }
    if (!pim_move_settle(l, l->layer->input[0], PIM_LAYOUT_MAP) || pim_lower_affine(l, 0, true) ||
        !pim_view_map(l, &source))
        return;
    pim_lower_function(l, 0, (struct pim_core_vector){PIM_LOCAL_FUNCTION, PIM_VALUE_FUNCTION_AFFINE});
}

static void lower_softmax(struct pim_lowering *l)
{
    lower_over_channels(l, true, PIM_VALUE_NORMALIZE_SOFTMAX);
}

#define BY_DATA                                                                                              \
    "which elements it takes depends on the data: cores copy from places that are known beforehand"

void pim_lower_arithmetic(struct pim_lowering *l)
{
    static const struct {
        unsigned operation;
        void (*lower)(struct pim_lowering *l);
        const char *refusal; /* of those that cores cannot execute */
    } operators[] = {
        {PIM_OPERATOR_CONVOLUTION, lower_convolution, NULL},
        {PIM_OPERATOR_LINEAR, lower_linear, NULL},
        {PIM_OPERATOR_POOLING, lower_pooling, NULL},
        {PIM_OPERATOR_REDUCTION, lower_reduction, NULL},
        {PIM_OPERATOR_ACTIVATION, lower_activation, NULL},
        {PIM_OPERATOR_SOFTMAX, lower_softmax, NULL},
        {PIM_OPERATOR_NORMALIZATION, lower_normalization, NULL},
        {PIM_OPERATOR_ELEMENTWISE, pim_lower_elementwise, NULL},
        {PIM_OPERATOR_MATRIX_MULTIPLICATION, pim_lower_product, NULL},
        {PIM_OPERATOR_ATTENTION_SCORES, pim_lower_product, NULL},
        {PIM_OPERATOR_ATTENTION_CONTEXT, pim_lower_product, NULL},
        {PIM_OPERATOR_TRANSPOSED_CONVOLUTION, NULL,
         "a transposed convolution spreads each pixel over several: cores compute a pixel from a window"},
        {PIM_OPERATOR_RECURRENT, NULL,
         "each step of a recurrent layer waits for the one before: cores run a layer once for a sample"},
        {PIM_OPERATOR_SAMPLE, NULL, BY_DATA},
        {PIM_OPERATOR_SCATTER, NULL, BY_DATA},
        {PIM_OPERATOR_SORT, NULL, BY_DATA},
    };
    const char *refusal = "which elements it takes is not known: cores move elements by regular steps";
    for (size_t i = 0; i < sizeof operators / sizeof *operators; i++) {
        if (operators[i].operation != (unsigned)l->layer->operation)
            continue;
        if (operators[i].lower) {
            operators[i].lower(l);
            return;
        }
        refusal = operators[i].refusal;
    }
    pim_lowering_fail(l, "%s", refusal);
}
