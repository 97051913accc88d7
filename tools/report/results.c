/* Results of run and validate: what they are, whether they hold what the page reads, their hardware. */
#include "tools/report/results.h"

#include "include/pimsim/pimsim.h"
#include "models/system/report/steps.h"
#include "models/system/schema.h"
#include "sim/configuration/configuration.h"
#include "sim/output/file.h"
#include "sim/output/json.h"
#include "traces/file/format.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* --- what must be there --- */

enum shape_type { SHAPE_NUMBER, SHAPE_FIGURE /* a number or null */, SHAPE_TEXT, SHAPE_OBJECT, SHAPE_ARRAY };

/* `place` is a path of members; "a[].b" is the member b of every element of the array a. */
struct shape {
    const char *place;
    enum shape_type type;
};

static const struct shape validate_shape[] = {
    {"total.simulated_cycles", SHAPE_NUMBER},
    {"total.error_percent", SHAPE_FIGURE},
    {"steps[].name", SHAPE_TEXT},
    {"steps[].estimate_cycles", SHAPE_FIGURE},
    {"steps[].simulated_cycles", SHAPE_NUMBER},
    {"steps[].simulated_by", SHAPE_OBJECT},
    {"phases[].name", SHAPE_TEXT},
    {"phases[].estimate_cycles", SHAPE_FIGURE},
    {"phases[].simulated_cycles", SHAPE_NUMBER},
    {"phases[].simulated_by", SHAPE_OBJECT},
};

static bool has_type(const json_t *value, enum shape_type type)
{
    switch (type) {
    case SHAPE_NUMBER:
        return json_is_number(value);
    case SHAPE_FIGURE:
        return json_is_number(value) || json_is_null(value);
    case SHAPE_TEXT:
        return json_is_string(value);
    case SHAPE_OBJECT:
        return json_is_object(value);
    case SHAPE_ARRAY:
        return json_is_array(value);
    }
    return false;
}

static const char *type_name(enum shape_type type)
{
    static const char *const names[] = {"a number", "a number or null", "a text", "an object", "an array"};
    return names[type];
}

static enum pim_status lacks(const char *name, const char *place, size_t element, enum shape_type type,
                             struct pim_error *error)
{
    char where[32] = "";
    if (element != SIZE_MAX)
        (void)snprintf(where, sizeof where, " (element %zu)", element);
    return pim_fail(error, PIM_BAD_INPUT, "%s: %s%s: %s is expected", name, place, where, type_name(type));
}

/* A value of an object by a path of members with points between them; no arrays. */
static const json_t *member(const json_t *object, const char *path)
{
    char part[64];
    while (object && *path) {
        size_t length = strcspn(path, ".");
        (void)snprintf(part, sizeof part, "%.*s", (int)length, path);
        object = json_object_get(object, part);
        path += length + (path[length] == '.');
    }
    return object;
}

static enum pim_status check_one(const json_t *value, const char *name, const struct shape *shape,
                                 struct pim_error *error)
{
    const char *array = strstr(shape->place, "[].");
    if (!array) {
        if (!has_type(member(value, shape->place), shape->type))
            return lacks(name, shape->place, SIZE_MAX, shape->type, error);
        return PIM_OK;
    }
    char path[64];
    (void)snprintf(path, sizeof path, "%.*s", (int)(array - shape->place), shape->place);
    const json_t *list = member(value, path);
    if (!json_is_array(list))
        return lacks(name, path, SIZE_MAX, SHAPE_ARRAY, error);
    for (size_t i = 0; i < json_array_size(list); i++)
        if (!has_type(member(json_array_get(list, i), array + 3), shape->type))
            return lacks(name, shape->place, i, shape->type, error);
    return PIM_OK;
}

static enum pim_status check(const json_t *value, const char *name, const struct shape *shapes, size_t count,
                             struct pim_error *error)
{
    for (size_t i = 0; i < count; i++)
        if (check_one(value, name, &shapes[i], error) != PIM_OK)
            return error->status;
    return PIM_OK;
}

/* "units[]." becomes "units[].cycles_by.", and back. */
static void open_group(char *group, size_t size, const char *key)
{
    const size_t length = strlen(group);
    (void)snprintf(group + length, size - length, "%s", key);
}

static void close_group(char *group)
{
    size_t length = strlen(group) - 1;
    while (length > 0 && group[length - 1] != '.')
        length--;
    group[length] = '\0';
}

