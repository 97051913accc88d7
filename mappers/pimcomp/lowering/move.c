/*
 * Tensors that move: strided views of maps, and MOVE layers that make maps of them.
 *
 * Operators that move data only change strides, as long as their result is a number of regular steps through
 * the maps behind: channel shuffles, crops, repetitions, windows of a token map. Who computes with such a
 * view settles it first: one MOVE layer copies its elements into a map whose axes are whole dimensions of the
 * tensor. What puts several tensors, or zeros, together (padding, joining along pixels, a cyclic shift) is a
 * MOVE layer at once.
 */
#include "mappers/pimcomp/lowering/lowering.h"

#include <assert.h>
#include <inttypes.h>
#include <string.h>

static const char *const CUTS = "its elements cannot be cut into regular steps through the maps before it";

/* --- moves --- */

/* A tensor that is put into another one, its first element at `at`. */
struct box {
    const struct pim_core_view *view;
    const struct pim_shape *shape;
    uint32_t at[PIM_SHAPE_RANK];
};

/* Joins loops that step through both maps as one. */
static void merge_loops(struct pim_core_move *move)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < move->loops; i++) {
        const struct pim_core_loop *inner = &move->loop[i];
        struct pim_core_loop *outer = count ? &move->loop[count - 1] : NULL;
        bool joins = outer != NULL;
        for (unsigned axis = 0; axis < PIM_AXES && joins; axis++)
            joins = outer->from[axis] == (int64_t)inner->from[axis] * inner->extent &&
                    outer->to[axis] == (int64_t)inner->to[axis] * inner->extent;
        if (joins) {
            uint32_t extent = outer->extent * inner->extent;
            *outer = *inner;
            outer->extent = extent;
        } else {
            move->loop[count++] = *inner;
        }
    }
    move->loops = count;
}

static bool make_move(struct pim_lowering *l, const struct box *box, const struct pim_layout_axes *axes,
                      const uint64_t dimension_stride[PIM_SHAPE_RANK], uint32_t source,
                      struct pim_core_move *move)
{
    struct pim_core_strides strides;
    uint32_t first[PIM_SHAPE_RANK + 1] = {0};
    uint64_t pixels = (uint64_t)box->view->extent[PIM_AXIS_ROW] * box->view->extent[PIM_AXIS_COLUMN];
    if (pixels > INT32_MAX)
        return pim_lowering_fail(l, "it moves elements of a map of %" PRIu64 " pixels", pixels);
    if (!pim_move_split(box->view, box->shape, &strides, first) || strides.atoms > PIM_CORE_LOOPS)
        return pim_lowering_fail(l, "%s", CUTS);
    *move = (struct pim_core_move){.source = source};
    memcpy(move->from, strides.origin, sizeof move->from);
    for (uint32_t d = 0; d < box->shape->rank; d++) {
        uint64_t stride = dimension_stride[d];
        move->to[axes->axis[d]] += (int32_t)(box->at[d] * stride);
        for (uint32_t i = first[d + 1]; i-- > first[d];) {
            struct pim_core_loop *loop = &move->loop[i];
            *loop = (struct pim_core_loop){.extent = strides.atom[i].extent};
            loop->from[strides.atom[i].axis] = strides.atom[i].stride;
            loop->to[axes->axis[d]] = (int32_t)stride;
            stride *= strides.atom[i].extent;
        }
    }
    move->loops = strides.atoms;
    merge_loops(move);
    return true;
}

static bool same_parts(const struct pim_core_view *a, const struct pim_core_view *b)
{
    assert(a && b);
    return a->part == b->part && a->parts == b->parts;
}

/* A MOVE layer that makes a tensor of `shape` out of boxes; the rest of it is 0. Its output is the tensor of
 * layer `tensor` of the graph (PIM_NONE: of none). */
