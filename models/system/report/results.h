/*
 * What the tables of results (models/system/results.def) are made with, for the reports.
 */
#ifndef PIMSIM_MODELS_SYSTEM_REPORT_RESULTS_H
#define PIMSIM_MODELS_SYSTEM_REPORT_RESULTS_H

#include "models/system/system.h"

#include <stdbool.h>
#include <stddef.h>

/* A component that the energy of a run is told by. */
struct pim_energy_component {
    const char *name;
    double picojoules; /* NaN: not modelled */
    bool of_memory;    /* what channels take, where the memory is on channels */
};

enum { PIM_ENERGY_COMPONENTS_MOST = 16 };

/* The components of the family of the units, in the order of reports; those that are modelled add up to
 * energy->total, unless it is NaN. Returns how many. */
uint32_t pim_energy_components(const struct pim_system *system, const struct pim_energy *energy,
                               struct pim_energy_component components[PIM_ENERGY_COMPONENTS_MOST]);

/* Energy of a unit or a phase, which stood for `time` (of a phase: the sum over its units). */
struct pim_energy pim_work_energy(const struct pim_system *system, const struct pim_actions *actions,
                                  pim_time time);

/* The energy of a memory on channels, result->memory_energy, as a component. */
void pim_result_add_memory(struct pim_run_result *result, double *component);

#endif
