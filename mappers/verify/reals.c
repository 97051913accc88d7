/* Direct evaluation in real numbers (reals.h): what is done to them. */
#include "mappers/verify/reals.h"
#include "mappers/verify/evaluate.h"
#include "mappers/verify/evaluate_internal.h"

#include <math.h>
#include <string.h>

static const double EPSILON = 1e-5;   /* of normalisations */
static const double CLIP_LIMIT = 6;   /* that of ReLU6 */
static const double LEAK = 0.01;      /* of LeakyRelu */
static const double HARD_SLOPE = 0.2; /* of HardSigmoid */

static const double *input_of(const struct pim_evaluation *e, uint32_t input)
{
    return e->input[input];
}

/* The learned numbers of the layer at work; NULL, and refused, where there are none. */
static const double *require(struct pim_evaluation *e, uint32_t layer, enum pim_learned what)
{
    const struct pim_real_numbers *source = e->context;
    const double *numbers = source->numbers(source->context, layer, what);
    if (!numbers)
        (void)pim_evaluation_refuse(e, "its learned numbers are not known");
    return numbers;
}

/* --- sums --- */

static void add_products(void *sum, const void *a, uint64_t step_a, const void *b, uint64_t step_b,
                         uint64_t count)
{
    const double *left = a, *right = b;
    double *to = sum;
    for (uint64_t i = 0; i < count; i++)
        *to += left[i * step_a] * right[i * step_b];
}

/* Entry (row, column) of the matrix of a layer, which may be that of another one, transposed. */
static double linear_weight(const union pim_attributes *a, const double *learned, uint32_t rows, uint32_t row,
                            uint32_t column)
{
    return a->linear.transposed ? learned[(uint64_t)column * rows + row]
                                : learned[(uint64_t)row * a->linear.outputs + column];
}

static enum pim_status column_of(struct pim_evaluation *e, uint32_t column, void *weights, void *bias)
{
    const struct pim_shape *in = pim_evaluation_shape(e, 0);
    const union pim_attributes *a = &e->layer->attributes;
    bool linear = e->layer->operation == PIM_OPERATOR_LINEAR;
    uint32_t owner = pim_verify_weights_owner(e->graph, e->index);
    const double *learned = require(e, owner, PIM_LEARNED_WEIGHTS), *start = NULL;
    double *weight = weights, *to = bias;
    if (!learned)
        return e->error->status;
    if (linear) {
        uint32_t rows = in->dimension[in->rank - 1];
        for (uint32_t row = 0; row < rows; row++)
            weight[row] = linear_weight(a, learned, rows, row, column);
    } else {
        uint32_t channels = in->dimension[1] / a->convolution.groups;
        const uint32_t *kernel = a->convolution.sliding.kernel;
        uint64_t places = (uint64_t)kernel[0] * kernel[1] * (in->rank == 5 ? kernel[2] : 1);
        for (uint64_t p = 0; p < places; p++)
            for (uint32_t c = 0; c < channels; c++)
                *weight++ = learned[((uint64_t)column * channels + c) * places + p];
    }
    if (linear ? a->linear.bias : a->convolution.bias) {
        start = require(e, owner, PIM_LEARNED_BIAS);
        if (!start)
            return e->error->status;
    }
    *to = start ? start[column] : 0;
    return PIM_OK;
}

static enum pim_status combine(struct pim_evaluation *e, enum pim_reduction kind, const void *numbers,
                               uint64_t count, void *result)
{
    const double *number = numbers;
    double *to = result, sum = 0, largest = number[0];
    if (kind == PIM_REDUCTION_OTHER)
        return pim_evaluation_refuse(e, "the graph does not keep what it computes");
    for (uint64_t i = 0; i < count; i++) {
        sum += number[i];
        largest = number[i] > largest ? number[i] : largest;
    }
    *to = kind == PIM_REDUCTION_EXTREMUM ? largest : kind == PIM_REDUCTION_MEAN ? sum / (double)count : sum;
    return PIM_OK;
}

static enum pim_status learned(struct pim_evaluation *e, uint32_t layer, const void **numbers)
{
    *numbers = require(e, layer, PIM_LEARNED_TENSOR);
    return *numbers ? PIM_OK : e->error->status;
}

static void joined(const struct pim_evaluation *e, uint32_t layer, uint64_t element, void *number)
{
    (void)e, (void)layer, (void)element, (void)number; /* every tensor has numbers */
}

static enum pim_status finish_scores(struct pim_evaluation *e, uint32_t channels)
{
    double *output = e->output;
    if (e->layer->attributes.attention.bias_parameters > 0)
        return pim_evaluation_refuse(e, "which entry of its bias table is whose is not kept");
    for (uint64_t i = 0; i < e->elements; i++)
        output[i] /= sqrt((double)channels);
    return PIM_OK;
}

