/*
 * Options of a command: a table of rules, parsed with argp (glibc). Wrong usage is reported on standard error
 * and ends the process with exit code 2; --help prints the table and ends it with 0.
 *
 *     struct common_options common = {0};
 *     const char *output = NULL;
 *     uint64_t until = 0;
 *     const struct option_rule rules[] = {
 *         OPTIONS_COMMON(common),
 *         OPTION_OUTPUT(output, WRITES_TRACE, "The trace to write"),
 *         {.name = "until", .kind = OPTION_UNSIGNED, .target = &until, .argument = "CYCLE",
 *          .help = "Stop at the start of this cycle", .maximum = UINT64_MAX},
 *     };
 *     struct text_list files = {0};
 *     const struct option_usage usage = OPTION_USAGE("TRACE", "Replays a trace.", rules, 1, 1);
 *     options_parse(&usage, argument_count, arguments, &files);
 *     ...
 *     text_list_terminate(&files);
 *     common_terminate(&common);
 */
#ifndef PIMSIM_TOOLS_COMMAND_OPTIONS_H
#define PIMSIM_TOOLS_COMMAND_OPTIONS_H

#include "sim/configuration/configuration.h"
#include "sim/parse.h"
#include "sim/status.h"
#include "tools/command/option_rules.h"

void text_list_terminate(struct text_list *list);

/* Moves the items that begin with `prefix` from `list` to the empty `taken`, in their order. */
void text_list_take(struct text_list *list, const char *prefix, struct text_list *taken);

/* Before options_parse(): `*given` (NULL) gets the name of this option, which is a rule, when it is given. */
void options_watch(struct option_rule *rules, size_t count, const char *name, const char **given);

/* Before options_parse(): given[i] (NULL) gets the name of rule i when it is given. */
void options_watch_all(struct option_rule *rules, size_t count, const char **given);

/* Refuses what of these was given beside --`mode`, which does something by itself, but for the names with
 * bars between them in `beside`. */
enum pim_status options_alone(const char *const *given, size_t count, const char *mode, const char *beside,
                              struct pim_error *error);

/* Fills the targets, and `files` with the arguments that are no options (NULL when most is 0). Targets of
 * options that are not given stay as they are: set the defaults before. Ends the process on wrong usage and
 * --help, and when a file would be destroyed (tools/command/guard.h): a command with outputs takes --force
 * too. */
void options_parse(const struct option_usage *usage, int argument_count, char **arguments,
                   struct text_list *files);

/* What a command is called with: `rules` is an array. */
#define OPTION_USAGE(arguments_, text, rules_, least_, most_)                                                \
    {                                                                                                        \
        .arguments = arguments_, .help = text, .rules = rules_,                                              \
        .rule_count = sizeof(rules_) / sizeof((rules_)[0]), .least = least_, .most = most_                   \
    }

/* One rule on a line, for long tables; the text may have other members behind it, as .standard = "16". */
#define RULE_FLAG(rule, variable, ...)                                                                       \
    {                                                                                                        \
        .name = rule, .kind = OPTION_FLAG, .target = &(variable), .help = __VA_ARGS__                        \
    }
#define RULE_TEXT(rule, variable, value, ...)                                                                \
    {                                                                                                        \
        .name = rule, .kind = OPTION_TEXT, .target = &(variable), .argument = value, .help = __VA_ARGS__     \
    }
#define RULE_OUTPUT(rule, variable, kind_, ...)                                                              \
    {                                                                                                        \
        .name = rule, .kind = OPTION_TEXT, .target = &(variable), .argument = "FILE", .writes = kind_,       \
        .help = __VA_ARGS__                                                                                  \
    }
#define RULE_CHOICE(rule, variable, value, list, ...)                                                        \
    {                                                                                                        \
        .name = rule, .kind = OPTION_CHOICE, .target = &(variable), .argument = value, .choices = list,      \
        .help = __VA_ARGS__                                                                                  \
    }
#define RULE_UNSIGNED(rule, variable, value, least, most, ...)                                               \
    {                                                                                                        \
        .name = rule, .kind = OPTION_UNSIGNED, .target = &(variable), .argument = value, .minimum = least,   \
        .maximum = most, .help = __VA_ARGS__                                                                 \
    }
#define RULE_REAL(rule, variable, value, least, most, ...)                                                   \
    {                                                                                                        \
        .name = rule, .kind = OPTION_REAL, .target = &(variable), .argument = value, .real_minimum = least,  \
        .real_maximum = most, .help = __VA_ARGS__                                                            \
    }

/* What most commands take. */
struct common_options {
    struct text_list hardware; /* --hardware FILE, read in order */
    struct text_list sets;     /* --set KEY=VALUE */
    bool quiet;
};
#define OPTION_HARDWARE(common)                                                                              \
    {                                                                                                        \
        .name = "hardware", .kind = OPTION_LIST, .target = &(common).hardware, .argument = "FILE",           \
        .help = "Hardware configuration (libconfig); of several files the later wins"                        \
    }
#define OPTION_SET(common)                                                                                   \
    {                                                                                                        \
        .name = "set", .kind = OPTION_LIST, .target = &(common).sets, .argument = "KEY=VALUE",               \
        .help = "Changes one value of the configuration after its files are read"                            \
    }
#define OPTION_QUIET(common)                                                                                 \
    {                                                                                                        \
        .name = "quiet", .letter = 'q', .kind = OPTION_FLAG, .target = &(common).quiet,                      \
        .help = "No progress, only results and errors"                                                       \
    }
#define OPTION_FORMAT(index, list)                                                                           \
    {                                                                                                        \
        .name = "format", .kind = OPTION_CHOICE, .target = &(index), .argument = "FORMAT", .choices = list,  \
        .help = "Format of the output"                                                                       \
    }
#define OPTION_OUTPUT(variable, kind_, ...)                                                                  \
    {                                                                                                        \
        .name = "output", .letter = 'o', .kind = OPTION_TEXT, .target = &(variable), .argument = "FILE",     \
        .writes = kind_, .help = __VA_ARGS__                                                                 \
    }
#define OPTION_JOBS(variable, most, what)                                                                    \
    {                                                                                                        \
        .name = "jobs", .letter = 'j', .kind = OPTION_UNSIGNED, .target = &(variable),                       \
        .argument = "THREADS", .minimum = 1, .maximum = most, .help = what " at a time",                     \
        .standard = "the number of processors"                                                               \
    }
#define OPTIONS_COMMON(common) OPTION_HARDWARE(common), OPTION_SET(common), OPTION_QUIET(common)
void common_terminate(struct common_options *common);

/*
 * Makes a configuration from the defaults, `files` and then `sets`. With a `purpose`, a pim_key_purpose,
 * required keys that are missing are an error, and keys of hardware that are set and do nothing for it; 0:
 * neither is. The caller destroys it.
 */
enum pim_status options_configuration(const struct pim_schema *schema, const struct text_list *files,
                                      const struct text_list *sets, unsigned purpose,
                                      struct pim_configuration **configuration, struct pim_error *error);

#endif
