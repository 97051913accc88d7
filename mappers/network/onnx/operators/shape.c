/* Operators that move elements: reshaping, transposing, cutting, joining, repeating. */
#include "mappers/network/onnx/operators/operators.h"
#include "onnx.pb-c.h"

#include <inttypes.h>
#include <string.h>

/* --- new shapes --- */

static struct pim_shape reshaped(struct pim_onnx_importer *i, const struct pim_shape *from)
{
    int64_t list[PIM_SHAPE_RANK];
    struct pim_shape shape = {.rank = pim_onnx_list(i, "shape", 1, list, PIM_SHAPE_RANK, NULL)};
    bool zero = pim_onnx_integer(i, "allowzero", 0) != 0;
    uint32_t open = PIM_NONE;
    uint64_t product = 1, elements = pim_onnx_elements(from);
    for (uint32_t d = 0; d < shape.rank; d++) {
        if (list[d] == -1) {
            if (open != PIM_NONE)
                pim_onnx_fail(i, "its shape has more than one -1");
            open = d;
            continue;
        }
        if (list[d] == 0 && !zero && d >= from->rank)
            pim_onnx_fail(i, "its shape copies dimension %u, which the input does not have", d);
        shape.dimension[d] = list[d] == 0 && !zero && d < from->rank
                                 ? from->dimension[d]
                                 : pim_onnx_size(i, "a dimension of the new shape", list[d], 0);
        product *= shape.dimension[d];
        if (product > PIM_ELEMENT_LIMIT)
            pim_onnx_fail(i, "its shape has more than %" PRIu64 " elements", PIM_ELEMENT_LIMIT);
        if (i->status != PIM_OK)
            return (struct pim_shape){0};
    }
    if (open != PIM_NONE && product > 0 && elements % product == 0) {
        shape.dimension[open] =
            pim_onnx_size(i, "a dimension of the new shape", (int64_t)(elements / product), 0);
        product *= shape.dimension[open];
    }
    if (product != elements || (open != PIM_NONE && product == 0)) {
        char text[96];
        pim_onnx_fail(i, "%s has %" PRIu64 " elements: its new shape does not fit them",
                      pim_shape_text(from, text, sizeof text), elements);
    }
    return shape;
}

static struct pim_shape flattened(struct pim_onnx_importer *i, const struct pim_shape *from)
{
    int64_t axis = pim_onnx_integer(i, "axis", 1);
    axis += axis < 0 ? from->rank : 0;
    if (axis < 0 || axis > (int64_t)from->rank)
        pim_onnx_fail(i, "axis %" PRId64 " does not exist: the tensor has %u dimensions", axis, from->rank);
    uint64_t size[2] = {1, 1};
    for (uint32_t d = 0; d < from->rank; d++)
        size[d < (uint32_t)axis ? 0 : 1] *= from->dimension[d];
    return (struct pim_shape){
        .rank = 2,
        .dimension = {pim_onnx_size(i, "a dimension of the result", (int64_t)size[0], 0),
                      pim_onnx_size(i, "a dimension of the result", (int64_t)size[1], 0)}};
}

static struct pim_shape squeezed(struct pim_onnx_importer *i, const struct pim_shape *from)
{
    int64_t axes[PIM_SHAPE_RANK];
    bool given;
    uint32_t count = pim_onnx_list(i, "axes", 1, axes, PIM_SHAPE_RANK, &given), gone = 0;
    for (uint32_t a = 0; a < count; a++)
        gone |= 1u << pim_onnx_axis(i, axes[a], from->rank);
    struct pim_shape shape = {.rank = 0};
    for (uint32_t d = 0; d < from->rank; d++) {
        bool named = (gone >> d & 1) != 0;
        if (named && from->dimension[d] != 1)
            pim_onnx_fail(i, "dimension %u is %u: only those of 1 can be taken away", d, from->dimension[d]);
        if (!(given ? named : from->dimension[d] == 1))
            shape.dimension[shape.rank++] = from->dimension[d];
    }
    return shape;
}

