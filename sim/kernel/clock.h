/*
 * The tick that all clocks of a configuration share. Edges of a clock lie at 0, period, 2 * period, ...
 * ticks; edge n begins cycle n.
 */
#ifndef PIMSIM_SIM_KERNEL_CLOCK_H
#define PIMSIM_SIM_KERNEL_CLOCK_H

#include "sim/kernel/kernel.h"

/* The most ticks a second may have: 10^15, a tick of one femtosecond. */
#define PIM_CLOCK_MAX_HZ UINT64_C(1000000000000000)

/*
 * The tick for `count` clocks of `khz[i]` kHz: the ticks in a second are the least common multiple of all
 * frequencies, so that each period (`periods[i]`, in ticks) is exact. `where[i]` may name the key of a
 * frequency for messages (`where` may be NULL). PIM_BAD_INPUT when a frequency is 0 or the common tick would
 * be finer than PIM_CLOCK_MAX_HZ; outputs are then unchanged.
 */
enum pim_status pim_clock_ticks_per_second(const uint64_t *khz, size_t count, const char *const *where,
                                           uint64_t *ticks_per_second, pim_time *periods,
                                           struct pim_error *error);

#endif
