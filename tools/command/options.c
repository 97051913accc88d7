/* Option tables on top of argp, and the numbers in them. The only file that knows argp, which glibc alone
 * has. */
#include "tools/command/options.h"

#include "models/system/used.h"
#include "sim/nearest.h"
#include "tools/command/command.h"
#include "tools/command/guard.h"

#include <argp.h>
#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    FIRST_KEY = 0x1000, /* argp's key of rule 0 when it has no letter: not a character */
    USAGE_KEY = 0x4000,
    FORCE_KEY = 0x8000, /* --force of commands that have outputs and none of their own */
    BLANK = '\1',       /* where argp ends no line */
    WHOLE = 48          /* a shorter text in brackets stays in one line */
};

struct parsing {
    const struct option_usage *usage;
    struct text_list *files;
    bool force;
};

void text_list_terminate(struct text_list *list)
{
    free(list->items);
    *list = (struct text_list){NULL, 0};
}

void text_list_take(struct text_list *list, const char *prefix, struct text_list *taken)
{
    taken->items = calloc(list->count + 1, sizeof *taken->items);
    if (!taken->items)
        abort();
    size_t kept = 0;
    for (size_t i = 0; i < list->count; i++)
        if (strncmp(list->items[i], prefix, strlen(prefix)) == 0)
            taken->items[taken->count++] = list->items[i];
        else
            list->items[kept++] = list->items[i];
    list->count = kept;
}

static bool text_list_add(struct text_list *list, const char *text)
{
    const char **grown = realloc(list->items, (list->count + 1) * sizeof *grown);
    if (!grown)
        return false;
    list->items = grown;
    grown[list->count++] = text;
    return true;
}

void common_terminate(struct common_options *common)
{
    text_list_terminate(&common->hardware);
    text_list_terminate(&common->sets);
}

static enum pim_status take_option(const struct option_rule *rule, const char *text, struct pim_error *error)
{
    char name[64];
    (void)snprintf(name, sizeof name, "--%s", rule->name);
    switch (rule->kind) {
    case OPTION_FLAG:
        *(bool *)rule->target = true;
        return PIM_OK;
    case OPTION_TEXT:
        *(const char **)rule->target = text;
        return PIM_OK;
    case OPTION_LIST:
        return text_list_add(rule->target, text) ? PIM_OK
                                                 : pim_fail(error, PIM_NO_MEMORY, "%s: out of memory", name);
    case OPTION_CHOICE:
        return pim_parse_choice(name, text, rule->choices, rule->target, error);
    case OPTION_UNSIGNED:
        return pim_parse_unsigned(name, text, rule->minimum, rule->maximum, rule->target, error);
    case OPTION_REAL:
        return pim_parse_real(name, text, rule->real_minimum, rule->real_maximum, rule->target, error);
    }
    return pim_fail(error, PIM_INTERNAL, "%s: unknown kind of option", name);
}

/* Choice number `index`, or NULL. */
static const char *choice_at(const char *choices, unsigned index)
{
    for (; choices && index > 0; index--) {
        choices = strchr(choices, '|');
        choices += choices != NULL;
    }
    return choices;
}

/* What holds where the option is not given: the words of the rule, or what its target has by now. A choice or
 * a number that may not be given says that nothing was. */
static void describe_default(const struct option_rule *rule, char *text, size_t size)
{
    text[0] = '\0';
    if (rule->standard) {
        (void)snprintf(text, size, "%s", rule->standard);
    } else if (rule->kind == OPTION_CHOICE) {
        const char *word = choice_at(rule->choices, *(const unsigned *)rule->target);
        (void)snprintf(text, size, "%.*s", word ? (int)strcspn(word, "|") : 0, word ? word : "");
    } else if (rule->kind == OPTION_TEXT) {
        const char *word = *(const char *const *)rule->target;
        const bool output = word && rule->writes && strcmp(word, "-") == 0;
        (void)snprintf(text, size, "%s", output ? "standard output" : word ? word : "");
    } else if (rule->kind == OPTION_UNSIGNED) {
        const uint64_t value = *(const uint64_t *)rule->target;
        if (value >= rule->minimum && value <= rule->maximum && value < UINT64_MAX)
            (void)snprintf(text, size, "%llu", (unsigned long long)value);
    } else if (rule->kind == OPTION_REAL) {
        const double value = *(const double *)rule->target;
        if (value >= rule->real_minimum && value <= rule->real_maximum)
            (void)snprintf(text, size, "%g", value);
    }
}

/* "a, b", "0 to 256" or nothing. */
static void describe_allowed(const struct option_rule *rule, FILE *out)
{
    for (const char *c = rule->choices ? rule->choices : ""; *c; c++)
        if (*c == '|')
            (void)fputs(", ", out);
        else
            (void)fputc(*c, out);
    if (rule->kind == OPTION_UNSIGNED && rule->maximum < UINT32_MAX)
        (void)fprintf(out, "%llu to %llu", (unsigned long long)rule->minimum,
                      (unsigned long long)rule->maximum);
    else if (rule->kind == OPTION_REAL)
        (void)fprintf(out, "%g to %g", rule->real_minimum, rule->real_maximum);
}

