/*
 * The closed loop of `pimsim map pimcomp`: what the search found last and the layouts without a search are
 * compiled and simulated, and the fastest is taken. The mapper knows no model, the models no mapper: the
 * command brings both together.
 *
 * Invariants:
 *  1. The one taken is no slower than any other, by the cycles of the simulation; of equals the first.
 *  2. What comes out does not depend on `threads`: every candidate is simulated up to the cycles of the first
 *     one that can be scheduled, and no longer.
 */
#ifndef PIMSIM_TOOLS_COMMAND_MAP_PIMCOMP_PROFILE_H
#define PIMSIM_TOOLS_COMMAND_MAP_PIMCOMP_PROFILE_H

#include "mappers/pimcomp/genetic.h"
#include "mappers/pimcomp/schedule.h"
#include "models/system/hardware.h"

enum { MAP_PIMCOMP_CANDIDATES_MOST = PIM_RUNNERS_UP_MOST + 3 };

struct map_pimcomp_candidate {
    const char *name;
    uint32_t number; /* of those with that name, from 1 */
    struct pim_core_layout layout;
    bool refused;    /* it cannot be scheduled */
    bool complete;   /* false: longer than the first one */
    uint64_t cycles; /* of the cores; of a saturated round or an inference */
};

struct map_pimcomp_profile {
    uint32_t count, taken;
    struct map_pimcomp_candidate candidate[MAP_PIMCOMP_CANDIDATES_MOST];
};

struct map_pimcomp_profile_options {
    const struct pim_hardware *hardware;
    const struct pim_core_mapping *mapping;    /* its layout is not looked at */
    struct pim_core_schedule_options schedule; /* batch and report are not looked at */
    unsigned threads;                          /* at least 1 */
    bool quiet;                                /* no progress bar */
};

/* Simulates profile->candidate and sets what came out. Fails with what the first candidate failed with when
 * none can be scheduled; PIM_IO, PIM_NO_MEMORY. */
enum pim_status map_pimcomp_profile_run(const struct map_pimcomp_profile_options *options,
                                        struct map_pimcomp_profile *profile, struct pim_error *error);

#endif
