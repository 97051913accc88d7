/* The configuration itself: life cycle, getters, origins, single assignments. Reading files is
 * configuration_read.c. */
#include "sim/configuration/internal.h"

#include <assert.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

size_t pim_configuration_find(const struct pim_schema *schema, const char *path)
{
    size_t i = 0;
    while (i < schema->count && strcmp(schema->keys[i].path, path) != 0)
        i++;
    return i;
}

/* One of the two keys of invariant 4: the other one has the default. */
static bool has_no_default(const struct pim_key *key)
{
    return key->fallback && key->fallback[0] == '\0';
}

bool pim_configuration_has_default(const struct pim_key *key)
{
    return key->fallback && !has_no_default(key);
}

size_t pim_configuration_twin(const struct pim_schema *schema, size_t index)
{
    static const char suffix[] = "_ns";
    const struct pim_key *key = &schema->keys[index];
    char path[PATH_LIMIT + sizeof suffix];
    const size_t length = strlen(key->path), ending = sizeof suffix - 1;
    if (length > ending && strcmp(key->path + length - ending, suffix) == 0)
        (void)snprintf(path, sizeof path, "%.*s", (int)(length - ending), key->path);
    else
        (void)snprintf(path, sizeof path, "%.*s%s", PATH_LIMIT, key->path, suffix);
    const size_t twin = pim_configuration_find(schema, path);
    const bool pair = twin < schema->count && (has_no_default(key) || has_no_default(&schema->keys[twin]));
    assert(pair || !has_no_default(key));
    return pair ? twin : schema->count;
}

bool pim_configuration_same_quantity(const struct pim_schema *schema, const char *one, const char *other)
{
    const size_t index = pim_configuration_find(schema, one);
    const size_t twin = index < schema->count ? pim_configuration_twin(schema, index) : schema->count;
    return twin < schema->count && strcmp(schema->keys[twin].path, other) == 0;
}

/* Takes over the defaults: what one text does not give is assigned on its own. One that its own key refuses
 * is a mistake in the schema, which is part of the program. */
static enum pim_status take_defaults(struct pim_configuration *configuration, struct pim_error *error)
{
    const struct pim_schema *schema = configuration->schema;
    pim_configuration_take_plain_defaults(configuration);
    for (size_t i = 0; i < schema->count; i++) {
        if (!pim_configuration_has_default(&schema->keys[i]) ||
            configuration->values[i].origin == PIM_ORIGIN_DEFAULT)
            continue;
        enum pim_status status =
            pim_configuration_assign(configuration, i, schema->keys[i].fallback, PIM_ORIGIN_DEFAULT, error);
        if (status != PIM_OK) {
            (void)pim_fail_in(error, "schema %s", schema->name);
            return error->status = status == PIM_NO_MEMORY ? PIM_NO_MEMORY : PIM_INTERNAL;
        }
    }
    return PIM_OK;
}

enum pim_status pim_configuration_create(const struct pim_schema *schema,
                                         struct pim_configuration **configuration, struct pim_error *error)
{
    *configuration = NULL;
    struct pim_configuration *made = calloc(1, sizeof *made);
    if (!made)
        return pim_fail(error, PIM_NO_MEMORY, "out of memory");
    made->schema = schema;
    made->values = calloc(schema->count + 1, sizeof *made->values);
    enum pim_status status =
        made->values ? take_defaults(made, error) : pim_fail(error, PIM_NO_MEMORY, "out of memory");
    if (status != PIM_OK) {
        pim_configuration_destroy(made);
        return status;
    }
    *configuration = made;
    return PIM_OK;
}

void pim_configuration_destroy(struct pim_configuration *configuration)
{
    if (!configuration)
        return;
    for (size_t i = 0; configuration->values && i < configuration->schema->count; i++)
        pim_value_release(&configuration->schema->keys[i], &configuration->values[i]);
    for (size_t i = 0; i < configuration->name_count; i++)
        free(configuration->names[i]);
    free(configuration->names);
    free(configuration->values);
    free(configuration);
}

enum pim_status pim_configuration_complete(struct pim_configuration *configuration, struct pim_error *error)
{
    const struct pim_schema *schema = configuration->schema;
    char missing[sizeof error->text / 2];
    size_t used = 0, count = 0;
    missing[0] = '\0';
    for (size_t i = 0; i < schema->count; i++) {
        char allowed[256];
        if (configuration->values[i].origin != PIM_ORIGIN_NONE || schema->keys[i].fallback)
            continue;
        count++;
        pim_key_describe(&schema->keys[i], allowed, sizeof allowed);
        if (used < sizeof missing - 1) {
            int written = snprintf(missing + used, sizeof missing - used, "%s%s (%s)", count > 1 ? ", " : "",
                                   schema->keys[i].path, allowed);
            used += written > 0 ? (size_t)written : 0;
        }
    }
    if (count == 0)
        return PIM_OK;
    const char *place = configuration->name_count > 0 ? configuration->names[configuration->name_count - 1]
                                                      : "no file was read";
    return pim_fail(error, PIM_BAD_INPUT, "%s: the %s configuration lacks %zu required key%s: %s", place,
                    schema->name, count, count == 1 ? "" : "s", missing);
}

