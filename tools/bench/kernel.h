/*
 * The measurements of `pimsim-bench kernel`: the hold model on the wheel and on a binary heap, and a grid of
 * clocked cells.
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
 */
enum bench_delays { BENCH_HW, BENCH_HOT, BENCH_FAR, BENCH_DELAYS };
enum bench_queue { BENCH_WHEEL, BENCH_HEAP };

/* "hw", "hot", "far". */
extern const char *const bench_delay_names[BENCH_DELAYS];

/*
 * CPU nanoseconds per event: the least of `repeats` runs of `events` events (after a warm-up when repeats
 * > 1).
 */
double bench_hold(enum bench_queue queue, enum bench_delays delays, uint64_t pending, uint64_t events,
                  unsigned repeats);

/*
 * A grid of side x side cells with a little arithmetic each; every `stride`-th cell is active. CPU
 * nanoseconds per active cell and cycle, the least of `repeats` runs of `cycles` cycles.
 */
enum bench_grid {
    BENCH_GRID_CLOCK,  /* modules of a clock domain */
    BENCH_GRID_EVENTS, /* a plain event for each cell and cycle */
};
double bench_grid(enum bench_grid kind, unsigned side, unsigned stride, uint64_t cycles, unsigned repeats);

#endif
