/* From a network graph to an ONNX file: operator set 17, weights as ConstantOfShape nodes, hence no weight
 * bytes. */
#include "mappers/network/onnx/export/exporter.h"
#include "mappers/network/onnx/onnx.h"
#include "onnx.pb-c.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { OPSET = 17, IR_VERSION = 8, TYPE_FLOAT = 1, TYPE_INT64 = 7 };
enum { ATTRIBUTE_INT = 2, ATTRIBUTE_STRING = 3, ATTRIBUTE_INTS = 7 };

static void *require(struct pim_onnx_exporter *e, size_t size)
{
    return memset(pim_arena_require(&e->arena, size, _Alignof(max_align_t)), 0, size);
}

const char *pim_onnx_inner_name(struct pim_onnx_exporter *e, const struct pim_layer *layer,
                                const char *suffix)
{
    size_t size = strlen(layer->name) + strlen(suffix) + 2;
    char *name = require(e, size);
    (void)snprintf(name, size, "%s/%s", layer->name, suffix);
    return name;
}

static const char *step_name(struct pim_onnx_exporter *e)
{
    char suffix[16];
    (void)snprintf(suffix, sizeof suffix, "%u", ++e->steps);
    return pim_onnx_inner_name(e, e->layer, suffix);
}

/* The format's strings are not const, and are only read. */
static char *text(struct pim_onnx_exporter *e, const char *string)
{
    return pim_arena_copy_text(&e->arena, string);
}

const char *pim_onnx_put(struct pim_onnx_exporter *e, const char *operation, bool last, uint32_t count,
                         const char *const *inputs)
{
    const char *output = last ? e->layer->name : step_name(e);
    Onnx__NodeProto *node = require(e, sizeof *node);
    onnx__node_proto__init(node);
    node->op_type = text(e, operation);
    node->name = text(e, output);
    node->n_input = count;
    node->input = require(e, (count + 1) * sizeof *node->input);
    for (uint32_t n = 0; n < count; n++)
        node->input[n] = text(e, inputs[n]);
    node->n_output = 1;
    node->output = require(e, sizeof *node->output);
    node->output[0] = text(e, output);
    e->node = pim_array_require(e->node, &e->node_capacity, e->nodes + 1, sizeof *e->node);
    e->node[e->nodes++] = node;
    return output;
}

static Onnx__AttributeProto *put_attribute(struct pim_onnx_exporter *e, const char *name, int32_t type)
{
    Onnx__NodeProto *node = e->node[e->nodes - 1];
    Onnx__AttributeProto *attribute = require(e, sizeof *attribute);
    onnx__attribute_proto__init(attribute);
    attribute->name = text(e, name);
    attribute->type = type;
    Onnx__AttributeProto **list = require(e, (node->n_attribute + 1) * sizeof(Onnx__AttributeProto *));
    if (node->n_attribute)
        memcpy(list, node->attribute, node->n_attribute * sizeof(Onnx__AttributeProto *));
    list[node->n_attribute++] = attribute;
    node->attribute = list;
    return attribute;
}

void pim_onnx_put_integer(struct pim_onnx_exporter *e, const char *name, int64_t value)
{
    put_attribute(e, name, ATTRIBUTE_INT)->i = value;
}

void pim_onnx_put_text(struct pim_onnx_exporter *e, const char *name, const char *value)
{
    Onnx__AttributeProto *attribute = put_attribute(e, name, ATTRIBUTE_STRING);
    attribute->s.data = (uint8_t *)text(e, value);
    attribute->s.len = strlen(value);
}

static int64_t *copy_integers(struct pim_onnx_exporter *e, const int64_t *values, size_t count)
{
    int64_t *copy = require(e, (count + 1) * sizeof *copy);
    if (count)
        memcpy(copy, values, count * sizeof *copy);
    return copy;
}

void pim_onnx_put_integers(struct pim_onnx_exporter *e, const char *name, const int64_t *values, size_t count)
{
    Onnx__AttributeProto *attribute = put_attribute(e, name, ATTRIBUTE_INTS);
    attribute->ints = copy_integers(e, values, count);
    attribute->n_ints = count;
}

static Onnx__TensorProto *put_initializer(struct pim_onnx_exporter *e, const char *name, int32_t type,
                                          const int64_t *dimensions, size_t rank)
{
    Onnx__TensorProto *tensor = require(e, sizeof *tensor);
    onnx__tensor_proto__init(tensor);
    tensor->name = text(e, name);
    tensor->data_type = type;
    tensor->dims = copy_integers(e, dimensions, rank);
    tensor->n_dims = rank;
    e->initializer = pim_array_require(e->initializer, &e->initializer_capacity, e->initializers + 1,
                                       sizeof *e->initializer);
    e->initializer[e->initializers++] = tensor;
    return tensor;
}

const char *pim_onnx_put_list(struct pim_onnx_exporter *e, const int64_t *values, size_t count,
                              const struct pim_shape *shape)
{
    const char *name = step_name(e);
    int64_t dimensions[PIM_SHAPE_RANK] = {(int64_t)count};
    size_t rank = shape ? shape->rank : 1;
    for (uint32_t d = 0; shape && d < shape->rank; d++)
        dimensions[d] = shape->dimension[d];
    Onnx__TensorProto *tensor = put_initializer(e, name, TYPE_INT64, dimensions, rank);
    tensor->int64_data = copy_integers(e, values, count);
    tensor->n_int64_data = count;
    return name;
}

