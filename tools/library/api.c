/* The part of the public interface (include/pimsim/pimsim.h) that maps networks. */
#include "include/pimsim/pimsim.h"

#include "models/system/message.h"
#include "models/system/schema.h"
#include "models/system/used.h"
#include "sim/output/file.h"
#include "tools/library/map.h"
#include "traces/file/format.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

struct pimsim_mapping {
    uint64_t cycles;
    char *plan;
};

const char *pimsim_mapper_name(size_t index)
{
    const struct pim_mapper *mapper = pim_mapper_at(index);
    return mapper ? mapper->name : NULL;
}

int pimsim_mapper_option(const char *name, size_t index, struct pimsim_mapper_option *option)
{
    static const char *const kinds[] = {[PIM_OPTION_FLAG] = "flag",
                                        [PIM_OPTION_TEXT] = "text",
                                        [PIM_OPTION_CHOICE] = "choice",
                                        [PIM_OPTION_COUNT] = "count",
                                        [PIM_OPTION_REAL] = "real"};
    const struct pim_mapper *mapper;
    struct pim_error error;
    if (!name || !option || pim_mapper_find(name, &mapper, &error) != PIM_OK ||
        index >= mapper->options.count)
        return PIMSIM_USAGE;
    const struct pim_option *row = &mapper->options.rows[index];
    bool real = row->kind == PIM_OPTION_REAL;
    *option = (struct pimsim_mapper_option){.name = row->name,
                                            .kind = kinds[row->kind],
                                            .argument = row->argument,
                                            .help = row->help,
                                            .choices = row->choices,
                                            .minimum = real ? row->real_minimum : (double)row->minimum,
                                            .maximum = real ? row->real_maximum : (double)row->maximum};
    return PIMSIM_OK;
}

/* Lists are there where their counts say so, and none of their texts is NULL. */
static enum pim_status check_list(const char *name, const char *const *items, size_t count,
                                  struct pim_error *error)
{
    if (count > 0 && !items)
        return pim_fail(error, PIM_USAGE, "options.%s is NULL, its count is %zu", name, count);
    for (size_t i = 0; i < count; i++)
        if (!items[i])
            return pim_fail(error, PIM_USAGE, "options.%s[%zu] is NULL", name, i);
    return PIM_OK;
}

static enum pim_status check(const struct pimsim_map_options *options, struct pim_error *error)
{
    if (options->size != sizeof *options)
        return pim_fail(error, PIM_USAGE, "options.size is %zu, this library knows %zu: set it to sizeof",
                        options->size, sizeof *options);
    if (!options->mapper || !options->network_path || !options->hardware_path)
        return pim_fail(error, PIM_USAGE, "options.%s is NULL",
                        !options->mapper         ? "mapper"
                        : !options->network_path ? "network_path"
                                                 : "hardware_path");
    if (check_list("overrides", options->overrides, options->override_count, error) != PIM_OK ||
        check_list("options", options->options, options->option_count, error) != PIM_OK)
        return error->status;
    return check_list("dimensions", options->dimensions, options->dimension_count, error);
}

/* --- files --- */

/* A file that a call names. */
struct named {
    const char *name, *path; /* "trace_path" */
    bool written;
};

/* Nothing is there, no file, an empty one or a trace. */
static bool is_replaceable(const char *path)
{
    unsigned char head[PIM_FORMAT_MAGIC_BYTES];
    size_t size;
    struct pim_error unread;
    struct stat found;
    if (stat(path, &found) != 0 || !S_ISREG(found.st_mode))
        return true;
    return pim_file_head(path, sizeof head, head, &size, &unread) == PIM_OK &&
           (size == 0 || pim_format_begins(head, size));
}

/* No file is written over what the call reads or writes otherwise, and the trace over nothing but a trace,
 * which keeps what a configuration includes as well. */
static enum pim_status protect(const struct pimsim_map_options *options, const struct pim_mapper *mapper,
                               const void *values, struct pim_error *error)
{
    struct named files[PIM_OPTIONS_MOST + 3] = {{"trace_path", options->trace_path, true},
                                                {"network_path", options->network_path, false},
                                                {"hardware_path", options->hardware_path, false}};
    size_t count = 3;
    for (size_t i = 0; i < mapper->options.count; i++) {
        const struct pim_option *row = &mapper->options.rows[i];
        if (row->kind != PIM_OPTION_TEXT)
            continue;
        files[count] = (struct named){.name = row->name, .written = row->writes};
        memcpy(&files[count++].path, (const char *)values + row->offset, sizeof files[0].path);
    }
    for (size_t i = 0; i < count; i++)
        for (size_t j = 0; files[i].written && files[i].path && j < count; j++)
            if (i != j && files[j].path && pim_file_is_same(files[i].path, files[j].path))
                return pim_fail(error, PIM_USAGE, "%s %.200s would be written over that of %s: another name",
                                files[i].name, files[i].path, files[j].name);
    if (!options->trace_path || is_replaceable(options->trace_path))
        return PIM_OK;
    return pim_fail(error, PIM_USAGE,
                    "trace_path %.200s is there and is no trace: it stays as it is; another name",
                    options->trace_path);
}

/* What one call holds on to. */
struct call {
    const struct pimsim_map_options *options;
    void *mapper_options;
    const char **network_sets;
    size_t network_set_count;
    struct pim_configuration *configuration;
};

static void tell(void *context, const char *what, uint64_t done, uint64_t total)
{
    const struct call *call = context;
    call->options->progress(call->options->context, what, done, total);
}

static bool stops(void *context)
{
    const struct call *call = context;
    return call->options->stop(call->options->context) != 0;
}

