/*
 * From sources to the hardware that a trace is replayed on. The one place that decides it, for command and
 * library:
 *
 *  1. the named hardware files in their order, or, when there is none, the configuration that the trace
 *     carries;
 *  2. then every override, in order;
 *  3. then the fidelity of the network, which is a setting like any other: the hash of the configuration
 *     tells it.
 *
 * The result is complete and checked: every required key has a value, and the models accept the values.
 */
#ifndef PIMSIM_MODELS_SYSTEM_CONFIGURE_H
#define PIMSIM_MODELS_SYSTEM_CONFIGURE_H

#include "models/system/hardware/needs.h"
#include "models/system/read.h"
#include "traces/file/reader.h"

#include <stddef.h>

/* Where values come from; everything is borrowed. All zero: the trace's own configuration as it is. */
struct pim_hardware_sources {
    const char *const *files; /* libconfig files; the later wins */
    size_t file_count;
    const char *const *sets; /* "key=value" */
    size_t set_count;
    const char *fidelity; /* "ideal", "analytic" or "flit" instead of noc.fidelity; NULL: as configured */
    enum pim_key_purpose purpose; /* a set (and fidelity) that does nothing for it is refused; 0: none is */
};

/*
 * Makes the configuration to replay `trace` on, and the hardware that it describes. `name` stands for the
 * trace in messages, which name the place of a wrong value. The caller destroys *configuration; it is NULL
 * after a failure. PIM_BAD_INPUT, PIM_IO or PIM_NO_MEMORY.
 */
enum pim_status pim_configure_replay(const struct pim_trace *trace, const char *name,
                                     const struct pim_hardware_sources *sources,
                                     struct pim_configuration **configuration, struct pim_hardware *hardware,
                                     struct pim_error *error);

/*
 * In what `configuration` differs from the hardware that the estimates of `trace` were made for, the one it
 * carries: "noc.flit_bits 64 here 16; ...", cut when it is longer than `size`, and empty when estimates and
 * replay are of the same hardware or there are no estimates. Names, energies, and how exactly the network is
 * simulated do not count.
 */
enum pim_status pim_configure_differences(const struct pim_trace *trace,
                                          const struct pim_configuration *configuration, char *text,
                                          size_t size, struct pim_error *error);

#endif
