/* A result as a line of JSON, and back. Every key is needed; what does not fit is refused. */
#include "sim/output/json.h"
#include "tools/sweep/specification/task.h"

#include <inttypes.h>
#include <string.h>

static void put(json_t *object, const char *key, json_t *value, bool *good)
{
    *good = json_object_set_new(object, key, value) == 0 && *good;
}

static json_t *text_or_null(const char *text)
{
    return text ? json_string(text) : json_null();
}

static json_t *hash_or_null(bool there, uint64_t hash)
{
    char text[20];
    (void)snprintf(text, sizeof text, "%016" PRIx64, hash);
    return there ? json_string(text) : json_null();
}

static json_t *settings_of(const struct pim_sweep_result *result, bool *good)
{
    json_t *array = json_array();
    for (size_t i = 0; i < result->setting_count; i++) {
        const struct pim_sweep_value *value = &result->settings[i];
        json_t *item = value->kind == PIM_SWEEP_INTEGER ? json_integer(value->integer)
                       : value->kind == PIM_SWEEP_REAL  ? json_real(value->real)
                                                        : json_string(value->text);
        *good = json_array_append_new(array, item) == 0 && *good;
    }
    return array;
}

static json_t *statistics_of(const struct pim_sweep_result *result, bool *good)
{
    json_t *object = json_object();
    for (size_t i = 0; i < result->count; i++) {
        const struct pim_sweep_statistic *statistic = &result->statistics[i];
        put(object, statistic->name,
            statistic->kind == PIM_SWEEP_INTEGER ? json_integer(statistic->integer)
            : statistic->kind == PIM_SWEEP_REAL  ? json_real(statistic->real)
                                                 : json_null(),
            good);
    }
    return object;
}

enum pim_status pim_task_write_line(FILE *file, const struct pim_sweep_result *result,
                                    const struct pim_store_host *host, struct pim_error *error)
{
    json_t *line = json_object();
    bool good = line != NULL;
    put(line, "point", json_integer((json_int_t)result->point), &good);
    put(line, "trace", text_or_null(result->trace), &good);
    put(line, "network", text_or_null(result->network), &good);
    put(line, "mapper", text_or_null(result->mapper), &good);
    put(line, "repeat", json_integer((json_int_t)result->repeat), &good);
    put(line, "seed", json_integer((json_int_t)result->seed), &good);
    put(line, "settings", settings_of(result, &good), &good);
    put(line, "status", json_integer((json_int_t)result->status), &good);
    put(line, "error", text_or_null(result->error), &good);
    put(line, "trace_hash", hash_or_null(result->has_trace, result->trace_hash), &good);
    put(line, "config_hash", hash_or_null(result->has_configuration, result->config_hash), &good);
    put(line, "configuration", text_or_null(result->configuration), &good);
    put(line, "statistics", statistics_of(result, &good), &good);
    put(line, "cpu_seconds", json_real(result->cpu_seconds), &good);
    put(line, "wall_seconds", json_real(result->wall_seconds), &good);
    put(line, "host", text_or_null(host->name), &good);
    put(line, "finished", json_integer(host->finished), &good);
    char *text = good ? json_dumps(line, JSON_COMPACT | JSON_REAL_PRECISION(17)) : NULL;
    json_decref(line);
    if (!text)
        return pim_fail(error, PIM_NO_MEMORY, "out of memory for a result");
    (void)fputs(text, file);
    (void)fputc('\n', file);
    free(text);
    return PIM_OK;
}

/* --- reading --- */

struct reader {
    const json_t *line;
    struct pim_sweep_result *result;
    const char *wrong; /* the first key that is missing or does not fit */
};

static void refuse(struct reader *reader, const char *key)
{
    if (!reader->wrong)
        reader->wrong = key;
}

static int64_t integer_at(struct reader *reader, const char *key)
{
    const json_t *value = json_object_get(reader->line, key);
    if (!json_is_integer(value) || json_integer_value(value) < 0) {
        refuse(reader, key);
        return 0;
    }
    return json_integer_value(value);
}

static double real_at(struct reader *reader, const char *key)
{
    const json_t *value = json_object_get(reader->line, key);
    if (!json_is_number(value))
        refuse(reader, key);
    return json_number_value(value);
}

static const char *text_at(struct reader *reader, const char *key)
{
    const json_t *value = json_object_get(reader->line, key);
    if (!json_is_string(value) && !json_is_null(value))
        refuse(reader, key);
    return json_is_string(value) ? pim_arena_copy_text(&reader->result->texts, json_string_value(value))
                                 : NULL;
}

