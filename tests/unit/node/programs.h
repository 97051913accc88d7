/* Random valid programs for small arrays of nodes. */
#ifndef PIMSIM_TESTS_UNIT_NODE_PROGRAMS_H
#define PIMSIM_TESTS_UNIT_NODE_PROGRAMS_H

#include "tests/unit/node/support.h"

/* Makes the system of a run for a random program on up to 4 x 4 units; run->trace is the caller's. */
void random_program(struct run *run, uint64_t seed);

#endif
