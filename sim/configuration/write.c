/*
 * The canonical text: the keys of a group stand together, in the order of the schema; one spelling for every
 * value. Two configurations with equal values have the same text, byte for byte, on every machine and in
 * every locale.
 */
#include "sim/configuration/internal.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

struct writer {
    const struct pim_configuration *configuration;
    FILE *out;
    bool origins;
};

static void write_quoted(FILE *out, const char *text)
{
    (void)fputc('"', out);
    for (; *text; text++) {
        if (*text == '"' || *text == '\\')
            (void)fputc('\\', out);
        (void)fputc(*text, out);
    }
    (void)fputc('"', out);
}

/* A 64-bit integer, with the suffix that libconfig 1.5 needs beyond 32 bits. */
static void write_integer(FILE *out, int64_t value)
{
    (void)fprintf(out, "%lld%s", (long long)value, value > INT32_MAX || value < INT32_MIN ? "L" : "");
}

/* libconfig 1.5 wants elements of one type: all with the suffix or none. */
static void write_list(FILE *out, const struct pim_value *value)
{
    bool wide = false;
    for (size_t i = 0; i < value->count; i++)
        wide = wide || value->as.list[i] > INT32_MAX || value->as.list[i] < INT32_MIN;
    (void)fputc('[', out);
    for (size_t i = 0; i < value->count; i++)
        (void)fprintf(out, "%s%lld%s", i > 0 ? ", " : "", (long long)value->as.list[i], wide ? "L" : "");
    (void)fputc(']', out);
}

static void write_value(FILE *out, const struct pim_key *key, const struct pim_value *value)
{
    char text[80];
    switch (key->type) {
    case PIM_KEY_INTEGER:
        write_integer(out, value->as.integer);
        break;
    case PIM_KEY_REAL:
        pim_value_format_real(value->as.real, text);
        (void)fputs(text, out);
        break;
    case PIM_KEY_BOOLEAN:
        (void)fputs(value->as.boolean ? "true" : "false", out);
        break;
    case PIM_KEY_CHOICE:
        (void)pim_key_choice(key, value->as.choice, text, sizeof text);
        write_quoted(out, text);
        break;
    case PIM_KEY_TEXT:
        write_quoted(out, value->as.text);
        break;
    case PIM_KEY_INTEGER_LIST:
        write_list(out, value);
        break;
    }
}

void pim_configuration_show(const struct pim_configuration *configuration, const char *path, char *buffer,
                            size_t size)
{
    const size_t i = pim_configuration_find(configuration->schema, path);
    assert(i < configuration->schema->count && "not a key of this schema");
    assert(configuration->values[i].origin != PIM_ORIGIN_NONE && "a required key without a value");
    const struct pim_value *value = &configuration->values[i];
    char choice[80] = "";
    switch (configuration->schema->keys[i].type) {
    case PIM_KEY_CHOICE:
        (void)pim_key_choice(&configuration->schema->keys[i], value->as.choice, choice, sizeof choice);
        (void)snprintf(buffer, size, "\"%s\"", choice);
        return;
    case PIM_KEY_BOOLEAN:
        (void)snprintf(buffer, size, "%s", value->as.boolean ? "true" : "false");
        return;
    case PIM_KEY_INTEGER:
        (void)snprintf(buffer, size, "%" PRId64, value->as.integer);
        return;
    case PIM_KEY_TEXT:
        (void)snprintf(buffer, size, "\"%.60s\"", value->as.text);
        return;
    case PIM_KEY_INTEGER_LIST:
        (void)snprintf(buffer, size, "%s", value->count > 0 ? "[...]" : "[]");
        return;
    case PIM_KEY_REAL:
        (void)snprintf(buffer, size, "%.15g", value->as.real);
        return;
    }
}

static void write_key(const struct writer *writer, size_t index, const char *name, int indent)
{
    const struct pim_key *key = &writer->configuration->schema->keys[index];
    const struct pim_value *value = &writer->configuration->values[index];
    (void)fprintf(writer->out, "%*s%s = ", indent, "", name);
    write_value(writer->out, key, value);
    (void)fputc(';', writer->out);
    if (writer->origins) {
        char origin[1200];
        pim_configuration_origin(value, origin, sizeof origin);
        for (char *c = origin; *c; c++)
            *c = *c == '\n' || *c == '\r' ? '?' : *c; /* a file's name must not end the comment */
        bool unit = key->unit && key->unit[0];
        (void)fprintf(writer->out, "  # %s%s%s", unit ? key->unit : "", unit ? "; " : "", origin);
    }
    (void)fputc('\n', writer->out);
}

/* Does any key whose path begins with the `length` bytes of `prefix` have a value? */
static bool has_values(const struct pim_configuration *configuration, const char *prefix, size_t length)
{
    for (size_t i = 0; i < configuration->schema->count; i++) {
        if (configuration->values[i].origin != PIM_ORIGIN_NONE &&
            strncmp(configuration->schema->keys[i].path, prefix, length) == 0)
            return true;
    }
    return false;
}

/* Writes the keys whose path begins with the first `length` bytes of `prefix` ("" or "noc."). */
static void write_group(const struct writer *writer, const char *prefix, size_t length, int indent)
{
    const struct pim_schema *schema = writer->configuration->schema;
    for (size_t i = 0; i < schema->count; i++) {
        const char *path = schema->keys[i].path;
        if (strncmp(path, prefix, length) != 0)
            continue;
        const char *name = path + length;
        const char *dot = strchr(name, '.');
        if (!dot) {
            if (writer->configuration->values[i].origin != PIM_ORIGIN_NONE)
                write_key(writer, i, name, indent);
            continue;
        }
        size_t inner = (size_t)(dot - path) + 1;
        bool written = false; /* with the first key of the group */
        for (size_t j = 0; j < i && !written; j++)
            written = strncmp(schema->keys[j].path, path, inner) == 0;
        if (written || !has_values(writer->configuration, path, inner))
            continue;
        (void)fprintf(writer->out, "%*s%.*s = {\n", indent, "", (int)(dot - name), name);
        write_group(writer, path, inner, indent + 4);
        (void)fprintf(writer->out, "%*s};\n", indent, "");
    }
}

static char *write_canonical(const struct pim_configuration *configuration, bool origins, size_t *size)
{
    char *text = NULL;
    struct writer writer = {configuration, open_memstream(&text, size), origins};
    if (!writer.out)
        return NULL;
    write_group(&writer, "", 0, 0);
    bool failed = ferror(writer.out) != 0;
    if (fclose(writer.out) != 0 || failed) {
        free(text);
        return NULL;
    }
    return text;
}

char *pim_configuration_write(const struct pim_configuration *configuration, bool with_origins)
{
    size_t size = 0;
    return write_canonical(configuration, with_origins, &size);
}

uint64_t pim_configuration_hash(const struct pim_configuration *configuration)
{
    size_t size = 0;
    char *text = write_canonical(configuration, false, &size);
    uint64_t hash = text ? XXH64(text, size, 0) : 0;
    free(text);
    return hash;
}
