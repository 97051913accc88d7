/*
 * pimsim compare: two results of `pimsim run --stats FILE --format json` side by side: inputs and settings
 * that differ, cycles, and where they went.
 *
 * The cycles of a step are by how much its phases move the end of the work, as in `pimsim validate`: steps
 * tile the run, so their differences add up to the difference of the runs.
 */
#include "models/system/report/steps.h"
#include "models/system/schema.h"
#include "sim/arena.h"
#include "sim/output/json.h"
#include "sim/output/output.h"
#include "tools/command/command.h"
#include "tools/command/options.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { RESULT_BYTES = 1 << 30, SIDES = 2, NAME_BYTES = 256, FORMAT_TEXT = 0 };

/* A figure on both sides; NaN where a side has none. */
struct line {
    char *name;
    double value[SIDES];
};

struct table {
    struct line *lines;
    size_t count, capacity;
};

/* A setting or an input that differs. */
struct difference {
    char *name, *text[SIDES];
};

struct comparison {
    const char *path[SIDES];
    json_t *result[SIDES];
    struct pim_arena texts;
    struct difference *inputs, *settings;
    size_t input_count, input_capacity, setting_count, setting_capacity;
    bool settings_known; /* both results hold their configuration */
    struct table steps, shares, figures;
};

/* --- collecting --- */

static struct line *line_of(struct comparison *comparison, struct table *table, const char *name)
{
    for (size_t i = 0; i < table->count; i++)
        if (strcmp(table->lines[i].name, name) == 0)
            return &table->lines[i];
    table->lines = pim_array_require(table->lines, &table->capacity, table->count + 1, sizeof *table->lines);
    struct line *line = &table->lines[table->count++];
    *line = (struct line){pim_arena_copy_text(&comparison->texts, name), {(double)NAN, (double)NAN}};
    return line;
}

static void add_to(struct comparison *comparison, struct table *table, const char *name, int side,
                   double amount)
{
    double *value = &line_of(comparison, table, name)->value[side];
    *value = isnan(*value) ? amount : *value + amount;
}

static void add_difference(struct comparison *comparison, struct difference **list, size_t *count,
                           size_t *capacity, const char *name, const char *one, const char *two)
{
    *list = pim_array_require(*list, capacity, *count + 1, sizeof **list);
    (*list)[(*count)++] = (struct difference){pim_arena_copy_text(&comparison->texts, name),
                                              {pim_arena_copy_text(&comparison->texts, one ? one : "none"),
                                               pim_arena_copy_text(&comparison->texts, two ? two : "none")}};
}

static double number(const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);
    return json_is_number(value) ? json_number_value(value) : (double)NAN;
}

/* The cycle at which a phase ends. */
static uint64_t end_of(const json_t *phase)
{
    const json_int_t end = json_integer_value(json_object_get(phase, "end_cycle"));
    return end > 0 ? (uint64_t)end : 0;
}

/* Steps, by the last part of the names of phases. What no phase accounts for is a step of its own. */
static void collect_steps(struct comparison *comparison, int side)
{
    const json_t *phases = json_object_get(comparison->result[side], "phases");
    const double whole = number(comparison->result[side], "cycles");
    uint64_t frontier = 0;
    for (size_t i = 0; i < json_array_size(phases); i++) {
        const json_t *phase = json_array_get(phases, i);
        const char *name = json_string_value(json_object_get(phase, "name"));
        add_to(comparison, &comparison->steps, name ? pim_step_name(name) : "unnamed", side,
               (double)pim_phase_advance(end_of(phase), &frontier));
    }
    if (whole > (double)frontier)
        add_to(comparison, &comparison->steps, "outside of phases", side, whole - (double)frontier);
}

static void collect_shares(struct comparison *comparison, int side)
{
    const json_t *units = json_object_get(comparison->result[side], "units");
    for (size_t i = 0; i < json_array_size(units); i++) {
        const char *key;
        json_t *value;
        json_object_foreach(json_object_get(json_array_get(units, i), "cycles_by"), key, value)
            add_to(comparison, &comparison->shares, key, side, json_number_value(value));
    }
}

