/* Values: constants with their contents, activations with their layers; how layers come into the graph. */
#include "mappers/network/onnx/importer.h"
#include "onnx.pb-c.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Element types of TensorProto.data_type. */
enum {
    TYPE_FLOAT = 1,
    TYPE_UINT8,
    TYPE_INT8,
    TYPE_UINT16,
    TYPE_INT16,
    TYPE_INT32,
    TYPE_INT64,
    TYPE_BOOL = 9,
    TYPE_HALF,
    TYPE_DOUBLE,
    TYPE_UINT32,
    TYPE_UINT64,
    TYPE_BFLOAT16 = 16
};

void pim_onnx_fail(struct pim_onnx_importer *i, const char *format, ...)
{
    if (i->status != PIM_OK)
        return;
    char text[sizeof i->error->text];
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    if (i->node)
        i->status = pim_fail(i->error, PIM_BAD_INPUT, "%s: node %s (%s): %s", i->path,
                             i->node->name[0] ? i->node->name : "without a name", i->node->op_type, text);
    else
        i->status = pim_fail(i->error, PIM_BAD_INPUT, "%s: %s", i->path, text);
}

uint32_t pim_onnx_value_named(struct pim_onnx_importer *i, const char *name)
{
    uint32_t found = pim_onnx_names_find(&i->value_names, name);
    if (found != PIM_NONE)
        return found;
    size_t capacity = i->value_capacity;
    i->value = pim_array_require(i->value, &capacity, (size_t)i->values + 1, sizeof *i->value);
    i->value_capacity = (uint32_t)capacity;
    i->value[i->values] = (struct pim_onnx_value){.name = name,
                                                  .layer = PIM_NONE,
                                                  .linear = PIM_NONE,
                                                  .origin = PIM_NONE,
                                                  .maker = PIM_NONE,
                                                  .reader = PIM_NONE};
    pim_onnx_names_put(&i->value_names, name, i->values);
    return i->values++;
}

uint64_t pim_onnx_elements(const struct pim_shape *shape)
{
    return pim_shape_elements(shape); /* dimensions passed pim_onnx_size: a product of 0 is what it says */
}

bool pim_onnx_scalar(const struct pim_onnx_value *value, double *number)
{
    if (value->kind != PIM_ONNX_CONSTANT || pim_onnx_elements(&value->shape) != 1)
        return false;
    if (value->integers)
        *number = (double)value->integers[0];
    else if (value->reals)
        *number = value->reals[0];
    return value->integers || value->reals;
}

/* Bytes of raw data for an element; 0: a type whose contents no shape depends on. */
static size_t raw_size(int32_t type)
{
    static const uint8_t sizes[] = {0, 4, 1, 1, 2, 2, 4, 8, 0, 1, 2, 8, 4, 8, 0, 0, 2};
    return type >= 0 && (size_t)type < sizeof sizes ? sizes[type] : 0;
}

/* A number of 16 bits: a half (5 bits of exponent), or a bfloat16, the upper half of a float. */
static double narrow_real(int32_t type, uint64_t bits)
{
    uint32_t wide = (uint32_t)bits << 16;
    float number;
    if (type == TYPE_BFLOAT16) {
        memcpy(&number, &wide, sizeof number);
        return (double)number;
    }
    int exponent = (int)(bits >> 10 & 31);
    double fraction = (double)(bits & 1023) / 1024;
    double size = exponent == 0    ? ldexp(fraction, -14)
                  : exponent == 31 ? (fraction > 0 ? (double)NAN : (double)INFINITY)
                                   : ldexp(1 + fraction, exponent - 15);
    return bits >> 15 & 1 ? -size : size;
}

