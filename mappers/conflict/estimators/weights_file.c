/* Weights as JSON: written, and read back with every value checked. */
#include "mappers/conflict/estimators/weights.h"

#include "sim/output/output.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define FORMAT "pimsim conflict estimators"
enum { FORMAT_VERSION = 1, FILE_BYTES = 1 << 26, TEXT_BYTES = 1 << 20 };

/* --- writing --- */

static void put_population(struct pim_json *json, const struct pim_tile_population *population)
{
    pim_json_begin_object(json, NULL);
    pim_json_put_text(json, "sort", pim_tile_sort_name(population->sort));
    pim_json_put_count(json, "seed", population->seed);
    pim_json_put_count(json, "generations", population->generations);
    pim_json_put_count(json, "mappings", population->count);
    pim_json_put_count(json, "left_out", population->still);
    pim_json_end(json);
}

static void put_populations(struct pim_json *json, const char *key, const struct pim_tile_weights *weights,
                            uint32_t first, uint32_t last)
{
    pim_json_begin_array(json, key);
    for (uint32_t p = first; p < last; p++)
        put_population(json, &weights->population[p]);
    pim_json_end(json);
}

static void put_estimator(struct pim_json *json, const struct pim_tile_estimator *estimator)
{
    pim_json_begin_object(json, NULL);
    pim_json_put_text(json, "name", pim_tile_estimator_name(estimator->kind));
    pim_json_put_real(json, "log_latency_mean", estimator->mean);
    pim_json_put_real(json, "log_latency_deviation", estimator->deviation);
    pim_json_begin_array(json, "layers");
    for (size_t l = 0; l < estimator->layers; l++) {
        pim_json_begin_array(json, NULL);
        pim_json_put_count(json, NULL, estimator->layer[l].inputs);
        pim_json_put_count(json, NULL, estimator->layer[l].outputs);
        pim_json_end(json);
    }
    pim_json_end(json);
    pim_json_begin_array(json, "parameters");
    for (size_t i = 0; i < estimator->parameters; i++)
        pim_json_put_real(json, NULL, estimator->parameter[i]);
    pim_json_end(json);
    pim_json_end(json);
}

enum pim_status pim_tile_weights_print(const struct pim_tile_weights *weights, FILE *file,
                                       struct pim_error *error)
{
    struct pim_json *json = pim_json_create();
    uint32_t learnt = weights->populations - weights->held_out;
    if (!json)
        return pim_fail(error, PIM_NO_MEMORY, "out of memory for the weights");
    pim_json_put_text(json, "format", FORMAT);
    pim_json_put_count(json, "format_version", FORMAT_VERSION);
    pim_json_put_text(json, "pimsim", weights->version);
    pim_json_put_text(json, "network", weights->network);
    pim_json_put_text(json, "graph", weights->graph);
    pim_json_put_count(json, "nodes", weights->nodes);
    pim_json_put_count(json, "edges", weights->edges);
    pim_json_put_count(json, "images", weights->images);
    pim_json_put_text(json, "configuration", weights->configuration);
    pim_json_put_count(json, "seed", weights->seed);
    pim_json_put_count(json, "population", weights->size);
    pim_json_put_count(json, "epochs", weights->epochs);
    pim_json_put_count(json, "batch", weights->batch);
    put_populations(json, "trained_on", weights, 0, learnt);
    put_populations(json, "held_out", weights, learnt, weights->populations);
    pim_json_begin_array(json, "estimators");
    for (unsigned kind = 0; kind < PIM_TILE_ESTIMATORS; kind++)
        put_estimator(json, &weights->estimator[kind]);
    pim_json_end(json);
    enum pim_status status = pim_json_write(json, file, error);
    pim_json_destroy(json);
    return status;
}

enum pim_status pim_tile_weights_write(const struct pim_tile_weights *weights, const char *path,
                                       struct pim_error *error)
{
    struct pim_output *output;
    if (pim_output_open(&output, path, error) != PIM_OK)
        return error->status;
    if (pim_tile_weights_print(weights, pim_output_file(output), error) != PIM_OK) {
        pim_output_abandon(output);
        return pim_fail_in(error, "%s", path);
    }
    return pim_output_commit(output, error);
}

/* --- reading --- */

static enum pim_status take_text(const json_t *object, const char *key, char **text, struct pim_error *error)
{
    const json_t *value = json_object_get(object, key);
    size_t length = json_string_length(value);
    if (!json_is_string(value) || length == 0 || length > TEXT_BYTES)
        return pim_fail(error, PIM_BAD_INPUT, "\"%s\": a text of 1 to %d bytes is expected", key, TEXT_BYTES);
    *text = malloc(length + 1);
    if (!*text)
        return pim_fail(error, PIM_NO_MEMORY, "no memory for \"%s\"", key);
    memcpy(*text, json_string_value(value), length + 1);
    return PIM_OK;
}