/* Every single figure; inputs are shown elsewhere. */
static void collect_figures(struct comparison *comparison, int side, json_t *object, const char *prefix)
{
    const char *key;
    json_t *value;
    json_object_foreach(object, key, value)
    {
        char name[NAME_BYTES];
        (void)snprintf(name, sizeof name, "%s%s%s", prefix, *prefix ? "." : "", key);
        if (strcmp(name, "inputs") == 0)
            continue;
        if (json_is_object(value))
            collect_figures(comparison, side, value, name);
        else if (json_is_number(value))
            add_to(comparison, &comparison->figures, name, side, json_number_value(value));
        else if (json_is_boolean(value))
            add_to(comparison, &comparison->figures, name, side, json_is_true(value) ? 1 : 0);
    }
}

static void compare_input(struct comparison *comparison, const char *group, const char *key)
{
    const char *text[SIDES];
    for (int side = 0; side < SIDES; side++)
        text[side] =
            json_string_value(json_object_get(json_object_get(comparison->result[side], group), key));
    if ((text[0] || text[1]) && (!text[0] || !text[1] || strcmp(text[0], text[1]) != 0))
        add_difference(comparison, &comparison->inputs, &comparison->input_count, &comparison->input_capacity,
                       key, text[0], text[1]);
}

/* The value of a key as a text, or "not set". */
static const char *setting_text(const struct pim_configuration *configuration, const struct pim_key *key,
                                char buffer[NAME_BYTES])
{
    const int64_t *items;
    char real[PIM_REAL_CHARACTERS];
    if (!pim_configuration_holds(configuration, key->path))
        return "not set";
    switch (key->type) {
    case PIM_KEY_INTEGER:
        (void)snprintf(buffer, NAME_BYTES, "%" PRId64, pim_configuration_integer(configuration, key->path));
        break;
    case PIM_KEY_REAL:
        pim_format_real(real, pim_configuration_real(configuration, key->path), 15);
        (void)snprintf(buffer, NAME_BYTES, "%s", real);
        break;
    case PIM_KEY_BOOLEAN:
        return pim_configuration_boolean(configuration, key->path) ? "true" : "false";
    case PIM_KEY_CHOICE:
        (void)pim_key_choice(key, pim_configuration_choice(configuration, key->path), buffer, NAME_BYTES);
        break;
    case PIM_KEY_TEXT:
        return pim_configuration_text(configuration, key->path);
    case PIM_KEY_INTEGER_LIST:
        (void)snprintf(buffer, NAME_BYTES, "list of %zu",
                       pim_configuration_list(configuration, key->path, &items));
        break;
    }
    return buffer;
}

static enum pim_status compare_settings(struct comparison *comparison, struct pim_error *error)
{
    struct pim_configuration *configuration[SIDES] = {NULL, NULL};
    enum pim_status status = PIM_OK;
    comparison->settings_known = true;
    for (int side = 0; side < SIDES && status == PIM_OK; side++) {
        const json_t *inputs = json_object_get(comparison->result[side], "inputs");
        const char *text = json_string_value(json_object_get(inputs, "configuration"));
        if (!text) {
            comparison->settings_known = false;
            break;
        }
        status = pim_configuration_create(&pim_hardware_schema, &configuration[side], error);
        if (status == PIM_OK)
            status = pim_configuration_read_text(configuration[side], comparison->path[side], text,
                                                 strlen(text), error);
    }
    for (size_t i = 0; status == PIM_OK && comparison->settings_known && i < pim_hardware_schema.count; i++) {
        char buffer[SIDES][NAME_BYTES];
        const struct pim_key *key = &pim_hardware_schema.keys[i];
        const char *one = setting_text(configuration[0], key, buffer[0]);
        const char *two = setting_text(configuration[1], key, buffer[1]);
        if (strcmp(one, two) != 0)
            add_difference(comparison, &comparison->settings, &comparison->setting_count,
                           &comparison->setting_capacity, key->path, one, two);
    }
    pim_configuration_destroy(configuration[0]);
    pim_configuration_destroy(configuration[1]);
    return status;
}

