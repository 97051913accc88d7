/*
 * Files, texts and assignments into values.
 *
 * 1. A file's includes are applied before the file itself, in their order, each inside the group its @include
 *    stands in: what a file says itself wins over what it includes.
 * 2. Every text goes through pim_source_scan before libconfig parses it.
 */
#include "sim/configuration/internal.h"
#include "sim/nearest.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* A file that is being read, and the files that include it. */
struct link {
    const struct link *outer;
    const char *name;
    dev_t device;
    ino_t inode;
};

struct reading {
    struct pim_configuration *configuration;
    struct pim_error *error;
    size_t files; /* included so far */
    size_t bytes; /* of all files so far */
};

static const char *keep_name(struct pim_configuration *configuration, const char *name)
{
    char **grown = realloc(configuration->names, (configuration->name_count + 1) * sizeof *grown);
    if (!grown)
        return NULL;
    configuration->names = grown;
    char *copy = strdup(name);
    if (copy)
        grown[configuration->name_count++] = copy;
    return copy;
}

/* Does `path` name a group of the schema? */
static bool is_group(const struct pim_schema *schema, const char *path)
{
    size_t length = strlen(path);
    for (size_t i = 0; i < schema->count; i++) {
        if (strncmp(schema->keys[i].path, path, length) == 0 && schema->keys[i].path[length] == '.')
            return true;
    }
    return false;
}

static const char *last_part(const char *path)
{
    const char *dot = strrchr(path, '.');
    return dot ? dot + 1 : path;
}

/* A key that another schema has stands in a text of this one. */
static enum pim_status refuse_inner(const struct pim_schema *schema, const char *place, const char *path,
                                    struct pim_error *error)
{
    const int group = (int)(last_part(path) - path) - 1;
    return pim_fail(error, PIM_BAD_INPUT,
                    "%s: %s: a key of the %s configuration, which stands in %s: \"%.*s = { %s = ...; };\"",
                    place, path, schema->inner->name, schema->place, group > 0 ? group : 0, path,
                    last_part(path));
}

/* Whether `name` stands in the group of `path`, which may name none. */
static bool is_of_group(const char *path, const char *name)
{
    const size_t length = (size_t)(last_part(path) - path);
    return length == 0 || (length == (size_t)(last_part(name) - name) && strncmp(path, name, length) == 0);
}

/* "<place>: noc.widht: unknown key; the nearest is noc.width (an integer from 1 to 64)"; what stands in no
 * group may be of another kind of file, so that the message says which kind is read. */
static enum pim_status refuse_unknown(const struct pim_schema *schema, const char *place, const char *path,
                                      bool group, struct pim_error *error)
{
    struct pim_nearest outer = {.wanted = path};
    const struct pim_key *nearest = NULL, *alone = NULL;
    size_t least = SIZE_MAX, lone = 0;
    char part[PATH_LIMIT + 1], kept[PATH_LIMIT + 1];
    if (schema->inner && strchr(path, '.') &&
        pim_configuration_find(schema->inner, path) < schema->inner->count)
        return refuse_inner(schema, place, path, error);
    for (size_t i = 0; i < schema->count; i++) {
        const char *name = schema->keys[i].path;
        size_t other;
        /* a group is compared with the groups that the key stands in, from the outermost on; one whose name
         * begins another is one of another kind of file: network and network_interface */
        for (const char *dot = strchr(name, '.'); group && dot; dot = strchr(dot + 1, '.')) {
            (void)snprintf(part, sizeof part, "%.*s", (int)(dot - name), name);
            if (pim_nearness_of(path, part, &other) == PIM_NEAR || other == 1)
                (void)pim_nearest_offer_copy(&outer, part, kept, sizeof kept);
        }
        /* that the groups are the same makes no name near; the right name may stand in a wrong group */
        const enum pim_nearness nearness =
            group ? PIM_FAR : pim_nearness_of(last_part(path), last_part(name), &other);
        if (nearness == PIM_NEAR_ALONE && is_of_group(path, name))
            alone = lone++ == 0 ? &schema->keys[i] : NULL;
        if (nearness != PIM_NEAR)
            continue;
        size_t edits = pim_edit_distance(path, name);
        edits = edits <= other ? edits : other + 1;
        if (edits < least) {
            least = edits;
            nearest = &schema->keys[i];
        }
    }
    nearest = nearest ? nearest : alone;
    char of[64] = "", allowed[512];
    if (!strchr(path, '.'))
        (void)snprintf(of, sizeof of, " of the %s configuration", schema->name);
    if (group)
        return pim_fail(error, PIM_BAD_INPUT, "%s: %s: unknown group%s%s%s", place, path, of,
                        PIM_NEAREST(outer, "; the nearest is "));
    if (!nearest)
        return pim_fail(error, PIM_BAD_INPUT, "%s: %s: unknown key%s", place, path, of);
    pim_key_describe(nearest, allowed, sizeof allowed);
    return pim_fail(error, PIM_BAD_INPUT, "%s: %s: unknown key%s; the nearest is %s (%s)", place, path, of,
                    nearest->path, allowed);
}

