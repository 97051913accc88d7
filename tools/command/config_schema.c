/* The reference of every key, from the tables alone. */
#include "tools/command/config_schema.h"
#include "mappers/network/descriptor/descriptor.h"
#include "models/dram/standard/schema.h"
#include "models/system/schema.h"
#include "sim/output/json.h"

#include <assert.h>
#include <string.h>

const struct pim_schema *config_schema(unsigned index)
{
    static const struct pim_schema *const schemas[] = {&pim_hardware_schema, &pim_network_schema,
                                                       &pim_dram_schema};
    assert(index < sizeof schemas / sizeof schemas[0]);
    return schemas[index];
}

/* The length of the group's part of a path: 3 for "noc.width", 0 for "name". */
static size_t group_length(const char *path)
{
    const char *dot = strrchr(path, '.');
    return dot ? (size_t)(dot - path) : 0;
}

/* Does key `index` begin a group that the key before it is not in? */
static bool begins_group(const struct pim_schema *schema, size_t index)
{
    if (index == 0)
        return true;
    const char *path = schema->keys[index].path, *before = schema->keys[index - 1].path;
    size_t length = group_length(path);
    return length != group_length(before) || strncmp(path, before, length) != 0;
}

static void describe_default(const struct pim_key *key, char *buffer, size_t size)
{
    const bool none = key->fallback && key->fallback[0] == '\0';
    bool text = key->type == PIM_KEY_CHOICE || key->type == PIM_KEY_TEXT;
    bool quotes = key->fallback && text && key->fallback[0] != '"';
    (void)snprintf(buffer, size, "%s%s%s", quotes ? "\"" : "",
                   none            ? "none"
                   : key->fallback ? key->fallback
                                   : "required",
                   quotes ? "\"" : "");
}

void config_schema_text(unsigned first, unsigned end, FILE *out)
{
    for (unsigned i = first; i < end; i++) {
        const struct pim_schema *schema = config_schema(i);
        fprintf(out, "%s%s: %s\n", i > first ? "\n" : "", schema->name, schema->text);
        for (size_t j = 0; j < schema->count; j++) {
            const struct pim_key *key = &schema->keys[j];
            char allowed[512], fallback[512];
            pim_key_describe(key, allowed, sizeof allowed);
            describe_default(key, fallback, sizeof fallback);
            fprintf(out, "%s  %s = %s  # %s\n      %s\n", begins_group(schema, j) ? "\n" : "", key->path,
                    fallback, allowed, key->text);
        }
    }
}

/* Text for a cell of a table: '|' would end it. */
static void print_cell(const char *text, FILE *out)
{
    for (; *text; text++) {
        if (*text == '|')
            (void)fputc('\\', out);
        (void)fputc(*text, out);
    }
}

static void print_row(const struct pim_key *key, FILE *out)
{
    char allowed[512], fallback[512];
    pim_key_describe(key, allowed, sizeof allowed);
    describe_default(key, fallback, sizeof fallback);
    fprintf(out, "| `%s` | ", key->path);
    if (key->fallback && key->fallback[0] != '\0')
        fprintf(out, "`%s`", fallback);
    else
        (void)fputs(fallback, out);
    (void)fputs(" | ", out);
    print_cell(allowed, out);
    (void)fputs(" | ", out);
    print_cell(key->text, out);
    (void)fputs(" |\n", out);
}

void config_schema_markdown(unsigned first, unsigned end, FILE *out)
{
    fprintf(out, "# Configuration reference\n\nMade by `pimsim config schema --format markdown`; do not "
                 "edit. The file format is in "
                 "[configuration.md](../configuration.md).\n");
    for (unsigned i = first; i < end; i++) {
        const struct pim_schema *schema = config_schema(i);
        fprintf(out, "\n## %s\n\n%s\n", schema->name, schema->text);
        for (size_t j = 0; j < schema->count; j++) {
            const char *path = schema->keys[j].path;
            size_t length = group_length(path);
            if (begins_group(schema, j) && length > 0)
                fprintf(out, "\n### %s.%.*s\n", schema->name, (int)length, path);
            if (begins_group(schema, j))
                fprintf(out, "\n| key | default | allowed | meaning |\n|---|---|---|---|\n");
            print_row(&schema->keys[j], out);
        }
    }
}

static void put_range(struct pim_json *json, const struct pim_key *key)
{
    if (key->type == PIM_KEY_REAL) {
        pim_json_put_real(json, "minimum", key->minimum);
        pim_json_put_real(json, "maximum", key->maximum);
    } else if (key->type == PIM_KEY_INTEGER || key->type == PIM_KEY_INTEGER_LIST) {
        pim_json_put_integer(json, "minimum", (int64_t)key->minimum);
        pim_json_put_integer(json, "maximum", (int64_t)key->maximum);
    } else if (key->type == PIM_KEY_CHOICE) {
        char choice[80];
        pim_json_begin_array(json, "choices");
        for (unsigned i = 0; pim_key_choice(key, i, choice, sizeof choice); i++)
            pim_json_put_text(json, NULL, choice);
        pim_json_end(json);
    }
}

static void put_key(struct pim_json *json, const struct pim_key *key)
{
    static const char *const types[] = {"integer", "real", "boolean", "choice", "text", "integer_list"};
    pim_json_begin_object(json, NULL);
    pim_json_put_text(json, "path", key->path);
    pim_json_put_text(json, "type", types[key->type]);
    pim_json_put_boolean(json, "required", !key->fallback);
    if (key->fallback && key->fallback[0] != '\0')
        pim_json_put_text(json, "default", key->fallback);
    put_range(json, key);
    pim_json_put_text(json, "unit", key->unit ? key->unit : "");
    pim_json_put_text(json, "text", key->text);
    pim_json_end(json);
}

enum pim_status config_schema_json(unsigned first, unsigned end, FILE *out, struct pim_error *error)
{
    struct pim_json *json = pim_json_create();
    if (!json)
        return pim_fail(error, PIM_NO_MEMORY, "out of memory");
    pim_json_begin_array(json, "schemas");
    for (unsigned i = first; i < end; i++) {
        const struct pim_schema *schema = config_schema(i);
        pim_json_begin_object(json, NULL);
        pim_json_put_text(json, "name", schema->name);
        pim_json_put_text(json, "text", schema->text);
        pim_json_begin_array(json, "keys");
        for (size_t j = 0; j < schema->count; j++)
            put_key(json, &schema->keys[j]);
        pim_json_end(json);
        pim_json_end(json);
    }
    pim_json_end(json);
    enum pim_status status = pim_json_write(json, out, error);
    pim_json_destroy(json);
    return status;
}
