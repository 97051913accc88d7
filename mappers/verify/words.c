/* Direct evaluation in integers of 16 bits (evaluate.h): what is done to numbers, and its learned numbers. */
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

uint32_t pim_verify_weights_owner(const struct pim_graph *graph, uint32_t index)
{
    const struct pim_layer *layer = &graph->layers[index];
    return layer->operation == PIM_OPERATOR_LINEAR && layer->attributes.linear.shared
               ? layer->attributes.linear.weights_of
               : index;
}

int32_t pim_verify_weight_of(const struct pim_graph *graph, uint32_t index, uint32_t row, uint32_t column)
{
    const struct pim_layer *layer = &graph->layers[index];
    const uint32_t owner = pim_verify_weights_owner(graph, index);
    return owner != index && layer->attributes.linear.transposed ? pim_verify_weight(owner, column, row)
                                                                 : pim_verify_weight(owner, row, column);
}

static const int16_t *input_of(const struct pim_evaluation *e, uint32_t input)
{
    return e->input[input];
}

/* --- sums --- */

static void add_products(void *sum, const void *a, uint64_t step_a, const void *b, uint64_t step_b,
                         uint64_t count)
{
    const int16_t *left = a, *right = b;
    int16_t *to = sum;
    int64_t all = *to;
    for (uint64_t i = 0; i < count; i++)
        all += (int32_t)left[i * step_a] * right[i * step_b];
    *to = pim_value_cut(all);
}

static enum pim_status column_of(struct pim_evaluation *e, uint32_t column, void *weights, void *bias)
{
    const struct pim_shape *in = pim_evaluation_shape(e, 0);
    const union pim_attributes *a = &e->layer->attributes;
    bool linear = e->layer->operation == PIM_OPERATOR_LINEAR;
    uint32_t channels = linear ? in->dimension[in->rank - 1] : in->dimension[1];
    uint32_t own = linear ? channels : channels / a->convolution.groups; /* of the group */
    uint32_t first = linear ? 0 : column / (a->convolution.outputs / a->convolution.groups) * own;
    const uint32_t *kernel = a->convolution.sliding.kernel;
    uint32_t places = linear ? 1 : kernel[0] * kernel[1];
    int16_t *weight = weights, *start = bias;
    for (uint32_t p = 0; p < places; p++)
        for (uint32_t c = 0; c < own; c++)
            *weight++ = (int16_t)pim_verify_weight_of(e->graph, e->index, p * channels + first + c, column);
    bool biased = linear ? a->linear.bias : a->convolution.bias;
    *start = biased ? (int16_t)pim_verify_bias(pim_verify_weights_owner(e->graph, e->index), column) : 0;
    return PIM_OK;
}

/* The sum is cut to 16 bits before it is divided. */
static enum pim_status combine(struct pim_evaluation *e, enum pim_reduction kind, const void *numbers,
                               uint64_t count, void *result)
{
    const int16_t *number = numbers;
    int16_t *to = result, largest = INT16_MIN;
    int64_t sum = 0;
    if (kind == PIM_REDUCTION_OTHER)
        return pim_evaluation_refuse(e, "cores do not have this form of it");
    for (uint64_t i = 0; i < count; i++) {
        sum += number[i];
        largest = number[i] > largest ? number[i] : largest;
    }
    *to = kind == PIM_REDUCTION_EXTREMUM ? largest : pim_value_cut(sum);
    if (kind == PIM_REDUCTION_MEAN)
        *to = pim_value_local(PIM_LOCAL_DIVIDE, (int32_t)count, *to, 0);
    return PIM_OK;
}

/* Learned tensors have no numbers of their own: who computes with one takes a stand-in. */
static enum pim_status learned(struct pim_evaluation *e, uint32_t layer, const void **numbers)
{
    (void)e, (void)layer;
    *numbers = NULL;
    return PIM_OK;
}

static void joined(const struct pim_evaluation *e, uint32_t layer, uint64_t element, void *number)
{
    *(int16_t *)number = pim_verify_input(layer, e->sample, element);
}

/* A relative position bias is a function of its own; the scale is part of the weights. */
static enum pim_status finish_scores(struct pim_evaluation *e, uint32_t channels)
{
    int16_t *output = e->output;
    (void)channels;
    for (uint64_t i = 0; i < e->elements && e->layer->attributes.attention.bias_parameters > 0; i++)
        output[i] = pim_value_function(PIM_VALUE_FUNCTION_ELEMENTWISE + PIM_ELEMENTWISE_ADD, output[i]);
    return PIM_OK;
}

/* --- element by element --- */

