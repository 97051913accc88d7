#include "tools/sweep/sweep.h"

#include "mappers/network/descriptor/descriptor.h"
#include "mappers/network/source.h"
#include "models/system/schema.h"
#include "sim/arena.h"
#include "sim/output/file.h"
#include "sim/random.h"
#include "tools/library/map.h"
#include "tools/library/words.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#define PIM_SWEEP_NETWORK_BYTES ((size_t)1 << 31)

enum pim_status pim_texts_add(struct pim_texts *texts, const char *text, struct pim_error *error)
{
    char *copy = strdup(text);
    char **grown =
        copy ? pim_array_grow(texts->items, &texts->capacity, texts->count + 1, sizeof *grown) : NULL;
    if (!grown) {
        free(copy);
        return pim_fail(error, PIM_NO_MEMORY, "out of memory for a sweep");
    }
    texts->items = grown;
    grown[texts->count++] = copy;
    return PIM_OK;
}

void pim_texts_terminate(struct pim_texts *texts)
{
    for (size_t i = 0; i < texts->count; i++)
        free(texts->items[i]);
    free(texts->items);
    *texts = (struct pim_texts){.items = NULL};
}

void pim_sweep_initialize(struct pim_sweep *sweep)
{
    *sweep = (struct pim_sweep){.repeats = 1};
}

void pim_sweep_terminate(struct pim_sweep *sweep)
{
    for (size_t i = 0; i < sweep->source_count; i++) {
        struct pim_sweep_source *source = &sweep->sources[i];
        pim_trace_close(source->opened);
        pim_configuration_destroy(source->configuration);
        free(source->trace);
        free(source->network);
        free(source->mapper);
        free(source->base);
        free(source->network_content);
    }
    for (size_t i = 0; i < sweep->axis_count; i++)
        pim_sweep_axis_terminate(&sweep->axes[i]);
    for (size_t i = 0; sweep->constraints && i < sweep->conditions.count; i++)
        pim_expression_destroy(sweep->constraints[i]);
    pim_systems_terminate(&sweep->systems);
    free(sweep->constraints);
    free(sweep->sources);
    free(sweep->axes);
    free(sweep->identity);
    free(sweep->name);
    pim_texts_terminate(&sweep->hardware);
    pim_texts_terminate(&sweep->sets);
    pim_texts_terminate(&sweep->network_sets);
    pim_texts_terminate(&sweep->conditions);
    pim_sweep_initialize(sweep);
}

static struct pim_sweep_source *add_source(struct pim_sweep *sweep)
{
    struct pim_sweep_source *grown =
        pim_array_grow(sweep->sources, &sweep->source_capacity, sweep->source_count + 1, sizeof *grown);
    if (!grown)
        return NULL;
    sweep->sources = grown;
    grown[sweep->source_count] = (struct pim_sweep_source){.system = PIM_NO_SYSTEM};
    return &grown[sweep->source_count++];
}

enum pim_status pim_sweep_add_trace(struct pim_sweep *sweep, const char *trace, struct pim_error *error)
{
    struct pim_sweep_source *source = add_source(sweep);
    if (source)
        source->trace = strdup(trace);
    return source && source->trace ? PIM_OK : pim_fail(error, PIM_NO_MEMORY, "out of memory for a sweep");
}

enum pim_status pim_sweep_add_mapped(struct pim_sweep *sweep, const char *network, const char *mapper,
                                     struct pim_error *error)
{
    struct pim_sweep_source *source = add_source(sweep);
    if (source) {
        source->network = strdup(network);
        source->mapper = strdup(mapper);
    }
    return source && source->network && source->mapper
               ? PIM_OK
               : pim_fail(error, PIM_NO_MEMORY, "out of memory for a sweep");
}

enum pim_status pim_sweep_add_system(struct pim_sweep *sweep, const char *network, size_t system,
                                     struct pim_error *error)
{
    if (pim_sweep_add_mapped(sweep, network, sweep->systems.rows[system].mapper, error) != PIM_OK)
        return error->status;
    sweep->sources[sweep->source_count - 1].system = system;
    return PIM_OK;
}

/* An axis of a quantity that another axis has would be without effect, or take the other's. */
static enum pim_status check_apart(const struct pim_sweep_axis *axis, const struct pim_sweep_axis *other,
                                   struct pim_error *error)
{
    for (size_t i = 0; i < other->key_count; i++)
        for (size_t j = 0; j < axis->key_count; j++) {
            const char *one = other->keys[i].name, *two = axis->keys[j].name;
            if (axis != other && strcmp(one, two) == 0)
                return pim_fail(error, PIM_BAD_INPUT, "%s is an axis twice", two);
            if (pim_configuration_same_quantity(&pim_hardware_schema, one, two))
                return pim_fail(error, PIM_BAD_INPUT, "%s and %s are axes, and say the same: remove one", one,
                                two);
        }
    return PIM_OK;
}

