/*
 * The measurements of `pimsim-bench kernel`: the hold model on the wheel and on a binary heap, and a grid of
 * cells with an event each.
 */
#ifndef PIMSIM_TOOLS_BENCH_KERNEL_H
#define PIMSIM_TOOLS_BENCH_KERNEL_H

#include <stdint.h>

/*
 * Hold model: `pending` events; each that fires schedules one more, `delay` ticks later in a random phase.
 * Delays are drawn from
 *   hw    95 % U[1,64], 5 % U[100,4000]
 *   hot   90 % U[1,4], 9 % U[5,64], 1 % U[100,4000]
 *   far   80 % U[1,64], 15 % U[100,4000], 5 % U[4000,100000]
 *   exp   exponential, mean 200, at least 1
 *   late  80 % U[1,64], 20 % U[100000,4000000]: refreshes, ends of long bursts, clocks without a common
 *         divisor
 * Each event has one of `handlers` different handlers, which are drawn as well.
 */
enum bench_delays { BENCH_HW, BENCH_HOT, BENCH_FAR, BENCH_EXP, BENCH_LATE, BENCH_DELAYS };
enum bench_queue { BENCH_WHEEL, BENCH_HEAP };
enum { BENCH_HANDLERS = 8 };

/* "hw", "hot", "far", "exp", "late". */
extern const char *const bench_delay_names[BENCH_DELAYS];

/*
 * CPU nanoseconds per event: the least of `repeats` runs of `events` events (after a warm-up when repeats
 * > 1).
 */
double bench_hold(enum bench_queue queue, enum bench_delays delays, unsigned handlers, uint64_t pending,
                  uint64_t events, unsigned repeats);

/*
 * A grid of side x side cells with a little arithmetic each, and an event for each cell and cycle. CPU
 * nanoseconds per cell and cycle, the least of `repeats` runs of `cycles` cycles.
 */
double bench_grid(unsigned side, uint64_t cycles, unsigned repeats);

#endif