/* The quantity that key number `key` now has is no longer what its twin says. */
static enum pim_status displace_twin(struct pim_configuration *configuration, size_t key, const char *place,
                                     struct pim_error *error)
{
    const struct pim_schema *schema = configuration->schema;
    const struct pim_value *value = &configuration->values[key];
    const size_t index =
        value->origin == PIM_ORIGIN_DEFAULT ? schema->count : pim_configuration_twin(schema, key);
    if (index == schema->count)
        return PIM_OK;
    struct pim_value *twin = &configuration->values[index];
    if (value->origin == PIM_ORIGIN_FILE && twin->origin == PIM_ORIGIN_FILE && twin->file == value->file)
        return pim_fail(error, PIM_BAD_INPUT, "%s: %s: %s in line %u says the same: remove one of them",
                        place, schema->keys[key].path, schema->keys[index].path, twin->line);
    twin->origin = PIM_ORIGIN_NONE;
    return PIM_OK;
}

static enum pim_status apply_setting(struct reading *reading, const struct pim_source *source,
                                     const config_setting_t *setting, const char *path)
{
    struct pim_configuration *configuration = reading->configuration;
    const struct pim_schema *schema = configuration->schema;
    unsigned line = config_setting_source_line(setting);
    char place[1200];
    (void)snprintf(place, sizeof place, "%s:%u", source->name, line);
    size_t key = pim_configuration_find(schema, path);
    bool group = config_setting_is_group(setting) != 0;
    if (key == schema->count && !group && is_group(schema, path))
        return pim_fail(reading->error, PIM_BAD_INPUT, "%s: %s: a group of keys, write %s = { ... };", place,
                        path, last_part(path));
    if (key == schema->count)
        return refuse_unknown(schema, place, path, group, reading->error);
    struct pim_value *value = &configuration->values[key];
    enum pim_status status = pim_value_read(&schema->keys[key], setting, place, value, reading->error);
    if (status != PIM_OK)
        return status;
    value->origin = PIM_ORIGIN_FILE;
    value->file = source->name;
    value->text = configuration->texts;
    value->line = line;
    return displace_twin(configuration, key, place, reading->error);
}

/* Applies the members of `group`; the scanner has bounded the depth. `path` is the group's, "" at the top. */
static enum pim_status apply_group(struct reading *reading, const struct pim_source *source,
                                   const config_setting_t *group, const char *path)
{
    unsigned count = (unsigned)config_setting_length(group);
    for (unsigned i = 0; i < count; i++) {
        const config_setting_t *member = config_setting_get_elem(group, i);
        char inner[2 * PATH_LIMIT + 2];
        (void)snprintf(inner, sizeof inner, "%s%s%s", path, path[0] ? "." : "", config_setting_name(member));
        if (strlen(inner) > PATH_LIMIT)
            return pim_fail(reading->error, PIM_BAD_INPUT, "%s:%u: %s: the path is longer than %d characters",
                            source->name, config_setting_source_line(member), inner, PATH_LIMIT);
        bool group_of_keys =
            config_setting_is_group(member) && is_group(reading->configuration->schema, inner);
        enum pim_status status = group_of_keys ? apply_group(reading, source, member, inner)
                                               : apply_setting(reading, source, member, inner);
        if (status != PIM_OK)
            return status;
    }
    return PIM_OK;
}

static enum pim_status apply_text(struct reading *reading, const struct pim_source *source,
                                  const char *prefix)
{
    reading->configuration->texts++;
    config_t parsed;
    enum pim_status status = pim_source_parse(source, &parsed, reading->error);
    if (status != PIM_OK)
        return status;
    status = apply_group(reading, source, config_root_setting(&parsed), prefix);
    config_destroy(&parsed);
    return status;
}

