/* Cases as JSON. */
#include "mappers/overlapim/analysis/case/case.h"

#include "sim/output/json.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct reading {
    const char *name;
    struct pim_error *error;
};

static enum pim_status refuse(const struct reading *reading, const char *place, const char *what)
{
    return pim_fail(reading->error, PIM_BAD_INPUT, "%s: %s: %s", reading->name, place, what);
}

/* A whole number from `least` to `most`. */
static bool count_of(json_t *value, uint64_t least, uint64_t most, uint64_t *count)
{
    if (!json_is_integer(value) || json_integer_value(value) < 0)
        return false;
    *count = (uint64_t)json_integer_value(value);
    return *count >= least && *count <= most;
}

static bool flag_of(json_t *value, bool *flag)
{
    uint64_t count = 0;
    if (json_is_boolean(value) || count_of(value, 0, 1, &count)) {
        *flag = json_is_boolean(value) ? json_is_true(value) : count == 1;
        return true;
    }
    return false;
}

static enum pim_status take_dimensions(const struct reading *reading, const char *place, json_t *value,
                                       struct pim_workload *workload)
{
    const char *key;
    json_t *item;
    if (!json_is_object(value))
        return refuse(reading, place, "dims must be an object of N, K, C, P, Q, R and S");
    json_object_foreach(value, key, item)
    {
        unsigned d = pim_dimension_find(key);
        uint64_t count = 0;
        if (d == PIM_DIMENSIONS || !count_of(item, 1, PIM_NEST_EXTENT, &count))
            return pim_fail(reading->error, PIM_BAD_INPUT,
                            "%s: %s: dims: %.20s: allowed are N, K, C, P, Q, R and S from 1 to %d",
                            reading->name, place, key, PIM_NEST_EXTENT);
        workload->size[d] = (uint32_t)count;
    }
    return PIM_OK;
}

static bool take_pair(json_t *value, uint32_t pair[2])
{
    uint64_t count[2];
    if (!json_is_array(value) || json_array_size(value) != 2 ||
        !count_of(json_array_get(value, 0), 0, PIM_NEST_EXTENT, &count[0]) ||
        !count_of(json_array_get(value, 1), 0, PIM_NEST_EXTENT, &count[1]))
        return false;
    pair[0] = (uint32_t)count[0];
    pair[1] = (uint32_t)count[1];
    return true;
}

static enum pim_status take_nest(const struct reading *reading, const char *place, json_t *value,
                                 struct pim_nest *nest)
{
    if (!json_is_array(value) || json_array_size(value) > PIM_NEST_LOOPS)
        return refuse(reading, place, "nest must be an array of at most 48 loops");
    for (size_t i = 0; i < json_array_size(value); i++) {
        json_t *loop = json_array_get(value, i);
        const char *dimension = json_string_value(json_array_get(loop, 0));
        const char *kind = json_string_value(json_array_get(loop, 2));
        uint64_t count = 0;
        unsigned d = dimension ? pim_dimension_find(dimension) : PIM_DIMENSIONS;
        if (!json_is_array(loop) || json_array_size(loop) != 3 || d == PIM_DIMENSIONS || !kind ||
            (strcmp(kind, "T") != 0 && strcmp(kind, "S") != 0) ||
            !count_of(json_array_get(loop, 1), 1, PIM_NEST_EXTENT, &count))
            return pim_fail(reading->error, PIM_BAD_INPUT,
                            "%s: %s: nest[%zu] must be [dimension, count, \"T\" or \"S\"]", reading->name,
                            place, i);
        nest->loop[nest->loops++] = (struct pim_nest_loop){
            .dimension = (uint8_t)d, .spatial = kind[0] == 'S', .count = (uint32_t)count};
    }
    return PIM_OK;
}