/* A row of the table of figures of a run: `group` is the object or array around it. */
static bool check_row(const json_t *value, const char *name, const char *group, const char *key,
                      enum shape_type type, struct pim_error *error)
{
    char place[64];
    (void)snprintf(place, sizeof place, "%s%s", group, key);
    const struct shape shape = {place, type};
    return check_one(value, name, &shape, error) == PIM_OK;
}

/* The figures of a run that the page reads: those that models/system/results.def marks. */
static enum pim_status check_run(const json_t *value, const char *name, struct pim_error *error)
{
    char group[64] = "";
#define CHECK(page, key, type)                                                                               \
    if ((page) && !check_row(value, name, group, key, type, error))                                          \
        return error->status;
#define OBJECT(page, key)                                                                                    \
    CHECK(page, key, SHAPE_OBJECT)                                                                           \
    open_group(group, sizeof group, key ".");
#define OBJECT_END close_group(group);
#define EACH(key, count, ...) open_group(group, sizeof group, key "[].");
#define EACH_END close_group(group);
#define COUNT(page, key, ...) CHECK(page, key, SHAPE_NUMBER)
#define REAL(page, key, ...) CHECK(page, key, SHAPE_FIGURE)
#define NUMBER_CSV(page, key, ...) CHECK(page, key, SHAPE_NUMBER)
#define TEXT(page, key, ...) CHECK(page, key, SHAPE_TEXT)
#define MAYBE_COUNT(page, key, ...) CHECK(page, key, SHAPE_FIGURE)
#define MAYBE_REAL(page, key, ...) CHECK(page, key, SHAPE_FIGURE)
#include "models/system/results.def"
#undef CHECK
    return PIM_OK;
}

/* --- entries --- */

static enum pim_status out_of_memory(struct pim_error *error)
{
    return pim_fail(error, PIM_NO_MEMORY, "out of memory for a report");
}

json_t *pim_page_create(void)
{
    json_t *report = json_object(), *results = json_array();
    bool good = report && results &&
                json_object_set_new(report, "pimsim", json_string(pimsim_version())) == 0 &&
                json_object_set(report, "results", results) == 0;
    json_decref(results);
    if (good)
        return report;
    json_decref(report);
    return NULL;
}

enum pim_status pim_page_add_entry(json_t *report, const char *kind, const char *name, json_t *result,
                                   json_t **entry, struct pim_error *error)
{
    struct pim_json *writer = pim_json_create(); /* replaces bytes of a path that are no UTF-8 */
    json_t *made = json_object(), *text = NULL;
    *entry = NULL;
    if (writer) {
        pim_json_put_text(writer, "name", name);
        text = json_object_get(pim_json_root(writer), "name");
    }
    bool good = made && result && text && json_object_set_new(made, "kind", json_string(kind)) == 0 &&
                json_object_set(made, "name", text) == 0 && json_object_set(made, "result", result) == 0 &&
                json_array_append(json_object_get(report, "results"), made) == 0;
    *entry = good ? made : NULL; /* the report holds it */
    pim_json_destroy(writer);
    json_decref(made);
    json_decref(result);
    return good ? PIM_OK : out_of_memory(error);
}

/* "kind": the family of the units, as array.kind names it. */
static bool put_kind(json_t *hardware, const struct pim_configuration *configuration)
{
    const char *choices = NULL;
    for (size_t i = 0; i < pim_hardware_schema.count; i++)
        if (strcmp(pim_hardware_schema.keys[i].path, "array.kind") == 0)
            choices = pim_hardware_schema.keys[i].choices;
    for (unsigned left = pim_configuration_choice(configuration, "array.kind"); choices && left > 0; left--)
        choices = strchr(choices, '|') ? strchr(choices, '|') + 1 : NULL;
    json_t *kind = choices ? json_stringn(choices, strcspn(choices, "|")) : json_null();
    return kind && json_object_set_new(hardware, "kind", kind) == 0;
}

/* What the page needs of the hardware, from the configuration text of a run. */
static bool put_hardware(json_t *hardware, const struct pim_configuration *configuration)
{
    static const char *const keys[] = {"array.width", "array.height", "clock.logic_khz", "clock.network_khz",
                                       "clock.memory_khz"};
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
        json_int_t value = pim_configuration_integer(configuration, keys[i]);
        if (json_object_set_new(hardware, strchr(keys[i], '.') + 1, json_integer(value)) != 0)
            return false;
    }
    return put_kind(hardware, configuration);
}