const char *pim_onnx_put_number(struct pim_onnx_exporter *e, double value)
{
    const char *name = step_name(e);
    Onnx__TensorProto *tensor = put_initializer(e, name, TYPE_FLOAT, NULL, 0);
    tensor->float_data = require(e, sizeof *tensor->float_data);
    tensor->float_data[0] = (float)value;
    tensor->n_float_data = 1;
    return name;
}

const char *pim_onnx_put_weights(struct pim_onnx_exporter *e, const char *name, const struct pim_shape *shape)
{
    int64_t dimensions[PIM_SHAPE_RANK] = {0};
    for (uint32_t d = 0; d < shape->rank; d++)
        dimensions[d] = shape->dimension[d];
    const char *list = pim_onnx_put_list(e, dimensions, shape->rank, NULL);
    (void)pim_onnx_put(e, "ConstantOfShape", false, 1, &list);
    Onnx__NodeProto *node = e->node[e->nodes - 1];
    node->output[0] = text(e, name);
    node->name = node->output[0];
    return name;
}

/* The description of an input or output of the network. */
static Onnx__ValueInfoProto *put_value(struct pim_onnx_exporter *e, const struct pim_layer *layer)
{
    Onnx__ValueInfoProto *value = require(e, sizeof *value);
    Onnx__TypeProto *type = require(e, sizeof *type);
    Onnx__TypeProto__Tensor *tensor = require(e, sizeof *tensor);
    Onnx__TensorShapeProto *shape = require(e, sizeof *shape);
    onnx__value_info_proto__init(value);
    onnx__type_proto__init(type);
    onnx__type_proto__tensor__init(tensor);
    onnx__tensor_shape_proto__init(shape);
    value->name = text(e, layer->name);
    value->type = type;
    type->tensor_type = tensor;
    tensor->elem_type = TYPE_FLOAT;
    tensor->shape = shape;
    shape->n_dim = layer->output.rank;
    shape->dim = require(e, (shape->n_dim + 1) * sizeof *shape->dim);
    for (uint32_t d = 0; d < layer->output.rank; d++) {
        shape->dim[d] = require(e, sizeof **shape->dim);
        onnx__tensor_shape_proto__dimension__init(shape->dim[d]);
        shape->dim[d]->value_case = ONNX__TENSOR_SHAPE_PROTO__DIMENSION__VALUE_DIM_VALUE;
        shape->dim[d]->dim_value = layer->output.dimension[d];
    }
    return value;
}

/* Inputs are the INPUT layers, outputs the layers that nothing reads. */
static void put_ends(struct pim_onnx_exporter *e, Onnx__GraphProto *graph)
{
    uint32_t count = e->graph->count;
    uint8_t *read = require(e, (size_t)count + 1);
    for (uint32_t l = 0; l < count; l++)
        for (uint32_t n = 0; n < e->graph->layers[l].inputs; n++)
            read[e->graph->layers[l].input[n]] = 1;
    graph->input = require(e, ((size_t)count + 1) * sizeof *graph->input);
    graph->output = require(e, ((size_t)count + 1) * sizeof *graph->output);
    for (uint32_t l = 0; l < count; l++) {
        if (e->graph->layers[l].operation == PIM_OPERATOR_INPUT)
            graph->input[graph->n_input++] = put_value(e, &e->graph->layers[l]);
        else if (!read[l])
            graph->output[graph->n_output++] = put_value(e, &e->graph->layers[l]);
    }
}

static enum pim_status write_model(struct pim_onnx_exporter *e, const struct pim_network *network, FILE *file)
{
    Onnx__ModelProto model;
    Onnx__GraphProto graph;
    Onnx__OperatorSetIdProto set, *sets[1] = {&set};
    onnx__model_proto__init(&model);
    onnx__graph_proto__init(&graph);
    onnx__operator_set_id_proto__init(&set);
    set.version = OPSET;
    model.ir_version = IR_VERSION;
    model.producer_name = text(e, "pimsim");
    model.producer_version = text(e, PIMSIM_VERSION);
    model.n_opset_import = 1;
    model.opset_import = sets;
    model.graph = &graph;
    graph.name = text(e, network->name);
    graph.n_node = e->nodes;
    graph.node = e->node;
    graph.n_initializer = e->initializers;
    graph.initializer = e->initializer;
    put_ends(e, &graph);
    size_t size = onnx__model_proto__get_packed_size(&model);
    uint8_t *bytes = malloc(size);
    if (!bytes)
        return pim_fail(e->error, PIM_NO_MEMORY, "out of memory while writing a network");
    (void)onnx__model_proto__pack(&model, bytes);
    size_t written = fwrite(bytes, 1, size, file);
    free(bytes);
    return written == size
               ? PIM_OK
               : pim_fail(e->error, PIM_IO, "the network could not be written: %s", strerror(errno));
}

enum pim_status pim_onnx_write(const struct pim_network *network, FILE *file, struct pim_error *error)
{
    struct pim_onnx_exporter e = {.graph = &network->graph, .error = error};
    pim_arena_initialize(&e.arena, 0);
    uint32_t computed = 0;
    for (uint32_t l = 0; l < network->graph.count; l++)
        computed += network->graph.layers[l].operation != PIM_OPERATOR_INPUT;
    if (computed == 0)
        e.status = pim_fail(error, PIM_BAD_INPUT, "the network has inputs alone: there is nothing to write");
    for (uint32_t l = 0; l < network->graph.count && e.status == PIM_OK; l++) {
        e.layer = &network->graph.layers[l];
        e.steps = 0;
        pim_onnx_put_layer(&e);
    }
    if (e.status == PIM_OK)
        e.status = write_model(&e, network, file);
    free(e.node);
    free(e.initializer);
    pim_arena_terminate(&e.arena);
    return e.status;
}