/* The help of a rule: what it does [what is allowed; default: what holds without it]. */
static char *describe(const struct option_rule *rule)
{
    char *text = NULL, standard[256];
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    if (!out)
        return NULL;
    (void)fprintf(out, "%s [", rule->help);
    const long begin = ftell(out);
    describe_allowed(rule, out);
    describe_default(rule, standard, sizeof standard);
    const bool empty = ftell(out) == begin;
    if (standard[0])
        (void)fprintf(out, "%sdefault: %s", empty ? "" : "; ", standard);
    const long length = ftell(out) - begin;
    (void)fputc(']', out);
    if (fclose(out) != 0)
        return NULL;
    if (length == 0)
        text[begin - 2] = '\0';
    for (char *c = text + begin; length < WHOLE && *c; c++)
        *c = *c == ' ' ? BLANK : *c;
    return text;
}

/* The table of argp: a row for each rule, whose helps are in `helps`, --force where it is due, -h. */
static bool fill_table(const struct option_usage *usage, struct argp_option *options, char **helps)
{
    bool writes = false, forces = false;
    size_t i;
    for (i = 0; i < usage->rule_count; i++) {
        const struct option_rule *rule = &usage->rules[i];
        helps[i] = describe(rule);
        if (!helps[i])
            return false;
        writes |= rule->writes != WRITES_NOTHING;
        forces |= strcmp(rule->name, "force") == 0;
        options[i] = (struct argp_option){.name = rule->name,
                                          .key = rule->letter ? rule->letter : FIRST_KEY + (int)i,
                                          .arg = rule->argument,
                                          .doc = helps[i]};
    }
    if (writes && !forces)
        options[i++] = (struct argp_option){.name = "force",
                                            .key = FORCE_KEY,
                                            .doc = "Overwrites also files that are no earlier output of this "
                                                   "kind; an input is never overwritten"};
    options[i++] = (struct argp_option){
        .name = "help", .key = '?', .doc = "Prints this list", .group = -1}; /* the last group */
    options[i++] = (struct argp_option){
        .name = "usage", .key = USAGE_KEY, .doc = "Prints the names of all options alone", .group = -1};
    options[i] = (struct argp_option){.key = 'h', .flags = OPTION_HIDDEN};
    return true;
}

/* argp's help without the blanks that it leaves at the ends of lines, and lines of nothing else; ends the
 * process. */
static void print_help(struct argp_state *state, unsigned flags)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    if (!out)
        exit(1);
    argp_state_help(state, out, flags & ~(unsigned)(ARGP_HELP_EXIT_OK | ARGP_HELP_EXIT_ERR));
    if (fclose(out) != 0)
        exit(1);
    for (char *c = text; *c; c++)
        *c = *c == BLANK ? ' ' : *c;
    for (char *line = text, *next; *line; line = next) {
        size_t length = strcspn(line, "\n"), end = length;
        next = line + length + (line[length] == '\n');
        while (end > 0 && line[end - 1] == ' ')
            end--;
        if (end > 0 || length == 0)
            printf("%.*s\n", (int)end, line);
    }
    free(text);
    exit(command_finish(state->argv[0], 0));
}

static error_t handle(int key, char *text, struct argp_state *state)
{
    struct parsing *parsing = state->input;
    const struct option_usage *usage = parsing->usage;
    struct pim_error error = {PIM_OK, ""};
    if (key == ARGP_KEY_ARG) {
        if (state->arg_num >= usage->most)
            argp_error(state, "unexpected argument: %s", text);
        else if (text[0] == '\0')
            argp_error(state, "an argument is empty: %s is expected", usage->arguments);
        else if (!text_list_add(parsing->files, text))
            return ENOMEM;
        return 0;
    }
    if (key == ARGP_KEY_END) {
        if (state->arg_num < usage->least)
            argp_error(state, "an argument is missing: %s", usage->arguments);
        return 0;
    }
    if (key == 'h' || key == '?')
        print_help(state, ARGP_HELP_STD_HELP);
    if (key == USAGE_KEY)
        print_help(state, ARGP_HELP_USAGE);
    if (key == FORCE_KEY) {
        parsing->force = true;
        return 0;
    }
    for (size_t i = 0; i < usage->rule_count; i++) {
        const struct option_rule *rule = &usage->rules[i];
        if (key != (rule->letter ? rule->letter : FIRST_KEY + (int)i))
            continue;
        if (take_option(rule, text, &error) != PIM_OK)
            argp_error(state, "%s", error.text);
        if (rule->given)
            *rule->given = rule->name;
        return 0;
    }
    return ARGP_ERR_UNKNOWN;
}

/* Whether the command's own --force was given. */
static bool forced(const struct option_usage *usage)
{
    for (size_t i = 0; i < usage->rule_count; i++)
        if (strcmp(usage->rules[i].name, "force") == 0)
            return *(const bool *)usage->rules[i].target;
    return false;
}

/* Whether argp takes `name` for an option: one that begins with it. */
static bool is_known(const struct argp_option *options, const char *name, size_t length)
{
    for (; options->name; options++)
        if (strncmp(options->name, name, length) == 0)
            return true;
    return false;
}

