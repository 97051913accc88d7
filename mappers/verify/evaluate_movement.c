/* Direct evaluation of operators that move elements: each output element is found by its coordinates. */
#include "mappers/verify/evaluate_internal.h"

#include <string.h>

/* Coordinates of an element of a tensor, row-major; and back. */
static void split(const struct pim_shape *shape, uint64_t element, uint32_t at[PIM_SHAPE_RANK])
{
    for (uint32_t d = shape->rank; d-- > 0;) {
        at[d] = (uint32_t)(element % shape->dimension[d]);
        element /= shape->dimension[d];
    }
}

static uint64_t join(const struct pim_shape *shape, const uint32_t at[PIM_SHAPE_RANK])
{
    uint64_t element = 0;
    for (uint32_t d = 0; d < shape->rank; d++)
        element = element * shape->dimension[d] + at[d];
    return element;
}

uint64_t pim_evaluation_broadcast(const struct pim_evaluation *e, uint32_t input, uint64_t element)
{
    const struct pim_shape *from = pim_evaluation_shape(e, input), *to = &e->layer->output;
    if (pim_shape_equal(from, to))
        return element;
    uint32_t at[PIM_SHAPE_RANK] = {0}, source[PIM_SHAPE_RANK] = {0};
    split(to, element, at);
    for (uint32_t d = 0; d < from->rank; d++)
        source[d] = from->dimension[d] == 1 ? 0 : at[to->rank - from->rank + d];
    return join(from, source);
}

/* Windows of a token map, and back: (row, column) of the map for a window and a position in it. */
static void window_origin(const struct pim_evaluation *e, const uint32_t at[PIM_SHAPE_RANK],
                          uint32_t source[PIM_SHAPE_RANK])
{
    const union pim_attributes *a = &e->layer->attributes;
    const struct pim_shape *in = pim_evaluation_shape(e, 0);
    uint32_t height = a->window.height, width = a->window.width;
    if (e->layer->operation == PIM_OPERATOR_WINDOW_PARTITION) {
        uint32_t across = in->dimension[2] / width, down = in->dimension[1] / height;
        source[0] = at[0] / (across * down);
        source[1] = at[0] % (across * down) / across * height + at[1] / width;
        source[2] = at[0] % across * width + at[1] % width;
        source[3] = at[2];
    } else if (e->layer->operation == PIM_OPERATOR_WINDOW_REVERSE) {
        uint32_t across = a->window.map_width / width, down = a->window.map_height / height;
        source[0] = (at[0] * down + at[1] / height) * across + at[2] / width;
        source[1] = at[1] % height * width + at[2] % width;
        source[2] = at[3];
    } else { /* patch merging: neighbours row by row, each with all its channels */
        uint32_t factor = a->merging.factor, channels = in->dimension[3], place = at[3] / channels;
        source[1] = at[1] * factor + place / factor;
        source[2] = at[2] * factor + place % factor;
        source[3] = at[3] % channels;
    }
}

/* (row, column) of the map for a window and a position in the region around it; false: beyond the border. */
static bool region_origin(const struct pim_evaluation *e, const uint32_t at[PIM_SHAPE_RANK],
                          uint32_t source[PIM_SHAPE_RANK])
{
    const union pim_attributes *a = &e->layer->attributes;
    const struct pim_shape *in = pim_evaluation_shape(e, 0);
    int64_t stride = a->gather.stride, side = a->gather.side,
            before = side > stride ? (side - stride) / 2 : 0;
    int64_t across = in->dimension[2] / stride, windows = in->dimension[1] / stride * across;
    int64_t position[2] = {at[0] % windows / across * stride + at[1] / side - before,
                           at[0] % across * stride + at[1] % side - before};
    for (int axis = 0; axis < 2; axis++) {
        int64_t size = in->dimension[axis + 1];
        if (!a->gather.cyclic && (position[axis] < 0 || position[axis] >= size))
            return false;
        source[axis + 1] = (uint32_t)((position[axis] % size + size) % size);
    }
    source[0] = (uint32_t)(at[0] / windows);
    source[3] = at[2];
    return true;
}

