/*
 * The rules of docs/models/core.md once more, as plainly as possible: every cycle, everything is looked at
 * again. No messages, phases or chips.
 */
#ifndef PIMSIM_TESTS_UNIT_CORE_REFERENCE_H
#define PIMSIM_TESTS_UNIT_CORE_REFERENCE_H

#include "models/core/cores.h"

enum { REFERENCE_CORES = 4, REFERENCE_LENGTH = 120 };

struct reference {
    struct pim_cores_configuration configuration;
    uint64_t mvm_cycles;
    uint32_t cores;
    struct pim_instruction program[REFERENCE_CORES][REFERENCE_LENGTH];
    uint32_t length[REFERENCE_CORES];
    /* results */
    uint64_t start[REFERENCE_CORES][REFERENCE_LENGTH], end[REFERENCE_CORES][REFERENCE_LENGTH];
};

void reference_run(struct reference *reference);

#endif
