/* pimsim explain: keys of configurations, figures of results, and messages. */
#include "tools/command/explain.h"

#include "models/system/schema.h"
#include "sim/nearest.h"
#include "tools/command/command.h"
#include "tools/command/config_schema.h"
#include "tools/command/options.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { SCHEMAS = 3, SHOWN_MOST = 12, WIDTH = 96, NAME_BYTES = 256 };

/* A message by a part of it: what happened, and what helps. */
struct message {
    const char *part, *meaning, *help;
};
static const struct message messages[] = {
    {"would be written over an input",
     "An output of the command is a file that it also reads, perhaps under another name.",
     "Give the output another name; --force does not help, because the input would be gone."},
    {"is there and is", "The output exists and holds another kind of file than the one to be written.",
     "Give another name, or --force when the old content is not needed any more."},
    {"unknown key", "No configuration has a key of this name; the nearest one is named.",
     "`pimsim config schema` lists all, `pimsim explain --keys` their names, `pimsim explain KEY` describes "
     "one."},
    {"carries no hardware configuration",
     "The trace was made without a hardware, so it cannot be replayed by itself.",
     "Name one with --hardware FILE; configs/hardware has some."},
    {"of another hardware",
     "The mapper made its estimates for the hardware of the trace; --set or --hardware changed it.",
     "--network FILE of run and validate maps the network anew, for the hardware that is simulated: "
     "estimates and cycles are then both of that."},
    {"waits for", "A deadlock (exit code 3): units wait for each other, and nothing can happen any more.",
     "The lines say who waits for which instruction and peer. `pimsim trace check` finds without timing "
     "whether the "
     "trace can complete; small receive queues or windows (noc.*, core.window) can be the cause too."},
    {"holds results of another sweep", "The file has points of a sweep that this one has not grown from.",
     "What differs is named. Values, axes, traces and repeats may be added with --resume; else choose "
     "another file."},
    {"is damaged", "A checksum or an index does not fit: the file is not what pimsim wrote.",
     "Restore it from a copy, or make it again; nothing of it is shown, because it could be wrong."},
    {"another process writes results", "A sweep runs on that file, perhaps on another terminal.",
     "`pimsim sweep --status FILE` shows how far it is."},
    {"stopped before its end", "The run was ended by --until: its figures cover the part before.",
     "Run without --until to compare or to hold it against estimates."},
    {"built without the page", "pimsim report needs a page that is bundled when pimsim is built, by node.",
     "Install Debian's nodejs and npm, and configure and build again; the message says what was missing."},
    {"out of memory", "The system gave no more memory.",
     "Sweeps: fewer threads (-j). Runs: `ulimit -v` or the limits of the container may be lower than the "
     "machine."},
    {"is a newer", "The file was written by a newer pimsim.",
     "Use that version, or make the file again with this one."},
};

/* Exit codes, as "exit code 3" or "3". */
static const struct message codes[] = {
    {"0", "Done.", ""},
    {"1",
     "Bad input: a file, a value, or that they do not fit each other; no memory; an input or output failed.",
     "The message names file, line and what would be right."},
    {"2", "Wrong usage of the command line.", "`pimsim COMMAND --help` lists its options."},
    {"3", "Deadlock: work is left, and nothing can happen any more.", "The message says who waits for what."},
    {"4", "Internal: pimsim itself is wrong.", "Please report it, with the command and its inputs."},
};

/* A text in lines of WIDTH columns, indented. */
static void print_wrapped(FILE *file, const char *label, const char *text)
{
    int column = fprintf(file, "  %-8s", label);
    while (*text) {
        size_t word = strcspn(text, " ");
        if (column > 10 && column + (int)word >= WIDTH)
            column = fprintf(file, "\n%10s", "") - 1;
        column += fprintf(file, " %.*s", (int)word, text);
        text += word + strspn(text + word, " ");
    }
    (void)fputc('\n', file);
}

static void print_message(FILE *file, const struct message *message, const char *title)
{
    fprintf(file, "%s\n", title);
    print_wrapped(file, "means", message->meaning);
    if (*message->help)
        print_wrapped(file, "help", message->help);
}