static enum pim_status take_layer(const struct reading *reading, const char *place, json_t *value,
                                  struct pim_overlap_layer *layer)
{
    const char *key;
    json_t *item;
    bool nest = false, cut = false;
    uint64_t count = 0;
    pim_overlap_layer_initialize(layer);
    (void)snprintf(layer->name, sizeof layer->name, "%s", place);
    if (!json_is_object(value))
        return refuse(reading, place, "must be a layer: an object of dims, stride, pad, dil, nest and cut");
    json_object_foreach(value, key, item)
    {
        bool good = true;
        if (strcmp(key, "dims") == 0) {
            if (take_dimensions(reading, place, item, &layer->workload) != PIM_OK)
                return reading->error->status;
        } else if (strcmp(key, "nest") == 0) {
            nest = true;
            if (take_nest(reading, place, item, &layer->nest) != PIM_OK)
                return reading->error->status;
        } else if (strcmp(key, "stride") == 0)
            good = take_pair(item, layer->workload.stride);
        else if (strcmp(key, "pad") == 0)
            good = take_pair(item, layer->workload.padding);
        else if (strcmp(key, "dil") == 0)
            good = take_pair(item, layer->workload.dilation);
        else if (strcmp(key, "groups") == 0) {
            good = count_of(item, 1, PIM_NEST_EXTENT, &count);
            layer->workload.groups = (uint32_t)count;
        } else if (strcmp(key, "cut") == 0) {
            cut = good = count_of(item, 0, PIM_NEST_LOOPS, &count);
            layer->nest.cut = (uint32_t)count;
        } else if (strcmp(key, "name") == 0 && json_is_string(item))
            (void)snprintf(layer->name, sizeof layer->name, "%s", json_string_value(item));
        else
            return pim_fail(reading->error, PIM_BAD_INPUT,
                            "%s: %s: unknown key \"%.40s\": a layer has name, dims, stride, pad, dil, "
                            "groups, nest and cut",
                            reading->name, place, key);
        if (!good)
            return pim_fail(reading->error, PIM_BAD_INPUT,
                            "%s: %s: %.40s: not a number (stride, pad and dil: a pair) in its range",
                            reading->name, place, key);
    }
    return nest && cut ? PIM_OK : refuse(reading, place, "nest or cut is missing");
}

static enum pim_status take_link(const struct reading *reading, const char *place, json_t *value,
                                 struct pim_link *link)
{
    const char *key;
    json_t *item;
    if (!json_is_object(value))
        return refuse(reading, place, "must be an object, {} for a plain link");
    json_object_foreach(value, key, item)
    {
        uint64_t number[3] = {0};
        bool good = false;
        if (strcmp(key, "pool") == 0) {
            good = json_is_array(item) && json_array_size(item) == 3;
            for (size_t i = 0; i < 3 && good; i++)
                good = count_of(json_array_get(item, i), i < 2, PIM_NEST_EXTENT, &number[i]);
            link->pool_kernel = (uint32_t)number[0];
            link->pool_stride = (uint32_t)number[1];
            link->pool_padding = (uint32_t)number[2];
        } else if (strcmp(key, "flatten") == 0)
            good = flag_of(item, &link->flatten);
        else if (strcmp(key, "first_channel") == 0) {
            good = count_of(item, 0, PIM_NEST_EXTENT, &number[0]);
            link->first_channel = (uint32_t)number[0];
        } else if (strcmp(key, "X") == 0) {
            good = count_of(item, 0, PIM_OVERLAP_TIME, &number[0]);
            link->transfer = number[0];
        } else if (strcmp(key, "head") == 0) {
            good = count_of(item, 0, PIM_OVERLAP_TIME, &number[0]);
            link->head = number[0];
        } else if (strcmp(key, "producer") == 0) {
            good = count_of(item, 0, PIM_CASE_LAYERS, &number[0]);
            link->producer = (uint32_t)number[0];
        } else if (strcmp(key, "role") == 0) {
            const char *role = json_is_string(item) ? json_string_value(item) : "";
            for (unsigned r = 0; r < PIM_LINK_ROLES; r++) {
                if (strcmp(role, pim_link_role_name(r)) == 0) {
                    link->role = (enum pim_link_role)r;
                    good = true;
                }
            }
        }
        if (!good)
            return pim_fail(reading->error, PIM_BAD_INPUT,
                            "%s: %s: \"%.40s\": a link has pool [kernel, stride, padding], flatten, "
                            "first_channel, X, head, producer and role (input, rows, columns, whole)",
                            reading->name, place, key);
    }
    return PIM_OK;
}

