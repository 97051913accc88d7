#include "tools/sweep/specification/specification.h"

#include "sim/configuration/internal.h" /* the scanner: a specification has the syntax of configurations */
#include "sim/nearest.h"
#include "sim/output/file.h"
#include "sim/output/output.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

enum { TEXT_BYTES = 8192 };

struct reading {
    struct pim_sweep *sweep;
    const char *path;
    struct pim_texts networks, mappers;
    struct pim_error *error;
};

/* A key of the file and how it is read. */
struct rule {
    const char *name;
    enum pim_status (*read)(struct reading *reading, const config_setting_t *setting);
};

static enum pim_status refuse(const struct reading *reading, const config_setting_t *setting,
                              const char *format, ...) PIM_PRINTF(3, 4);
static enum pim_status refuse(const struct reading *reading, const config_setting_t *setting,
                              const char *format, ...)
{
    char message[sizeof reading->error->text];
    va_list arguments;
    va_start(arguments, format);
    /* NOLINTNEXTLINE(clang-analyzer-valist.Uninitialized): va_start is one line above */
    (void)vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    return pim_fail(reading->error, PIM_BAD_INPUT, "%s:%u: %s", reading->path,
                    config_setting_source_line(setting), message);
}

/* Puts file and line in front of a message from elsewhere. */
static enum pim_status place(const struct reading *reading, const config_setting_t *setting)
{
    return pim_fail_in(reading->error, "%s:%u", reading->path, config_setting_source_line(setting));
}

/* --- single values --- */

static enum pim_status read_texts(struct reading *reading, const config_setting_t *setting, bool paths,
                                  struct pim_texts *texts)
{
    bool single = config_setting_type(setting) == CONFIG_TYPE_STRING;
    unsigned count = single ? 1 : (unsigned)config_setting_length(setting);
    if (!single && !config_setting_is_array(setting) && !config_setting_is_list(setting))
        return refuse(reading, setting, "%s: a text in quotes or a list of texts is expected",
                      config_setting_name(setting));
    for (unsigned i = 0; i < count; i++) {
        const config_setting_t *element = single ? setting : config_setting_get_elem(setting, i);
        const char *text = config_setting_get_string(element);
        const char *slash = strrchr(reading->path, '/');
        char path[TEXT_BYTES];
        if (!text || *text == '\0')
            return refuse(reading, setting, "%s: a text in quotes or a list of texts is expected",
                          config_setting_name(setting));
        bool relative = paths && text[0] != '/' && slash;
        int length = snprintf(path, sizeof path, "%.*s%s", relative ? (int)(slash - reading->path) + 1 : 0,
                              reading->path, text);
        if (length < 0 || (size_t)length >= sizeof path)
            return refuse(reading, setting, "%s: a text of more than %d characters",
                          config_setting_name(setting), TEXT_BYTES - 1);
        if (pim_texts_add(texts, path, reading->error) != PIM_OK)
            return reading->error->status;
    }
    return PIM_OK;
}

static enum pim_status read_count(struct reading *reading, const config_setting_t *setting, uint64_t least,
                                  uint64_t most, uint64_t *value)
{
    int type = config_setting_type(setting);
    long long number =
        type == CONFIG_TYPE_INT || type == CONFIG_TYPE_INT64 ? config_setting_get_int64(setting) : -1;
    if (number < 0 || (uint64_t)number < least || (uint64_t)number > most)
        return refuse(reading, setting, "%s: an integer from %llu to %llu is expected",
                      config_setting_name(setting), (unsigned long long)least, (unsigned long long)most);
    *value = (uint64_t)number;
    return PIM_OK;
}

/* One of the words of a list that ends with NULL. */
static enum pim_status read_word(struct reading *reading, const config_setting_t *setting,
                                 const char *const *words, unsigned *index)
{
    const char *text = config_setting_get_string(setting);
    char all[128] = "";
    for (*index = 0; words[*index]; (*index)++) {
        if (text && strcmp(text, words[*index]) == 0)
            return PIM_OK;
        size_t used = strlen(all);
        (void)snprintf(all + used, sizeof all - used, "%s\"%s\"", used ? ", " : "", words[*index]);
    }
    return refuse(reading, setting, "%s: one of %s is expected", config_setting_name(setting), all);
}

static enum pim_status read_name(struct reading *reading, const config_setting_t *setting)
{
    const char *text = config_setting_get_string(setting);
    if (!text)
        return refuse(reading, setting, "name: a text in quotes is expected");
    free(reading->sweep->name);
    reading->sweep->name = strdup(text);
    return reading->sweep->name ? PIM_OK
                                : pim_fail(reading->error, PIM_NO_MEMORY, "out of memory for a sweep");
}

