#include "tools/sweep/prepare.h"

#include "models/system/configure.h"
#include "models/system/schema.h"
#include "models/system/used.h"
#include "tools/library/words.h"
#include "tools/sweep/best.h"
#include "tools/sweep/specification/identity.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A trace: its own configuration or the files, as `pimsim run` does it. */
static enum pim_status prepare_trace(const struct pim_sweep *sweep, struct pim_sweep_source *source,
                                     struct pim_error *error)
{
    const struct pim_hardware_sources files = {.files = (const char *const *)sweep->hardware.items,
                                               .file_count = sweep->hardware.count,
                                               .sets = (const char *const *)sweep->sets.items,
                                               .set_count = sweep->sets.count,
                                               .fidelity = sweep->fidelity};
    struct pim_configuration *configuration = NULL;
    struct pim_hardware hardware;
    if (sweep->network_sets.count > 0)
        return pim_fail(error, PIM_BAD_INPUT,
                        "%s: %s is mapped already, so keys of the network change nothing",
                        sweep->network_sets.items[0], source->trace);
    for (size_t a = 0; a < sweep->axis_count; a++)
        for (size_t i = 0; i < sweep->axes[a].key_count; i++)
            if (sweep->axes[a].keys[i].of_network)
                return pim_fail(
                    error, PIM_BAD_INPUT,
                    "%s: %s is mapped already, so keys of the network change nothing: such an axis needs "
                    "networks and mappers instead of traces",
                    sweep->axes[a].keys[i].name, source->trace);
    if (pim_trace_open(source->trace, &source->opened, error) != PIM_OK ||
        pim_configure_replay(source->opened, source->trace, &files, &configuration, &hardware, error) !=
            PIM_OK)
        return error->status;
    source->configuration = configuration;
    source->base = pim_configuration_write(configuration, false);
    return source->base ? PIM_OK : pim_fail(error, PIM_NO_MEMORY, "out of memory for the configuration");
}

/* The files of the hardware that a network is mapped for, then what is set. */
static enum pim_status read_hardware(const struct pim_sweep *sweep, const struct pim_sweep_source *source,
                                     struct pim_configuration *configuration, struct pim_error *error)
{
    enum pim_status status = PIM_OK;
    if (source->system != PIM_NO_SYSTEM)
        status =
            pim_configuration_read_file(configuration, sweep->systems.rows[source->system].hardware, error);
    for (size_t i = 0; status == PIM_OK && i < sweep->hardware.count; i++)
        status = pim_configuration_read_file(configuration, sweep->hardware.items[i], error);
    for (size_t i = 0; status == PIM_OK && i < sweep->sets.count; i++)
        status = pim_configuration_set(configuration, sweep->sets.items[i], error);
    if (status == PIM_OK && sweep->fidelity) {
        char set[64];
        (void)snprintf(set, sizeof set, "noc.fidelity=%s", sweep->fidelity);
        status = pim_configuration_set(configuration, set, error);
    }
    return status;
}

/* The time between two images of a pipeline is no latency. */
static enum pim_status check_measure(const struct pim_map_words *words, const struct pim_system_row *row,
                                     struct pim_error *error)
{
    if (row->throughput || !words->mapper->rounds || !words->mapper->rounds(words->options))
        return PIM_OK;
    return pim_fail(
        error, PIM_BAD_INPUT,
        "its trace is one round of a pipeline over images, or several images, and has no latency of "
        "one: system %s needs measures = \"throughput\", or a mapper that works one image",
        row->name);
}

/* What stands against mapping a source. */
static enum pim_status check_mapped(const struct pim_sweep *sweep, struct pim_sweep_source *source,
                                    struct pim_error *error)
{
    struct pim_map_words words;
    if (pim_map_words_parse(source->mapper, &words, error) != PIM_OK)
        return pim_fail_in(error, "mapper \"%.60s\"", source->mapper);
    enum pim_status status = pim_map_words_files(&words, source->mapper_files, error);
    source->starts = pim_map_words_starts(&words);
    if (status == PIM_OK && source->system != PIM_NO_SYSTEM)
        status = check_measure(&words, &sweep->systems.rows[source->system], error);
    pim_map_words_terminate(&words);
    if (status != PIM_OK)
        return pim_fail_in(error, "mapper \"%.60s\"", source->mapper);
    if (source->system == PIM_NO_SYSTEM && sweep->hardware.count == 0)
        return pim_fail(error, PIM_BAD_INPUT, "a hardware file is needed to map %s", source->network);
    if (source->system != PIM_NO_SYSTEM && sweep->hardware.count > 0)
        return pim_fail(error, PIM_BAD_INPUT, "hardware %s: each of the systems names its own",
                        sweep->hardware.items[0]);
    return PIM_OK;
}

