/* ONNX files with numbers (numbers.h). */
#include "tests/unit/onnx/numbers.h"

#include "mappers/verify/reals.h"
#include "onnx.pb-c.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FLOAT = 1, UINT8, INT8, UINT16, INT16, INT32, INT64, BOOL = 9, DOUBLE = 11, UINT32, UINT64 };
enum { MOST = 1 << 22 }; /* elements of a tensor */

static void *room(struct numbers *n, uint64_t count, size_t size)
{
    return pim_arena_require_array(&n->arena, count + 1, size, _Alignof(max_align_t));
}

uint8_t *numbers_load(struct pim_arena *arena, const char *path, size_t *size)
{
    FILE *file = fopen(path, "rb");
    long end = file && fseek(file, 0, SEEK_END) == 0 ? ftell(file) : -1;
    uint8_t *bytes = NULL;
    if (end >= 0 && fseek(file, 0, SEEK_SET) == 0) {
        *size = (size_t)end;
        bytes = pim_arena_require_array(arena, *size + 1, 1, 1);
        if (fread(bytes, 1, *size, file) != *size)
            bytes = NULL;
    }
    if (file)
        (void)fclose(file);
    return bytes;
}

bool numbers_open(struct numbers *n, const uint8_t *bytes, size_t size)
{
    *n = (struct numbers){.file = NULL};
    pim_arena_initialize(&n->arena, 0);
    n->file = onnx__model_proto__unpack(NULL, size, bytes);
    if (n->file && n->file->graph)
        n->input = room(n, n->file->graph->n_input, sizeof *n->input);
    return n->file && n->file->graph;
}

void numbers_close(struct numbers *n)
{
    if (n->file)
        onnx__model_proto__free_unpacked(n->file, NULL);
    if (n->network)
        pim_network_destroy(n->network);
    free(n->bytes);
    pim_arena_terminate(&n->arena);
}

/* --- tensors of the file --- */

static double raw_number(const uint8_t *at, int32_t type)
{
    union {
        float f;
        double d;
        uint8_t u8;
        int8_t i8;
        uint16_t u16;
        int16_t i16;
        int32_t i32;
        uint32_t u32;
        int64_t i64;
        uint64_t u64;
    } u;
    memcpy(&u, at, sizeof u);
    switch (type) {
    case FLOAT:
        return (double)u.f;
    case DOUBLE:
        return u.d;
    case UINT8:
    case BOOL:
        return u.u8;
    case INT8:
        return u.i8;
    case UINT16:
        return u.u16;
    case INT16:
        return u.i16;
    case INT32:
        return u.i32;
    case UINT32:
        return u.u32;
    case INT64:
        return (double)u.i64;
    default:
        return (double)u.u64;
    }
}

static size_t bytes_of(int32_t type)
{
    static const uint8_t bytes[] = {
        [FLOAT] = 4, [UINT8] = 1, [INT8] = 1,   [UINT16] = 2, [INT16] = 2, [INT32] = 4,
        [INT64] = 8, [BOOL] = 1,  [DOUBLE] = 8, [UINT32] = 4, [UINT64] = 8};
    return type > 0 && (size_t)type < sizeof bytes ? bytes[type] : 0;
}

static bool typed_number(const Onnx__TensorProto *t, size_t index, double *value)
{
    if (index < t->n_float_data)
        *value = (double)t->float_data[index];
    else if (index < t->n_double_data)
        *value = t->double_data[index];
    else if (index < t->n_int64_data)
        *value = (double)t->int64_data[index];
    else if (index < t->n_int32_data)
        *value = t->int32_data[index];
    else
        return false;
    return true;
}

bool numbers_of_tensor(struct numbers *n, const Onnx__TensorProto *t, struct tensor *tensor)
{
    size_t bytes = bytes_of(t->data_type);
    *tensor = (struct tensor){.name = t->name, .count = 1};
    if (bytes == 0 || t->n_dims > PIM_SHAPE_RANK)
        return false;
    for (size_t d = 0; d < t->n_dims; d++) {
        if (t->dims[d] < 0 || t->dims[d] > MOST)
            return false; /* another message than a tensor */
        tensor->shape.dimension[tensor->shape.rank++] = (uint32_t)t->dims[d];
        tensor->count *= (uint64_t)t->dims[d];
    }
    if (tensor->count > MOST)
        return false;
    tensor->value = room(n, tensor->count, sizeof(double));
    uint8_t padded[16] = {0};
    for (uint64_t i = 0; i < tensor->count; i++) {
        if (t->raw_data.len >= (i + 1) * bytes) {
            memcpy(padded, t->raw_data.data + i * bytes, bytes);
            tensor->value[i] = raw_number(padded, t->data_type);
        } else if (!typed_number(t, i, &tensor->value[i]))
            return false;
    }
    return true;
}

