/* pimsim config: show, check and describe configurations. */
#include "models/system/used.h"
#include "sim/configuration/configuration.h"
#include "tools/command/command.h"
#include "tools/command/config_schema.h"
#include "tools/command/dram/memory.h"
#include "tools/command/options.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

/* Required keys that have no value, as comments. */
static void print_missing(const struct pim_configuration *configuration)
{
    const struct pim_schema *schema = pim_configuration_schema(configuration);
    for (size_t i = 0; i < schema->count; i++) {
        char allowed[512];
        const struct pim_key *key = &schema->keys[i];
        if (key->fallback || pim_configuration_given(configuration, key->path))
            continue;
        pim_key_describe(key, allowed, sizeof allowed);
        printf("# required, not given: %s (%s)\n", key->path, allowed);
    }
}

static enum pim_status show_values(const char *preset, unsigned schema, const struct text_list *files,
                                   const struct text_list *sets, struct pim_configuration **configuration,
                                   struct pim_error *error)
{
    const bool given = schema < CONFIG_SCHEMA_COUNT;
    const struct dram_memory_options memory = {preset, *files, *sets};
    if (!preset)
        return options_configuration(config_schema(given ? schema : 0), files, sets,
                                     files->count > 0 ? PIM_TO_ANY : 0, configuration, error);
    if (given && config_schema(schema) != &pim_dram_schema)
        return pim_fail(error, PIM_USAGE, "--preset is a memory: --schema dram, or none");
    return dram_memory_values(&memory, configuration, error);
}

static int show(int argument_count, char **arguments)
{
    struct text_list files = {NULL, 0}, sets = {NULL, 0};
    unsigned schema = CONFIG_SCHEMA_COUNT;
    const char *preset = NULL;
    const struct option_rule rules[] = {
        {.name = "hardware",
         .kind = OPTION_LIST,
         .target = &files,
         .argument = "FILE",
         .help = "The same as FILE alone"},
        {.name = "set",
         .kind = OPTION_LIST,
         .target = &sets,
         .argument = "KEY=VALUE",
         .help = "Changes one value after the files are read"},
        {.name = "schema",
         .kind = OPTION_CHOICE,
         .target = &schema,
         .argument = "SCHEMA",
         .choices = CONFIG_SCHEMA_NAMES,
         .help = "What the files describe",
         .standard = "hardware; with --preset dram"},
        RULE_TEXT("preset", preset, "NAME",
                  "A memory of `pimsim dram --list-presets`, or STANDARD_BIN_DENSITY, before the files"),
    };
    options_parse(
        &(struct option_usage)OPTION_USAGE(
            "[FILE...]",
            "Prints the effective configuration: the defaults, then the files in their order, then every "
            "--set. Each line ends in a comment with the unit and the origin of the value. The output is a "
            "configuration file itself.",
            rules, 0, SIZE_MAX),
        argument_count, arguments, &files);
    struct pim_error error = {PIM_OK, ""};
    struct pim_configuration *configuration = NULL;
    enum pim_status status = show_values(preset, schema, &files, &sets, &configuration, &error);
    char *text = status == PIM_OK ? pim_configuration_write(configuration, true) : NULL;
    if (status == PIM_OK && !text)
        (void)pim_fail(&error, PIM_NO_MEMORY, "out of memory");
    if (text) {
        print_missing(configuration);
        (void)fputs(text, stdout);
    }
    free(text);
    pim_configuration_destroy(configuration);
    text_list_terminate(&files);
    text_list_terminate(&sets);
    return error.status == PIM_OK ? 0 : command_fail(arguments[0], &error);
}

static int check(int argument_count, char **arguments)
{
    struct text_list files = {NULL, 0}, sets = {NULL, 0};
    unsigned schema = 0;
    bool quiet = false;
    const struct option_rule rules[] = {
        {.name = "set",
         .kind = OPTION_LIST,
         .target = &sets,
         .argument = "KEY=VALUE",
         .help = "Changes one value after each file is read"},
        {.name = "schema",
         .kind = OPTION_CHOICE,
         .target = &schema,
         .argument = "SCHEMA",
         .choices = CONFIG_SCHEMA_NAMES,
         .help = "What the files describe"},
        {.name = "quiet",
         .letter = 'q',
         .kind = OPTION_FLAG,
         .target = &quiet,
         .help = "Print mistakes only"},
    };
    options_parse(
        &(struct option_usage)OPTION_USAGE(
            "FILE...",
            "Checks each file by itself: syntax, names, types, ranges, and that no required key is missing.",
            rules, 1, SIZE_MAX),
        argument_count, arguments, &files);
    int code = 0;
    for (size_t i = 0; i < files.count; i++) {
        struct text_list file = {&files.items[i], 1};
        struct pim_error error = {PIM_OK, ""};
        struct pim_configuration *configuration = NULL;
        if (options_configuration(config_schema(schema), &file, &sets, PIM_TO_ANY, &configuration, &error) !=
            PIM_OK)
            code = command_fail(arguments[0], &error);
        else if (!quiet)
            printf("%s: good %s configuration, hash %016" PRIx64 "\n", files.items[i],
                   config_schema(schema)->name, pim_configuration_hash(configuration));
        pim_configuration_destroy(configuration);
    }
    text_list_terminate(&files);
    text_list_terminate(&sets);
    return code;
}

static int schema(int argument_count, char **arguments)
{
    unsigned format = 0;
    unsigned one = CONFIG_SCHEMA_COUNT;
    const struct option_rule rules[] = {
        OPTION_FORMAT(format, "text|markdown|json"),
        {.name = "schema",
         .kind = OPTION_CHOICE,
         .target = &one,
         .argument = "SCHEMA",
         .choices = CONFIG_SCHEMA_NAMES,
         .help = "Only this one"},
    };
    options_parse(&(struct option_usage)OPTION_USAGE(
                      "", "Describes every key: default, allowed values, unit, meaning.", rules, 0, 0),
                  argument_count, arguments, NULL);
    struct pim_error error = {PIM_OK, ""};
    unsigned first = one < CONFIG_SCHEMA_COUNT ? one : 0;
    unsigned end = one < CONFIG_SCHEMA_COUNT ? one + 1 : CONFIG_SCHEMA_COUNT;
    if (format == 2)
        (void)config_schema_json(first, end, stdout, &error);
    else if (format == 1)
        config_schema_markdown(first, end, stdout);
    else
        config_schema_text(first, end, stdout);
    return error.status == PIM_OK ? 0 : command_fail(arguments[0], &error);
}

int command_config(int argument_count, char **arguments)
{
    static const struct command commands[] = {
        {"show", "Print the effective configuration with the origin of each value", show},
        {"check", "Look for mistakes in configuration files", check},
        {"schema", "Describe every key", schema},
    };
    return command_dispatch(commands, COUNT(commands),
                            "Configurations: libconfig files with a checked set of keys.", argument_count,
                            arguments);
}
