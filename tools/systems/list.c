#include "tools/systems/list.h"

#include "sim/arena.h"
#include "sim/configuration/internal.h" /* the scanner: a list has the syntax of configurations */
#include "sim/nearest.h"
#include "sim/output/file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PATH_BYTES = 4096, BITS_MOST = 64 };

struct reading {
    const char *path;
    struct pim_systems *systems;
    struct pim_error *error;
};

static enum pim_status refuse(const struct reading *reading, const config_setting_t *setting,
                              const char *text)
{
    return pim_fail(reading->error, PIM_BAD_INPUT, "%s:%u: %s: %s", reading->path,
                    config_setting_source_line(setting), config_setting_name(setting), text);
}

static enum pim_status no_memory(struct pim_error *error)
{
    return pim_fail(error, PIM_NO_MEMORY, "out of memory for a list of systems");
}

/* --- the values of a system --- */

static enum pim_status keep_text(const struct reading *reading, const config_setting_t *setting, void *target)
{
    char **text = target;
    const char *value = config_setting_get_string(setting);
    if (!value || *value == '\0')
        return refuse(reading, setting, "a text in quotes is expected");
    free(*text);
    *text = strdup(value);
    return *text ? PIM_OK : no_memory(reading->error);
}

static enum pim_status keep_path(const struct reading *reading, const config_setting_t *setting, void *target)
{
    char **text = target;
    const char *value = config_setting_get_string(setting), *slash = strrchr(reading->path, '/');
    char path[PATH_BYTES];
    if (!value || *value == '\0')
        return refuse(reading, setting, "a path in quotes is expected");
    int length =
        snprintf(path, sizeof path, "%.*s%s", value[0] != '/' && slash ? (int)(slash - reading->path) + 1 : 0,
                 reading->path, value);
    if (length < 0 || (size_t)length >= sizeof path)
        return refuse(reading, setting, "the path is too long");
    free(*text);
    *text = strdup(path);
    return *text ? PIM_OK : no_memory(reading->error);
}

static bool is_integer(const config_setting_t *setting)
{
    int type = config_setting_type(setting);
    return type == CONFIG_TYPE_INT || type == CONFIG_TYPE_INT64;
}

static enum pim_status keep_positive(const struct reading *reading, const config_setting_t *setting,
                                     void *target)
{
    double number = is_integer(setting) ? (double)config_setting_get_int64(setting)
                    : config_setting_type(setting) == CONFIG_TYPE_FLOAT ? config_setting_get_float(setting)
                                                                        : 0;
    if (!(number > 0 && number <= 1e6))
        return refuse(reading, setting, "a number above 0 and at most 1000000 is expected");
    *(double *)target = number;
    return PIM_OK;
}

static enum pim_status keep_bits(const struct reading *reading, const config_setting_t *setting, void *target)
{
    long long number = is_integer(setting) ? config_setting_get_int64(setting) : 0;
    if (number < 1 || number > BITS_MOST)
        return refuse(reading, setting, "an integer from 1 to 64 is expected");
    *(unsigned *)target = (unsigned)number;
    return PIM_OK;
}

static enum pim_status keep_measure(const struct reading *reading, const config_setting_t *setting,
                                    void *target)
{
    const char *value = config_setting_get_string(setting);
    bool throughput = value && strcmp(value, "throughput") == 0;
    if (!throughput && !(value && strcmp(value, "latency") == 0))
        return refuse(reading, setting, "\"latency\" or \"throughput\" is expected");
    *(bool *)target = throughput;
    return PIM_OK;
}

/* A key of a system, and the member of its row that it sets. */
static const struct rule {
    const char *name;
    enum pim_status (*keep)(const struct reading *reading, const config_setting_t *setting, void *target);
    size_t offset;
} rules[] = {
    {"title", keep_text, offsetof(struct pim_system_row, title)},
    {"mapper", keep_text, offsetof(struct pim_system_row, mapper)},
    {"hardware", keep_path, offsetof(struct pim_system_row, hardware)},
    {"measures", keep_measure, offsetof(struct pim_system_row, throughput)},
    {"bits", keep_bits, offsetof(struct pim_system_row, bits)},
    {"technology_nm", keep_positive, offsetof(struct pim_system_row, technology_nm)},
    {"technology", keep_text, offsetof(struct pim_system_row, technology)},
    {"area_mm2", keep_positive, offsetof(struct pim_system_row, area_mm2)},
    {"area", keep_text, offsetof(struct pim_system_row, area)},
    {"energy", keep_text, offsetof(struct pim_system_row, energy)},
};

static enum pim_status read_value(const struct reading *reading, const config_setting_t *setting,
                                  struct pim_system_row *row)
{
    const char *name = config_setting_name(setting);
    struct pim_nearest nearest = {.wanted = name};
    for (size_t i = 0; i < sizeof rules / sizeof rules[0]; i++) {
        if (strcmp(rules[i].name, name) == 0)
            return rules[i].keep(reading, setting, (char *)row + rules[i].offset);
        (void)pim_nearest_offer(&nearest, rules[i].name);
    }
    return pim_fail(reading->error, PIM_BAD_INPUT, "%s:%u: %s: unknown key%s%s", reading->path,
                    config_setting_source_line(setting), name, PIM_NEAREST(nearest, "; the nearest is "));
}