/* "step" of each phase: the step that its time is a part of. */
static enum pim_status add_steps(const json_t *run, struct pim_error *error)
{
    size_t i;
    json_t *phase;
    json_array_foreach(json_object_get(run, "phases"), i, phase)
    {
        const char *step = pim_step_name(json_string_value(json_object_get(phase, "name")));
        if (json_object_set_new(phase, "step", json_string(step)) != 0)
            return out_of_memory(error);
    }
    return PIM_OK;
}

static enum pim_status add_hardware(json_t *entry, const char *name, const json_t *run,
                                    struct pim_error *error)
{
    const char *text = json_string_value(member(run, "inputs.configuration"));
    struct pim_configuration *configuration = NULL;
    struct pim_error reason = {0};
    json_t *hardware = NULL;
    bool good = true;
    if (!text) {
        (void)pim_fail(&reason, PIM_BAD_INPUT, "it holds none");
    } else if (pim_configuration_create(&pim_hardware_schema, &configuration, &reason) == PIM_OK &&
               pim_configuration_read_text(configuration, name, text, strlen(text), &reason) == PIM_OK &&
               pim_configuration_complete(configuration, &reason) == PIM_OK) {
        hardware = json_object();
        good = hardware && put_hardware(hardware, configuration);
    }
    pim_configuration_destroy(configuration);
    good =
        good && json_object_set_new(entry, "hardware", hardware ? json_incref(hardware) : json_null()) == 0;
    if (good && !hardware) /* of another version, or edited: the rest of the result is still worth a page */
        good = json_object_set_new(entry, "hardware_error", json_string(reason.text)) == 0;
    json_decref(hardware);
    return good ? PIM_OK : out_of_memory(error);
}

#define WRITERS                                                                                              \
    "pimsim run TRACE --stats FILE --format json, pimsim validate TRACE --format json and pimsim sweep "     \
    "write "                                                                                                 \
    "results"

enum pim_status pim_page_add_json(json_t *report, const char *name, json_t *value, struct pim_error *error)
{
    json_t *entry;
    enum pim_status status;
    bool run = json_is_object(json_object_get(value, "inputs")) && json_object_get(value, "cycles") &&
               json_object_get(value, "phases"); /* that of `noc` has none */
    bool validate = json_is_object(json_object_get(value, "total")) && json_object_get(value, "steps");
    if (run)
        status = check_run(value, name, error);
    else if (validate)
        status = check(value, name, validate_shape, sizeof validate_shape / sizeof validate_shape[0], error);
    else
        status = pim_fail(error, PIM_BAD_INPUT, "%s is no result: " WRITERS, name);
    if (status != PIM_OK) {
        json_decref(value);
        return status;
    }
    status = pim_page_add_entry(report, run ? "run" : "validate", name, value, &entry, error);
    if (status != PIM_OK || !run)
        return status;
    value = json_object_get(entry, "result");
    return add_steps(value, error) == PIM_OK ? add_hardware(entry, name, value, error) : error->status;
}

/* --- files --- */

/* What a file is by its first bytes. */
enum start { START_OTHER, START_SQLITE, START_TRACE };

static enum pim_status look_at_start(const char *path, enum start *start, struct pim_error *error)
{
    static const char sqlite[] = "SQLite format 3";
    char head[sizeof sqlite];
    size_t size;
    enum pim_status status = pim_file_head(path, sizeof head, head, &size, error);
    *start = size == sizeof head && memcmp(head, sqlite, sizeof sqlite) == 0 ? START_SQLITE
             : pim_format_begins(head, size)                                 ? START_TRACE
                                                                             : START_OTHER;
    return status;
}

enum pim_status pim_page_add_file(json_t *report, const char *path, struct pim_error *error)
{
    enum start start = START_OTHER;
    json_t *value = NULL, *entry;
    if (strcmp(path, "-") != 0 && look_at_start(path, &start, error) != PIM_OK)
        return error->status;
    if (start == START_TRACE)
        return pim_fail(
            error, PIM_BAD_INPUT,
            "%s is a trace, no result: pimsim run TRACE --stats FILE --format json makes one of it", path);
    if (start == START_SQLITE) {
        if (pim_page_read_sweep(path, &value, error) != PIM_OK)
            return error->status;
        return pim_page_add_entry(report, "sweep", path, value, &entry, error);
    }
    struct pim_error reason = {.status = PIM_OK};
    if (pim_json_read(path, PIM_PAGE_FILE_BYTES, &value, &reason) != PIM_OK)
        return pim_fail(error, reason.status, "%s: a result is expected: " WRITERS, reason.text);
    return pim_page_add_json(report, path, value, error);
}