static enum pim_status take_count(const json_t *object, const char *key, int64_t least, int64_t most,
                                  uint64_t *count, struct pim_error *error)
{
    const json_t *value = json_object_get(object, key);
    json_int_t got = json_integer_value(value);
    if (!json_is_integer(value) || got < least || got > most)
        return pim_fail(error, PIM_BAD_INPUT,
                        "\"%s\": an integer from %" PRId64 " to %" PRId64 " is expected", key, least, most);
    *count = (uint64_t)got;
    return PIM_OK;
}

static enum pim_status take_real(const json_t *value, const char *what, double *real, struct pim_error *error)
{
    *real = json_number_value(value);
    if (!json_is_number(value) || !isfinite(*real))
        return pim_fail(error, PIM_BAD_INPUT, "%s: a number is expected", what);
    return PIM_OK;
}

static enum pim_status take_population(const json_t *object, struct pim_tile_population *population,
                                       struct pim_error *error)
{
    uint64_t count = 0, still = 0;
    const char *sort = json_string_value(json_object_get(object, "sort"));
    unsigned found = 0;
    while (found < PIM_TILE_SORTS && (!sort || strcmp(sort, pim_tile_sort_name(found)) != 0))
        found++;
    if (found == PIM_TILE_SORTS)
        return pim_fail(error, PIM_BAD_INPUT, "\"sort\": there is no such sort of populations");
    population->sort = (enum pim_tile_sort)found;
    if (take_count(object, "seed", 0, INT64_MAX, &population->seed, error) != PIM_OK ||
        take_count(object, "generations", 0, 1000000, &population->generations, error) != PIM_OK ||
        take_count(object, "mappings", 0, 65536, &count, error) != PIM_OK ||
        take_count(object, "left_out", 0, 65536, &still, error) != PIM_OK)
        return error->status;
    population->count = (uint32_t)count;
    population->still = (uint32_t)still;
    return PIM_OK;
}

static enum pim_status take_populations(const json_t *root, struct pim_tile_weights *weights,
                                        struct pim_error *error)
{
    static const char *const keys[] = {"trained_on", "held_out"};
    size_t counts[2], at = 0;
    for (unsigned i = 0; i < 2; i++) {
        const json_t *list = json_object_get(root, keys[i]);
        counts[i] = json_array_size(list);
        if (!json_is_array(list) || counts[i] > (size_t)PIM_TILE_POPULATIONS * PIM_TILE_SORTS)
            return pim_fail(error, PIM_BAD_INPUT, "\"%s\": a list of at most %d populations is expected",
                            keys[i], PIM_TILE_POPULATIONS * PIM_TILE_SORTS);
    }
    weights->population = calloc(counts[0] + counts[1] + 1, sizeof *weights->population);
    if (!weights->population)
        return pim_fail(error, PIM_NO_MEMORY, "no memory for %zu populations", counts[0] + counts[1]);
    weights->populations = (uint32_t)(counts[0] + counts[1]);
    weights->held_out = (uint32_t)counts[1];
    for (unsigned i = 0; i < 2; i++)
        for (size_t p = 0; p < counts[i]; p++)
            if (take_population(json_array_get(json_object_get(root, keys[i]), p), &weights->population[at++],
                                error) != PIM_OK)
                return pim_fail_in(error, "\"%s\"[%zu]", keys[i], p);
    return PIM_OK;
}

/* The sizes in the file are those of this version's network, or the file is refused. */
static enum pim_status check_layers(const json_t *list, const struct pim_tile_estimator *estimator,
                                    struct pim_error *error)
{
    bool good = json_array_size(list) == estimator->layers;
    for (size_t l = 0; good && l < estimator->layers; l++) {
        const json_t *sizes = json_array_get(list, l);
        const json_t *inputs = json_array_get(sizes, 0), *outputs = json_array_get(sizes, 1);
        good = json_array_size(sizes) == 2 && json_is_integer(inputs) && json_is_integer(outputs) &&
               json_integer_value(inputs) == (json_int_t)estimator->layer[l].inputs &&
               json_integer_value(outputs) == (json_int_t)estimator->layer[l].outputs;
    }
    return good ? PIM_OK
                : pim_fail(error, PIM_BAD_INPUT,
                           "\"layers\": the %zu layers [inputs, outputs] of this version's %s are expected, "
                           "the first with %zu inputs",
                           estimator->layers, pim_tile_estimator_name(estimator->kind),
                           estimator->layer[0].inputs);
}

