/*
 * Whole networks as ONNX files with weights, with an input and what pimsim says that comes out: the direct
 * evaluation of the graph that the import makes of the very same file.
 *
 *     onnx_networks SOURCE FOLDER
 *
 * writes FOLDER/NAME.onnx, NAME.input and NAME.output (32-bit floats) for each network, and networks.json.
 */
#include "mappers/network/graph.h"
#include "tests/unit/onnx/numbers.h"

#include "onnx.pb-c.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct network {
    const char *name; /* of a descriptor */
    size_t changes;   /* 0: windows() makes it */
    const char *change[3];
};

static const struct network networks[] = {
    {"windows", 0, {NULL}},
    {"squeezenet", 1, {"network.image=64"}},
    {"resnet18", 1, {"network.image=64"}},
    {"mobilenet-v2", 1, {"network.image=64"}},
    {"shufflenet", 1, {"network.image=64"}},
    {"vit-t", 1, {"network.image=48"}},
    {"pvt-tiny", 1, {"network.image=64"}},
    {"swin-t", 2, {"network.channels=[24,48,96,192]", "network.blocks=[2,2,2,2]"}},
};
enum { NETWORKS = sizeof networks / sizeof networks[0] };

/* A number in [-1, 1) of two others. */
static double uniform(uint64_t seed, uint64_t index)
{
    uint64_t x = (seed + 1) * UINT64_C(0x9E3779B97F4A7C15) + index;
    x = (x ^ x >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    x = (x ^ x >> 27) * UINT64_C(0x94D049BB133111EB);
    return ldexp((double)((x ^ x >> 31) >> 11), -52) - 1;
}

static bool ends_with(const char *text, const char *end)
{
    size_t length = strlen(text), tail = strlen(end);
    return length >= tail && strcmp(text + length - tail, end) == 0;
}

/* --- a network of windows that are not the same at both ends --- */

static uint32_t add(struct pim_graph *g, const char *name, enum pim_operator operation,
                    const union pim_attributes *a, uint32_t from)
{
    const struct pim_layer_description d = {.name = name,
                                            .operation = operation,
                                            .stage = PIM_NONE,
                                            .block = PIM_NONE,
                                            .inputs = operation != PIM_OPERATOR_INPUT,
                                            .input = &from,
                                            .attributes = *a};
    struct pim_error error = {0};
    uint32_t index = 0;
    if (pim_graph_add(g, &d, &index, &error) != PIM_OK) {
        (void)fprintf(stderr, "%s\n", error.text);
        exit(1);
    }
    return index;
}

/* Windows with other paddings before than behind, in rows and in columns. */
static void windows(struct pim_network *network)
{
    static const struct pim_sliding strided = {
        .kernel = {3, 4}, .stride = {2, 1}, .dilation = {1, 2}, .pad_before = {0, 3}, .pad_after = {2, 1}};
    static const struct pim_sliding pooled = {
        .kernel = {3, 3}, .stride = {1, 2}, .dilation = {1, 1}, .pad_before = {2, 0}, .pad_after = {0, 1}};
    static const struct pim_sliding averaged = {
        .kernel = {4, 2}, .stride = {1, 1}, .dilation = {1, 1}, .pad_before = {1, 0}, .pad_after = {3, 1}};
    static const struct pim_sliding spread = {
        .kernel = {3, 3}, .stride = {2, 3}, .dilation = {1, 1}, .pad_before = {2, 0}, .pad_after = {0, 1}};
    struct pim_graph *g = &network->graph;
    pim_arena_initialize(&network->arena, 0);
    network->name = "windows";
    pim_graph_initialize(g, &network->arena);
    uint32_t x = add(g, "x", PIM_OPERATOR_INPUT,
                     &(union pim_attributes){.shape = {.rank = 4, .dimension = {1, 6, 13, 11}}}, 0);
    x = add(
        g, "convolution", PIM_OPERATOR_CONVOLUTION,
        &(union pim_attributes){.convolution = {.sliding = strided, .outputs = 8, .groups = 2, .bias = true}},
        x);
    x = add(g, "maximum", PIM_OPERATOR_POOLING,
            &(union pim_attributes){.pooling = {.sliding = pooled, .kind = PIM_POOLING_MAXIMUM}}, x);
    x = add(g, "average", PIM_OPERATOR_POOLING,
            &(union pim_attributes){.pooling = {.sliding = averaged, .kind = PIM_POOLING_AVERAGE}}, x);
    (void)add(g, "transposed", PIM_OPERATOR_TRANSPOSED_CONVOLUTION,
              &(union pim_attributes){
                  .convolution =
                      {.sliding = spread, .outputs = 6, .groups = 2, .bias = true, .output_padding = {1, 2}}},
              x);
}

static bool make(const struct network *which, const char *source, uint8_t **bytes, size_t *size,
                 struct pim_error *error)
{
    struct pim_network *network = NULL, own = {.name = NULL};
    char path[1024];
    (void)snprintf(path, sizeof path, "%s/configs/networks/%s.cfg", source, which->name);
    if (which->changes == 0)
        windows(&own);
    else if (pim_network_read(path, which->change, which->changes, &network, error) != PIM_OK)
        return false;
    FILE *file = open_memstream((char **)bytes, size);
    enum pim_status status = file ? pim_onnx_write(network ? network : &own, file, error) : PIM_NO_MEMORY;
    if (file)
        (void)fclose(file);
    if (network)
        pim_network_destroy(network);
    else
        pim_arena_terminate(&own.arena);
    return status == PIM_OK;
}

/* --- weights --- */

/* The shape that a ConstantOfShape node reads. */
static Onnx__TensorProto *shape_of(const Onnx__GraphProto *g, const Onnx__NodeProto *node)
{
    for (size_t i = 0; i < g->n_initializer; i++)
        if (strcmp(g->initializer[i]->name, node->input[0]) == 0)
            return g->initializer[i];
    return NULL;
}

/* Whole numbers are places, no weights. */
static bool is_weight(const Onnx__GraphProto *g, const Onnx__NodeProto *node)
{
    if (strcmp(node->op_type, "ConstantOfShape") != 0)
        return false;
    for (size_t i = 0; i < g->n_node; i++)
        for (size_t k = 0; k < g->node[i]->n_input; k++)
            if (strcmp(g->node[i]->input[k], node->output[0]) == 0 &&
                strcmp(g->node[i]->op_type, "Cast") == 0)
                return false;
    return true;
}

/* Numbers that keep what goes through the network of about the same size. */
static void fill(Onnx__TensorProto *t, uint64_t seed)
{
    bool variance = ends_with(t->name, "/variance"), scale = ends_with(t->name, "/scale");
    uint64_t rows = t->n_dims == 2 ? (uint64_t)t->dims[0] : 1;
    for (size_t d = 1; d < t->n_dims && t->n_dims > 2; d++)
        rows *= (uint64_t)t->dims[d];
    double size = t->n_dims < 2 ? 0.5 : sqrt(6 / (double)rows);
    for (size_t i = 0; i < t->n_float_data; i++)
        t->float_data[i] = (float)((variance || scale ? 1 : 0) + size * uniform(seed, i));
}

/* ConstantOfShape nodes become initialisers with numbers. */
static void give_weights(Onnx__GraphProto *g)
{
    size_t kept = 0, weights = g->n_initializer;
    bool *gone = calloc(g->n_node + 1, sizeof *gone);
    g->initializer = realloc(g->initializer, (g->n_initializer + g->n_node) * sizeof *g->initializer);
    for (size_t i = 0; i < g->n_node; i++) {
        Onnx__NodeProto *node = g->node[i];
        const Onnx__TensorProto *shape = is_weight(g, node) ? shape_of(g, node) : NULL;
        if (!shape)
            continue;
        Onnx__TensorProto *t = malloc(sizeof *t);
        onnx__tensor_proto__init(t);
        t->name = strdup(node->output[0]);
        t->data_type = 1;
        t->n_dims = shape->n_int64_data;
        t->dims = malloc((t->n_dims + 1) * sizeof *t->dims);
        t->n_float_data = 1;
        for (size_t d = 0; d < t->n_dims; d++)
            t->n_float_data *= (size_t)(t->dims[d] = shape->int64_data[d]);
        t->float_data = malloc((t->n_float_data + 1) * sizeof *t->float_data);
        fill(t, weights);
        gone[i] = true;
        g->initializer[weights++] = t;
    }
    for (size_t i = 0; i < g->n_node; i++) {
        if (gone[i])
            onnx__node_proto__free_unpacked(g->node[i], NULL);
        else
            g->node[kept++] = g->node[i];
    }
    free(gone);
    g->n_initializer = weights;
    g->n_node = kept;
}

/* --- files --- */

static bool put(const char *folder, const char *name, const char *kind, const void *bytes, size_t size)
{
    char path[1024];
    (void)snprintf(path, sizeof path, "%s/%s.%s", folder, name, kind);
    FILE *file = fopen(path, "wb");
    bool written = file && fwrite(bytes, 1, size, file) == size;
    return file && fclose(file) == 0 && written;
}

static bool put_numbers(const char *folder, const char *name, const char *kind, const double *value,
                        uint64_t count)
{
    float *cut = malloc((count + 1) * sizeof *cut);
    for (uint64_t i = 0; i < count; i++)
        cut[i] = (float)value[i];
    bool written = put(folder, name, kind, cut, count * sizeof *cut);
    free(cut);
    return written;
}

/* Numbers that are all alike would hide what is wrong. */
static bool differ(const double *value, uint64_t count)
{
    double least = value[0], most = value[0];
    for (uint64_t i = 0; i < count; i++) {
        if (!isfinite(value[i]))
            return false;
        least = value[i] < least ? value[i] : least;
        most = value[i] > most ? value[i] : most;
    }
    return most - least > 0.01;
}

static bool write_network(struct numbers *n, const char *folder, const char *name, FILE *list,
                          struct pim_error *error)
{
    give_weights(n->file->graph);
    const Onnx__ValueInfoProto *info = n->file->graph->input[0];
    const Onnx__TensorShapeProto *shape = info->type->tensor_type->shape;
    struct tensor x = {.count = 1};
    for (size_t d = 0; d < shape->n_dim; d++) {
        x.shape.dimension[x.shape.rank++] = (uint32_t)shape->dim[d]->dim_value;
        x.count *= (uint64_t)shape->dim[d]->dim_value;
    }
    x.value = pim_arena_require_array(&n->arena, x.count, sizeof(double), _Alignof(double));
    for (uint64_t i = 0; i < x.count; i++)
        x.value[i] = uniform(UINT64_MAX / 2, i);
    numbers_give(n, info->name, &x);
    if (numbers_import(n, error) != PIM_OK || numbers_evaluate(n, error) != PIM_OK)
        return false;
    const struct pim_graph *g = &n->network->graph;
    uint64_t count = pim_shape_elements(&g->layers[g->count - 1].output);
    const double *result = n->value[g->count - 1];
    if (!differ(result, count)) {
        (void)pim_fail(error, PIM_INTERNAL, "its outputs are all alike");
        return false;
    }
    (void)fprintf(list, "%s{\"name\": \"%s\", \"shape\": [", ftell(list) > 2 ? ",\n " : "", name);
    for (uint32_t d = 0; d < x.shape.rank; d++)
        (void)fprintf(list, "%s%" PRIu32, d ? ", " : "", x.shape.dimension[d]);
    (void)fprintf(list, "], \"outputs\": %" PRIu64 "}", count);
    return put(folder, name, "onnx", n->bytes, n->size) &&
           put_numbers(folder, name, "input", x.value, x.count) &&
           put_numbers(folder, name, "output", result, count);
}

int main(int count, char **arguments)
{
    char path[1024];
    if (count != 3)
        return 2;
    (void)snprintf(path, sizeof path, "%s/networks.json", arguments[2]);
    FILE *list = fopen(path, "w");
    bool good = list && fputs("[", list) >= 0;
    for (size_t i = 0; i < NETWORKS && good; i++) {
        struct pim_error error = {0};
        uint8_t *bytes = NULL;
        size_t size;
        struct numbers n;
        good = make(&networks[i], arguments[1], &bytes, &size, &error);
        if (good) {
            good = numbers_open(&n, bytes, size) &&
                   write_network(&n, arguments[2], networks[i].name, list, &error);
            numbers_close(&n);
        }
        if (!good)
            (void)fprintf(stderr, "%s: %s\n", networks[i].name, error.text);
        free(bytes);
    }
    return list && fputs("]\n", list) >= 0 && fclose(list) == 0 && good ? 0 : 1;
}