static bool hash_at(struct reader *reader, const char *key, uint64_t *hash)
{
    const char *text = text_at(reader, key);
    if (text && (strlen(text) != 16 || strspn(text, "0123456789abcdef") != 16))
        refuse(reader, key);
    *hash = text ? strtoull(text, NULL, 16) : 0;
    return text != NULL;
}

static void read_settings(struct reader *reader)
{
    struct pim_sweep_result *result = reader->result;
    const json_t *settings = json_object_get(reader->line, "settings");
    if (!json_is_array(settings) || json_array_size(settings) > PIM_SWEEP_KEYS_MOST) {
        refuse(reader, "settings");
        return;
    }
    result->setting_count = json_array_size(settings);
    result->settings = pim_arena_require_array(&result->texts, result->setting_count,
                                               sizeof *result->settings, _Alignof(struct pim_sweep_value));
    for (size_t i = 0; i < result->setting_count; i++) {
        const json_t *item = json_array_get(settings, i);
        struct pim_sweep_value *value = &result->settings[i];
        if (!json_is_number(item) && !json_is_string(item))
            refuse(reader, "settings");
        value->kind = json_is_integer(item) ? PIM_SWEEP_INTEGER
                      : json_is_real(item)  ? PIM_SWEEP_REAL
                                            : PIM_SWEEP_TEXT;
        value->integer = json_integer_value(item);
        value->real = json_real_value(item);
        value->text =
            json_is_string(item) ? pim_arena_copy_text(&result->texts, json_string_value(item)) : NULL;
    }
}

static void read_statistics(struct reader *reader)
{
    const char *key;
    json_t *value, *statistics = json_object_get(reader->line, "statistics");
    if (!json_is_object(statistics))
        refuse(reader, "statistics");
    json_object_foreach(statistics, key, value)
    {
        if (!json_is_number(value) && !json_is_null(value))
            refuse(reader, "statistics");
        pim_sweep_result_add(reader->result, key,
                             (struct pim_sweep_statistic){.kind = json_is_integer(value) ? PIM_SWEEP_INTEGER
                                                                  : json_is_real(value)  ? PIM_SWEEP_REAL
                                                                                         : PIM_SWEEP_NOTHING,
                                                          .integer = json_integer_value(value),
                                                          .real = json_real_value(value)});
    }
}

enum pim_status pim_task_read_line(const char *name, uint64_t line, const char *text, size_t length,
                                   struct pim_sweep_result *result, struct pim_store_host *host,
                                   struct pim_error *error)
{
    json_t *document = NULL;
    pim_sweep_result_initialize(result, 0);
    if (pim_json_parse(name, text, length, &document, error) != PIM_OK)
        return pim_fail_in(error, "line %" PRIu64, line);
    struct reader reader = {.line = document, .result = result};
    result->point = (uint64_t)integer_at(&reader, "point");
    result->trace = text_at(&reader, "trace");
    result->network = text_at(&reader, "network");
    result->mapper = text_at(&reader, "mapper");
    result->repeat = (uint64_t)integer_at(&reader, "repeat");
    result->seed = (uint64_t)integer_at(&reader, "seed");
    read_settings(&reader);
    int64_t status = integer_at(&reader, "status");
    if (status > (int64_t)PIM_INTERNAL)
        refuse(&reader, "status");
    result->error = text_at(&reader, "error");
    result->has_trace = hash_at(&reader, "trace_hash", &result->trace_hash);
    result->has_configuration = hash_at(&reader, "config_hash", &result->config_hash);
    result->configuration = text_at(&reader, "configuration");
    if (result->has_configuration != (result->configuration != NULL))
        refuse(&reader, "configuration");
    read_statistics(&reader);
    bool no_memory = result->status == PIM_NO_MEMORY;
    result->status = (enum pim_status)status;
    result->cpu_seconds = real_at(&reader, "cpu_seconds");
    result->wall_seconds = real_at(&reader, "wall_seconds");
    host->name = text_at(&reader, "host");
    host->finished = integer_at(&reader, "finished");
    json_decref(document);
    if (no_memory)
        return pim_fail(error, PIM_NO_MEMORY, "out of memory for a result");
    if (reader.wrong)
        return pim_fail(error, PIM_BAD_INPUT, "%s:%" PRIu64 ": %s is missing or not what it has to be", name,
                        line, reader.wrong);
    return PIM_OK;
}
