#include "mappers/mapper.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void *pim_mapper_options(const struct pim_mapper *mapper)
{
    void *options = malloc(mapper->options.size);
    if (options)
        memcpy(options, mapper->options.defaults, mapper->options.size);
    return options;
}

enum pim_status pim_mapping_make(const struct pim_mapper *mapper, const struct pim_mapper_inputs *inputs,
                                 const void *options, struct pim_mapping *mapping, struct pim_error *error)
{
    *mapping = (struct pim_mapping){.mapper = mapper};
    return mapper->plan(inputs, options, &mapping->plan, error);
}

void pim_mapping_terminate(struct pim_mapping *mapping)
{
    if (mapping->plan)
        mapping->mapper->terminate(mapping->plan);
    mapping->plan = NULL;
}

static enum pim_status write_to(struct pim_mapping *mapping, const char *path, struct pim_error *error)
{
    struct pim_trace_description description;
    struct pim_trace_writer *writer;
    if (mapping->mapper->describe(mapping->plan, &description, error) != PIM_OK ||
        pim_trace_writer_create(path, &description, &writer, error) != PIM_OK)
        return error->status;
    if (mapping->mapper->emit(mapping->plan, writer, error) != PIM_OK) {
        pim_trace_writer_abandon(writer);
        return error->status;
    }
    return pim_trace_writer_finish(writer, error);
}

/* Writes the trace under another name, proves it, and only then gives it its own. */
static enum pim_status write_checked(struct pim_mapping *mapping, const char *output, struct pim_error *error)
{
    char path[4096];
    const char *folder = getenv("TMPDIR");
    int length = output
                     ? snprintf(path, sizeof path, "%s.XXXXXX", output)
                     : snprintf(path, sizeof path, "%s/pimsim-XXXXXX", folder && *folder ? folder : "/tmp");
    int file = length > 0 && (size_t)length < sizeof path ? mkstemp(path) : -1;
    if (file < 0)
        return pim_fail(error, PIM_IO, "%s: no file can be made there, and the check needs one", path);
    (void)close(file);
    enum pim_status status = write_to(mapping, path, error);
    if (status == PIM_OK)
        status = mapping->mapper->check(mapping->plan, path, error);
    if (status == PIM_OK && output && rename(path, output) != 0)
        status = pim_fail(error, PIM_IO, "%s: %s", output, strerror(errno));
    (void)unlink(path);
    return status;
}

enum pim_status pim_mapping_write(struct pim_mapping *mapping, const char *path, struct pim_error *error)
{
    const struct pim_mapper *mapper = mapping->mapper;
    struct pim_mapper_estimate ignored;
    if (mapper->checks && mapper->checks(mapping->plan))
        return write_checked(mapping, path, error);
    return path ? write_to(mapping, path, error) : mapper->estimate(mapping->plan, &ignored, error);
}
