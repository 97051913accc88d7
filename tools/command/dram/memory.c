#include "tools/command/dram/memory.h"

enum pim_status dram_memory_values(const struct dram_memory_options *options,
                                   struct pim_configuration **values, struct pim_error *error)
{
    *values = NULL;
    if (pim_configuration_create(&pim_dram_schema, values, error) != PIM_OK)
        return error->status;
    if (options->preset && pim_dram_preset_read(*values, options->preset, error) != PIM_OK)
        return error->status;
    for (size_t i = 0; i < options->files.count; i++)
        if (pim_configuration_read_file(*values, options->files.items[i], error) != PIM_OK)
            return error->status;
    for (size_t i = 0; i < options->sets.count; i++)
        if (pim_configuration_set(*values, options->sets.items[i], error) != PIM_OK)
            return error->status;
    return PIM_OK;
}

enum pim_status dram_memory_configure(const struct dram_memory_options *options, const char *fallback,
                                      struct pim_configuration **values,
                                      struct pim_dram_configuration *configuration, struct pim_error *error)
{
    struct dram_memory_options taken = *options;
    taken.preset = options->preset || options->files.count > 0 ? options->preset : fallback;
    return dram_memory_values(&taken, values, error) == PIM_OK
               ? pim_dram_configure(*values, configuration, error)
               : error->status;
}

void dram_memory_options_terminate(struct dram_memory_options *options)
{
    text_list_terminate(&options->files);
    text_list_terminate(&options->sets);
}