static bool is_folded(const struct pim_evaluation *e)
{
    const bool *folded = e->context;
    return folded && folded[e->index];
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

static void evaluate_activation(struct pim_evaluation *e)
{
    const int16_t *input = input_of(e, 0);
    int16_t *output = e->output;
    for (uint64_t i = 0; i < e->elements; i++)
        output[i] = pim_verify_point_value(e->graph, e->index, input[i]);
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
    int16_t *output = e->output;
    uint32_t maps = 0;
    for (uint32_t i = 0; i < e->layer->inputs; i++) {
        const int16_t *input = input_of(e, i);
        if (!input)
            continue;
        for (uint64_t n = 0; n < e->elements; n++) {
            int16_t value = input[pim_evaluation_broadcast(e, i, n)];
            output[n] = maps == 0 ? value : pim_value_local(operation, (int32_t)kind, output[n], value);
        }
        maps++;
    }
    if (maps > 1)
        return maps == e->layer->inputs
                   ? PIM_OK
                   : pim_evaluation_refuse(e, "it takes several maps and a learned tensor");
    for (uint64_t n = 0; n < e->elements && is_folded(e); n++)
        output[n] = pim_verify_affine_value(e->graph, e->index, n, output[n]);
    for (uint64_t n = 0; n < e->elements && !is_folded(e); n++)
        output[n] = pim_value_function(PIM_VALUE_FUNCTION_ELEMENTWISE + (int32_t)kind, output[n]);
    return PIM_OK;
}

/* Softmax and normalisations: stand-ins, element by element. */
static void evaluate_normalize(struct pim_evaluation *e)
{
    const int16_t *input = input_of(e, 0);
    int16_t *output = e->output;
    bool softmax = e->layer->operation == PIM_OPERATOR_SOFTMAX;
    enum pim_normalization kind = softmax ? PIM_NORMALIZATIONS : e->layer->attributes.normalization.kind;
    for (uint64_t i = 0; i < e->elements && is_folded(e); i++)
        output[i] = pim_verify_affine_value(e->graph, e->index, i, input[i]);
    for (uint64_t i = 0; i < e->elements && !is_folded(e); i++)
        output[i] =
            kind == PIM_NORMALIZATION_BATCH
                ? pim_verify_point_value(e->graph, e->index, input[i])
                : pim_value_normalize(softmax ? PIM_VALUE_NORMALIZE_SOFTMAX : (int32_t)kind, input[i]);
}

static void evaluate_input(struct pim_evaluation *e)
{
    int16_t *output = e->output;
    for (uint64_t i = 0; i < e->elements; i++)
        output[i] = pim_verify_input(e->index, e->sample, i);
}

static enum pim_status evaluate_other(struct pim_evaluation *e, bool *done)
{
    *done = true;
    switch ((int)e->layer->operation) {
    case PIM_OPERATOR_INPUT:
        evaluate_input(e);
        return PIM_OK;
    case PIM_OPERATOR_ACTIVATION:
        evaluate_activation(e);
        return PIM_OK;
    case PIM_OPERATOR_ELEMENTWISE:
        return evaluate_elementwise(e);
    case PIM_OPERATOR_NORMALIZATION:
    case PIM_OPERATOR_SOFTMAX:
        evaluate_normalize(e);
        return PIM_OK;
    default:
        *done = false;
        return PIM_OK;
    }
}

static const struct pim_arithmetic words = {.bytes = sizeof(int16_t),
                                            .add_products = add_products,
                                            .column = column_of,
                                            .combine = combine,
                                            .learned = learned,
                                            .joined = joined,
                                            .finish_scores = finish_scores,
                                            .other = evaluate_other};

enum pim_status pim_verify_evaluate_layer(const struct pim_graph *graph, uint32_t layer, uint32_t sample,
                                          const int16_t **value, int16_t *output, struct pim_error *error)
{
    struct pim_arena scratch;
    const void *input[PIM_LAYER_INPUTS];
    pim_arena_initialize(&scratch, 0);
    for (uint32_t i = 0; i < graph->layers[layer].inputs; i++)
        input[i] = value[graph->layers[layer].input[i]];
    struct pim_evaluation e = {.graph = graph,
                               .arithmetic = &words,
                               .sample = sample,
                               .index = layer,
                               .layer = &graph->layers[layer],
                               .input = input,
                               .elements = pim_shape_elements(&graph->layers[layer].output),
                               .output = output,
                               .scratch = &scratch,
                               .error = error};
    enum pim_status status = pim_evaluation_layer(&e);
    pim_arena_terminate(&scratch);
    return status;
}

enum pim_status pim_verify_evaluate(const struct pim_graph *graph, const bool *folded, uint32_t sample,
                                    struct pim_arena *arena, const int16_t *const **values,
                                    struct pim_error *error)
{
    struct pim_evaluation e = {
        .graph = graph, .arithmetic = &words, .context = folded, .sample = sample, .error = error};
    const int16_t **value = PIM_ARENA_ARRAY(arena, const int16_t *, graph->count);
    const void **numbers;
    *values = value;
    if (!value)
        return pim_fail(error, PIM_NO_MEMORY, "out of memory for the values of the network");
    enum pim_status status = pim_evaluation_all(&e, arena, &numbers);
    for (uint32_t i = 0; i < graph->count && status == PIM_OK; i++)
        value[i] = numbers[i];
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
