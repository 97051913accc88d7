/*
 * Plans of the Allspark mapping from options and from files as `map allspark --format json` writes them.
 *
 * What a file says about a plan beyond its partitions (branches of a layer, reuse, the network) is held
 * against the plan that was made of it: a file for something else is refused, not mapped as far as it goes.
 */
#include "mappers/allspark/plan/file.h"

#include "mappers/allspark/shapes.h"
#include "sim/output/json.h"
#include "sim/try.h"

#include <inttypes.h>
#include <string.h>

/* --- options --- */

static enum pim_status bad_partition(const char *text, struct pim_error *error)
{
    return pim_fail(error, PIM_USAGE,
                    "--partition %s: auto, branch (B), patch (P), head (AH), u,v for all stages, or "
                    "u,v:u,v:... with one for each stage is expected; u,v*layers+u,v for temporal layers "
                    "of a stage that differ",
                    text);
}

enum pim_status pim_plan_parse(const char *text, struct pim_allspark_options *options,
                               struct pim_error *error)
{
    const char *rest = text;
    options->scheme = PIM_ALLSPARK_EXPLICIT;
    for (char end = ':'; end == ':' || end == '+'; end = *rest++) {
        int used = 0, more = 0;
        struct pim_allspark_layers layers = {0};
        if (end == ':' && options->explicit_count++ == PIM_STAGES)
            return bad_partition(text, error);
        uint32_t stage = options->explicit_count - 1, *count = &options->lists[stage];
        if (*count == PIM_PARTITIONS ||
            sscanf(rest, "%5" SCNu32 ",%5" SCNu32 "%n", &layers.u, &layers.v, &used) != 2)
            return bad_partition(text, error);
        rest += used;
        if (*rest == '*') {
            if (sscanf(rest, "*%5" SCNu32 "%n", &layers.layers, &more) != 1 || layers.layers == 0)
                return bad_partition(text, error);
            rest += more;
        }
        if (*rest != '\0' && *rest != ':' && *rest != '+')
            return bad_partition(text, error);
        options->list[stage][(*count)++] = layers;
    }
    return PIM_OK;
}

/* --- files --- */

enum { LABEL = 200 }; /* bytes of the label, at most */

static const char *const root_keys[] = {"network",
                                        "partition",
                                        "batch",
                                        "prefetch",
                                        "exchange",
                                        "stages",
                                        "memory_per_node",
                                        "estimate_cycles",
                                        "estimate_parts",
                                        "ideal_cycles",
                                        "scheduled_cycles",
                                        "bound_cycles",
                                        "optimal",
                                        "optimal_of",
                                        "ended_early",
                                        "scheduler",
                                        "solve_seconds",
                                        "checked_elements",
                                        NULL};
static const char *const stage_keys[] = {"stage",      "blocks",    "first_block",
                                         "block_step", "branches",  "temporal_layers",
                                         "weights",    "workspace", NULL};
static const char *const layer_keys[] = {"u",    "v",      "branches",   "reuses", "whole_copy",
                                         "ring", "chunks", "row_blocks", NULL};

/* `place` is empty, or says where in the file, with a colon and a blank. */
static enum pim_status check_keys(const char *path, const char *place, json_t *object,
                                  const char *const *known, struct pim_error *error)
{
    const char *key;
    json_t *value;
    json_object_foreach(object, key, value)
    {
        size_t i = 0;
        while (known[i] && strcmp(known[i], key) != 0)
            i++;
        if (!known[i])
            return pim_fail(error, PIM_BAD_INPUT,
                            "%s: %s\"%.64s\" is no key of a plan: those of `map allspark --format json` are",
                            path, place, key);
    }
    return PIM_OK;
}

/* A number from 1 on; 0 where it may be left out and is. */
static bool get_number(const json_t *object, const char *key, bool needed, uint32_t *number)
{
    const json_t *value = json_object_get(object, key);
    *number = 0;
    if (!value)
        return !needed;
    if (!json_is_integer(value) || json_integer_value(value) < 1 || json_integer_value(value) > UINT16_MAX)
        return false;
    *number = (uint32_t)json_integer_value(value);
    return true;
}

