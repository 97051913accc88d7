/*
 * The energy of a trace of nodes without simulating it: what its instructions do, in closed forms. Rows that
 * a memory opens and what the network adds to a message (announcements, packets) are left out.
 */
#ifndef PIMSIM_TOOLS_TUNE_ENERGY_H
#define PIMSIM_TOOLS_TUNE_ENERGY_H

#include "models/system/hardware.h"
#include "traces/file/reader.h"

/* `nanoseconds`: the time that static power counts for. In pJ. */
enum pim_status pim_tune_trace_energy(const struct pim_trace *trace, const struct pim_hardware *hardware,
                                      double nanoseconds, double *energy_pj, struct pim_error *error);

#endif
