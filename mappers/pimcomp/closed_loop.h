/*
 * The closed loop: candidates are compiled and timed (cost/timing.h), the best of them refined, and those
 * that may be the fastest simulated; the fastest is taken. The mapper knows no model: who calls it brings
 * the simulator along; without one the timing decides.
 *
 * Invariants:
 *  1. The one taken is no slower than any other that was simulated, by its cycles; of equals the first.
 *  2. Every rule of thumb and every start that was given whose estimate is within PIM_CORE_MARGIN per cent of
 *     the best is simulated.
 *  3. What comes out does not depend on `workers`: every candidate is simulated up to the cycles of the one
 *     with the best estimate, and no longer.
 *  4. A time limit or a stop ends it: no candidate is begun afterwards, but for one that can be scheduled.
 *     What was timed and simulated until then decides, and `cut_short` says so; 2 and 3 do not hold then.
 */
#ifndef PIMSIM_MAPPERS_PIMCOMP_CLOSED_LOOP_H
#define PIMSIM_MAPPERS_PIMCOMP_CLOSED_LOOP_H

#include "mappers/mapper.h"
#include "mappers/pimcomp/layout/genetic.h"
#include "mappers/pimcomp/schedule/schedule.h"

enum { PIM_CORE_MARGIN = 10 };
/* At most (compile.c): searches with what came next to their best, rules, equal steps and starts that are
 * given; each of them spread in two ways, too, and all of them in high throughput once more without maps on
 * chip; and what the refinement finds. */
enum { PIM_CORE_CANDIDATES_MOST = 816 };

struct pim_core_candidate {
    const char *name;
    uint32_t number; /* of those with that name, from 1 */
    bool searched;   /* the search's own; else a rule of thumb, or from a neighbour */
    bool no_keeping; /* high throughput: no map stays on chip */
    struct pim_core_layout layout;
    bool refused;          /* it cannot be scheduled */
    bool left_out;         /* it had no turn before the end: no estimate */
    uint64_t estimate;     /* its timing: of a saturated round or an inference */
    uint64_t instructions; /* that were timed */
    bool simulated;
    bool complete;   /* false: longer than the one with the best estimate */
    uint64_t cycles; /* of the cores; simulated */
};

struct pim_core_profile {
    uint32_t count, taken, timed; /* timed: programs, those of the refinement included */
    bool served;                  /* one was timed that can be scheduled: the others may be left out */
    bool cut_short;               /* a time limit or a stop left something out */
    struct pim_core_candidate candidate[PIM_CORE_CANDIDATES_MOST];
};

struct pim_core_profile_options {
    pim_mapper_simulate *simulate;
    void *simulator;
    const struct pim_core_mapping *mapping;    /* its layout is not looked at */
    struct pim_core_schedule_options schedule; /* batch and report are not looked at */
    struct pim_workers *workers;   /* one crew for all: a thread that ends gives its memory back */
    pim_mapper_progress *progress; /* NULL: nobody is told */
    void *context;
    struct pim_search_limit *limit; /* NULL: there is none */
    /* Told of what was timed, in the order of candidates; NULL: nobody is. */
    enum pim_status (*timed)(void *observer, const struct pim_core_mapping *mapping,
                             const struct pim_core_candidate *candidate, struct pim_error *error);
    void *observer;
};

/* Adds a candidate; where maps may stay on chip a second one, with which none does. */
void pim_core_profile_add(const struct pim_core_profile_options *options, struct pim_core_profile *profile,
                          const char *name, bool searched, const struct pim_core_layout *layout);

/* Whether the time limit is over, or a stop was asked for. */
static inline bool pim_core_profile_ends(const struct pim_core_profile_options *options)
{
    return options->limit && pim_search_limit_over(options->limit);
}

/* Whether a candidate has an estimate. */
static inline bool pim_core_candidate_is_timed(const struct pim_core_candidate *candidate)
{
    return !candidate->refused && !candidate->left_out;
}

/* Times the candidates from number `first` on. Where it ends before, number `preferred` is the first. Fails
 * with what the first of them failed with when none can be scheduled; PIM_NO_MEMORY. */
enum pim_status pim_core_profile_time(const struct pim_core_profile_options *options,
                                      struct pim_core_profile *profile, uint32_t first, uint32_t preferred,
                                      struct pim_error *error);

/* Of the candidates from number `first` to `end` - 1 the one with the best estimate. */
uint32_t pim_core_profile_best(const struct pim_core_profile *profile, uint32_t first, uint32_t end);

/* Simulates those that may be the fastest, of the search's own at most `most`, and takes the fastest. PIM_IO,
 * PIM_NO_MEMORY. */
enum pim_status pim_core_profile_run(const struct pim_core_profile_options *options, uint32_t most,
                                     struct pim_core_profile *profile, struct pim_error *error);

/*
 * How well the timing tells the layouts of a search apart where it matters: of all layouts that were timed
 * those with the least estimates are simulated to their end, and Spearman's rank correlation of estimates and
 * cycles is what comes out. It changes nothing that the mapping decides.
 */

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

#endif
