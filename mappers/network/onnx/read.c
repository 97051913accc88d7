/* From a file to a network: decoding, inputs and initialisers, then node by node. */
#include "mappers/network/onnx/importer.h"
#include "onnx.pb-c.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LEAST_OPSET = 1 };
#define FILE_LIMIT (UINT64_C(1) << 31) /* bytes; protocol buffers themselves end there */

static void read_opset(struct pim_onnx_importer *i, const Onnx__ModelProto *model)
{
    for (size_t o = 0; o < model->n_opset_import; o++) {
        const char *domain = model->opset_import[o]->domain;
        if (domain[0] == '\0' || strcmp(domain, "ai.onnx") == 0)
            i->opset = model->opset_import[o]->version;
    }
    if (i->opset < LEAST_OPSET)
        pim_onnx_fail(i, "its operator set is version %" PRId64 ": version %d or later is needed", i->opset,
                      LEAST_OPSET);
}

static uint32_t read_dimension(struct pim_onnx_importer *i, const char *input, size_t at,
                               const Onnx__TensorShapeProto__Dimension *d)
{
    bool symbolic = d->value_case == ONNX__TENSOR_SHAPE_PROTO__DIMENSION__VALUE_DIM_PARAM && d->dim_param[0];
    int64_t size = d->value_case == ONNX__TENSOR_SHAPE_PROTO__DIMENSION__VALUE_DIM_VALUE ? d->dim_value : 0;
    if (symbolic)
        size = pim_onnx_dimension_option(i, d->dim_param);
    if (size >= 1 && size <= (int64_t)PIM_DIMENSION_LIMIT)
        return (uint32_t)size;
    bool open = symbolic || d->value_case != ONNX__TENSOR_SHAPE_PROTO__DIMENSION__VALUE_DIM_VALUE ||
                size == 0 || size == -1;
    if (open && at == 0)
        return 1; /* the batch */
    if (symbolic)
        pim_onnx_fail(
            i, "input \"%s\": dimension %zu is called \"%s\" and has no size: give one with --dim %s=SIZE",
            input, at, d->dim_param, d->dim_param);
    else
        pim_onnx_fail(i, "input \"%s\": dimension %zu is %" PRId64 ": allowed are 1 to %" PRIu32, input, at,
                      size, PIM_DIMENSION_LIMIT);
    return 1;
}

static void read_inputs(struct pim_onnx_importer *i)
{
    const Onnx__GraphProto *g = i->model;
    for (size_t n = 0; n < g->n_initializer && i->status == PIM_OK; n++) {
        uint32_t value = pim_onnx_value_named(i, g->initializer[n]->name);
        pim_onnx_read_tensor(i, g->initializer[n], &i->value[value]);
    }
    for (size_t n = 0; n < g->n_input && i->status == PIM_OK; n++) {
        const Onnx__ValueInfoProto *input = g->input[n];
        uint32_t at = pim_onnx_value_named(i, input->name);
        struct pim_onnx_value *value = &i->value[at];
        if (value->kind == PIM_ONNX_CONSTANT) /* before IR version 4 initialisers are inputs as well */
            continue;
        const Onnx__TensorShapeProto *shape =
            input->type && input->type->tensor_type ? input->type->tensor_type->shape : NULL;
        if (!shape || shape->n_dim > PIM_SHAPE_RANK) {
            bool tensor = input->type && input->type->tensor_type;
            pim_onnx_fail(i, "input \"%s\" %s", input->name,
                          shape    ? "has more than 8 dimensions"
                          : tensor ? "has no shape: a tensor of known rank is needed"
                                   : "is no tensor: lists and optional tensors have no shape");
            return;
        }
        value->shape.rank = (uint32_t)shape->n_dim;
        if (shape->n_dim < 2 && pim_onnx_input_contents(i, value))
            continue;
        value->kind = PIM_ONNX_ACTIVATION;
        for (size_t d = 0; d < shape->n_dim; d++)
            value->shape.dimension[d] = read_dimension(i, input->name, d, shape->dim[d]);
    }
}

