/* pimsim map: a network and a hardware configuration become a trace, with any mapper. */
#include "tools/library/map.h"
#include "models/system/schema.h"
#include "models/system/used.h"
#include "sim/output/progress.h"
#include "tools/command/command.h"
#include "tools/command/interrupt.h"
#include "tools/command/options.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct request {
    struct common_options common;
    struct text_list network_sets, dimensions;
    struct pim_map_request map;
    unsigned format;
};

enum { FORMAT_TEXT, FORMAT_JSON };

/* Of searches that take long: on a terminal a bar for one thing after the other; and Ctrl-C. */
struct bar {
    struct interrupt interrupt;
    struct pim_progress progress;
    const char *what; /* NULL: none is shown */
    bool quiet;
};

static void end_bar(struct bar *bar)
{
    if (bar->what)
        pim_progress_finish(&bar->progress);
    bar->what = NULL;
}

static void show_progress(void *context, const char *what, uint64_t done, uint64_t total)
{
    struct bar *bar = context;
    if (!bar->what || strcmp(bar->what, what) != 0) {
        end_bar(bar);
        pim_progress_start(&bar->progress, what, total, bar->quiet);
        bar->what = what;
    }
    pim_progress_update(&bar->progress, done);
}

/* The rules of a mapper's options, behind those of the command; `given` gets the names of those that are. */
static struct option_rule *make_rules(const struct pim_option_table *table, void *options,
                                      const struct option_rule *own, size_t count, const char **given)
{
    static const enum option_kind kinds[] = {[PIM_OPTION_FLAG] = OPTION_FLAG,
                                             [PIM_OPTION_TEXT] = OPTION_TEXT,
                                             [PIM_OPTION_CHOICE] = OPTION_CHOICE,
                                             [PIM_OPTION_COUNT] = OPTION_UNSIGNED,
                                             [PIM_OPTION_REAL] = OPTION_REAL};
    struct option_rule *rules = calloc(count + table->count, sizeof *rules);
    if (!rules)
        return NULL;
    memcpy(rules, own, count * sizeof *rules);
    for (size_t i = 0; i < table->count; i++) {
        const struct pim_option *row = &table->rows[i];
        rules[count + i] = (struct option_rule){.name = row->name,
                                                .letter = row->letter,
                                                .kind = kinds[row->kind],
                                                .target = (char *)options + row->offset,
                                                .given = &given[i],
                                                .argument = row->argument,
                                                .help = row->help,
                                                .standard = row->standard,
                                                .writes = row->writes ? WRITES_TEXT : WRITES_NOTHING,
                                                .choices = row->choices,
                                                .minimum = row->minimum,
                                                .maximum = row->maximum,
                                                .real_minimum = row->real_minimum,
                                                .real_maximum = row->real_maximum};
    }
    return rules;
}

static bool interrupted(void *context)
{
    struct bar *bar = context;
    return interrupt_asked(&bar->interrupt);
}

static void warn(const struct request *request, const struct pim_map *map)
{
    const char *key = pim_map_rough(map);
    if (key)
        fprintf(stderr,
                "pimsim map %s: warning: the estimate, and the choice of the plan with it, knows %s as it is "
                "set here only roughly and may be off by more than 10 %%: validate says how far "
                "(docs/models/estimate.md)\n",
                request->map.mapper->name, key);
    if (pim_map_is_recognised(map))
        fprintf(stderr,
                "pimsim map %s: note: %s is a vision transformer, which is mapped as its descriptor: biases, "
                "masks, position embeddings, numbers and learned scales were not compared "
                "(docs/networks.md)\n",
                request->map.mapper->name, request->map.network);
}

static enum pim_status map_network(struct request *request, struct bar *bar, struct pim_error *error)
{
    struct pim_configuration *configuration;
    struct pim_map *map;
    if (options_configuration(&pim_hardware_schema, &request->common.hardware, &request->common.sets,
                              PIM_TO_MAP, &configuration, error) != PIM_OK)
        return error->status;
    request->map.configuration = configuration;
    if (request->map.mapper->stops)
        interrupt_begin(&bar->interrupt);
    enum pim_status status = pim_map_create(&request->map, &map, error);
    end_bar(bar);
    if (request->map.mapper->stops)
        interrupt_end();
    if (status == PIM_OK && !request->common.quiet)
        warn(request, map);
    if (status == PIM_OK && request->format == FORMAT_JSON)
        status = pim_map_write_json(map, stdout, error);
    else if (status == PIM_OK && !request->common.quiet)
        status = pim_map_print(map, stdout, error);
    pim_map_destroy(map);
    pim_configuration_destroy(configuration);
    return status;
}

