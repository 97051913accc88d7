/*
 * Products of two activations: matrix multiplication, attention. Crossbars hold weights alone, so they are
 * PRODUCT layers on the vector units.
 *
 * The dimensions of an operand have roles. Its pixels are those of the branches, then PIXEL; its channels
 * those of the batches, then CHANNEL. An operand that does not lie so is copied by a MOVE layer first.
 */
#include "mappers/pimcomp/lowering/lowering.h"
#include "mappers/verify/value.h"
#include "traces/instruction.h"

#include <inttypes.h>

enum role { ROLE_BRANCH, ROLE_BATCH, ROLE_PIXEL, ROLE_CHANNEL };

struct operand {
    struct pim_core_view view;
    struct pim_shape shape;
    enum role role[PIM_SHAPE_RANK];
};

/* How far apart neighbours of each dimension have to lie, in channels or pixels. */
static void wanted_strides(const struct operand *o, uint64_t stride[PIM_SHAPE_RANK], uint64_t *channels,
                           uint64_t *pixels)
{
    *channels = *pixels = 1;
    for (int outer = 0; outer < 2; outer++)
        for (uint32_t d = o->shape.rank; d-- > 0;) {
            bool channel = o->role[d] == (outer ? ROLE_BATCH : ROLE_CHANNEL);
            if (!channel && o->role[d] != (outer ? ROLE_BRANCH : ROLE_PIXEL))
                continue;
            uint64_t *size = channel ? channels : pixels;
            stride[d] = *size;
            *size *= o->shape.dimension[d];
        }
}

static bool is_channel(enum role role)
{
    return role == ROLE_BATCH || role == ROLE_CHANNEL;
}

/* The operand lies as it has to. */
static bool lies_right(const struct operand *o, const uint64_t stride[PIM_SHAPE_RANK])
{
    struct pim_core_strides s;
    uint32_t first[PIM_SHAPE_RANK + 1] = {0};
    const uint32_t *extent = o->view.extent;
    if (!pim_move_split(&o->view, &o->shape, &s, first))
        return false;
    for (unsigned axis = 0; axis < PIM_AXES; axis++)
        if (s.origin[axis] != 0)
            return false;
    if (pim_shape_elements(&o->shape) != (uint64_t)extent[0] * extent[1] * extent[2])
        return false;
    for (uint32_t d = 0; d < o->shape.rank; d++) {
        int64_t expected = (int64_t)stride[d];
        for (uint32_t i = first[d + 1]; i-- > first[d]; expected *= s.atom[i].extent) {
            const struct pim_core_atom *atom = &s.atom[i];
            bool row = atom->axis == PIM_AXIS_ROW;
            int64_t step = row ? (int64_t)atom->stride * extent[PIM_AXIS_COLUMN] : atom->stride;
            if ((atom->axis == PIM_AXIS_CHANNEL) != is_channel(o->role[d]) || step != expected)
                return false;
        }
    }
    return true;
}

static bool source_of(struct pim_lowering *l, const struct operand *o, struct pim_core_source *source)
{
    uint64_t stride[PIM_SHAPE_RANK] = {0}, channels, pixels;
    wanted_strides(o, stride, &channels, &pixels);
    if (lies_right(o, stride)) {
        *source = pim_view_source(&o->view);
        return true;
    }
    struct pim_layout_axes axes = {.axis = {0}};
    for (uint32_t d = 0; d < o->shape.rank; d++)
        axes.axis[d] = is_channel(o->role[d]) ? PIM_AXIS_CHANNEL : PIM_AXIS_COLUMN;
    if (channels * pixels > INT32_MAX)
        return pim_lowering_fail(l, "one of its inputs is too large");
    struct pim_core_layer *layer =
        pim_move_into(l, &o->view, &o->shape, &axes, stride, (uint32_t)channels, (uint32_t)pixels);
    if (!layer)
        return false;
    const struct pim_core_view view = pim_view_of_layer(l, l->network->count - 1, NULL);
    *source = pim_view_source(&view);
    return true;
}

void pim_view_set_tensor(const struct pim_core_view *view, struct pim_core_layer *layer)
{
    struct pim_core_strides s;
    uint64_t inner = 1;
    uint32_t channels = 0;
    if (!view->strided) {
        pim_view_elements(view, layer->tensor_stride);
        return;
    }
    pim_move_strides(view, &s);
    layer->tensor_block = 0;
    for (uint32_t i = s.atoms; i-- > 0; inner *= s.atom[i].extent) {
        bool channel = s.atom[i].axis == PIM_AXIS_CHANNEL;
        if (channel && channels > 0) {
            layer->tensor_block = channels;
            layer->tensor_block_stride = inner;
            continue;
        }
        channels = channel ? s.atom[i].extent : channels;
        layer->tensor_stride[s.atom[i].axis] = inner;
    }
}