/* Reads all of `file` into *text, which the caller frees in any case. */
static enum pim_status slurp(struct reading *reading, FILE *file, const char *name, char **text, size_t *size)
{
    size_t capacity = 0;
    for (;;) {
        if (*size == capacity) {
            capacity = capacity > 0 ? 2 * capacity : 16384;
            char *grown = realloc(*text, capacity);
            if (!grown)
                return pim_fail(reading->error, PIM_NO_MEMORY, "%s: out of memory", name);
            *text = grown;
        }
        size_t got = fread(*text + *size, 1, capacity - *size, file);
        *size += got;
        if (got == 0)
            break;
        if (*size > PIM_CONFIGURATION_FILE_LIMIT - reading->bytes)
            return pim_fail(reading->error, PIM_BAD_INPUT,
                            "%s: too large: a configuration with all it includes has at most %u bytes", name,
                            PIM_CONFIGURATION_FILE_LIMIT);
    }
    if (ferror(file))
        return pim_fail(reading->error, PIM_IO, "%s: cannot read: %s", name, strerror(errno));
    reading->bytes += *size;
    return PIM_OK;
}

static enum pim_status read_file(struct reading *reading, const char *path, const char *prefix,
                                 const struct link *outer);

static enum pim_status read_include(struct reading *reading, const struct pim_source *source,
                                    const struct pim_include *include, const char *prefix,
                                    const struct link *chain)
{
    unsigned depth = 0;
    for (const struct link *link = chain; link; link = link->outer)
        depth++;
    if (depth > PIM_CONFIGURATION_INCLUDE_DEPTH)
        return pim_source_fail(source, include->line, reading->error,
                               "@include \"%s\": files include one another more than %u deep", include->path,
                               PIM_CONFIGURATION_INCLUDE_DEPTH);
    if (++reading->files > PIM_CONFIGURATION_INCLUDE_LIMIT)
        return pim_source_fail(source, include->line, reading->error,
                               "@include \"%s\": more than %u files are included", include->path,
                               PIM_CONFIGURATION_INCLUDE_LIMIT);
    char inner[2 * PATH_LIMIT + 2], path[2 * INCLUDE_PATH_LIMIT + 2];
    (void)snprintf(inner, sizeof inner, "%s%s%s", prefix, prefix[0] && include->prefix[0] ? "." : "",
                   include->prefix);
    if (strlen(inner) > PATH_LIMIT)
        return pim_source_fail(source, include->line, reading->error,
                               "@include \"%s\": groups stand too deep", include->path);
    const char *slash = include->path[0] == '/' ? NULL : strrchr(source->name, '/');
    int folder = slash ? (int)(slash - source->name) + 1 : 0;
    int length = snprintf(path, sizeof path, "%.*s%s", folder, source->name, include->path);
    if (length < 0 || (size_t)length >= sizeof path)
        return pim_source_fail(source, include->line, reading->error, "@include \"%s\": the path is too long",
                               include->path);
    enum pim_status status = read_file(reading, path, inner, chain);
    if (status == PIM_IO)
        (void)pim_fail_in(reading->error, "%s:%u: @include", source->name, include->line);
    return status;
}

static enum pim_status read_source(struct reading *reading, struct pim_source *source, const char *prefix,
                                   const struct link *chain)
{
    enum pim_status status = pim_source_scan(source, reading->error);
    for (size_t i = 0; status == PIM_OK && i < source->include_count; i++)
        status = read_include(reading, source, &source->includes[i], prefix, chain);
    return status == PIM_OK ? apply_text(reading, source, prefix) : status;
}

/* Opens a file that is no folder and does not include itself. NULL: the error is set. */
static FILE *open_file(struct reading *reading, struct link *link)
{
    struct stat about;
    FILE *file = fopen(link->name, "rb");
    if (!file || fstat(fileno(file), &about) != 0) {
        (void)pim_fail(reading->error, PIM_IO, "%s: cannot open: %s", link->name, strerror(errno));
    } else if (S_ISDIR(about.st_mode)) {
        (void)pim_fail(reading->error, PIM_IO, "%s: this is a folder, a configuration file is needed",
                       link->name);
    } else {
        link->device = about.st_dev;
        link->inode = about.st_ino;
        const struct link *other = link->outer;
        while (other && (other->device != link->device || other->inode != link->inode))
            other = other->outer;
        if (!other)
            return file;
        (void)pim_fail(reading->error, PIM_BAD_INPUT, "%s: this file includes itself: %s includes it again",
                       other->name, link->outer->name);
    }
    if (file)
        (void)fclose(file);
    return NULL;
}

