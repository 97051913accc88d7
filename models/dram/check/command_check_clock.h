/*
 * The part of the checker that knows of edges of the clock (HBM3), activations in two halves and the write
 * clock (LPDDR5). One for each channel; all zero at the start.
 */
#ifndef PIMSIM_MODELS_DRAM_CHECK_COMMAND_CHECK_CLOCK_H
#define PIMSIM_MODELS_DRAM_CHECK_COMMAND_CHECK_CLOCK_H

#include "models/dram/check/command_check.h"

struct pim_dram_checked_clock {
    struct pim_dram_logged half; /* the ACT that waits for its ACT-2, */
    bool waits;                  /* if there is one */
    struct pim_dram_logged cas;  /* the last CAS, */
    bool started;                /* if there was one */
    uint64_t running_until;      /* the write clock runs in the cycles before this one */
    struct pim_dram_logged row;  /* the last row command at a rising edge, */
    uint64_t paired;             /* and the falling edge that it restricts; 0: none */
};

/* The rule that `command` (its place exists) breaks, or NULL. Takes it over as the last one. */
const char *pim_dram_check_clock(const struct pim_dram_specification *specification,
                                 struct pim_dram_checked_clock *clock, const struct pim_dram_logged *command);

#endif
