/* Tensors as views of maps: lowering.h. */
#include "mappers/pimcomp/lowering/lowering.h"

#include <inttypes.h>
#include <string.h>

static const uint8_t map_order[PIM_AXES] = {PIM_AXIS_CHANNEL, PIM_AXIS_ROW, PIM_AXIS_COLUMN};

bool pim_view_axes(const struct pim_core_view *view, const struct pim_shape *shape,
                   unsigned mask[PIM_SHAPE_RANK])
{
    unsigned next = 0;
    for (uint32_t d = 0; d < shape->rank; d++) {
        uint64_t rest = shape->dimension[d];
        mask[d] = 0;
        while (rest > 1) {
            while (next < PIM_AXES && view->extent[view->order[next]] == 1)
                next++;
            if (next == PIM_AXES || rest % view->extent[view->order[next]] != 0)
                return false;
            mask[d] |= 1u << view->order[next];
            rest /= view->extent[view->order[next++]];
        }
    }
    return true;
}

bool pim_view_channels_last(const struct pim_core_view *view, const struct pim_shape *shape)
{
    if (shape->rank == 0 || shape->dimension[shape->rank - 1] != view->extent[PIM_AXIS_CHANNEL])
        return false;
    for (unsigned i = PIM_AXES; i-- > 0;) {
        if (view->order[i] == PIM_AXIS_CHANNEL)
            return true;
        if (view->extent[view->order[i]] != 1)
            return view->extent[PIM_AXIS_CHANNEL] == 1;
    }
    return true;
}

static unsigned place(const struct pim_core_view *view, unsigned axis)
{
    for (unsigned i = 0; i < PIM_AXES; i++)
        if (view->order[i] == axis)
            return i;
    return 0;
}

bool pim_view_same(const struct pim_core_view *a, const struct pim_core_view *b, bool channels)
{
    for (unsigned x = 0; x < PIM_AXES; x++) {
        if (a->extent[x] != b->extent[x] && !(channels && x == PIM_AXIS_CHANNEL))
            return false;
        for (unsigned y = 0; y < x; y++) {
            bool matters = a->extent[x] != 1 && a->extent[y] != 1 && b->extent[x] != 1 && b->extent[y] != 1;
            if (matters && (place(a, x) < place(a, y)) != (place(b, x) < place(b, y)))
                return false;
        }
    }
    return true;
}

struct pim_core_source pim_view_source(const struct pim_core_view *view)
{
    return (struct pim_core_source){.parts = view->parts,
                                    .part = view->part,
                                    .channels = view->extent[PIM_AXIS_CHANNEL],
                                    .height = view->extent[PIM_AXIS_ROW],
                                    .width = view->extent[PIM_AXIS_COLUMN]};
}

struct pim_core_view pim_view_of_layer(struct pim_lowering *l, uint32_t layer, const uint8_t *order)
{
    struct pim_core_layer *made = &l->network->layer[layer];
    struct pim_core_part *part = PIM_ARENA_NEW(l->arena, struct pim_core_part);
    *part = (struct pim_core_part){.layer = layer, .channels = made->channels};
    struct pim_core_view view = {.parts = 1,
                                 .part = part,
                                 .sole = l->readers[l->index] == 1,
                                 .extent = {made->channels, made->height, made->width}};
    memcpy(view.order, order ? order : map_order, sizeof view.order);
    pim_view_elements(&view, made->tensor_stride);
    return view;
}

void pim_view_elements(const struct pim_core_view *view, uint64_t element[PIM_AXES])
{
    uint64_t inner = 1;
    for (unsigned i = PIM_AXES; i-- > 0; inner *= view->extent[view->order[i]])
        element[view->order[i]] = inner;
}

/* The dimensions of `shape` are the axes of the view, as those of a map. */
static bool is_map(const struct pim_core_view *view, const struct pim_shape *shape)
{
    unsigned mask[PIM_SHAPE_RANK];
    const struct pim_core_view plain = {.extent = {view->extent[0], view->extent[1], view->extent[2]},
                                        .order = {map_order[0], map_order[1], map_order[2]}};
    return !view->strided && pim_view_axes(view, shape, mask) &&
           shape->dimension[1] == view->extent[PIM_AXIS_CHANNEL] &&
           (mask[1] & ~(1u << PIM_AXIS_CHANNEL)) == 0 && pim_view_same(view, &plain, false);
}