static enum pim_status read_file(struct reading *reading, const char *path, const char *prefix,
                                 const struct link *outer)
{
    const char *name = keep_name(reading->configuration, path);
    if (!name)
        return pim_fail(reading->error, PIM_NO_MEMORY, "%s: out of memory", path);
    struct link link = {.outer = outer, .name = name};
    FILE *file = open_file(reading, &link);
    if (!file)
        return reading->error->status;
    char *text = NULL;
    size_t size = 0;
    enum pim_status status = slurp(reading, file, name, &text, &size);
    (void)fclose(file);
    if (status == PIM_OK) {
        struct pim_source source = {
            .name = name, .numbered = true, .may_include = true, .text = text, .size = size};
        status = read_source(reading, &source, prefix, &link);
        pim_source_terminate(&source);
    }
    free(text);
    return status;
}

enum pim_status pim_configuration_read_file(struct pim_configuration *configuration, const char *path,
                                            struct pim_error *error)
{
    struct reading reading = {.configuration = configuration, .error = error};
    return read_file(&reading, path, "", NULL);
}

enum pim_status pim_configuration_read_text(struct pim_configuration *configuration, const char *name,
                                            const char *text, size_t size, struct pim_error *error)
{
    struct reading reading = {.configuration = configuration, .error = error};
    const char *kept = keep_name(configuration, name);
    if (!kept)
        return pim_fail(error, PIM_NO_MEMORY, "%s: out of memory", name);
    struct pim_source source = {.name = kept, .numbered = true, .text = text, .size = size};
    enum pim_status status = read_source(&reading, &source, "", NULL);
    pim_source_terminate(&source);
    return status;
}

/* Writes the text with the quotes or brackets that the command line may leave out. */
static void write_value(FILE *out, const struct pim_key *key, const char *text)
{
    while (*text == ' ' || *text == '\t')
        text++;
    bool bare_text = (key->type == PIM_KEY_TEXT || key->type == PIM_KEY_CHOICE) && *text != '"';
    bool bare_list = key->type == PIM_KEY_INTEGER_LIST && *text != '[' && *text != '(';
    (void)fputs(bare_text ? "\"" : bare_list ? "[" : "", out);
    for (; *text; text++) {
        if (bare_text && (*text == '"' || *text == '\\'))
            (void)fputc('\\', out);
        (void)fputc(*text, out);
    }
    (void)fputs(bare_text ? "\"" : bare_list ? "]" : "", out);
}

/* Closes the memory stream of *text, which is NULL when something of it could not be written. */
static char *finish_text(FILE *out, char **text)
{
    bool failed = ferror(out) != 0;
    if (fclose(out) != 0 || failed) {
        free(*text);
        *text = NULL;
    }
    return *text;
}

/* `v = <text>`; NULL when memory runs out. */
static char *write_assignment(const struct pim_key *key, const char *text, size_t *size)
{
    char *line = NULL;
    FILE *out = open_memstream(&line, size);
    if (!out)
        return NULL;
    (void)fputs("v = ", out);
    write_value(out, key, text);
    return finish_text(out, &line);
}

static enum pim_status refuse_value(const struct pim_key *key, const char *name, const char *found,
                                    struct pim_error *error)
{
    char allowed[512];
    pim_key_describe(key, allowed, sizeof allowed);
    return pim_fail(error, PIM_BAD_INPUT, "%s: found %s, allowed is %s", name, found, allowed);
}

enum pim_status pim_configuration_assign(struct pim_configuration *configuration, size_t key,
                                         const char *text, enum pim_origin origin, struct pim_error *error)
{
    const struct pim_key *described = &configuration->schema->keys[key];
    const char *place = origin == PIM_ORIGIN_DEFAULT ? "default" : "command line";
    char name[PATH_LIMIT + 32];
    (void)snprintf(name, sizeof name, "%s: %s", place, described->path);
    struct pim_source source = {.name = name};
    char *line = write_assignment(described, text, &source.size);
    if (!line)
        return pim_fail(error, PIM_NO_MEMORY, "%s: out of memory", name);
    config_t parsed;
    source.text = line;
    enum pim_status status = pim_source_scan(&source, error);
    if (status == PIM_OK)
        status = pim_source_parse(&source, &parsed, error);
    if (status == PIM_OK) {
        const config_setting_t *root = config_root_setting(&parsed);
        struct pim_value *value = &configuration->values[key];
        if (config_setting_length(root) != 1)
            status = refuse_value(described, name, "several values", error);
        else
            status = pim_value_read(described, config_setting_get_elem(root, 0), place, value, error);
        if (status == PIM_OK) {
            value->origin = origin;
            status = displace_twin(configuration, key, place, error);
        }
        config_destroy(&parsed);
    } else if (status == PIM_BAD_INPUT) { /* the scanner's words are about files; here the value matters */
        char found[64];
        pim_quote(text, strlen(text), found, sizeof found);
        status = refuse_value(described, name, found[0] ? found : "nothing", error);
    }
    pim_source_terminate(&source);
    free(line);
    return status;
}

