/*
 * Clock domains: the tick that all clocks of a configuration share, cycles of one clock, and modules that are
 * called at its edges.
 *
 * Edges of a clock lie at 0, period, 2 * period, ... ticks; edge n begins cycle n. A module is registered in
 * a phase of a clock and is called at every edge while it is active. Nothing is scheduled while no module is
 * active: an idle clock costs nothing.
 *
 * 1. At an edge the active modules of a phase are called in the order of their ids (one kernel event for
 *    clock, edge and phase).
 * 2. A module activated at tick t is first called at the first edge after t, whatever else is active and
 *    whichever phase t is in; before the first pim_kernel_run() at the first edge at or after t (so at tick
 *    0).
 * 3. A module stays active while its handler returns true. When it returns false but was activated during
 *    this edge's tick, it stays active.
 * 4. Between different clocks the order inside one (tick, phase) is deterministic but not specified.
 */
#ifndef PIMSIM_SIM_CLOCK_H
#define PIMSIM_SIM_CLOCK_H

#include "sim/kernel.h"

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

struct pim_clock;

/*
 * Called at an edge (now: its tick). Returns whether the module stays active. It may schedule, activate
 * and add modules.
 */
typedef bool pim_clock_handler(void *context, pim_time now);

/*
 * A clock of `period` >= 1 ticks on `kernel`. The caller owns it; destroy it only when `kernel` will not run
 * any more (before or after destroying the kernel). NULL only when memory is out.
 */
struct pim_clock *pim_clock_create(struct pim_kernel *kernel, pim_time period);
void pim_clock_destroy(struct pim_clock *clock);

/*
 * Registers a module, inactive at first. Returns its id: ids of one phase grow in the order of registration.
 * `context` stays the caller's. Memory that runs out aborts with a message.
 */
uint32_t pim_clock_add(struct pim_clock *clock, enum pim_phase phase, pim_clock_handler *handler,
                       void *context);

/* Makes a module active (rule 2). Nothing happens when it is active already. */
void pim_clock_activate(struct pim_clock *clock, uint32_t id);

/* Period in ticks; the kernel of this clock. */
pim_time pim_clock_period(const struct pim_clock *clock);
struct pim_kernel *pim_clock_kernel(const struct pim_clock *clock);

/* The cycle that tick `time` lies in (rounded down). */
uint64_t pim_clock_cycle(const struct pim_clock *clock, pim_time time);

/* The first edge at or after `time`, and the first one after it, in ticks (time <= PIM_TIME_LAST). */
pim_time pim_clock_edge_at_or_after(const struct pim_clock *clock, pim_time time);
pim_time pim_clock_edge_after(const struct pim_clock *clock, pim_time time);

/* `cycles` cycles in ticks; at most PIM_TIME_LAST ticks (asserted). */
pim_time pim_clock_ticks(const struct pim_clock *clock, uint64_t cycles);

#endif
