/* Traces of plans, replayed: every layer's end against the plan's. */
#ifndef PIMSIM_TESTS_OVERLAP_REPLAY_H
#define PIMSIM_TESTS_OVERLAP_REPLAY_H

/*
 * Maps a network of configs/networks with `set` ("levels.costs=commands") and so many candidates, replays the
 * trace, and fails when the end of a layer, or of all, is off by more than `percent`; or what a layer adds to
 * the run, where that is more than `share` of it; or when anything is faster than the memory allows.
 */
void check_replay(const char *network, const char *set, unsigned objective, unsigned budget, double percent,
                  double share);

#endif
