#include "tools/sweep/specification/grow.h"

#include "mappers/network/descriptor/descriptor.h"
#include "models/system/schema.h"
#include "sim/output/json.h"
#include "tools/sweep/best.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* An axis of the old sweep: where it and its values are in the new one. */
struct old_axis {
    size_t axis, count;
    size_t *value;
};

struct pim_growth {
    const struct pim_sweep *sweep;
    struct old_axis *axes;
    size_t axis_count;
    size_t *sources;
    size_t source_count;
    uint64_t repeats;
    size_t fixed[PIM_SWEEP_AXES_MOST]; /* of new axes: the value at which the old points stand */
    bool keeps;
    char *why;
    size_t size;
};

/* Notes what stands against it; false. */
static bool differs(struct pim_growth *growth, const char *what, const char *name)
{
    (void)snprintf(growth->why, growth->size, "%s%s%.100s", what, *name ? " " : "", name);
    return false;
}

/* --- what both have --- */

/* Of a search what it tries next depends on all that it has found: only its iterations can grow, and for them
 * identities are equal. */
static bool are_sweeps(struct pim_growth *growth, const json_t *old, const json_t *new)
{
    bool was = json_object_get(old, "sources") != NULL, is = json_object_get(new, "sources") != NULL;
    return was && is ? true
           : was || is
               ? differs(growth, "one is a sweep, the other a tuning", "")
               : differs(growth, "a tuning can go on for more iterations, and with nothing else changed", "");
}

/* The axes along which programs are replayed, as an array; NULL: no memory. */
static json_t *bandwidths(json_t *axes)
{
    json_t *found = json_array(), *keys;
    size_t at;
    json_array_foreach(axes, at, keys)
    {
        bool all = json_object_size(keys) > 0;
        for (void *i = json_object_iter(keys); i; i = json_object_iter_next(keys, i))
            all = all && pim_sweep_is_bandwidth(json_object_iter_key(i));
        if (all && json_array_append(found, keys) != 0) {
            json_decref(found);
            return NULL;
        }
    }
    return found;
}

/* Whether the finished points are what they would be in the new sweep: of the programs of their neighbours
 * the best runs, so there must be no others. */
static bool keeps_points(const json_t *old, const json_t *new)
{
    if (!json_object_get(new, "take_best"))
        return true;
    if (!json_object_get(old, "take_best") ||
        !json_equal(json_object_get(old, "constraints"), json_object_get(new, "constraints")))
        return false;
    json_t *before = bandwidths(json_object_get(old, "axes"));
    json_t *after = bandwidths(json_object_get(new, "axes"));
    bool same = before && after && json_equal(before, after);
    json_decref(before);
    json_decref(after);
    return same;
}

static bool same_mapping(const json_t *old, const json_t *new)
{
    return !(json_object_get(old, "take_best") && json_object_get(new, "own_programs")) &&
           !(json_object_get(old, "own_programs") && json_object_get(new, "take_best"));
}

static bool same_settings(struct pim_growth *growth, const json_t *old, const json_t *new)
{
    static const char *const equal[] = {"pimsim", "seed", "until", "map_once"};
    static const char *const names[] = {"version of pimsim", "seed", "until", "mapping"};
    for (size_t i = 0; i < sizeof equal / sizeof equal[0]; i++)
        if (!json_equal(json_object_get(old, equal[i]), json_object_get(new, equal[i])))
            return differs(growth, names[i], "");
    if (!same_mapping(old, new))
        return differs(growth, "mapping", "");
    growth->keeps = keeps_points(old, new);
    json_int_t repeats = json_integer_value(json_object_get(old, "repeats"));
    growth->repeats = repeats > 0 ? (uint64_t)repeats : 1;
    return growth->repeats <= growth->sweep->repeats || differs(growth, "fewer repeats", "");
}