bool pim_view_is_blocked(const struct pim_lowering *l, const struct pim_core_view *view, uint32_t *channels)
{
    uint32_t seen[PIM_AXES] = {0};
    if (!view->strided || view->parts != 1 ||
        view->part->channels != l->network->layer[view->part->layer].channels)
        return false;
    const struct pim_core_strides *s = view->strided;
    for (uint32_t i = s->atoms; i-- > 0;) {
        const struct pim_core_atom *atom = &s->atom[i];
        bool first = seen[atom->axis]++ == 0;
        if (atom->axis != PIM_AXIS_CHANNEL ? !first || atom->stride != 1
                                           : atom->stride != (first ? 1 : (int32_t)*channels))
            return false;
        if (atom->axis == PIM_AXIS_CHANNEL && first)
            *channels = atom->extent;
    }
    uint64_t elements = 1;
    for (uint32_t i = 0; i < s->atoms; i++)
        elements *= s->atom[i].extent;
    bool whole = elements == (uint64_t)view->extent[0] * view->extent[1] * view->extent[2];
    return whole && seen[PIM_AXIS_CHANNEL] == 2 && s->atom[s->atoms - 1].axis == PIM_AXIS_CHANNEL &&
           s->origin[0] == 0 && s->origin[1] == 0 && s->origin[2] == 0;
}

struct pim_core_view pim_view_like(struct pim_lowering *l, const struct pim_core_view *view, uint32_t layer)
{
    struct pim_core_view like = pim_view_of_layer(l, layer, NULL);
    like.strided = view->strided;
    pim_view_set_tensor(&like, &l->network->layer[layer]);
    return like;
}

/* The view of a product: dimensions of `shape` with their roles. */
static void view_result(struct pim_lowering *l, const struct pim_shape *shape, const enum role *role)
{
    struct operand o = {.shape = *shape};
    uint64_t stride[PIM_SHAPE_RANK] = {0}, channels, pixels;
    for (uint32_t d = 0; d < shape->rank; d++)
        o.role[d] = role[d];
    wanted_strides(&o, stride, &channels, &pixels);
    struct pim_core_layer *layer = &l->network->layer[l->network->count - 1];
    const struct pim_core_view whole = pim_view_of_layer(l, l->network->count - 1, NULL);
    struct pim_core_strides s = {.atoms = 0};
    unsigned blocks = 0;
    for (uint32_t d = 0; d < shape->rank; d++) {
        if (shape->dimension[d] == 1)
            continue;
        struct pim_core_atom *atom = &s.atom[s.atoms++];
        *atom = (struct pim_core_atom){.extent = shape->dimension[d], .stride = (int32_t)stride[d]};
        atom->axis = is_channel(role[d])      ? PIM_AXIS_CHANNEL
                     : role[d] == ROLE_BRANCH ? PIM_AXIS_ROW
                                              : PIM_AXIS_COLUMN;
        if (role[d] == ROLE_BRANCH && layer->width)
            atom->stride /= (int32_t)layer->width;
        blocks += role[d] == ROLE_BATCH;
    }
    struct pim_core_view *view = &l->view[l->index];
    if (!pim_move_view(l, &whole, &s, view))
        return;
    view->sole = l->readers[l->index] == 1;
    pim_view_set_tensor(view, layer);
    if (view->strided && blocks > 1)
        layer->graph_layer = PIM_NONE; /* its channels are more than two dimensions of the tensor */
}

static uint32_t extent_of(const struct operand *o, enum role role)
{
    uint32_t extent = 1;
    for (uint32_t d = 0; d < o->shape.rank; d++)
        extent *= o->role[d] == role ? o->shape.dimension[d] : 1;
    return extent;
}

/* The layer; the result has `shape`, with roles. */
static void add_product(struct pim_lowering *l, const struct operand *a, const struct operand *b,
                        bool transposed, const struct pim_shape *shape, const enum role *role)
{
    struct pim_core_source source[2];
    struct pim_core_product product = {.branches = extent_of(a, ROLE_BRANCH),
                                       .batches = extent_of(a, ROLE_BATCH),
                                       .inner = extent_of(a, ROLE_CHANNEL),
                                       .columns = extent_of(b, transposed ? ROLE_PIXEL : ROLE_CHANNEL),
                                       .transposed = transposed};
    uint64_t channels = (uint64_t)product.batches * product.columns;
    if (!source_of(l, a, &source[0]) || !source_of(l, b, &source[1]))
        return;
    if (channels > INT32_MAX) {
        pim_lowering_fail(l, "its output is too large");
        return;
    }
    struct pim_core_layer *layer =
        pim_lowering_add(l, PIM_CORE_PRODUCT, (uint32_t)channels, product.branches, extent_of(a, ROLE_PIXEL));
    layer->sources = 2;
    layer->source[0] = source[0];
    layer->source[1] = source[1];
    layer->product = product;
    view_result(l, shape, role);
}

static struct operand operand_of(const struct pim_lowering *l, uint32_t input)
{
    return (struct operand){.view = l->view[l->layer->input[input]],
                            .shape = l->graph->layers[l->layer->input[input]].output};
}