void numbers_give(struct numbers *n, const char *name, const struct tensor *tensor)
{
    n->input[n->inputs] = *tensor;
    n->input[n->inputs++].name = name;
}

static const struct tensor *contents(struct numbers *n, const char *name);

/* A matrix of the file whose transposition a node computes. */
static const struct tensor *turned(struct numbers *n, const struct tensor *matrix)
{
    if (!matrix || matrix->shape.rank != 2)
        return NULL;
    struct tensor *t = room(n, 1, sizeof *t);
    uint32_t rows = matrix->shape.dimension[0], columns = matrix->shape.dimension[1];
    *t = (struct tensor){.shape = {.rank = 2, .dimension = {columns, rows}},
                         .count = matrix->count,
                         .value = room(n, matrix->count, sizeof(double))};
    for (uint64_t i = 0; i < t->count; i++)
        t->value[i] = matrix->value[i % rows * columns + i / rows];
    return t;
}

static const struct tensor *zeros(struct numbers *n, const struct tensor *shape)
{
    struct tensor *t = room(n, 1, sizeof *t);
    *t = (struct tensor){.count = 1};
    for (uint64_t d = 0; shape && d < shape->count; d++)
        t->count *= (uint64_t)(t->shape.dimension[t->shape.rank++] = (uint32_t)shape->value[d]);
    t->value = memset(room(n, t->count, sizeof(double)), 0, t->count * sizeof(double));
    return shape ? t : NULL;
}

/* Contents that an input, an initialiser, a transposition or a Constant node has; NULL elsewhere. */
static const struct tensor *contents(struct numbers *n, const char *name)
{
    Onnx__GraphProto *g = n->file->graph;
    struct tensor *tensor = room(n, 1, sizeof *tensor);
    for (size_t i = 0; i < n->inputs; i++)
        if (strcmp(n->input[i].name, name) == 0)
            return &n->input[i];
    for (size_t i = 0; i < g->n_initializer; i++)
        if (strcmp(g->initializer[i]->name, name) == 0)
            return numbers_of_tensor(n, g->initializer[i], tensor) ? tensor : NULL;
    for (size_t i = 0; i < g->n_node; i++) {
        const Onnx__NodeProto *node = g->node[i];
        if (node->n_output == 0 || strcmp(node->output[0], name) != 0)
            continue;
        if (strcmp(node->op_type, "Constant") == 0 && node->n_attribute && node->attribute[0]->t)
            return numbers_of_tensor(n, node->attribute[0]->t, tensor) ? tensor : NULL;
        const struct tensor *from = node->n_input ? contents(n, node->input[0]) : NULL;
        if (strcmp(node->op_type, "ConstantOfShape") == 0)
            return zeros(n, from);
        return strcmp(node->op_type, "Cast") == 0        ? from
               : strcmp(node->op_type, "Transpose") == 0 ? turned(n, from)
                                                         : NULL;
    }
    return NULL;
}

static const struct tensor *input_contents(struct numbers *n, const Onnx__NodeProto *node, size_t index)
{
    return index < node->n_input && node->input[index][0] ? contents(n, node->input[index]) : NULL;
}

/* --- learned numbers of a layer --- */

static double real_attribute(const Onnx__NodeProto *node, const char *name, double otherwise)
{
    for (size_t a = 0; a < node->n_attribute; a++)
        if (strcmp(node->attribute[a]->name, name) == 0)
            return node->attribute[a]->type == 1 ? (double)node->attribute[a]->f
                                                 : (double)node->attribute[a]->i;
    return otherwise;
}

static bool is(const Onnx__NodeProto *node, const char *operation)
{
    return strcmp(node->op_type, operation) == 0;
}

/* The node that a layer is named after. */
static Onnx__NodeProto *node_of(struct numbers *n, uint32_t layer)
{
    const char *name = n->network->graph.layers[layer].name;
    char *end;
    size_t index = name[0] == 'n' ? strtoul(name + 1, &end, 10) : SIZE_MAX;
    return index < n->file->graph->n_node ? n->file->graph->node[index] : NULL;
}