/* What the file says about shapes inside of the network, for those that depend on data. */
static void note_declarations(struct pim_onnx_importer *i)
{
    const Onnx__GraphProto *g = i->model;
    for (size_t n = 0; n < g->n_value_info + g->n_output; n++) {
        const Onnx__ValueInfoProto *info =
            n < g->n_value_info ? g->value_info[n] : g->output[n - g->n_value_info];
        uint32_t value = pim_onnx_names_find(&i->value_names, info->name);
        if (value != PIM_NONE && info->type && info->type->tensor_type && info->type->tensor_type->shape)
            i->value[value].info = info;
    }
}

/* Weights may be prepared behind the node that uses them: what needs constants alone comes first. */
static void fold_constants(struct pim_onnx_importer *i)
{
    for (uint32_t o = 0; o < i->ordered && i->status == PIM_OK; o++) {
        i->node = i->model->node[i->order[o]];
        if (pim_onnx_all_constant(i) && pim_onnx_fold(i))
            i->absorbed[i->order[o]] = 1;
    }
}

static bool folds(struct pim_onnx_importer *i)
{
    bool shape_only = strcmp(i->node->op_type, "Shape") == 0 || strcmp(i->node->op_type, "Size") == 0 ||
                      strcmp(i->node->op_type, "EyeLike") == 0;
    return (pim_onnx_all_constant(i) || shape_only) && pim_onnx_fold(i);
}

void pim_onnx_convert_node(struct pim_onnx_importer *i)
{
    if (!folds(i))
        pim_onnx_convert(i);
}

static void convert_all(struct pim_onnx_importer *i)
{
    fold_constants(i);
    for (uint32_t o = 0; o < i->ordered && i->status == PIM_OK; o++) {
        i->node = i->model->node[i->order[o]];
        if (!i->absorbed[i->order[o]] && !folds(i) && i->status == PIM_OK && !pim_onnx_fuse(i))
            pim_onnx_convert(i);
    }
    i->node = NULL;
    for (uint32_t v = 0; v < i->values && i->status == PIM_OK; v++)
        if (i->value[v].output && i->value[v].kind == PIM_ONNX_ABSENT)
            pim_onnx_fail(
                i, "output \"%s\" of the network is a second output of its node, which pimsim does not make",
                i->value[v].name);
    /* Where all outputs are inputs or constants these are layers, too. */
    bool computed = false;
    for (uint32_t v = 0; v < i->values; v++)
        computed |= i->value[v].output && i->value[v].layer != PIM_NONE;
    for (uint32_t v = 0; v < i->values && !computed && i->status == PIM_OK; v++)
        if (i->value[v].output)
            (void)pim_onnx_layer_of(i, &i->value[v]);
}

/* Layers that no output needs, which a node made beside others (pieces of a list that nobody takes). */
static void drop_dead_layers(struct pim_onnx_importer *i)
{
    struct pim_graph *graph = &i->network->graph;
    uint8_t *keep = calloc((size_t)graph->count + 1, 1);
    uint32_t kept = 0;
    for (uint32_t v = 0; v < i->values && keep; v++)
        if (i->value[v].output && i->value[v].layer != PIM_NONE)
            keep[i->value[v].layer] = 1;
    for (uint32_t l = graph->count; l-- > 0 && keep;) {
        const struct pim_layer *layer = &graph->layers[l];
        kept += keep[l];
        for (uint32_t n = 0; n < layer->inputs && keep[l]; n++)
            keep[layer->input[n]] = 1;
        if (keep[l] && layer->operation == PIM_OPERATOR_LINEAR && layer->attributes.linear.shared)
            keep[layer->attributes.linear.weights_of] = 1;
    }
    if (!keep)
        i->status = pim_fail(i->error, PIM_NO_MEMORY, "out of memory while reading %s", i->path);
    else if (kept > 0 && kept < graph->count)
        i->status = pim_graph_keep(graph, keep, i->error);
    free(keep);
}

