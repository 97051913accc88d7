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

#endif