/* Refuses an option that there is not, with the nearest one if that may be meant. */
static void refuse_name(const struct argp_option *options, const char *words, const char *option,
                        size_t length)
{
    char wanted[64];
    (void)snprintf(wanted, sizeof wanted, "%.*s", (int)(length < 60 ? length : 60), option + 2);
    struct pim_nearest nearest = {.wanted = wanted};
    for (const struct argp_option *o = options; o->name; o++)
        (void)pim_nearest_offer(&nearest, o->name);
    fprintf(stderr, "%s: unrecognized option '%.60s'%s%s (%s --help lists all)\n", words, option,
            PIM_NEAREST(nearest, "; the nearest is --"), words);
}

/* False, with a message, at the first option that there is not. */
static bool check_names(const struct argp_option *options, int argument_count, char **arguments)
{
    for (int i = 1; i < argument_count && strcmp(arguments[i], "--") != 0; i++) {
        const char *name = arguments[i] + 2;
        size_t length = strncmp(arguments[i], "--", 2) == 0 ? strcspn(name, "=") : 0;
        bool value = false; /* the next word is the option's */
        for (const struct argp_option *o = options; o->name; o++)
            value = value || (o->arg && arguments[i][0] == '-' &&
                              (length > 0 ? name[length] == '\0' && strncmp(o->name, name, length) == 0
                                          : arguments[i][1] == o->key && arguments[i][2] == '\0'));
        if (length > 0 && !is_known(options, name, length)) {
            refuse_name(options, arguments[0], arguments[i], length);
            return false;
        }
        i += value;
    }
    return true;
}

void options_watch_all(struct option_rule *rules, size_t count, const char **given)
{
    for (size_t i = 0; i < count; i++)
        rules[i].given = &given[i];
}

enum pim_status options_alone(const char *const *given, size_t count, const char *mode, const char *beside,
                              struct pim_error *error)
{
    for (size_t i = 0; i < count; i++) {
        if (!given[i] || strcmp(given[i], mode) == 0)
            continue;
        const char *found = beside;
        const size_t length = strlen(given[i]);
        while (found && (strncmp(found, given[i], length) != 0 || (found[length] && found[length] != '|'))) {
            found = strchr(found, '|');
            found += found != NULL;
        }
        if (!found)
            return pim_fail(error, PIM_USAGE, "--%s does nothing with --%s", given[i], mode);
    }
    return PIM_OK;
}

void options_watch(struct option_rule *rules, size_t count, const char *name, const char **given)
{
    size_t i = 0;
    while (i < count && strcmp(rules[i].name, name) != 0)
        i++;
    assert(i < count);
    rules[i].given = given;
}

void options_parse(const struct option_usage *usage, int argument_count, char **arguments,
                   struct text_list *files)
{
    assert(usage->most == 0 || files);
    struct argp_option *options = calloc(usage->rule_count + 5, sizeof *options);
    char **helps = calloc(usage->rule_count + 1, sizeof *helps);
    bool complete = options && helps && fill_table(usage, options, helps);
    const struct argp argp = {
        .options = options, .parser = handle, .args_doc = usage->arguments, .doc = usage->help};
    struct parsing parsing = {usage, files, false};
    struct pim_error error = {PIM_OK, ""};
    argp_err_exit_status = 2;
    const bool known = !complete || check_names(options, argument_count, arguments);
    error_t failed = !complete ? ENOMEM
                     : known   ? argp_parse(&argp, argument_count, arguments, ARGP_NO_HELP, NULL, &parsing)
                               : 0;
    for (size_t i = 0; helps && i < usage->rule_count; i++)
        free(helps[i]);
    free(helps);
    free(options);
    if (!known)
        exit(2);
    if (failed != 0) {
        fprintf(stderr, "%s: %s\n", arguments[0], strerror(failed));
        exit(failed == ENOMEM ? 1 : 2);
    }
    if (guard_files(usage, files, parsing.force || forced(usage), &error) != PIM_OK)
        exit(command_fail(arguments[0], &error));
}

enum pim_status options_configuration(const struct pim_schema *schema, const struct text_list *files,
                                      const struct text_list *sets, unsigned purpose,
                                      struct pim_configuration **configuration, struct pim_error *error)
{
    enum pim_status status = pim_configuration_create(schema, configuration, error);
    for (size_t i = 0; status == PIM_OK && i < files->count; i++)
        status = pim_configuration_read_file(*configuration, files->items[i], error);
    for (size_t i = 0; status == PIM_OK && i < sets->count; i++)
        status = pim_configuration_set(*configuration, sets->items[i], error);
    if (status == PIM_OK && purpose != 0)
        status = pim_configuration_complete(*configuration, error);
    if (status == PIM_OK && purpose != 0)
        status = pim_hardware_accept_sets(*configuration, (enum pim_key_purpose)purpose,
                                          (const char *const *)sets->items, sets->count, error);
    if (status != PIM_OK) {
        pim_configuration_destroy(*configuration);
        *configuration = NULL;
    }
    return status;
}
