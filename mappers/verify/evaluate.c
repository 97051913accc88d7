/* Direct evaluation of a graph (evaluate.h): convolution, linear, pooling, element by element. */
#include "mappers/verify/evaluate.h"
#include "mappers/verify/evaluate_internal.h"
#include "mappers/verify/numbers.h"
#include "mappers/verify/value.h"

enum { INPUT_SIDE = 7 };

int16_t pim_verify_input(uint32_t layer, uint32_t sample, uint64_t element)
{
    uint64_t value = element * UINT64_C(0xD6E8FEB86659FD93) + ((uint64_t)sample << 32 | layer);
    value = (value ^ value >> 32) * UINT64_C(0xD6E8FEB86659FD93);
    value = (value ^ value >> 32) * UINT64_C(0xD6E8FEB86659FD93);
    return (int16_t)((int32_t)((value >> 32) % (2 * INPUT_SIDE + 1)) - INPUT_SIDE);
}

static enum pim_status refuse(const struct pim_evaluation *e, const char *what)
{
    return pim_fail(e->error, PIM_BAD_INPUT, "layer %s (%s): %s", e->layer->name,
                    pim_operator_name(e->layer->operation), what);
}

uint32_t pim_verify_weights_owner(const struct pim_graph *graph, uint32_t index)
{
    const struct pim_layer *layer = &graph->layers[index];
    return layer->operation == PIM_OPERATOR_LINEAR && layer->attributes.linear.shared
               ? layer->attributes.linear.weights_of
               : index;
}

/* --- convolution and linear --- */

/* One output channel of the whole map, with `weight` in the order (kernel row, kernel column, channel). */
static void convolve(const struct pim_sliding *s, const struct pim_shape *in, const struct pim_shape *out,
                     const int16_t *input, uint32_t channels, const int16_t *weight, int32_t bias,
                     int16_t *output)
{
    const uint32_t *size = in->dimension + 2;
    for (uint32_t y = 0; y < out->dimension[2]; y++)
        for (uint32_t x = 0; x < out->dimension[3]; x++) {
            int64_t sum = bias;
            const int16_t *w = weight;
            for (uint32_t ky = 0; ky < s->kernel[0]; ky++)
                for (uint32_t kx = 0; kx < s->kernel[1]; kx++, w += channels) {
                    int64_t row = (int64_t)y * s->stride[0] + (int64_t)ky * s->dilation[0] - s->pad_before[0];
                    int64_t column =
                        (int64_t)x * s->stride[1] + (int64_t)kx * s->dilation[1] - s->pad_before[1];
                    if (row < 0 || row >= size[0] || column < 0 || column >= size[1])
                        continue;
                    const int16_t *pixel = input + (row * size[1] + column) * channels;
                    for (uint32_t c = 0; c < channels; c++)
                        sum += (int32_t)pixel[c] * w[c];
                }
            *output++ = pim_value_cut(sum);
        }
}

/* Channels [first, first + channels) of a map, pixel by pixel. */
static void transpose_channels(const struct pim_shape *in, const int16_t *input, uint32_t first,
                               uint32_t channels, int16_t *output)
{
    uint64_t pixels = (uint64_t)in->dimension[2] * in->dimension[3];
    for (uint64_t pixel = 0; pixel < pixels; pixel++)
        for (uint32_t c = 0; c < channels; c++)
            *output++ = input[(first + c) * pixels + pixel];
}

static enum pim_status evaluate_convolution(struct pim_evaluation *e)
{
    const struct pim_shape *in = pim_evaluation_shape(e, 0), *out = &e->layer->output;
    const struct pim_sliding *s = &e->layer->attributes.convolution.sliding;
    uint32_t groups = e->layer->attributes.convolution.groups;
    uint32_t channels = in->dimension[1] / groups, outputs = out->dimension[1] / groups;
    uint32_t positions = s->kernel[0] * s->kernel[1];
    uint64_t pixels = (uint64_t)out->dimension[2] * out->dimension[3];
    int16_t *weight = PIM_ARENA_ARRAY(e->scratch, int16_t, (size_t)positions * channels);
    int16_t *turned = PIM_ARENA_ARRAY(e->scratch, int16_t, pim_shape_elements(in) / groups);
    if (!weight || !turned)
        return pim_fail(e->error, PIM_NO_MEMORY, "out of memory for layer %s", e->layer->name);
    if (in->dimension[0] != 1)
        return refuse(e, "it works on more than one sample");
    for (uint32_t group = 0; group < groups; group++) {
        uint32_t first = group * channels;
        transpose_channels(in, pim_evaluation_input(e, 0), first, channels, turned);
        for (uint32_t o = group * outputs; o < (group + 1) * outputs; o++) {
            for (uint32_t p = 0; p < positions; p++)
                for (uint32_t c = 0; c < channels; c++)
                    weight[p * channels + c] =
                        (int16_t)pim_verify_weight(e->index, p * in->dimension[1] + first + c, o);
            int32_t bias = e->layer->attributes.convolution.bias ? pim_verify_bias(e->index, o) : 0;
            convolve(s, in, out, turned, channels, weight, bias, e->output + o * pixels);
        }
    }
    return PIM_OK;
}

