#include "tools/library/words.h"

#include "mappers/mappers.h"

#include "sim/output/file.h"
#include "traces/file/hash.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What a command takes beside the options of its mapper. */
enum own { SET, DIMENSION, QUIET, FORMAT, OWN };
static const struct {
    const char *name;
    char letter;
    bool value;
} own_options[OWN] = {[SET] = {"set", 0, true},
                      [DIMENSION] = {"dim", 0, true},
                      [QUIET] = {"quiet", 'q', false},
                      [FORMAT] = {"format", 0, true}};

/* The words that are left. */
struct cursor {
    char *rest;
    const char *value; /* of the option at hand, when it stands in the same word; else NULL */
};

static char *next(struct cursor *cursor)
{
    return strtok_r(NULL, " \t\n", &cursor->rest);
}

static enum pim_status take_value(struct cursor *cursor, const char *name, bool needed, const char **value,
                                  struct pim_error *error)
{
    *value = cursor->value;
    if (!needed || *value)
        return PIM_OK;
    *value = next(cursor);
    return *value ? PIM_OK : pim_fail(error, PIM_USAGE, "%s: needs a value", name);
}

static enum pim_status take_own(struct pim_map_words *words, enum own own, struct cursor *cursor,
                                struct pim_error *error)
{
    const char *value;
    if (take_value(cursor, own_options[own].name, own_options[own].value, &value, error) != PIM_OK)
        return error->status;
    if (own == SET)
        words->sets[words->set_count++] = value;
    if (own == DIMENSION)
        words->dimensions[words->dimension_count++] = value;
    return PIM_OK;
}

static enum pim_status take_row(struct pim_map_words *words, const struct pim_option *row,
                                struct cursor *cursor, struct pim_error *error)
{
    const char *value;
    if (take_value(cursor, row->name, row->kind != PIM_OPTION_FLAG, &value, error) != PIM_OK)
        return error->status;
    return pim_option_set(&words->mapper->options, row, value, words->options, error);
}

static enum pim_status take_long(struct pim_map_words *words, char *name, struct cursor *cursor,
                                 struct pim_error *error)
{
    const struct pim_option *row;
    char *equals = strchr(name, '=');
    cursor->value = equals ? equals + 1 : NULL;
    if (equals)
        *equals = '\0';
    for (enum own own = 0; own < OWN; own++)
        if (strcmp(name, own_options[own].name) == 0)
            return take_own(words, own, cursor, error);
    if (pim_option_find(&words->mapper->options, words->mapper->name, name, &row, error) != PIM_OK)
        return error->status;
    return take_row(words, row, cursor, error);
}

static enum pim_status take_short(struct pim_map_words *words, const char *word, struct cursor *cursor,
                                  struct pim_error *error)
{
    const struct pim_option_table *table = &words->mapper->options;
    cursor->value = word[0] != '\0' && word[1] != '\0' ? word + 1 : NULL;
    for (enum own own = 0; own < OWN; own++)
        if (word[0] != '\0' && word[0] == own_options[own].letter)
            return take_own(words, own, cursor, error);
    for (size_t i = 0; i < table->count; i++)
        if (word[0] != '\0' && word[0] == table->rows[i].letter)
            return take_row(words, &table->rows[i], cursor, error);
    return pim_fail(error, PIM_USAGE, "-%.60s: mapper %s has no such option", word, words->mapper->name);
}

static enum pim_status take_words(struct pim_map_words *words, struct pim_error *error)
{
    struct cursor cursor;
    const char *name = strtok_r(words->text, " \t\n", &cursor.rest);
    if (!name)
        return pim_fail(error, PIM_USAGE, "the name of a mapper is missing");
    if (pim_mapper_find(name, &words->mapper, error) != PIM_OK)
        return error->status;
    words->options = pim_mapper_options(words->mapper);
    if (!words->options)
        return pim_fail(error, PIM_NO_MEMORY, "out of memory for the options of a mapper");
    for (char *word = next(&cursor); word; word = next(&cursor)) {
        enum pim_status status = strncmp(word, "--", 2) == 0 ? take_long(words, word + 2, &cursor, error)
                                 : word[0] == '-'
                                     ? take_short(words, word + 1, &cursor, error)
                                     : pim_fail(error, PIM_USAGE, "unexpected word: %.60s", word);
        if (status != PIM_OK)
            return status;
    }
    return words->mapper->accept ? words->mapper->accept(words->options, false, error) : PIM_OK;
}

enum pim_status pim_map_words_parse(const char *text, struct pim_map_words *words, struct pim_error *error)
{
    size_t room = strlen(text) + 1; /* more than there are words */
    *words = (struct pim_map_words){.text = strdup(text),
                                    .sets = calloc(room, sizeof *words->sets),
                                    .dimensions = calloc(room, sizeof *words->dimensions)};
    enum pim_status status = words->text && words->sets && words->dimensions
                                 ? take_words(words, error)
                                 : pim_fail(error, PIM_NO_MEMORY, "out of memory for the words of a mapper");
    if (status != PIM_OK)
        pim_map_words_terminate(words);
    return status;
}

void pim_map_words_terminate(struct pim_map_words *words)
{
    free(words->options);
    free(words->sets);
    free(words->dimensions);
    free(words->text);
    *words = (struct pim_map_words){.text = NULL};
}

bool pim_map_words_starts(const struct pim_map_words *words)
{
    const struct pim_option_table *table = &words->mapper->options;
    struct pim_error refused;
    size_t row = 0;
    while (row < table->count && strcmp(table->rows[row].name, "start-from") != 0)
        row++;
    const char *given = NULL;
    if (row < table->count)
        memcpy(&given, (const char *)words->options + table->rows[row].offset, sizeof given);
    void *options = row < table->count && !given ? malloc(table->size) : NULL;
    if (!options)
        return false;
    memcpy(options, words->options, table->size);
    bool starts = pim_option_set(table, &table->rows[row], "", options, &refused) == PIM_OK &&
                  (!words->mapper->accept || words->mapper->accept(options, false, &refused) == PIM_OK);
    free(options);
    return starts;
}

enum pim_status pim_map_words_files(const struct pim_map_words *words, char text[PIM_MAP_FILES_BYTES],
                                    struct pim_error *error)
{
    const size_t most = (size_t)1 << 30;
    const struct pim_option_table *table = &words->mapper->options;
    XXH64_state_t state;
    bool any = false;
    (void)XXH64_reset(&state, 0);
    for (size_t i = 0; i < table->count; i++) {
        const struct pim_option *row = &table->rows[i];
        const char *path = NULL;
        char *content = NULL;
        size_t size = 0;
        if (row->kind != PIM_OPTION_TEXT || row->writes || strcmp(row->argument, "FILE") != 0)
            continue;
        memcpy(&path, (const char *)words->options + row->offset, sizeof path);
        if (!path)
            continue;
        if (pim_file_read(path, most, "a file of a mapper", &content, &size, error) != PIM_OK)
            return error->status;
        pim_hash_update(&state, row->name, strlen(row->name) + 1);
        pim_hash_update(&state, content, size + 1);
        free(content);
        any = true;
    }
    (void)snprintf(text, PIM_MAP_FILES_BYTES, "%016" PRIx64, (uint64_t)XXH64_digest(&state));
    if (!any)
        text[0] = '\0';
    return PIM_OK;
}
