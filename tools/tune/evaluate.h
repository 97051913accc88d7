/*
 * What an architecture is worth: each network is mapped onto it and timed, in this process. Three fidelities:
 * the mapper's estimate (with the energy of the trace's instructions), simulation with an ideal network, and
 * simulation flit by flit.
 */
#ifndef PIMSIM_TOOLS_TUNE_EVALUATE_H
#define PIMSIM_TOOLS_TUNE_EVALUATE_H

#include "sim/configuration/configuration.h"
#include "sim/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PIM_TUNE_FIDELITY_MAP(X)                                                                             \
    X(PIM_TUNE_ESTIMATE, "estimate")                                                                         \
    X(PIM_TUNE_IDEAL, "ideal")                                                                               \
    X(PIM_TUNE_FLIT, "flit")

enum pim_tune_fidelity {
#define X(name, text) name,
    PIM_TUNE_FIDELITY_MAP(X)
#undef X
        PIM_TUNE_FIDELITIES
};

const char *pim_tune_fidelity_name(enum pim_tune_fidelity fidelity);

struct pim_tune_figures {
    uint64_t cycles; /* of the logic clock */
    double time_ns, energy_pj;
    double cpu_seconds; /* of this fidelity alone; differs from run to run */
};

struct pim_tune_evaluation {
    struct pim_tune_figures of[PIM_TUNE_FIDELITIES]; /* of those that were asked for */
    double map_seconds;                              /* CPU time of the mapping */
};

/*
 * Maps `network` with `mapper` ("nicepim", words as behind `pimsim map`) onto the hardware of `configuration`
 * and takes the figures of the fidelities whose bits are set in `fidelities`. `trace` is a path for the
 * trace, which is removed.
 */
enum pim_status pim_tune_evaluate(const char *network, const char *mapper, const char *configuration,
                                  const char *trace, unsigned fidelities,
                                  struct pim_tune_evaluation *evaluation, struct pim_error *error);

#endif
