#include "tests/unit/onnx/model.h"

#include <string.h>

enum { VARINT = 0, LENGTH = 2, FIXED32 = 5 };

static void put_byte(struct bytes *b, uint8_t byte)
{
    ck_assert_uint_lt(b->size, sizeof b->data);
    b->data[b->size++] = byte;
}

static void put_varint(struct bytes *b, uint64_t value)
{
    while (value > 127) {
        put_byte(b, (uint8_t)(value & 127) | 128);
        value >>= 7;
    }
    put_byte(b, (uint8_t)value);
}

static void put_number(struct bytes *b, uint32_t field, int64_t value)
{
    put_varint(b, field << 3 | VARINT);
    put_varint(b, (uint64_t)value);
}

static void put_block(struct bytes *b, uint32_t field, const void *data, size_t size)
{
    put_varint(b, field << 3 | LENGTH);
    put_varint(b, size);
    for (size_t i = 0; i < size; i++)
        put_byte(b, ((const uint8_t *)data)[i]);
}

static void put_text(struct bytes *b, uint32_t field, const char *text)
{
    put_block(b, field, text, strlen(text));
}

static void flush_node(struct model *m)
{
    if (m->node.size && m->body.size)
        put_block(&m->body, 7, m->node.data, m->node.size);
    else if (m->node.size)
        put_block(&m->graph, 1, m->node.data, m->node.size);
    m->node.size = 0;
}

/* A description of a tensor: 11 of an input, 13 of one inside. */
static void put_value(struct model *m, uint32_t field, const char *name, const int64_t *dimensions,
                      size_t rank)
{
    struct bytes value = {.size = 0}, tensor = {.size = 0}, type = {.size = 0}, shape = {.size = 0};
    for (size_t d = 0; d < rank; d++) {
        struct bytes dimension = {.size = 0};
        if (dimensions[d] < 0 && dimensions[d] > -3)
            put_text(&dimension, 2, dimensions[d] == -1 ? "N" : "M");
        else
            put_number(&dimension, 1, dimensions[d]);
        put_block(&shape, 1, dimension.data, dimension.size);
    }
    put_number(&tensor, 1, 1);
    if (rank)
        put_block(&tensor, 2, shape.data, shape.size);
    put_block(&type, 1, tensor.data, tensor.size);
    put_text(&value, 1, name);
    put_block(&value, 2, type.data, type.size);
    put_block(&m->graph, field, value.data, value.size);
}

void model_input(struct model *m, const char *name, const int64_t *dimensions, size_t rank)
{
    put_value(m, 11, name, dimensions, rank);
}

void model_declare(struct model *m, const char *name, const int64_t *dimensions, size_t rank)
{
    put_value(m, 13, name, dimensions, rank);
}

void model_output(struct model *m, const char *name)
{
    struct bytes value = {.size = 0};
    put_text(&value, 1, name);
    put_block(&m->graph, 12, value.data, value.size);
}

static void begin_tensor(struct bytes *tensor, const char *name, int64_t type, const int64_t *dimensions,
                         size_t rank)
{
    for (size_t d = 0; d < rank; d++)
        put_number(tensor, 1, dimensions[d]);
    put_number(tensor, 2, type);
    put_text(tensor, 8, name);
}

void model_weights(struct model *m, const char *name, const int64_t *dimensions, size_t rank)
{
    struct bytes tensor = {.size = 0};
    begin_tensor(&tensor, name, 1, dimensions, rank);
    put_block(&m->graph, 5, tensor.data, tensor.size);
}

void model_list(struct model *m, const char *name, const int64_t *values, size_t count)
{
    struct bytes tensor = {.size = 0}, raw = {.size = 0};
    begin_tensor(&tensor, name, 7, (int64_t[]){(int64_t)count}, 1);
    for (size_t i = 0; i < count; i++)
        for (int byte = 0; byte < 8; byte++)
            put_byte(&raw, (uint8_t)((uint64_t)values[i] >> (8 * byte)));
    put_block(&tensor, 9, raw.data, raw.size);
    put_block(&m->graph, 5, tensor.data, tensor.size);
}

void model_scalar(struct model *m, const char *name, int64_t value)
{
    struct bytes tensor = {.size = 0};
    begin_tensor(&tensor, name, 7, NULL, 0);
    put_number(&tensor, 7, value); /* unpacked, as old writers do */
    put_block(&m->graph, 5, tensor.data, tensor.size);
}

static void put_float(struct bytes *b, float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    for (int byte = 0; byte < 4; byte++)
        put_byte(b, (uint8_t)(bits >> (8 * byte)));
}

void model_numbers(struct model *m, const char *name, const float *values, size_t count)
{
    struct bytes tensor = {.size = 0}, list = {.size = 0};
    begin_tensor(&tensor, name, 1, (int64_t[]){(int64_t)count}, 1);
    for (size_t i = 0; i < count; i++)
        put_float(&list, values[i]);
    put_block(&tensor, 4, list.data, list.size); /* packed float_data */
    put_block(&m->graph, 5, tensor.data, tensor.size);
}

void model_number(struct model *m, const char *name, float value)
{
    struct bytes tensor = {.size = 0}, list = {.size = 0};
    begin_tensor(&tensor, name, 1, NULL, 0);
    put_float(&list, value);
    put_block(&tensor, 4, list.data, list.size);
    put_block(&m->graph, 5, tensor.data, tensor.size);
}

void model_mask(struct model *m, const char *name, const int64_t *dimensions, size_t rank)
{
    struct bytes tensor = {.size = 0};
    begin_tensor(&tensor, name, 9, dimensions, rank);
    put_block(&m->graph, 5, tensor.data, tensor.size);
}