static enum pim_status read_layer(const char *path, json_t *value, size_t stage, size_t layer,
                                  struct pim_allspark_options *options, struct pim_error *error)
{
    struct pim_allspark_layers layers = {.layers = 1};
    uint32_t *count = &options->lists[stage];
    char place[80];
    (void)snprintf(place, sizeof place, "stages[%zu].temporal_layers[%zu]: ", stage, layer);
    if (!get_number(value, "u", true, &layers.u) || !get_number(value, "v", true, &layers.v) ||
        !get_number(value, "ring", false, &layers.ring) ||
        !get_number(value, "chunks", false, &layers.chunks) || layers.chunks > PIM_CHUNKS ||
        !get_number(value, "row_blocks", false, &layers.row_blocks) || layers.row_blocks > PIM_ROW_BLOCKS)
        return pim_fail(error, PIM_BAD_INPUT,
                        "%s: %sintegers from 1 on are expected for u, v and, where given, ring, chunks "
                        "(up to %d) and row_blocks (up to %d)",
                        path, place, PIM_CHUNKS, PIM_ROW_BLOCKS);
    const json_t *reuses = json_object_get(value, "reuses"), *whole = json_object_get(value, "whole_copy");
    if ((reuses && !json_is_boolean(reuses)) || (whole && !json_is_boolean(whole)))
        return pim_fail(error, PIM_BAD_INPUT, "%s: %strue or false is expected for reuses and whole_copy",
                        path, place);
    /* The first layer of a partition says it: the others have its weights. */
    if (reuses)
        layers.reuse = json_is_true(reuses) ? PIM_REUSE_WHOLE : PIM_REUSE_NOTHING;
    layers.whole = json_is_true(whole);
    PIM_TRY(check_keys(path, place, value, layer_keys, error));
    struct pim_allspark_layers *before = *count > 0 ? &options->list[stage][*count - 1] : NULL;
    if (before && before->u == layers.u && before->v == layers.v && before->ring == layers.ring &&
        before->chunks == layers.chunks && before->row_blocks == layers.row_blocks) {
        before->layers++;
        return PIM_OK;
    }
    if (*count == PIM_PARTITIONS)
        return pim_fail(error, PIM_BAD_INPUT, "%s: stages[%zu] has more than %d partitions", path, stage,
                        PIM_PARTITIONS);
    options->list[stage][(*count)++] = layers;
    return PIM_OK;
}

static enum pim_status read_stage(const char *path, json_t *value, size_t stage,
                                  struct pim_allspark_options *options, struct pim_error *error)
{
    size_t layer;
    json_t *item, *layers = json_object_get(value, "temporal_layers");
    char place[48];
    (void)snprintf(place, sizeof place, "stages[%zu]: ", stage);
    if (!json_is_array(layers) || json_array_size(layers) == 0)
        return pim_fail(error, PIM_BAD_INPUT,
                        "%s: stages[%zu].temporal_layers: a list of objects with u and v is expected", path,
                        stage);
    PIM_TRY(check_keys(path, place, value, stage_keys, error));
    if (!get_number(value, "branches", false, &options->branches[stage]))
        options->branches[stage] = 0; /* held against the plan later */
    json_array_foreach(layers, layer, item)
    {
        PIM_TRY(read_layer(path, item, stage, layer, options, error));
    }
    return PIM_OK;
}

const char *pim_plan_exchange_name(enum pim_allspark_exchange exchange)
{
    return exchange == PIM_ALLSPARK_GATHER ? "gather" : "direct";
}

/* What the file says of the exchange; not stated when it says nothing. False: neither of the two. */
static bool get_exchange(const json_t *root, enum pim_allspark_exchange *exchange)
{
    const json_t *value = json_object_get(root, "exchange");
    const char *text = json_string_value(value);
    *exchange = PIM_ALLSPARK_NOT_STATED;
    if (!value)
        return true;
    for (enum pim_allspark_exchange form = PIM_ALLSPARK_DIRECT; text && form <= PIM_ALLSPARK_GATHER; form++)
        if (strcmp(text, pim_plan_exchange_name(form)) == 0)
            *exchange = form;
    return *exchange != PIM_ALLSPARK_NOT_STATED;
}