static enum pim_status evaluate_linear(struct pim_evaluation *e)
{
    const struct pim_shape *in = pim_evaluation_shape(e, 0);
    const int16_t *input = pim_evaluation_input(e, 0);
    uint32_t rows = in->dimension[in->rank - 1], columns = e->layer->attributes.linear.outputs;
    uint64_t vectors = pim_shape_elements(in) / rows;
    uint32_t owner = pim_verify_weights_owner(e->graph, e->index);
    for (uint32_t column = 0; column < columns; column++) {
        int32_t bias = e->layer->attributes.linear.bias ? pim_verify_bias(owner, column) : 0;
        for (uint64_t v = 0; v < vectors; v++)
            e->output[v * columns + column] = (int16_t)bias;
        for (uint32_t row = 0; row < rows; row++) {
            int64_t weight = pim_verify_weight(owner, row, column);
            for (uint64_t v = 0; v < vectors; v++)
                e->output[v * columns + column] =
                    pim_value_cut(e->output[v * columns + column] + weight * input[v * rows + row]);
        }
    }
    return PIM_OK;
}

/* --- pooling --- */

/* One position: the maximum, or the average, of those inside the map. */
static int16_t pool(const struct pim_sliding *s, bool average, const uint32_t *size, const int16_t *plane,
                    uint32_t y, uint32_t x)
{
    int32_t count = 0;
    int16_t largest = INT16_MIN;
    int64_t sum = 0;
    for (uint32_t ky = 0; ky < s->kernel[0]; ky++)
        for (uint32_t kx = 0; kx < s->kernel[1]; kx++) {
            int64_t row = (int64_t)y * s->stride[0] + (int64_t)ky * s->dilation[0] - s->pad_before[0];
            int64_t column = (int64_t)x * s->stride[1] + (int64_t)kx * s->dilation[1] - s->pad_before[1];
            if (row < 0 || row >= size[0] || column < 0 || column >= size[1])
                continue;
            int16_t value = plane[row * size[1] + column];
            count++;
            sum += value;
            largest = value > largest ? value : largest;
        }
    if (count == 0)
        return 0; /* nothing but padding */
    return average ? pim_value_local(PIM_LOCAL_DIVIDE, count, pim_value_cut(sum), 0) : largest;
}

static enum pim_status evaluate_pooling(struct pim_evaluation *e)
{
    const struct pim_shape *in = pim_evaluation_shape(e, 0), *out = &e->layer->output;
    struct pim_sliding s = e->layer->attributes.pooling.sliding;
    if (e->layer->attributes.pooling.global)
        s = (struct pim_sliding){
            .kernel = {in->dimension[2], in->dimension[3]}, .stride = {1, 1}, .dilation = {1, 1}};
    bool average = e->layer->attributes.pooling.kind == PIM_POOLING_AVERAGE;
    const int16_t *plane = pim_evaluation_input(e, 0);
    int16_t *output = e->output;
    for (uint32_t c = 0; c < in->dimension[0] * in->dimension[1]; c++) {
        for (uint32_t y = 0; y < out->dimension[2]; y++)
            for (uint32_t x = 0; x < out->dimension[3]; x++)
                *output++ = pool(&s, average, in->dimension + 2, plane, y, x);
        plane += (size_t)in->dimension[2] * in->dimension[3];
    }
    return PIM_OK;
}

/* --- element by element --- */

static bool is_folded(const struct pim_evaluation *e)
{
    return e->folded && e->folded[e->index];
}

int16_t pim_verify_point_value(const struct pim_graph *graph, uint32_t layer, int16_t value)
{
    if (graph->layers[layer].operation == PIM_OPERATOR_NORMALIZATION)
        return pim_value_function(PIM_VALUE_FUNCTION_AFFINE, value);
    enum pim_activation kind = graph->layers[layer].attributes.activation;
    unsigned operation = kind == PIM_ACTIVATION_RELU   ? PIM_LOCAL_RELU
                         : kind == PIM_ACTIVATION_CLIP ? PIM_LOCAL_CLIP
                                                       : PIM_LOCAL_FUNCTION;
    int32_t immediate = kind == PIM_ACTIVATION_RELU   ? 0
                        : kind == PIM_ACTIVATION_CLIP ? PIM_VALUE_CLIP_LIMIT
                                                      : (int32_t)kind;
    return pim_value_local(operation, immediate, value, 0);
}