/* Element `at` of little-endian raw data. */
static void read_raw(int32_t type, const uint8_t *raw, uint64_t at, int64_t *integer, double *real)
{
    uint64_t bits = 0;
    size_t size = raw_size(type);
    for (size_t b = 0; b < size; b++)
        bits |= (uint64_t)raw[at * size + b] << (8 * b);
    if (type == TYPE_FLOAT) {
        uint32_t narrow = (uint32_t)bits;
        float number;
        memcpy(&number, &narrow, sizeof number);
        *real = (double)number;
    } else if (type == TYPE_DOUBLE) {
        memcpy(real, &bits, sizeof *real);
    } else if (type == TYPE_HALF || type == TYPE_BFLOAT16) {
        *real = narrow_real(type, bits);
    } else {
        bool is_signed = type == TYPE_INT8 || type == TYPE_INT16 || type == TYPE_INT32;
        if (is_signed && (bits >> (8 * size - 1) & 1) != 0)
            bits |= ~UINT64_C(0) << (8 * size);
        *integer = bits > INT64_MAX && type == TYPE_UINT64 ? INT64_MAX : (int64_t)bits;
    }
}

/* Float, half, double, bfloat16 and the formats of 8 and 4 bits. */
static bool is_float(int32_t type)
{
    return type == TYPE_FLOAT || type == TYPE_HALF || type == TYPE_DOUBLE || type == TYPE_BFLOAT16 ||
           (type >= 17 && type <= 20) || type == 23 || type == 24;
}

/* Element `at` of the typed fields; false where the tensor has none there. */
static bool read_field(const struct Onnx__TensorProto *t, uint64_t at, int64_t *integer, double *real)
{
    if (t->data_type == TYPE_FLOAT && at < t->n_float_data)
        *real = (double)t->float_data[at];
    else if (t->data_type == TYPE_DOUBLE && at < t->n_double_data)
        *real = t->double_data[at];
    else if (t->data_type == TYPE_INT64 && at < t->n_int64_data)
        *integer = t->int64_data[at];
    else if ((t->data_type == TYPE_UINT64 || t->data_type == TYPE_UINT32) && at < t->n_uint64_data)
        *integer = t->uint64_data[at] > INT64_MAX ? INT64_MAX : (int64_t)t->uint64_data[at];
    else if ((t->data_type == TYPE_HALF || t->data_type == TYPE_BFLOAT16) && at < t->n_int32_data)
        *real = narrow_real(t->data_type, (uint64_t)t->int32_data[at] & 65535);
    else if (!is_float(t->data_type) && at < t->n_int32_data)
        *integer = t->int32_data[at];
    else
        return false;
    return true;
}

/* Contents where the file has them; a file without weights has none, which only matters when a shape needs
 * them. */
static void read_contents(struct pim_onnx_importer *i, const struct Onnx__TensorProto *t, uint64_t elements,
                          struct pim_onnx_value *value)
{
    size_t size = raw_size(t->data_type);
    bool real = is_float(t->data_type);
    bool raw = t->raw_data.len > 0;
    if (elements > PIM_ONNX_CONTENTS || size == 0 || t->data_location != 0)
        return;
    if (raw && t->raw_data.len / size < elements)
        return;
    int64_t *integers = real ? NULL : PIM_ARENA_ARRAY(&i->scratch, int64_t, (size_t)elements);
    double *reals = real ? PIM_ARENA_ARRAY(&i->scratch, double, (size_t)elements) : NULL;
    if (!integers && !reals)
        return;
    for (uint64_t e = 0; e < elements; e++) {
        int64_t integer = 0;
        double number = 0;
        if (raw)
            read_raw(t->data_type, t->raw_data.data, e, &integer, &number);
        else if (!read_field(t, e, &integer, &number))
            return;
        if (integers)
            integers[e] = integer;
        else
            reals[e] = number;
    }
    value->integers = integers;
    value->reals = reals;
}

