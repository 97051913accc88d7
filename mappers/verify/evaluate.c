/* Direct evaluation of a graph, whatever its numbers: convolution, linear, pooling, and layer after layer. */
#include "mappers/verify/evaluate_internal.h"

#include <string.h>

enum { AXES = 3 };         /* depth, rows and columns, as they lie in memory */
#define PADDING UINT64_MAX /* no element of a map */

/* A window over a map or a volume: entries in the order of AXES, 1 along a depth that is not there. */
struct window {
    uint32_t kernel[AXES], in[AXES], out[AXES];
    uint32_t stride[AXES], dilation[AXES], before[AXES];
};

static struct window window_of(const struct pim_sliding *s, const struct pim_shape *in,
                               const struct pim_shape *out)
{
    struct window w;
    for (unsigned axis = 0; axis < AXES; axis++) {
        bool there = axis > 0 || in->rank == 5;
        unsigned entry = axis == 0 ? 2 : axis - 1;
        unsigned dimension = 2 + axis - (in->rank == 5 ? 0 : 1);
        w.kernel[axis] = there ? s->kernel[entry] : 1;
        w.stride[axis] = there ? s->stride[entry] : 1;
        w.dilation[axis] = there ? s->dilation[entry] : 1;
        w.before[axis] = there ? s->pad_before[entry] : 0;
        w.in[axis] = there ? in->dimension[dimension] : 1;
        w.out[axis] = there ? out->dimension[dimension] : 1;
    }
    return w;
}

static uint64_t volume(const uint32_t size[AXES])
{
    return (uint64_t)size[0] * size[1] * size[2];
}

/* Which element of the map the window of output `output` has at position `place` of the kernel; false: it is
 * padding. */
static bool position(const struct window *w, uint64_t output, uint64_t place, uint64_t *element)
{
    uint64_t at = 0, step = 1;
    for (unsigned axis = AXES; axis-- > 0;) {
        uint64_t o = output % w->out[axis], k = place % w->kernel[axis];
        int64_t i = (int64_t)(o * w->stride[axis] + k * w->dilation[axis]) - w->before[axis];
        output /= w->out[axis];
        place /= w->kernel[axis];
        if (i < 0 || i >= (int64_t)w->in[axis])
            return false;
        at += (uint64_t)i * step;
        step *= w->in[axis];
    }
    *element = at;
    return true;
}

void *pim_evaluation_numbers(struct pim_evaluation *e, uint64_t count)
{
    void *numbers =
        pim_arena_allocate_array(e->scratch, count ? count : 1, e->arithmetic->bytes, _Alignof(max_align_t));
    if (numbers)
        memset(numbers, 0, count * e->arithmetic->bytes);
    return numbers;
}

static enum pim_status no_memory(const struct pim_evaluation *e)
{
    return pim_fail(e->error, PIM_NO_MEMORY, "out of memory for layer %s", e->layer->name);
}

enum pim_status pim_evaluation_refuse(const struct pim_evaluation *e, const char *what)
{
    return pim_fail(e->error, PIM_BAD_INPUT, "layer %s (%s): %s", e->layer->name,
                    pim_operator_name(e->layer->operation), what);
}

/* --- convolution and linear --- */

/* Channels [first, first + channels) of a map, pixel by pixel. */
static void transpose_channels(const struct pim_evaluation *e, const void *map, uint64_t pixels,
                               uint64_t first, uint32_t channels, void *turned)
{
    size_t bytes = e->arithmetic->bytes;
    for (uint64_t pixel = 0; pixel < pixels; pixel++)
        for (uint32_t c = 0; c < channels; c++)
            memcpy(pim_evaluation_to(e, turned, pixel * channels + c),
                   pim_evaluation_at(e, map, (first + c) * pixels + pixel), bytes);
}

/* A convolution at work. */
struct convolution {
    struct window window;
    uint64_t positions, places; /* of the output, of the kernel */
    uint64_t *element;          /* of each position and place: which of the map, or PADDING */
    uint32_t channels, outputs; /* of a group */
    void *turned, *weights, *bias;
};