static void print_key(FILE *file, const struct pim_schema *schema, const struct pim_key *key)
{
    char allowed[512];
    pim_key_describe(key, allowed, sizeof allowed);
    fprintf(file, "%s (a key of the %s configuration)\n", key->path, schema->name);
    print_wrapped(file, "means", key->text);
    print_wrapped(file, "allowed", allowed);
    print_wrapped(file, "default",
                  !key->fallback             ? "none: it must be given"
                  : key->fallback[0] == '\0' ? "none: the key without _ns holds"
                                             : key->fallback);
    print_wrapped(file, "page", "docs/reference/configuration.md");
}

static void print_figure(FILE *file, const struct explained_figure *figure)
{
    char page[NAME_BYTES];
    fprintf(file, "%s\n", figure->name);
    print_wrapped(file, "means", figure->definition);
    if (*figure->unit)
        print_wrapped(file, "unit", figure->unit);
    (void)snprintf(page, sizeof page, "%s, %s", figure->page, figure->heading);
    print_wrapped(file, "page", page);
}

/* A name of a figure without the marks of arrays and steps, lower case: "units.busy_cycles.pe". */
static void plain_name(const char *name, char plain[NAME_BYTES])
{
    size_t length = 0;
    for (; *name && length + 1 < NAME_BYTES; name++)
        if (*name != '[' && *name != ']')
            plain[length++] = *name >= 'A' && *name <= 'Z' ? (char)(*name - 'A' + 'a') : *name;
    plain[length] = '\0';
}

/* Whether a figure is the one that is asked for: its name, or the end of it behind a point. A step of any
 * name is "steps.step". */
static bool is_figure(const struct explained_figure *figure, const char *wanted, bool whole)
{
    char name[NAME_BYTES];
    plain_name(figure->name, name);
    size_t length = strlen(name), end = strlen(wanted);
    if (strcmp(name, wanted) == 0)
        return true;
    if (strncmp(name, "steps.step.", 11) == 0 && strncmp(wanted, "steps.", 6) == 0) {
        const char *dot = strrchr(wanted, '.');
        return strcmp(name + 11, dot + 1) == 0;
    }
    return !whole && length > end && name[length - end - 1] == '.' &&
           strcmp(name + length - end, wanted) == 0;
}

static size_t explain_keys(FILE *file, const char *wanted, bool whole)
{
    size_t found = 0;
    for (unsigned s = 0; s < SCHEMAS; s++) {
        const struct pim_schema *schema = config_schema(s);
        for (size_t i = 0; i < schema->count; i++) {
            const char *path = schema->keys[i].path, *dot = strrchr(path, '.');
            if (strcmp(path, wanted) != 0 && (whole || !dot || strcmp(dot + 1, wanted) != 0))
                continue;
            if (found++ > 0)
                (void)fputc('\n', file);
            print_key(file, schema, &schema->keys[i]);
        }
    }
    return found;
}

static size_t explain_figures(FILE *file, const char *wanted, bool whole, size_t before)
{
    char plain[NAME_BYTES];
    size_t found = 0;
    plain_name(wanted, plain);
    for (size_t i = 0; i < explained_figure_count && found < SHOWN_MOST; i++) {
        if (!is_figure(&explained_figures[i], plain, whole))
            continue;
        if (before + found++ > 0)
            (void)fputc('\n', file);
        print_figure(file, &explained_figures[i]);
    }
    return found;
}

static size_t explain_messages(FILE *file, const char *wanted)
{
    const char *code = strncmp(wanted, "exit code ", 10) == 0 ? wanted + 10 : wanted;
    for (size_t i = 0; i < sizeof codes / sizeof codes[0]; i++)
        if (strcmp(codes[i].part, code) == 0) {
            char title[32];
            (void)snprintf(title, sizeof title, "exit code %s", code);
            print_message(file, &codes[i], title);
            return 1;
        }
    for (size_t i = 0; i < sizeof messages / sizeof messages[0]; i++)
        if (strstr(wanted, messages[i].part) || (strlen(wanted) > 5 && strstr(messages[i].part, wanted))) {
            char title[64];
            (void)snprintf(title, sizeof title, "... %s ...", messages[i].part);
            print_message(file, &messages[i], title);
            return 1;
        }
    return 0;
}

