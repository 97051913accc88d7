/*
 * Sizes from outside: --dim gives one to a symbolic dimension, to what the data decides (how many boxes are
 * left), and contents to an input of whole numbers that a shape depends on. Where nothing says them, the
 * shapes count that the file declares.
 */
#include "mappers/network/onnx/importer.h"
#include "onnx.pb-c.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

const char *pim_onnx_dimension_text(const struct pim_onnx_importer *i, const char *name)
{
    size_t length = strlen(name);
    for (size_t o = i->options->count; o-- > 0 && length > 0;) {
        const char *text = i->options->dimensions[o];
        if (strncmp(text, name, length) == 0 && text[length] == '=')
            return text + length + 1;
    }
    return NULL;
}

int64_t pim_onnx_dimension_option(struct pim_onnx_importer *i, const char *name)
{
    const char *text = pim_onnx_dimension_text(i, name);
    char *end;
    if (!text)
        return -1;
    long long size = strtoll(text, &end, 10);
    if (*end == '\0' && end != text && size >= 1 && size <= (long long)PIM_DIMENSION_LIMIT)
        return size;
    pim_onnx_fail(i, "--dim %s=%s: a size from 1 to %" PRIu32 " is needed behind the =", name, text,
                  PIM_DIMENSION_LIMIT);
    return 1;
}

int64_t pim_onnx_declared_size(struct pim_onnx_importer *i, const Onnx__TensorShapeProto__Dimension *d)
{
    if (d->value_case == ONNX__TENSOR_SHAPE_PROTO__DIMENSION__VALUE_DIM_PARAM)
        return pim_onnx_dimension_option(i, d->dim_param);
    bool known = d->value_case == ONNX__TENSOR_SHAPE_PROTO__DIMENSION__VALUE_DIM_VALUE;
    return known && d->dim_value >= 1 && d->dim_value <= (int64_t)PIM_DIMENSION_LIMIT ? d->dim_value : -1;
}

static const Onnx__TensorShapeProto *shape_of(const Onnx__ValueInfoProto *value)
{
    return value->type && value->type->tensor_type ? value->type->tensor_type->shape : NULL;
}

/* `text` up to its = is `name`. */
static bool names(const char *text, const char *equals, const char *name)
{
    return strlen(name) == (size_t)(equals - text) && strncmp(name, text, (size_t)(equals - text)) == 0;
}

static bool used(const struct pim_onnx_importer *i, const char *text, const char *equals)
{
    for (size_t n = 0; n < i->model->n_input; n++) {
        const Onnx__TensorShapeProto *shape = shape_of(i->model->input[n]);
        if (names(text, equals, i->model->input[n]->name))
            return true;
        for (size_t d = 0; shape && d < shape->n_dim; d++)
            if (shape->dim[d]->value_case == ONNX__TENSOR_SHAPE_PROTO__DIMENSION__VALUE_DIM_PARAM &&
                names(text, equals, shape->dim[d]->dim_param))
                return true;
    }
    for (size_t n = 0; n < i->model->n_node; n++)
        for (size_t o = 0; o < i->model->node[n]->n_output; o++)
            if (names(text, equals, i->model->node[n]->output[o]))
                return true;
    return false;
}

void pim_onnx_check_dimensions(struct pim_onnx_importer *i)
{
    for (size_t o = 0; o < i->options->count && i->status == PIM_OK; o++) {
        const char *text = i->options->dimensions[o], *equals = strchr(text, '=');
        if (!equals)
            pim_onnx_fail(i, "--dim %s: NAME=SIZE is needed", text);
        else if (!used(i, text, equals))
            pim_onnx_fail(i, "--dim %s: no input has a dimension of that name, and no tensor is called so",
                          text);
    }
}

bool pim_onnx_input_contents(struct pim_onnx_importer *i, struct pim_onnx_value *value)
{
    enum { MOST = 64 };
    const char *text = pim_onnx_dimension_text(i, value->name), *rest = text;
    int64_t list[MOST], *copy;
    uint32_t count = 0;
    while (rest && count < MOST) {
        char *end;
        list[count++] = strtoll(rest, &end, 10);
        if (end == rest || (*end != '\0' && *end != ',')) {
            pim_onnx_fail(i, "--dim %s=%s: whole numbers with commas between are needed", value->name, text);
            return false;
        }
        rest = *end == ',' ? end + 1 : NULL;
    }
    if (!text || i->status != PIM_OK)
        return false;
    uint32_t rank = value->shape.rank;
    if (rest || rank > 1 || (rank == 0 && count != 1)) {
        pim_onnx_fail(i, "--dim %s=%s: a tensor of %u dimensions cannot have these contents", value->name,
                      text, rank);
        return false;
    }
    copy = pim_arena_require_array(&i->scratch, count, sizeof *copy, _Alignof(int64_t));
    memcpy(copy, list, count * sizeof *copy);
    value->kind = PIM_ONNX_CONSTANT;
    value->fixed = true;
    value->integers = copy;
    value->shape.dimension[0] = rank ? count : 0;
    return true;
}

