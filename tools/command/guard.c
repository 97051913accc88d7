#include "tools/command/guard.h"

#include "sim/output/file.h"
#include "traces/file/format.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { HEAD_BYTES = 4096, TEXT_BYTES_MOST = 1 << 24, DEPTH_MOST = 10, FILES_MOST = 1000 };

struct guarded {
    const char *option, *path;
    enum option_writes writes;
    bool exists;
};

/* A regular file; what else exists (a terminal, a pipe, /dev/null) is written without loss. */
static bool regular(const char *path, struct stat *found)
{
    return stat(path, found) == 0 && S_ISREG(found->st_mode);
}

static bool ends_with(const char *text, const char *end)
{
    size_t length = strlen(text), most = strlen(end);
    return length >= most && strcmp(text + length - most, end) == 0;
}

/* --- what a file is --- */

/* The first packet of a timeline as sim/output/timeline.c writes it: field 1, its length, then the number of
 * its sequence and its flags. */
static bool is_timeline(const unsigned char *head, size_t size)
{
    static const unsigned char start[] = {0x50, 1, 0x68, 1};
    size_t at = 1;
    while (at < size && head[at] >= 0x80)
        at++;
    return head[0] == '\n' && at + 1 + sizeof start <= size &&
           memcmp(head + at + 1, start, sizeof start) == 0;
}

/* Names or values with commas between them and no space outside quotes: the first line of a table. */
static bool is_table(const char *text)
{
    size_t commas = 0;
    bool quoted = false;
    for (; *text && *text != '\n' && (quoted || *text != ' '); text++) {
        quoted ^= *text == '"';
        commas += *text == ',' && !quoted;
    }
    return *text == '\n' && commas > 0;
}

/* A word of results with a figure before or behind it, in one line. */
static bool tells_figures(const char *text)
{
    static const char *const words[] = {"cycles", " ns", "mm2", "hops", "AAP"};
    for (const char *next; *text; text = next) {
        size_t length = strcspn(text, "\n");
        next = text + length + (text[length] == '\n');
        for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
            const char *at = strstr(text, words[i]);
            if (at && at < text + length && strcspn(text, "0123456789") < length)
                return true;
        }
    }
    return false;
}

/* Whether a text looks as commands write: JSON, a page, a trace as text, a table, or lines with figures. */
static bool is_written_text(const unsigned char *head, size_t size)
{
    char text[HEAD_BYTES + 1];
    memcpy(text, head, size);
    text[size] = '\0';
    return text[0] == '{' || text[0] == '[' || strncmp(text, "<!doctype html>", 15) == 0 ||
           strncmp(text, "# pimsim trace", 14) == 0 || is_table(text) || tells_figures(text);
}

static enum option_writes kind_of(const char *path, const unsigned char *head, size_t size)
{
    static const unsigned char database[16] = "SQLite format 3";
    if (pim_format_begins(head, size))
        return WRITES_TRACE;
    if (size >= sizeof database && memcmp(head, database, sizeof database) == 0)
        return WRITES_RESULTS;
    if (ends_with(path, ".cfg"))
        return WRITES_NOTHING;
    if (is_timeline(head, size))
        return WRITES_TIMELINE;
    if (!memchr(head, 0, size) && head[0] != '\b') /* a network begins with field 1, a number */
        return WRITES_TEXT;
    return head[0] == '\b' ? WRITES_NETWORK : WRITES_NOTHING;
}

static const char *name_of(enum option_writes kind)
{
    static const char *const names[] = {[WRITES_NOTHING] = "a file of another kind",
                                        [WRITES_TEXT] = "a text",
                                        [WRITES_TRACE] = "a trace",
                                        [WRITES_TIMELINE] = "a timeline",
                                        [WRITES_NETWORK] = "a network",
                                        [WRITES_RESULTS] = "a database"};
    return names[kind];
}

/* What is written may replace what it is itself, and what is empty. */
static enum pim_status check_kind(const struct guarded *output, struct pim_error *error)
{
    unsigned char head[HEAD_BYTES];
    size_t size = 0;
    struct pim_error unread;              /* what cannot be read is for the writer to say */
    if (output->writes != WRITES_RESULTS) /* the store checks */
        (void)pim_file_head(output->path, sizeof head, head, &size, &unread);
    if (size == 0)
        return PIM_OK;
    enum option_writes kind = kind_of(output->path, head, size);
    if (kind == output->writes && (kind != WRITES_TEXT || is_written_text(head, size)))
        return PIM_OK;
    if (kind == WRITES_TEXT && output->writes == WRITES_TEXT)
        return pim_fail(
            error, PIM_USAGE,
            "--%s %.250s is there and does not look as if pimsim had written it: it stays as it is; "
            "another name, or --force to overwrite it",
            output->option, output->path);
    return pim_fail(error, PIM_USAGE,
                    "--%s %.250s is there and is %s, where %s would be written: it stays as it is; another "
                    "name, or --force to overwrite it",
                    output->option, output->path,
                    ends_with(output->path, ".cfg") ? "a configuration" : name_of(kind),
                    name_of(output->writes));
}

