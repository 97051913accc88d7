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

enum {
    SCHEMAS = 3,
    SHOWN_MOST = 12,
    WIDTH = 96,
    NAME_BYTES = 256,
    NEAR = 3,            /* names that a refusal suggests */
    MENTIONED_MOST = 20, /* lines of names that speak of a word */
    MENTION_BYTES = 60,  /* of the text of each */
    MENTION_LEAST = 3    /* letters of a word that is searched for */
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

static void print_message(FILE *file, const struct explained_message *message)
{
    size_t first = strcspn(message->parts, "|");
    fprintf(file, "... %.*s ...\n", (int)first, message->parts);
    print_wrapped(file, "means", message->meaning);
    if (*message->help)
        print_wrapped(file, "help", message->help);
}

static void print_code(FILE *file, const struct explained_message *code)
{
    fprintf(file, "exit code %s\n", code->parts);
    print_wrapped(file, "means", code->meaning);
    if (*code->help)
        print_wrapped(file, "help", code->help);
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
                  : key->fallback[0] == '\0' ? "none: the key of the same name with or without _ns holds"
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
    for (size_t i = 0; i < explained_code_count; i++)
        if (strcmp(explained_codes[i].parts, code) == 0) {
            print_code(file, &explained_codes[i]);
            return 1;
        }
    const struct explained_message *message = explained_message_of(wanted);
    if (message)
        print_message(file, message);
    return message != NULL;
}

/* A line for a name whose text speaks of the word; the caller prints the title before the first one. */
static void mention(FILE *file, const char *word, const char *name, const char *text, size_t *found)
{
    if (!explained_contains(name, word) && !explained_contains(text, word))
        return;
    if (*found == 0)
        fprintf(file, "%s is no name itself; these speak of it (pimsim explain NAME tells more)\n", word);
    if ((*found)++ < MENTIONED_MOST)
        fprintf(file, "  %-36s %.*s%s\n", name, MENTION_BYTES, text,
                strlen(text) > MENTION_BYTES ? "..." : "");
}

/* The keys and figures whose name or text has the word in it. */
static size_t explain_mentions(FILE *file, const char *word)
{
    size_t found = 0;
    for (unsigned s = 0; strlen(word) >= MENTION_LEAST && s < SCHEMAS; s++) {
        const struct pim_schema *schema = config_schema(s);
        for (size_t i = 0; i < schema->count; i++)
            mention(file, word, schema->keys[i].path, schema->keys[i].text, &found);
    }
    for (size_t i = 0; strlen(word) >= MENTION_LEAST && i < explained_figure_count; i++)
        mention(file, word, explained_figures[i].name, explained_figures[i].definition, &found);
    if (found > MENTIONED_MOST)
        fprintf(file, "  and %zu more\n", found - MENTIONED_MOST);
    return found;
}

/* The nearest names so far, the nearest first. */
struct near_names {
    size_t distance[NEAR];
    const char *name[NEAR];
    size_t count;
};

/* A name, or the last part of it, that may be meant: row_hitz is near dram.row_hits. */
static void consider(struct near_names *near, const char *name, const char *wanted)
{
    const char *dot = strrchr(name, '.');
    size_t distance, end, at = near->count;
    const bool whole = pim_nearness_of(wanted, name, &distance) != PIM_FAR;
    const bool part = dot && pim_nearness_of(wanted, dot + 1, &end) != PIM_FAR;
    if (!whole && !part)
        return;
    distance = part && (!whole || end < distance) ? end : distance;
    while (at > 0 && near->distance[at - 1] > distance)
        at--;
    if (at == NEAR)
        return;
    if (near->count < NEAR)
        near->count++;
    for (size_t i = near->count - 1; i > at; i--) {
        near->distance[i] = near->distance[i - 1];
        near->name[i] = near->name[i - 1];
    }
    near->distance[at] = distance;
    near->name[at] = name;
}

static enum pim_status refuse(const char *wanted, struct pim_error *error)
{
    struct near_names near = {.count = 0};
    for (unsigned s = 0; s < SCHEMAS; s++)
        for (size_t i = 0; i < config_schema(s)->count; i++)
            consider(&near, config_schema(s)->keys[i].path, wanted);
    for (size_t i = 0; i < explained_figure_count; i++)
        consider(&near, explained_figures[i].name, wanted);
    char nearest[512] = "";
    for (size_t i = 0; i < near.count; i++) {
        const size_t length = strlen(nearest);
        (void)snprintf(nearest + length, sizeof nearest - length, "%s%s",
                       i > 0            ? i + 1 < near.count ? ", " : " and "
                       : near.count > 1 ? "; the nearest are "
                                        : "; the nearest is ",
                       near.name[i]);
    }
    return pim_fail(error, PIM_USAGE, "%.100s is no key, figure or message that is known%s", wanted, nearest);
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
    if (found == 0)
        found = explain_mentions(file, wanted);
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
    const struct option_usage usage =
        OPTION_USAGE("[KEY|FIGURE|MESSAGE]",
                     "Says what a key of a configuration, a figure of a result or a "
                     "message means: unit and clock, how it is made, "
                     "what is allowed, and the page that has more. A name may be the end "
                     "of a longer one; of a message a part is "
                     "enough, in quotes.",
                     rules, 0, 1);
    struct text_list words = {0};
    options_parse(&usage, argument_count, arguments, &words);
    struct pim_error error = {PIM_OK, ""};
    enum pim_status status = PIM_OK;
    if ((keys || figures) && (words.count > 0 || (keys && figures)))
        status = pim_fail(&error, PIM_USAGE, "--%s lists names alone: leave out %s",
                          keys ? "keys" : "figures", words.count > 0 ? words.items[0] : "--figures");
    else if (keys || figures)
        list(keys);
    else if (words.count == 0)
        status =
            pim_fail(&error, PIM_USAGE, "what? a key (noc.flit_bits), a figure (dram.row_hits) or a message");
    else
        status = explain(stdout, words.items[0], &error);
    text_list_terminate(&words);
    return command_end(arguments[0], status, &error);
}
