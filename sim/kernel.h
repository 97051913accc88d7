/*
 * The event kernel: contract, see the functions below.
 *
 * Events fire in the total order (time, phase, insertion sequence). Phases inside a tick are monotone: while phase p of tick t runs,
 * new events of tick t must have a phase >= p (asserted). Handlers run to completion. Nothing happens between events.
 */
#ifndef PIMSIM_SIM_KERNEL_H
#define PIMSIM_SIM_KERNEL_H

#include "sim/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef uint64_t pim_time; /* ticks */

#define PIM_TIME_NEVER UINT64_MAX

/* Module classes run grouped: each has its phase inside a tick. */
enum pim_phase { PIM_PHASE_NETWORK, PIM_PHASE_MEMORY, PIM_PHASE_ENGINE, PIM_PHASE_UNIT, PIM_PHASES };

struct pim_kernel;

typedef void pim_handler(struct pim_kernel *kernel, void *context);

/* A kernel with an empty queue at tick 0. NULL only when memory is out. */
struct pim_kernel *pim_kernel_create(void);
void pim_kernel_destroy(struct pim_kernel *kernel);

/* Tick and phase of the event that runs (or of the last one that ran). */
static inline pim_time pim_kernel_now(const struct pim_kernel *kernel);
static inline enum pim_phase pim_kernel_phase(const struct pim_kernel *kernel);

/* Calls handler(kernel, context) `delay` ticks from now, in `phase`. Never fails: memory that runs out aborts with a message. */
static inline void pim_kernel_schedule(struct pim_kernel *kernel, pim_time delay, enum pim_phase phase, pim_handler *handler,
                                       void *context);

#endif
