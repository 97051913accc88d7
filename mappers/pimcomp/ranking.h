/*
 * How well the timing tells the layouts of a search apart where it matters: of all layouts that were timed
 * those with the least estimates are simulated to their end, and Spearman's rank correlation of estimates and
 * cycles is what comes out. It changes nothing that the mapping decides.
 */
#ifndef PIMSIM_MAPPERS_PIMCOMP_RANKING_H
#define PIMSIM_MAPPERS_PIMCOMP_RANKING_H

#include "mappers/pimcomp/closed_loop.h"

enum { PIM_CORE_RANKED_MOST = 200 };

struct pim_core_ranking {
    uint32_t most, count;    /* at most PIM_CORE_RANKED_MOST */
    uint64_t seen;           /* layouts that were timed, and can be scheduled */
    struct pim_arena *arena; /* of their layouts */
    /* The best so far, the least estimate first, of equals the first that was timed; no layout twice. */
    struct pim_core_candidate best[PIM_CORE_RANKED_MOST];
    double correlation;               /* NAN: all estimates or all cycles are equal */
    uint64_t fastest, slowest, first; /* cycles: of these, and of the one with the least estimate */
    double error_least, error_most;   /* of the estimates, per cent of the cycles */
};

/* Notes a layout that was timed, in a ranking: `timed` of pim_core_profile_options. PIM_NO_MEMORY. */
enum pim_status pim_core_ranking_see(void *ranking, const struct pim_core_mapping *mapping,
                                     const struct pim_core_candidate *candidate, struct pim_error *error);

/* Simulates them and fills the rest. As pim_core_profile_run() fails. */
enum pim_status pim_core_ranking_make(struct pim_core_ranking *ranking,
                                      const struct pim_core_profile_options *options,
                                      struct pim_error *error);

/* Spearman's rank correlation; equal values share the mean of their ranks. NAN: all of a side are equal. */
double pim_core_rank_correlation(const uint64_t *one, const uint64_t *two, uint32_t count);

#endif