static void put_names(struct bytes *b, uint32_t field, const char *names)
{
    while (*names) {
        size_t length = strcspn(names, " ");
        bool left_out = length == 1 && names[0] == '-';
        put_block(b, field, names, left_out ? 0 : length);
        names += length + (names[length] == ' ');
    }
}

void model_node(struct model *m, const char *operation, const char *name, const char *inputs,
                const char *outputs)
{
    flush_node(m);
    put_names(&m->node, 1, inputs);
    put_names(&m->node, 2, outputs);
    put_text(&m->node, 3, name);
    put_text(&m->node, 4, operation);
}

void model_branch(struct model *m, const char *name, struct model *branch)
{
    struct bytes attribute = {.size = 0};
    flush_node(branch);
    put_text(&attribute, 1, name);
    put_block(&attribute, 6, branch->graph.data, branch->graph.size);
    put_number(&attribute, 20, 5);
    put_block(&m->node, 5, attribute.data, attribute.size);
}

void model_function(struct model *m, const char *name, const char *inputs, const char *outputs)
{
    flush_node(m);
    put_text(&m->body, 1, name);
    put_names(&m->body, 4, inputs);
    put_names(&m->body, 5, outputs);
    put_text(&m->body, 10, "local");
}

void model_end_function(struct model *m)
{
    flush_node(m);
    put_block(&m->functions, 25, m->body.data, m->body.size);
    m->body.size = 0;
}

void model_reference(struct model *m, const char *name, const char *outer)
{
    struct bytes attribute = {.size = 0};
    put_text(&attribute, 1, name);
    put_text(&attribute, 21, outer);
    put_block(&m->node, 5, attribute.data, attribute.size);
}

void model_integer(struct model *m, const char *name, int64_t value)
{
    struct bytes attribute = {.size = 0};
    put_text(&attribute, 1, name);
    put_number(&attribute, 3, value);
    put_number(&attribute, 20, 2);
    put_block(&m->node, 5, attribute.data, attribute.size);
}

void model_integers(struct model *m, const char *name, const int64_t *values, size_t count)
{
    struct bytes attribute = {.size = 0};
    put_text(&attribute, 1, name);
    for (size_t i = 0; i < count; i++)
        put_number(&attribute, 8, values[i]);
    put_number(&attribute, 20, 7);
    put_block(&m->node, 5, attribute.data, attribute.size);
}

void model_floats(struct model *m, const char *name, const float *values, size_t count)
{
    struct bytes attribute = {.size = 0}, list = {.size = 0};
    put_text(&attribute, 1, name);
    for (size_t i = 0; i < count; i++)
        put_float(&list, values[i]);
    put_block(&attribute, 7, list.data, list.size);
    put_number(&attribute, 20, 6);
    put_block(&m->node, 5, attribute.data, attribute.size);
}

void model_value(struct model *m, int64_t value)
{
    struct bytes attribute = {.size = 0}, tensor = {.size = 0};
    begin_tensor(&tensor, "", 7, (int64_t[]){1}, 1);
    put_number(&tensor, 7, value);
    put_text(&attribute, 1, "value");
    put_block(&attribute, 5, tensor.data, tensor.size);
    put_number(&attribute, 20, 4);
    put_block(&m->node, 5, attribute.data, attribute.size);
}

void model_domain(struct model *m, const char *domain)
{
    put_text(&m->node, 7, domain);
}

void model_text(struct model *m, const char *name, const char *value)
{
    struct bytes attribute = {.size = 0};
    put_text(&attribute, 1, name);
    put_text(&attribute, 4, value);
    put_number(&attribute, 20, 3);
    put_block(&m->node, 5, attribute.data, attribute.size);
}

void model_bytes(struct model *m, struct bytes *file)
{
    struct bytes set = {.size = 0};
    flush_node(m);
    put_number(&set, 2, m->opset);
    file->size = 0;
    put_number(file, 1, 8);
    put_block(file, 7, m->graph.data, m->graph.size);
    put_block(file, 8, set.data, set.size);
    for (size_t i = 0; i < m->functions.size; i++)
        put_byte(file, m->functions.data[i]);
}

static enum pim_status parse(struct model *m, struct pim_network **network, struct pim_error *error)
{
    struct bytes file;
    const struct pim_onnx_options options = {m->dimensions, m->dimension_count, m->allow_unknown};
    model_bytes(m, &file);
    return pim_onnx_parse("test.onnx", file.data, file.size, &options, network, error);
}

struct pim_network *model_read(struct model *m)
{
    struct pim_network *network = NULL;
    struct pim_error error = {PIM_OK, ""};
    enum pim_status status = parse(m, &network, &error);
    ck_assert_msg(status == PIM_OK, "%s", error.text);
    status = pim_graph_check(&network->graph, &error);
    ck_assert_msg(status == PIM_OK, "%s", error.text);
    return network;
}

void model_refused(struct model *m, const char *part)
{
    struct pim_network *network = NULL;
    struct pim_error error = {PIM_OK, ""};
    enum pim_status status = parse(m, &network, &error);
    ck_assert_msg(status == PIM_BAD_INPUT, "not refused: \"%s\" was expected", part);
    ck_assert_msg(strstr(error.text, part) != NULL, "\"%s\" does not say \"%s\"", error.text, part);
    ck_assert_ptr_null(network);
}

const struct pim_layer *layer_named(const struct pim_network *network, const char *name)
{
    uint32_t index = pim_graph_find(&network->graph, name);
    ck_assert_msg(index != PIM_NONE, "no layer %s", name);
    return &network->graph.layers[index];
}

void check_shape(const struct pim_layer *layer, const char *text)
{
    char found[96];
    ck_assert_str_eq(pim_shape_text(&layer->output, found, sizeof found), text);
}