/* A network with a mapper: the hardware files. What they lack may come from an axis. */
static enum pim_status prepare_mapped(const struct pim_sweep *sweep, struct pim_sweep_source *source,
                                      struct pim_error *error)
{
    struct pim_configuration **configuration = &source->configuration;
    const struct pim_sweep_point first = {.number = 0};
    if (check_mapped(sweep, source, error) != PIM_OK)
        return error->status;
    enum pim_status status = pim_configuration_create(&pim_hardware_schema, configuration, error);
    if (status == PIM_OK)
        status = read_hardware(sweep, source, *configuration, error);
    if (status != PIM_OK)
        return status;
    source->base = pim_configuration_write(*configuration, false);
    if (!source->base)
        return pim_fail(error, PIM_NO_MEMORY, "out of memory for the configuration");
    if (pim_sweep_set_axes(sweep, &first, false, *configuration, error) != PIM_OK ||
        pim_configuration_complete(*configuration, error) != PIM_OK)
        return error->status;
    return pim_sweep_network_content(sweep, source, NULL, &source->network_content, error);
}

/* A constraint may name hardware keys, and keys of the network that are axes. */
static enum pim_status known_key(void *context, const char *name, bool *is_text, struct pim_error *error)
{
    const struct pim_sweep *sweep = context;
    struct pim_sweep_key probe;
    enum pim_status status = pim_sweep_key_begin(&probe, name, error);
    bool axis = false;
    for (size_t a = 0; a < sweep->axis_count; a++)
        for (size_t i = 0; i < sweep->axes[a].key_count; i++)
            axis = axis || strcmp(sweep->axes[a].keys[i].name, name) == 0;
    if (status == PIM_OK && probe.of_network && !axis)
        status = pim_fail(error, PIM_BAD_INPUT, "%s: a key of the network must be an axis here", name);
    if (status == PIM_OK && probe.key->type == PIM_KEY_INTEGER_LIST && !axis)
        status = pim_fail(error, PIM_BAD_INPUT, "%s: a list has no place in a constraint", name);
    if (status == PIM_OK)
        *is_text = probe.key->type != PIM_KEY_INTEGER && probe.key->type != PIM_KEY_REAL;
    pim_sweep_key_terminate(&probe);
    return status;
}

static enum pim_status prepare_constraints(struct pim_sweep *sweep, struct pim_error *error)
{
    sweep->constraints = calloc(sweep->conditions.count + 1, sizeof *sweep->constraints);
    if (!sweep->constraints)
        return pim_fail(error, PIM_NO_MEMORY, "out of memory for a sweep");
    enum pim_status status = PIM_OK;
    for (size_t i = 0; status == PIM_OK && i < sweep->conditions.count; i++)
        status = pim_expression_create(sweep->conditions.items[i], known_key, sweep, &sweep->constraints[i],
                                       error);
    return status;
}

static enum pim_status count_numbers(struct pim_sweep *sweep, struct pim_error *error)
{
    uint64_t count = sweep->source_count, high = pim_multiply_full(count, sweep->repeats, &count);
    for (size_t a = 0; high == 0 && count <= PIM_SWEEP_POINTS_MOST && a < sweep->axis_count; a++)
        high = pim_multiply_full(count, sweep->axes[a].count, &count);
    if (high != 0 || count > PIM_SWEEP_POINTS_MOST)
        return pim_fail(error, PIM_BAD_INPUT, "more than 2^53 points: no sweep of that size can be counted");
    sweep->numbers = count;
    return PIM_OK;
}

/* The axis of a key, or of the one that says the same in cycles or in ns. */
static const char *axis_of(const struct pim_sweep *sweep, const char *path)
{
    for (size_t a = 0; a < sweep->axis_count; a++)
        for (size_t i = 0; i < sweep->axes[a].key_count; i++) {
            const char *name = sweep->axes[a].keys[i].name;
            if (strcmp(name, path) == 0 || pim_configuration_same_quantity(&pim_hardware_schema, name, path))
                return name;
        }
    return NULL;
}

