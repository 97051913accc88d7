/*
 * Fusions: several nodes that are one operation on the hardware, or one layer that an exporter wrote out.
 *
 * A node may only be taken over when everything inside of the pattern is read by the pattern alone.
 */
#include "mappers/network/onnx/importer.h"
#include "onnx.pb-c.h"

#include <math.h>
#include <string.h>

/* The node that alone reads value `at`; NULL when several do, when it is an output, or when it was taken
 * already. */
static const struct Onnx__NodeProto *only_reader(const struct pim_onnx_importer *i, uint32_t at)
{
    const struct pim_onnx_value *value = &i->value[at];
    if (at == PIM_NONE || value->readers != 1 || value->output || value->reader == PIM_NONE ||
        i->absorbed[value->reader])
        return NULL;
    return i->model->node[value->reader];
}

static uint32_t value_of(const struct pim_onnx_importer *i, const char *name)
{
    return name[0] ? pim_onnx_names_find(&i->value_names, name) : PIM_NONE;
}

static bool is(const struct Onnx__NodeProto *node, const char *operation)
{
    return node && strcmp(node->op_type, operation) == 0;
}

/* The other input of a node of two inputs, one of which is value `at`. */
static uint32_t other_input(const struct pim_onnx_importer *i, const struct Onnx__NodeProto *node,
                            uint32_t at)
{
    if (node->n_input != 2)
        return PIM_NONE;
    uint32_t a = value_of(i, node->input[0]), b = value_of(i, node->input[1]);
    return a == at ? b : b == at ? a : PIM_NONE;
}

/* Whether a constant gives a number, or one for each channel, along `axis` of a tensor of `shape` (1
 * elsewhere). */
static bool per_channel(const struct pim_onnx_value *constant, const struct pim_shape *shape, uint32_t axis)
{
    if (constant->kind != PIM_ONNX_CONSTANT || constant->shape.rank > shape->rank)
        return false;
    if (pim_onnx_elements(&constant->shape) == 1)
        return true;
    uint32_t ahead = shape->rank - constant->shape.rank;
    for (uint32_t d = 0; d < constant->shape.rank; d++)
        if (constant->shape.dimension[d] != (d + ahead == axis ? shape->dimension[axis] : 1))
            return false;
    return axis >= ahead;
}

/* The learned numbers by which a node that is taken over multiplies each of `channels`, or PIM_NONE. One
 * number for a single channel is taken for a number like others. */
static uint32_t scale_of(const struct pim_onnx_importer *i, const struct Onnx__NodeProto *node, uint32_t at,
                         uint32_t channels)
{
    if (is(node, "BatchNormalization"))
        return value_of(i, node->input[1]);
    if (channels == 1 || !(is(node, "Mul") || is(node, "Div")))
        return PIM_NONE;
    const uint32_t constant = other_input(i, node, at);
    return pim_onnx_elements(&i->value[constant].shape) == channels ? constant : PIM_NONE;
}

uint32_t pim_onnx_absorb_affine(struct pim_onnx_importer *i, const struct pim_shape *shape, uint32_t axis,
                                bool *bias)
{
    uint32_t at = value_of(i, i->node->output[0]);
    i->shift = PIM_NONE;
    i->shifts = 0;
    i->scale = PIM_NONE;
    i->scales = 0;
    for (;;) {
        const struct Onnx__NodeProto *next = at == PIM_NONE ? NULL : only_reader(i, at);
        if (!next || next->n_output == 0)
            return at;
        bool take = false, shift = false;
        if (is(next, "BatchNormalization") && axis == 1 && next->n_input >= 3 &&
            value_of(i, next->input[0]) == at) {
            uint32_t scale = value_of(i, next->input[1]);
            take = shift = scale != PIM_NONE && i->value[scale].kind == PIM_ONNX_CONSTANT;
        } else if (is(next, "Mul") || is(next, "Add") || is(next, "Sub") || is(next, "Div")) {
            uint32_t constant = other_input(i, next, at);
            bool first = value_of(i, next->input[0]) == at; /* c - x and c / x are no scale and shift */
            take = constant != PIM_NONE && constant != at && per_channel(&i->value[constant], shape, axis) &&
                   (first || is(next, "Mul") || is(next, "Add"));
            /* A number for all channels is no learned shift. */
            shift = take && (is(next, "Add") || is(next, "Sub")) &&
                    pim_onnx_elements(&i->value[constant].shape) == shape->dimension[axis];
        }
        if (!take)
            return at;
        *bias |= shift;
        i->shifts += shift;
        const uint32_t scale = scale_of(i, next, at, shape->dimension[axis]);
        if (scale != PIM_NONE) {
            i->scale = scale;
            i->scales++;
        }
        if (shift)
            i->shift =
                is(next, "BatchNormalization") ? value_of(i, next->input[1]) : other_input(i, next, at);
        i->absorbed[i->value[at].reader] = 1;
        at = value_of(i, next->output[0]);
    }
}

