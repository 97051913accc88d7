/* pimsim network: what a network consists of. */
#include "mappers/network/print.h"
#include "tools/command/command.h"
#include "tools/command/options.h"

#include <stdio.h>

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

static int show(int argument_count, char **arguments)
{
    struct common_options common = {0};
    unsigned format = FORMAT_TEXT;
    bool dot = false;
    const struct option_rule rules[] = {
        OPTION_SET(common),
        OPTION_FORMAT(format, "text|json|csv"),
        {.name = "dot",
         .kind = OPTION_FLAG,
         .target = &dot,
         .help =
             "Prints the graph of layers for Graphviz instead: pimsim network show FILE --dot | dot -Tsvg"},
    };
    const struct option_usage usage = {
        "FILE",
        "Prints the layers, shapes, parameters and MACs of a network, and the branches of its blocks.",
        rules,
        sizeof rules / sizeof rules[0],
        1,
        1};
    struct text_list files = {0};
    options_parse(&usage, argument_count, arguments, &files);

    struct pim_error error = {0};
    struct pim_network *network = NULL;
    enum pim_status status =
        pim_network_read(files.items[0], common.sets.items, common.sets.count, &network, &error);
    if (status == PIM_OK)
        status = print(network, format, dot, &error);
    int code = status == PIM_OK ? 0 : command_fail(arguments[0], &error);
    pim_network_destroy(network);
    text_list_terminate(&files);
    common_terminate(&common);
    return command_finish(arguments[0], code);
}

int command_network(int argument_count, char **arguments)
{
    static const struct command table[] = {
        {"show", "Layers, shapes, parameters, MACs and branches", show},
    };
    return command_dispatch(table, sizeof table / sizeof table[0],
                            "Networks: descriptors in configs/networks.", argument_count, arguments);
}
