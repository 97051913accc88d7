/* Ticks, the phases inside a tick, and what is called in them. */
#ifndef PIMSIM_SIM_KERNEL_TIME_H
#define PIMSIM_SIM_KERNEL_TIME_H

#include <stdint.h>

typedef uint64_t pim_time; /* ticks */

#define PIM_TIME_NEVER UINT64_MAX               /* no such time; as `until`: without limit */
#define PIM_TIME_LAST ((UINT64_C(1) << 61) - 1) /* the latest tick an event can have */

/* Module classes run grouped: each has its phase inside a tick. */
enum pim_phase { PIM_PHASE_NETWORK, PIM_PHASE_MEMORY, PIM_PHASE_ENGINE, PIM_PHASE_UNIT, PIM_PHASES };

struct pim_kernel;

typedef void pim_handler(struct pim_kernel *kernel, void *context);

#endif