bool pim_view_map(struct pim_lowering *l, struct pim_core_source *source)
{
    char text[96];
    uint32_t tensor = l->layer->input[0];
    const struct pim_core_view *view = &l->view[tensor];
    const struct pim_shape *shape = &l->graph->layers[tensor].output;
    if (shape->rank != 4 || shape->dimension[0] != 1)
        return pim_lowering_fail(l, "its input is %s: cores work on one sample, [1, channels, height, width]",
                                 pim_shape_text(shape, text, sizeof text));
    if (!is_map(view, shape) && !pim_move_remake(l, tensor, PIM_LAYOUT_MAP))
        return false;
    *source = pim_view_source(view);
    source->height = shape->dimension[2]; /* a sequence of pixels may have become rows and columns */
    source->width = shape->dimension[3];
    return true;
}

/* Dimension `axis` of a tensor is exactly the channels. */
static bool axis_is_channels(const struct pim_core_view *view, const struct pim_shape *shape, uint32_t axis)
{
    unsigned mask[PIM_SHAPE_RANK];
    return pim_view_axes(view, shape, mask) && shape->dimension[axis] == view->extent[PIM_AXIS_CHANNEL] &&
           (mask[axis] & ~(1u << PIM_AXIS_CHANNEL)) == 0;
}

/* The order of a map of one channel that becomes several along dimension `axis` of the tensor. */
static void order_channels(const struct pim_core_view *view, const struct pim_shape *shape, uint32_t axis,
                           uint8_t order[PIM_AXES])
{
    unsigned mask[PIM_SHAPE_RANK] = {0}, next = 0, outside = 0;
    (void)pim_view_axes(view, shape, mask);
    for (uint32_t d = 0; d < axis; d++)
        outside |= mask[d];
    for (int inside = 0; inside < 2; inside++) {
        for (unsigned i = 0; i < PIM_AXES; i++)
            if (view->order[i] != PIM_AXIS_CHANNEL && (outside >> view->order[i] & 1) != (unsigned)inside)
                order[next++] = view->order[i];
        if (!inside)
            order[next++] = PIM_AXIS_CHANNEL;
    }
}

bool pim_view_concatenate(struct pim_lowering *l, struct pim_core_view *result)
{
    uint32_t parts = 0, next = 0, axis = l->layer->attributes.concat.axis;
    uint64_t channels = 0;
    const struct pim_core_view *first = pim_input_view(l, 0);
    for (uint32_t i = 0; i < l->layer->inputs; i++) {
        const struct pim_core_view *view = pim_input_view(l, i);
        if (view->strided || !axis_is_channels(view, pim_input_shape(l, i), axis) ||
            !pim_view_same(first, view, true))
            return false;
        parts += view->parts;
        channels += view->extent[PIM_AXIS_CHANNEL];
        if (first->extent[PIM_AXIS_CHANNEL] == 1)
            first = view;
    }
    struct pim_core_part *part = PIM_ARENA_ARRAY(l->arena, struct pim_core_part, parts);
    if (!part)
        return pim_lowering_no_memory(l);
    for (uint32_t i = 0; i < l->layer->inputs; i++) {
        const struct pim_core_view *view = pim_input_view(l, i);
        memcpy(part + next, view->part, view->parts * sizeof *part);
        next += view->parts;
    }
    *result = *first;
    if (first->extent[PIM_AXIS_CHANNEL] == 1)
        order_channels(first, pim_input_shape(l, 0), axis, result->order);
    result->parts = parts;
    result->part = part;
    result->sole = false;
    result->extent[PIM_AXIS_CHANNEL] = (uint32_t)channels; /* a dimension of the checked output */
    return true;
}

/* Gives a result the parts of channels [begin, begin + count) of a view. */
static bool cut_channels(struct pim_lowering *l, const struct pim_core_view *view, uint32_t begin,
                         uint32_t count, struct pim_core_view *result)
{
    uint32_t passed = 0, next = 0; /* channels of the view before part i */
    struct pim_core_part *part = PIM_ARENA_ARRAY(l->arena, struct pim_core_part, view->parts);
    if (!part)
        return pim_lowering_no_memory(l);
    for (uint32_t i = 0; i < view->parts; i++) {
        uint32_t end = passed + view->part[i].channels;
        uint32_t from = begin > passed ? begin : passed, to = begin + count < end ? begin + count : end;
        if (from < to)
            part[next++] = (struct pim_core_part){.layer = view->part[i].layer,
                                                  .channel = view->part[i].channel + (from - passed),
                                                  .channels = to - from};
        passed = end;
    }
    result->parts = next;
    result->part = part;
    result->extent[PIM_AXIS_CHANNEL] = count;
    return true;
}

/* --- strided views --- */

bool pim_strides_put(struct pim_core_strides *s, uint8_t axis, uint32_t extent, int64_t stride)
{
    if (extent == 1)
        return true;
    if (s->atoms == PIM_VIEW_ATOMS || stride > INT32_MAX || stride < INT32_MIN)
        return false;
    s->atom[s->atoms++] = (struct pim_core_atom){.axis = axis, .extent = extent, .stride = (int32_t)stride};
    return true;
}

