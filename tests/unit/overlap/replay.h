/* Traces of plans, replayed: every layer's end against the plan's. */
#ifndef PIMSIM_TESTS_UNIT_OVERLAP_REPLAY_H
#define PIMSIM_TESTS_UNIT_OVERLAP_REPLAY_H

#include "mappers/network/descriptor/descriptor.h"

#include <stdint.h>

struct replay {
    const char *network, *memory; /* of configs/networks; "hbm2" or "reram" */
    const char *set;              /* "levels.costs=commands" */
    unsigned objective, budget;   /* candidates */
    double percent;               /* the end of a layer, or of all, is off by at most so much; and */
    double share;                 /* what a layer adds to the run, where that is more than this share of it */
};

/* Maps the network, replays the trace, and fails when the estimate is off by more than is said, or when
 * anything is faster than the memory allows. */
void check_replay(const struct replay *replay);

/* The whole alone, on an array ("array.width=4") with so many channels a layer. */
void check_array(const struct replay *replay, const char *array, unsigned channels);

/* The same of an array with `channels` (1, 2 or 4) a layer on which units would wait for
 * each other: that the trace is written so that they do not, and that all of it takes about as long. */
void check_hand_over(const struct replay *replay, const char *array, unsigned channels);

/* A network that was built here, on HBM2 with these settings (up to NULL). */
struct built_replay {
    const struct pim_network *network;
    const char *const *settings;
    unsigned objective, budget, channels;
    double percent, phase_percent; /* the whole, and phases of a fiftieth of it, are off by at most that */
    bool ends;                     /* layers hand over at their ends, or do not */
};
void check_built(const struct built_replay *replay);

/* The same with mappings of the whole space. */
void check_built_random(const struct built_replay *replay);

/* Cycles of the trace at `path` on its own hardware. */
uint64_t replay_cycles(const char *path);

#endif
