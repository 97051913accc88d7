/* Estimates of the phases of a schedule, from the closed forms of a layout (estimate.h). */
#ifndef PIMSIM_MAPPERS_PIMCOMP_PHASES_H
#define PIMSIM_MAPPERS_PIMCOMP_PHASES_H

#include "mappers/pimcomp/pimcomp.h"
#include "mappers/pimcomp/schedule.h"
#include "traces/writer.h"

/*
 * Estimates every phase of a schedule and writes it to the trace of `writer` (NULL: to none). High
 * throughput: phase r is round r, in which the layer groups g work with 0 <= r - g < batch (batch 0: all of
 * them); groups that do not work are left out of the layout. Low latency: the one phase is the inference.
 * *cycles and `parts` receive the sums over all phases. PIM_NO_MEMORY.
 */
enum pim_status pim_core_estimate_phases(const struct pim_core_mapping *mapping,
                                         const struct pim_core_schedule_report *report, uint32_t batch,
                                         struct pim_trace_writer *writer, uint64_t *cycles,
                                         uint64_t parts[PIM_ESTIMATE_PARTS], struct pim_error *error);

#endif