static void name_network(struct pim_onnx_importer *i)
{
    const char *name = i->model->name[0] ? i->model->name : "unnamed";
    char *copy = pim_arena_copy_text(&i->network->arena, name);
    for (char *c = copy; *c; c++)
        if (*c < 0x20 || *c > 0x7e)
            *c = '_';
    i->network->name = copy;
}

static void import(struct pim_onnx_importer *i, const Onnx__ModelProto *model)
{
    if (!model->graph || model->graph->n_node >= UINT32_MAX / 4) {
        pim_onnx_fail(i, "it has no graph");
        return;
    }
    i->file = model;
    i->model = model->graph;
    read_opset(i, model);
    if (i->status == PIM_OK)
        pim_onnx_expand_functions(i);
    if (i->status == PIM_OK)
        pim_onnx_read_branches(i);
    if (i->status == PIM_OK)
        pim_onnx_check_dimensions(i);
    if (i->status == PIM_OK)
        read_inputs(i);
    if (i->status == PIM_OK)
        pim_onnx_order(i);
    if (i->status == PIM_OK)
        note_declarations(i);
    if (i->status == PIM_OK)
        convert_all(i);
    if (i->status == PIM_OK)
        drop_dead_layers(i);
    if (i->status == PIM_OK && i->network->graph.count == 0)
        pim_onnx_fail(i, "the network has no layers");
    if (i->status == PIM_OK)
        name_network(i);
}

enum pim_status pim_onnx_parse(const char *path, const uint8_t *bytes, size_t size,
                               const struct pim_onnx_options *options, struct pim_network **network,
                               struct pim_error *error)
{
    *network = NULL;
    Onnx__ModelProto *model = size ? onnx__model_proto__unpack(NULL, size, bytes) : NULL;
    if (!model)
        return pim_fail(error, PIM_BAD_INPUT,
                        "%s is not an ONNX model: its %zu bytes are no protocol-buffer message of that kind",
                        path, size);
    struct pim_network *made = calloc(1, sizeof *made);
    if (!made) {
        onnx__model_proto__free_unpacked(model, NULL);
        return pim_fail(error, PIM_NO_MEMORY, "out of memory while reading %s", path);
    }
    pim_arena_initialize(&made->arena, 0);
    pim_graph_initialize(&made->graph, &made->arena);
    struct pim_onnx_importer i = {.path = path, .options = options, .network = made, .error = error};
    pim_arena_initialize(&i.scratch, 0);
    i.value_names.arena = i.layer_names.arena = &i.scratch;
    import(&i, model);
    free(i.value);
    free(i.touched);
    pim_onnx_free_branches(&i);
    pim_arena_terminate(&i.scratch);
    onnx__model_proto__free_unpacked(model, NULL);
    if (i.status != PIM_OK)
        pim_network_destroy(made);
    else
        *network = made;
    return i.status;
}

enum pim_status pim_onnx_read(const char *path, const struct pim_onnx_options *options,
                              struct pim_network **network, struct pim_error *error)
{
    *network = NULL;
    FILE *file = fopen(path, "rb");
    if (!file)
        return pim_fail(error, PIM_IO, "cannot open %s: %s", path, strerror(errno));
    uint8_t *bytes = NULL;
    size_t capacity = 0, size = 0, got = 0;
    enum pim_status status = PIM_OK;
    do {
        uint8_t *grown = size < FILE_LIMIT ? pim_array_grow(bytes, &capacity, size + 65536, 1) : NULL;
        if (!grown) {
            status = size < FILE_LIMIT
                         ? pim_fail(error, PIM_NO_MEMORY, "out of memory while reading %s", path)
                         : pim_fail(error, PIM_BAD_INPUT, "%s is larger than 2 GiB: no ONNX file is", path);
            break;
        }
        bytes = grown;
        got = fread(bytes + size, 1, capacity - size, file);
        size += got;
    } while (got > 0);
    if (status == PIM_OK && ferror(file))
        status = pim_fail(error, PIM_IO, "cannot read %s", path);
    (void)fclose(file);
    if (status == PIM_OK)
        status = pim_onnx_parse(path, bytes, size, options, network, error);
    free(bytes);
    return status;
}
