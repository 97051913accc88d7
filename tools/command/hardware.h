/* What commands share about hardware: a configuration as models and as closed forms see it. */
#ifndef PIMSIM_TOOLS_COMMAND_HARDWARE_H
#define PIMSIM_TOOLS_COMMAND_HARDWARE_H

#include "mappers/estimate/estimate.h"
#include "models/system/hardware.h"
#include "tools/command/options.h"
#include "traces/reader.h"

/* The closed forms' view of a hardware. */
void command_estimate_hardware(const struct pim_configuration *configuration, const struct pim_hardware *hardware,
                               struct pim_estimate_hardware *estimate);

/*
 * The configuration to replay a trace on: the files of --hardware, or else the one that the trace carries; then --set. Sets *hardware too.
 * The caller destroys the configuration.
 */
enum pim_status command_trace_hardware(const struct pim_trace *trace, const char *path, const struct common_options *common,
                                       struct pim_configuration **configuration, struct pim_hardware *hardware,
                                       struct pim_error *error);

#endif
