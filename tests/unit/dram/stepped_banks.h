/*
 * Interleaved banks stepped cycle by cycle: the oracle for models/cost/bank.c where a node has several. It
 * shares no arithmetic with it: every bank and the bus hold the cycle of the last command of each kind, every
 * cycle asks which of all accesses that have arrived may go on, and nothing is known of what comes later.
 */
#ifndef PIMSIM_TESTS_UNIT_DRAM_STEPPED_BANKS_H
#define PIMSIM_TESTS_UNIT_DRAM_STEPPED_BANKS_H

#include "models/cost/bank.h"

#include <stddef.h>

/* Bursts in the order of their arrivals; `times` holds one entry for each. Steps on until all are served and
   every refresh due up to `until` was issued. */
void stepped_banks_run(const struct pim_bank_timing *timing, const struct pim_bank_organization *organization,
                       const struct pim_burst *bursts, const uint64_t *arrivals, size_t count, uint64_t until,
                       struct pim_burst_times *times, struct pim_bank_counters *counters);

#endif
