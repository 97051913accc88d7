/* A population that threads make and score: what evolution and NSGA-II share. */
#ifndef PIMSIM_MAPPERS_SEARCH_POPULATION_H
#define PIMSIM_MAPPERS_SEARCH_POPULATION_H

#include "mappers/search/problem.h"
#include "mappers/search/workers.h"

struct pim_population;

/* Makes the child in place `index`. False: it was not changed, and is not scored again. */
typedef bool pim_population_breed(struct pim_population *population, void *breeder, void *scratch,
                                  uint32_t index, struct pim_random *random);

struct pim_population {
    const struct pim_search_problem *problem;
    const struct pim_search_budget *budget;
    struct pim_individual *made;        /* owner of the individuals */
    struct pim_individual **individual; /* best first once sorted */
    uint32_t count;
    uint32_t generation; /* of those that are being made */
    uint64_t evaluations;
    struct pim_workers *workers;
    unsigned scratches; /* that are initialized */
    void *scratch[PIM_SEARCH_THREADS];
    /* of each place: how its making ended */
    struct {
        enum pim_status status;
        bool scored;
        struct pim_error error;
    } * outcome;
    pim_population_breed *breed;
    void *breeder;
};

/* Room for `count` individuals, and threads. Needs pim_population_terminate() in every case. */
enum pim_status pim_population_initialize(struct pim_population *population,
                                          const struct pim_search_problem *problem,
                                          const struct pim_search_budget *budget, uint32_t count,
                                          struct pim_error *error);
void pim_population_terminate(struct pim_population *population);

/* Makes and scores the individuals in places first to last - 1 with all threads; `breed` NULL: by
 * the problem's start. The error of the lowest place is reported. */
enum pim_status pim_population_make(struct pim_population *population, uint32_t first, uint32_t last,
                                    pim_population_breed *breed, void *breeder, struct pim_error *error);

#endif