void pim_onnx_read_tensor(struct pim_onnx_importer *i, const struct Onnx__TensorProto *tensor,
                          struct pim_onnx_value *value)
{
    struct pim_shape shape = {.rank = 0};
    if (tensor->n_dims > PIM_SHAPE_RANK) {
        pim_onnx_fail(i, "tensor \"%s\" has %zu dimensions: at most %d are possible", tensor->name,
                      tensor->n_dims, PIM_SHAPE_RANK);
        return;
    }
    uint64_t elements = 1;
    for (size_t d = 0; d < tensor->n_dims; d++) {
        int64_t size = tensor->dims[d];
        if (size < 0 || size > (int64_t)PIM_DIMENSION_LIMIT ||
            (size > 0 && elements > PIM_ELEMENT_LIMIT / (uint64_t)size)) {
            pim_onnx_fail(i,
                          "tensor \"%s\": dimension %zu is %" PRId64 ": allowed are 0 to %" PRIu32
                          ", and %" PRIu64 " elements in all",
                          tensor->name, d, size, PIM_DIMENSION_LIMIT, PIM_ELEMENT_LIMIT);
            return;
        }
        elements *= (uint64_t)size;
        shape.dimension[shape.rank++] = (uint32_t)size;
    }
    value->kind = PIM_ONNX_CONSTANT;
    value->shape = shape;
    value->fixed = elements == 1 || !is_float(tensor->data_type);
    value->integers = NULL;
    value->reals = NULL;
    read_contents(i, tensor, elements, value);
}

/* A unique name for a layer: the node's, or its operator, with `suffix` and, when taken, a number. Bytes that
 * are no printable ASCII become '_': names come from outside and go into JSON, CSV and DOT. */
static const char *layer_name(struct pim_onnx_importer *i, const char *base, const char *suffix)
{
    size_t length = strlen(base) + strlen(suffix) + 16;
    char *name = PIM_ARENA_ARRAY(&i->network->arena, char, length);
    if (!name) {
        i->status = pim_fail(i->error, PIM_NO_MEMORY, "out of memory while reading %s", i->path);
        return "";
    }
    (void)snprintf(name, length, "%s%s%s", base, suffix[0] ? "." : "", suffix);
    for (char *c = name; *c; c++)
        if (*c < 0x20 || *c > 0x7e)
            *c = '_';
    uint32_t next = pim_onnx_names_find(&i->layer_names, name);
    if (next == PIM_NONE) {
        pim_onnx_names_put(&i->layer_names, name, 2);
        return name;
    }
    char *numbered = PIM_ARENA_ARRAY(&i->network->arena, char, length);
    if (!numbered) {
        i->status = pim_fail(i->error, PIM_NO_MEMORY, "out of memory while reading %s", i->path);
        return "";
    }
    do
        (void)snprintf(numbered, length, "%s_%" PRIu32, name, next++);
    while (pim_onnx_names_find(&i->layer_names, numbered) != PIM_NONE);
    pim_onnx_names_put(&i->layer_names, name, next);
    pim_onnx_names_put(&i->layer_names, numbered, 2);
    return numbered;
}

static uint32_t add_layer(struct pim_onnx_importer *i, enum pim_operator operation, const char *name,
                          const union pim_attributes *attributes, uint32_t inputs, const uint32_t *input)
{
    uint32_t index = 0;
    if (i->status != PIM_OK)
        return 0;
    const struct pim_layer_description description = {.name = name,
                                                      .operation = operation,
                                                      .role = PIM_ROLE_OTHER,
                                                      .stage = PIM_NONE,
                                                      .block = PIM_NONE,
                                                      .inputs = inputs,
                                                      .input = input,
                                                      .attributes = *attributes};
    struct pim_error error = {PIM_OK, ""};
    enum pim_status status = pim_graph_add(&i->network->graph, &description, &index, &error);
    if (status == PIM_NO_MEMORY)
        i->status = pim_fail(i->error, status, "%s", error.text);
    else if (status != PIM_OK)
        pim_onnx_fail(i, "%s", error.text);
    return index;
}

uint32_t pim_onnx_add(struct pim_onnx_importer *i, enum pim_operator operation, const char *suffix,
                      const union pim_attributes *attributes, uint32_t inputs, const uint32_t *input)
{
    static const union pim_attributes none;
    if (i->status != PIM_OK)
        return 0;
    const char *base = i->node->name[0] ? i->node->name : i->node->op_type;
    const char *name = layer_name(i, base, suffix);
    return add_layer(i, operation, name, attributes ? attributes : &none, inputs, input);
}