/* [branches, tokens, heads x channels] as four dimensions. */
static void cut_heads(const struct pim_lowering *l, struct operand *o)
{
    uint32_t heads = l->layer->attributes.attention.heads;
    const struct pim_shape shape = o->shape;
    const enum role role[] = {ROLE_BRANCH, ROLE_PIXEL, ROLE_BATCH, ROLE_CHANNEL};
    o->shape = (struct pim_shape){
        .rank = 4, .dimension = {shape.dimension[0], shape.dimension[1], heads, shape.dimension[2] / heads}};
    for (int d = 0; d < 4; d++)
        o->role[d] = role[d];
}

static const enum role heads_first[] = {ROLE_BRANCH, ROLE_BATCH, ROLE_PIXEL, ROLE_CHANNEL};

static void lower_attention(struct pim_lowering *l)
{
    struct operand a = operand_of(l, 0), b = operand_of(l, 1);
    if (l->layer->operation == PIM_OPERATOR_ATTENTION_SCORES) {
        cut_heads(l, &a);
        cut_heads(l, &b);
        add_product(l, &a, &b, true, &l->layer->output, heads_first);
        if (l->status == PIM_OK && l->layer->attributes.attention.bias_parameters > 0) {
            struct pim_core_layer *layer = &l->network->layer[l->network->count - 1];
            layer->after[layer->afters++] = (struct pim_core_vector){
                PIM_LOCAL_FUNCTION, PIM_VALUE_FUNCTION_ELEMENTWISE + PIM_ELEMENTWISE_ADD};
        }
        return;
    }
    for (int d = 0; d < 4; d++)
        a.role[d] = heads_first[d];
    cut_heads(l, &b);
    struct operand result = {.shape = l->layer->output};
    cut_heads(l, &result);
    add_product(l, &a, &b, false, &result.shape, result.role);
}

/* The roles of an operand's dimensions: before the last two as `leading` says. */
static void set_roles(struct operand *o, const enum role *leading, enum role last_but_one, enum role last)
{
    for (uint32_t d = 0; d + 2 < o->shape.rank; d++)
        o->role[d] = leading[d];
    o->role[o->shape.rank - 2] = last_but_one;
    o->role[o->shape.rank - 1] = last;
}

/* Leading dimensions in which the operand is smaller than the result are repeated. */
static bool stretch(struct pim_lowering *l, struct operand *o)
{
    const struct pim_shape *out = &l->layer->output;
    struct pim_shape shape = *out;
    shape.dimension[out->rank - 2] = o->shape.dimension[o->shape.rank - 2];
    shape.dimension[out->rank - 1] = o->shape.dimension[o->shape.rank - 1];
    if (pim_shape_elements(&shape) != pim_shape_elements(&o->shape)) {
        struct pim_core_view wide;
        if (!pim_move_expand(l, &o->view, &o->shape, &shape, &wide))
            return false;
        o->view = wide;
    }
    o->shape = shape;
    return true;
}

static void lower_matrix_multiplication(struct pim_lowering *l)
{
    struct operand a = operand_of(l, 0), b = operand_of(l, 1);
    enum role role[PIM_SHAPE_RANK] = {ROLE_BRANCH};
    uint32_t rank = l->layer->output.rank, first[PIM_SHAPE_RANK + 1] = {0};
    bool turned = l->layer->attributes.matrix.transpose_second;
    struct pim_core_strides s;
    uint64_t stride[PIM_SHAPE_RANK] = {0}, channels, pixels;
    if (!stretch(l, &a) || !stretch(l, &b))
        return;
    /* leading dimensions are batches where they are channels of the first operand */
    bool cut = pim_move_split(&a.view, &a.shape, &s, first);
    for (uint32_t d = 0; d + 2 < rank; d++)
        role[d] = cut && first[d] < first[d + 1] && s.atom[first[d]].axis == PIM_AXIS_CHANNEL ? ROLE_BATCH
                                                                                              : ROLE_BRANCH;
    role[rank - 2] = ROLE_PIXEL;
    role[rank - 1] = ROLE_CHANNEL;
    set_roles(&a, role, ROLE_PIXEL, ROLE_CHANNEL);
    /* the second operand: its pixels are k or n, as it lies */
    bool transposed = true;
    set_roles(&b, role, turned ? ROLE_PIXEL : ROLE_CHANNEL, turned ? ROLE_CHANNEL : ROLE_PIXEL);
    wanted_strides(&b, stride, &channels, &pixels);
    if (!lies_right(&b, stride)) {
        transposed = false;
        set_roles(&b, role, turned ? ROLE_CHANNEL : ROLE_PIXEL, turned ? ROLE_PIXEL : ROLE_CHANNEL);
    }
    add_product(l, &a, &b, transposed, &l->layer->output, role);
}

void pim_lower_product(struct pim_lowering *l)
{
    for (uint32_t i = 0; i < l->layer->inputs; i++)
        if (l->view[l->layer->input[i]].parameter) {
            pim_lowering_fail(l,
                              "input %" PRIu32 " is a learned tensor, and a product here is of two results: "
                              "cores hold the one matrix of a linear layer, by which all is multiplied",
                              i);
            return;
        }
    if (l->layer->operation == PIM_OPERATOR_MATRIX_MULTIPLICATION)
        lower_matrix_multiplication(l);
    else
        lower_attention(l);
}