static enum pim_status evaluate_activation(struct pim_evaluation *e)
{
    const int16_t *input = pim_evaluation_input(e, 0);
    for (uint64_t i = 0; i < e->elements; i++)
        e->output[i] = pim_verify_point_value(e->graph, e->index, input[i]);
    return PIM_OK;
}

static unsigned elementwise_operation(enum pim_elementwise kind)
{
    static const struct {
        enum pim_elementwise kind;
        enum pim_local operation;
    } known[] = {{PIM_ELEMENTWISE_ADD, PIM_LOCAL_ADD},
                 {PIM_ELEMENTWISE_SUBTRACT, PIM_LOCAL_SUBTRACT},
                 {PIM_ELEMENTWISE_MULTIPLY, PIM_LOCAL_MULTIPLY},
                 {PIM_ELEMENTWISE_MAXIMUM, PIM_LOCAL_MAXIMUM},
                 {PIM_ELEMENTWISE_MINIMUM, PIM_LOCAL_MINIMUM}};
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (known[i].kind == kind)
            return known[i].operation;
    return PIM_LOCAL_BINARY;
}

static enum pim_status evaluate_elementwise(struct pim_evaluation *e)
{
    enum pim_elementwise kind = e->layer->attributes.elementwise;
    unsigned operation = elementwise_operation(kind);
    uint32_t maps = 0;
    for (uint32_t i = 0; i < e->layer->inputs; i++) {
        const int16_t *input = pim_evaluation_input(e, i);
        if (!input)
            continue;
        for (uint64_t n = 0; n < e->elements; n++) {
            int16_t value = input[pim_evaluation_broadcast(e, i, n)];
            e->output[n] = maps == 0 ? value : pim_value_local(operation, (int32_t)kind, e->output[n], value);
        }
        maps++;
    }
    if (maps > 1)
        return maps == e->layer->inputs ? PIM_OK : refuse(e, "it takes several maps and a learned tensor");
    for (uint64_t n = 0; n < e->elements && is_folded(e); n++)
        e->output[n] = pim_verify_affine_value(e->graph, e->index, n, e->output[n]);
    for (uint64_t n = 0; n < e->elements && !is_folded(e); n++)
        e->output[n] = pim_value_function(PIM_VALUE_FUNCTION_ELEMENTWISE + (int32_t)kind, e->output[n]);
    return PIM_OK;
}

/* Softmax and normalisations: stand-ins, element by element. */
static enum pim_status evaluate_normalize(struct pim_evaluation *e)
{
    const int16_t *input = pim_evaluation_input(e, 0);
    bool softmax = e->layer->operation == PIM_OPERATOR_SOFTMAX;
    enum pim_normalization kind = softmax ? PIM_NORMALIZATIONS : e->layer->attributes.normalization.kind;
    for (uint64_t i = 0; i < e->elements && is_folded(e); i++)
        e->output[i] = pim_verify_affine_value(e->graph, e->index, i, input[i]);
    for (uint64_t i = 0; i < e->elements && !is_folded(e); i++)
        e->output[i] =
            kind == PIM_NORMALIZATION_BATCH
                ? pim_verify_point_value(e->graph, e->index, input[i])
                : pim_value_normalize(softmax ? PIM_VALUE_NORMALIZE_SOFTMAX : (int32_t)kind, input[i]);
    return PIM_OK;
}

static enum pim_status evaluate_input(struct pim_evaluation *e)
{
    for (uint64_t i = 0; i < e->elements; i++)
        e->output[i] = pim_verify_input(e->index, e->sample, i);
    return PIM_OK;
}

static enum pim_status evaluate_layer(struct pim_evaluation *e)
{
    bool moved;
    enum pim_status status = pim_evaluate_movement(e, &moved);
    if (status != PIM_OK || moved)
        return status == PIM_OK ? PIM_OK : refuse(e, "cores do not have this form of it");
    switch ((int)e->layer->operation) {
    case PIM_OPERATOR_INPUT:
        return evaluate_input(e);
    case PIM_OPERATOR_CONVOLUTION:
        return evaluate_convolution(e);
    case PIM_OPERATOR_LINEAR:
        return evaluate_linear(e);
    case PIM_OPERATOR_POOLING:
        return evaluate_pooling(e);
    case PIM_OPERATOR_ACTIVATION:
        return evaluate_activation(e);
    case PIM_OPERATOR_ELEMENTWISE:
        return evaluate_elementwise(e);
    case PIM_OPERATOR_MATRIX_MULTIPLICATION:
    case PIM_OPERATOR_ATTENTION_SCORES:
    case PIM_OPERATOR_ATTENTION_CONTEXT:
        pim_evaluate_product(e);
        return PIM_OK;
    case PIM_OPERATOR_NORMALIZATION:
    case PIM_OPERATOR_SOFTMAX:
        return evaluate_normalize(e);
    default:
        return refuse(e, "cores do not have this operator");
    }
}

