/* Errors as values (sim/status.h), for a caller that has nothing to add to the message, nor to give back. */
#ifndef PIMSIM_SIM_TRY_H
#define PIMSIM_SIM_TRY_H

#include "sim/status.h"

/* Returns from the function at work with the status of `call`, unless that is PIM_OK. */
#define PIM_TRY(call)                                                                                        \
    do {                                                                                                     \
        enum pim_status try_status = (call);                                                                 \
        if (PIM_UNLIKELY(try_status != PIM_OK))                                                              \
            return try_status;                                                                               \
    } while (0)

/* Returns from the function at work with PIM_NO_MEMORY and a text, as with pim_fail, unless all of the memory
 * that was asked for is there. */
#define PIM_NEED_MEMORY(there, error, ...)                                                                   \
    do {                                                                                                     \
        if (PIM_UNLIKELY(!(there)))                                                                          \
            return pim_fail((error), PIM_NO_MEMORY, __VA_ARGS__);                                            \
    } while (0)

#endif