static enum pim_status read_traces(struct reading *reading, const config_setting_t *setting)
{
    struct pim_texts traces = {.items = NULL};
    enum pim_status status = read_texts(reading, setting, true, &traces);
    for (size_t i = 0; i < traces.count && status == PIM_OK; i++)
        status = pim_sweep_add_trace(reading->sweep, traces.items[i], reading->error);
    pim_texts_terminate(&traces);
    return status;
}

static enum pim_status read_networks(struct reading *reading, const config_setting_t *setting)
{
    return read_texts(reading, setting, true, &reading->networks);
}

static enum pim_status read_mappers(struct reading *reading, const config_setting_t *setting)
{
    return read_texts(reading, setting, false, &reading->mappers);
}

static enum pim_status read_hardware(struct reading *reading, const config_setting_t *setting)
{
    return read_texts(reading, setting, true, &reading->sweep->hardware);
}

/* The path of a list, or a list of the path and the names that are taken from it. */
static enum pim_status read_systems(struct reading *reading, const config_setting_t *setting)
{
    struct pim_texts texts = {.items = NULL}, path = {.items = NULL};
    enum pim_status status = read_texts(reading, setting, false, &texts);
    if (status == PIM_OK)
        status = read_texts(reading, setting, true, &path);
    if (status == PIM_OK && texts.count == 0)
        status = refuse(reading, setting, "systems: the path of a list is expected");
    if (status == PIM_OK &&
        pim_systems_read(path.items[0], &reading->sweep->systems, reading->error) != PIM_OK)
        status = place(reading, setting);
    char names[TEXT_BYTES] = "";
    for (size_t i = 1, used = 0; status == PIM_OK && i < texts.count; i++) {
        int length = snprintf(names + used, sizeof names - used, "%s%s", used ? "," : "", texts.items[i]);
        used += length > 0 ? (size_t)length : 0;
        if (used >= sizeof names)
            status = refuse(reading, setting, "systems: the names are too long");
    }
    if (status == PIM_OK && texts.count > 1 &&
        pim_systems_choose(&reading->sweep->systems, names, reading->error) != PIM_OK)
        status = place(reading, setting);
    pim_texts_terminate(&texts);
    pim_texts_terminate(&path);
    return status;
}

static enum pim_status read_sets(struct reading *reading, const config_setting_t *setting)
{
    struct pim_texts sets = {.items = NULL};
    enum pim_status status = read_texts(reading, setting, false, &sets);
    for (size_t i = 0; i < sets.count && status == PIM_OK; i++)
        status = pim_sweep_add_set(reading->sweep, sets.items[i], reading->error);
    pim_texts_terminate(&sets);
    return status;
}

static enum pim_status read_constraints(struct reading *reading, const config_setting_t *setting)
{
    return read_texts(reading, setting, false, &reading->sweep->conditions);
}

static enum pim_status read_repeats(struct reading *reading, const config_setting_t *setting)
{
    return read_count(reading, setting, 1, PIM_SWEEP_REPEATS_MOST, &reading->sweep->repeats);
}

static enum pim_status read_seed(struct reading *reading, const config_setting_t *setting)
{
    return read_count(reading, setting, 0, INT64_MAX, &reading->sweep->seed);
}

static enum pim_status read_until(struct reading *reading, const config_setting_t *setting)
{
    return read_count(reading, setting, 0, INT64_MAX, &reading->sweep->until_cycle);
}

static enum pim_status read_fidelity(struct reading *reading, const config_setting_t *setting)
{
    static const char *const words[] = {"ideal", "analytic", "flit", NULL};
    unsigned index = 0;
    if (read_word(reading, setting, words, &index) != PIM_OK)
        return reading->error->status;
    reading->sweep->fidelity = words[index];
    return PIM_OK;
}

static enum pim_status read_mapping(struct reading *reading, const config_setting_t *setting)
{
    static const char *const words[] = {"each", "once", "own", NULL};
    unsigned index = 0;
    if (read_word(reading, setting, words, &index) != PIM_OK)
        return reading->error->status;
    reading->sweep->map_once = index == 1;
    reading->sweep->own_programs = index == 2;
    return PIM_OK;
}

/* --- axes --- */

/* A scalar as the text that an assignment takes. */
static bool scalar_text(const config_setting_t *setting, char text[TEXT_BYTES])
{
    switch (config_setting_type(setting)) {
    case CONFIG_TYPE_INT:
    case CONFIG_TYPE_INT64:
        (void)snprintf(text, TEXT_BYTES, "%lld", config_setting_get_int64(setting));
        return true;
    case CONFIG_TYPE_FLOAT:
        pim_sweep_format_real(text, TEXT_BYTES, config_setting_get_float(setting));
        return true;
    case CONFIG_TYPE_BOOL:
        (void)snprintf(text, TEXT_BYTES, "%s", config_setting_get_bool(setting) ? "true" : "false");
        return true;
    case CONFIG_TYPE_STRING:
        return snprintf(text, TEXT_BYTES, "%s", config_setting_get_string(setting)) < TEXT_BYTES;
    default:
        return false;
    }
}