/* Options that the plan for people alone shows do nothing where it is not printed. */
static enum pim_status check_prints(const struct request *request, const void *options,
                                    struct pim_error *error)
{
    const struct pim_option_table *table = &request->map.mapper->options;
    const bool json = request->format == FORMAT_JSON;
    for (size_t i = 0; i < table->count; i++) {
        const struct pim_option_refusal refusal = {
            table->rows[i].prints && (json || request->common.quiet), table->rows[i].name,
            json ? "is for --format text" : "prints nothing with --quiet"};
        if (pim_option_refuse(table, options, &refusal, 1, error) != PIM_OK)
            return error->status;
    }
    return PIM_OK;
}

static enum pim_status map_with(struct request *request, void *options, struct pim_error *error)
{
    struct bar bar = {.quiet = request->common.quiet};
    struct pim_mapper_search *search = options; /* the first member of all options */
    struct pim_map_request *map = &request->map;
    if (!map->network || request->common.hardware.count == 0)
        return pim_fail(error, PIM_USAGE, "--network FILE and --hardware FILE are needed");
    if (check_prints(request, options, error) != PIM_OK)
        return error->status;
    if (map->output && strcmp(map->output, "-") == 0 &&
        (request->format == FORMAT_JSON || !request->common.quiet))
        return pim_fail(error, PIM_USAGE,
                        "--output and the plan would both go to standard output: name a file%s",
                        request->format == FORMAT_JSON ? "" : ", or add --quiet");
    search->context = &bar;
    search->progress = !request->common.quiet && isatty(STDERR_FILENO) ? show_progress : NULL;
    search->stop = map->mapper->stops ? interrupted : NULL;
    map->options = options;
    map->network_sets = request->network_sets.items;
    map->network_set_count = request->network_sets.count;
    map->dimensions = request->dimensions.items;
    map->dimension_count = request->dimensions.count;
    return map_network(request, &bar, error);
}

static int run_mapper(const struct pim_mapper *mapper, int argument_count, char **arguments)
{
    struct request request = {.map = {.mapper = mapper}};
    const struct option_rule own[] = {
        OPTIONS_COMMON(request.common),
        {.name = "network",
         .letter = 'n',
         .kind = OPTION_TEXT,
         .target = &request.map.network,
         .argument = "FILE",
         .help = mapper->transformers == PIM_TRANSFORMERS_ALONE
                     ? "The network: a descriptor as in configs/networks, or an ONNX file"
                     : "The network: a descriptor as in configs/networks, an ONNX file, or a layer table of "
                       "SCALE-Sim (.csv)"},
        {.name = "output",
         .letter = 'o',
         .kind = OPTION_TEXT,
         .target = &request.map.output,
         .argument = "FILE",
         .writes = WRITES_TRACE,
         .help = "The trace to write; without it the plan is only printed"},
        OPTION_FORMAT(request.format, "text|json"),
        {.name = "dim",
         .kind = OPTION_LIST,
         .target = &request.dimensions,
         .argument = "NAME=SIZE",
         .help = "A size that an ONNX network leaves open: of a dimension, or of an output"},
    };
    struct pim_error error = {0};
    void *options = pim_mapper_options(mapper);
    const size_t count = sizeof own / sizeof own[0];
    const char *given[PIM_OPTIONS_MOST] = {NULL};
    const struct pim_option_table *table = &mapper->options;
    struct option_rule *rules = options ? make_rules(table, options, own, count, given) : NULL;
    enum pim_status status = pim_fail(&error, PIM_NO_MEMORY, "out of memory for the options");
    if (rules) {
        const struct option_usage usage = {"", mapper->description, rules, count + table->count, 0, 0};
        options_parse(&usage, argument_count, arguments, NULL);
        for (size_t i = 0; i < table->count; i++)
            if (given[i])
                pim_option_mark(table, &table->rows[i], options);
        text_list_take(&request.common.sets, "network.", &request.network_sets);
        error = (struct pim_error){0};
        status = map_with(&request, options, &error);
    }
    free(rules);
    free(options);
    text_list_terminate(&request.network_sets);
    text_list_terminate(&request.dimensions);
    common_terminate(&request.common);
    return command_end(arguments[0], status, &error);
}

/* A command of each mapper: the table's name is the last word of arguments[0]. */
static int map_any(int argument_count, char **arguments)
{
    const struct pim_mapper *mapper;
    const char *blank = strrchr(arguments[0], ' ');
    struct pim_error error = {0};
    if (pim_mapper_find(blank ? blank + 1 : arguments[0], &mapper, &error) != PIM_OK)
        return command_fail(arguments[0], &error);
    return run_mapper(mapper, argument_count, arguments);
}

int command_map(int argument_count, char **arguments)
{
    enum { MOST = 32 };
    struct command table[MOST];
    size_t count = 0;
    const struct pim_mapper *mapper;
    while (count < MOST && (mapper = pim_mapper_at(count)) != NULL) {
        table[count] = (struct command){mapper->name, mapper->summary, map_any};
        count++;
    }
    return command_dispatch(table, count, "Mapping front-ends: a network becomes a trace.", argument_count,
                            arguments);
}