/* Notes a value that got a layer while folding. Those that stand in no table (inputs that are missing) need
 * none. */
static void touch(struct pim_onnx_importer *i, const struct pim_onnx_value *value)
{
    if (!i->folding || value < i->value || value >= i->value + i->values)
        return;
    i->touched = pim_array_require(i->touched, &i->touch_capacity, i->touches + 1, sizeof *i->touched);
    i->touched[i->touches++] = (uint32_t)(value - i->value);
}

void pim_onnx_begin_fold(struct pim_onnx_importer *i)
{
    i->folding = true;
    i->touches = 0;
}

/* A result of constants is fixed when all of them are; what quantisation made whole is learned. */
static bool inputs_are_fixed(const struct pim_onnx_importer *i)
{
    bool fixed = i->node->n_input > 0 && strcmp(i->node->op_type, "DequantizeLinear") != 0 &&
                 strcmp(i->node->op_type, "ConstantOfShape") != 0; /* writers make weights by it */
    for (size_t n = 0; n < i->node->n_input && fixed; n++) {
        uint32_t at =
            i->node->input[n][0] ? pim_onnx_names_find(&i->value_names, i->node->input[n]) : PIM_NONE;
        fixed = at == PIM_NONE || i->value[at].fixed;
    }
    return fixed;
}

void pim_onnx_end_fold(struct pim_onnx_importer *i, uint32_t layers)
{
    bool fixed = inputs_are_fixed(i);
    i->folding = false;
    while (i->network->graph.count > layers)
        pim_graph_drop_last(&i->network->graph);
    for (size_t t = 0; t < i->touches; t++) {
        struct pim_onnx_value *value = &i->value[i->touched[t]];
        value->layer = PIM_NONE;
        if (value->kind == PIM_ONNX_ACTIVATION)
            value->fixed = fixed;
        value->kind = PIM_ONNX_CONSTANT;
    }
}

uint32_t pim_onnx_layer_of(struct pim_onnx_importer *i, struct pim_onnx_value *value)
{
    if (i->status != PIM_OK || value->layer != PIM_NONE)
        return value->layer == PIM_NONE ? 0 : value->layer;
    if (value->kind == PIM_ONNX_SEQUENCE) {
        pim_onnx_fail(i, "\"%s\" is a list of tensors, not one", value->name);
        return 0;
    }
    const union pim_attributes attributes = {.shape = value->shape};
    enum pim_operator operation = value->kind != PIM_ONNX_CONSTANT ? PIM_OPERATOR_INPUT
                                  : value->fixed                   ? PIM_OPERATOR_CONSTANT
                                                                   : PIM_OPERATOR_PARAMETER;
    value->layer = add_layer(i, operation, layer_name(i, value->name, ""), &attributes, 0, NULL);
    touch(i, value);
    return value->layer;
}

struct pim_shape pim_onnx_shape_of(const struct pim_onnx_importer *i, uint32_t layer)
{
    return i->status == PIM_OK ? i->network->graph.layers[layer].output : (struct pim_shape){0};
}

uint32_t pim_onnx_reshape(struct pim_onnx_importer *i, const char *suffix, uint32_t layer,
                          const struct pim_shape *shape)
{
    struct pim_shape from = pim_onnx_shape_of(i, layer);
    const union pim_attributes attributes = {.shape = *shape};
    return pim_shape_equal(&from, shape)
               ? layer
               : pim_onnx_add(i, PIM_OPERATOR_RESHAPE, suffix, &attributes, 1, &layer);
}