/* The only node that reads a tensor; NULL where there are several, or none. */
static Onnx__NodeProto *reader_of(struct numbers *n, const char *name)
{
    Onnx__NodeProto *found = NULL;
    for (size_t i = 0; i < n->file->graph->n_node; i++)
        for (size_t k = 0; k < n->file->graph->node[i]->n_input; k++)
            if (strcmp(n->file->graph->node[i]->input[k], name) == 0) {
                if (found)
                    return NULL;
                found = n->file->graph->node[i];
            }
    return found;
}

/* Scale and shift of `outputs` channels behind a node: of a batch normalisation, or one number a channel. */
static bool follow(struct numbers *n, const Onnx__NodeProto *next, const char *from, uint32_t outputs,
                   double *scale, double *shift)
{
    if (is(next, "BatchNormalization")) {
        const struct tensor *t[4];
        for (size_t k = 0; k < 4; k++)
            if (!(t[k] = input_contents(n, next, k + 1)))
                return false;
        for (uint32_t o = 0; o < outputs; o++) {
            double by = t[0]->value[o] / sqrt(t[3]->value[o] + real_attribute(next, "epsilon", 1e-5));
            scale[o] *= by;
            shift[o] = (shift[o] - t[2]->value[o]) * by + t[1]->value[o];
        }
        return true;
    }
    bool first = next->n_input == 2 && strcmp(next->input[0], from) == 0;
    const struct tensor *t = next->n_input == 2 ? input_contents(n, next, first ? 1 : 0) : NULL;
    if (!t || (t->count != 1 && t->count != outputs))
        return false;
    for (uint32_t o = 0; o < outputs; o++) {
        double x = t->value[t->count == 1 ? 0 : o];
        double by = is(next, "Mul") ? x : is(next, "Div") ? 1 / x : 1;
        scale[o] *= by;
        shift[o] = shift[o] * by + (is(next, "Add") ? x : is(next, "Sub") ? -x : 0);
    }
    return is(next, "Add") || is(next, "Sub") || is(next, "Mul") || is(next, "Div");
}

/* Weights and bias of a convolution or a linear layer, with what follows it. */
static const double *product_numbers(struct numbers *n, const Onnx__NodeProto *node,
                                     const struct pim_layer *layer, bool bias)
{
    bool convolution = layer->operation == PIM_OPERATOR_CONVOLUTION;
    uint32_t outputs = convolution ? layer->attributes.convolution.outputs : layer->attributes.linear.outputs;
    const struct tensor *w = input_contents(n, node, 1), *b = input_contents(n, node, 2);
    bool left = !w && is(node, "MatMul"),
         turned = left || (is(node, "Gemm") && real_attribute(node, "transB", 0) != 0);
    w = left ? input_contents(n, node, 0) : w;
    if (!w)
        return NULL;
    double *scale = room(n, outputs, sizeof *scale), *shift = room(n, outputs, sizeof *shift);
    for (uint32_t o = 0; o < outputs; o++) {
        scale[o] = is(node, "Gemm") ? real_attribute(node, "alpha", 1) : 1;
        shift[o] =
            b ? b->value[b->count == 1 ? 0 : o] * (is(node, "Gemm") ? real_attribute(node, "beta", 1) : 1)
              : 0;
    }
    for (const char *from = node->output[0];;) {
        const Onnx__NodeProto *next = reader_of(n, from);
        if (!next || !follow(n, next, from, outputs, scale, shift))
            break;
        from = next->output[0];
    }
    if (bias)
        return shift;
    double *all = room(n, w->count, sizeof *all);
    uint64_t rows = w->count / outputs;
    for (uint64_t r = 0; r < rows; r++)
        for (uint32_t o = 0; o < outputs; o++) {
            if (convolution)
                all[o * rows + r] = w->value[o * rows + r] * scale[o];
            else
                all[r * outputs + o] = w->value[turned ? o * rows + r : r * outputs + o] * scale[o];
        }
    return all;
}

/* The number of elementwise work on one input. Layers do not keep on which side it stands: where that
 * matters, one that stands first is none. */