static bool assemble(struct pim_lowering *l, const struct box *box, uint32_t boxes,
                     const struct pim_shape *shape, const struct pim_layout_axes *axes, uint32_t tensor,
                     struct pim_core_view *result)
{
    uint64_t extent[PIM_AXES] = {1, 1, 1}, stride[PIM_SHAPE_RANK] = {0};
    uint8_t order[PIM_AXES];
    unsigned next = PIM_AXES, seen = 0;
    for (uint32_t d = shape->rank; d-- > 0;) {
        uint8_t axis = axes->axis[d];
        assert(axis < PIM_AXES);
        stride[d] = extent[axis];
        extent[axis] *= shape->dimension[d];
        if (shape->dimension[d] > 1 && !(seen >> axis & 1)) {
            seen |= 1u << axis;
            order[--next] = axis;
        }
    }
    for (unsigned axis = 0; axis < PIM_AXES; axis++)
        if (!(seen >> axis & 1))
            order[--next] = (uint8_t)axis;
    for (unsigned axis = 0; axis < PIM_AXES; axis++)
        if (extent[axis] > INT32_MAX)
            return pim_lowering_fail(l, "a map of it is too large");
    struct pim_core_layer *layer =
        pim_lowering_add(l, PIM_CORE_MOVE, (uint32_t)extent[0], (uint32_t)extent[1], (uint32_t)extent[2]);
    layer->graph_layer = tensor;
    if (tensor != PIM_NONE)
        layer->name = pim_arena_copy_text(l->arena, l->graph->layers[tensor].name);
    struct pim_core_move *move = PIM_ARENA_ARRAY(l->arena, struct pim_core_move, boxes);
    if (!move)
        return pim_lowering_no_memory(l);
    layer->moves = boxes;
    layer->move = move;
    const struct pim_core_view *from[PIM_CORE_SOURCES] = {NULL};
    for (uint32_t i = 0; i < boxes; i++) {
        uint32_t source = 0;
        while (source < layer->sources && !same_parts(from[source], box[i].view))
            source++;
        assert(source < PIM_CORE_SOURCES);
        from[source] = box[i].view;
        layer->source[source] = pim_view_source(box[i].view);
        layer->sources = source + 1 > layer->sources ? source + 1 : layer->sources;
        if (!make_move(l, &box[i], axes, stride, source, &move[i]))
            return false;
    }
    *result = pim_view_of_layer(l, l->network->count - 1, order);
    return true;
}

/* --- layouts --- */

/* Dimensions of one axis follow each other (those of extent 1 do not count). */
static bool is_grouped(const struct pim_layout_axes *axes, const struct pim_shape *shape)
{
    unsigned seen = 0;
    uint8_t last = PIM_AXES;
    for (uint32_t d = 0; d < shape->rank; d++) {
        if (shape->dimension[d] == 1 || axes->axis[d] == last)
            continue;
        last = axes->axis[d];
        if (seen >> last & 1)
            return false;
        seen |= 1u << last;
    }
    return true;
}

bool pim_move_axes_of(const struct pim_core_view *view, const struct pim_shape *shape,
                      struct pim_layout_axes *axes)
{
    struct pim_core_strides strides;
    uint32_t first[PIM_SHAPE_RANK + 1] = {0};
    unsigned used = 0;
    if (!pim_move_split(view, shape, &strides, first))
        return false;
    for (uint32_t d = 0; d < shape->rank; d++)
        for (uint32_t i = first[d]; i < first[d + 1]; i++) {
            if (i > first[d] && strides.atom[i].axis != axes->axis[d])
                return false;
            axes->axis[d] = strides.atom[i].axis;
            used |= 1u << strides.atom[i].axis;
        }
    for (uint32_t d = 0; d < shape->rank; d++) { /* dimensions of one position: any axis that is left */
        uint8_t axis = PIM_AXES - 1;
        if (first[d] != first[d + 1])
            continue;
        while (axis > 0 && (used >> axis & 1))
            axis--;
        axes->axis[d] = axis;
        used |= 1u << axis;
    }
    return true;
}

static void axes_by(enum pim_axes_layout layout, const struct pim_shape *shape, struct pim_layout_axes *axes)
{
    static const uint8_t map[] = {PIM_AXIS_ROW, PIM_AXIS_CHANNEL, PIM_AXIS_ROW, PIM_AXIS_COLUMN};
    bool as_map = layout == PIM_LAYOUT_MAP && shape->rank == 4 && shape->dimension[0] == 1;
    for (uint32_t d = 0; d < shape->rank; d++) {
        uint32_t behind = shape->rank - 1 - d;
        axes->axis[d] = as_map        ? map[d]
                        : behind == 0 ? (uint8_t)PIM_AXIS_CHANNEL
                        : behind == 1 ? (uint8_t)PIM_AXIS_COLUMN
                                      : (uint8_t)PIM_AXIS_ROW;
    }
}