/* links: an object, or an array of them; `from` and `transfer` are their defaults. */
static enum pim_status take_links(const struct reading *reading, const char *place, json_t *value,
                                  struct pim_link plain, struct pim_overlap_layer *layer)
{
    size_t count = json_is_array(value) ? json_array_size(value) : 1;
    if (count > PIM_CASE_LINKS)
        return refuse(reading, place, "more than 256 links");
    layer->link = calloc(count + 1, sizeof *layer->link);
    if (!layer->link)
        return pim_fail(reading->error, PIM_NO_MEMORY, "%s: out of memory", reading->name);
    layer->links = (uint32_t)count;
    for (size_t i = 0; i < count; i++) {
        layer->link[i] = plain;
        json_t *item = json_is_array(value) ? json_array_get(value, i) : value;
        if (item && take_link(reading, place, item, &layer->link[i]) != PIM_OK)
            return reading->error->status;
    }
    return PIM_OK;
}

static enum pim_status take_latency(const struct reading *reading, const char *place, json_t *value,
                                    uint64_t *latency)
{
    return count_of(value, 1, PIM_OVERLAP_TIME, latency)
               ? PIM_OK
               : refuse(reading, place, "the latency of a step must be a number of ticks, at least 1");
}

static enum pim_status take_pair_of_layers(const struct reading *reading, json_t *root, struct pim_case *kase)
{
    struct pim_link link = {0};
    kase->layers = 2;
    kase->layer = calloc(2, sizeof *kase->layer);
    if (!kase->layer)
        return pim_fail(reading->error, PIM_NO_MEMORY, "%s: out of memory", reading->name);
    json_t *transfer = json_object_get(root, "X");
    if (transfer && !count_of(transfer, 0, PIM_OVERLAP_TIME, &link.transfer))
        return refuse(reading, "X", "must be a number of ticks");
    if (take_layer(reading, "producer", json_object_get(root, "producer"), &kase->layer[0]) != PIM_OK ||
        take_layer(reading, "consumer", json_object_get(root, "consumer"), &kase->layer[1]) != PIM_OK ||
        take_latency(reading, "L1", json_object_get(root, "L1"), &kase->layer[0].latency) != PIM_OK ||
        take_latency(reading, "L2", json_object_get(root, "L2"), &kase->layer[1].latency) != PIM_OK)
        return reading->error->status;
    json_t *value = json_object_get(root, "link");
    if (json_is_array(value) && json_array_size(value) == 0)
        return refuse(reading, "link", "a pair needs a link: an object or an array of them, or no key");
    return take_links(reading, "link", value, link, &kase->layer[1]);
}

static enum pim_status take_chain_layer(const struct reading *reading, json_t *root, uint32_t index,
                                        uint64_t transfer, struct pim_overlap_layer *layer)
{
    char place[32];
    (void)snprintf(place, sizeof place, "layers[%" PRIu32 "]", index);
    if (take_layer(reading, place, json_array_get(json_object_get(root, "layers"), index), layer) != PIM_OK)
        return reading->error->status;
    json_t *latencies = json_object_get(root, "L");
    json_t *links = json_array_get(json_object_get(root, "links"), index);
    (void)snprintf(place, sizeof place, "L[%" PRIu32 "]", index);
    if (take_latency(reading, place, json_array_get(latencies, index), &layer->latency) != PIM_OK)
        return reading->error->status;
    if (index == 0)
        return !links || (json_is_array(links) && json_array_size(links) == 0)
                   ? PIM_OK
                   : refuse(reading, "links[0]", "the first layer reads from none: must be []");
    struct pim_link plain = {.producer = index - 1, .transfer = transfer};
    (void)snprintf(place, sizeof place, "links[%" PRIu32 "]", index);
    return take_links(reading, place, links, plain, layer);
}

