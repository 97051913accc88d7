/* pimsim dram: a memory alone. */
#include "sim/output.h"
#include "tools/command/command.h"
#include "tools/command/dram_run.h"
#include "tools/command/dram_tensor.h"
#include "tools/command/options.h"

#include <stdio.h>
#include <string.h>

enum { FORMAT_TEXT, FORMAT_JSON };

struct dram_options {
    const char *preset, *requests, *log, *commands, *stats, *check;
    struct text_list files, sets;
    unsigned format;
    uint64_t shown;
    bool list_presets, verify, reproducible, pattern_given;
    const char *pattern;
    struct dram_stream stream;
    struct dram_tensor tensor;
};

/* The preset, then the files, then --set. */
static enum pim_status configure(const struct dram_options *options, struct pim_configuration **values,
                                 struct pim_dram_configuration *configuration, struct pim_error *error)
{
    if (pim_configuration_create(&pim_dram_schema, values, error) != PIM_OK)
        return error->status;
    if (options->preset && pim_dram_preset_read(*values, options->preset, error) != PIM_OK)
        return error->status;
    for (size_t i = 0; i < options->files.count; i++)
        if (pim_configuration_read_file(*values, options->files.items[i], error) != PIM_OK)
            return error->status;
    for (size_t i = 0; i < options->sets.count; i++)
        if (pim_configuration_set(*values, options->sets.items[i], error) != PIM_OK)
            return error->status;
    return pim_dram_configure(*values, configuration, error);
}

static void print_presets(void)
{
    for (size_t i = 0; i < pim_dram_preset_count(); i++)
        printf("%-15s %s\n", pim_dram_preset(i)->name, pim_dram_preset(i)->about);
}

enum output { OUTPUT_LOG, OUTPUT_COMMANDS, OUTPUT_STATS, OUTPUTS };

/* Opens every file before the run, so that a wrong name costs no time; writes all of them, then puts all in
 * place. */
static enum pim_status run_list(const struct dram_options *options,
                                const struct pim_dram_configuration *configuration, const char *name,
                                const struct dram_list *list, struct dram_run *run, struct pim_error *error)
{
    const char *const paths[OUTPUTS] = {options->log, options->commands,
                                        options->stats ? options->stats : "-"};
    struct pim_output *outputs[OUTPUTS] = {NULL};
    enum pim_status status = PIM_OK;
    for (unsigned i = 0; status == PIM_OK && i < OUTPUTS; i++)
        if (paths[i])
            status = pim_output_open(&outputs[i], paths[i], error);
    if (status == PIM_OK)
        status =
            dram_run_execute(run, configuration, list, options->commands != NULL, options->verify, error);
    if (status == PIM_OK && outputs[OUTPUT_LOG])
        dram_log_write(run, list, pim_output_file(outputs[OUTPUT_LOG]));
    if (status == PIM_OK && outputs[OUTPUT_COMMANDS])
        dram_commands_write(run, configuration, pim_output_file(outputs[OUTPUT_COMMANDS]));
    if (status == PIM_OK)
        status = dram_report_write(run, configuration, name, list, options->format, !options->reproducible,
                                   pim_output_file(outputs[OUTPUT_STATS]), error);
    for (unsigned i = 0; i < OUTPUTS; i++) {
        if (status == PIM_OK && outputs[i])
            status = pim_output_commit(outputs[i], error);
        else
            pim_output_abandon(outputs[i]);
    }
    if (status == PIM_OK && run->checked && run->violations > 0)
        return pim_fail(error, PIM_INTERNAL, "the command check found %llu violations in this run",
                        (unsigned long long)run->violations);
    return status;
}

static enum pim_status execute(struct dram_options *options, struct pim_error *error)
{
    struct pim_configuration *values = NULL;
    struct pim_dram_configuration configuration;
    struct dram_list list = {NULL, 0};
    struct dram_run run = {0};
    uint64_t violations = 0;
    enum pim_status status = configure(options, &values, &configuration, error);
    if (status == PIM_OK && options->check) {
        status = dram_check_file(&configuration, options->check, options->shown, options->format, stdout,
                                 &violations, error);
        if (status == PIM_OK && violations > 0)
            status = pim_fail(error, PIM_BAD_INPUT, "%s: %llu violations", options->check,
                              (unsigned long long)violations);
    } else if (status == PIM_OK) {
        status = options->requests ? dram_list_read(&list, options->requests, &configuration, error)
                 : options->tensor.extents
                     ? dram_tensor_list(&list, &options->tensor, &configuration, &run.window, error)
                     : dram_list_generate(&list, &options->stream, &configuration, error);
        if (status == PIM_OK)
            status =
                run_list(options, &configuration, pim_configuration_text(values, "name"), &list, &run, error);
    }
    dram_run_terminate(&run);
    dram_list_terminate(&list);
    pim_configuration_destroy(values);
    return status;
}

