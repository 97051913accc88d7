/*
 * The rules of docs/models/node.md once more, as plainly as possible: every tick, everything is looked at
 * again. The network is stepped in each of its cycles, and costs of engines and bursts are those of
 * models/pe, models/acu and models/dram, which have references of their own. For programs that are right:
 * nothing is refused. Repeats are not known.
 */
#ifndef PIMSIM_TESTS_UNIT_NODE_REFERENCE_H
#define PIMSIM_TESTS_UNIT_NODE_REFERENCE_H

#include "models/node/node.h"

enum { REFERENCE_UNITS = 16, REFERENCE_LENGTH = 64 };

struct reference {
    struct pim_node_configuration configuration;
    struct pim_noc_configuration noc;
    uint32_t units;
    struct pim_instruction program[REFERENCE_UNITS][REFERENCE_LENGTH];
    uint32_t length[REFERENCE_UNITS];
    /* results */
    pim_time start[REFERENCE_UNITS][REFERENCE_LENGTH], end[REFERENCE_UNITS][REFERENCE_LENGTH];
    struct pim_bank_counters bank[REFERENCE_UNITS];
    uint64_t packets;   /* of all kinds */
    uint64_t passed_on; /* packets of data that were not read from memory */
};

void reference_run(struct reference *reference);

#endif