static const struct pim_value *value_of(const struct pim_configuration *configuration, const char *path,
                                        enum pim_key_type type)
{
    size_t i = pim_configuration_find(configuration->schema, path);
    assert(i < configuration->schema->count && "not a key of this schema");
    assert(configuration->schema->keys[i].type == type);
    assert(configuration->values[i].origin != PIM_ORIGIN_NONE && "a required key without a value");
    (void)type;
    return &configuration->values[i];
}

int64_t pim_configuration_integer(const struct pim_configuration *configuration, const char *path)
{
    return value_of(configuration, path, PIM_KEY_INTEGER)->as.integer;
}

uint32_t pim_configuration_count(const struct pim_configuration *configuration, const char *path)
{
    const int64_t value = pim_configuration_integer(configuration, path);
    assert(value >= 0 && value <= UINT32_MAX);
    return (uint32_t)value;
}

double pim_configuration_real(const struct pim_configuration *configuration, const char *path)
{
    return value_of(configuration, path, PIM_KEY_REAL)->as.real;
}

bool pim_configuration_boolean(const struct pim_configuration *configuration, const char *path)
{
    return value_of(configuration, path, PIM_KEY_BOOLEAN)->as.boolean;
}

const char *pim_configuration_text(const struct pim_configuration *configuration, const char *path)
{
    return value_of(configuration, path, PIM_KEY_TEXT)->as.text;
}

unsigned pim_configuration_choice(const struct pim_configuration *configuration, const char *path)
{
    return value_of(configuration, path, PIM_KEY_CHOICE)->as.choice;
}

size_t pim_configuration_list(const struct pim_configuration *configuration, const char *path,
                              const int64_t **values)
{
    const struct pim_value *value = value_of(configuration, path, PIM_KEY_INTEGER_LIST);
    *values = value->as.list;
    return value->count;
}

bool pim_configuration_given(const struct pim_configuration *configuration, const char *path)
{
    size_t i = pim_configuration_find(configuration->schema, path);
    assert(i < configuration->schema->count && "not a key of this schema");
    return configuration->values[i].origin == PIM_ORIGIN_FILE ||
           configuration->values[i].origin == PIM_ORIGIN_COMMAND_LINE;
}

bool pim_configuration_holds(const struct pim_configuration *configuration, const char *path)
{
    size_t i = pim_configuration_find(configuration->schema, path);
    assert(i < configuration->schema->count && "not a key of this schema");
    return configuration->values[i].origin != PIM_ORIGIN_NONE;
}

bool pim_configuration_later(const struct pim_configuration *configuration, const char *path,
                             const char *other)
{
    size_t i = pim_configuration_find(configuration->schema, path),
           j = pim_configuration_find(configuration->schema, other);
    assert(i < configuration->schema->count && j < configuration->schema->count &&
           "not a key of this schema");
    const struct pim_value *value = &configuration->values[i], *before = &configuration->values[j];
    if (value->origin != before->origin)
        return value->origin > before->origin;
    return value->origin == PIM_ORIGIN_FILE && value->text > before->text;
}

bool pim_configuration_in_spite(const struct pim_configuration *configuration, const char *path,
                                const char *other)
{
    size_t i = pim_configuration_find(configuration->schema, path);
    assert(i < configuration->schema->count && "not a key of this schema");
    return configuration->values[i].origin == PIM_ORIGIN_COMMAND_LINE
               ? !pim_configuration_later(configuration, other, path)
               : pim_configuration_given(configuration, path) &&
                     pim_configuration_later(configuration, path, other);
}

const struct pim_schema *pim_configuration_schema(const struct pim_configuration *configuration)
{
    return configuration->schema;
}

void pim_configuration_origin(const struct pim_value *value, char *buffer, size_t size)
{
    if (value->origin == PIM_ORIGIN_FILE)
        (void)snprintf(buffer, size, "%s:%u", value->file, value->line);
    else
        (void)snprintf(buffer, size, "%s",
                       value->origin == PIM_ORIGIN_COMMAND_LINE ? "command line"
                       : value->origin == PIM_ORIGIN_DEFAULT    ? "default"
                                                                : "required, but not given");
}

enum pim_status pim_configuration_fail(const struct pim_configuration *configuration, struct pim_error *error,
                                       const char *path, const char *format, ...)
{
    size_t i = pim_configuration_find(configuration->schema, path);
    assert(i < configuration->schema->count && "not a key of this schema");
    char origin[1200], message[sizeof error->text];
    pim_configuration_origin(&configuration->values[i], origin, sizeof origin);
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    return pim_fail(error, PIM_BAD_INPUT, "%s: %s: %s", origin, path, message);
}
