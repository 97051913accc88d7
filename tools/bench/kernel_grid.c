/*
 * A grid of cells that do a little arithmetic every cycle: as modules of a clock domain, and as an event
 * each.
 */
#include "sim/clock.h"
#include "sim/kernel.h"
#include "tools/bench/bench.h"
#include "tools/bench/kernel.h"

#include <stdlib.h>

#define PERIOD 3 /* ticks: as when clocks of other rates are about */

struct cell {
    uint64_t state;
    const struct cell *west;
};

static inline void step(struct cell *cell)
{
    cell->state = cell->state * UINT64_C(6364136223846793005) + cell->west->state;
}

static bool tick(void *context, pim_time now)
{
    (void)now;
    step(context);
    return true;
}

static void fire(struct pim_kernel *kernel, void *context)
{
    step(context);
    pim_kernel_schedule(kernel, PERIOD, PIM_PHASE_NETWORK, fire, context);
}

static void start_cells(enum bench_grid kind, struct pim_kernel *kernel, struct pim_clock *clock,
                        struct cell *cells, size_t count, unsigned stride)
{
    for (size_t i = 0; i < count; i++) {
        cells[i] = (struct cell){i, &cells[i ? i - 1 : count - 1]};
        uint32_t id = pim_clock_add(clock, PIM_PHASE_NETWORK, tick, &cells[i]);
        if (i % stride != 0)
            continue;
        if (kind == BENCH_GRID_CLOCK)
            pim_clock_activate(clock, id);
        else
            pim_kernel_schedule(kernel, 0, PIM_PHASE_NETWORK, fire, &cells[i]);
    }
}

double bench_grid(enum bench_grid kind, unsigned side, unsigned stride, uint64_t cycles, unsigned repeats)
{
    size_t count = (size_t)side * side;
    struct cell *cells = bench_allocate(count, sizeof *cells);
    struct pim_kernel *kernel = pim_kernel_create();
    struct pim_clock *clock = kernel ? pim_clock_create(kernel, PERIOD) : NULL;
    if (!clock)
        abort();
    start_cells(kind, kernel, clock, cells, count, stride);
    pim_time until = 0;
    double best = 0;
    for (unsigned repeat = repeats > 1 ? 0 : 1; repeat <= repeats; repeat++) {
        until += cycles * PERIOD;
        double start = bench_cpu_ns();
        (void)pim_kernel_run(kernel, until);
        double time = bench_cpu_ns() - start;
        if (repeat == 1 || (repeat > 1 && time < best))
            best = time;
    }
    pim_clock_destroy(clock);
    pim_kernel_destroy(kernel);
    free(cells);
    size_t active = (count + stride - 1) / stride;
    return best / (double)cycles / (double)active;
}