/* --- element by element --- */

static double logistic(double x)
{
    return 1 / (1 + exp(-x));
}

static double within(double x, double least, double most)
{
    return x < least ? least : x > most ? most : x;
}

/* ln(1 + e^x), also where e^x is beyond every number. */
static double softplus(double x)
{
    return x > 0 ? x + log1p(exp(-x)) : log1p(exp(x));
}

static double activate(enum pim_activation kind, double x)
{
    switch (kind) {
    case PIM_ACTIVATION_GELU:
        return x * 0.5 * (1 + erf(x / sqrt(2)));
    case PIM_ACTIVATION_RELU:
        return x > 0 ? x : 0;
    case PIM_ACTIVATION_SIGMOID:
        return logistic(x);
    case PIM_ACTIVATION_TANH:
        return tanh(x);
    case PIM_ACTIVATION_CLIP:
        return within(x, 0, CLIP_LIMIT);
    case PIM_ACTIVATION_SILU:
        return x * logistic(x);
    case PIM_ACTIVATION_LEAKY_RELU:
        return x > 0 ? x : LEAK * x;
    case PIM_ACTIVATION_HARD_SIGMOID:
        return within(HARD_SLOPE * x + 0.5, 0, 1);
    case PIM_ACTIVATION_HARD_SWISH:
        return x * within(x / 6 + 0.5, 0, 1);
    case PIM_ACTIVATION_ELU:
        return x > 0 ? x : exp(x) - 1;
    case PIM_ACTIVATION_SOFTPLUS:
        return softplus(x);
    case PIM_ACTIVATION_MISH:
        return x * tanh(softplus(x));
    case PIM_ACTIVATION_ERROR_FUNCTION:
        return erf(x);
    case PIM_ACTIVATION_EXPONENTIAL:
        return exp(x);
    case PIM_ACTIVATION_LOGARITHM:
        return log(x);
    case PIM_ACTIVATION_SQUARE_ROOT:
        return sqrt(x);
    case PIM_ACTIVATION_RECIPROCAL:
        return 1 / x;
    case PIM_ACTIVATION_OTHER:
    case PIM_ACTIVATIONS:
        break;
    }
    return (double)NAN;
}

static enum pim_status evaluate_activation(struct pim_evaluation *e)
{
    enum pim_activation kind = e->layer->attributes.activation;
    double *output = e->output;
    if (kind == PIM_ACTIVATION_OTHER)
        return pim_evaluation_refuse(e, "the graph does not keep what it computes");
    for (uint64_t i = 0; i < e->elements; i++)
        output[i] = activate(kind, input_of(e, 0)[i]);
    return PIM_OK;
}

static double combine_two(enum pim_elementwise kind, double a, double b)
{
    switch (kind) {
    case PIM_ELEMENTWISE_ADD:
        return a + b;
    case PIM_ELEMENTWISE_SUBTRACT:
        return a - b;
    case PIM_ELEMENTWISE_MULTIPLY:
        return a * b;
    case PIM_ELEMENTWISE_DIVIDE:
        return a / b;
    case PIM_ELEMENTWISE_MAXIMUM:
        return a > b ? a : b;
    case PIM_ELEMENTWISE_MINIMUM:
        return a < b ? a : b;
    case PIM_ELEMENTWISE_POWER:
        return pow(a, b);
    case PIM_ELEMENTWISE_SELECT:
    case PIM_ELEMENTWISE_OTHER:
    case PIM_ELEMENTWISES:
        break;
    }
    return (double)NAN;
}

static enum pim_status evaluate_elementwise(struct pim_evaluation *e)
{
    enum pim_elementwise kind = e->layer->attributes.elementwise;
    double *output = e->output;
    if (kind == PIM_ELEMENTWISE_SELECT || kind == PIM_ELEMENTWISE_OTHER)
        return pim_evaluation_refuse(e, "the graph does not keep what it computes");
    const double *number = e->layer->inputs == 1 ? require(e, e->index, PIM_LEARNED_NUMBER) : NULL;
    if (e->layer->inputs == 1 && !number)
        return e->error->status;
    for (uint64_t n = 0; n < e->elements; n++) {
        output[n] = input_of(e, 0)[pim_evaluation_broadcast(e, 0, n)];
        if (number)
            output[n] = combine_two(kind, output[n], *number);
        for (uint32_t i = 1; i < e->layer->inputs; i++)
            output[n] = combine_two(kind, output[n], input_of(e, i)[pim_evaluation_broadcast(e, i, n)]);
    }
    return PIM_OK;
}

