/*
 * The families of hardware (array.kind), as models/system knows them: one table of operations each, looked up
 * in pim_hardware_families. What else depends on the family asks this table, or the units themselves.
 */
#ifndef PIMSIM_MODELS_SYSTEM_FAMILY_H
#define PIMSIM_MODELS_SYSTEM_FAMILY_H

#include "models/energy/energy.h"
#include "models/system/hardware.h"
#include "models/unit/unit.h"

#include <stdio.h>

/* A component in the energy of a run. */
struct pim_energy_row {
    const char *key, *text;
    size_t offset; /* of a double in struct pim_energy */
};

struct pim_json;
struct pim_system;
struct pim_run_result;

struct pim_hardware_family {
    const char *plural; /* "nodes" */
    const struct pim_unit_family *units;
    size_t size; /* of what `initialize` fills */
    enum pim_status (*initialize)(struct pim_units *units, struct pim_kernel *kernel,
                                  const struct pim_hardware *hardware, const struct pim_trace *trace,
                                  struct pim_error *error);
    /* Its own keys into its part of `hardware`, after clocks, network and common energies; NULL: none. */
    enum pim_status (*read)(const struct pim_configuration *configuration, struct pim_hardware *hardware,
                            struct pim_error *error);
    pim_time slice_cycles;               /* between two steps of the progress bar */
    const char *engines[PIM_CLASSES];    /* names of its engines in text */
    const struct pim_energy_row *shown;  /* in text, up to a row without key */
    const struct pim_energy_row *beyond; /* in JSON and CSV, beyond those of nodes */
    /* What stands for the fidelity of the network in text; NULL, or where it gives NULL: the fidelity. */
    const char *(*interconnect)(const struct pim_hardware *hardware);
    /* Whether models/noc carries messages, so that its links are in the results; NULL: it does. */
    bool (*has_routers)(const struct pim_hardware *hardware);
    /* Links and counts of packets, where its own network carries them; NULL: models/noc does. */
    enum pim_status (*collect)(struct pim_system *system, struct pim_run_result *result,
                               struct pim_error *error);
    /* Whether each unit has a bank of its own, so that what its port waited for is known; NULL: none has. */
    bool (*has_banks)(const struct pim_hardware *hardware);
    /* Figures that only it has into a result that is complete but for them; NULL: there are none. */
    void (*complete)(struct pim_system *system, struct pim_run_result *result);
    /* In text: lines about its memory below the engines (NULL: none), and a paragraph behind them. */
    void (*print_memory)(const struct pim_system *system, const struct pim_run_result *result, FILE *file);
    void (*print)(const struct pim_system *system, const struct pim_run_result *result, FILE *file);
    /* In JSON: its object, of the rows in models/system/families/NAME.def; NULL: it has none. */
    void (*put)(struct pim_json *json, const struct pim_system *system, const struct pim_run_result *result);
};

/* models/system/families/ */
extern const struct pim_hardware_family pim_hardware_nodes, pim_hardware_cores, pim_hardware_channels,
    pim_hardware_tiles;

/* By the number of the value of array.kind. */
extern const struct pim_hardware_family *const pim_hardware_families[];

static inline double pim_energy_of_row(const struct pim_energy *energy, const struct pim_energy_row *row)
{
    return *(const double *)(const void *)((const char *)energy + row->offset);
}

#endif