static struct pim_shape unsqueezed(struct pim_onnx_importer *i, const struct pim_shape *from)
{
    int64_t axes[PIM_SHAPE_RANK];
    uint32_t count = pim_onnx_list(i, "axes", 1, axes, PIM_SHAPE_RANK, NULL), added = 0, next = 0;
    struct pim_shape shape = {.rank = from->rank + count};
    if (shape.rank > PIM_SHAPE_RANK) {
        pim_onnx_fail(i, "the result has more than %d dimensions", PIM_SHAPE_RANK);
        return *from;
    }
    for (uint32_t a = 0; a < count; a++) {
        uint32_t bit = 1u << pim_onnx_axis(i, axes[a], shape.rank);
        if (added & bit)
            pim_onnx_fail(i, "axes names a dimension twice");
        added |= bit;
    }
    for (uint32_t d = 0; d < shape.rank && i->status == PIM_OK; d++)
        shape.dimension[d] = added >> d & 1 ? 1 : from->dimension[next++];
    return shape;
}

struct pim_shape pim_onnx_new_shape(struct pim_onnx_importer *i, const struct pim_shape *from)
{
    const char *operation = i->node->op_type;
    return strcmp(operation, "Reshape") == 0   ? reshaped(i, from)
           : strcmp(operation, "Flatten") == 0 ? flattened(i, from)
           : strcmp(operation, "Squeeze") == 0 ? squeezed(i, from)
                                               : unsqueezed(i, from);
}

void pim_onnx_convert_reshape(struct pim_onnx_importer *i, unsigned unused)
{
    (void)unused;
    struct pim_onnx_value *input = pim_onnx_input(i, 0);
    struct pim_shape shape = pim_onnx_new_shape(i, &input->shape);
    pim_onnx_bind_layer(i, 0, pim_onnx_reshape(i, "", pim_onnx_layer_of(i, input), &shape));
}

void pim_onnx_convert_transpose(struct pim_onnx_importer *i, unsigned unused)
{
    (void)unused;
    struct pim_onnx_value *input = pim_onnx_input(i, 0);
    int64_t list[PIM_SHAPE_RANK];
    uint32_t order[PIM_SHAPE_RANK] = {0}, rank = input->shape.rank;
    bool given;
    uint32_t count = pim_onnx_list(i, "perm", SIZE_MAX, list, PIM_SHAPE_RANK, &given);
    if (given && count != rank)
        pim_onnx_fail(i, "perm has %u entries: the tensor has %u dimensions", count, rank);
    for (uint32_t d = 0; d < rank && i->status == PIM_OK; d++)
        order[d] = given ? pim_onnx_axis(i, list[d], rank) : rank - 1 - d;
    pim_onnx_bind_layer(i, 0, pim_onnx_transpose(i, "", pim_onnx_layer_of(i, input), order));
}

/* --- slices --- */

/* Start and end as the format clamps them, then how many positions `step` leaves. */
static void take_slice(struct pim_onnx_slices *s, uint32_t d, int64_t size, int64_t start, int64_t end,
                       int64_t step)
{
    int64_t low = step < 0 ? -1 : 0, high = step < 0 ? size - 1 : size;
    start += start < 0 && start >= -size ? size : start < 0 ? -start - (step < 0 ? 1 : 0) : 0;
    start = start > high ? high : start;
    if (end < 0)
        end = end >= -size ? end + size : low;
    end = end > size ? size : end;
    int64_t distance = step < 0 ? start - end : end - start, stride = step < 0 ? -step : step;
    s->begin[d] = start < 0 ? 0 : start;
    s->step[d] = step;
    s->count[d] = distance > 0 ? (uint32_t)((distance - 1) / stride + 1) : 0;
}

void pim_onnx_read_slices(struct pim_onnx_importer *i, const struct pim_shape *shape,
                          struct pim_onnx_slices *slices)
{
    int64_t starts[PIM_SHAPE_RANK], ends[PIM_SHAPE_RANK], axes[PIM_SHAPE_RANK], steps[PIM_SHAPE_RANK];
    bool axes_given, steps_given;
    uint32_t count = pim_onnx_list(i, "starts", 1, starts, PIM_SHAPE_RANK, NULL);
    uint32_t end_count = pim_onnx_list(i, "ends", 2, ends, PIM_SHAPE_RANK, NULL);
    uint32_t axis_count = pim_onnx_list(i, "axes", 3, axes, PIM_SHAPE_RANK, &axes_given);
    uint32_t step_count = pim_onnx_list(i, "steps", 4, steps, PIM_SHAPE_RANK, &steps_given);
    for (uint32_t d = 0; d < PIM_SHAPE_RANK; d++) {
        slices->begin[d] = 0;
        slices->step[d] = 1;
        slices->count[d] = d < shape->rank ? shape->dimension[d] : 1;
    }
    if (end_count != count || (axes_given && axis_count != count) || (steps_given && step_count != count))
        pim_onnx_fail(i, "starts, ends, axes and steps differ in length");
    for (uint32_t a = 0; a < count && i->status == PIM_OK; a++) {
        uint32_t d = pim_onnx_axis(i, axes_given ? axes[a] : (int64_t)a, shape->rank);
        int64_t step = steps_given ? steps[a] : 1;
        if (step == 0 || step == INT64_MIN)
            pim_onnx_fail(i, "the step of dimension %u is %" PRId64, d, step);
        if (i->status == PIM_OK)
            take_slice(slices, d, shape->dimension[d], starts[a], ends[a], step);
    }
}