static bool find_sources(struct pim_growth *growth, const json_t *old, const json_t *new)
{
    const json_t *before = json_object_get(old, "sources"), *after = json_object_get(new, "sources");
    growth->source_count = json_array_size(before);
    growth->sources = calloc(growth->source_count + 1, sizeof *growth->sources);
    for (size_t i = 0; growth->sources && i < growth->source_count; i++) {
        size_t at = 0;
        while (at < json_array_size(after) &&
               !json_equal(json_array_get(before, i), json_array_get(after, at)))
            at++;
        if (at == json_array_size(after))
            return differs(growth, "traces, networks or their configuration", "");
        growth->sources[i] = at;
    }
    if (growth->source_count == 0)
        return differs(growth, "it has neither traces nor networks", "");
    return growth->sources != NULL;
}

/* --- axes --- */

/* Whether value `v` of an old axis is value `w` of the new one, whose keys are the same. */
static bool same_value(const json_t *keys, size_t v, const struct pim_sweep_axis *axis, size_t w)
{
    for (size_t i = 0; i < axis->key_count; i++) {
        const char *text = json_string_value(json_array_get(json_object_get(keys, axis->keys[i].name), v));
        if (!text || strcmp(text, axis->keys[i].values[w].text) != 0)
            return false;
    }
    return true;
}

static bool same_keys(const json_t *keys, const struct pim_sweep_axis *axis)
{
    if (json_object_size(keys) != axis->key_count)
        return false;
    for (size_t i = 0; i < axis->key_count; i++)
        if (!json_object_get(keys, axis->keys[i].name))
            return false;
    return true;
}

static bool find_axis(struct pim_growth *growth, json_t *keys, struct old_axis *old)
{
    const struct pim_sweep *sweep = growth->sweep;
    const char *name = json_object_iter_key(json_object_iter(keys));
    while (old->axis < sweep->axis_count && !same_keys(keys, &sweep->axes[old->axis]))
        old->axis++;
    if (!name || old->axis == sweep->axis_count)
        return differs(growth, "it varies", name ? name : "nothing");
    const struct pim_sweep_axis *axis = &sweep->axes[old->axis];
    old->count = json_array_size(json_object_get(keys, name));
    old->value = calloc(old->count + 1, sizeof *old->value);
    for (size_t v = 0; old->value && v < old->count; v++) {
        while (old->value[v] < axis->count && !same_value(keys, v, axis, old->value[v]))
            old->value[v]++;
        if (old->value[v] == axis->count)
            return differs(growth, "this one lacks a value of", name);
    }
    if (old->count == 0)
        return differs(growth, "it has no value of", name);
    return old->value != NULL;
}

/* The hash of the configuration of a source with value `v` of a new axis; SIZE_MAX: without. 0: it cannot be
 * made. */
static uint64_t hash_with(const struct pim_sweep_source *source, const struct pim_sweep_axis *axis, size_t v)
{
    bool network = axis->keys[0].of_network;
    const char *text = network ? source->network_content : source->base;
    struct pim_configuration *configuration = NULL;
    struct pim_error error = {PIM_OK, ""};
    uint64_t hash = 0;
    enum pim_status status =
        text ? pim_configuration_create(network ? &pim_network_schema : &pim_hardware_schema, &configuration,
                                        &error)
             : PIM_BAD_INPUT;
    if (status == PIM_OK)
        status = pim_configuration_read_text(configuration, "base", text, strlen(text), &error);
    for (size_t i = 0; status == PIM_OK && v != SIZE_MAX && i < axis->key_count; i++) {
        char set[8192 + 512];
        (void)snprintf(set, sizeof set, "%s=%s", axis->keys[i].name, axis->keys[i].values[v].text);
        status = axis->keys[i].of_network == network ? pim_configuration_set(configuration, set, &error)
                                                     : PIM_BAD_INPUT;
    }
    if (status == PIM_OK)
        hash = pim_configuration_hash(configuration);
    pim_configuration_destroy(configuration);
    return hash;
}

