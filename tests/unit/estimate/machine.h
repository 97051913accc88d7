/* A hardware configuration read from its file, as the models and as the closed forms see it. */
#ifndef PIMSIM_TESTS_UNIT_ESTIMATE_MACHINE_H
#define PIMSIM_TESTS_UNIT_ESTIMATE_MACHINE_H

#include "mappers/estimate/estimate.h"
#include "models/system/hardware.h"

#include <stddef.h>

struct machine {
    struct pim_hardware hardware;
    struct pim_estimate_hardware estimate;
};

/* The presets whose units are nodes. */
extern const char *const machine_presets[];
enum { MACHINE_PRESETS = 3 };

/* Reads configs/hardware/`preset`.cfg and sets `count` assignments "path=value"; a failure fails the test. */
void machine_read(struct machine *machine, const char *preset, const char *const *assignments, size_t count);

/* Cycles of the trace in that file; a failure fails the test. */
uint64_t machine_simulate(const struct machine *machine, const char *path);

#endif
