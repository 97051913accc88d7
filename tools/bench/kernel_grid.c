/* A grid of cells that do a little arithmetic every cycle, with an event each. */
#include "sim/kernel/kernel.h"
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

static void fire(struct pim_kernel *kernel, void *context)
{
    step(context);
    pim_kernel_schedule(kernel, PERIOD, PIM_PHASE_NETWORK, fire, context);
}

double bench_grid(unsigned side, uint64_t cycles, unsigned repeats)
{
    size_t count = (size_t)side * side;
    struct cell *cells = bench_allocate(count, sizeof *cells);
    struct pim_kernel *kernel = pim_kernel_create();
    if (!kernel)
        abort();
    for (size_t i = 0; i < count; i++) {
        cells[i] = (struct cell){i, &cells[i ? i - 1 : count - 1]};
        pim_kernel_schedule(kernel, 0, PIM_PHASE_NETWORK, fire, &cells[i]);
    }
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
    pim_kernel_destroy(kernel);
    free(cells);
    return best / (double)cycles / (double)count;
}
