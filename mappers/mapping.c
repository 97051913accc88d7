#include "mappers/mapper.h"

#include "sim/output/output.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
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
    *mapping = (struct pim_mapping){.mapper = mapper, .plan = calloc(1, mapper->plan_size)};
    if (!mapping->plan)
        return pim_fail(error, PIM_NO_MEMORY, "out of memory for the plan");
    enum pim_status status = mapper->plan(inputs, options, mapping->plan, error);
    if (status != PIM_OK)
        pim_mapping_terminate(mapping);
    return status;
}

void pim_mapping_terminate(struct pim_mapping *mapping)
{
    if (mapping->plan)
        mapping->mapper->terminate(mapping->plan);
    free(mapping->plan);
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

static bool is_special(const char *path)
{
    struct stat found;
    return stat(path, &found) == 0 && !S_ISREG(found.st_mode);
}

/* What lies at `path` goes to `output`, which may be a device or the name of another file. */
static enum pim_status hand_out(const char *path, const char *output, struct pim_error *error)
{
    char bytes[1 << 14];
    struct pim_output *to;
    FILE *from = fopen(path, "rb");
    if (!from)
        return pim_fail(error, PIM_IO, "%s: %s", path, strerror(errno));
    enum pim_status status = pim_output_open(&to, output, error);
    for (size_t count = 1; status == PIM_OK && count > 0;) {
        count = fread(bytes, 1, sizeof bytes, from);
        if (ferror(from) || fwrite(bytes, 1, count, pim_output_file(to)) != count)
            status = pim_fail(error, PIM_IO, "%s: %s", output, strerror(errno));
        if (status != PIM_OK)
            pim_output_abandon(to);
    }
    (void)fclose(from);
    return status == PIM_OK ? pim_output_commit(to, error) : status;
}

/* Writes the trace under another name, proves it, and only then gives it its own. */
static enum pim_status write_checked(struct pim_mapping *mapping, const char *output, struct pim_error *error)
{
    char path[4096];
    const char *folder = getenv("TMPDIR");
    int length = output && !is_special(output)
                     ? snprintf(path, sizeof path, "%s.XXXXXX", output)
                     : snprintf(path, sizeof path, "%s/pimsim-XXXXXX", folder && *folder ? folder : "/tmp");
    int file = length > 0 && (size_t)length < sizeof path ? mkstemp(path) : -1;
    if (file < 0)
        return pim_fail(error, PIM_IO, "%s: no file can be made there, and the check needs one: %s", path,
                        strerror(errno));
    (void)close(file);
    const struct pim_mapper *mapper = mapping->mapper;
    bool again = true;
    enum pim_status status = PIM_OK;
    while (status == PIM_OK && again) {
        again = false;
        status = write_to(mapping, path, error);
        if (status == PIM_OK && mapper->prove)
            status = mapper->prove(mapping->plan, path, &again, error);
    }
    if (status == PIM_OK && mapper->checks && mapper->checks(mapping->plan))
        status = mapper->check(mapping->plan, path, error);
    if (status == PIM_OK && output)
        status = hand_out(path, output, error);
    (void)unlink(path);
    return status;
}

enum pim_status pim_mapping_write(struct pim_mapping *mapping, const char *path, struct pim_error *error)
{
    const struct pim_mapper *mapper = mapping->mapper;
    struct pim_mapper_estimate ignored;
    if ((mapper->checks && mapper->checks(mapping->plan)) || (path && mapper->prove))
        return write_checked(mapping, path, error);
    return path ? write_to(mapping, path, error) : mapper->estimate(mapping->plan, &ignored, error);
}