/* Follows a chain of nodes, each the only reader of the one before; `values` receives the outputs. */
static bool chain(const struct pim_onnx_importer *i, uint32_t from, const char *const *operations,
                  uint32_t count, uint32_t *nodes, uint32_t *values)
{
    for (uint32_t c = 0; c < count; c++) {
        const struct Onnx__NodeProto *next = only_reader(i, from);
        if (!is(next, operations[c]) || next->n_output == 0)
            return false;
        nodes[c] = i->value[from].reader;
        from = values[c] = value_of(i, next->output[0]);
        if (from == PIM_NONE)
            return false;
    }
    return true;
}

static void absorb(struct pim_onnx_importer *i, const uint32_t *nodes, uint32_t count)
{
    for (uint32_t c = 0; c < count; c++)
        i->absorbed[nodes[c]] = 1;
}

/* Is value `at` the constant `number` (to the precision of a float)? */
static bool is_number(const struct pim_onnx_importer *i, uint32_t at, double number)
{
    double found;
    return at != PIM_NONE && pim_onnx_scalar(&i->value[at], &found) &&
           fabs(found - number) <= 1e-3 * fabs(number);
}

/* x -> Div sqrt(2) -> Erf -> Add 1 -> Mul x -> Mul 0.5, the last two in either order. The node at work is the
 * Div. */
static bool fuse_gelu(struct pim_onnx_importer *i)
{
    static const char *const operations[] = {"Erf", "Add", "Mul", "Mul"};
    uint32_t nodes[4], values[4];
    bool divide = is(i->node, "Div");
    if ((!divide && !is(i->node, "Mul")) || i->node->n_input != 2 || i->node->n_output == 0)
        return false;
    uint32_t x = value_of(i, i->node->input[0]), out = value_of(i, i->node->output[0]);
    if (x == PIM_NONE || out == PIM_NONE ||
        !is_number(i, value_of(i, i->node->input[1]), divide ? 1.41421356 : 0.70710678) ||
        !chain(i, out, operations, 4, nodes, values))
        return false;
    const struct Onnx__NodeProto *add = i->model->node[nodes[1]];
    uint32_t first = other_input(i, i->model->node[nodes[2]], values[1]);
    uint32_t second = other_input(i, i->model->node[nodes[3]], values[2]);
    if (!is_number(i, other_input(i, add, values[0]), 1))
        return false;
    if (!(first == x && is_number(i, second, 0.5)) && !(second == x && is_number(i, first, 0.5)))
        return false;
    const union pim_attributes gelu = {.activation = PIM_ACTIVATION_GELU};
    uint32_t layer = pim_onnx_layer_of(i, &i->value[x]);
    layer = pim_onnx_add(i, PIM_OPERATOR_ACTIVATION, "gelu", &gelu, 1, &layer);
    pim_onnx_bind_value(i, values[3], layer);
    absorb(i, nodes, 4);
    return true;
}

/* x -> Sigmoid -> Mul x. The node at work is the Sigmoid. */
static bool fuse_silu(struct pim_onnx_importer *i)
{
    static const char *const operations[] = {"Mul"};
    uint32_t node, value;
    if (!is(i->node, "Sigmoid") || i->node->n_input != 1 || i->node->n_output == 0)
        return false;
    uint32_t x = value_of(i, i->node->input[0]), out = value_of(i, i->node->output[0]);
    if (x == PIM_NONE || out == PIM_NONE || !chain(i, out, operations, 1, &node, &value) ||
        other_input(i, i->model->node[node], out) != x)
        return false;
    const union pim_attributes silu = {.activation = PIM_ACTIVATION_SILU};
    uint32_t layer = pim_onnx_layer_of(i, &i->value[x]);
    layer = pim_onnx_add(i, PIM_OPERATOR_ACTIVATION, "silu", &silu, 1, &layer);
    pim_onnx_bind_value(i, value, layer);
    absorb(i, &node, 1);
    return true;
}