/* What must, and must not, be given together. */
static enum pim_status check_options(struct dram_options *options, struct pim_error *error)
{
    int sources = !!options->requests + !!options->pattern + !!options->tensor.extents + !!options->check;
    if (sources != 1)
        return pim_fail(error, PIM_USAGE,
                        "give one of --requests FILE, --pattern PATTERN, --tensor EXTENTS and "
                        "--check-commands FILE");
    if (options->tensor.window && !options->tensor.extents)
        return pim_fail(error, PIM_USAGE, "--window is a part of a --tensor: give its extents");
    if (options->pattern && parse_choice("--pattern", options->pattern, DRAM_PATTERN_NAMES,
                                         &options->stream.pattern, error) != PIM_OK)
        return error->status;
    if (options->check && (options->log || options->commands || options->stats))
        return pim_fail(error, PIM_USAGE, "--check-commands writes no log, commands or stats");
    return PIM_OK;
}

static int run_command(struct dram_options *options, const char *words)
{
    struct pim_error error = {PIM_OK, ""};
    if (options->list_presets)
        print_presets();
    else if (check_options(options, &error) == PIM_OK)
        (void)execute(options, &error);
    text_list_terminate(&options->files);
    text_list_terminate(&options->sets);
    int code = error.status == PIM_OK ? 0 : command_fail(words, &error);
    return command_finish(words, code);
}

int command_dram(int argument_count, char **arguments)
{
    struct dram_options options = {
        .format = FORMAT_TEXT,
        .shown = 100,
        .stream = {.count = 100000, .stride = 4096, .locality = 0.5, .reads = 1, .rate = 1, .seed = 1},
        .tensor = {.group = 2, .element_bytes = 2}};
    struct dram_stream *stream = &options.stream;
#define TEXT_OPTION(option, field, word, sentence)                                                           \
    {                                                                                                        \
        .name = option, .kind = OPTION_TEXT, .target = &options.field, .argument = word, .help = sentence    \
    }
#define REAL_OPTION(option, field, low, high, sentence)                                                      \
    {                                                                                                        \
        .name = option, .kind = OPTION_REAL, .target = &stream->field, .argument = "X", .help = sentence,    \
        .real_minimum = low, .real_maximum = high                                                            \
    }
    const struct option_rule rules[] = {
        TEXT_OPTION("preset", preset, "NAME", "A memory that is built in (see --list-presets)"),
        {.name = "configuration",
         .kind = OPTION_LIST,
         .target = &options.files,
         .argument = "FILE",
         .help = "A memory described in a file (libconfig); of several, or after a preset, the later wins"},
        {.name = "set",
         .kind = OPTION_LIST,
         .target = &options.sets,
         .argument = "KEY=VALUE",
         .help = "Changes one value after the preset and the files are read"},
        TEXT_OPTION("requests", requests, "FILE", "The requests: cycle,op,address[,bytes] with op R or W"),
        TEXT_OPTION("pattern", pattern, "PATTERN", "Generates requests instead (" DRAM_PATTERN_NAMES ")"),
        {.name = "count",
         .kind = OPTION_UNSIGNED,
         .target = &stream->count,
         .argument = "N",
         .help = "Generated requests",
         .minimum = 1,
         .maximum = 1000000000},
        {.name = "stride",
         .kind = OPTION_UNSIGNED,
         .target = &stream->stride,
         .argument = "BYTES",
         .help = "Distance of strided requests",
         .minimum = 1,
         .maximum = UINT64_C(1) << 40},
        REAL_OPTION("locality", locality, 0, 1,
                    "mixed: share of requests to the next column of the same row"),
        REAL_OPTION("read-share", reads, 0, 1, "Share of reads"),
        REAL_OPTION("rate", rate, 1e-9, 1e6, "Requests handed over in a cycle, as far as they are accepted"),
        {.name = "seed",
         .kind = OPTION_UNSIGNED,
         .target = &stream->seed,
         .argument = "N",
         .help = "Seed of generated requests",
         .maximum = UINT64_MAX},
        OPTIONS_TENSOR(options.tensor),
        TEXT_OPTION("log", log, "FILE", "Writes arrival, first command and completion of each request (CSV)"),
        TEXT_OPTION("commands", commands, "FILE", "Writes every command (CSV)"),
        TEXT_OPTION("stats", stats, "FILE", "Writes the results there instead of standard output"),
        OPTION_FORMAT(options.format, "text|json"),
        {.name = "verify",
         .kind = OPTION_FLAG,
         .target = &options.verify,
         .help = "Holds the commands of this run against every constraint, and re-adds the energy from them"},
        TEXT_OPTION("check-commands", check, "FILE", "Checks a log of commands instead of running"),
        {.name = "show",
         .kind = OPTION_UNSIGNED,
         .target = &options.shown,
         .argument = "N",
         .help = "Violations that --check-commands prints",
         .maximum = UINT64_MAX},
        {.name = "reproducible",
         .kind = OPTION_FLAG,
         .target = &options.reproducible,
         .help = "Leaves out what differs from run to run: CPU seconds"},
        {.name = "list-presets",
         .kind = OPTION_FLAG,
         .target = &options.list_presets,
         .help = "Lists the memories that are built in"},
    };
    const struct option_usage usage = {
        "",    "Simulates a DRAM alone: request lists in, cycles and energy out.",
        rules, sizeof rules / sizeof rules[0],
        0,     0};
    options_parse(&usage, argument_count, arguments, NULL);
    return run_command(&options, arguments[0]);
}
