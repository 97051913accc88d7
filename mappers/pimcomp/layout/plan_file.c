/* See plan_file.h. */
#include "mappers/pimcomp/layout/plan_file.h"

#include "mappers/pimcomp/layout/layout.h"
#include "mappers/pimcomp/partition/partition.h"
#include "sim/try.h"

#include <inttypes.h>
#include <string.h>

enum { FILE_BYTES = 1 << 26 };

void pim_core_layout_write(struct pim_json *json, const struct pim_core_partition_layer *partition,
                           const struct pim_core_layout_layer *layout)
{
    pim_json_put_count(json, "replicas", layout->replicas);
    pim_json_begin_array(json, "placement");
    for (uint32_t r = 0; r < layout->replicas; r++) {
        pim_json_begin_array(json, NULL);
        for (uint32_t g = 0; g < partition->groups; g++)
            pim_json_put_count(json, NULL, layout->core[(size_t)r * partition->groups + g]);
        pim_json_end(json);
    }
    pim_json_end(json);
}

static bool has_text(const json_t *object, const char *key, const char *text)
{
    const char *found = json_string_value(json_object_get(object, key));
    return found && strcmp(found, text) == 0;
}

/* The cores of one layer, whose entry is of the same partition. */
static enum pim_status read_cores(const json_t *placement, const struct pim_core_mapping *mapping,
                                  uint32_t index, struct pim_core_layout_layer *layer,
                                  struct pim_arena *arena, struct pim_error *error)
{
    const char *name = mapping->network->layer[index].name;
    uint32_t groups = mapping->partition->layer[index].groups, cores = mapping->architecture->cores;
    size_t replicas = json_array_size(placement);
    if (replicas == 0 || replicas > UINT32_MAX / groups)
        return pim_fail(error, PIM_BAD_INPUT, "layer %s: \"placement\" of one replica at least is expected",
                        name);
    layer->replicas = (uint32_t)replicas;
    layer->core = PIM_ARENA_ARRAY(arena, uint32_t, replicas * groups);
    PIM_NEED_MEMORY(layer->core, error, "no memory for a layout");
    for (size_t i = 0; i < replicas * groups; i++) {
        const json_t *replica = json_array_get(placement, i / groups);
        const json_t *core = json_array_get(replica, i % groups);
        if (json_array_size(replica) != groups || !json_is_integer(core) || json_integer_value(core) < 0 ||
            json_integer_value(core) >= cores)
            return pim_fail(error, PIM_BAD_INPUT,
                            "layer %s, replica %zu: %" PRIu32 " cores below %" PRIu32 " are expected", name,
                            i / groups, groups, cores);
        layer->core[i] = (uint32_t)json_integer_value(core);
    }
    return PIM_OK;
}

static enum pim_status read_layers(const json_t *layers, const struct pim_core_mapping *mapping,
                                   struct pim_core_layout_layer *layer, struct pim_arena *arena,
                                   struct pim_error *error)
{
    const struct pim_core_network *network = mapping->network;
    if (json_array_size(layers) != network->count)
        return pim_fail(error, PIM_BAD_INPUT, "a plan with %zu layers: %s has %" PRIu32,
                        json_array_size(layers), network->name, network->count);
    for (uint32_t i = 0; i < network->count; i++) {
        const struct pim_core_partition_layer *partition = &mapping->partition->layer[i];
        const json_t *entry = json_array_get(layers, i);
        if (!has_text(entry, "name", network->layer[i].name))
            return pim_fail(error, PIM_BAD_INPUT, "layer %" PRIu32 " of the plan is not %s", i,
                            network->layer[i].name);
        if (partition->groups == 0)
            continue;
        if (!has_text(entry, "unfolding", pim_unfolding_name(partition->unfolding)) ||
            json_integer_value(json_object_get(entry, "groups")) != (json_int_t)partition->groups)
            return pim_fail(
                error, PIM_BAD_INPUT,
                "layer %s: the plan has another partition, here it is %s with %" PRIu32 " array groups",
                network->layer[i].name, pim_unfolding_name(partition->unfolding), partition->groups);
        PIM_TRY(read_cores(json_object_get(entry, "placement"), mapping, i, &layer[i], arena, error));
    }
    return PIM_OK;
}

static enum pim_status read_plan(const json_t *plan, const struct pim_core_mapping *mapping,
                                 struct pim_arena *arena, struct pim_core_layout *layout,
                                 struct pim_error *error)
{
    struct pim_core_mapping whole = *mapping;
    layout->layer = PIM_ARENA_ARRAY(arena, struct pim_core_layout_layer, mapping->network->count);
    PIM_NEED_MEMORY(layout->layer, error, "no memory for a layout");
    if (json_object_get(plan, "segments"))
        return pim_fail(error, PIM_BAD_INPUT, "a plan in segments has no layout for all layers at a time");
    PIM_TRY(read_layers(json_object_get(plan, "layers"), mapping, layout->layer, arena, error));
    whole.layout = layout;
    if (pim_core_layout_check(&whole, error) == PIM_INTERNAL) /* here it is the file's fault */
        error->status = PIM_BAD_INPUT;
    return error->status;
}

enum pim_status pim_core_layout_read(const char *path, const struct pim_core_mapping *mapping,
                                     struct pim_arena *arena, struct pim_core_layout *layout,
                                     const char **taken, bool *nothing_kept, struct pim_error *error)
{
    json_t *plan = NULL;
    PIM_TRY(pim_json_read(path, FILE_BYTES, &plan, error));
    const char *name = json_string_value(json_object_get(plan, "layout_taken"));
    *taken = pim_arena_copy_text(arena, name ? name : "plan");
    *nothing_kept = json_is_true(json_object_get(plan, "nothing_kept"));
    enum pim_status status = read_plan(plan, mapping, arena, layout, error);
    json_decref(plan);
    if (status == PIM_OK)
        return *taken ? PIM_OK : pim_fail(error, PIM_NO_MEMORY, "no memory for a layout");
    return pim_fail_in(error, "%s", path);
}

enum pim_status pim_core_layouts_read(const char *path, const struct pim_core_mapping *mapping, uint32_t most,
                                      struct pim_arena *arena, struct pim_core_layout *layout,
                                      uint32_t *count, struct pim_error *error)
{
    json_t *file = NULL;
    *count = 0;
    PIM_TRY(pim_json_read(path, FILE_BYTES, &file, error));
    const size_t plans = json_is_array(file) ? json_array_size(file) : 1;
    enum pim_status status = PIM_OK;
    if (plans == 0)
        status = pim_fail(error, PIM_BAD_INPUT, "%s: a plan, or a list of plans is expected", path);
    for (size_t i = 0; i < plans && status == PIM_OK; i++) {
        struct pim_core_layout found = {.layer = NULL};
        bool known = false;
        status =
            read_plan(json_is_array(file) ? json_array_get(file, i) : file, mapping, arena, &found, error);
        if (status != PIM_OK) {
            (void)pim_fail_in(error, "%s: plan %zu", path, i + 1);
            break;
        }
        for (uint32_t j = 0; j < *count && !known; j++)
            known = pim_core_layouts_equal(mapping, &layout[j], &found);
        if (!known && *count == most)
            status =
                pim_fail(error, PIM_BAD_INPUT, "%s: more than %" PRIu32 " layouts that differ", path, most);
        else if (!known)
            layout[(*count)++] = found;
    }
    json_decref(file);
    return status;
}