/* --- over vectors --- */

static void evaluate_softmax(struct pim_evaluation *e)
{
    const struct pim_shape *shape = &e->layer->output;
    uint64_t size = shape->rank ? shape->dimension[shape->rank - 1] : 1;
    for (uint64_t v = 0; v < e->elements; v += size) {
        const double *in = input_of(e, 0) + v;
        double *out = (double *)e->output + v, most = in[0], sum = 0;
        for (uint64_t i = 0; i < size; i++)
            most = in[i] > most ? in[i] : most;
        for (uint64_t i = 0; i < size; i++)
            sum += out[i] = exp(in[i] - most);
        for (uint64_t i = 0; i < size; i++)
            out[i] /= sum;
    }
}

static void normalize_vector(const double *in, uint64_t size, double *out)
{
    double mean = 0, variance = 0;
    for (uint64_t i = 0; i < size; i++)
        mean += in[i] / (double)size;
    for (uint64_t i = 0; i < size; i++)
        variance += (in[i] - mean) * (in[i] - mean) / (double)size;
    for (uint64_t i = 0; i < size; i++)
        out[i] = (in[i] - mean) / sqrt(variance + EPSILON);
}

static enum pim_status evaluate_normalization(struct pim_evaluation *e)
{
    const struct pim_shape *shape = &e->layer->output;
    bool layer = e->layer->attributes.normalization.kind == PIM_NORMALIZATION_LAYER,
         batch = e->layer->attributes.normalization.kind == PIM_NORMALIZATION_BATCH,
         affine = e->layer->attributes.normalization.affine,
         shifted = affine && !e->layer->attributes.normalization.unshifted;
    if (e->layer->attributes.normalization.root_mean_square || (!layer && !(batch && affine)))
        return pim_evaluation_refuse(e, "the graph does not keep what it computes");
    const double *scale = affine ? require(e, e->index, PIM_LEARNED_SCALE) : NULL,
                 *shift = shifted ? require(e, e->index, PIM_LEARNED_SHIFT) : NULL,
                 *mean = batch ? require(e, e->index, PIM_LEARNED_MEAN) : NULL,
                 *variance = batch ? require(e, e->index, PIM_LEARNED_VARIANCE) : NULL;
    if ((affine && !scale) || (shifted && !shift) || (batch && (!mean || !variance)))
        return e->error->status;
    uint32_t channels = shape->dimension[layer ? shape->rank - 1 : 1];
    uint64_t pixels = layer ? 1 : e->elements / shape->dimension[0] / channels;
    double *output = e->output;
    for (uint64_t v = 0; layer && v < e->elements; v += channels)
        normalize_vector(input_of(e, 0) + v, channels, output + v);
    for (uint64_t i = 0; i < e->elements; i++) {
        uint64_t c = i / pixels % channels;
        if (batch)
            output[i] = (input_of(e, 0)[i] - mean[c]) / sqrt(variance[c] + EPSILON);
        if (affine)
            output[i] = output[i] * scale[c] + (shifted ? shift[c] : 0);
    }
    return PIM_OK;
}

/* Where input element `from` of a transposed convolution goes at `place` of the kernel; false: it is cut. */
static bool spread(const struct pim_sliding *s, const struct pim_shape *in, const struct pim_shape *out,
                   uint64_t from, uint64_t place, uint64_t *to)
{
    uint64_t at = 0, step = 1;
    for (uint32_t d = in->rank; d-- > 2;) {
        unsigned entry = in->rank == 4 ? d - 2 : d == 2 ? 2 : d - 3;
        uint64_t i = from % in->dimension[d], k = place % s->kernel[entry];
        int64_t o = (int64_t)(i * s->stride[entry] + k * s->dilation[entry]) - s->pad_before[entry];
        from /= in->dimension[d];
        place /= s->kernel[entry];
        if (o < 0 || o >= (int64_t)out->dimension[d])
            return false;
        at += (uint64_t)o * step;
        step *= out->dimension[d];
    }
    *to = at;
    return true;
}