static enum pim_status read_result(struct comparison *comparison, int side, struct pim_error *error)
{
    const char *path = comparison->path[side];
    struct pim_error reason = {.status = PIM_OK};
    if (pim_json_read(path, RESULT_BYTES, &comparison->result[side], &reason) != PIM_OK)
        return pim_fail(error, reason.status,
                        "%s: the JSON of a run is expected, as pimsim run TRACE --stats FILE --format json "
                        "writes it",
                        reason.text);
    const json_t *result = comparison->result[side];
    if (!json_is_number(json_object_get(result, "cycles")) ||
        !json_is_array(json_object_get(result, "phases")) ||
        !json_is_object(json_object_get(result, "inputs")))
        return pim_fail(error, PIM_BAD_INPUT,
                        "%s is no result of a run: pimsim run TRACE --stats FILE --format json writes one",
                        path);
    if (json_is_false(json_object_get(result, "complete")))
        return pim_fail(error, PIM_BAD_INPUT,
                        "%s is of a run that was stopped before its end (--until): only whole runs compare",
                        path);
    return PIM_OK;
}

static enum pim_status compare(struct comparison *comparison, struct pim_error *error)
{
    static const char *const inputs[] = {"family", "network", "mapping", "trace_hash", "config_hash"};
    if (read_result(comparison, 0, error) != PIM_OK || read_result(comparison, 1, error) != PIM_OK)
        return error->status;
    compare_input(comparison, "simulator", "version");
    for (size_t i = 0; i < sizeof inputs / sizeof inputs[0]; i++)
        compare_input(comparison, "inputs", inputs[i]);
    for (int side = 0; side < SIDES; side++) {
        collect_steps(comparison, side);
        collect_shares(comparison, side);
        collect_figures(comparison, side, comparison->result[side], "");
    }
    return compare_settings(comparison, error);
}

/* --- text --- */

static double sum(const struct table *table, int side)
{
    double total = 0;
    for (size_t i = 0; i < table->count; i++)
        total += isnan(table->lines[i].value[side]) ? 0 : table->lines[i].value[side];
    return total;
}

static void print_value(FILE *file, double value)
{
    if (isnan(value))
        (void)fprintf(file, "  %16s", "none");
    else if (value == floor(value) && fabs(value) < 1e15)
        (void)fprintf(file, "  %16.0f", value);
    else
        (void)fprintf(file, "  %16.6g", value);
}

/* Change from the first to the second in percent of the first. */
static double change(const double value[SIDES])
{
    return value[0] != 0 ? 100 * (value[1] - value[0]) / fabs(value[0]) : (double)NAN;
}

static void print_change(FILE *file, const double value[SIDES])
{
    double percent = change(value);
    if (isfinite(percent))
        (void)fprintf(file, "  %+9.2f %%", percent);
    else
        (void)fprintf(file, "  %11s", value[0] == value[1] ? "" : "-");
}

static void print_differences(FILE *file, const char *title, const struct difference *list, size_t count)
{
    (void)fprintf(file, "\n%s\n", title);
    if (count == 0)
        (void)fprintf(file, "  all equal\n");
    for (size_t i = 0; i < count; i++)
        (void)fprintf(file, "  %-32s  %24s  %24s\n", list[i].name, list[i].text[0], list[i].text[1]);
}

/* Cycles on both sides with their share of the whole, and what each adds to the difference. */
static void print_shares(FILE *file, const char *title, const struct table *table)
{
    double whole[SIDES] = {sum(table, 0), sum(table, 1)};
    (void)fprintf(file, "\n%-24s  %16s  %6s  %16s  %6s  %16s\n", title, "A", "share", "B", "share", "B - A");
    for (size_t i = 0; i < table->count; i++) {
        const struct line *line = &table->lines[i];
        double value[SIDES];
        char share[PIM_REAL_CHARACTERS];
        (void)fprintf(file, "  %-22s", line->name);
        for (int side = 0; side < SIDES; side++) {
            value[side] = isnan(line->value[side]) ? 0 : line->value[side];
            (void)fprintf(file, "  %16.0f  %6s", value[side],
                          pim_format_share(share, value[side], whole[side]));
        }
        (void)fprintf(file, "  %+16.0f\n", value[1] - value[0]);
    }
    (void)fprintf(file, "  %-22s  %16.0f  %6s  %16.0f  %6s  %+16.0f\n", "sum", whole[0], "", whole[1], "",
                  whole[1] - whole[0]);
}