/* One SLICE layer for positions begin, begin + step, .. of one dimension. */
static uint32_t slice_along(struct pim_onnx_importer *i, const char *suffix, uint32_t layer, uint32_t axis,
                            int64_t begin, uint32_t count, int64_t step)
{
    uint64_t stride = step < 0 ? (uint64_t)-step : (uint64_t)step;
    if (count <= 1) /* any step will do */
        stride = 1, step = 1;
    if (i->status != PIM_OK)
        return layer;
    uint64_t lowest = step < 0 ? (uint64_t)begin - (count - 1) * stride : (uint64_t)begin;
    const union pim_attributes a = {.slice = {.axis = axis,
                                              .begin = (uint32_t)lowest,
                                              .count = count,
                                              .step = (uint32_t)stride,
                                              .reversed = step < 0}};
    return pim_onnx_add(i, PIM_OPERATOR_SLICE, suffix, &a, 1, &layer);
}

void pim_onnx_convert_slice(struct pim_onnx_importer *i, unsigned unused)
{
    (void)unused;
    struct pim_onnx_value *input = pim_onnx_input(i, 0);
    struct pim_onnx_slices slices;
    struct pim_shape shape = input->shape;
    pim_onnx_read_slices(i, &shape, &slices);
    uint32_t layer = pim_onnx_layer_of(i, input);
    for (uint32_t d = 0; d < shape.rank && i->status == PIM_OK; d++) {
        if (slices.count[d] == 0)
            pim_onnx_fail(i, "nothing is left of dimension %u, which has %u positions", d,
                          shape.dimension[d]);
        else if (slices.count[d] != shape.dimension[d] || slices.step[d] < 0)
            layer = slice_along(i, "", layer, d, slices.begin[d], slices.count[d], slices.step[d]);
    }
    pim_onnx_bind_layer(i, 0, layer);
}

void pim_onnx_convert_split(struct pim_onnx_importer *i, unsigned unused)
{
    (void)unused;
    struct pim_onnx_value *input = pim_onnx_input(i, 0);
    uint32_t axis = pim_onnx_axis(i, pim_onnx_integer(i, "axis", 0), input->shape.rank);
    uint32_t size = input->shape.rank ? input->shape.dimension[axis] : 0, parts = (uint32_t)i->node->n_output;
    int64_t list[256];
    bool given;
    uint32_t count = pim_onnx_list(i, "split", 1, list, 256, &given);
    if (i->status == PIM_OK && (parts == 0 || parts > 256 || (given && count != parts)))
        pim_onnx_fail(i, "it has %u outputs and %u sizes: 1 to 256, equally many, are needed", parts, count);
    if (parts == 0 || i->status != PIM_OK)
        return;
    uint32_t layer = pim_onnx_layer_of(i, input), even = (size + parts - 1) / parts;
    int64_t begin = 0;
    for (uint32_t p = 0; p < parts && i->status == PIM_OK; p++) {
        int64_t part = given                           ? list[p]
                       : begin + even <= (int64_t)size ? (int64_t)even
                                                       : (int64_t)size - begin;
        if (part < 1 || part > (int64_t)size - begin) {
            pim_onnx_fail(i, "part %u has %" PRId64 " of the %u positions", p, part, size);
            return;
        }
        const char *name = i->node->output[p];
        uint32_t value = name[0] ? pim_onnx_names_find(&i->value_names, name) : PIM_NONE;
        if (value != PIM_NONE && i->value[value].readers > 0) {
            char suffix[16] = "part";
            suffix[4] = (char)('0' + p / 100);
            suffix[5] = (char)('0' + p / 10 % 10);
            suffix[6] = (char)('0' + p % 10);
            pim_onnx_bind_layer(i, p, slice_along(i, suffix, layer, axis, begin, (uint32_t)part, 1));
        }
        begin += part;
    }
    if (begin != (int64_t)size)
        pim_onnx_fail(i, "its parts have %" PRId64 " of the %u positions", begin, size);
}