enum pim_status pim_sweep_add_axis(struct pim_sweep *sweep, struct pim_sweep_axis *axis,
                                   struct pim_error *error)
{
    struct pim_sweep_axis *grown = NULL;
    enum pim_status status = check_apart(axis, axis, error);
    size_t keys = axis->key_count;
    for (size_t a = 0; a < sweep->axis_count; a++) {
        keys += sweep->axes[a].key_count;
        if (status == PIM_OK)
            status = check_apart(axis, &sweep->axes[a], error);
    }
    if (status == PIM_OK && (sweep->axis_count >= PIM_SWEEP_AXES_MOST || keys > PIM_SWEEP_KEYS_MOST))
        status = pim_fail(error, PIM_BAD_INPUT, "more than %d axes or %d keys", PIM_SWEEP_AXES_MOST,
                          PIM_SWEEP_KEYS_MOST);
    if (status == PIM_OK) {
        grown = pim_array_grow(sweep->axes, &sweep->axis_capacity, sweep->axis_count + 1, sizeof *grown);
        if (!grown)
            status = pim_fail(error, PIM_NO_MEMORY, "out of memory for a sweep");
    }
    if (!grown) {
        pim_sweep_axis_terminate(axis);
        return status;
    }
    sweep->axes = grown;
    grown[sweep->axis_count++] = *axis;
    *axis = (struct pim_sweep_axis){.keys = NULL};
    return PIM_OK;
}

bool pim_sweep_of_network(const char *set)
{
    return pim_sweep_schema(set) == &pim_network_schema;
}

enum pim_status pim_sweep_set_words(struct pim_configuration *configuration,
                                    const struct pim_map_words *words, struct pim_error *error)
{
    for (size_t i = 0; i < words->set_count; i++)
        if (!pim_sweep_of_network(words->sets[i]) &&
            pim_configuration_set(configuration, words->sets[i], error) != PIM_OK)
            return error->status;
    return pim_configuration_complete(configuration, error);
}

enum pim_status pim_sweep_add_set(struct pim_sweep *sweep, const char *set, struct pim_error *error)
{
    return pim_texts_add(pim_sweep_of_network(set) ? &sweep->network_sets : &sweep->sets, set, error);
}

const char *pim_sweep_label(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash && slash[1] ? slash + 1 : path;
}

/* Whether `path` ends in the folders and the name that `tail` has. */
static bool ends_in(const char *path, const char *tail)
{
    size_t length = strlen(path), size = strlen(tail);
    return length >= size && strcmp(path + length - size, tail) == 0 &&
           (length == size || path[length - size - 1] == '/');
}

const char *pim_sweep_label_among(const struct pim_sweep *sweep, const char *path)
{
    const char *label = pim_sweep_label(path);
    for (size_t i = 0; i < sweep->source_count && label > path;) {
        const struct pim_sweep_source *source = &sweep->sources[i];
        const char *other = source->trace ? source->trace : source->network;
        if (strcmp(other, path) == 0 || !ends_in(other, label)) {
            i++;
            continue;
        }
        label--; /* at the slash; then one folder more */
        while (label > path && label[-1] != '/')
            label--;
    }
    return label;
}

/* --- points --- */

void pim_sweep_locate(const struct pim_sweep *sweep, uint64_t number, struct pim_sweep_point *point)
{
    *point = (struct pim_sweep_point){.number = number};
    point->repeat = number % sweep->repeats;
    number /= sweep->repeats;
    for (size_t a = sweep->axis_count; a-- > 0;) {
        point->value[a] = (size_t)(number % sweep->axes[a].count);
        number /= sweep->axes[a].count;
    }
    point->source = number;
    uint64_t state = sweep->seed + point->repeat; /* repeat 0 has the seed itself */
    point->seed = point->repeat == 0 ? sweep->seed : pim_splitmix64(&state) >> 1; /* fits an SQLite integer */
}

struct place {
    const struct pim_sweep *sweep;
    const struct pim_sweep_point *point;
    struct pim_arena texts;
};