static void consider(const char *name, const char *wanted, size_t *least, const char **nearest)
{
    size_t distance = pim_edit_distance(name, wanted);
    if (distance >= *least)
        return;
    *least = distance;
    *nearest = name;
}

static enum pim_status refuse(const char *wanted, struct pim_error *error)
{
    size_t least = SIZE_MAX;
    const char *nearest = "";
    for (unsigned s = 0; s < SCHEMAS; s++)
        for (size_t i = 0; i < config_schema(s)->count; i++)
            consider(config_schema(s)->keys[i].path, wanted, &least, &nearest);
    for (size_t i = 0; i < explained_figure_count; i++)
        consider(explained_figures[i].name, wanted, &least, &nearest);
    return pim_fail(error, PIM_USAGE, "%.100s is no key, figure or message that is known; the nearest is %s",
                    wanted, nearest);
}

static enum pim_status explain(FILE *file, const char *wanted, struct pim_error *error)
{
    size_t found = explain_keys(file, wanted, true);
    found += explain_figures(file, wanted, true, found);
    if (found == 0)
        found = explain_messages(file, wanted);
    if (found == 0)
        found = explain_keys(file, wanted, false);
    if (found == 0)
        found = explain_figures(file, wanted, false, 0);
    return found > 0 ? PIM_OK : refuse(wanted, error);
}

void explain_run(FILE *file)
{
    static const char *const figures[] = {"cycles",
                                          "time_ns",
                                          "work.macs",
                                          "phases[].exclusive_cycles",
                                          "phases[].estimate_cycles",
                                          "units[].busy_cycles.pe",
                                          "units[].stall_cycles.pe",
                                          "units[].idle_cycles.pe",
                                          "units[].cycles_by.waiting",
                                          "dram.row_hits",
                                          "dram.row_misses",
                                          "dram.row_conflicts",
                                          "noc.flit_hops",
                                          "noc.average_packet_latency",
                                          "noc.p99_packet_latency",
                                          "links[].utilization",
                                          "energy_pj.total"};
    fprintf(file, "\nwhat the figures mean (pimsim explain NAME tells of every other one)\n");
    for (size_t i = 0; i < sizeof figures / sizeof figures[0]; i++)
        for (size_t f = 0; f < explained_figure_count; f++)
            if (strcmp(explained_figures[f].name, figures[i]) == 0) {
                (void)fputc('\n', file);
                print_figure(file, &explained_figures[f]);
                break;
            }
}

/* Names alone, a line each, for completion. */
static void list(bool keys)
{
    for (unsigned s = 0; keys && s < 2; s++) /* hardware and networks: what --set and --vary take */
        for (size_t i = 0; i < config_schema(s)->count; i++)
            printf("%s\n", config_schema(s)->keys[i].path);
    for (size_t i = 0; !keys && i < explained_figure_count; i++)
        printf("%s\n", explained_figures[i].name);
}

int command_explain(int argument_count, char **arguments)
{
    bool keys = false, figures = false;
    const struct option_rule rules[] = {
        RULE_FLAG("keys", keys, "Lists the names of all keys of hardware and networks instead"),
        RULE_FLAG("figures", figures, "Lists the names of all figures of results instead"),
    };
    const struct option_usage usage = {"[KEY|FIGURE|MESSAGE]",
                                       "Says what a key of a configuration, a figure of a result or a "
                                       "message means: unit and clock, how it is made, "
                                       "what is allowed, and the page that has more. A name may be the end "
                                       "of a longer one; of a message a part is "
                                       "enough, in quotes.",
                                       rules,
                                       sizeof rules / sizeof rules[0],
                                       0,
                                       1};
    struct text_list words = {0};
    options_parse(&usage, argument_count, arguments, &words);
    struct pim_error error = {PIM_OK, ""};
    enum pim_status status = PIM_OK;
    if (keys || figures)
        list(keys);
    else if (words.count == 0)
        status =
            pim_fail(&error, PIM_USAGE, "what? a key (noc.flit_bits), a figure (dram.row_hits) or a message");
    else
        status = explain(stdout, words.items[0], &error);
    text_list_terminate(&words);
    return command_end(arguments[0], status, &error);
}
