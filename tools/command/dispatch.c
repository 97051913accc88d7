/* From a name to a command; what all commands share at their start and end. */
#include "sim/nearest.h"
#include "tools/command/command.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

/* What all tables of commands have beside these; the last one that of the program alone. */
static const char *const options[] = {"--help", "--usage", "help", "--version"};

int command_fail(const char *words, const struct pim_error *error)
{
    fprintf(stderr, "%s: %s\n", words, error->text);
    return pim_status_exit_code(error->status);
}

int command_finish(const char *words, int code)
{
    errno = 0;
    if (fflush(stdout) == 0 && !ferror(stdout))
        return code;
    if (errno == 0) { /* an earlier write failed, and its cause is lost: another one tells it */
        (void)fputc('\n', stdout);
        (void)fflush(stdout);
    }
    fprintf(stderr, "%s: standard output: %s\n", words, errno ? strerror(errno) : "write failed");
    clearerr(stdout); /* a second call reports nothing */
    return code == 0 ? 1 : code;
}

int command_end(const char *words, enum pim_status status, const struct pim_error *error)
{
    return command_finish(words, status == PIM_OK ? 0 : command_fail(words, error));
}

static void print_table(const struct command *table, size_t count, const char *about, const char *words,
                        FILE *out)
{
    fprintf(out, "Usage: %s COMMAND [ARGUMENT...]\n%s\n\nCommands:\n", words, about);
    for (size_t i = 0; i < count; i++)
        fprintf(out, "  %-10s %s\n", table[i].name, table[i].help);
    fprintf(out, "\n%s COMMAND --help tells more about one of them.\n", words);
}

/* The names alone, in lines of less than 80 characters. */
static void print_usage(const struct command *table, size_t count, const char *words)
{
    printf("Usage: %s COMMAND [ARGUMENT...]\n", words);
    int column = printf("Commands:");
    for (size_t i = 0; i < count; i++) {
        if (column + (int)strlen(table[i].name) + 2 > 79)
            column = printf("\n         ") - 1;
        column += printf(" %s%s", table[i].name, i + 1 < count ? "," : "\n");
    }
}

static const struct command *find(const struct command *table, size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++) {
        if (strcmp(table[i].name, name) == 0)
            return &table[i];
    }
    return NULL;
}

static int refuse(const struct command *table, size_t count, const char *words, const char *name)
{
    struct pim_nearest nearest = {.wanted = name};
    const size_t others = COUNT(options) - (strchr(words, ' ') != NULL);
    for (size_t i = 0; i < count + others; i++)
        (void)pim_nearest_offer(&nearest, i < count ? table[i].name : options[i - count]);
    const char *quote = name[0] == '-' ? "'" : "";
    fprintf(stderr, "%s: %s %s%.60s%s%s%s (%s --help lists all)\n", words,
            name[0] == '-' ? "unrecognized option" : "unknown command", quote, name, quote,
            PIM_NEAREST(nearest, "; the nearest is "), words);
    return 2;
}

static int call(const struct command *command, const char *words, int argument_count, char **arguments)
{
    char name[128];
    (void)snprintf(name, sizeof name, "%s %s", words, command->name);
    arguments[0] = name;
    return command->run(argument_count, arguments);
}

int command_dispatch(const struct command *table, size_t count, const char *about, int argument_count,
                     char **arguments)
{
    char words[64];
    (void)snprintf(words, sizeof words, "%s", arguments[0]);
    const char *name = argument_count > 1 ? arguments[1] : NULL;
    if (!name) {
        print_table(table, count, about, words, stderr);
        return 2;
    }
    bool help = strcmp(name, "help") == 0;
    if (help && argument_count > 2 && arguments[2][0] == '-') { /* "help --usage" is "--usage" */
        help = false;
        name = arguments[2];
    }
    if ((help && argument_count == 2) || strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0 ||
        strcmp(name, "-?") == 0) {
        print_table(table, count, about, words, stdout);
        return command_finish(words, 0);
    }
    if (strcmp(name, "--usage") == 0) {
        print_usage(table, count, words);
        return command_finish(words, 0);
    }
    const char *wanted = help ? arguments[2] : name;
    const struct command *command = find(table, count, wanted);
    if (!command)
        return refuse(table, count, words, wanted);
    if (!help)
        return call(command, words, argument_count - 1, arguments + 1);
    char option[] = "--help"; /* "help run" is "run --help" */
    for (int i = 1; i + 1 < argument_count; i++)
        arguments[i] = arguments[i + 1];
    arguments[argument_count - 1] = option;
    return call(command, words, argument_count - 1, arguments + 1);
}