static struct pim_expression_value value_of_base(struct place *place, const char *name)
{
    const struct pim_configuration *base = place->sweep->sources[place->point->source].configuration;
    struct pim_expression_value value = {NULL, 0};
    const struct pim_key *key = NULL;
    char text[128];
    for (size_t i = 0; i < pim_hardware_schema.count; i++)
        if (strcmp(pim_hardware_schema.keys[i].path, name) == 0)
            key = &pim_hardware_schema.keys[i];
    assert(key); /* known_key() let it through */
    switch (key->type) {
    case PIM_KEY_INTEGER:
        value.number = (double)pim_configuration_integer(base, name);
        break;
    case PIM_KEY_REAL:
        value.number = pim_configuration_real(base, name);
        break;
    case PIM_KEY_BOOLEAN:
        value.text = pim_configuration_boolean(base, name) ? "true" : "false";
        break;
    case PIM_KEY_CHOICE:
        (void)pim_key_choice(key, pim_configuration_choice(base, name), text, sizeof text);
        value.text = pim_arena_copy_text(&place->texts, text);
        break;
    case PIM_KEY_TEXT:
        value.text = pim_configuration_text(base, name);
        break;
    case PIM_KEY_INTEGER_LIST: /* known_key() refuses it */
        break;
    }
    return value;
}

static struct pim_expression_value look_up(void *context, const char *name)
{
    struct place *place = context;
    const struct pim_sweep *sweep = place->sweep;
    for (size_t a = 0; a < sweep->axis_count; a++)
        for (size_t i = 0; i < sweep->axes[a].key_count; i++) {
            const struct pim_sweep_key *key = &sweep->axes[a].keys[i];
            if (strcmp(key->name, name) != 0)
                continue;
            const struct pim_sweep_value *value = &key->values[place->point->value[a]];
            return (struct pim_expression_value){value->kind == PIM_SWEEP_TEXT ? value->text : NULL,
                                                 value->kind == PIM_SWEEP_INTEGER ? (double)value->integer
                                                                                  : value->real};
        }
    return value_of_base(place, name);
}

enum pim_status pim_sweep_admits(const struct pim_sweep *sweep, const struct pim_sweep_point *point,
                                 bool *admitted, struct pim_error *error)
{
    struct place place = {.sweep = sweep, .point = point};
    enum pim_status status = PIM_OK;
    *admitted = true;
    pim_arena_initialize(&place.texts, 256);
    for (size_t i = 0; status == PIM_OK && *admitted && i < sweep->conditions.count; i++)
        status = pim_expression_evaluate(sweep->constraints[i], look_up, &place, admitted, error);
    pim_arena_terminate(&place.texts);
    return status;
}

enum pim_status pim_sweep_count(const struct pim_sweep *sweep, uint64_t *count, struct pim_error *error)
{
    *count = sweep->conditions.count == 0 ? sweep->numbers : 0;
    for (uint64_t number = 0; sweep->conditions.count > 0 && number < sweep->numbers; number++) {
        struct pim_sweep_point point;
        bool admitted = false;
        pim_sweep_locate(sweep, number, &point);
        if (pim_sweep_admits(sweep, &point, &admitted, error) != PIM_OK)
            return error->status;
        *count += admitted;
    }
    return PIM_OK;
}

enum pim_status pim_sweep_set_axes(const struct pim_sweep *sweep, const struct pim_sweep_point *point,
                                   bool of_network, struct pim_configuration *configuration,
                                   struct pim_error *error)
{
    for (size_t a = 0; a < sweep->axis_count; a++)
        for (size_t i = 0; i < sweep->axes[a].key_count; i++) {
            const struct pim_sweep_key *key = &sweep->axes[a].keys[i];
            char assignment[8192 + 512];
            if (key->of_network != of_network)
                continue;
            (void)snprintf(assignment, sizeof assignment, "%s=%s", key->name,
                           key->values[point->value[a]].text);
            if (pim_configuration_set(configuration, assignment, error) != PIM_OK)
                return error->status;
        }
    return PIM_OK;
}

enum pim_status pim_sweep_configure(const struct pim_sweep *sweep, const struct pim_sweep_point *point,
                                    bool base_only, struct pim_configuration **configuration,
                                    struct pim_error *error)
{
    const char *base = sweep->sources[point->source].base;
    enum pim_status status = pim_configuration_create(&pim_hardware_schema, configuration, error);
    if (status == PIM_OK)
        status = pim_configuration_read_text(*configuration, "base configuration", base, strlen(base), error);
    if (status == PIM_OK && !base_only)
        status = pim_sweep_set_axes(sweep, point, false, *configuration, error);
    if (status == PIM_OK)
        status = pim_configuration_complete(*configuration, error);
    if (status != PIM_OK) {
        pim_configuration_destroy(*configuration);
        *configuration = NULL;
    }
    return status;
}