/* Weights [inputs, outputs of a group, kernel]: every element goes to the outputs of its group. */
static enum pim_status evaluate_transposed(struct pim_evaluation *e)
{
    const union pim_attributes *a = &e->layer->attributes;
    const struct pim_shape *in = pim_evaluation_shape(e, 0), *out = &e->layer->output;
    const double *weights = require(e, e->index, PIM_LEARNED_WEIGHTS);
    const double *bias = a->convolution.bias ? require(e, e->index, PIM_LEARNED_BIAS) : NULL;
    if (!weights || (a->convolution.bias && !bias))
        return e->error->status;
    uint32_t inputs = in->dimension[1], outputs = out->dimension[1], groups = a->convolution.groups;
    uint64_t pixels = pim_shape_elements(in) / in->dimension[0] / inputs;
    uint64_t size = e->elements / out->dimension[0] / outputs, places = 1, to;
    double *output = e->output;
    for (uint32_t d = 2; d < in->rank; d++)
        places *= a->convolution.sliding.kernel[in->rank == 4 ? d - 2 : d == 2 ? 2 : d - 3];
    for (uint64_t i = 0; i < e->elements && bias; i++)
        output[i] = bias[i / size % outputs];
    for (uint64_t i = 0; i < pim_shape_elements(in) * (outputs / groups) * places; i++) {
        uint64_t place = i % places, o = i / places % (outputs / groups),
                 from = i / places / (outputs / groups);
        uint64_t c = from / pixels % inputs, sample = from / pixels / inputs;
        uint64_t plane = sample * outputs + c / (inputs / groups) * (outputs / groups) + o;
        if (spread(&a->convolution.sliding, in, out, from % pixels, place, &to))
            output[plane * size + to] +=
                input_of(e, 0)[from] * weights[(c * (outputs / groups) + o) * places + place];
    }
    return PIM_OK;
}

/* Positions of one dimension, counted from its end where they are below 0. */
static enum pim_status evaluate_gather(struct pim_evaluation *e)
{
    const struct pim_shape *in = pim_evaluation_shape(e, 0);
    uint32_t axis = e->layer->attributes.gather_along.axis;
    uint64_t places = pim_shape_elements(&e->layer->attributes.gather_along.indices), inner = 1;
    const double *index = e->layer->inputs == 2 ? input_of(e, 1) : require(e, e->index, PIM_LEARNED_INDICES);
    double *output = e->output;
    if (!index)
        return e->error->status;
    for (uint32_t d = axis + 1; d < in->rank; d++)
        inner *= in->dimension[d];
    for (uint64_t i = 0; i < e->elements; i++) {
        uint64_t outer = i / inner / places;
        double place = index[i / inner % places];
        place += place < 0 ? in->dimension[axis] : 0;
        if (!(place >= 0 && place < in->dimension[axis]))
            return pim_evaluation_refuse(e, "an index is beyond its dimension");
        output[i] = input_of(e, 0)[(outer * in->dimension[axis] + (uint64_t)place) * inner + i % inner];
    }
    return PIM_OK;
}

static enum pim_status evaluate_other(struct pim_evaluation *e, bool *done)
{
    const double *numbers;
    *done = true;
    switch ((int)e->layer->operation) {
    case PIM_OPERATOR_INPUT:
        numbers = require(e, e->index, PIM_LEARNED_TENSOR);
        if (numbers)
            memcpy(e->output, numbers, e->elements * sizeof *numbers);
        return numbers ? PIM_OK : e->error->status;
    case PIM_OPERATOR_ACTIVATION:
        return evaluate_activation(e);
    case PIM_OPERATOR_ELEMENTWISE:
        return evaluate_elementwise(e);
    case PIM_OPERATOR_NORMALIZATION:
        return evaluate_normalization(e);
    case PIM_OPERATOR_GATHER:
        return evaluate_gather(e);
    case PIM_OPERATOR_TRANSPOSED_CONVOLUTION:
        return evaluate_transposed(e);
    case PIM_OPERATOR_SOFTMAX:
        evaluate_softmax(e);
        return PIM_OK;
    default:
        *done = false;
        return PIM_OK;
    }
}

enum pim_status pim_verify_evaluate_reals(const struct pim_graph *graph,
                                          const struct pim_real_numbers *numbers, struct pim_arena *arena,
                                          const double *const **values, struct pim_error *error)
{
    static const struct pim_arithmetic reals = {.bytes = sizeof(double),
                                                .add_products = add_products,
                                                .column = column_of,
                                                .combine = combine,
                                                .learned = learned,
                                                .joined = joined,
                                                .finish_scores = finish_scores,
                                                .other = evaluate_other};
    struct pim_evaluation e = {.graph = graph, .arithmetic = &reals, .context = numbers, .error = error};
    const double **value = PIM_ARENA_ARRAY(arena, const double *, graph->count);
    const void **found;
    *values = value;
    if (!value)
        return pim_fail(error, PIM_NO_MEMORY, "out of memory for the values of the network");
    enum pim_status status = pim_evaluation_all(&e, arena, &found);
    for (uint32_t i = 0; i < graph->count && status == PIM_OK; i++)
        value[i] = found[i];
    return status;
}