/* `shape` is that of the result; the view's dimensions may be smaller. */
static void choose_axes(enum pim_axes_layout layout, const struct pim_core_view *view,
                        const struct pim_shape *before, const struct pim_shape *shape,
                        struct pim_layout_axes *axes)
{
    if (layout == PIM_LAYOUT_ANY && pim_move_axes_of(view, before, axes) && is_grouped(axes, shape))
        return;
    struct pim_core_strides strides;
    pim_move_strides(view, &strides);
    bool last = strides.atoms && strides.atom[strides.atoms - 1].axis == PIM_AXIS_CHANNEL;
    axes_by(layout == PIM_LAYOUT_ANY && !last ? PIM_LAYOUT_MAP : layout, shape, axes);
}

/* The view of a tensor becomes a map of `shape`, which has its elements. */
static bool make_map(struct pim_lowering *l, uint32_t tensor, const struct pim_shape *shape,
                     const struct pim_layout_axes *axes)
{
    struct pim_core_view moved;
    const struct box box = {.view = &l->view[tensor], .shape = shape};
    if (!assemble(l, &box, 1, shape, axes, tensor, &moved))
        return false;
    moved.sole = l->readers[tensor] == 1;
    l->view[tensor] = moved;
    return true;
}

bool pim_move_remake_as(struct pim_lowering *l, uint32_t tensor, const struct pim_layout_axes *axes)
{
    const struct pim_shape *shape = &l->graph->layers[tensor].output;
    return is_grouped(axes, shape) ? make_map(l, tensor, shape, axes) : pim_lowering_fail(l, "%s", CUTS);
}

/* The tensor cuts through the strides of its view: a map whose dimensions are the strides. */
static bool remake_by_strides(struct pim_lowering *l, uint32_t tensor)
{
    struct pim_core_strides strides;
    struct pim_layout_axes axes = {.axis = {0}};
    pim_move_strides(&l->view[tensor], &strides);
    struct pim_shape shape = {.rank = strides.atoms};
    if (shape.rank > PIM_SHAPE_RANK)
        return pim_lowering_fail(l, "%s", CUTS);
    for (uint32_t d = 0; d < shape.rank; d++) {
        shape.dimension[d] = strides.atom[d].extent;
        axes.axis[d] = strides.atom[d].axis;
    }
    if (!is_grouped(&axes, &shape))
        axes_by(PIM_LAYOUT_LAST, &shape, &axes);
    return make_map(l, tensor, &shape, &axes);
}

bool pim_move_remake(struct pim_lowering *l, uint32_t tensor, enum pim_axes_layout layout)
{
    struct pim_layout_axes axes = {.axis = {0}};
    const struct pim_shape *shape = &l->graph->layers[tensor].output;
    struct pim_core_strides strides;
    uint32_t first[PIM_SHAPE_RANK + 1] = {0};
    if (!pim_move_split(&l->view[tensor], shape, &strides, first)) {
        if (!l->view[tensor].strided || !remake_by_strides(l, tensor))
            return pim_lowering_fail(l, "%s", CUTS);
        if (layout == PIM_LAYOUT_ANY)
            return true;
    }
    choose_axes(layout, &l->view[tensor], shape, shape, &axes);
    return pim_move_remake_as(l, tensor, &axes);
}

bool pim_move_settle(struct pim_lowering *l, uint32_t tensor, enum pim_axes_layout layout)
{
    return !l->view[tensor].strided || pim_move_remake(l, tensor, layout);
}

/* --- operators --- */

/* The view of input 0 with its elements as those of a tensor of `apart`, whose dimensions go into `order`. */
static void reorder(struct pim_lowering *l, const struct pim_shape *apart, const uint32_t *order)
{
    const struct pim_core_view *view = pim_input_view(l, 0);
    struct pim_core_strides strides, result;
    uint32_t first[PIM_SHAPE_RANK + 1] = {0};
    for (bool remade = false; !pim_move_split(view, apart, &strides, first); remade = true)
        if (remade || !view->strided || !pim_move_remake(l, l->layer->input[0], PIM_LAYOUT_ANY)) {
            pim_lowering_fail(l, "%s", CUTS);
            return;
        }
    result = strides;
    result.atoms = 0;
    for (uint32_t d = 0; d < apart->rank; d++)
        for (uint32_t i = first[order[d]]; i < first[order[d] + 1]; i++)
            result.atom[result.atoms++] = strides.atom[i];
    (void)pim_move_view(l, view, &result, &l->view[l->index]);
}

