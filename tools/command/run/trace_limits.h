#ifndef PIMSIM_TOOLS_COMMAND_RUN_TRACE_LIMITS_H
#define PIMSIM_TOOLS_COMMAND_RUN_TRACE_LIMITS_H

#include "tools/command/options.h"
#include "traces/check/check.h"

/* The limits of the hardware files, or of the trace's own configuration, then of every --set. *known is false
 * when there is neither. Rows, banks and ways of channels are held against them at once. */
enum pim_status trace_read_limits(const struct pim_trace *trace, const struct common_options *common,
                                  struct pim_check_limits *limits, bool *known, struct pim_error *error);

#endif