/* --- inputs --- */

struct search {
    const struct guarded *outputs;
    size_t count;
    const char *input; /* as it stands on the command line */
    struct pim_error *error;
    unsigned files; /* that were read for the names in them, each once: */
    struct {
        dev_t device;
        ino_t inode;
    } file[FILES_MOST];
};

/* Remembers a file; false when it was read before, or too many were. */
static bool visit(struct search *search, const struct stat *found)
{
    for (unsigned i = 0; i < search->files; i++)
        if (search->file[i].device == found->st_dev && search->file[i].inode == found->st_ino)
            return false;
    if (search->files == FILES_MOST)
        return false;
    search->file[search->files].device = found->st_dev;
    search->file[search->files++].inode = found->st_ino;
    return true;
}

/* `path` is a file that is read; `inside`: because an input names it. */
static enum pim_status check_input(const struct search *search, const char *path, bool inside)
{
    for (size_t i = 0; i < search->count; i++) {
        const struct guarded *output = &search->outputs[i];
        if (!output->exists || !pim_file_is_same(output->path, path))
            continue;
        if (inside)
            return pim_fail(search->error, PIM_USAGE,
                            "--%s %.200s would be written over an input: %.200s reads it as %.200s",
                            output->option, output->path, search->input, path);
        return pim_fail(search->error, PIM_USAGE,
                        "--%s %.250s would be written over an input, %.250s: the output needs another name",
                        output->option, output->path, search->input);
    }
    return PIM_OK;
}

static char *read_text(const char *path)
{
    FILE *file = fopen(path, "rb");
    char *text = file ? malloc(TEXT_BYTES_MOST) : NULL;
    size_t size = text ? fread(text, 1, TEXT_BYTES_MOST - 1, file) : 0;
    if (file)
        (void)fclose(file);
    if (text && (size == TEXT_BYTES_MOST - 1 || memchr(text, 0, size))) {
        free(text);
        return NULL;
    }
    if (text)
        text[size] = '\0';
    return text;
}

/* Files that a configuration or specification names, and those that they name. */
static enum pim_status check_named(struct search *search, const char *path, const struct stat *file,
                                   unsigned depth)
{
    char *text = ends_with(path, ".cfg") && visit(search, file) ? read_text(path) : NULL;
    if (!text)
        return PIM_OK;
    const char *slash = strrchr(path, '/');
    int folder = slash ? (int)(slash - path) + 1 : 0;
    enum pim_status status = PIM_OK;
    char *end;
    for (char *at = strchr(text, '"'); at && status == PIM_OK; at = end ? strchr(end + 1, '"') : NULL) {
        end = strpbrk(at + 1, "\"\n");
        if (!end || *end != '"' || end == at + 1)
            continue;
        *end = '\0';
        char named[HEAD_BYTES];
        struct stat found;
        int length = snprintf(named, sizeof named, "%.*s%s", at[1] == '/' ? 0 : folder, path, at + 1);
        if (length < (int)sizeof named && regular(named, &found)) {
            status = check_input(search, named, true);
            if (status == PIM_OK && depth < DEPTH_MOST)
                status = check_named(search, named, &found, depth + 1);
        }
    }
    free(text);
    return status;
}

/* Files that words of a file of BookSim name: it has no quotes. */
static enum pim_status check_words(struct search *search, const char *path)
{
    static const char between[] = " \t\r\n;={},\"";
    char *text = read_text(path), *rest = NULL;
    search->input = path;
    for (char *word = text ? strtok_r(text, between, &rest) : NULL; word;
         word = strtok_r(NULL, between, &rest)) {
        struct stat found;
        if (regular(word, &found) && check_input(search, word, true) != PIM_OK) {
            free(text);
            return search->error->status;
        }
    }
    free(text);
    return PIM_OK;
}

/* The file that the value of KEY=VALUE names, as it is or in quotes. */
static enum pim_status check_value(struct search *search, const char *text)
{
    const char *value = strchr(text, '=');
    char named[HEAD_BYTES];
    struct stat found;
    if (!value)
        return PIM_OK;
    value += 1 + strspn(value + 1, " \"");
    int length = snprintf(named, sizeof named, "%.*s", (int)strcspn(value, "\""), value);
    search->input = text;
    return length < (int)sizeof named && regular(named, &found) ? check_input(search, named, true) : PIM_OK;
}