static bool reduces_last(const struct pim_onnx_importer *i, const struct Onnx__NodeProto *node, uint32_t rank)
{
    if (!is(node, "ReduceMean"))
        return false;
    const int64_t *axes = NULL;
    for (size_t a = 0; a < node->n_attribute; a++)
        if (strcmp(node->attribute[a]->name, "axes") == 0 && node->attribute[a]->n_ints == 1)
            axes = node->attribute[a]->ints;
    uint32_t input = !axes && node->n_input == 2 ? value_of(i, node->input[1]) : PIM_NONE;
    if (input != PIM_NONE && i->value[input].integers && pim_onnx_elements(&i->value[input].shape) == 1)
        axes = i->value[input].integers;
    return axes && (*axes == -1 || *axes == (int64_t)rank - 1);
}

/*
 * x -> ReduceMean m; Sub(x, m) = d; Pow(d, 2) or Mul(d, d) -> ReduceMean -> Add e -> Sqrt = s; Div(d, s),
 * then Mul and Add with one number a channel. The node at work is the first ReduceMean.
 */
static bool fuse_layer_normalization(struct pim_onnx_importer *i)
{
    static const char *const to_root[] = {"ReduceMean", "Add", "Sqrt", "Div"};
    uint32_t nodes[8], values[4], x = i->node->n_input ? value_of(i, i->node->input[0]) : PIM_NONE;
    if (x == PIM_NONE || i->node->n_output == 0 || i->value[x].kind != PIM_ONNX_ACTIVATION ||
        !reduces_last(i, i->node, i->value[x].shape.rank))
        return false;
    uint32_t mean = value_of(i, i->node->output[0]);
    const struct Onnx__NodeProto *sub = mean == PIM_NONE ? NULL : only_reader(i, mean);
    if (!is(sub, "Sub") || sub->n_output == 0 || value_of(i, sub->input[0]) != x)
        return false;
    nodes[0] = i->value[mean].reader;
    uint32_t d = value_of(i, sub->output[0]), square = PIM_NONE, readers = 0;
    for (uint32_t n = nodes[0] + 1; d != PIM_NONE && n < i->model->n_node && n < nodes[0] + 12; n++) {
        const struct Onnx__NodeProto *node = i->model->node[n];
        for (size_t in = 0; in < node->n_input; in++)
            readers += value_of(i, node->input[in]) == d;
        if ((is(node, "Pow") || is(node, "Mul")) && node->n_output && value_of(i, node->input[0]) == d)
            square = n;
    }
    if (square == PIM_NONE || i->value[d].output || readers != i->value[d].readers || i->absorbed[square])
        return false;
    const struct Onnx__NodeProto *pow = i->model->node[square];
    if (pow->n_input != 2 ||
        (is(pow, "Pow") ? !is_number(i, value_of(i, pow->input[1]), 2) : value_of(i, pow->input[1]) != d))
        return false;
    nodes[1] = square;
    if (!chain(i, value_of(i, pow->output[0]), to_root, 4, nodes + 2, values) ||
        !reduces_last(i, i->model->node[nodes[2]], i->value[x].shape.rank) ||
        value_of(i, i->model->node[nodes[5]]->input[0]) != d)
        return false;
    absorb(i, nodes, 6);
    /* What follows the division is scale and shift: taken over as if the division were at work. */
    const struct Onnx__NodeProto *work = i->node;
    bool shift = false;
    uint32_t rank = i->value[x].shape.rank;
    i->node = i->model->node[nodes[5]];
    uint32_t out = pim_onnx_absorb_affine(i, &i->value[x].shape, rank - 1, &shift);
    i->node = work;
    const union pim_attributes a = {.normalization = {.kind = PIM_NORMALIZATION_LAYER,
                                                      .affine = i->scales > 0 || shift,
                                                      .unshifted = !shift}};
    uint32_t layer = pim_onnx_layer_of(i, &i->value[x]);
    layer = pim_onnx_add(i, PIM_OPERATOR_NORMALIZATION, "layer_normalization", &a, 1, &layer);
    pim_onnx_bind_value(i, out, layer);
    return true;
}

bool pim_onnx_fuse(struct pim_onnx_importer *i)
{
    return fuse_gelu(i) || fuse_silu(i) || (is(i->node, "ReduceMean") && fuse_layer_normalization(i));
}