/* --- picking and joining --- */

void pim_onnx_convert_gather(struct pim_onnx_importer *i, unsigned unused)
{
    (void)unused;
    struct pim_onnx_value *data = pim_onnx_input(i, 0), *index = pim_onnx_input(i, 1);
    struct pim_shape shape = data->shape;
    uint32_t axis = pim_onnx_axis(i, pim_onnx_integer(i, "axis", 0), shape.rank);
    uint32_t layers[2] = {pim_onnx_layer_of(i, data), 0};
    double number;
    if (i->status != PIM_OK)
        return;
    if (index->kind == PIM_ONNX_CONSTANT && index->shape.rank == 0 && pim_onnx_scalar(index, &number)) {
        /* One position, and its dimension goes: a slice. */
        int64_t at = index->integers ? index->integers[0] : -1;
        at += at < 0 ? shape.dimension[axis] : 0;
        if (at < 0 || at >= (int64_t)shape.dimension[axis]) {
            pim_onnx_fail(i, "index %" PRId64 " does not exist: there are %u positions", at,
                          shape.dimension[axis]);
            return;
        }
        struct pim_shape left = {.rank = 0};
        for (uint32_t d = 0; d < shape.rank; d++)
            if (d != axis)
                left.dimension[left.rank++] = shape.dimension[d];
        uint32_t layer = slice_along(i, "", layers[0], axis, at, 1, 1);
        pim_onnx_bind_layer(i, 0, pim_onnx_reshape(i, "drop", layer, &left));
        return;
    }
    const union pim_attributes a = {.gather_along = {.axis = axis, .indices = index->shape}};
    bool activation = index->kind == PIM_ONNX_ACTIVATION;
    if (activation)
        layers[1] = pim_onnx_layer_of(i, index);
    pim_onnx_bind_layer(i, 0, pim_onnx_add(i, PIM_OPERATOR_GATHER, "", &a, activation ? 2 : 1, layers));
}

void pim_onnx_convert_pad(struct pim_onnx_importer *i, unsigned unused)
{
    (void)unused;
    struct pim_onnx_value *input = pim_onnx_input(i, 0);
    uint32_t rank = input->shape.rank, layer = pim_onnx_layer_of(i, input);
    int64_t pads[2 * PIM_SHAPE_RANK], axes[PIM_SHAPE_RANK];
    bool some;
    uint32_t count = pim_onnx_list(i, "pads", 1, pads, 2 * PIM_SHAPE_RANK, NULL);
    uint32_t axis_count = pim_onnx_list(i, NULL, 3, axes, PIM_SHAPE_RANK, &some),
             padded = some ? axis_count : rank;
    union pim_attributes a = {.pad = {.before = {0}}};
    if (count != 2 * padded)
        pim_onnx_fail(i, "pads has %u entries: %u are needed", count, 2 * padded);
    bool any = false;
    for (uint32_t p = 0; p < padded && i->status == PIM_OK; p++) {
        uint32_t d = pim_onnx_axis(i, some ? axes[p] : (int64_t)p, rank);
        int64_t before = pads[p], after = pads[padded + p], size = input->shape.dimension[d];
        if (before < 0 || after < 0) { /* negative: cut */
            int64_t cut = before < 0 ? before < -size ? size : -before : 0;
            int64_t tail = after < 0 ? after < -size ? size : -after : 0;
            if (cut + tail >= size) {
                pim_onnx_fail(i, "nothing is left of dimension %u", d);
                return;
            }
            layer = slice_along(i, "cut", layer, d, cut, (uint32_t)(size - cut - tail), 1);
        }
        a.pad.before[d] = before > 0 ? pim_onnx_size(i, "pads", before, 0) : 0;
        a.pad.after[d] = after > 0 ? pim_onnx_size(i, "pads", after, 0) : 0;
        any |= before > 0 || after > 0;
    }
    if (any)
        layer = pim_onnx_add(i, PIM_OPERATOR_PAD, "", &a, 1, &layer);
    pim_onnx_bind_layer(i, 0, layer);
}

/* --- repeating --- */