/* The element of the input that element `at` of the output copies; false: it is padding. */
static bool origin(const struct pim_evaluation *e, const uint32_t at[PIM_SHAPE_RANK], uint64_t *from)
{
    const struct pim_shape *in = pim_evaluation_shape(e, 0);
    const union pim_attributes *a = &e->layer->attributes;
    uint32_t source[PIM_SHAPE_RANK] = {0};
    memcpy(source, at, sizeof source);
    if (e->layer->operation == PIM_OPERATOR_TRANSPOSE)
        for (uint32_t d = 0; d < in->rank; d++)
            source[a->transpose.order[d]] = at[d];
    if (e->layer->operation == PIM_OPERATOR_SLICE) {
        uint32_t axis = a->slice.axis, step = a->slice.step ? a->slice.step : 1;
        uint32_t position = a->slice.reversed ? a->slice.count - 1 - at[axis] : at[axis];
        source[axis] = a->slice.begin + position * step;
    }
    if (e->layer->operation == PIM_OPERATOR_PAD)
        for (uint32_t d = 0; d < in->rank; d++) {
            if (at[d] < a->pad.before[d] || at[d] - a->pad.before[d] >= in->dimension[d])
                return false;
            source[d] = at[d] - a->pad.before[d];
        }
    if (e->layer->operation == PIM_OPERATOR_SHIFT) { /* goes to row + rows, column + columns, and around */
        int64_t by[2] = {a->shift.rows, a->shift.columns};
        for (int axis = 0; axis < 2; axis++) {
            int64_t size = in->dimension[axis + 1];
            source[axis + 1] = (uint32_t)(((at[axis + 1] - by[axis]) % size + size) % size);
        }
    }
    if (e->layer->operation == PIM_OPERATOR_EXPAND) { /* repetition, or the nearest one */
        uint32_t more = e->layer->output.rank - in->rank;
        for (uint32_t d = 0; d < in->rank; d++)
            source[d] = at[d + more] / (e->layer->output.dimension[d + more] / in->dimension[d]);
    }
    if (e->layer->operation == PIM_OPERATOR_WINDOW_PARTITION ||
        e->layer->operation == PIM_OPERATOR_WINDOW_REVERSE ||
        e->layer->operation == PIM_OPERATOR_PATCH_MERGING)
        window_origin(e, at, source);
    if (e->layer->operation == PIM_OPERATOR_WINDOW_GATHER && !region_origin(e, at, source))
        return false;
    *from = join(in, source);
    return true;
}

/* Operators each of whose elements is one of the input, or 0. */
static bool copies_elements(enum pim_operator operation)
{
    return operation == PIM_OPERATOR_TRANSPOSE || operation == PIM_OPERATOR_SLICE ||
           operation == PIM_OPERATOR_PAD || operation == PIM_OPERATOR_SHIFT ||
           operation == PIM_OPERATOR_EXPAND || operation == PIM_OPERATOR_WINDOW_PARTITION ||
           operation == PIM_OPERATOR_WINDOW_REVERSE || operation == PIM_OPERATOR_WINDOW_GATHER ||
           operation == PIM_OPERATOR_PATCH_MERGING;
}

static void evaluate_concat(struct pim_evaluation *e)
{
    uint32_t axis = e->layer->attributes.concat.axis;
    for (uint64_t i = 0; i < e->elements; i++) {
        uint32_t at[PIM_SHAPE_RANK] = {0}, input = 0;
        split(&e->layer->output, i, at);
        while (at[axis] >= pim_evaluation_shape(e, input)->dimension[axis])
            at[axis] -= pim_evaluation_shape(e, input++)->dimension[axis];
        uint64_t from = join(pim_evaluation_shape(e, input), at);
        void *to = pim_evaluation_to(e, e->output, i);
        if (e->input[input])
            memcpy(to, pim_evaluation_at(e, e->input[input], from), e->arithmetic->bytes);
        else
            e->arithmetic->joined(e, e->layer->input[input], from, to);
    }
}

