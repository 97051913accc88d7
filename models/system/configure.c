#include "models/system/configure.h"

#include "models/system/schema.h"

#include <stdio.h>
#include <string.h>

/* Step 1, the trace's own configuration. */
static enum pim_status read_carried(const struct pim_trace *trace, const char *name, bool others,
                                    struct pim_configuration *configuration, struct pim_error *error)
{
    const char *text = pim_trace_description(trace)->configuration;
    if (text[0] == '\0' && !others)
        return pim_fail(error, PIM_BAD_INPUT,
                        "%s: the trace carries no hardware configuration: name a hardware file", name);
    if (pim_configuration_read_text(configuration, name, text, strlen(text), error) != PIM_OK)
        return pim_fail_in(error, "the configuration that the trace carries");
    return PIM_OK;
}

static enum pim_status read_sources(const struct pim_trace *trace, const char *name,
                                    const struct pim_hardware_sources *sources,
                                    struct pim_configuration *configuration, struct pim_error *error)
{
    enum pim_status status = PIM_OK;
    if (sources->file_count == 0)
        status = read_carried(trace, name, sources->set_count > 0, configuration, error);
    for (size_t i = 0; status == PIM_OK && i < sources->file_count; i++)
        status = pim_configuration_read_file(configuration, sources->files[i], error);
    for (size_t i = 0; status == PIM_OK && i < sources->set_count; i++)
        status = pim_configuration_set(configuration, sources->sets[i], error);
    if (status == PIM_OK && sources->fidelity) {
        char set[64];
        (void)snprintf(set, sizeof set, "noc.fidelity=%s", sources->fidelity);
        status = pim_configuration_set(configuration, set, error);
    }
    return status == PIM_OK ? pim_configuration_complete(configuration, error) : status;
}

enum pim_status pim_configure_replay(const struct pim_trace *trace, const char *name,
                                     const struct pim_hardware_sources *sources,
                                     struct pim_configuration **configuration, struct pim_hardware *hardware,
                                     struct pim_error *error)
{
    enum pim_status status = pim_configuration_create(&pim_hardware_schema, configuration, error);
    if (status != PIM_OK)
        return status;
    status = read_sources(trace, name, sources, *configuration, error);
    if (status == PIM_OK)
        status = pim_hardware_read(*configuration, hardware, error);
    if (status != PIM_OK) {
        pim_configuration_destroy(*configuration);
        *configuration = NULL;
    }
    return status;
}