void pim_move_strides(const struct pim_core_view *view, struct pim_core_strides *strides)
{
    if (view->strided) {
        *strides = *view->strided;
        return;
    }
    *strides = (struct pim_core_strides){.atoms = 0};
    for (unsigned i = 0; i < PIM_AXES; i++)
        (void)pim_strides_put(strides, view->order[i], view->extent[view->order[i]], 1);
}

/* Neighbours that go on where the inner one ends become one. */
static void merge(struct pim_core_strides *s)
{
    struct pim_core_strides merged = *s;
    merged.atoms = 0;
    for (uint32_t i = 0; i < s->atoms; i++) {
        const struct pim_core_atom *atom = &s->atom[i];
        struct pim_core_atom *last = merged.atoms ? &merged.atom[merged.atoms - 1] : NULL;
        if (last && last->axis == atom->axis && last->stride == (int64_t)atom->stride * atom->extent) {
            last->extent *= atom->extent;
            last->stride = atom->stride;
        } else {
            merged.atom[merged.atoms++] = *atom;
        }
    }
    *s = merged;
}

bool pim_move_split(const struct pim_core_view *view, const struct pim_shape *shape,
                    struct pim_core_strides *s, uint32_t first[PIM_SHAPE_RANK + 1])
{
    pim_move_strides(view, s);
    merge(s);
    struct pim_core_strides cut = *s;
    uint32_t at = 0, left = s->atoms ? s->atom[0].extent : 1;
    cut.atoms = 0;
    for (uint32_t d = 0; d < shape->rank; d++) {
        uint32_t rest = shape->dimension[d];
        first[d] = cut.atoms;
        while (rest > 1) {
            if (left == 1) {
                if (++at >= s->atoms)
                    return false;
                left = s->atom[at].extent;
            }
            uint32_t take = rest <= left ? rest : left;
            if (take <= 1 || left % take != 0 || rest % take != 0)
                return false;
            left /= take;
            rest /= take;
            if (!pim_strides_put(&cut, s->atom[at].axis, take, (int64_t)s->atom[at].stride * left))
                return false;
        }
    }
    first[shape->rank] = cut.atoms;
    *s = cut;
    return true;
}

/* Whole axes in some order? */
static bool is_plain(const struct pim_core_view *of, const struct pim_core_strides *s,
                     uint8_t order[PIM_AXES])
{
    unsigned seen = 0, next = 0;
    for (uint32_t i = 0; i < s->atoms; i++) {
        const struct pim_core_atom *atom = &s->atom[i];
        if ((seen >> atom->axis & 1) || atom->stride != 1 || atom->extent != of->extent[atom->axis])
            return false;
        seen |= 1u << atom->axis;
        order[next++] = atom->axis;
    }
    for (unsigned axis = 0; axis < PIM_AXES; axis++) {
        if (seen >> axis & 1)
            continue;
        if (of->extent[axis] != 1)
            return false;
        order[next++] = (uint8_t)axis;
    }
    return true;
}

/* Neighbouring channels alone: a view of fewer parts. */
static bool cuts_channels(struct pim_lowering *l, const struct pim_core_view *of,
                          const struct pim_core_strides *s, struct pim_core_view *result)
{
    uint32_t channels = 1;
    for (uint32_t i = 0; i < s->atoms; i++) {
        if (s->atom[i].axis != PIM_AXIS_CHANNEL)
            continue;
        if (channels != 1 || s->atom[i].stride != 1)
            return false;
        channels = s->atom[i].extent;
    }
    *result = *of;
    result->sole = false;
    result->strided = NULL;
    return cut_channels(l, of, (uint32_t)s->origin[PIM_AXIS_CHANNEL], channels, result);
}

bool pim_move_view(struct pim_lowering *l, const struct pim_core_view *of,
                   const struct pim_core_strides *strides, struct pim_core_view *result)
{
    struct pim_core_strides merged = *strides;
    struct pim_core_view narrow;
    merge(&merged);
    *result = *of;
    result->sole = of->sole && l->readers[l->index] == 1;
    result->strided = NULL;
    if (is_plain(of, &merged, result->order))
        return true;
    if (cuts_channels(l, of, &merged, &narrow)) {
        struct pim_core_strides rest = merged;
        rest.origin[PIM_AXIS_CHANNEL] = 0;
        if (is_plain(&narrow, &rest, narrow.order)) {
            *result = narrow;
            return true;
        }
    }
    if (l->status != PIM_OK)
        return false;
    struct pim_core_strides *stored = PIM_ARENA_NEW(l->arena, struct pim_core_strides);
    *stored = merged;
    result->strided = stored;
    result->sole = false;
    return true;
}