static const struct tensor *number_of(struct numbers *n, const Onnx__NodeProto *node,
                                      const struct pim_layer *layer)
{
    const enum pim_elementwise kind = layer->attributes.elementwise;
    const char *read = n->network->graph.layers[layer->input[0]].name; /* an input is called as its tensor */
    bool ordered =
        kind == PIM_ELEMENTWISE_SUBTRACT || kind == PIM_ELEMENTWISE_DIVIDE || kind == PIM_ELEMENTWISE_POWER;
    bool behind = node->n_input > 1 && strcmp(node->input[1], read) != 0;
    const struct tensor *t = behind ? input_contents(n, node, 1) : NULL;
    if (!t && !ordered)
        t = input_contents(n, node, 0);
    return t && t->count == 1 ? t : NULL;
}

static const double *find_numbers(struct numbers *n, uint32_t index, enum pim_learned what)
{
    const struct pim_layer *layer = &n->network->graph.layers[index];
    const Onnx__NodeProto *node = node_of(n, index);
    const struct tensor *t = NULL;
    bool transposed = layer->operation == PIM_OPERATOR_TRANSPOSED_CONVOLUTION;
    if (what == PIM_LEARNED_TENSOR)
        t = contents(n, layer->name);
    else if (!node)
        return NULL;
    else if (transposed)
        t = input_contents(n, node, what == PIM_LEARNED_WEIGHTS ? 1 : 2);
    else if (what == PIM_LEARNED_WEIGHTS || what == PIM_LEARNED_BIAS)
        return product_numbers(n, node, layer, what == PIM_LEARNED_BIAS);
    else if (what == PIM_LEARNED_NUMBER)
        t = number_of(n, node, layer);
    else if (what == PIM_LEARNED_INDICES)
        t = input_contents(n, node, 1);
    else
        t = input_contents(n, node, 1 + (size_t)(what - PIM_LEARNED_SCALE));
    return t ? t->value : NULL;
}

/* Every column of a matrix asks for all of it. */
static const double *numbers_of(void *context, uint32_t index, enum pim_learned what)
{
    struct numbers *n = context;
    struct last_numbers *last = &n->last[what];
    if (!last->value || last->layer != index)
        *last = (struct last_numbers){.layer = index, .value = find_numbers(n, index, what)};
    return last->value;
}

/* Lists of whole numbers that come from outside (axes, shapes, ends of slices) become part of the file: the
 * import must know them. */
static void keep_lists(struct numbers *n)
{
    Onnx__GraphProto *g = n->file->graph;
    for (size_t i = 0; i < n->inputs; i++) {
        const struct tensor *t = &n->input[i];
        int32_t type = g->input[i]->type && g->input[i]->type->tensor_type
                           ? g->input[i]->type->tensor_type->elem_type
                           : 0;
        if (type != INT64 || t->shape.rank > 1 || i == 0)
            continue;
        Onnx__TensorProto *list = malloc(sizeof *list);
        onnx__tensor_proto__init(list);
        list->name = strdup(t->name);
        list->data_type = INT64;
        list->n_dims = t->shape.rank;
        list->dims = malloc(sizeof *list->dims);
        list->dims[0] = t->shape.rank ? t->shape.dimension[0] : 0;
        list->n_int64_data = (size_t)t->count;
        list->int64_data = malloc((t->count + 1) * sizeof *list->int64_data);
        for (uint64_t k = 0; k < t->count; k++)
            list->int64_data[k] = (int64_t)t->value[k];
        g->initializer = realloc(g->initializer, (g->n_initializer + 1) * sizeof *g->initializer);
        g->initializer[g->n_initializer++] = list;
    }
}

enum pim_status numbers_import(struct numbers *n, struct pim_error *error)
{
    static const struct pim_onnx_options options = {.count = 0};
    keep_lists(n);
    for (size_t i = 0; i < n->file->graph->n_node; i++) {
        char name[32];
        (void)snprintf(name, sizeof name, "n%zu", i);
        if (n->file->graph->node[i]->name != protobuf_c_empty_string)
            free(n->file->graph->node[i]->name);
        n->file->graph->node[i]->name = strdup(name);
    }
    n->size = onnx__model_proto__get_packed_size(n->file);
    n->bytes = malloc(n->size + 1);
    if (!n->bytes)
        return pim_fail(error, PIM_NO_MEMORY, "out of memory");
    (void)onnx__model_proto__pack(n->file, n->bytes);
    return pim_onnx_parse("model", n->bytes, n->size, &options, &n->network, error);
}

enum pim_status numbers_evaluate(struct numbers *n, struct pim_error *error)
{
    const struct pim_real_numbers source = {.context = n, .numbers = numbers_of};
    return pim_verify_evaluate_reals(&n->network->graph, &source, &n->arena, &n->value, error);
}