static enum pim_status take_chain(const struct reading *reading, json_t *root, struct pim_case *kase)
{
    json_t *layers = json_object_get(root, "layers");
    uint64_t transfer = 0;
    bool transformed = false;
    json_t *x = json_object_get(root, "X"), *transform = json_object_get(root, "transform_middle");
    if (!json_is_array(layers) || json_array_size(layers) == 0 || json_array_size(layers) > PIM_CASE_LAYERS)
        return refuse(reading, "layers", "must be an array of 1 to 1024 layers");
    if (!json_is_array(json_object_get(root, "L")) ||
        json_array_size(json_object_get(root, "L")) != json_array_size(layers))
        return refuse(reading, "L", "must be an array of latencies, one a layer");
    if (x && !count_of(x, 0, PIM_OVERLAP_TIME, &transfer))
        return refuse(reading, "X", "must be a number of ticks");
    if (transform && !flag_of(transform, &transformed))
        return refuse(reading, "transform_middle", "must be 0 or 1");
    json_t *links = json_object_get(root, "links");
    if (links && (!json_is_array(links) || json_array_size(links) != json_array_size(layers)))
        return refuse(reading, "links", "must be an array, one entry a layer");
    kase->chain = true;
    kase->layer = calloc(json_array_size(layers), sizeof *kase->layer);
    if (!kase->layer)
        return pim_fail(reading->error, PIM_NO_MEMORY, "%s: out of memory", reading->name);
    for (uint32_t i = 0; i < json_array_size(layers); i++) {
        kase->layers = i + 1;
        if (take_chain_layer(reading, root, i, transfer, &kase->layer[i]) != PIM_OK)
            return reading->error->status;
        kase->layer[i].transformed = transformed && i > 0 && i + 1 < json_array_size(layers);
    }
    return PIM_OK;
}

/* What is no part of the format must be text for the reader. */
static enum pim_status check_keys(const struct reading *reading, json_t *root)
{
    static const char *const pair[] = {"producer", "consumer", "link", "L1", "L2", "X", "expect", NULL};
    static const char *const chain[] = {"layers", "L", "X", "transform_middle", "links", "expect", NULL};
    const char *const *known = json_object_get(root, "layers") ? chain : pair;
    const char *key;
    json_t *item;
    json_object_foreach(root, key, item)
    {
        unsigned i = 0;
        while (known[i] && strcmp(known[i], key) != 0)
            i++;
        if (!known[i] && !json_is_string(item))
            return pim_fail(reading->error, PIM_BAD_INPUT,
                            "%s: unknown key \"%.40s\": a case has producer, consumer, link, L1, L2 and X, "
                            "or layers, L, X, links and transform_middle",
                            reading->name, key);
    }
    return PIM_OK;
}

enum pim_status pim_case_parse_json(const char *name, const char *text, size_t length, struct pim_case *kase,
                                    struct pim_error *error)
{
    json_t *root = NULL;
    struct reading reading = {name, error};
    memset(kase, 0, sizeof *kase);
    if (pim_json_parse(name, text, length, &root, error) != PIM_OK)
        return error->status;
    enum pim_status status =
        json_is_object(root) ? check_keys(&reading, root) : refuse(&reading, "case", "must be an object");
    if (status == PIM_OK)
        status = json_object_get(root, "layers") ? take_chain(&reading, root, kase)
                                                 : take_pair_of_layers(&reading, root, kase);
    const char *title = json_string_value(json_object_get(root, "name"));
    (void)snprintf(kase->name, sizeof kase->name, "%s", title ? title : name);
    for (uint32_t i = 0; i < kase->layers && status == PIM_OK; i++) {
        status = pim_overlap_layer_derive(kase->layer, i, error);
        if (status != PIM_OK)
            status = pim_fail_in(error, "%s", name);
    }
    json_decref(root);
    if (status != PIM_OK)
        pim_case_terminate(kase);
    return status;
}
