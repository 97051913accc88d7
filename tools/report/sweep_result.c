/* Results of a sweep as columns: the export of its SQLite file, with names of axes and statistics once. */
#include "sim/json.h"
#include "sim/output.h"
#include "tools/report/results.h"
#include "tools/sweep/store.h"

#include <inttypes.h>
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
    return put_points(columns, error);
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