static enum pim_status read_root(const struct pim_plan_file *file, struct pim_allspark_options *options,
                                 struct pim_error *error)
{
    json_t *stages = json_object_get(file->root, "stages"), *value;
    size_t stage;
    uint32_t batch;
    enum pim_allspark_exchange exchange;
    if (json_object_get(file->root, "partition") && strlen(pim_plan_label(file)) > LABEL)
        return pim_fail(error, PIM_BAD_INPUT, "%s: \"partition\": at most %d bytes are expected", file->path,
                        LABEL);
    if (!json_is_array(stages) || json_array_size(stages) == 0 || json_array_size(stages) > PIM_STAGES)
        return pim_fail(error, PIM_BAD_INPUT, "%s: \"stages\": a list of 1 to %d stages is expected",
                        file->path, PIM_STAGES);
    if (!get_number(file->root, "batch", false, &batch) || batch > PIM_BATCH)
        return pim_fail(error, PIM_BAD_INPUT, "%s: \"batch\": an integer from 1 to %d is expected",
                        file->path, PIM_BATCH);
    const json_t *prefetch = json_object_get(file->root, "prefetch");
    if (prefetch && !json_is_boolean(prefetch))
        return pim_fail(error, PIM_BAD_INPUT, "%s: \"prefetch\": true or false is expected", file->path);
    if (!get_exchange(file->root, &exchange))
        return pim_fail(error, PIM_BAD_INPUT, "%s: \"exchange\": \"direct\" or \"gather\" is expected",
                        file->path);
    PIM_TRY(check_keys(file->path, "", file->root, root_keys, error));
    options->exchange = options->exchange ? options->exchange : exchange;
    options->batch = options->batch ? options->batch : batch;
    if (options->prefetch == PIM_PREFETCH_NOT_STATED && json_is_true(prefetch))
        options->prefetch = PIM_PREFETCH_ON;
    json_array_foreach(stages, stage, value)
    {
        PIM_TRY(read_stage(file->path, value, stage, options, error));
    }
    options->scheme = PIM_ALLSPARK_EXPLICIT;
    options->explicit_count = (uint32_t)json_array_size(stages);
    return PIM_OK;
}

enum pim_status pim_plan_read(struct pim_plan_file *file, const char *path,
                              struct pim_allspark_options *options, struct pim_error *error)
{
    enum { MOST_BYTES = 1 << 24 };
    *file = (struct pim_plan_file){.path = path};
    PIM_TRY(pim_json_read(path, MOST_BYTES, &file->root, error));
    return read_root(file, options, error);
}

enum pim_status pim_plan_read_text(struct pim_plan_file *file, const char *name, const char *text,
                                   size_t length, struct pim_allspark_options *options,
                                   struct pim_error *error)
{
    *file = (struct pim_plan_file){.path = name};
    PIM_TRY(pim_json_parse(name, text, length, &file->root, error));
    return read_root(file, options, error);
}

void pim_plan_close(struct pim_plan_file *file)
{
    json_decref(file->root);
    file->root = NULL;
}

const char *pim_plan_label(const struct pim_plan_file *file)
{
    const char *label = json_string_value(json_object_get(file->root, "partition"));
    return label ? label : "of a plan";
}

/* --- what the file says beyond the partitions --- */

struct pim_plan_layer pim_plan_layer(const struct pim_allspark_stage *stage, uint32_t layer)
{
    const struct pim_allspark_partition *part = stage->partition;
    while (layer >= part->first_layer + part->layers)
        part++;
    uint32_t within = layer - part->first_layer;
    return (struct pim_plan_layer){part, pim_branches_of_layer(part, within), part->reuses || within > 0};
}