static enum pim_status begin_convolution(struct pim_evaluation *e, struct convolution *c)
{
    const struct pim_shape *in = pim_evaluation_shape(e, 0), *out = &e->layer->output;
    uint32_t groups = e->layer->attributes.convolution.groups;
    c->window = window_of(&e->layer->attributes.convolution.sliding, in, out);
    c->positions = volume(c->window.out);
    c->places = volume(c->window.kernel);
    c->channels = in->dimension[1] / groups;
    c->outputs = out->dimension[1] / groups;
    c->element = PIM_ARENA_ARRAY(e->scratch, uint64_t, c->positions * c->places);
    c->weights = pim_evaluation_numbers(e, c->places * c->channels);
    c->turned = pim_evaluation_numbers(e, volume(c->window.in) * c->channels);
    c->bias = pim_evaluation_numbers(e, 1);
    if (!c->element || !c->weights || !c->turned || !c->bias)
        return no_memory(e);
    for (uint64_t o = 0; o < c->positions; o++)
        for (uint64_t place = 0; place < c->places; place++)
            if (!position(&c->window, o, place, &c->element[o * c->places + place]))
                c->element[o * c->places + place] = PADDING;
    return PIM_OK;
}

/* One output channel of the whole map. */
static void convolve(const struct pim_evaluation *e, const struct convolution *c, void *output)
{
    const uint64_t *element = c->element;
    for (uint64_t o = 0; o < c->positions; o++) {
        void *sum = pim_evaluation_to(e, output, o);
        memcpy(sum, c->bias, e->arithmetic->bytes);
        for (uint64_t place = 0; place < c->places; place++, element++)
            if (*element != PADDING)
                e->arithmetic->add_products(sum, pim_evaluation_at(e, c->turned, *element * c->channels), 1,
                                            pim_evaluation_at(e, c->weights, place * c->channels), 1,
                                            c->channels);
    }
}

static enum pim_status evaluate_convolution(struct pim_evaluation *e)
{
    const struct pim_shape *in = pim_evaluation_shape(e, 0);
    uint32_t groups = e->layer->attributes.convolution.groups;
    struct convolution c;
    enum pim_status status = begin_convolution(e, &c);
    for (uint32_t map = 0; map < in->dimension[0] * groups && status == PIM_OK; map++) {
        transpose_channels(e, e->input[0], volume(c.window.in), (uint64_t)map * c.channels, c.channels,
                           c.turned);
        for (uint32_t o = 0; o < c.outputs && status == PIM_OK; o++) {
            status = e->arithmetic->column(e, map % groups * c.outputs + o, c.weights, c.bias);
            if (status == PIM_OK)
                convolve(e, &c,
                         pim_evaluation_to(e, e->output, ((uint64_t)map * c.outputs + o) * c.positions));
        }
    }
    return status;
}

static enum pim_status evaluate_linear(struct pim_evaluation *e)
{
    const struct pim_shape *in = pim_evaluation_shape(e, 0);
    uint32_t rows = in->dimension[in->rank - 1], columns = e->layer->attributes.linear.outputs;
    uint64_t vectors = pim_shape_elements(in) / rows;
    void *weights = pim_evaluation_numbers(e, rows), *bias = pim_evaluation_numbers(e, 1);
    enum pim_status status = weights && bias ? PIM_OK : no_memory(e);
    for (uint32_t column = 0; column < columns && status == PIM_OK; column++) {
        status = e->arithmetic->column(e, column, weights, bias);
        for (uint64_t v = 0; v < vectors && status == PIM_OK; v++) {
            void *sum = pim_evaluation_to(e, e->output, v * columns + column);
            memcpy(sum, bias, e->arithmetic->bytes);
            e->arithmetic->add_products(sum, pim_evaluation_at(e, e->input[0], v * rows), 1, weights, 1,
                                        rows);
        }
    }
    return status;
}

/* --- pooling --- */

/* One position: what is inside the map. */
static enum pim_status pool(struct pim_evaluation *e, const struct window *w, enum pim_reduction kind,
                            const void *plane, uint64_t output, void *inside, void *result)
{
    uint64_t places = volume(w->kernel), count = 0, element;
    for (uint64_t place = 0; place < places; place++)
        if (position(w, output, place, &element))
            memcpy(pim_evaluation_to(e, inside, count++), pim_evaluation_at(e, plane, element),
                   e->arithmetic->bytes);
    return count == 0 ? PIM_OK /* nothing but padding: 0 */
                      : e->arithmetic->combine(e, kind, inside, count, result);
}