/* `text` of the command line, if it names a file. A graph of tasks is a prefix of several. */
static enum pim_status check_text(struct search *search, const char *text, bool prefix)
{
    static const char *const endings[] = {"",          ".nodes.csv",  ".edges.csv",
                                          ".deps.csv", ".layers.csv", ".mappings.json"};
    search->input = text;
    for (size_t i = 0; i < (prefix ? sizeof endings / sizeof endings[0] : 1); i++) {
        char path[HEAD_BYTES];
        struct stat found;
        int length = snprintf(path, sizeof path, "%s%s", text, endings[i]);
        if (length >= (int)sizeof path || !regular(path, &found))
            continue;
        if (check_input(search, path, i > 0) != PIM_OK || check_named(search, path, &found, 0) != PIM_OK)
            return search->error->status;
    }
    return PIM_OK;
}

static enum pim_status check_inputs(struct search *search, const struct option_usage *usage,
                                    const struct text_list *files)
{
    for (size_t i = 0; files && i < files->count; i++)
        if (check_text(search, files->items[i], strcmp(usage->arguments, "GRAPH") == 0) != PIM_OK)
            return search->error->status;
    for (size_t i = 0; i < usage->rule_count; i++) {
        const struct option_rule *rule = &usage->rules[i];
        const struct text_list *list = rule->kind == OPTION_LIST ? rule->target : NULL;
        const char *text = rule->kind == OPTION_TEXT ? *(const char **)rule->target : NULL;
        bool prefix = rule->argument && strcmp(rule->argument, "GRAPH") == 0;
        if (rule->writes != WRITES_NOTHING)
            continue;
        if (text && check_text(search, text, prefix) != PIM_OK)
            return search->error->status;
        if (text && strcmp(rule->name, "booksim") == 0 && check_words(search, text) != PIM_OK)
            return search->error->status;
        for (size_t k = 0; list && k < list->count; k++)
            if (check_text(search, list->items[k], false) != PIM_OK ||
                check_value(search, list->items[k]) != PIM_OK)
                return search->error->status;
    }
    return PIM_OK;
}

/* --- outputs --- */

/* Whether it is the file or the pipe that standard output goes to: a second file at its place would take the
 * name away from what is printed. */
static bool is_standard_output(const char *path)
{
    struct stat named, standard;
    return stat(path, &named) == 0 && fstat(STDOUT_FILENO, &standard) == 0 &&
           (S_ISREG(named.st_mode) || S_ISFIFO(named.st_mode)) && named.st_dev == standard.st_dev &&
           named.st_ino == standard.st_ino;
}

static enum pim_status check_pairs(const struct guarded *outputs, size_t count, struct pim_error *error)
{
    for (size_t i = 0; i < count; i++)
        for (size_t k = i + 1; k < count; k++) {
            const struct guarded *a = &outputs[i], *b = &outputs[k];
            if (!pim_file_is_same(a->path, b->path))
                continue;
            if (strcmp(a->path, "-") == 0)
                return pim_fail(error, PIM_USAGE,
                                "--%s and --%s would both go to standard output: name a file for one of them",
                                a->option, b->option);
            return pim_fail(error, PIM_USAGE, "--%s and --%s would both be written to %.300s", a->option,
                            b->option, a->path);
        }
    return PIM_OK;
}

enum pim_status guard_files(const struct option_usage *usage, const struct text_list *files, bool force,
                            struct pim_error *error)
{
    struct guarded *outputs = calloc(usage->rule_count + 1, sizeof *outputs);
    size_t count = 0;
    if (!outputs)
        return pim_fail(error, PIM_NO_MEMORY, "out of memory");
    for (size_t i = 0; i < usage->rule_count; i++) {
        const struct option_rule *rule = &usage->rules[i];
        const char *path = rule->writes != WRITES_NOTHING ? *(const char **)rule->target : NULL;
        if (!path && rule->writes == WRITES_TEXT && strcmp(rule->name, "stats") == 0)
            path = "-"; /* results go to standard output when no file is named */
        if (!path)
            continue;
        if (rule->writes != WRITES_RESULTS && is_standard_output(path))
            *(const char **)rule->target = path = "-";
        struct stat found;
        struct guarded *output = &outputs[count++];
        *output = (struct guarded){.option = rule->name, .path = path, .writes = rule->writes};
        output->exists = strcmp(path, "-") != 0 && regular(path, &found);
    }
    struct search search = {.outputs = outputs, .count = count, .error = error};
    enum pim_status status = check_pairs(outputs, count, error);
    bool any = false; /* what is not there yet is no input */
    for (size_t i = 0; i < count; i++)
        any |= outputs[i].exists;
    if (status == PIM_OK && any)
        status = check_inputs(&search, usage, files);
    for (size_t i = 0; i < count && status == PIM_OK && !force; i++)
        if (outputs[i].exists)
            status = check_kind(&outputs[i], error);
    free(outputs);
    return status;
}