enum pim_status pim_sweep_network_sets(const struct pim_sweep *sweep, const struct pim_sweep_point *point,
                                       const struct pim_map_words *words, struct pim_arena *arena,
                                       const char ***sets, size_t *count, struct pim_error *error)
{
    size_t room = sweep->network_sets.count + words->set_count + PIM_SWEEP_KEYS_MOST;
    const char **items = *sets = PIM_ARENA_ARRAY(arena, const char *, room);
    *count = 0;
    if (!items)
        return pim_fail(error, PIM_NO_MEMORY, "out of memory for the settings of a network");
    for (size_t i = 0; i < words->set_count; i++)
        if (pim_sweep_of_network(words->sets[i]))
            items[(*count)++] = words->sets[i];
    for (size_t i = 0; i < sweep->network_sets.count; i++)
        items[(*count)++] = sweep->network_sets.items[i];
    for (size_t a = 0; a < sweep->axis_count; a++)
        for (size_t i = 0; i < sweep->axes[a].key_count; i++) {
            const struct pim_sweep_key *key = &sweep->axes[a].keys[i];
            char set[8192 + 512];
            if (!key->of_network)
                continue;
            (void)snprintf(set, sizeof set, "%s=%s", key->name, key->values[point->value[a]].text);
            items[(*count)++] = pim_arena_copy_text(arena, set);
        }
    return PIM_OK;
}

enum pim_status pim_sweep_read_network(const struct pim_sweep *sweep, const struct pim_sweep_point *point,
                                       bool as_read, struct pim_network **network, struct pim_error *error)
{
    static const struct pim_mapper any = {.transformers = PIM_TRANSFORMERS_AS_READ};
    const struct pim_sweep_source *source = &sweep->sources[point->source];
    struct pim_map_words words;
    struct pim_arena arena;
    const char **sets = NULL;
    size_t count = 0;
    *network = NULL;
    if (pim_map_words_parse(source->mapper, &words, error) != PIM_OK)
        return error->status;
    pim_arena_initialize(&arena, 4096);
    enum pim_status status = pim_sweep_network_sets(sweep, point, &words, &arena, &sets, &count, error);
    if (status == PIM_OK) {
        const struct pim_map_request request = {.mapper = as_read ? &any : words.mapper,
                                                .network = source->network,
                                                .network_sets = sets,
                                                .network_set_count = count,
                                                .dimensions = words.dimensions,
                                                .dimension_count = words.dimension_count};
        status = pim_map_read_network(&request, network, error);
    }
    pim_arena_terminate(&arena);
    pim_map_words_terminate(&words);
    return status;
}

/* An ONNX file has no keys; its bytes tell it. */
static enum pim_status hash_network(const struct pim_sweep *sweep, const struct pim_sweep_source *source,
                                    char **content, struct pim_error *error)
{
    char *text;
    size_t size;
    bool varies = sweep->network_sets.count > 0;
    for (size_t a = 0; a < sweep->axis_count; a++)
        for (size_t i = 0; i < sweep->axes[a].key_count; i++)
            varies = varies || sweep->axes[a].keys[i].of_network;
    if (varies)
        return pim_fail(error, PIM_BAD_INPUT, "%s: %s has no keys of a network that could be set",
                        source->network, pim_network_source_name(pim_network_source_of(source->network)));
    if (pim_file_read(source->network, PIM_SWEEP_NETWORK_BYTES, "a network", &text, &size, error) != PIM_OK)
        return error->status;
    XXH128_hash_t hash = XXH3_128bits(text, size);
    free(text);
    *content = malloc(64);
    if (!*content)
        return pim_fail(error, PIM_NO_MEMORY, "out of memory for a network");
    (void)snprintf(*content, 64, "%s %016" PRIx64 "%016" PRIx64,
                   pim_network_source_of(source->network) == PIM_NETWORK_ONNX ? "onnx" : "table",
                   (uint64_t)hash.high64, (uint64_t)hash.low64);
    return PIM_OK;
}

enum pim_status pim_sweep_network_content(const struct pim_sweep *sweep,
                                          const struct pim_sweep_source *source,
                                          const struct pim_sweep_point *point, char **content,
                                          struct pim_error *error)
{
    struct pim_configuration *configuration = NULL;
    *content = NULL;
    if (pim_network_source_of(source->network) != PIM_NETWORK_DESCRIPTOR)
        return hash_network(sweep, source, content, error);
    enum pim_status status = pim_configuration_create(&pim_network_schema, &configuration, error);
    if (status == PIM_OK)
        status = pim_configuration_read_file(configuration, source->network, error);
    for (size_t i = 0; status == PIM_OK && i < sweep->network_sets.count; i++)
        status = pim_configuration_set(configuration, sweep->network_sets.items[i], error);
    if (status == PIM_OK && point)
        status = pim_sweep_set_axes(sweep, point, true, configuration, error);
    if (status == PIM_OK) {
        *content = pim_configuration_write(configuration, false);
        if (!*content)
            status = pim_fail(error, PIM_NO_MEMORY, "out of memory for a network");
    }
    pim_configuration_destroy(configuration);
    return status;
}