/* The strides of input 0, in which the dimensions of `whole` are one step each; by a move, if it must be. */
static bool cut_input(struct pim_lowering *l, unsigned whole, struct pim_core_strides *strides,
                      uint32_t first[PIM_SHAPE_RANK + 1])
{
    uint32_t tensor = l->layer->input[0];
    for (int tries = 0;; tries++) {
        bool cut = pim_move_split(&l->view[tensor], pim_input_shape(l, 0), strides, first);
        for (uint32_t d = 0; d < pim_input_shape(l, 0)->rank && cut; d++)
            cut = !(whole >> d & 1) || first[d + 1] - first[d] <= 1;
        if (cut)
            return true;
        if (tries || !pim_move_remake(l, tensor, PIM_LAYOUT_ANY))
            return pim_lowering_fail(l, "%s", CUTS);
    }
}

static void move_slice(struct pim_lowering *l)
{
    const struct pim_layer *layer = l->layer;
    uint32_t axis = layer->attributes.slice.axis, count = layer->attributes.slice.count;
    int64_t step = layer->attributes.slice.step ? layer->attributes.slice.step : 1;
    int64_t begin = layer->attributes.slice.begin;
    struct pim_core_strides strides;
    uint32_t first[PIM_SHAPE_RANK + 1] = {0};
    if (!cut_input(l, 1u << axis, &strides, first))
        return;
    uint32_t at = first[axis];
    if (at < first[axis + 1]) {
        struct pim_core_atom *atom = &strides.atom[at];
        int64_t start = layer->attributes.slice.reversed ? begin + (count - 1) * step : begin;
        strides.origin[atom->axis] += (int32_t)(start * atom->stride);
        atom->extent = count;
        atom->stride = (int32_t)((layer->attributes.slice.reversed ? -step : step) * atom->stride);
        if (count == 1) {
            memmove(atom, atom + 1, (strides.atoms - at - 1) * sizeof *atom);
            strides.atoms--;
        }
    }
    (void)pim_move_view(l, &l->view[layer->input[0]], &strides, &l->view[l->index]);
}

static void move_pad(struct pim_lowering *l)
{
    struct box box = {.view = pim_input_view(l, 0), .shape = pim_input_shape(l, 0)};
    struct pim_layout_axes axes = {.axis = {0}};
    for (uint32_t d = 0; d < box.shape->rank; d++)
        box.at[d] = l->layer->attributes.pad.before[d];
    choose_axes(PIM_LAYOUT_ANY, box.view, box.shape, &l->layer->output, &axes);
    (void)assemble(l, &box, 1, &l->layer->output, &axes, l->index, &l->view[l->index]);
}

/* Two tensors at a time: the first ones of several together are no tensor of the graph. */
static void move_concatenate(struct pim_lowering *l)
{
    uint32_t axis = l->layer->attributes.concat.axis;
    struct pim_core_view sum = l->view[l->layer->input[0]];
    struct pim_shape shape = *pim_input_shape(l, 0);
    for (uint32_t i = 1; i < l->layer->inputs; i++) {
        struct pim_shape together = shape;
        struct pim_layout_axes axes = {.axis = {0}};
        together.dimension[axis] += pim_input_shape(l, i)->dimension[axis];
        struct box box[2] = {{.view = &sum, .shape = &shape},
                             {.view = pim_input_view(l, i), .shape = pim_input_shape(l, i)}};
        box[1].at[axis] = shape.dimension[axis];
        /* the larger one says which dimensions are channels */
        const struct box *large = &box[pim_shape_elements(box[1].shape) > pim_shape_elements(box[0].shape)];
        choose_axes(PIM_LAYOUT_ANY, large->view, large->shape, &together, &axes);
        struct pim_core_view made;
        if (!assemble(l, box, 2, &together, &axes, i + 1 == l->layer->inputs ? l->index : PIM_NONE, &made))
            return;
        sum = made;
        shape = together;
    }
    l->view[l->index] = sum;
}

