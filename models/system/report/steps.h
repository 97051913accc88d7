/*
 * The time of phases and steps, one accounting for `run`, `validate`, `compare` and their JSON.
 *
 * The time of a phase is by how much it moves the end of the work: from the latest end of all phases before
 * it (in the order of the trace) to its own latest end; nothing when it ends before that. So phases share the
 * run without gap or overlap: their times add up to the latest end of them all, which no run is shorter than.
 * A step is all phases whose names end in the same part ("stage1/block0/query": query).
 */
#ifndef PIMSIM_MODELS_SYSTEM_REPORT_STEPS_H
#define PIMSIM_MODELS_SYSTEM_REPORT_STEPS_H

#include <stdint.h>
#include <string.h>

/* The time of the next phase, which ends at `end`; *frontier is the latest end of those before, 0 at first,
 * and moves on. Any unit, the same for both; where cycles are rounded, ends are rounded before, so that sums
 * stay exact. */
static inline uint64_t pim_phase_advance(uint64_t end, uint64_t *frontier)
{
    const uint64_t advance = end > *frontier ? end - *frontier : 0;
    *frontier += advance;
    return advance;
}

/* The step of a phase, within its name. */
static inline const char *pim_step_name(const char *phase)
{
    const char *slash = strrchr(phase, '/');
    return slash ? slash + 1 : phase;
}

#endif