enum pim_status pim_configuration_set(struct pim_configuration *configuration, const char *assignment,
                                      struct pim_error *error)
{
    const struct pim_schema *schema = configuration->schema;
    const char *equals = strchr(assignment, '=');
    char path[PATH_LIMIT + 1], found[64];
    pim_quote(assignment, strnlen(assignment, ASSIGNMENT_LIMIT), found, sizeof found);
    if (strnlen(assignment, ASSIGNMENT_LIMIT + 1) > ASSIGNMENT_LIMIT)
        return pim_fail(error, PIM_BAD_INPUT, "command line: %s: longer than %d bytes", found,
                        ASSIGNMENT_LIMIT);
    if (!equals)
        return pim_fail(error, PIM_BAD_INPUT, "command line: %s: write KEY=VALUE, as in noc.flit_bits=32",
                        found);
    const char *begin = assignment, *end = equals;
    while (begin < end && (*begin == ' ' || *begin == '\t'))
        begin++;
    while (begin < end && (end[-1] == ' ' || end[-1] == '\t'))
        end--;
    if (begin == end)
        return pim_fail(error, PIM_BAD_INPUT, "command line: %s: the key is missing in front of =", found);
    pim_quote(begin, (size_t)(end - begin), path, sizeof path);
    size_t key = pim_configuration_find(schema, path);
    if (key == schema->count && is_group(schema, path))
        return pim_fail(error, PIM_BAD_INPUT, "command line: %s: this is a group of keys, not a key", path);
    if (key == schema->count)
        return refuse_unknown(schema, "command line", path, false, error);
    return pim_configuration_assign(configuration, key, equals + 1, PIM_ORIGIN_COMMAND_LINE, error);
}

/* A list holds plain values only. */
static bool is_of_list(const struct pim_key *key)
{
    return pim_configuration_has_default(key) && key->type != PIM_KEY_INTEGER_LIST;
}

/* All defaults but those of lists, each on a line of its own, from line 2 on; NULL when memory runs out. */
static char *write_defaults(const struct pim_schema *schema, size_t *size)
{
    char *text = NULL;
    FILE *out = open_memstream(&text, size);
    bool first = true;
    if (!out)
        return NULL;
    (void)fputs("v = (", out);
    for (size_t i = 0; i < schema->count; i++) {
        if (!is_of_list(&schema->keys[i]))
            continue;
        (void)fputs(first ? "\n" : ",\n", out);
        write_value(out, &schema->keys[i], schema->keys[i].fallback);
        first = false;
    }
    (void)fputs(")", out);
    return finish_text(out, &text);
}

/* Gives each key its element of the list, if there is one for each on its line: those that a key refuses are
 * left. */
static void take_elements(struct pim_configuration *configuration, const config_setting_t *list)
{
    const struct pim_schema *schema = configuration->schema;
    struct pim_error error;
    unsigned count = 0;
    for (size_t i = 0; i < schema->count; i++)
        count += is_of_list(&schema->keys[i]);
    bool each = config_setting_length(list) == (int)count;
    for (unsigned i = 0; i < count && each; i++)
        each = config_setting_source_line(config_setting_get_elem(list, i)) == i + 2;
    for (size_t i = 0, at = 0; i < schema->count && each; i++)
        if (is_of_list(&schema->keys[i]) &&
            pim_value_read(&schema->keys[i], config_setting_get_elem(list, (unsigned)at++), "default",
                           &configuration->values[i], &error) == PIM_OK)
            configuration->values[i].origin = PIM_ORIGIN_DEFAULT;
}

void pim_configuration_take_plain_defaults(struct pim_configuration *configuration)
{
    struct pim_error error = {PIM_OK, ""};
    struct pim_source source = {.name = "defaults", .numbered = true};
    config_t parsed;
    char *text = write_defaults(configuration->schema, &source.size);
    source.text = text;
    if (text && pim_source_scan(&source, &error) == PIM_OK &&
        pim_source_parse(&source, &parsed, &error) == PIM_OK) {
        const config_setting_t *list = config_setting_get_member(config_root_setting(&parsed), "v");
        if (list)
            take_elements(configuration, list);
        config_destroy(&parsed);
    }
    pim_source_terminate(&source);
    free(text);
}