static void row_terminate(struct pim_system_row *row)
{
    free(row->name);
    free(row->title);
    free(row->mapper);
    free(row->hardware);
    free(row->technology);
    free(row->area);
    free(row->energy);
    *row = (struct pim_system_row){.name = NULL};
}

/* --- the file --- */

static enum pim_status read_system(const struct reading *reading, const config_setting_t *group)
{
    struct pim_systems *systems = reading->systems;
    if (!config_setting_is_group(group))
        return refuse(reading, group, "a group is expected: NAME = { title = ...; };");
    if (systems->count >= PIM_SYSTEMS_MOST)
        return refuse(reading, group, "a list has at most 256 systems");
    struct pim_system_row *grown =
        pim_array_grow(systems->rows, &systems->capacity, systems->count + 1, sizeof *grown);
    if (!grown)
        return no_memory(reading->error);
    systems->rows = grown;
    struct pim_system_row *row = &grown[systems->count++];
    *row = (struct pim_system_row){.name = strdup(config_setting_name(group))};
    if (!row->name)
        return no_memory(reading->error);
    unsigned count = (unsigned)config_setting_length(group);
    for (unsigned i = 0; i < count; i++)
        if (read_value(reading, config_setting_get_elem(group, i), row) != PIM_OK)
            return reading->error->status;
    if (!row->title || !row->mapper || !row->hardware || row->bits == 0)
        return refuse(reading, group, "title, mapper, hardware and bits are needed");
    if (!row->technology)
        return refuse(reading, group,
                      "technology: where the node of the technology stands, or why there is none");
    return PIM_OK;
}

static enum pim_status read_groups(const struct reading *reading, const config_setting_t *root)
{
    unsigned count = (unsigned)config_setting_length(root);
    if (count == 0)
        return pim_fail(reading->error, PIM_BAD_INPUT, "%s: the list has no system", reading->path);
    for (unsigned i = 0; i < count; i++)
        if (read_system(reading, config_setting_get_elem(root, i)) != PIM_OK)
            return reading->error->status;
    return PIM_OK;
}

static enum pim_status parse(const struct reading *reading, struct pim_source *source)
{
    config_t parsed;
    if (pim_source_scan(source, reading->error) != PIM_OK ||
        pim_source_parse(source, &parsed, reading->error) != PIM_OK)
        return reading->error->status;
    enum pim_status status = read_groups(reading, config_root_setting(&parsed));
    config_destroy(&parsed);
    return status;
}

enum pim_status pim_systems_read(const char *path, struct pim_systems *systems, struct pim_error *error)
{
    char *text;
    size_t size;
    if (pim_file_read(path, PIM_SYSTEMS_BYTES, "a list of systems", &text, &size, error) != PIM_OK)
        return error->status;
    const struct reading reading = {.path = path, .systems = systems, .error = error};
    struct pim_source source = {.name = path, .numbered = true, .text = text, .size = size};
    enum pim_status status = parse(&reading, &source);
    pim_source_terminate(&source);
    free(text);
    return status;
}

void pim_systems_terminate(struct pim_systems *systems)
{
    for (size_t i = 0; i < systems->count; i++)
        row_terminate(&systems->rows[i]);
    free(systems->rows);
    *systems = (struct pim_systems){.rows = NULL};
}

/* --- choosing --- */

static enum pim_status unknown(const struct pim_systems *systems, const char *name, size_t length,
                               struct pim_error *error)
{
    char asked[64];
    (void)snprintf(asked, sizeof asked, "%.*s", (int)(length < 60 ? length : 60), name);
    struct pim_nearest nearest = {.wanted = asked};
    for (size_t i = 0; i < systems->count; i++)
        (void)pim_nearest_offer(&nearest, systems->rows[i].name);
    return pim_fail(error, PIM_USAGE, "there is no system %s in the list%s%s", asked,
                    PIM_NEAREST(nearest, "; the nearest is "));
}

static bool stands_for(const char *pattern, size_t length, const char *name)
{
    if (length > 0 && pattern[length - 1] == '*')
        return strncmp(pattern, name, length - 1) == 0;
    return strlen(name) == length && strncmp(pattern, name, length) == 0;
}

enum pim_status pim_systems_choose(struct pim_systems *systems, const char *names, struct pim_error *error)
{
    size_t kept = 0;
    for (const char *at = names; *at != '\0';) {
        size_t length = strcspn(at, ",");
        bool found = false;
        for (size_t i = 0; i < kept; i++)
            found = found || stands_for(at, length, systems->rows[i].name);
        for (size_t i = kept; i < systems->count; i++) {
            if (!stands_for(at, length, systems->rows[i].name))
                continue;
            struct pim_system_row row = systems->rows[i];
            memmove(&systems->rows[kept + 1], &systems->rows[kept], (i - kept) * sizeof row);
            systems->rows[kept++] = row;
            found = true;
        }
        if (!found)
            return unknown(systems, at, length, error);
        at += length;
        at += *at == ',';
    }
    for (size_t i = kept; i < systems->count; i++)
        row_terminate(&systems->rows[i]);
    systems->count = kept;
    return kept > 0 ? PIM_OK : pim_fail(error, PIM_USAGE, "no system is named");
}