static void print_text(const struct comparison *comparison, FILE *file)
{
    (void)fprintf(file, "A  %s\nB  %s\n", comparison->path[0], comparison->path[1]);
    print_differences(file, "inputs that differ", comparison->inputs, comparison->input_count);
    if (comparison->settings_known)
        print_differences(file, "configuration that differs", comparison->settings,
                          comparison->setting_count);
    else
        (void)fprintf(file, "\nconfiguration: not in both results\n");
    print_shares(file, "cycles by step", &comparison->steps);
    print_shares(file, "cycles of all units", &comparison->shares);
    (void)fprintf(file, "\n%-34s  %16s  %16s  %11s\n", "figures that differ", "A", "B", "change");
    for (size_t i = 0; i < comparison->figures.count; i++) {
        const struct line *line = &comparison->figures.lines[i];
        if (line->value[0] == line->value[1])
            continue;
        (void)fprintf(file, "  %-32s", line->name);
        print_value(file, line->value[0]);
        print_value(file, line->value[1]);
        print_change(file, line->value);
        (void)fprintf(file, "\n");
    }
}

/* --- JSON --- */

static void put_real(struct pim_json *json, const char *key, double value)
{
    if (isfinite(value))
        pim_json_put_real(json, key, value);
    else
        pim_json_put_null(json, key);
}

static void put_differences(struct pim_json *json, const char *key, const struct difference *list,
                            size_t count)
{
    pim_json_begin_array(json, key);
    for (size_t i = 0; i < count; i++) {
        pim_json_begin_object(json, NULL);
        pim_json_put_text(json, "name", list[i].name);
        pim_json_put_text(json, "a", list[i].text[0]);
        pim_json_put_text(json, "b", list[i].text[1]);
        pim_json_end(json);
    }
    pim_json_end(json);
}

static void put_table(struct pim_json *json, const char *key, const struct table *table)
{
    pim_json_begin_array(json, key);
    for (size_t i = 0; i < table->count; i++) {
        const struct line *line = &table->lines[i];
        pim_json_begin_object(json, NULL);
        pim_json_put_text(json, "name", line->name);
        put_real(json, "a", line->value[0]);
        put_real(json, "b", line->value[1]);
        put_real(json, "difference", line->value[1] - line->value[0]);
        put_real(json, "change_percent", change(line->value));
        pim_json_end(json);
    }
    pim_json_end(json);
}

static enum pim_status write_json(const struct comparison *comparison, FILE *file, struct pim_error *error)
{
    struct pim_json *json = pim_json_create();
    if (!json)
        return pim_fail(error, PIM_NO_MEMORY, "out of memory for the comparison");
    pim_json_put_text(json, "a", comparison->path[0]);
    pim_json_put_text(json, "b", comparison->path[1]);
    put_differences(json, "inputs", comparison->inputs, comparison->input_count);
    if (comparison->settings_known)
        put_differences(json, "configuration", comparison->settings, comparison->setting_count);
    else
        pim_json_put_null(json, "configuration");
    put_table(json, "steps", &comparison->steps);
    put_table(json, "unit_cycles_by", &comparison->shares);
    put_table(json, "figures", &comparison->figures);
    enum pim_status status = pim_json_write(json, file, error);
    pim_json_destroy(json);
    return status;
}

static void terminate(struct comparison *comparison)
{
    for (int side = 0; side < SIDES; side++)
        json_decref(comparison->result[side]);
    free(comparison->inputs);
    free(comparison->settings);
    free(comparison->steps.lines);
    free(comparison->shares.lines);
    free(comparison->figures.lines);
    pim_arena_terminate(&comparison->texts);
}

int command_compare(int argument_count, char **arguments)
{
    unsigned format = FORMAT_TEXT;
    const struct option_rule rules[] = {OPTION_FORMAT(format, "text|json")};
    const struct option_usage usage = OPTION_USAGE(
        "RESULT RESULT",
        "Shows two results of `pimsim run --stats FILE --format json` side by side: what differs "
        "in inputs and configuration, and where the cycles went.",
        rules, 2, 2);
    struct text_list files = {0};
    options_parse(&usage, argument_count, arguments, &files);
    struct pim_error error = {0};
    struct comparison comparison = {.path = {files.items[0], files.items[1]}};
    pim_arena_initialize(&comparison.texts, 0);
    enum pim_status status = compare(&comparison, &error);
    if (status == PIM_OK && format == FORMAT_TEXT)
        print_text(&comparison, stdout);
    else if (status == PIM_OK)
        status = write_json(&comparison, stdout, &error);
    terminate(&comparison);
    text_list_terminate(&files);
    return command_end(arguments[0], status, &error);
}