static enum pim_status evaluate_pooling(struct pim_evaluation *e)
{
    static const enum pim_reduction kinds[PIM_POOLINGS] = {[PIM_POOLING_MAXIMUM] = PIM_REDUCTION_EXTREMUM,
                                                           [PIM_POOLING_AVERAGE] = PIM_REDUCTION_MEAN,
                                                           [PIM_POOLING_NORM] = PIM_REDUCTION_OTHER};
    const struct pim_shape *in = pim_evaluation_shape(e, 0);
    struct pim_sliding s = e->layer->attributes.pooling.sliding;
    if (e->layer->attributes.pooling.global) {
        s = (struct pim_sliding){.stride = {1, 1, 1}, .dilation = {1, 1, 1}};
        for (uint32_t d = 2; d < in->rank; d++)
            s.kernel[in->rank == 4 ? d - 2 : d == 2 ? 2 : d - 3] = in->dimension[d];
    }
    const struct window w = window_of(&s, in, &e->layer->output);
    enum pim_reduction kind = kinds[e->layer->attributes.pooling.kind];
    uint64_t planes = (uint64_t)in->dimension[0] * in->dimension[1], outputs = volume(w.out);
    void *inside = pim_evaluation_numbers(e, volume(w.kernel));
    enum pim_status status = inside ? PIM_OK : no_memory(e);
    for (uint64_t plane = 0; plane < planes; plane++)
        for (uint64_t o = 0; o < outputs && status == PIM_OK; o++)
            status = pool(e, &w, kind, pim_evaluation_at(e, e->input[0], plane * volume(w.in)), o, inside,
                          pim_evaluation_to(e, e->output, plane * outputs + o));
    return status;
}

/* --- layer after layer --- */

enum pim_status pim_evaluation_layer(struct pim_evaluation *e)
{
    bool done;
    enum pim_status status = e->arithmetic->other(e, &done);
    if (status == PIM_OK && !done)
        status = pim_evaluate_movement(e, &done);
    if (status != PIM_OK || done)
        return status;
    switch ((int)e->layer->operation) {
    case PIM_OPERATOR_CONVOLUTION:
        return evaluate_convolution(e);
    case PIM_OPERATOR_LINEAR:
        return evaluate_linear(e);
    case PIM_OPERATOR_POOLING:
        return evaluate_pooling(e);
    case PIM_OPERATOR_MATRIX_MULTIPLICATION:
    case PIM_OPERATOR_ATTENTION_SCORES:
    case PIM_OPERATOR_ATTENTION_CONTEXT:
        return pim_evaluate_product(e);
    default:
        return pim_evaluation_refuse(e, "cores do not have this operator");
    }
}

/* The layer at work with its inputs, the numbers of which are in `value`. */
static enum pim_status evaluate(struct pim_evaluation *e, struct pim_arena *arena, const void **value)
{
    bool known = e->layer->operation == PIM_OPERATOR_INPUT;
    e->input = PIM_ARENA_ARRAY(e->scratch, const void *, e->layer->inputs + 1);
    if (!e->input)
        return no_memory(e);
    for (uint32_t i = 0; i < e->layer->inputs; i++) {
        e->input[i] = value[e->layer->input[i]];
        known |= e->input[i] != NULL;
    }
    if (!known)
        return e->arithmetic->learned(e, e->index, &value[e->index]);
    e->elements = pim_shape_elements(&e->layer->output);
    e->output = pim_arena_allocate_array(arena, e->elements, e->arithmetic->bytes, _Alignof(max_align_t));
    if (!e->output)
        return no_memory(e);
    memset(e->output, 0, e->elements * e->arithmetic->bytes);
    value[e->index] = e->output;
    return pim_evaluation_layer(e);
}

enum pim_status pim_evaluation_all(struct pim_evaluation *e, struct pim_arena *arena, const void ***values)
{
    const void **value = PIM_ARENA_ARRAY(arena, const void *, e->graph->count);
    struct pim_arena scratch;
    pim_arena_initialize(&scratch, 0);
    e->scratch = &scratch;
    enum pim_status status =
        value ? PIM_OK : pim_fail(e->error, PIM_NO_MEMORY, "out of memory for the values of the network");
    for (e->index = 0; status == PIM_OK && e->index < e->graph->count; e->index++) {
        e->layer = &e->graph->layers[e->index];
        status = evaluate(e, arena, value);
        pim_arena_reset(&scratch);
    }
    pim_arena_terminate(&scratch);
    *values = value;
    return status;
}