uint32_t pim_onnx_transpose(struct pim_onnx_importer *i, const char *suffix, uint32_t layer,
                            const uint32_t *order)
{
    union pim_attributes attributes = {.transpose = {.order = {0}}};
    struct pim_shape shape = pim_onnx_shape_of(i, layer);
    bool same = true;
    for (uint32_t d = 0; d < shape.rank; d++) {
        attributes.transpose.order[d] = order[d];
        same &= order[d] == d;
    }
    return same ? layer : pim_onnx_add(i, PIM_OPERATOR_TRANSPOSE, suffix, &attributes, 1, &layer);
}

/* The value of output `index`, NULL where the node does not have it. */
static struct pim_onnx_value *output(struct pim_onnx_importer *i, size_t index)
{
    if (i->status != PIM_OK || index >= i->node->n_output || i->node->output[index][0] == '\0')
        return NULL;
    return &i->value[pim_onnx_names_find(&i->value_names, i->node->output[index])];
}

bool pim_onnx_is_read(struct pim_onnx_importer *i, size_t index)
{
    const struct pim_onnx_value *value = output(i, index);
    return value && value->readers > 0;
}

void pim_onnx_bind_value(struct pim_onnx_importer *i, uint32_t value, uint32_t layer)
{
    if (i->status != PIM_OK)
        return;
    touch(i, &i->value[value]);
    i->value[value].kind = PIM_ONNX_ACTIVATION;
    i->value[value].layer = layer;
    i->value[value].shape = pim_onnx_shape_of(i, layer);
}

void pim_onnx_bind_layer(struct pim_onnx_importer *i, size_t index, uint32_t layer)
{
    const struct pim_onnx_value *value = output(i, index);
    if (value)
        pim_onnx_bind_value(i, (uint32_t)(value - i->value), layer);
}

void pim_onnx_bind_constant(struct pim_onnx_importer *i, size_t index, const struct pim_shape *shape,
                            const int64_t *integers, const double *reals)
{
    struct pim_onnx_value *value = output(i, index);
    if (!value)
        return;
    value->kind = PIM_ONNX_CONSTANT;
    value->shape = *shape;
    value->integers = integers;
    value->reals = reals;
    value->fixed = inputs_are_fixed(i) || (integers && strcmp(i->node->op_type, "DequantizeLinear") != 0);
}

void pim_onnx_bind_list(struct pim_onnx_importer *i, const struct pim_onnx_value *part, uint32_t parts)
{
    struct pim_onnx_value *value = output(i, 0);
    if (!value)
        return;
    value->kind = PIM_ONNX_SEQUENCE;
    value->part = part;
    value->parts = parts;
}

void pim_onnx_note_copy(struct pim_onnx_importer *i, bool turned)
{
    struct pim_onnx_value *value = output(i, 0), *from = value ? pim_onnx_optional_input(i, 0) : NULL;
    if (!from || from->kind != PIM_ONNX_CONSTANT)
        return;
    value->origin = (uint32_t)(pim_onnx_origin(i, from) - i->value);
    value->turned = from->turned != turned;
}

struct pim_onnx_value *pim_onnx_origin(struct pim_onnx_importer *i, struct pim_onnx_value *value)
{
    return value->origin == PIM_NONE ? value : &i->value[value->origin];
}

void pim_onnx_set_fixed(struct pim_onnx_importer *i, size_t index)
{
    struct pim_onnx_value *value = output(i, index);
    if (value)
        value->fixed = true;
}

void pim_onnx_bind_same(struct pim_onnx_importer *i, size_t index, const struct pim_onnx_value *same)
{
    struct pim_onnx_value *value = output(i, index);
    if (!value)
        return;
    value->kind = same->kind;
    value->shape = same->shape;
    value->integers = same->integers;
    value->reals = same->reals;
    value->fixed = same->fixed;
    value->part = same->part;
    value->parts = same->parts;
    value->layer = PIM_NONE;
    if (same->kind == PIM_ONNX_ACTIVATION) /* a tensor of a sequence has its layer already */
        value->layer =
            same->layer != PIM_NONE ? same->layer : pim_onnx_layer_of(i, &i->value[same - i->value]);
}