/* Element (y, x) goes to row y + rows, column x + columns, from the last around to the first. */
static void move_shift(struct pim_lowering *l)
{
    const struct pim_shape *shape = pim_input_shape(l, 0);
    struct pim_core_view whole;
    int64_t by[2] = {l->layer->attributes.shift.rows, l->layer->attributes.shift.columns};
    struct pim_core_view part[4];
    struct pim_shape size[4];
    struct box box[4];
    uint32_t boxes = 0, first[PIM_SHAPE_RANK + 1] = {0};
    struct pim_core_strides strides;
    struct pim_layout_axes axes = {.axis = {0}};
    if (!cut_input(l, 1u << 1 | 1u << 2, &strides, first))
        return;
    whole = l->view[l->layer->input[0]];
    for (int axis = 0; axis < 2; axis++)
        by[axis] =
            (by[axis] % shape->dimension[axis + 1] + shape->dimension[axis + 1]) % shape->dimension[axis + 1];
    for (unsigned corner = 0; corner < 4; corner++) {
        struct pim_core_strides cut = strides;
        size[boxes] = *shape;
        box[boxes] = (struct box){.view = &part[boxes], .shape = &size[boxes]};
        bool empty = false;
        for (int axis = 0; axis < 2; axis++) {
            bool around = corner >> axis & 1; /* what passes the end */
            uint32_t all = shape->dimension[axis + 1], over = (uint32_t)by[axis];
            uint32_t count = around ? over : all - over;
            empty |= count == 0;
            size[boxes].dimension[axis + 1] = count;
            box[boxes].at[axis + 1] = around ? 0 : over;
            if (first[axis + 1] == first[axis + 2])
                continue;
            struct pim_core_atom *atom = &cut.atom[first[axis + 1]];
            atom->extent = count;
            if (around)
                cut.origin[atom->axis] += (int32_t)(all - over) * atom->stride;
        }
        if (empty)
            continue;
        for (uint32_t i = cut.atoms; i-- > 0;)
            if (cut.atom[i].extent == 1)
                memmove(&cut.atom[i], &cut.atom[i + 1], (--cut.atoms - i) * sizeof *cut.atom);
        if (!pim_move_view(l, &whole, &cut, &part[boxes]))
            return;
        boxes++;
    }
    choose_axes(PIM_LAYOUT_ANY, &whole, shape, shape, &axes);
    (void)assemble(l, box, boxes, shape, &axes, l->index, &l->view[l->index]);
}

/* Every dimension of a view is repeated: one of 1 as it is, another one element by element (the nearest one,
 * of a map that gets larger). */
bool pim_move_expand(struct pim_lowering *l, const struct pim_core_view *view, const struct pim_shape *from,
                     const struct pim_shape *to, struct pim_core_view *expanded)
{
    struct pim_core_strides strides, result;
    uint32_t first[PIM_SHAPE_RANK + 1] = {0}, more = to->rank - from->rank;
    bool good = pim_move_split(view, from, &strides, first);
    result = strides;
    result.atoms = 0;
    for (uint32_t d = 0; d < to->rank && good; d++) {
        uint32_t size = d < more ? 1 : from->dimension[d - more];
        for (uint32_t i = d < more ? 0 : first[d - more]; d >= more && i < first[d - more + 1]; i++)
            good = good && pim_strides_put(&result, strides.atom[i].axis, strides.atom[i].extent,
                                           strides.atom[i].stride);
        if (to->dimension[d] % size != 0)
            return pim_lowering_fail(l,
                                     "it makes %" PRIu32 " positions of %" PRIu32
                                     ": cores repeat each element the same number of times (nearest)",
                                     to->dimension[d], size);
        good = good && pim_strides_put(&result, PIM_AXIS_COLUMN, to->dimension[d] / size, 0);
    }
    if (!good)
        return pim_lowering_fail(l, "%s", CUTS);
    return pim_move_view(l, view, &result, expanded);
}

static void move_expand(struct pim_lowering *l)
{
    (void)pim_move_expand(l, pim_input_view(l, 0), pim_input_shape(l, 0), &l->layer->output,
                          &l->view[l->index]);
}