static enum pim_key_purpose purpose_of(const struct pim_sweep_source *source)
{
    return source->trace ? PIM_TO_REPLAY : PIM_TO_MAP;
}

/* A key that no source has a use for gives a table in which it seems to make no difference. */
static enum pim_status check_used(const struct pim_sweep *sweep, const char *path, struct pim_error *error)
{
    for (size_t a = 0; a < sweep->axis_count; a++)
        for (size_t i = 0; i < sweep->axes[a].key_count; i++)
            if (pim_hardware_decides(sweep->axes[a].keys[i].name, path))
                return PIM_OK; /* at some point it may */
    for (size_t i = 0; i < sweep->source_count; i++)
        if (pim_hardware_uses(sweep->sources[i].configuration, purpose_of(&sweep->sources[i]), path))
            return PIM_OK;
    return pim_hardware_refuse_key(sweep->sources[0].configuration, purpose_of(&sweep->sources[0]), path,
                                   error);
}

/* What is set holds for all points, so it is no axis; and some source uses it. */
static enum pim_status check_set(const struct pim_sweep *sweep, const char *set, struct pim_error *error)
{
    char path[256];
    pim_hardware_key_of_set(set, path, sizeof path);
    const char *axis = axis_of(sweep, path);
    if (axis && strcmp(axis, path) == 0)
        return pim_fail(error, PIM_BAD_INPUT, "%s: is an axis, and set: the axis alone would count", path);
    if (axis)
        return pim_fail(error, PIM_BAD_INPUT,
                        "%s: is set, and %s, which says the same, is an axis: the axis alone would count",
                        path, axis);
    return pim_sweep_of_network(path) ? PIM_OK : check_used(sweep, path, error);
}

static enum pim_status check_keys(const struct pim_sweep *sweep, struct pim_error *error)
{
    enum pim_status status = sweep->fidelity ? check_set(sweep, "noc.fidelity", error) : PIM_OK;
    for (size_t i = 0; status == PIM_OK && i < sweep->sets.count; i++)
        status = check_set(sweep, sweep->sets.items[i], error);
    for (size_t i = 0; status == PIM_OK && i < sweep->network_sets.count; i++)
        status = check_set(sweep, sweep->network_sets.items[i], error);
    for (size_t a = 0; a < sweep->axis_count; a++)
        for (size_t i = 0; status == PIM_OK && i < sweep->axes[a].key_count; i++)
            if (!sweep->axes[a].keys[i].of_network)
                status = check_used(sweep, sweep->axes[a].keys[i].name, error);
    return status;
}

/* A source that stands twice would only run twice. */
static enum pim_status check_sources(const struct pim_sweep *sweep, struct pim_error *error)
{
    for (size_t i = 0; i < sweep->source_count; i++)
        for (size_t j = 0; j < i; j++) {
            const struct pim_sweep_source *one = &sweep->sources[j], *two = &sweep->sources[i];
            if (one->trace && two->trace && strcmp(one->trace, two->trace) == 0)
                return pim_fail(error, PIM_BAD_INPUT, "trace %s stands twice", two->trace);
            if (!one->trace && !two->trace && one->system == two->system &&
                strcmp(one->network, two->network) == 0 && strcmp(one->mapper, two->mapper) == 0)
                return pim_fail(error, PIM_BAD_INPUT, "network %s with mapper %s stands twice", two->network,
                                two->mapper);
        }
    return PIM_OK;
}

enum pim_status pim_sweep_prepare(struct pim_sweep *sweep, struct pim_error *error)
{
    if (sweep->source_count == 0)
        return pim_fail(error, PIM_BAD_INPUT, "neither a trace, nor a network and a mapper is named");
    if (check_sources(sweep, error) != PIM_OK || count_numbers(sweep, error) != PIM_OK)
        return error->status;
    for (size_t i = 0; i < sweep->source_count; i++) {
        struct pim_sweep_source *source = &sweep->sources[i];
        if ((source->trace ? prepare_trace(sweep, source, error) : prepare_mapped(sweep, source, error)) !=
            PIM_OK)
            return error->status;
    }
    if (check_keys(sweep, error) != PIM_OK || prepare_constraints(sweep, error) != PIM_OK ||
        pim_sweep_prepare_best(sweep, error) != PIM_OK)
        return error->status;
    return pim_sweep_identify(sweep, &sweep->identity, error);
}
