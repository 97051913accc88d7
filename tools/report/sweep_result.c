/* Results of a sweep as columns: the export of its SQLite file, with names of axes and statistics once. */
#include "models/system/schema.h"
#include "sim/configuration/configuration.h"
#include "sim/output/json.h"
#include "sim/output/output.h"
#include "tools/report/results.h"
#include "tools/sweep/store/store.h"
#include "tools/systems/terms.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct columns {
    const char *path;
    json_t *exported; /* what `pimsim sweep --export json` writes */
    json_t *made;     /* the result */
    json_t *axes;     /* names of all axes, in order: array of texts */
    json_t *places;   /* name of a statistic -> its column */
    json_t *statistics;
};

static enum pim_status out_of_memory(struct pim_error *error)
{
    return pim_fail(error, PIM_NO_MEMORY, "out of memory for the points of a sweep");
}

static enum pim_status damaged(const struct columns *columns, struct pim_error *error)
{
    return pim_fail(error, PIM_BAD_INPUT, "%s is damaged: its tables do not fit together", columns->path);
}

/* The export as text, in memory that the caller frees. */
static enum pim_status export_text(struct pim_store *store, const char *path, char **text, size_t *size,
                                   uint64_t *points, struct pim_error *error)
{
    struct pim_store_progress progress = {.points = 0};
    if (pim_store_progress(store, &progress, error) != PIM_OK)
        return error->status;
    *points = progress.points;
    if (progress.done + progress.failed > PIM_PAGE_SWEEP_POINTS)
        return pim_fail(error, PIM_BAD_INPUT,
                        "%s holds %" PRIu64
                        " points, a page at most %d: pimsim sweep --export writes all of them",
                        path, progress.done + progress.failed, PIM_PAGE_SWEEP_POINTS);
    FILE *file = open_memstream(text, size);
    if (!file)
        return out_of_memory(error);
    enum pim_status status = pim_store_export(store, PIM_STORE_JSON, false, file, error);
    if (fclose(file) != 0 && status == PIM_OK)
        status = out_of_memory(error);
    return status;
}

/* Groups of keys that vary together, from the identity; and all keys in a row. */
static enum pim_status put_axes(struct columns *columns, struct pim_error *error)
{
    json_t *groups = json_array(), *group;
    const json_t *identity = json_object_get(columns->exported, "sweep");
    size_t i;
    bool good = groups != NULL;
    json_array_foreach(json_object_get(identity, "axes"), i, group)
    {
        const char *key;
        json_t *keys = json_array(), *values;
        good = good && keys && json_is_object(group);
        json_object_foreach(group, key, values) good =
            good && json_array_append_new(keys, json_string(key)) == 0 &&
            json_array_append_new(columns->axes, json_string(key)) == 0;
        good = good && json_array_append(groups, keys) == 0;
        json_decref(keys);
    }
    good = good && json_object_set(columns->made, "axes", groups) == 0;
    json_decref(groups);
    return good ? PIM_OK : out_of_memory(error);
}

/* The columns of statistics are in the order in which they first stand. */
static enum pim_status note_statistics(struct columns *columns, const json_t *points, struct pim_error *error)
{
    size_t i;
    json_t *point, *value;
    const char *name;
    json_array_foreach(points, i, point)
        json_object_foreach(json_object_get(point, "statistics"), name, value)
    {
        if (json_object_get(columns->places, name))
            continue;
        if (json_object_set_new(columns->places, name,
                                json_integer((json_int_t)json_array_size(columns->statistics))) != 0 ||
            json_array_append_new(columns->statistics, json_string(name)) != 0)
            return out_of_memory(error);
    }
    return PIM_OK;
}

static bool copy_member(json_t *made, const char *to, const json_t *point, const char *from)
{
    json_t *value = json_object_get(point, from);
    return json_object_set_new(made, to, value ? json_incref(value) : json_null()) == 0;
}

static enum pim_status put_point(struct columns *columns, json_t *list, const json_t *point,
                                 struct pim_error *error)
{
    static const char *const members[] = {"trace", "network", "mapper", "repeat", "status", "error"};
    json_t *made = json_object(), *settings = json_array(), *values = json_array(), *one;
    const char *name;
    size_t i;
    bool good = made && settings && values && copy_member(made, "id", point, "point"), whole = true;
    for (size_t m = 0; m < sizeof members / sizeof members[0]; m++)
        good = good && copy_member(made, members[m], point, members[m]);
    json_array_foreach(columns->axes, i, one)
    {
        json_t *value = json_object_get(json_object_get(point, "settings"), json_string_value(one));
        whole = whole && value;
        good = good && json_array_append_new(settings, value ? json_incref(value) : json_null()) == 0;
    }
    for (i = 0; i < json_array_size(columns->statistics); i++)
        good = good && json_array_append_new(values, json_null()) == 0;
    json_object_foreach(json_object_get(point, "statistics"), name, one)
    {
        json_int_t place = json_integer_value(json_object_get(columns->places, name));
        good = good && json_array_set(values, (size_t)place, one) == 0;
    }
    good = good && json_object_set(made, "settings", settings) == 0 &&
           json_object_set(made, "values", values) == 0 && json_array_append(list, made) == 0;
    json_decref(made);
    json_decref(settings);
    json_decref(values);
    return !whole ? damaged(columns, error) : good ? PIM_OK : out_of_memory(error);
}

