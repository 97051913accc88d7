/* Random lists at random settings, held against the command checker. */
#ifndef PIMSIM_TESTS_UNIT_DRAM_CHANNEL_CHECK_RUNS_H
#define PIMSIM_TESTS_UNIT_DRAM_CHANNEL_CHECK_RUNS_H

#include <stddef.h>
#include <stdint.h>

/* Runs `rounds` lists of `requests` on a preset; every command must be legal, and energy re-added from the
 * commands must be that of the counters. Returns the number of commands that were checked. */
uint64_t check_runs(size_t preset, unsigned rounds, size_t requests, uint64_t seed);

#endif
