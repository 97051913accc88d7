/*
 * Reports of a run: JSON for scripts (the keys are a contract, docs/reference/run-json.md), text for people,
 * CSV through the statistics registry.
 */
#ifndef PIMSIM_MODELS_SYSTEM_REPORT_REPORT_H
#define PIMSIM_MODELS_SYSTEM_REPORT_REPORT_H

#include "models/system/system.h"

#include <stdio.h>

/* What a report says about inputs and host, beside the result. */
struct pim_report_inputs {
    const char *trace_name;
    uint64_t config_hash;
    const struct pim_configuration *configuration; /* borrowed; NULL: its text is left out */
    const char *estimate_differs; /* pim_configure_differences(); NULL: the estimates are of this hardware */
    uint64_t seed;                /* 0: nothing in a replay is random */
    bool reproducible;            /* leave out what differs from run to run: host time and memory */
    double cpu_seconds;
    uint64_t peak_memory_bytes;
};

/* Whether the trace has estimates that may stand beside the cycles of the run: they are of its hardware, and
 * it was not stopped, for they are of the whole. */
static inline bool pim_report_has_estimates(const struct pim_system *system,
                                            const struct pim_run_result *result,
                                            const struct pim_report_inputs *inputs)
{
    return pim_trace_is_estimated(system->trace) && result->complete && !inputs->estimate_differs;
}

enum pim_report_format { PIM_REPORT_TEXT, PIM_REPORT_JSON, PIM_REPORT_CSV };

enum pim_status pim_report_write(const struct pim_system *system, const struct pim_run_result *result,
                                 const struct pim_report_inputs *inputs, enum pim_report_format format,
                                 FILE *file, struct pim_error *error);

/* CPU seconds and peak resident bytes of this process so far. */
void pim_host_usage(double *cpu_seconds, uint64_t *peak_memory_bytes);

/* The single formats. */
enum pim_status pim_report_json(const struct pim_system *system, const struct pim_run_result *result,
                                const struct pim_report_inputs *inputs, FILE *file, struct pim_error *error);
enum pim_status pim_report_text(const struct pim_system *system, const struct pim_run_result *result,
                                const struct pim_report_inputs *inputs, FILE *file, struct pim_error *error);
void pim_report_csv(const struct pim_system *system, const struct pim_run_result *result,
                    const struct pim_report_inputs *inputs, FILE *file);

/* Name of a phase for people: a cycle count of the mean over the units that ran it. */
uint64_t pim_phase_mean_cycles(const struct pim_system *system, uint32_t phase);

#endif