/* Over some dimensions: what meets in element `i` of the output is brought together. */
static void collect(struct pim_evaluation *e, uint64_t i, uint64_t count, void *numbers)
{
    const struct pim_shape *in = pim_evaluation_shape(e, 0);
    struct pim_shape kept = *in, gone = *in;
    uint32_t at[PIM_SHAPE_RANK] = {0}, inner[PIM_SHAPE_RANK] = {0};
    for (uint32_t d = 0; d < in->rank; d++) {
        bool reduced = e->layer->attributes.reduction.axes >> d & 1;
        *(reduced ? &kept.dimension[d] : &gone.dimension[d]) = 1;
    }
    split(&kept, i, at);
    for (uint64_t n = 0; n < count; n++) {
        split(&gone, n, inner);
        for (uint32_t d = 0; d < in->rank; d++)
            inner[d] += at[d];
        memcpy(pim_evaluation_to(e, numbers, n), pim_evaluation_at(e, e->input[0], join(in, inner)),
               e->arithmetic->bytes);
    }
}

static enum pim_status evaluate_reduction(struct pim_evaluation *e)
{
    uint64_t count = pim_shape_elements(pim_evaluation_shape(e, 0)) / e->elements;
    void *numbers = pim_evaluation_numbers(e, count);
    if (!numbers)
        return pim_fail(e->error, PIM_NO_MEMORY, "out of memory for layer %s", e->layer->name);
    enum pim_status status = PIM_OK;
    for (uint64_t i = 0; i < e->elements && status == PIM_OK; i++) {
        collect(e, i, count, numbers);
        status = e->arithmetic->combine(e, e->layer->attributes.reduction.kind, numbers, count,
                                        pim_evaluation_to(e, e->output, i));
    }
    return status;
}

/* Repeats each position of a dimension equally often. */
static bool repeats_evenly(const struct pim_evaluation *e)
{
    const struct pim_shape *in = pim_evaluation_shape(e, 0), *out = &e->layer->output;
    for (uint32_t d = 0; d < in->rank; d++)
        if (out->dimension[d + out->rank - in->rank] % in->dimension[d] != 0)
            return false;
    return true;
}

enum pim_status pim_evaluate_movement(struct pim_evaluation *e, bool *moved)
{
    enum pim_operator operation = e->layer->operation;
    size_t bytes = e->arithmetic->bytes;
    *moved = true;
    if (operation == PIM_OPERATOR_CONCAT) {
        evaluate_concat(e);
        return PIM_OK;
    }
    if (operation == PIM_OPERATOR_REDUCTION)
        return evaluate_reduction(e);
    bool same = e->layer->inputs > 0 && e->elements == pim_shape_elements(pim_evaluation_shape(e, 0));
    if (operation == PIM_OPERATOR_RESHAPE || (same && operation == PIM_OPERATOR_GATHER)) {
        memcpy(e->output, e->input[0], e->elements * bytes);
        return PIM_OK;
    }
    if (operation == PIM_OPERATOR_EXPAND && !repeats_evenly(e))
        return pim_evaluation_refuse(e, "it resizes by a broken factor");
    *moved = copies_elements(operation);
    for (uint64_t i = 0; i < e->elements && *moved; i++) {
        uint32_t at[PIM_SHAPE_RANK] = {0};
        uint64_t from;
        split(&e->layer->output, i, at);
        if (origin(e, at, &from))
            memcpy(pim_evaluation_to(e, e->output, i), pim_evaluation_at(e, e->input[0], from), bytes);
    }
    return PIM_OK;
}
