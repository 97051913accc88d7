/* Tensors as views of maps: lowering.h. */
#include "mappers/pimcomp/lowering.h"

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
    const struct pim_core_layer *made = &l->network->layer[layer];
    struct pim_core_part *part = PIM_ARENA_NEW(l->arena, struct pim_core_part);
    *part = (struct pim_core_part){.layer = layer, .channels = made->channels};
    struct pim_core_view view = {.parts = 1,
                                 .part = part,
                                 .sole = l->readers[l->index] == 1,
                                 .extent = {made->channels, made->height, made->width}};
    memcpy(view.order, order ? order : map_order, sizeof view.order);
    return view;
}

bool pim_view_map(struct pim_lowering *l, const struct pim_core_view *view, const struct pim_shape *shape,
                  struct pim_core_source *source)
{
    char text[96];
    unsigned mask[PIM_SHAPE_RANK];
    *source = pim_view_source(view);
    if (shape->rank != 4 || shape->dimension[0] != 1) {
        pim_lowering_fail(l, "its input is %s: cores work on one sample, [1, channels, height, width]",
                          pim_shape_text(shape, text, sizeof text));
        return false;
    }
    bool whole = pim_view_axes(view, shape, mask) && shape->dimension[1] == source->channels &&
                 (mask[1] & ~(1u << PIM_AXIS_CHANNEL)) == 0;
    const struct pim_core_view plain = {.extent = {source->channels, source->height, source->width},
                                        .order = {map_order[0], map_order[1], map_order[2]}};
    if (!whole || !pim_view_same(view, &plain, false)) {
        pim_lowering_fail(
            l,
            "its input %s does not hold whole channels and pixels of the maps before it (a reshape or "
            "transposition cut through them)",
            pim_shape_text(shape, text, sizeof text));
        return false;
    }
    source->height = shape->dimension[2]; /* a sequence of pixels may have become rows and columns */
    source->width = shape->dimension[3];
    return true;
}

bool pim_view_transpose(const struct pim_core_view *view, const struct pim_layer *layer,
                        const struct pim_shape *shape, struct pim_core_view *result)
{
    const uint32_t *order = layer->attributes.transpose.order;
    unsigned mask[PIM_SHAPE_RANK], next = 0, seen = 0;
    uint32_t last = 0;
    bool moved = false;
    *result = *view;
    for (uint32_t d = 0; d < shape->rank; d++) {
        if (shape->dimension[order[d]] == 1)
            continue;
        moved |= order[d] < last;
        last = order[d];
    }
    if (!moved)
        return true;
    if (!pim_view_axes(view, shape, mask))
        return false;
    for (uint32_t d = 0; d < shape->rank; d++)
        for (unsigned i = 0; i < PIM_AXES; i++)
            if (mask[order[d]] >> view->order[i] & 1) {
                result->order[next++] = view->order[i];
                seen |= 1u << view->order[i];
            }
    for (unsigned axis = 0; axis < PIM_AXES; axis++)
        if (!(seen >> axis & 1))
            result->order[next++] = (uint8_t)axis;
    return true;
}

/* Dimension `axis` of a tensor is exactly the channels. */
static bool axis_is_channels(const struct pim_core_view *view, const struct pim_shape *shape, uint32_t axis)
{
    unsigned mask[PIM_SHAPE_RANK];
    return pim_view_axes(view, shape, mask) && shape->dimension[axis] == view->extent[PIM_AXIS_CHANNEL] &&
           (mask[axis] & ~(1u << PIM_AXIS_CHANNEL)) == 0;
}

bool pim_view_concatenate(struct pim_lowering *l, struct pim_core_view *result)
{
    uint32_t parts = 0, next = 0, axis = l->layer->attributes.concat.axis;
    uint64_t channels = 0;
    const struct pim_core_view *first = &l->view[l->layer->input[0]];
    for (uint32_t i = 0; i < l->layer->inputs; i++) {
        const struct pim_core_view *view = &l->view[l->layer->input[i]];
        if (view->parameter) {
            pim_lowering_fail(l, "it joins a learned tensor to a map: cores compute every element of a map");
            return false;
        }
        if (!axis_is_channels(view, &l->graph->layers[l->layer->input[i]].output, axis) ||
            !pim_view_same(first, view, true)) {
            pim_lowering_fail(l, "it joins its inputs along something else than the channels of equal maps");
            return false;
        }
        parts += view->parts;
        channels += view->extent[PIM_AXIS_CHANNEL];
        if (first->extent[PIM_AXIS_CHANNEL] == 1)
            first = view;
    }
    struct pim_core_part *part = PIM_ARENA_ARRAY(l->arena, struct pim_core_part, parts);
    if (!part) {
        l->status =
            pim_fail(l->error, PIM_NO_MEMORY, "no memory for a concatenation of %" PRIu32 " parts", parts);
        return false;
    }
    for (uint32_t i = 0; i < l->layer->inputs; i++) {
        const struct pim_core_view *view = &l->view[l->layer->input[i]];
        memcpy(part + next, view->part, view->parts * sizeof *part);
        next += view->parts;
    }
    *result = *first;
    result->parts = parts;
    result->part = part;
    result->sole = false;
    result->extent[PIM_AXIS_CHANNEL] = (uint32_t)channels; /* a dimension of the checked output */
    return true;
}

bool pim_view_slice(struct pim_lowering *l, struct pim_core_view *result)
{
    const struct pim_layer *layer = l->layer;
    const struct pim_core_view *view = &l->view[layer->input[0]];
    const struct pim_shape *shape = &l->graph->layers[layer->input[0]].output;
    uint32_t axis = layer->attributes.slice.axis, begin = layer->attributes.slice.begin,
             count = layer->attributes.slice.count, next = 0;
    *result = *view;
    result->sole = false;
    if (count == shape->dimension[axis] && !layer->attributes.slice.reversed)
        return true;
    if (!axis_is_channels(view, shape, axis) || layer->attributes.slice.step > 1 ||
        layer->attributes.slice.reversed) {
        pim_lowering_fail(
            l, "it takes something else than neighbouring channels of a map: cores move whole pixels");
        return false;
    }
    struct pim_core_part *part = PIM_ARENA_ARRAY(l->arena, struct pim_core_part, view->parts);
    if (!part) {
        l->status =
            pim_fail(l->error, PIM_NO_MEMORY, "no memory for a slice of %" PRIu32 " parts", view->parts);
        return false;
    }
    uint32_t passed = 0; /* channels of the view before part i */
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