/* Hardware file, then overrides; those of the network are put aside. */
static enum pim_status configure(struct call *call, struct pim_error *error)
{
    static const char prefix[] = "network.";
    const struct pimsim_map_options *options = call->options;
    call->network_sets = calloc(options->override_count + 1, sizeof *call->network_sets);
    if (!call->network_sets)
        return pim_fail(error, PIM_NO_MEMORY, "out of memory for a mapping");
    enum pim_status status = pim_configuration_create(&pim_hardware_schema, &call->configuration, error);
    if (status == PIM_OK)
        status = pim_configuration_read_file(call->configuration, options->hardware_path, error);
    for (size_t i = 0; i < options->override_count && status == PIM_OK; i++) {
        if (strncmp(options->overrides[i], prefix, sizeof prefix - 1) == 0)
            call->network_sets[call->network_set_count++] = options->overrides[i];
        else
            status = pim_configuration_set(call->configuration, options->overrides[i], error);
    }
    if (status != PIM_OK || pim_configuration_complete(call->configuration, error) != PIM_OK)
        return error->status;
    for (size_t i = 0; i < options->override_count && status == PIM_OK; i++)
        if (strncmp(options->overrides[i], prefix, sizeof prefix - 1) != 0)
            status =
                pim_hardware_accept_sets(call->configuration, PIM_TO_MAP, &options->overrides[i], 1, error);
    return status;
}

static enum pim_status choose(struct call *call, const struct pim_mapper **mapper, struct pim_error *error)
{
    const struct pimsim_map_options *options = call->options;
    if (pim_mapper_find(options->mapper, mapper, error) != PIM_OK)
        return error->status;
    call->mapper_options = pim_mapper_options(*mapper);
    if (!call->mapper_options)
        return pim_fail(error, PIM_NO_MEMORY, "out of memory for the options of a mapper");
    for (size_t i = 0; i < options->option_count; i++)
        if (pim_option_assign(&(*mapper)->options, (*mapper)->name, options->options[i], call->mapper_options,
                              error) != PIM_OK)
            return error->status;
    if (protect(options, *mapper, call->mapper_options, error) != PIM_OK)
        return error->status;
    struct pim_mapper_search *search = call->mapper_options;
    search->progress = options->progress ? tell : NULL;
    search->stop = options->stop ? stops : NULL;
    search->context = call;
    return PIM_OK;
}

static enum pim_status keep(struct pim_map *map, struct pimsim_mapping *mapping, struct pim_error *error)
{
    struct pim_mapper_estimate estimate;
    size_t size = 0;
    FILE *file = open_memstream(&mapping->plan, &size);
    if (!file)
        return pim_fail(error, PIM_NO_MEMORY, "out of memory for the plan");
    enum pim_status status = pim_map_write_json(map, file, error);
    if (fclose(file) != 0 && status == PIM_OK)
        status = pim_fail(error, PIM_NO_MEMORY, "out of memory for the plan");
    if (status == PIM_OK)
        status = pim_map_estimate(map, &estimate, error);
    if (status == PIM_OK)
        mapping->cycles = estimate.cycles;
    return status;
}

static enum pim_status map_network(struct call *call, struct pimsim_mapping *mapping, struct pim_error *error)
{
    const struct pimsim_map_options *options = call->options;
    const struct pim_mapper *mapper;
    struct pim_map *map;
    if (choose(call, &mapper, error) != PIM_OK || configure(call, error) != PIM_OK)
        return error->status;
    const struct pim_map_request request = {.mapper = mapper,
                                            .options = call->mapper_options,
                                            .network = options->network_path,
                                            .network_sets = call->network_sets,
                                            .network_set_count = call->network_set_count,
                                            .dimensions = options->dimensions,
                                            .dimension_count = options->dimension_count,
                                            .configuration = call->configuration,
                                            .output = options->trace_path};
    if (pim_map_create(&request, &map, error) != PIM_OK)
        return error->status;
    enum pim_status status = keep(map, mapping, error);
    pim_map_destroy(map);
    return status;
}

int pimsim_map(struct pimsim_mapping **mapping, const struct pimsim_map_options *options, char *message,
               size_t message_size)
{
    struct pim_error error = {.status = PIM_OK};
    if (mapping)
        *mapping = NULL;
    if (!mapping || !options || (!message && message_size > 0)) {
        (void)pim_fail(&error, PIM_USAGE, "pimsim_map: %s is NULL",
                       !mapping   ? "mapping"
                       : !options ? "options"
                                  : "message");
        return pim_hand_out(&error, message, message_size);
    }
    if (check(options, &error) != PIM_OK)
        return pim_hand_out(&error, message, message_size);
    struct call call = {.options = options};
    struct pimsim_mapping *made = calloc(1, sizeof *made);
    if (!made)
        (void)pim_fail(&error, PIM_NO_MEMORY, "out of memory for a mapping");
    else if (map_network(&call, made, &error) != PIM_OK)
        pimsim_mapping_destroy(made);
    else
        *mapping = made;
    free(call.mapper_options);
    free(call.network_sets);
    pim_configuration_destroy(call.configuration);
    return pim_hand_out(&error, message, message_size);
}

uint64_t pimsim_mapping_cycles(const struct pimsim_mapping *mapping)
{
    return mapping ? mapping->cycles : 0;
}

const char *pimsim_mapping_plan(const struct pimsim_mapping *mapping)
{
    return mapping ? mapping->plan : NULL;
}

void pimsim_mapping_destroy(struct pimsim_mapping *mapping)
{
    if (!mapping)
        return;
    free(mapping->plan);
    free(mapping);
}