void pim_onnx_convert_expand(struct pim_onnx_importer *i, unsigned unused)
{
    (void)unused;
    struct pim_onnx_value *input = pim_onnx_input(i, 0);
    int64_t list[PIM_SHAPE_RANK];
    uint32_t count = pim_onnx_list(i, NULL, 1, list, PIM_SHAPE_RANK, NULL), rank = input->shape.rank;
    bool tile = strcmp(i->node->op_type, "Tile") == 0;
    struct pim_shape shape = {.rank = count > rank ? count : rank};
    for (uint32_t d = 0; d < shape.rank && i->status == PIM_OK; d++) { /* counted from the end */
        int64_t own = d < rank ? input->shape.dimension[rank - 1 - d] : 1,
                other = d < count ? list[count - 1 - d] : 1;
        int64_t size = tile && other <= (int64_t)PIM_DIMENSION_LIMIT ? own * other : own == 1 ? other : own;
        if (!tile && own != other && own != 1 && other != 1)
            pim_onnx_fail(i, "a dimension of %" PRId64 " cannot be expanded to %" PRId64, own, other);
        shape.dimension[shape.rank - 1 - d] = pim_onnx_size(i, "a dimension of the result", size, 1);
    }
    uint32_t layer = pim_onnx_layer_of(i, input);
    const union pim_attributes a = {.shape = shape};
    if (!pim_shape_equal(&shape, &input->shape))
        layer = pim_onnx_add(i, PIM_OPERATOR_EXPAND, "", &a, 1, &layer);
    pim_onnx_bind_layer(i, 0, layer);
}

/* --- blocks of pixels and channels: reshape, transpose, reshape --- */

static void rearrange(struct pim_onnx_importer *i, const struct pim_shape *apart, const uint32_t *order,
                      const struct pim_shape *together)
{
    uint32_t layer = pim_onnx_reshape(i, "apart", pim_onnx_layer_of(i, pim_onnx_input(i, 0)), apart);
    layer = pim_onnx_transpose(i, "", layer, order);
    pim_onnx_bind_layer(i, 0, pim_onnx_reshape(i, "together", layer, together));
}

void pim_onnx_convert_depth_to_space(struct pim_onnx_importer *i, unsigned unused)
{
    (void)unused;
    static const uint32_t by_depth[6] = {0, 3, 4, 1, 5, 2}, by_channel[6] = {0, 1, 4, 2, 5, 3};
    const struct pim_shape s = pim_onnx_input(i, 0)->shape;
    int64_t block = pim_onnx_integer(i, "blocksize", 0);
    if (i->status == PIM_OK &&
        (s.rank != 4 || block < 1 || block > 65535 || s.dimension[1] % (block * block) != 0))
        pim_onnx_fail(i, "a map whose channels are a multiple of blocksize^2 is needed");
    if (i->status != PIM_OK)
        return;
    uint32_t b = (uint32_t)block, c = s.dimension[1] / b / b, h = s.dimension[2], w = s.dimension[3];
    bool column = pim_onnx_text_is(i, "mode", "CRD");
    struct pim_shape apart = {.rank = 6, .dimension = {s.dimension[0], b, b, c, h, w}};
    if (column)
        apart = (struct pim_shape){.rank = 6, .dimension = {s.dimension[0], c, b, b, h, w}};
    const struct pim_shape together = {.rank = 4,
                                       .dimension = {s.dimension[0], c,
                                                     pim_onnx_size(i, "the height", (int64_t)h * b, 1),
                                                     pim_onnx_size(i, "the width", (int64_t)w * b, 1)}};
    rearrange(i, &apart, column ? by_channel : by_depth, &together);
}

void pim_onnx_convert_space_to_depth(struct pim_onnx_importer *i, unsigned unused)
{
    (void)unused;
    static const uint32_t order[6] = {0, 3, 5, 1, 2, 4};
    const struct pim_shape s = pim_onnx_input(i, 0)->shape;
    int64_t block = pim_onnx_integer(i, "blocksize", 0);
    if (i->status == PIM_OK && (s.rank != 4 || block < 1 || block > 65535 || s.dimension[2] % block != 0 ||
                                s.dimension[3] % block != 0))
        pim_onnx_fail(i, "a map whose height and width are multiples of blocksize is needed");
    if (i->status != PIM_OK)
        return;
    uint32_t b = (uint32_t)block, h = s.dimension[2] / b, w = s.dimension[3] / b;
    const struct pim_shape apart = {.rank = 6, .dimension = {s.dimension[0], s.dimension[1], h, b, w, b}};
    const struct pim_shape together = {
        .rank = 4,
        .dimension = {s.dimension[0], pim_onnx_size(i, "the channels", (int64_t)s.dimension[1] * b * b, 1), h,
                      w}};
    rearrange(i, &apart, order, &together);
}
