/*
 * Layouts to choose among: those that need no search, and what searches find that start from one replica of
 * each layer, and from them. Before searches with a large budget come those of preset "fast", once with the
 * same seed, so that a large budget has all that the small one has, and then with seeds of their own: which
 * search leads to the fastest program is left to chance, as the closed forms see programs only roughly.
 */
#ifndef PIMSIM_MAPPERS_PIMCOMP_SEARCHES_H
#define PIMSIM_MAPPERS_PIMCOMP_SEARCHES_H

#include "mappers/pimcomp/layout/genetic.h"
#include "mappers/pimcomp/representation/pimcomp.h"

enum {
    PIM_CORE_RULES = 3,
    PIM_CORE_EVENS = 4,
    PIM_CORE_GIVEN_MOST = 16,
    PIM_CORE_RESTARTS_MOST = 24,
    PIM_CORE_SEARCHES_MOST = 2 * PIM_CORE_RESTARTS_MOST + 2
};

struct pim_core_searches {
    uint32_t rules; /* layouts that need no search, as far as they fit */
    const char *rule_name[PIM_CORE_RULES];
    uint32_t evens;  /* of equal steps, behind the rules (layout/layout.h) */
    uint32_t starts; /* the rules, those of equal steps, and behind them those that were given */
    struct pim_core_layout start[PIM_CORE_RULES + PIM_CORE_EVENS + PIM_CORE_GIVEN_MOST];
    uint32_t brief; /* of the searches the first `brief` are those of "fast" with the same seed (or all); */
                    /* then come those with other seeds, and those asked for */
    uint32_t count;
    struct {
        struct pim_core_layout layout;
        struct pim_core_search_result result;
    } found[PIM_CORE_SEARCHES_MOST];
};

/* Of a mapping architecture, network, partition and mode are looked at; the starts of the options, at most
 * PIM_CORE_GIVEN_MOST, are taken beside the layouts without a search, and `seconds` is the limit of all
 * searches together. `restarts`, at most PIM_CORE_RESTARTS_MOST: how often the
 * searches of "fast" are run before larger ones. Layouts live in the arena. Errors as
 * pim_core_layout_search(). */
enum pim_status pim_core_searches_run(const struct pim_core_mapping *mapping,
                                      const struct pim_core_search_options *options, uint32_t restarts,
                                      struct pim_arena *arena, struct pim_core_searches *searches,
                                      struct pim_error *error);

/* The number of the search with the best closed form. */
uint32_t pim_core_searches_best(const struct pim_core_searches *searches);

/* The result of the best one, with generations and evaluations of all; `end`: of the first that ended early.
 */
struct pim_core_search_result pim_core_searches_sum(const struct pim_core_searches *searches);

#endif