static enum pim_status read_key(struct reading *reading, const config_setting_t *setting, const char *name,
                                bool zipped, struct pim_sweep_key *key)
{
    char text[TEXT_BYTES];
    bool several = config_setting_is_array(setting) || config_setting_is_list(setting);
    unsigned count = several ? (unsigned)config_setting_length(setting) : 1;
    if (pim_sweep_key_begin(key, name, reading->error) != PIM_OK)
        return place(reading, setting);
    key->zipped = zipped;
    for (unsigned i = 0; i < count; i++) {
        const config_setting_t *element = several ? config_setting_get_elem(setting, i) : setting;
        if (!scalar_text(element, text))
            return refuse(reading, setting, "%s: values or ranges are expected, in [ ] or ( )", name);
        enum pim_status status = several ? pim_sweep_key_add(key, text, reading->error)
                                         : pim_sweep_key_add_list(key, text, reading->error);
        if (status != PIM_OK)
            return place(reading, setting);
    }
    return pim_sweep_key_end(key, reading->error) == PIM_OK ? PIM_OK : place(reading, setting);
}

/* The keys of a group and the groups in it; each becomes an axis, or all of them the one axis `together`. */
static enum pim_status read_group(struct reading *reading, const config_setting_t *group, const char *prefix,
                                  struct pim_sweep_axis *together)
{
    enum pim_status status = PIM_OK;
    unsigned count = (unsigned)config_setting_length(group);
    for (unsigned i = 0; i < count && status == PIM_OK; i++) {
        const config_setting_t *member = config_setting_get_elem(group, i);
        char name[2 * PATH_LIMIT];
        (void)snprintf(name, sizeof name, "%s%s%s", prefix, *prefix ? "." : "", config_setting_name(member));
        if (config_setting_is_group(member)) {
            status = read_group(reading, member, name, together);
            continue;
        }
        struct pim_sweep_axis single = {.keys = NULL};
        struct pim_sweep_axis *axis = together ? together : &single;
        struct pim_sweep_key *grown = realloc(axis->keys, (axis->key_count + 1) * sizeof *grown);
        if (!grown)
            return pim_fail(reading->error, PIM_NO_MEMORY, "out of memory for an axis");
        axis->keys = grown;
        struct pim_sweep_key *key = &grown[axis->key_count];
        status = read_key(reading, member, name, together != NULL, key);
        axis->key_count++;
        if (status == PIM_OK && axis->key_count > 1 && key->count != axis->count)
            status = refuse(reading, member,
                            "%s has %zu values, %s before it %zu: what is zipped has equally many", name,
                            key->count, axis->keys[0].name, axis->count);
        axis->count = key->count;
        if (!together && status == PIM_OK)
            status = pim_sweep_add_axis(reading->sweep, &single, reading->error) == PIM_OK
                         ? PIM_OK
                         : place(reading, member);
        if (!together)
            pim_sweep_axis_terminate(&single);
    }
    return status;
}

static enum pim_status read_axes(struct reading *reading, const config_setting_t *setting)
{
    if (!config_setting_is_group(setting))
        return refuse(reading, setting,
                      "axes: a group of keys is expected: axes = { noc = { flit_bits = [16, 32]; }; };");
    if (config_setting_length(setting) == 0)
        return refuse(reading, setting, "axes: there is none");
    return read_group(reading, setting, "", NULL);
}

static enum pim_status read_zip(struct reading *reading, const config_setting_t *setting)
{
    enum pim_status status = PIM_OK;
    unsigned count = (unsigned)config_setting_length(setting);
    if (!config_setting_is_group(setting))
        return refuse(reading, setting,
                      "zip: a group of named groups is expected: "
                      "zip = { array = { pe = { rows = [8, 16]; columns = [8, 16]; }; }; };");
    for (unsigned i = 0; i < count && status == PIM_OK; i++) {
        const config_setting_t *group = config_setting_get_elem(setting, i);
        struct pim_sweep_axis axis = {.keys = NULL};
        if (!config_setting_is_group(group))
            return refuse(reading, group, "zip: %s is no group of keys", config_setting_name(group));
        status = read_group(reading, group, "", &axis);
        if (status == PIM_OK && axis.key_count == 0)
            status = refuse(reading, group, "zip: %s is empty", config_setting_name(group));
        if (status == PIM_OK && pim_sweep_axis_check(&axis, reading->error) != PIM_OK)
            status = place(reading, group);
        if (status == PIM_OK && pim_sweep_add_axis(reading->sweep, &axis, reading->error) != PIM_OK)
            status = place(reading, group);
        pim_sweep_axis_terminate(&axis);
    }
    return status;
}