bool pim_move_broadcast(struct pim_lowering *l, uint32_t tensor, const struct pim_shape *shape,
                        const struct pim_layout_axes *axes, struct pim_core_view *result)
{
    struct pim_core_view wide;
    const struct box box = {.view = &wide, .shape = shape};
    if (!is_grouped(axes, shape))
        return pim_lowering_fail(l, "%s", CUTS);
    return pim_move_expand(l, &l->view[tensor], &l->graph->layers[tensor].output, shape, &wide) &&
           assemble(l, &box, 1, shape, axes, PIM_NONE, result);
}

/* --- windows of token maps --- */

static void move_windows(struct pim_lowering *l)
{
    static const uint32_t order[] = {0, 1, 3, 2, 4, 5};
    const struct pim_layer *layer = l->layer;
    const struct pim_shape *in = pim_input_shape(l, 0);
    struct pim_shape apart = {.rank = 6};
    uint32_t *d = apart.dimension;
    if (layer->operation == PIM_OPERATOR_WINDOW_REVERSE) {
        uint32_t height = layer->attributes.window.height, width = layer->attributes.window.width;
        d[1] = layer->attributes.window.map_height / height;
        d[2] = layer->attributes.window.map_width / width;
        d[0] = in->dimension[0] / (d[1] * d[2]);
        d[3] = height;
        d[4] = width;
        d[5] = in->dimension[2];
    } else {
        bool merging = layer->operation == PIM_OPERATOR_PATCH_MERGING;
        uint32_t height = merging ? layer->attributes.merging.factor : layer->attributes.window.height;
        uint32_t width = merging ? height : layer->attributes.window.width;
        if (in->dimension[1] % height != 0 || in->dimension[2] % width != 0) {
            pim_lowering_fail(l, "windows of %" PRIu32 "x%" PRIu32 " do not divide its map", height, width);
            return;
        }
        d[0] = in->dimension[0];
        d[1] = in->dimension[1] / height;
        d[2] = height;
        d[3] = in->dimension[2] / width;
        d[4] = width;
        d[5] = in->dimension[3];
    }
    reorder(l, &apart, order);
}

static void move_transpose(struct pim_lowering *l)
{
    reorder(l, pim_input_shape(l, 0), l->layer->attributes.transpose.order);
}

bool pim_lower_moves(struct pim_lowering *l)
{
    static const struct {
        unsigned operation;
        void (*lower)(struct pim_lowering *l);
    } operators[] = {
        {PIM_OPERATOR_TRANSPOSE, move_transpose},
        {PIM_OPERATOR_SLICE, move_slice},
        {PIM_OPERATOR_PAD, move_pad},
        {PIM_OPERATOR_CONCAT, move_concatenate},
        {PIM_OPERATOR_SHIFT, move_shift},
        {PIM_OPERATOR_EXPAND, move_expand},
        {PIM_OPERATOR_WINDOW_PARTITION, move_windows},
        {PIM_OPERATOR_WINDOW_REVERSE, move_windows},
        {PIM_OPERATOR_PATCH_MERGING, move_windows},
    };
    for (size_t i = 0; i < sizeof operators / sizeof *operators; i++)
        if (operators[i].operation == (unsigned)l->layer->operation) {
            operators[i].lower(l);
            return true;
        }
    return false;
}

struct pim_core_layer *pim_move_into(struct pim_lowering *l, const struct pim_core_view *view,
                                     const struct pim_shape *shape, const struct pim_layout_axes *axes,
                                     const uint64_t stride[PIM_SHAPE_RANK], uint32_t channels,
                                     uint32_t pixels)
{
    const struct box box = {.view = view, .shape = shape};
    struct pim_core_layer *layer = pim_lowering_add(l, PIM_CORE_MOVE, channels, 1, pixels);
    struct pim_core_move *move = PIM_ARENA_NEW(l->arena, struct pim_core_move);
    layer->graph_layer = PIM_NONE;
    layer->sources = 1;
    layer->source[0] = pim_view_source(view);
    layer->moves = 1;
    layer->move = move;
    return make_move(l, &box, axes, stride, 0, move) ? layer : NULL;
}