/* Whether `key` of an object is left out or says `number`. */
static bool agrees(const json_t *object, const char *key, uint32_t number)
{
    const json_t *value = json_object_get(object, key);
    return !value || (json_is_integer(value) && json_integer_value(value) == (json_int_t)number);
}

static enum pim_status check_layer(const struct pim_plan_file *file, const json_t *value, size_t stage,
                                   size_t layer, const struct pim_plan_layer *made, struct pim_error *error)
{
    const json_t *reuses = json_object_get(value, "reuses");
    if (!agrees(value, "branches", made->branches))
        return pim_fail(error, PIM_BAD_INPUT,
                        "%s: stages[%zu].temporal_layers[%zu].branches: %" PRIu32
                        " branches are in that layer of %s",
                        file->path, stage, layer, made->branches, file->network);
    if (reuses && json_is_true(reuses) != made->reuses)
        return pim_fail(error, PIM_BAD_INPUT,
                        "%s: stages[%zu].temporal_layers[%zu].reuses: that layer reuses %s", file->path,
                        stage, layer, made->reuses ? "weights" : "nothing");
    return PIM_OK;
}

static enum pim_status check_stage(const struct pim_plan_file *file, const json_t *value, size_t index,
                                   const struct pim_allspark_stage *stage, struct pim_error *error)
{
    const json_t *layers = json_object_get(value, "temporal_layers");
    uint32_t branches = stage->partition[0].branches;
    if (!agrees(value, "branches", branches))
        return pim_fail(error, PIM_BAD_INPUT,
                        "%s: stages[%zu].branches: that stage of %s has %" PRIu32 " branches", file->path,
                        index, file->network, branches);
    if (!agrees(value, "stage", stage->of + 1) || !agrees(value, "blocks", stage->partition[0].blocks))
        return pim_fail(error, PIM_BAD_INPUT,
                        "%s: stages[%zu]: in %s these are %" PRIu32 " blocks of stage %" PRIu32, file->path,
                        index, file->network, stage->partition[0].blocks, stage->of + 1);
    for (uint32_t layer = 0; layer < stage->layers && layer < json_array_size(layers); layer++) {
        const struct pim_plan_layer made = pim_plan_layer(stage, layer);
        PIM_TRY(check_layer(file, json_array_get(layers, layer), index, layer, &made, error));
    }
    return PIM_OK;
}

enum pim_status pim_plan_check(struct pim_plan_file *file, const struct pim_allspark_plan *plan,
                               struct pim_error *error)
{
    const json_t *stages = json_object_get(file->root, "stages");
    const json_t *network = json_object_get(file->root, "network");
    file->network = plan->network->name;
    if (network && (!json_is_string(network) || strcmp(json_string_value(network), file->network) != 0))
        return pim_fail(error, PIM_BAD_INPUT, "%s: \"network\" is not %s, which is to be mapped", file->path,
                        file->network);
    if (!agrees(file->root, "batch", plan->batch))
        return pim_fail(error, PIM_BAD_INPUT, "%s: \"batch\" is not %" PRIu32 ", which --batch asks for",
                        file->path, plan->batch);
    const json_t *prefetch = json_object_get(file->root, "prefetch");
    if (prefetch && json_is_true(prefetch) != plan->prefetch)
        return pim_fail(error, PIM_BAD_INPUT, "%s: \"prefetch\" is not %s, which --prefetch asks for",
                        file->path, plan->prefetch ? "true" : "false");
    enum pim_allspark_exchange exchange;
    if (get_exchange(file->root, &exchange) && exchange && exchange != plan->exchange)
        return pim_fail(error, PIM_BAD_INPUT, "%s: \"exchange\" is not \"%s\", which --exchange asks for",
                        file->path, pim_plan_exchange_name(plan->exchange));
    /* One stage stands for all: it has the layers of none of them in particular. */
    for (uint32_t i = 0; i < plan->stages && json_array_size(stages) == plan->stages; i++)
        PIM_TRY(check_stage(file, json_array_get(stages, i), i, &plan->stage[i], error));
    return PIM_OK;
}
