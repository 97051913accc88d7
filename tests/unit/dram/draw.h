/* Random numbers and bursts of the tests of banks. */
#ifndef PIMSIM_TESTS_UNIT_DRAM_DRAW_H
#define PIMSIM_TESTS_UNIT_DRAM_DRAW_H

#include "models/cost/bank.h"

#include <stdint.h>

/* 0 to bound - 1; least to most. */
uint32_t below(uint64_t *state, uint32_t bound);
uint32_t between(uint64_t *state, uint32_t least, uint32_t most);

/* Dense, sparse and single pieces inside the capacity, in bytes; half of the bursts near its beginning, so
 * that rows are open already and directions change. Of several pieces each has `part` times fewer bytes. */
struct pim_burst random_burst(uint64_t *state, uint64_t capacity, uint32_t part);

#endif