enum pim_status pim_verify_evaluate_layer(const struct pim_graph *graph, uint32_t layer, uint32_t sample,
                                          const int16_t **value, int16_t *output, struct pim_error *error)
{
    struct pim_arena scratch;
    pim_arena_initialize(&scratch, 0);
    struct pim_evaluation e = {.graph = graph,
                               .sample = sample,
                               .value = value,
                               .index = layer,
                               .layer = &graph->layers[layer],
                               .elements = pim_shape_elements(&graph->layers[layer].output),
                               .output = output,
                               .scratch = &scratch,
                               .error = error};
    enum pim_status status = evaluate_layer(&e);
    pim_arena_terminate(&scratch);
    return status;
}

enum pim_status pim_verify_evaluate(const struct pim_graph *graph, const bool *folded, uint32_t sample,
                                    struct pim_arena *arena, const int16_t *const **values,
                                    struct pim_error *error)
{
    const int16_t **value = PIM_ARENA_ARRAY(arena, const int16_t *, graph->count);
    struct pim_arena scratch;
    pim_arena_initialize(&scratch, 0);
    struct pim_evaluation e = {.graph = graph,
                               .folded = folded,
                               .sample = sample,
                               .value = value,
                               .scratch = &scratch,
                               .error = error};
    enum pim_status status =
        value ? PIM_OK : pim_fail(error, PIM_NO_MEMORY, "out of memory for the values of the network");
    for (e.index = 0; status == PIM_OK && e.index < graph->count; e.index++) {
        e.layer = &graph->layers[e.index];
        bool known = e.layer->operation == PIM_OPERATOR_INPUT;
        for (uint32_t i = 0; i < e.layer->inputs; i++)
            known |= value[e.layer->input[i]] != NULL;
        if (!known)
            continue; /* learned */
        e.elements = pim_shape_elements(&e.layer->output);
        e.output = PIM_ARENA_ARRAY(arena, int16_t, e.elements);
        value[e.index] = e.output;
        status = e.output ? evaluate_layer(&e)
                          : pim_fail(error, PIM_NO_MEMORY, "out of memory for layer %s", e.layer->name);
        pim_arena_reset(&scratch);
    }
    pim_arena_terminate(&scratch);
    *values = value;
    return status;
}

/* --- learned scales and shifts --- */

/* Which element of its scale or shift a layer takes for element `element` of its output. */
static uint32_t learned_element(const struct pim_graph *graph, uint32_t index, uint64_t element)
{
    const struct pim_layer *layer = &graph->layers[index];
    const struct pim_shape *out = &layer->output;
    bool batch = layer->operation == PIM_OPERATOR_NORMALIZATION;
    const struct pim_shape *learned = batch ? NULL : &graph->layers[layer->input[1]].output;
    uint64_t result = 0, inner = 1;
    for (uint32_t d = out->rank; d-- > 0; element /= out->dimension[d]) {
        uint32_t at = (uint32_t)(element % out->dimension[d]), missing = out->rank;
        if (batch) {
            result = d == 1 ? at : result;
            continue;
        }
        missing -= learned->rank;
        if (d < missing || learned->dimension[d - missing] == 1)
            continue;
        result += at * inner;
        inner *= learned->dimension[d - missing];
    }
    return (uint32_t)result;
}

int32_t pim_verify_affine(const struct pim_graph *graph, uint32_t index, uint64_t element, int32_t value,
                          bool shifts)
{
    const struct pim_layer *layer = &graph->layers[index];
    bool batch = layer->operation == PIM_OPERATOR_NORMALIZATION;
    enum pim_elementwise kind = batch ? PIM_ELEMENTWISES : layer->attributes.elementwise;
    uint32_t at = learned_element(graph, index, element);
    if (batch || kind == PIM_ELEMENTWISE_MULTIPLY || kind == PIM_ELEMENTWISE_DIVIDE)
        value = pim_value_cut((int64_t)value * pim_verify_scale(index, at));
    if (shifts && (batch || kind == PIM_ELEMENTWISE_ADD || kind == PIM_ELEMENTWISE_SUBTRACT))
        value = pim_value_cut((int64_t)value + pim_verify_bias(index, at));
    return value;
}

int16_t pim_verify_affine_value(const struct pim_graph *graph, uint32_t index, uint64_t element,
                                int16_t value)
{
    return pim_value_cut(pim_verify_affine(graph, index, element, value, true));
}