/* --- the file --- */

static const struct rule rules[] = {
    {"name", read_name},        {"trace", read_traces},      {"traces", read_traces},
    {"network", read_networks}, {"networks", read_networks}, {"mapper", read_mappers},
    {"mappers", read_mappers},  {"hardware", read_hardware}, {"set", read_sets},
    {"axes", read_axes},        {"zip", read_zip},           {"constraints", read_constraints},
    {"repeats", read_repeats},  {"seed", read_seed},         {"until", read_until},
    {"noc", read_fidelity},     {"mapping", read_mapping},   {"systems", read_systems},
};

static enum pim_status refuse_unknown(const struct reading *reading, const config_setting_t *setting)
{
    struct pim_nearest nearest = {.wanted = config_setting_name(setting)};
    for (size_t i = 0; i < sizeof rules / sizeof rules[0]; i++)
        (void)pim_nearest_offer(&nearest, rules[i].name);
    return refuse(reading, setting, "%s: unknown key%s%s", nearest.wanted,
                  PIM_NEAREST(nearest, "; the nearest is "));
}

static enum pim_status read_settings(struct reading *reading, const config_setting_t *root)
{
    enum pim_status status = PIM_OK;
    unsigned count = (unsigned)config_setting_length(root);
    for (unsigned i = 0; i < count && status == PIM_OK; i++) {
        const config_setting_t *setting = config_setting_get_elem(root, i);
        size_t rule = 0;
        while (rule < sizeof rules / sizeof rules[0] &&
               strcmp(rules[rule].name, config_setting_name(setting)) != 0)
            rule++;
        status = rule < sizeof rules / sizeof rules[0] ? rules[rule].read(reading, setting)
                                                       : refuse_unknown(reading, setting);
    }
    return status;
}

/* Every network with every mapper, or on every system. */
static enum pim_status combine(struct reading *reading)
{
    struct pim_sweep *sweep = reading->sweep;
    const struct pim_texts *networks = &reading->networks, *mappers = &reading->mappers;
    const size_t systems = sweep->systems.count;
    if (mappers->count > 0 && systems > 0)
        return pim_fail(reading->error, PIM_BAD_INPUT, "%s: either mappers, or systems, which have theirs",
                        reading->path);
    if ((networks->count > 0) != (mappers->count + systems > 0))
        return pim_fail(reading->error, PIM_BAD_INPUT, "%s: %s are named, but no %s: a trace is made of both",
                        reading->path,
                        networks->count  ? "networks"
                        : mappers->count ? "mappers"
                                         : "systems",
                        networks->count ? "mappers" : "networks");
    if (networks->count > 0 && sweep->source_count > 0)
        return pim_fail(reading->error, PIM_BAD_INPUT, "%s: either traces, or networks and mappers",
                        reading->path);
    if (networks->count == 0 && sweep->source_count == 0)
        return pim_fail(reading->error, PIM_BAD_INPUT,
                        "%s: neither a trace, nor networks and mappers are named", reading->path);
    for (size_t n = 0; n < networks->count; n++) {
        for (size_t m = 0; m < mappers->count; m++)
            if (pim_sweep_add_mapped(sweep, networks->items[n], mappers->items[m], reading->error) != PIM_OK)
                return reading->error->status;
        for (size_t i = 0; i < systems; i++)
            if (pim_sweep_add_system(sweep, networks->items[n], i, reading->error) != PIM_OK)
                return reading->error->status;
    }
    return PIM_OK;
}

static enum pim_status parse(struct reading *reading, struct pim_source *source)
{
    config_t parsed;
    if (pim_source_scan(source, reading->error) != PIM_OK ||
        pim_source_parse(source, &parsed, reading->error) != PIM_OK)
        return reading->error->status;
    enum pim_status status = read_settings(reading, config_root_setting(&parsed));
    config_destroy(&parsed);
    return status == PIM_OK ? combine(reading) : status;
}

enum pim_status pim_sweep_read_text(struct pim_sweep *sweep, const char *path, const char *text, size_t size,
                                    struct pim_error *error)
{
    struct reading reading = {.sweep = sweep, .path = path, .error = error};
    struct pim_source source = {.name = path, .numbered = true, .text = text, .size = size};
    enum pim_status status = parse(&reading, &source);
    pim_source_terminate(&source);
    pim_texts_terminate(&reading.networks);
    pim_texts_terminate(&reading.mappers);
    return status;
}

enum pim_status pim_sweep_read(struct pim_sweep *sweep, const char *path, struct pim_error *error)
{
    char *text;
    size_t size;
    if (pim_file_read(path, PIM_SPECIFICATION_BYTES, "a specification", &text, &size, error) != PIM_OK)
        return error->status;
    enum pim_status status = pim_sweep_read_text(sweep, path, text, size, error);
    free(text);
    return status;
}