/* Where the old points stand on an axis that is new: at the value that changes the configuration of none. */
static bool find_fixed(struct pim_growth *growth, size_t place)
{
    const struct pim_sweep_axis *axis = &growth->sweep->axes[place];
    for (size_t v = 0; v < axis->count; v++) {
        size_t same = 0;
        for (size_t i = 0; i < growth->source_count; i++) {
            const struct pim_sweep_source *source = &growth->sweep->sources[growth->sources[i]];
            uint64_t base = hash_with(source, axis, SIZE_MAX);
            same += base != 0 && hash_with(source, axis, v) == base;
        }
        growth->fixed[place] = v;
        if (same == growth->source_count)
            return true;
    }
    return differs(growth, "the value that its points have is not among those of the new axis",
                   axis->keys[0].name);
}

static bool find_axes(struct pim_growth *growth, const json_t *old)
{
    const json_t *axes = json_object_get(old, "axes");
    bool continued[PIM_SWEEP_AXES_MOST] = {false};
    growth->axis_count = json_array_size(axes);
    growth->axes = calloc(growth->axis_count + 1, sizeof *growth->axes);
    for (size_t i = 0; growth->axes && i < growth->axis_count; i++) {
        if (!find_axis(growth, json_array_get(axes, i), &growth->axes[i]))
            return false;
        continued[growth->axes[i].axis] = true;
    }
    for (size_t i = 0; growth->axes && i < growth->sweep->axis_count; i++)
        if (!continued[i] && !find_fixed(growth, i))
            return false;
    return growth->axes != NULL;
}

enum pim_status pim_growth_create(const char *identity, const struct pim_sweep *sweep,
                                  struct pim_growth **growth, char *why, size_t size, struct pim_error *error)
{
    json_t *old = NULL, *new = NULL;
    struct pim_growth *made = calloc(1, sizeof *made);
    *growth = NULL;
    (void)snprintf(why, size, "memory ran out");
    if (!made)
        return pim_fail(error, PIM_NO_MEMORY, "out of memory for a sweep");
    made->sweep = sweep;
    made->why = why;
    made->size = size;
    enum pim_status status = pim_json_parse("identity", identity, strlen(identity), &old, error);
    if (status == PIM_OK)
        status = pim_json_parse("identity", sweep->identity, strlen(sweep->identity), &new, error);
    if (status == PIM_OK && are_sweeps(made, old, new) && same_settings(made, old, new) &&
        find_sources(made, old, new) && find_axes(made, old)) {
        *growth = made;
        made = NULL;
    }
    json_decref(old);
    json_decref(new);
    pim_growth_destroy(made);
    return status;
}

void pim_growth_destroy(struct pim_growth *growth)
{
    if (!growth)
        return;
    for (size_t i = 0; growth->axes && i < growth->axis_count; i++)
        free(growth->axes[i].value);
    free(growth->axes);
    free(growth->sources);
    free(growth);
}

bool pim_growth_keeps(const struct pim_growth *growth)
{
    return growth->keeps;
}

uint64_t pim_growth_number(const struct pim_growth *growth, uint64_t number)
{
    const struct pim_sweep *sweep = growth->sweep;
    size_t value[PIM_SWEEP_AXES_MOST];
    memcpy(value, growth->fixed, sizeof value);
    uint64_t repeat = number % growth->repeats;
    number /= growth->repeats;
    for (size_t i = growth->axis_count; i-- > 0;) {
        const struct old_axis *old = &growth->axes[i];
        value[old->axis] = old->value[number % old->count];
        number /= old->count;
    }
    if (number >= growth->source_count)
        return UINT64_MAX;
    uint64_t made = growth->sources[number];
    for (size_t a = 0; a < sweep->axis_count; a++)
        made = made * sweep->axes[a].count + value[a];
    return made * sweep->repeats + repeat;
}

size_t pim_growth_axis(const struct pim_growth *growth, size_t axis, size_t *value)
{
    *value = growth->fixed[axis];
    for (size_t i = 0; i < growth->axis_count; i++)
        if (growth->axes[i].axis == axis)
            return i;
    return SIZE_MAX;
}
