/*
 * The closed loop: what the search found last and the layouts without a search are compiled and simulated,
 * and the fastest is taken. The mapper knows no model: who calls it brings the simulator along.
 *
 * Invariants:
 *  1. The one taken is no slower than any other, by the cycles of the simulation; of equals the first.
 *  2. What comes out does not depend on `threads`: every candidate is simulated up to the cycles of the first
 *     one that can be scheduled, and no longer.
 */
#ifndef PIMSIM_MAPPERS_PIMCOMP_CLOSED_LOOP_H
#define PIMSIM_MAPPERS_PIMCOMP_CLOSED_LOOP_H

#include "mappers/mapper.h"
#include "mappers/pimcomp/genetic.h"
#include "mappers/pimcomp/schedule.h"

enum { PIM_CORE_CANDIDATES_MOST = PIM_RUNNERS_UP_MOST + 3 };

struct pim_core_candidate {
    const char *name;
    uint32_t number; /* of those with that name, from 1 */
    struct pim_core_layout layout;
    bool refused;    /* it cannot be scheduled */
    bool complete;   /* false: longer than the first one */
    uint64_t cycles; /* of the cores; of a saturated round or an inference */
};

struct pim_core_profile {
    uint32_t count, taken;
    struct pim_core_candidate candidate[PIM_CORE_CANDIDATES_MOST];
};

struct pim_core_profile_options {
    pim_mapper_simulate *simulate;
    void *simulator;
    const struct pim_core_mapping *mapping;    /* its layout is not looked at */
    struct pim_core_schedule_options schedule; /* batch and report are not looked at */
    unsigned threads;                          /* at least 1 */
    pim_mapper_progress *progress;             /* NULL: nobody is told */
    void *context;
};

/* Simulates profile->candidate and sets what came out. Fails with what the first candidate failed with when
 * none can be scheduled; PIM_IO, PIM_NO_MEMORY. */
enum pim_status pim_core_profile_run(const struct pim_core_profile_options *options,
                                     struct pim_core_profile *profile, struct pim_error *error);

#endif
