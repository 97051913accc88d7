/* The output of a network, read back. */
#include "mappers/network/print.h"
#include "sim/output/csv.h"
#include "sim/output/json.h"
#include "tests/unit/network/networks.h"

#include <stdlib.h>
#include <string.h>

static uint64_t count_of(const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);
    ck_assert_msg(json_is_integer(value), "%s", key);
    return (uint64_t)json_integer_value(value);
}

/* Writes with `print` into memory; the caller frees the text. */
static char *written(const struct pim_network *network,
                     void (*print)(const struct pim_network *network, FILE *file), size_t *size)
{
    char *text = NULL;
    FILE *file = open_memstream(&text, size);
    ck_assert_ptr_nonnull(file);
    if (print) {
        print(network, file);
    } else {
        struct pim_error error = {0};
        ck_assert_msg(pim_network_print_json(network, file, &error) == PIM_OK, "%s", error.text);
    }
    ck_assert_int_eq(fclose(file), 0);
    return text;
}

START_TEST(json_has_every_layer_and_block)
{
    struct pim_network *network = read_network(network_names[_i], NULL);
    struct pim_error error = {0};
    size_t size;
    char *text = written(network, NULL, &size);
    json_t *root;
    ck_assert_msg(pim_json_parse("test", text, size, &root, &error) == PIM_OK, "%s", error.text);
    ck_assert_str_eq(json_string_value(json_object_get(root, "name")), network_names[_i]);
    ck_assert_uint_eq(count_of(root, "macs"), network->graph.macs);
    ck_assert_uint_eq(count_of(root, "parameters"), network->graph.parameters);
    const json_t *layers = json_object_get(root, "layers");
    ck_assert_uint_eq(json_array_size(layers), network->graph.count);
    uint64_t macs = 0, parameters = 0, padding = 0;
    for (size_t i = 0; i < json_array_size(layers); i++) {
        const json_t *layer = json_array_get(layers, i);
        const struct pim_layer *expected = &network->graph.layers[i];
        ck_assert_str_eq(json_string_value(json_object_get(layer, "name")), expected->name);
        ck_assert_str_eq(json_string_value(json_object_get(layer, "operator")),
                         pim_operator_name(expected->operation));
        ck_assert_uint_eq(json_array_size(json_object_get(layer, "output_shape")), expected->output.rank);
        ck_assert_int_eq(json_integer_value(json_array_get(json_object_get(layer, "output_shape"), 0)),
                         expected->output.dimension[0]);
        ck_assert_uint_eq(json_array_size(json_object_get(layer, "inputs")), expected->inputs);
        macs += count_of(layer, "macs");
        parameters += count_of(layer, "parameters");
        padding += count_of(layer, "padding_macs");
    }
    ck_assert_uint_eq(macs, network->graph.macs);
    ck_assert_uint_eq(parameters, network->graph.parameters);
    ck_assert_uint_eq(padding, count_of(root, "padding_macs"));
    const json_t *transformer = json_object_get(root, "transformer");
    const json_t *blocks = json_object_get(transformer, "blocks");
    ck_assert_uint_eq(json_array_size(blocks), network->transformer->blocks);
    ck_assert_uint_eq(json_array_size(json_object_get(transformer, "stages")), network->transformer->stages);
    for (size_t i = 0; i < json_array_size(blocks); i++) {
        const struct pim_transformer_block *block = &network->transformer->block[i];
        const json_t *attentions = json_object_get(json_array_get(blocks, i), "attentions");
        ck_assert_uint_eq(json_array_size(attentions), block->attentions);
        ck_assert_uint_eq(count_of(json_array_get(attentions, 0), "branches"), block->attention[0].branches);
    }
    json_decref(root);
    free(text);
    pim_network_destroy(network);
}
END_TEST

START_TEST(csv_has_a_row_for_each_layer)
{
    struct pim_network *network = read_network("cswin-t", NULL);
    struct pim_error error = {0};
    struct pim_csv_reader *reader;
    size_t size, macs_column, name_column;
    char *text = written(network, pim_network_print_csv, &size);
    FILE *file = fmemopen(text, size, "r");
    ck_assert_int_eq(pim_csv_open_stream(&reader, file, "test", NULL, 0, &error), PIM_OK);
    ck_assert_int_eq(pim_csv_column(reader, "macs", &macs_column, &error), PIM_OK);
    ck_assert_int_eq(pim_csv_column(reader, "layer", &name_column, &error), PIM_OK);
    bool more = true;
    uint32_t rows = 0;
    ck_assert_int_eq(pim_csv_next(reader, &more, &error), PIM_OK);
    for (; more; rows++) {
        uint64_t macs;
        ck_assert_int_eq(pim_csv_count(reader, macs_column, 0, UINT64_MAX, &macs, &error), PIM_OK);
        ck_assert_uint_eq(macs, network->graph.layers[rows].macs);
        ck_assert_str_eq(pim_csv_text(reader, name_column), network->graph.layers[rows].name);
        ck_assert_int_eq(pim_csv_next(reader, &more, &error), PIM_OK);
    }
    ck_assert_uint_eq(rows, network->graph.count);
    pim_csv_close(reader);
    fclose(file);
    free(text);
    pim_network_destroy(network);
}
END_TEST

static size_t occurrences(const char *text, const char *what)
{
    size_t count = 0;
    for (const char *at = strstr(text, what); at; at = strstr(at + strlen(what), what))
        count++;
    return count;
}

START_TEST(dot_has_every_edge)
{
    struct pim_network *network = read_network("focal-t", NULL);
    size_t size, edges = 0;
    network->graph.layers[3].name = "a \"quoted\" \\ name\n";
    char *text = written(network, pim_network_print_dot, &size);
    for (uint32_t i = 0; i < network->graph.count; i++)
        edges += network->graph.layers[i].inputs;
    ck_assert_uint_eq(occurrences(text, " -> "), edges);
    ck_assert_uint_eq(occurrences(text, "[label="), network->graph.count);
    ck_assert_ptr_nonnull(strstr(text, "\"a \\\"quoted\\\" \\\\ name\\n"));
    ck_assert_int_eq(strncmp(text, "digraph \"focal-t\" {\n", 20), 0);
    ck_assert_str_eq(text + size - 2, "}\n");
    free(text);
    pim_network_destroy(network);
}
END_TEST

START_TEST(text_shows_totals_and_branches)
{
    struct pim_network *network = read_network("swin-b", "network.image=640");
    size_t size;
    char *text = written(network, pim_network_print_text, &size);
    ck_assert_ptr_nonnull(strstr(text, "swin-b (swin, image 640x640)"));
    ck_assert_ptr_nonnull(strstr(text, "parameters   87 768 224\n"));
    ck_assert_ptr_nonnull(
        strstr(text, "    1.2    25600      529     23x23       7x7       49       49     4     32 shifted"));
    ck_assert_uint_eq(occurrences(text, "shifted"), 12);
    free(text);
    pim_network_destroy(network);
}
END_TEST

Suite *print_suite(void)
{
    Suite *suite = suite_create("print");
    TCase *group = tcase_create("print");
    tcase_add_loop_test(group, json_has_every_layer_and_block, 0, NETWORKS);
    tcase_add_test(group, csv_has_a_row_for_each_layer);
    tcase_add_test(group, dot_has_every_edge);
    tcase_add_test(group, text_shows_totals_and_branches);
    suite_add_tcase(suite, group);
    return suite;
}
