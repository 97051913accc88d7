/*
 * The genetic algorithm for replicas and layout (paper, section VI-A; docs/mappers/pimcomp.md, section
 * Search).
 *
 * The individuals start with one replica of each layer, or with the layouts given, in turn. A generation
 * keeps the best fifth and replaces the others by mutants of it: the better of two random survivors is a
 * parent; a child has one mutation, and another with probability 1/2, and so on up to eight. Fitness is the
 * closed form of cost/estimate.h: its cycles, then its spread. For high throughput, in every other stretch of
 * 32 generations, cycles count in steps of about a thirty-second only, so that the spread decides between
 * layouts of nearly the same cycles: where several layers hold a round back together, none of them alone
 * would gain anything. The best layout is kept by its exact cycles, and joins where they count again.
 *
 * Invariants:
 *  1. Every individual is legal (chromosome.h).
 *  2. The best fitness never rises from one generation to the next.
 *  3. The result depends on the options but `threads`, unless `seconds` or `stop` ends it: each child has
 *     random numbers of its own,
 *     from the seed, its generation and its number.
 */
#ifndef PIMSIM_MAPPERS_PIMCOMP_LAYOUT_GENETIC_H
#define PIMSIM_MAPPERS_PIMCOMP_LAYOUT_GENETIC_H

#include "mappers/pimcomp/cost/estimate.h"
#include "mappers/pimcomp/layout/layout.h"
#include "mappers/search/problem.h"

enum { PIM_RUNNERS_UP_MOST = 30 };

struct pim_core_search_options {
    uint32_t population;         /* at least 5 */
    uint32_t generations;        /* at most */
    uint32_t patience;           /* stops when so many in a row gained less than a thousandth; 0: never */
    uint32_t max_layers_in_core; /* genes of a core, 1 to 64 */
    uint64_t seed;
    unsigned threads;    /* 0: one */
    uint32_t runners_up; /* further layouts that are wanted, at most PIM_RUNNERS_UP_MOST */
    /* Layouts that the population starts with; those that a chromosome cannot say are left out. When none is
     * left, with one replica of each layer. */
    uint32_t starts;
    const struct pim_core_layout *start;
    double seconds; /* of wall clock, after which the best so far is taken; 0: no limit */
    /* Told of generations, and asked after each one whether to stop with the best so far; NULL: nobody is. */
    void (*progress)(void *context, const char *what, uint64_t done, uint64_t total);
    bool (*stop)(void *context);
    void *context; /* of both */
};

struct pim_core_search_result {
    struct pim_core_estimate first; /* the best of those that it started with */
    struct pim_core_estimate best;
    uint32_t generations; /* that were run */
    uint64_t evaluations;
    enum pim_search_end end;
    bool searched; /* false: replicas with array groups of equal size find no room even once; the layout is
                      that of pim_core_layout_first */
    /* Layouts worth a closer look beside the best one, the fewest cycles first: no two of them, nor the best,
     * have the same numbers of replicas. Half of them are of the last generation, if it has as many; the
     * others were the best ones some time before, each of an eighth more cycles than the next at least. They
     * live in the arena of the layout. */
    uint32_t runners_up;
    struct pim_core_layout runner_up[PIM_RUNNERS_UP_MOST];
};

enum pim_core_preset { PIM_PRESET_DEFAULT, PIM_PRESET_FAST, PIM_PRESET_PAPER };

/* 200 individuals, at most 1000 generations, patience 200; "fast", for sweeps: 100, 400 and 100; "paper": 200
 * and 1000, without patience. Seed 1, one thread. */
struct pim_core_search_options pim_core_search_preset(enum pim_core_preset preset);

/*
 * Searches a layout, which then lives in `arena`. PIM_BAD_INPUT: options out of range, or no layout exists
 * (pim_core_layout_first says why); PIM_NO_MEMORY.
 */
enum pim_status pim_core_layout_search(const struct pim_core_mapping *mapping,
                                       const struct pim_core_search_options *options, struct pim_arena *arena,
                                       struct pim_core_layout *layout, struct pim_core_search_result *result,
                                       struct pim_error *error);

#endif
