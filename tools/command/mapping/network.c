/* pimsim network: what a network consists of. */
#include "tools/command/mapping/network.h"
#include "mappers/network/layer_table.h"
#include "mappers/network/onnx/onnx.h"
#include "mappers/network/print.h"
#include "mappers/network/source.h"
#include "sim/output/output.h"
#include "tools/command/command.h"
#include "tools/command/options.h"

#include <stdio.h>
#include <string.h>

enum { FORMAT_TEXT, FORMAT_JSON, FORMAT_CSV };

static enum pim_status print(const struct pim_network *network, unsigned format, bool dot,
                             struct pim_error *error)
{
    if (dot)
        pim_network_print_dot(network, stdout);
    else if (format == FORMAT_JSON)
        return pim_network_print_json(network, stdout, error);
    else if (format == FORMAT_CSV)
        pim_network_print_csv(network, stdout);
    else
        pim_network_print_text(network, stdout);
    return PIM_OK;
}

enum pim_status command_network_read(const char *path, const struct text_list *sets,
                                     const struct pim_onnx_options *onnx, struct pim_network **network,
                                     struct pim_error *error)
{
    *network = NULL;
    const enum pim_network_source source = pim_network_source_of(path);
    if (source != PIM_NETWORK_DESCRIPTOR && sets->count > 0)
        return pim_fail(error, PIM_USAGE, "--set is for descriptors: %s has no keys to set", path);
    if (source != PIM_NETWORK_ONNX && (onnx->count > 0 || onnx->allow_unknown))
        return pim_fail(error, PIM_USAGE, "--dim and --allow-unknown are for ONNX files: %s is %s", path,
                        pim_network_source_name(source));
    if (source == PIM_NETWORK_TABLE)
        return pim_layer_table_read(path, network, error);
    return source == PIM_NETWORK_ONNX ? pim_onnx_read(path, onnx, network, error)
                                      : pim_network_read(path, sets->items, sets->count, network, error);
}

static int show(int argument_count, char **arguments)
{
    struct common_options common = {0};
    unsigned format = FORMAT_TEXT;
    bool dot = false;
    const char *format_given = NULL;
    struct text_list dimensions = {0};
    struct pim_onnx_options onnx = {0};
    struct option_rule rules[] = {
        OPTION_SET(common),
        {.name = "dim",
         .kind = OPTION_LIST,
         .target = &dimensions,
         .argument = "NAME=SIZE",
         .help = "A size that an ONNX network leaves open: of a dimension, or of an output"},
        RULE_FLAG("allow-unknown", onnx.allow_unknown,
                  "Takes unknown ONNX operators for elementwise work of the same shape"),
        OPTION_FORMAT(format, "text|json|csv"),
        {.name = "dot",
         .kind = OPTION_FLAG,
         .target = &dot,
         .help =
             "Prints the graph of layers for Graphviz instead: pimsim network show FILE --dot | dot -Tsvg"},
    };
    const struct option_usage usage = OPTION_USAGE(
        "FILE",
        "Prints the layers, shapes, parameters and MACs of a network, and the branches of its blocks.", rules,
        1, 1);
    struct text_list files = {0};
    options_watch(rules, sizeof rules / sizeof rules[0], "format", &format_given);
    options_parse(&usage, argument_count, arguments, &files);

    struct pim_error error = {0};
    struct pim_network *network = NULL;
    onnx.dimensions = dimensions.items;
    onnx.count = dimensions.count;
    enum pim_status status = PIM_OK;
    if (dot && format_given)
        status = pim_fail(&error, PIM_USAGE, "--dot is a format of its own: leave out --format");
    if (status == PIM_OK)
        status = command_network_read(files.items[0], &common.sets, &onnx, &network, &error);
    if (status == PIM_OK)
        status = print(network, format, dot, &error);
    pim_network_destroy(network);
    text_list_terminate(&files);
    text_list_terminate(&dimensions);
    common_terminate(&common);
    return command_end(arguments[0], status, &error);
}

static enum pim_status write_onnx(const struct pim_network *network, const char *path,
                                  struct pim_error *error)
{
    struct pim_output *output;
    enum pim_status status = pim_output_open(&output, path, error);
    if (status != PIM_OK)
        return status;
    status = pim_onnx_write(network, pim_output_file(output), error);
    if (status != PIM_OK) {
        pim_output_blame(output, error);
        pim_output_abandon(output);
        return status;
    }
    return pim_output_commit(output, error);
}

static int export(int argument_count, char **arguments)
{
    struct common_options common = {0};
    const char *path = NULL;
    const struct option_rule rules[] = {
        OPTION_SET(common),
        OPTION_OUTPUT(path, WRITES_NETWORK, "The ONNX file to write"),
    };
    const struct option_usage usage =
        OPTION_USAGE("FILE",
                     "Writes the network of a descriptor as ONNX, without weights: "
                     "operator set 17, readable by other tools.",
                     rules, 1, 1);
    struct text_list files = {0};
    options_parse(&usage, argument_count, arguments, &files);
    struct pim_error error = {0};
    struct pim_network *network = NULL;
    const struct pim_onnx_options onnx = {0};
    enum pim_status status = path ? PIM_OK : pim_fail(&error, PIM_USAGE, "-o FILE is needed");
    if (status == PIM_OK)
        status = command_network_read(files.items[0], &common.sets, &onnx, &network, &error);
    if (status == PIM_OK)
        status = write_onnx(network, path, &error);
    pim_network_destroy(network);
    text_list_terminate(&files);
    common_terminate(&common);
    return command_end(arguments[0], status, &error);
}

int command_network(int argument_count, char **arguments)
{
    static const struct command table[] = {
        {"show", "Layers, shapes, parameters, MACs and branches", show},
        {"export", "A network as an ONNX file", export},
    };
    return command_dispatch(table, sizeof table / sizeof table[0],
                            "Networks: descriptors in configs/networks, and ONNX files.", argument_count,
                            arguments);
}