/* The shape that the file declares for output `index` of the node, with nothing open. */
static bool declared(struct pim_onnx_importer *i, size_t index, struct pim_shape *result)
{
    const char *name = index < i->node->n_output ? i->node->output[index] : "";
    uint32_t value = name[0] ? pim_onnx_names_find(&i->value_names, name) : PIM_NONE;
    const Onnx__ValueInfoProto *info = value == PIM_NONE ? NULL : i->value[value].info;
    const Onnx__TensorShapeProto *shape = info ? shape_of(info) : NULL;
    if (!shape || shape->n_dim > PIM_SHAPE_RANK)
        return false;
    result->rank = (uint32_t)shape->n_dim;
    for (size_t d = 0; d < shape->n_dim; d++) {
        int64_t size = pim_onnx_declared_size(i, shape->dim[d]);
        if (size < 1)
            return false;
        result->dimension[d] = (uint32_t)size;
    }
    return i->status == PIM_OK;
}

uint32_t pim_onnx_data_size(struct pim_onnx_importer *i, size_t index, const char *what)
{
    const char *name = index < i->node->n_output ? i->node->output[index] : "";
    int64_t size = pim_onnx_dimension_option(i, name);
    if (size < 0)
        pim_onnx_fail(i, "how many %s its output \"%s\" has depends on the data: say it with --dim %s=SIZE",
                      what, name, name);
    return size < 0 ? 1 : (uint32_t)size;
}

/* Inputs that decide the shape of the result, bit i for input i. */
static uint32_t shape_inputs(const char *operation)
{
    static const struct {
        const char *operation;
        uint32_t inputs;
    } table[] = {
        {"Reshape", 1u << 1},
        {"Expand", 1u << 1},
        {"Tile", 1u << 1},
        {"Slice", 15u << 1},
        {"Pad", 5u << 1},
        {"Resize", 7u << 1},
        {"Upsample", 1u << 1},
        {"Squeeze", 1u << 1},
        {"Unsqueeze", 1u << 1},
        {"Split", 1u << 1},
        {"TopK", 1u << 1},
        {"OneHot", 1u << 1},
        {"Range", 7u},
        {"MaxUnpool", 1u << 2},
        {"CenterCropPad", 1u << 1},
        {"ConstantOfShape", 1u},
        {"Col2Im", 3u << 1},
        {"AffineGrid", 1u << 1},
        {"NonZero", 1u},
        {"Unique", 1u},
        {"Compress", 3u},
        {"NonMaxSuppression", 31u},

        {"HannWindow", 1u},
        {"HammingWindow", 1u},
        {"BlackmanWindow", 1u},
        {"MelWeightMatrix", 3u},
    };
    for (size_t t = 0; t < sizeof table / sizeof *table; t++)
        if (strcmp(operation, table[t].operation) == 0)
            return table[t].inputs;
    return strncmp(operation, "Reduce", 6) == 0 ? 1u << 1 : 0;
}

/* A layer of that shape: a reshaping where the elements stay as many. Constants that only tell the shape are
 * not read. */
static void bind_shape(struct pim_onnx_importer *i, size_t output, const struct pim_shape *shape,
                       uint32_t shape_only)
{
    const union pim_attributes a = {.shape = *shape};
    uint32_t layers[8], count = 0;
    for (size_t n = 0; n < i->node->n_input && n < 8 && i->status == PIM_OK; n++) {
        struct pim_onnx_value *value = pim_onnx_optional_input(i, n);
        if (n == 0 && value && (shape_only & 1) == 0 &&
            pim_onnx_elements(&value->shape) == pim_shape_elements(shape)) {
            layers[0] = pim_onnx_layer_of(i, value);
            pim_onnx_bind_layer(i, output, pim_onnx_reshape(i, "", layers[0], shape));
            return;
        }
        if (value && (value->kind == PIM_ONNX_ACTIVATION || (shape_only >> n & 1) == 0))
            layers[count++] = pim_onnx_layer_of(i, value);
    }
    if (i->status == PIM_OK && count == 0)
        pim_onnx_fail(i, "the shape of its result depends on a constant of unknown contents");
    else
        pim_onnx_bind_layer(i, output,
                            pim_onnx_add(i, PIM_OPERATOR_SAMPLE, output ? "second" : "", &a, count, layers));
}

bool pim_onnx_bind_declared(struct pim_onnx_importer *i)
{
    uint32_t inputs = shape_inputs(i->node->op_type);
    struct pim_shape shape;
    bool open = false;
    for (size_t n = 0; n < i->node->n_input && n < 8 && i->status == PIM_OK; n++) {
        struct pim_onnx_value *value = pim_onnx_optional_input(i, n);
        bool contents = value && value->kind == PIM_ONNX_CONSTANT && (value->integers || value->reals);
        open |= (inputs >> n & 1) != 0 && value && !contents && pim_onnx_elements(&value->shape) > 0;
    }
    for (size_t o = 0; o < i->node->n_output && open; o++)
        open = !pim_onnx_is_read(i, o) || declared(i, o, &shape);
    if (!open || i->status != PIM_OK)
        return false;
    for (size_t o = 0; o < i->node->n_output && i->status == PIM_OK; o++)
        if (pim_onnx_is_read(i, o) && declared(i, o, &shape))
            bind_shape(i, o, &shape, inputs);
    return true;
}