static enum pim_status put_points(struct columns *columns, struct pim_error *error)
{
    const json_t *points = json_object_get(columns->exported, "points");
    json_t *list = json_array(), *point;
    size_t i;
    enum pim_status status = list ? note_statistics(columns, points, error) : out_of_memory(error);
    json_array_foreach(points, i, point) if (status == PIM_OK) status =
        put_point(columns, list, point, error);
    if (status == PIM_OK && (json_object_set(columns->made, "statistics", columns->statistics) != 0 ||
                             json_object_set(columns->made, "points", list) != 0))
        status = out_of_memory(error);
    json_decref(list);
    return status;
}

/* --- systems --- */

/* How many points a source has before constraints. */
static uint64_t points_of_source(const json_t *identity)
{
    uint64_t points = (uint64_t)json_integer_value(json_object_get(identity, "repeats"));
    json_t *axis;
    size_t i;
    json_array_foreach(json_object_get(identity, "axes"), i, axis)
    {
        const json_t *values = json_object_iter_value(json_object_iter(axis));
        points *= json_array_size(values);
    }
    return points > 0 ? points : 1;
}

/* The row of a list as it was stored, with its terms; null where the configuration cannot be read any
   more. */
static json_t *system_of(const json_t *source)
{
    const json_t *stored = json_object_get(source, "system");
    const char *text = json_string_value(json_object_get(source, "configuration"));
    const struct pim_system_row row = {.bits = (unsigned)json_integer_value(json_object_get(stored, "bits")),
                                       .technology_nm =
                                           json_number_value(json_object_get(stored, "technology_nm")),
                                       .area_mm2 = json_number_value(json_object_get(stored, "area_mm2"))};
    struct pim_configuration *configuration = NULL;
    struct pim_system_terms terms;
    struct pim_error ignored = {.status = PIM_OK};
    json_t *made = json_deep_copy(stored);
    bool good =
        made && text && pim_configuration_create(&pim_hardware_schema, &configuration, &ignored) == PIM_OK &&
        pim_configuration_read_text(configuration, "system", text, strlen(text), &ignored) == PIM_OK &&
        pim_configuration_complete(configuration, &ignored) == PIM_OK &&
        pim_system_terms_of(&row, configuration, &terms, &ignored) == PIM_OK;
    pim_configuration_destroy(configuration);
#define X(member, key, unit)                                                                                 \
    if (made && json_object_set_new(                                                                         \
                    made, key, good && isfinite(terms.member) ? json_real(terms.member) : json_null()) != 0) \
        good = false;
    PIM_SYSTEM_TERM_MAP(X)
#undef X
    return made;
}

/* Systems, in the order of the sources, and for each point its own; nothing where the sweep has none. */
static enum pim_status put_systems(struct columns *columns, struct pim_error *error)
{
    const json_t *identity = json_object_get(columns->exported, "sweep");
    const json_t *sources = json_object_get(identity, "sources"), *source;
    json_t *list = json_array(), *point;
    const uint64_t each = points_of_source(identity);
    size_t i;
    bool good = list != NULL;
    json_array_foreach(sources, i, source) if (json_is_object(json_object_get(source, "system"))) good =
        good && json_array_append_new(list, system_of(source)) == 0;
    json_array_foreach(json_object_get(columns->made, "points"), i, point)
    {
        json_int_t id = json_integer_value(json_object_get(point, "id"));
        source = json_array_get(sources, (size_t)((uint64_t)id / each));
        json_t *name = json_object_get(json_object_get(source, "system"), "name");
        if (name)
            good = good && json_object_set(point, "system", name) == 0;
    }
    if (json_array_size(list) > 0)
        good = good && json_object_set(columns->made, "systems", list) == 0 &&
               json_object_set_new(columns->made, "rule", json_string(PIM_SYSTEM_RULE)) == 0;
    json_decref(list);
    return good ? PIM_OK : out_of_memory(error);
}

static enum pim_status convert(struct columns *columns, uint64_t total, char *name, struct pim_error *error)
{
    const json_t *version = json_object_get(json_object_get(columns->exported, "sweep"), "pimsim");
    columns->made = json_object();
    columns->axes = json_array();
    columns->places = json_object();
    columns->statistics = json_array();
    if (!columns->made || !columns->axes || !columns->places || !columns->statistics ||
        json_object_set_new(columns->made, "pimsim", version ? json_deep_copy(version) : json_null()) != 0 ||
        json_object_set_new(columns->made, "name", name ? json_string(name) : json_null()) != 0 ||
        json_object_set_new(columns->made, "total", json_integer((json_int_t)total)) != 0)
        return out_of_memory(error);
    if (put_axes(columns, error) != PIM_OK)
        return error->status;
    if (put_points(columns, error) != PIM_OK)
        return error->status;
    return put_systems(columns, error);
}

enum pim_status pim_page_read_sweep(const char *path, json_t **result, struct pim_error *error)
{
    struct pim_store *store;
    struct columns columns = {.path = path};
    char *text = NULL, *name = NULL;
    size_t size = 0;
    uint64_t total = 0;
    *result = NULL;
    if (pim_store_open(path, &store, error) != PIM_OK)
        return error->status;
    enum pim_status status = export_text(store, path, &text, &size, &total, error);
    if (status == PIM_OK)
        status = pim_store_name(store, &name, error);
    pim_store_close(store);
    if (status == PIM_OK)
        status = pim_json_parse(path, text, size, &columns.exported, error);
    free(text);
    if (status == PIM_OK)
        status = convert(&columns, total, name, error);
    free(name);
    if (status == PIM_OK)
        *result = json_incref(columns.made);
    json_decref(columns.exported);
    json_decref(columns.made);
    json_decref(columns.axes);
    json_decref(columns.places);
    json_decref(columns.statistics);
    return status;
}