static enum pim_status take_estimator(const json_t *object, struct pim_tile_estimator *estimator,
                                      struct pim_error *error)
{
    const char *name = json_string_value(json_object_get(object, "name"));
    const json_t *list = json_object_get(object, "parameters");
    char what[64];
    if (!name || strcmp(name, pim_tile_estimator_name(estimator->kind)) != 0)
        return pim_fail(error, PIM_BAD_INPUT, "\"name\": %s is expected here",
                        pim_tile_estimator_name(estimator->kind));
    if (take_real(json_object_get(object, "log_latency_mean"), "\"log_latency_mean\"", &estimator->mean,
                  error) != PIM_OK ||
        take_real(json_object_get(object, "log_latency_deviation"), "\"log_latency_deviation\"",
                  &estimator->deviation, error) != PIM_OK ||
        check_layers(json_object_get(object, "layers"), estimator, error) != PIM_OK)
        return error->status;
    if (estimator->deviation < 0)
        return pim_fail(error, PIM_BAD_INPUT, "\"log_latency_deviation\": it is below 0");
    if (!json_is_array(list) || json_array_size(list) != estimator->parameters)
        return pim_fail(error, PIM_BAD_INPUT, "\"parameters\": a list of %zu numbers is expected",
                        estimator->parameters);
    for (size_t i = 0; i < estimator->parameters; i++) {
        (void)snprintf(what, sizeof what, "\"parameters\"[%zu]", i);
        if (take_real(json_array_get(list, i), what, &estimator->parameter[i], error) != PIM_OK)
            return error->status;
    }
    return PIM_OK;
}

static enum pim_status take_head(struct pim_tile_weights *weights, const json_t *root,
                                 struct pim_error *error)
{
    const char *format = json_string_value(json_object_get(root, "format"));
    const char *graph = json_string_value(json_object_get(root, "graph"));
    uint64_t version = 0, nodes = 0, edges = 0, images = 0, size = 0, epochs = 0, batch = 0;
    if (!format || strcmp(format, FORMAT) != 0)
        return pim_fail(error, PIM_BAD_INPUT,
                        "\"format\": \"" FORMAT "\" is expected: is this what --train wrote?");
    if (take_count(root, "format_version", 1, INT32_MAX, &version, error) != PIM_OK)
        return error->status;
    if (version != FORMAT_VERSION)
        return pim_fail(error, PIM_BAD_INPUT, "\"format_version\": %" PRIu64 ": this version reads %d",
                        version, FORMAT_VERSION);
    if (!graph || strlen(graph) != 16 || strspn(graph, "0123456789abcdef") != 16)
        return pim_fail(error, PIM_BAD_INPUT, "\"graph\": 16 hexadecimal digits are expected");
    memcpy(weights->graph, graph, 17);
    if (take_text(root, "pimsim", &weights->version, error) != PIM_OK ||
        take_text(root, "network", &weights->network, error) != PIM_OK ||
        take_text(root, "configuration", &weights->configuration, error) != PIM_OK ||
        take_count(root, "nodes", 1, PIM_TILE_NODES, &nodes, error) != PIM_OK ||
        take_count(root, "edges", 1, PIM_TILE_VIEW_EDGES, &edges, error) != PIM_OK ||
        take_count(root, "images", 1, 65535, &images, error) != PIM_OK ||
        take_count(root, "seed", 0, INT64_MAX, &weights->seed, error) != PIM_OK ||
        take_count(root, "population", 2, 65536, &size, error) != PIM_OK ||
        take_count(root, "epochs", 0, 1000000, &epochs, error) != PIM_OK ||
        take_count(root, "batch", 1, 65536, &batch, error) != PIM_OK)
        return error->status;
    weights->nodes = (uint32_t)nodes;
    weights->edges = (uint32_t)edges;
    weights->images = (uint32_t)images;
    weights->size = (uint32_t)size;
    weights->epochs = (uint32_t)epochs;
    weights->batch = (uint32_t)batch;
    return PIM_OK;
}

enum pim_status pim_tile_weights_take(struct pim_tile_weights *weights, const json_t *root,
                                      struct pim_error *error)
{
    *weights = (struct pim_tile_weights){0};
    const json_t *list = json_object_get(root, "estimators");
    if (take_head(weights, root, error) != PIM_OK || take_populations(root, weights, error) != PIM_OK)
        return error->status;
    if (json_array_size(list) != PIM_TILE_ESTIMATORS)
        return pim_fail(error, PIM_BAD_INPUT, "\"estimators\": a list of %d is expected",
                        PIM_TILE_ESTIMATORS);
    for (unsigned kind = 0; kind < PIM_TILE_ESTIMATORS; kind++) {
        if (pim_tile_estimator_make(&weights->estimator[kind], (enum pim_tile_estimator_kind)kind,
                                    weights->edges, error) != PIM_OK)
            return error->status;
        if (take_estimator(json_array_get(list, kind), &weights->estimator[kind], error) != PIM_OK)
            return pim_fail_in(error, "\"estimators\"[%u]", kind);
    }
    return PIM_OK;
}

enum pim_status pim_tile_weights_read(struct pim_tile_weights *weights, const char *path,
                                      struct pim_error *error)
{
    json_t *root;
    *weights = (struct pim_tile_weights){0};
    if (pim_json_read(path, FILE_BYTES, &root, error) != PIM_OK)
        return error->status;
    enum pim_status status = pim_tile_weights_take(weights, root, error);
    json_decref(root);
    return status == PIM_OK ? PIM_OK : pim_fail_in(error, "%s", path);
}
