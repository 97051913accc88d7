/* Traces of plans, replayed: every layer's end against the plan's. */
#ifndef PIMSIM_TESTS_OVERLAP_REPLAY_H
#define PIMSIM_TESTS_OVERLAP_REPLAY_H

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

#endif
